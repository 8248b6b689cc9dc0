// `npm test`, and the inner loop: `node scripts/test.mjs [--no-setup] [part of a path ...]`.
//
// Without names: set-up, all checks, dist, every test file on disk. With names: only the matching
// files, built on their own, so that a file somebody is still writing elsewhere does not stop them.
// Its first act is to spawn setup.mjs: a clone has no packages, so nothing of npm may be imported
// before that, and npm's pre-scripts are no place for it (--ignore-scripts skips them).

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { runFiles } from '../test/run/pool.mjs';
import { ROOT } from './paths.mjs';

const { values: flags, positionals: names } = options();

const ci = !['', '0', 'false', undefined].includes(process.env.CI);
const print = (text) => process.stdout.write(`${text}\n`);
const started = performance.now();

const totals = await main();
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
print(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0;

function options() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        'no-setup': { type: 'boolean', default: false },
        // For the tests of the runner itself.
        'file-limit': { type: 'string', default: '240000' },
      },
    });
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

async function main() {
  const all = names.length === 0;
  const files = all ? testFiles() : choose(names);
  if (files.length === 0) {
    print(`No test file has ${names.join(' or ')} in its path.`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  if (!flags['no-setup']) {
    const setup = ['scripts/setup.mjs', '--packages', ...(all ? ['--browser'] : [])];
    const { status } = spawnSync(process.execPath, setup, {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0) {
      print('Set-up failed: no test was run.');
      return { passed: 0, failed: 1, skipped: 0 };
    }
  }
  let failed = 0;
  if (all) {
    const { ensureDist, runChecks } = await import('./check.mjs');
    const dist = await ensureDist({ print });
    failed += (dist ? 0 : 1) + (await runChecks({ print, dist }));
    print('');
  }
  const totals = await test(files);
  totals.failed += failed;
  if (all) {
    // A file that was added or lost meanwhile, or gave no result, is not passed over.
    const onDisk = testFiles().length;
    if (totals.files !== onDisk) {
      print(`${totals.files} test files gave a result, but ${onDisk} are on disk.`);
      totals.failed += 1;
    }
  }
  print(`\n${totals.files} test files in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return totals;
}

async function test(files) {
  // A folder of this run's own: others may be testing in the same checkout.
  const outDir = join(ROOT, '.build', `test-${process.pid}`);
  sweep();
  try {
    const { buildTests } = await import('./test-build.mjs');
    let build;
    try {
      build = await buildTests(files, outDir);
    } catch (error) {
      print(`The tests could not be built: ${buildError(error)}`);
      return { passed: 0, failed: 1, skipped: 0, files: 0 };
    }
    if (names.length > 0) await lookAtDist(files);
    return await runFiles(build.built, {
      root: ROOT,
      fileLimitMs: Number(flags['file-limit']),
      ci,
      print,
    });
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** Without a full run dist/ is only made when it is missing: others may be in the middle of it. */
async function lookAtDist(files) {
  const reads = (file) =>
    /['"`]enginewright\b|\bdist\//.test(readFileSync(join(ROOT, file), 'utf8'));
  if (!files.some(reads)) return;
  const { distState } = await import('./dist-state.mjs');
  const state = distState();
  if (state === 'missing' && !flags['no-setup']) {
    const { ensureDist } = await import('./check.mjs');
    await ensureDist({ print });
  } else if (state !== 'current') {
    print(`Note: some of these tests read dist/, which is ${state}: npm run build`);
  }
}

function testFiles() {
  return readdirSync(join(ROOT, 'test'), { recursive: true })
    .map((name) => `test/${name.split(sep).join('/')}`)
    .filter((name) => name.endsWith('.test.ts'))
    .sort();
}

/** A name is a file, or part of the path of test files. */
function choose(parts) {
  const known = testFiles();
  const chosen = parts.flatMap((part) => {
    const name = part.replace(/^\.\//, '');
    const matching = known.filter((file) => file.includes(name));
    if (matching.length > 0) return matching;
    return name.endsWith('.ts') && existsSync(join(ROOT, name)) ? [name] : [];
  });
  return [...new Set(chosen)];
}

/** Removes what a killed run left behind. */
function sweep() {
  const folder = join(ROOT, '.build');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const pid = Number(/^test-(\d+)$/.exec(name)?.[1]);
    if (Number.isNaN(pid)) continue;
    try {
      process.kill(pid, 0);
    } catch {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

function buildError(error) {
  const place = error?.loc?.file ?? error?.id;
  const where = place === undefined ? '' : `${place.replace(`${ROOT}${sep}`, '')}: `;
  return `${where}${error instanceof Error ? error.message : String(error)}`;
}
