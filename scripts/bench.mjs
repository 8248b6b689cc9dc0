// `npm run bench -- NAME [arguments]`: builds bench/NAME.ts as tests are built (so that it measures
// the sources, `?inline` imports and all) and runs it alone. Without a known name it lists them.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

const [name, ...args] = process.argv.slice(2);
process.exitCode = await main();

async function main() {
  const folder = join(ROOT, 'bench');
  const names = existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith('.ts'))
        .map((file) => file.slice(0, -3))
    : [];
  if (name === undefined || !names.includes(name)) {
    if (name !== undefined) process.stderr.write(`There is no bench ${name}.\n`);
    process.stderr.write(`Benches: ${names.sort().join(', ') || 'none yet'}\n`);
    return name === undefined ? 0 : 2;
  }
  const setup = [join(ROOT, 'scripts', 'setup.mjs'), '--packages'];
  if (spawnSync(process.execPath, setup, { stdio: 'inherit' }).status !== 0) return 1;
  const outDir = join(ROOT, '.build', `bench-${process.pid}`);
  try {
    const { buildTests } = await import('./test-build.mjs');
    const file = `bench/${name}.ts`;
    const { built } = await buildTests([file], outDir);
    const program = ['--enable-source-maps', '--expose-gc', built.get(file), ...args];
    return spawnSync(process.execPath, program, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}
