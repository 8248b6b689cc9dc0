// What rollup makes of the sources: dist's JavaScript, dist's declarations, and the tests' modules.
// scripts/build.mjs and scripts/test-build.mjs run them. Inputs come from package.json's exports
// (scripts/paths.mjs); dist's paths mirror the sources', what doors share goes to dist/shared.

import { join } from 'node:path';
import { dts } from 'rollup-plugin-dts';
import { ROOT, readPackage } from './scripts/paths.mjs';
import {
  bundledPackages,
  compact,
  declarationTree,
  externalGate,
  failOnWarning,
  inlinePage,
  json,
  notices,
  processFile,
  sourceMetaUrl,
  testExternal,
  typescript,
} from './scripts/rollup-plugins.mjs';

/** `doors`: entries of scripts/paths.mjs. */
export function distJavaScript(doors, dir) {
  return {
    input: inputs(doors, (door) => join(ROOT, door.source)),
    external: externalGate(readPackage()),
    onwarn: failOnWarning,
    plugins: [bundledPackages(), inlinePage(), json(), typescript(), compact(), notices()],
    output: { ...layout(dir, 'js'), hoistTransitiveImports: false },
  };
}

/** `tree`: where tsc wrote one declaration file per source. */
export function distDeclarations(doors, tree, dir) {
  return {
    input: inputs(
      doors.filter(({ types }) => types),
      (door) => join(tree, `${door.name}.d.ts`),
    ),
    external: externalGate(readPackage(), { base: tree, mayBundle: false }),
    onwarn: failOnWarning,
    plugins: [declarationTree(tree), dts({ tsconfig: join(ROOT, 'tsconfig.build.json') })],
    output: layout(dir, 'd.ts'),
  };
}

/** `files`: test files, relative to the root. One module per source, under its own path. */
export function testModules(files, dir) {
  return {
    input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ''), join(ROOT, file)])),
    external: testExternal,
    onwarn(warning) {
      // A cycle is the linter's and dist's matter; a module of types alone is empty, rightly.
      if (['CIRCULAR_DEPENDENCY', 'EMPTY_BUNDLE'].includes(warning.code)) return;
      failOnWarning(warning);
    },
    treeshake: false,
    plugins: [processFile(), inlinePage(), json(), typescript(), sourceMetaUrl()],
    output: {
      dir,
      format: 'es',
      preserveModules: true,
      preserveModulesRoot: ROOT,
      entryFileNames: '[name].js',
      sourcemap: true,
    },
  };
}

function inputs(doors, locate) {
  return Object.fromEntries(doors.map((door) => [door.name, locate(door)]));
}

function layout(dir, extension) {
  return {
    dir,
    format: 'es',
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `shared/[name]-[hash].${extension}`,
  };
}
