// Where things are, and the one list that everything follows: the `exports` of package.json.
// A door's source is derived from its path in dist (dist/x/y.js <- x/y.ts), so that a door
// cannot be forgotten by the build, by the declarations or by the tests. Node built-ins only:
// the set-up script imports this before anything is installed.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** What the package ships: the folders and files whose content decides whether dist/ is current. */
export const SOURCES = ['index.ts', 'core', 'adapters', 'testing', 'cli', 'types', 'schema'];

/** Build files whose change also makes dist/ stale. */
export const BUILD_FILES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'rollup.config.mjs',
  'scripts/paths.mjs',
  'scripts/build.mjs',
  'scripts/rollup-plugins.mjs',
];

export function readPackage() {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
}

/**
 * The entries of dist: `{ door, name, source, types }`, `name` being the path in dist without its
 * extension. A bin has no door and no types.
 */
export function entries(pkg = readPackage()) {
  const list = [];
  for (const [door, target] of Object.entries(pkg.exports)) {
    if (typeof target === 'string') continue;
    const name = nameOf(target.default);
    if (target.types !== `./dist/${name}.d.ts`) {
      throw new Error(`package.json: exports[${door}].types should be ./dist/${name}.d.ts`);
    }
    list.push({ door, name, source: `${name}.ts`, types: true });
  }
  for (const target of Object.values(pkg.bin ?? {})) {
    const name = nameOf(target);
    list.push({ door: undefined, name, source: `${name}.ts`, types: false });
  }
  return list;
}

function nameOf(target) {
  const match = /^\.\/dist\/(.+)\.js$/.exec(target);
  if (match === null) throw new Error(`package.json: ${target} should be ./dist/<source path>.js`);
  return match[1];
}
