// The runner against files that plain uvu lets pass with exit code 0, and against the ones it hangs
// on. Each case runs alone through scripts/test.mjs, as a developer would run it, and is judged by
// the exit code and the closing line: the two things that CI reads.

import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert, suite } from './harness.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  /** The last line. */
  readonly closing: string;
}

interface Case {
  readonly closing: string;
  /** What the output has to say. */
  readonly says?: readonly RegExp[];
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

const FAILING: Readonly<Record<string, Case>> = {
  'run-forgotten': { closing: '0 passed, 1 failed', says: [/x case: fails/] },
  'before-throws': {
    closing: '0 passed, 2 failed',
    says: [/x case: one\n +Error: before is broken/, /x case: two/],
  },
  'after-throws': {
    closing: '2 passed, 1 failed',
    says: [/x case: after hook\n +Error: after is broken/],
  },
  'before-each-throws': { closing: '0 passed, 1 failed', says: [/before\.each is broken/] },
  'after-each-throws': {
    closing: '0 passed, 2 failed',
    says: [/Expected values to be strictly equal/, /and then.*\n.*after\.each is broken/],
  },
  'throws-odd-things': {
    closing: '1 passed, 4 failed',
    says: [/only a string/, /thrown: undefined/, /odd name/, /no message for you/],
  },
  'late-registration': { closing: '0 passed, 1 failed', says: [/test "two" after run\(\)/] },
  'later-registration': { closing: '0 passed, 1 failed', says: [/test "two" after run\(\)/] },
  'never-settles': { closing: '0 passed, 1 failed', says: [/"waits" took longer than 100 ms/] },
  'never-settles-open': { closing: '0 passed, 1 failed', says: [/longer than 100 ms/] },
  'floating-rejection': {
    closing: '1 passed, 1 failed',
    says: [/floats: unhandled rejection\n.*nobody looked/],
  },
  'late-exception': { closing: '1 passed, 1 failed', says: [/uncaught exception\n.*thrown later/] },
  exits: { closing: '1 passed, 1 failed', says: [/ended \(exit code 0\) before its tests did/] },
  'no-suite': { closing: '0 passed, 1 failed', says: [/it has no suite/] },
  'empty-suite': { closing: '0 passed, 1 failed', says: [/it has no test/] },
  'import-throws': { closing: '0 passed, 1 failed', says: [/broken at the top/] },
  endless: {
    closing: '0 passed, 1 failed',
    says: [/killed after 1500 ms/],
    args: ['--file-limit', '1500'],
  },
  'open-handle': {
    closing: '1 passed, 1 failed',
    says: [/did not end by itself; still open: .*TCPServerWrap/],
    env: { ENGINEWRIGHT_TEST_LINGER_MS: '100' },
  },
  'left-process': {
    closing: '1 passed, 1 failed',
    says: [/left processes running: .*setTimeout/],
  },
  'skip-file': {
    closing: '0 passed, 1 failed',
    says: [/skipped: there is no browser/],
    env: { CI: 'true' },
  },
  'skip-test': {
    closing: '1 passed, 1 failed',
    says: [/case: two \(skipped: not on this machine\)/],
    env: { CI: '1' },
  },
};

const PASSING: Readonly<Record<string, Case>> = {
  passing: { closing: '2 passed, 0 failed' },
  spawns: { closing: '2 passed, 0 failed' },
  'skip-test': { closing: '1 passed, 0 failed, 1 skipped' },
};

const failing = suite('runner, failing', { timeoutMs: 30_000 });
for (const [name, wanted] of Object.entries(FAILING)) {
  failing(name, async ({ signal }) => {
    const outcome = await run([fileOf(name), ...(wanted.args ?? [])], wanted.env, signal);
    hold(outcome, wanted);
    assert.is(outcome.code, 1);
  });
}

failing('a file that cannot be built', async ({ signal }) => {
  const file = `.build/broken-${process.pid}.case.ts`;
  mkdirSync(`${ROOT}.build`, { recursive: true });
  writeFileSync(ROOT + file, 'export const = 1;\n');
  try {
    const outcome = await run([file], {}, signal);
    hold(outcome, { closing: '0 passed, 1 failed', says: [/could not be built: .*broken/] });
    assert.is(outcome.code, 1);
  } finally {
    rmSync(ROOT + file);
  }
});

failing('a name that no file has', async ({ signal }) => {
  const outcome = await run(['no-such-test-file'], {}, signal);
  hold(outcome, { closing: '0 passed, 1 failed', says: [/No test file has no-such-test-file/] });
  assert.is(outcome.code, 1);
});

failing('nothing but a skipped file is no success', async ({ signal }) => {
  const outcome = await run([fileOf('skip-file')], {}, signal);
  hold(outcome, { closing: '0 passed, 0 failed, 1 skipped' });
  assert.is(outcome.code, 1);
});
failing.run();

const passing = suite('runner, passing', { timeoutMs: 30_000 });
for (const [name, wanted] of Object.entries(PASSING)) {
  passing(name, async ({ signal }) => {
    const outcome = await run([fileOf(name)], wanted.env, signal);
    hold(outcome, wanted);
    assert.is(outcome.code, 0);
  });
}

passing('a skipped file beside a passing one', async ({ signal }) => {
  const outcome = await run([fileOf('skip-file'), fileOf('passing')], {}, signal);
  hold(outcome, { closing: '2 passed, 0 failed, 1 skipped', says: [/2 test files/] });
  assert.is(outcome.code, 0);
});

passing('there is no only', () => {
  assert.not('only' in passing);
});
passing.run();

function fileOf(name: string): string {
  return `test/run/fixtures/${name}.case.ts`;
}

function hold(outcome: Outcome, wanted: Case): void {
  assert.is(outcome.closing, wanted.closing, `closing line of:\n${outcome.output}`);
  for (const pattern of wanted.says ?? []) {
    assert.match(outcome.output, pattern, `${pattern} in:\n${outcome.output}`);
  }
}

async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const child = spawn(process.execPath, ['scripts/test.mjs', '--no-setup', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CI: '', ...env },
    signal,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output, closing: output.trimEnd().split('\n').at(-1) ?? '' };
}
