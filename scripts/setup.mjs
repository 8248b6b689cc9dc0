// Makes a clone ready: packages, dist/, and with `--browser` a Chromium. Every command of
// package.json starts with it, so that any of them is the first and only command on a fresh clone.
// Node built-ins only (there is nothing else yet), quiet when nothing is to be done, and all that
// it says goes to stderr. `--packages`: packages alone.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { distState } from './dist-state.mjs';
import { ROOT } from './paths.mjs';

const LOCK = join(ROOT, '.build', 'setup.lock');
const STAMP = join(ROOT, 'node_modules', '.enginewright-stamp');
/** Settings of the caller that would make npm leave packages out. */
const DROPPED =
  /^(npm_config_(ignore_scripts|omit|only|production|workspace|workspaces)|node_env)$/i;

const flags = new Set(process.argv.slice(2));
const say = (text) => process.stderr.write(`${text}\n`);

process.exitCode = await main();

async function main() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    say(`Enginewright needs Node 20 or later; this is ${process.version}.`);
    return 1;
  }
  // Two commands started at once on a fresh clone: the second waits, then finds all done.
  await lock();
  try {
    if (!packages()) return 1;
    if (flags.has('--browser')) browser();
    if (!flags.has('--packages') && !(await dist())) return 1;
    return 0;
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

function packages() {
  const stamp = packagesHash();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return true;
  if (!isInstalled()) {
    say('Installing packages (npm ci) ...');
    const start = performance.now();
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !DROPPED.test(name)),
    );
    const [program, ...first] = npm();
    const result = spawnSync(
      program,
      [...first, 'ci', '--include=dev', '--no-audit', '--no-fund'],
      {
        cwd: ROOT,
        env,
        encoding: 'utf8',
        shell: process.platform === 'win32' && first.length === 0,
      },
    );
    if (result.status !== 0) {
      say(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}`.trim());
      say('The packages could not be installed: see npm above.');
      return false;
    }
    say(`Packages installed in ${seconds(start)}.`);
  }
  writeFileSync(STAMP, stamp);
  return true;
}

function packagesHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .update([process.platform, process.arch, process.versions.modules].join(' '))
    .digest('hex');
}

/** Whether node_modules, made by somebody's own `npm install`, already is what the lock says. */
function isInstalled() {
  try {
    const read = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages;
    const installed = read('node_modules/.package-lock.json');
    return Object.entries(read('package-lock.json')).every(([path, wanted]) => {
      if (path === '') return true;
      const found = installed[path];
      if (found === undefined) return wanted.optional === true;
      return found.version === wanted.version && found.integrity === wanted.integrity;
    });
  } catch {
    return false;
  }
}

/** npm as a program and its first arguments. The one that runs us is the one to ask. */
function npm() {
  const beside = join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm');
  const candidates = [process.env.npm_execpath ?? '', join(beside, 'bin', 'npm-cli.js')];
  const found = candidates.find((path) => path.endsWith('npm-cli.js') && existsSync(path));
  return found === undefined ? ['npm'] : [process.execPath, found];
}

async function dist() {
  if (distState() === 'current') return true;
  say('Building dist ...');
  const start = performance.now();
  try {
    const { buildDist } = await import('./build.mjs');
    await buildDist();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    say('dist/ could not be built: see above.');
    return false;
  }
  say(`dist built in ${seconds(start)}.`);
  return true;
}

/** Never fails: what needs a browser says so itself, a test by being skipped. */
function browser() {
  const path = process.env.ENGINEWRIGHT_CHROMIUM || '/usr/bin/chromium';
  if (existsSync(path)) return;
  if (process.env.ENGINEWRIGHT_CHROMIUM) {
    say(
      `ENGINEWRIGHT_CHROMIUM names ${path}, which does not exist: what needs a browser is left out.`,
    );
    return;
  }
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0) {
    say(
      `There is no Chromium at ${path}: what needs a browser is left out. ` +
        'Install one (on Debian: apt-get install chromium) or set ENGINEWRIGHT_CHROMIUM to its path.',
    );
    return;
  }
  say('Installing Chromium (apt-get, some minutes) ...');
  const start = performance.now();
  const options = ['-o', 'DPkg::Lock::Timeout=300', '-qq'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wanted = ['install', '-y', '--no-install-recommends', 'chromium', 'chromium-driver'];
  for (const args of [['update'], wanted]) {
    const { status, stdout, stderr } = spawnSync('apt-get', [...options, ...args], {
      env,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    if (status === 0) continue;
    say(`${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-10).join('\n'));
    say(`apt-get ${args[0]} failed: what needs a browser is left out.`);
    return;
  }
  say(`Chromium installed in ${seconds(start)}.`);
}

/** A folder is the lock: making one is atomic everywhere. It holds its owner's process id. */
async function lock() {
  mkdirSync(dirname(LOCK), { recursive: true });
  for (let told = false; ; ) {
    try {
      mkdirSync(LOCK);
      writeFileSync(join(LOCK, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    // Its owner may be between the two lines above: look twice before it counts as dead.
    if (!ownerLives() && (await sleep(500), !ownerLives())) {
      rmSync(LOCK, { recursive: true, force: true });
      continue;
    }
    if (!told) say('Waiting for another set-up of this folder ...');
    told = true;
    await sleep(200);
  }
}

function ownerLives() {
  try {
    process.kill(Number(readFileSync(join(LOCK, 'pid'), 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function seconds(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}
