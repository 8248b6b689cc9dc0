// Builds dist/: JavaScript and declarations per door. It is made in a folder aside and swapped in
// at the end, so that a failed build leaves the old dist, and a test that runs meanwhile reads a
// whole one. `--partial` leaves out doors whose source does not exist yet, and forgives type errors.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rollup } from 'rollup';
import { distDeclarations, distJavaScript } from '../rollup.config.mjs';
import { sourceHash, writeStamp } from './dist-state.mjs';
import { entries, ROOT } from './paths.mjs';

export async function buildDist({ partial = false, note = () => {} } = {}) {
  const hash = sourceHash();
  const work = join(ROOT, '.build', `dist-${process.pid}`);
  const fresh = join(work, 'dist');
  mkdirSync(work, { recursive: true });
  try {
    let doors = entries();
    if (partial) {
      for (const { source } of doors) {
        if (!existsSync(join(ROOT, source))) note(`left out, as it does not exist: ${source}`);
      }
      doors = doors.filter(({ source }) => existsSync(join(ROOT, source)));
    }
    await write(distJavaScript(doors, fresh));
    const tree = join(work, 'types');
    emitDeclarations(tree, partial ? note : undefined);
    await write(distDeclarations(doors, tree, fresh));
    for (const { name, types } of doors) {
      if (!types) chmodSync(join(fresh, `${name}.js`), 0o755);
    }
    swap(fresh, join(ROOT, 'dist'), join(work, 'old'));
    if (!partial) writeStamp(hash);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function write({ output, ...options }) {
  const bundle = await rollup(options);
  try {
    await bundle.write(output);
  } finally {
    await bundle.close();
  }
}

function emitDeclarations(tree, forgive) {
  // tsc is a program of its own since TypeScript 7: there is no API to call.
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', 'tsconfig.build.json', '--outDir', tree, '--pretty', 'false'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (status === 0) return;
  if (forgive === undefined) throw new Error(`tsc:\n${stdout}`);
  forgive(`tsc:\n${stdout}`);
}

function swap(fresh, target, old) {
  if (existsSync(target)) renameSync(target, old);
  renameSync(fresh, target);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const start = performance.now();
  try {
    const note = (text) => process.stderr.write(`${text}\n`);
    await buildDist({ partial: process.argv.includes('--partial'), note });
    const files = readdirSync(join(ROOT, 'dist'), { recursive: true }).length;
    note(`dist: ${files} files in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  } catch (error) {
    const place = error?.loc?.file ?? error?.id;
    if (place !== undefined) process.stderr.write(`${place.replace(`${ROOT}/`, '')}: `);
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
