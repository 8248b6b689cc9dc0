// What the build makes of an import with a suffix (scripts/rollup-plugins.mjs has the other half).
// `?inline`: in-page code, bundled to one script in a string. `?file`: a module built beside the
// test that imports it, as a path that a test can spawn; only the test build knows it.

declare module '*?inline' {
  const source: string;
  export default source;
}

declare module '*?file' {
  const path: string;
  export default path;
}
