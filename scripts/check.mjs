// All that is checked without running: format, lint, types, dead code, and the package as it would
// be published. `npm run check`; `npm test` runs the same list. `--fix` only formats.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './paths.mjs';

const bin = (...parts) => join(ROOT, 'node_modules', ...parts);
const BIOME = bin('@biomejs', 'biome', 'bin', 'biome');
const TSC = bin('typescript', 'bin', 'tsc');

/** In order of what it costs. `dist`: looks at the package, so dist/ has to be there. */
const CHECKS = [
  { name: 'format', args: [BIOME, 'format', '.'] },
  { name: 'lint', args: [bin('oxlint', 'bin', 'oxlint')] },
  { name: 'types', args: [TSC, '-p', 'tsconfig.json', '--pretty', 'false'] },
  { name: 'types in page', args: [TSC, '-p', 'tsconfig.page.json', '--pretty', 'false'] },
  { name: 'generated schemas', args: [join(ROOT, 'scripts', 'schema.mjs'), '--check'] },
  { name: 'generated kernels', args: [join(ROOT, 'scripts', 'kernels.mjs'), '--check'] },
  { name: 'dead code', args: [bin('knip', 'bin', 'knip.js'), '--no-progress'] },
  { name: 'publint', args: [bin('publint', 'src', 'cli.js'), '--strict'], dist: true },
  {
    name: 'types of the package',
    args: [
      bin('@arethetypeswrong', 'cli', 'dist', 'index.js'),
      '--pack',
      '.',
      '--profile',
      'esm-only',
    ],
    dist: true,
  },
];

/** Gives how many failed. */
export async function runChecks({ print, dist = true }) {
  let failed = 0;
  for (const { name, args, dist: needsDist } of CHECKS) {
    if (needsDist && !dist) {
      print(`FAIL  ${name}: there is no dist/ to look at`);
      failed += 1;
      continue;
    }
    const start = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    });
    const time = `${((performance.now() - start) / 1000).toFixed(2)} s`;
    print(`${status === 0 ? 'ok  ' : 'FAIL'}  ${name}  ${time}`);
    if (status === 0) continue;
    failed += 1;
    print(`${stdout}${stderr}`.trimEnd().replaceAll(/^/gm, '      '));
  }
  return failed;
}

/** Builds dist when it is not current. Gives whether there is one now. */
export async function ensureDist({ print }) {
  const { distState } = await import('./dist-state.mjs');
  if (distState() === 'current') return true;
  const start = performance.now();
  try {
    const { buildDist } = await import('./build.mjs');
    await buildDist();
    print(`ok    build  ${((performance.now() - start) / 1000).toFixed(2)} s`);
    return true;
  } catch (error) {
    const place = error?.loc?.file ?? error?.id;
    const where = place === undefined ? '' : `${place.replace(`${ROOT}/`, '')}: `;
    print(`FAIL  build\n${where}${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const print = (text) => process.stdout.write(`${text}\n`);
  const setup = [join(ROOT, 'scripts', 'setup.mjs'), '--packages'];
  const { status } = spawnSync(process.execPath, setup, { stdio: 'inherit' });
  if (status !== 0) {
    process.exitCode = 1;
  } else if (process.argv.includes('--fix')) {
    const result = spawnSync(process.execPath, [BIOME, 'format', '--write', '.'], {
      cwd: ROOT,
      stdio: 'inherit',
    });
    process.exitCode = result.status ?? 1;
  } else {
    const dist = await ensureDist({ print });
    const failed = await runChecks({ print, dist });
    process.exitCode = failed > 0 || !dist ? 1 : 0;
  }
}
