// `npm run demo [-- options]`: set-up, then `enginewright demo` with the same options and its exit
// code. The browser is asked for only when an option names the engine that needs one.

import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

const args = process.argv.slice(2);
const needsBrowser = args.some((arg, index) =>
  arg === '--engine' ? args[index + 1] === 'playwright' : arg === '--engine=playwright',
);
const setup = [join(ROOT, 'scripts', 'setup.mjs'), ...(needsBrowser ? ['--browser'] : [])];
// What set-up says is on stderr: stdout belongs to the demo, whose --json is read by programs.
const { status } = spawnSync(process.execPath, setup, { stdio: ['ignore', 'ignore', 'inherit'] });
if (status === 0) run();
else process.exitCode = 1;

function run() {
  const main = join(ROOT, 'dist', 'cli', 'main.js');
  const child = spawn(process.execPath, [main, 'demo', ...args], { stdio: 'inherit' });
  // A terminal's Ctrl-C reaches the child by itself; staying alive lets it end in its own way.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}
