// Runs built test files, one process each, as many at a time as there are cores. A child is not
// trusted: it counts only by the records it sent, it is killed at a limit (a synchronous loop
// cannot be timed out from inside), and what it left running is found and fails it.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./child.mjs', import.meta.url));
/** " name  • • ✘   (2 / 3)": uvu's own account, which says less than ours. */
const UVU_PROGRESS = /^ .+ {2}(?:[•✘] )* {2}\(\d+ \/ \d+\)$/gm;
const OUTPUT_LIMIT = 64 * 1024;
/** How long a dying grandchild may take to be gone. */
const GROUP_GRACE_MS = 2000;

/**
 * Runs `files`, a map from source path to built path.
 * Gives `{ passed, failed, skipped, files }`; `files` counts those that gave any result.
 */
export async function runFiles(files, { root, fileLimitMs, ci, print }) {
  const queue = [...files];
  const totals = { passed: 0, failed: 0, skipped: 0, files: 0 };
  const running = new Set();
  const stop = (signal) => {
    for (const pid of running) killGroup(pid);
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [source, built] = next;
      const result = await runFile(source, built, { root, fileLimitMs, running });
      const counts = count(result, ci);
      totals.passed += counts.passed;
      totals.failed += counts.failed;
      totals.skipped += counts.skipped;
      totals.files += 1;
      print(describe(source, result, counts, ci));
    }
  };
  const lanes = Math.max(1, Math.min(availableParallelism(), queue.length));
  await Promise.all(Array.from({ length: lanes }, worker));
  process.removeListener('SIGINT', stop);
  process.removeListener('SIGTERM', stop);
  return totals;
}

async function runFile(source, built, { root, fileLimitMs, running }) {
  const start = performance.now();
  const result = { tests: [], problems: [], skipped: undefined, output: '', ms: 0 };
  // A group of its own, so that it can be killed, and searched, with all it started.
  const child = spawn(process.execPath, ['--enable-source-maps', CHILD, built], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', FORCE_COLOR: '0' },
  });
  running.add(child.pid);
  let done = false;
  let records = '';
  const take = (line) => {
    const record = JSON.parse(line);
    if (record.type === 'test') result.tests.push(record);
    if (record.type === 'done') {
      done = true;
      result.skipped = record.skipped;
    }
    if (record.type === 'open') {
      const what = record.resources.join(', ') || 'something unnamed';
      result.problems.push(`it did not end by itself; still open: ${what}`);
    }
  };
  child.stdio[3].setEncoding('utf8').on('data', (chunk) => {
    records += chunk;
    for (let end = records.indexOf('\n'); end >= 0; end = records.indexOf('\n')) {
      take(records.slice(0, end));
      records = records.slice(end + 1);
    }
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      result.output = (result.output + chunk).slice(-OUTPUT_LIMIT);
    });
  }
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killGroup(child.pid);
  }, fileLimitMs);
  const { code, signal } = await new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: -1, signal: String(error) }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  clearTimeout(timer);
  // Its pipes may be held open by what it left running, so 'close' is not waited for without end.
  const left = await waitForGroup(child.pid);
  if (left.length > 0) {
    killGroup(child.pid);
    if (!late) result.problems.push(`it left processes running: ${left.join('; ')}`);
  }
  running.delete(child.pid);
  await closed(child, 1000);
  if (late) {
    result.problems.push(`it was killed after ${fileLimitMs} ms, the limit of one file`);
  } else if (!done) {
    const how = signal ?? `exit code ${code}`;
    result.problems.push(`it ended (${how}) before its tests did`);
  } else if (code !== 0 && result.problems.length === 0 && !hasFailure(result)) {
    result.problems.push(`it ended with exit code ${code}`);
  }
  result.ms = performance.now() - start;
  return result;
}

function hasFailure(result) {
  return result.tests.some((test) => test.status === 'failed');
}

