// The test build: the named test files and what they import, one module per source file, through
// the plugins of dist. Tests are built because Node 20 strips no types and because `?inline`
// imports need a bundler; modules are preserved so that a stack trace names the source line.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { rollup } from 'rollup';
import { testModules } from '../rollup.config.mjs';
import { ROOT } from './paths.mjs';

/**
 * Builds test files (paths relative to the root) into `outDir`.
 * Gives a map from each to the built file, and the packages that the built code imports.
 */
export async function buildTests(files, outDir) {
  const { output: outputOptions, ...options } = testModules(files, outDir);
  const bundle = await rollup(options);
  try {
    await rm(outDir, { recursive: true, force: true });
    const { output } = await bundle.write(outputOptions);
    const built = new Map();
    const imports = new Set();
    for (const chunk of output) {
      if (chunk.type !== 'chunk') continue;
      for (const name of [...chunk.imports, ...chunk.dynamicImports]) imports.add(name);
      if (!chunk.isEntry || chunk.facadeModuleId === null) continue;
      const file = files.find((candidate) => join(ROOT, candidate) === chunk.facadeModuleId);
      if (file !== undefined) built.set(file, join(outDir, chunk.fileName));
    }
    for (const file of files) {
      if (!built.has(file)) throw new Error(`${file} was not built`);
    }
    return { built, imports };
  } finally {
    await bundle.close();
  }
}
