// Where the installed package lies and what its version is, found from the built file upwards: the
// bundler decides how deep that file lies, and the command may be started from any folder.
import { readFileSync } from 'node:fs';

interface PackageFacts {
  /** The package's folder, ending in a slash. */
  readonly root: URL;
  readonly version: string;
}

function find(): PackageFacts {
  let folder = new URL('./', import.meta.url);
  for (let depth = 0; depth < 8; depth += 1) {
    try {
      const manifest = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
        name?: unknown;
        version?: unknown;
      };
      if (manifest.name === 'enginewright' && typeof manifest.version === 'string') {
        return { root: folder, version: manifest.version };
      }
    } catch {
      // Not here: look one folder up.
    }
    folder = new URL('../', folder);
  }
  return { root: new URL('./', import.meta.url), version: 'unknown' };
}

/** The package's version, `unknown` when its package.json cannot be found. */
export function packageVersion(): string {
  return find().version;
}

/** A file or folder of the package, such as `examples/shop-page/`. */
export function packageFile(path: string): URL {
  return new URL(path, find().root);
}