function count(result, ci) {
  const by = (status) => result.tests.filter((test) => test.status === status).length;
  const counts = {
    passed: by('passed'),
    failed: by('failed') + result.problems.length,
    skipped: by('skipped') + (result.skipped === undefined ? 0 : 1),
  };
  if (ci) {
    counts.failed += counts.skipped;
    counts.skipped = 0;
  }
  if (counts.passed + counts.failed === 0 && result.skipped === undefined) {
    result.problems.push('no test of it ran');
    counts.failed += 1;
  }
  return counts;
}

function describe(source, result, counts, ci) {
  const lines = [];
  const time = `${(result.ms / 1000).toFixed(2)} s`;
  if (result.skipped !== undefined) {
    lines.push(`${ci ? 'FAIL' : 'skip'}  ${source}  ${time}`, `      skipped: ${result.skipped}`);
  } else {
    const tests = `${counts.passed} passed${counts.failed > 0 ? `, ${counts.failed} failed` : ''}`;
    lines.push(`${counts.failed > 0 ? 'FAIL' : 'ok  '}  ${source}  ${tests}  ${time}`);
  }
  for (const test of result.tests) {
    const name = test.suite === '' ? test.name : `${test.suite}: ${test.name}`;
    if (test.status === 'failed') lines.push(`    x ${name}`, ...indent(errorLines(test.error), 8));
    if (test.status === 'skipped') lines.push(`    - ${name} (skipped: ${test.reason})`);
  }
  for (const problem of result.problems) lines.push(`    x ${source}: ${problem}`);
  // What a test wants said although it passed: a fuzzer's seed.
  for (const [, note] of result.output.matchAll(/(?:^|\s)note: (.*)$/gm))
    lines.push(`      ${note}`);
  const noise = result.output.replace(UVU_PROGRESS, '').trim();
  if (counts.failed > 0 && noise !== '') {
    lines.push('      what it printed:', ...indent(noise.split('\n').slice(-60), 8));
  }
  return lines.join('\n');
}

function errorLines(error, label = '') {
  if (error === undefined) return [];
  const lines = `${label}${error.message}`.split('\n');
  if (error.code !== undefined && error.code !== 'ERR_ASSERTION') lines.push(`code: ${error.code}`);
  if (error.details !== undefined) lines.push(...error.details.split('\n'));
  lines.push(...stackLines(error.stack));
  lines.push(...errorLines(error.cause, 'cause: '));
  for (const inner of error.errors ?? []) lines.push(...errorLines(inner, 'of which: '));
  return lines;
}

/** The frames of a stack that are ours: neither Node's nor those of the harness. */
function stackLines(stack) {
  if (stack === undefined) return [];
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .filter(
      (line) => !/node:internal|node_modules\/uvu|test\/harness\.ts|test\/run\/child/.test(line),
    )
    .slice(0, 12)
    .map((line) => line.trim());
}

function indent(lines, width) {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(width) + line));
}

function killGroup(pid) {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

async function waitForGroup(pid) {
  const until = performance.now() + GROUP_GRACE_MS;
  for (;;) {
    const members = groupMembers(pid);
    if (members.length === 0 || performance.now() > until) return members;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Live members of a process group, by command; only /proc tells them from unreaped zombies. */
function groupMembers(group) {
  if (process.platform !== 'linux' || group === undefined) return [];
  const found = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // "pid (comm) state ppid pgrp ...", where comm may hold spaces and brackets.
      const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(pgrp) !== group || state === 'Z' || state === 'X') continue;
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      found.push(`${name} ${command.slice(0, 120)}`);
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

function closed(child, ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    child.once('close', finish);
    const open = child.stdio.filter((stream) => stream !== null && !stream.destroyed);
    if (open.length === 0) finish();
    function finish() {
      clearTimeout(timer);
      for (const stream of child.stdio) stream?.destroy();
      resolve();
    }
  });
}
