// What the package weighs and what an import of it costs: packed and unpacked size, files, and per
// door the import's time and the process's memory over an empty process of the same run (machines
// differ, and so do minutes). Medians of interleaved runs; the last line is JSON.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { entries, readPackage, ROOT } from './paths.mjs';

const RUNS = 11;

const setup = spawnSync(process.execPath, [join(ROOT, 'scripts', 'setup.mjs')], {
  stdio: 'inherit',
});
if (setup.status !== 0) process.exit(1);

const pack = packed();
const doors = entries().filter(({ door }) => door !== undefined);
const samples = new Map([['', []], ...doors.map(({ door }) => [door, []])]);
for (let run = 0; run < RUNS; run += 1) {
  for (const [door, list] of samples) list.push(measure(door));
}
const empty = medians(samples.get(''));
const cost = {};
for (const { door } of doors) {
  const { ms, rss } = medians(samples.get(door));
  cost[door] = { importMs: round(ms - empty.ms), rssKiB: Math.round((rss - empty.rss) / 1024) };
}

const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
console.log(`${pack.files} files, ${kib(pack.packed)} packed, ${kib(pack.unpacked)} unpacked`);
console.log(`over an empty process (${kib(empty.rss)} resident), medians of ${RUNS}:`);
for (const [door, { importMs, rssKiB }] of Object.entries(cost)) {
  console.log(
    `  ${door.padEnd(24)} ${importMs.toFixed(1).padStart(7)} ms ${String(rssKiB).padStart(7)} KiB`,
  );
}
console.log(JSON.stringify({ ...pack, node: process.version, runs: RUNS, doors: cost }));

function packed() {
  const npm = process.env.npm_execpath;
  const [program, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  const result = spawnSync(program, [...first, 'pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(`npm pack: ${result.stderr}`);
  const [info] = Object.values(JSON.parse(result.stdout));
  return { packed: info.size, unpacked: info.unpackedSize, files: info.entryCount };
}

/** An import of nothing costs the same process the same lines. */
function measure(door) {
  const name = door === '' ? 'data:text/javascript,' : door.replace(/^\./, readPackage().name);
  const script = `
    const start = process.hrtime.bigint();
    await import(${JSON.stringify(name)});
    const ms = Number(process.hrtime.bigint() - start) / 1e6;
    globalThis.gc();
    process.stdout.write(JSON.stringify({ ms, rss: process.memoryUsage.rss() }));
  `;
  const args = ['--expose-gc', '--input-type=module', '-e', script];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
  return JSON.parse(stdout);
}

function medians(list) {
  const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  return { ms: median(list.map(({ ms }) => ms)), rss: median(list.map(({ rss }) => rss)) };
}

function round(ms) {
  return Math.round(ms * 10) / 10;
}
