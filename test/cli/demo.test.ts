// `enginewright demo` against the kiosk: the account a person reads, the JSON line a script reads,
// and the exit code. The browser's demo is in the end-to-end tests.
import { assert, suite } from '../harness.ts';
import { runCli } from '../support/processes.ts';

const test = suite('demo');

test(
  'plays the whole flow and ends with one line of JSON',
  async () => {
    const { code, stdout, stderr } = await runCli(['demo', '--json']);
    assert.is(code, 0, stderr);
    assert.is(stderr, '');
    const lines = stdout.trimEnd().split('\n');
    const summary = JSON.parse(lines.at(-1) ?? '') as {
      status: string;
      steps: {
        kind: string;
        status: string;
        code: string | null;
        modelCalls: number;
        actions: number;
      }[];
    };
    assert.is(summary.status, 'passed');
    assert.equal(
      summary.steps.map((step) => step.kind),
      ['act', 'assert', 'act', 'waitFor', 'extract', 'assert'],
    );
    assert.equal(
      summary.steps.map((step) => [step.status, step.code, step.actions]),
      [
        ['passed', null, 5],
        ['passed', null, 0],
        ['passed', null, 4],
        ['passed', null, 0],
        ['passed', null, 0],
        ['failed', 'ASSERTION_FAILED', 0],
      ],
    );
    for (const step of summary.steps) assert.ok(step.modelCalls >= 1);
    assert.match(stdout, /As expected: 6 steps, 9 actions/u);
    assert.match(stdout, /this failure is deliberate/u);
    assert.match(stdout, /not yet, after .*"Order ready" is not on the screen/u);
    assert.not(stdout.includes('\u001b'), 'no colour in a pipe');
  },
  { timeoutMs: 60_000 },
);
