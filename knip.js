// Dead files, exports and packages. The doors come from package.json's exports, as everywhere.

import { entries } from './scripts/paths.mjs';

/** @type {import('knip').KnipConfig} */
export default {
  entry: [
    ...entries().map(({ source }) => `${source}!`),
    'scripts/*.mjs',
    'test/**/*.test.ts',
    'test/harness.ts',
    'test/run/child.mjs',
    'test/run/fixtures/*.case.ts',
    'bench/*.ts',
    'examples/**/*.{ts,mjs,js}',
  ],
  project: ['**/*.{ts,mjs,js}!', '!types/**'],
  ignoreExportsUsedInFile: { interface: true, type: true },
  // Programs that scripts/check.mjs runs by their files; nothing imports them.
  ignoreDependencies: [
    '@arethetypeswrong/cli',
    '@biomejs/biome',
    'oxlint',
    'oxlint-tsgolint',
    'publint',
  ],
  ignoreBinaries: ['apt-get', 'openssl'],
};
