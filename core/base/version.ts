// The package's name and version, for `user-agent` and `clientInfo`. A constant, because importing
// the package reads no file; a test holds it equal to package.json.

export const PACKAGE_NAME = 'enginewright';
export const PACKAGE_VERSION = '0.1.0';
