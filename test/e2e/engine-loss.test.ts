// An engine that dies in the middle of an action: the step ends with the right error at once, the
// next attempt gets a new process, nothing is left running, and the host exits by itself. All
// time-outs here are far beyond the test's own limit, so waiting for one would fail the test.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, rejects, suite } from '../harness.ts';
import enginePath from '../support/hanging-engine.ts?file';
import hostPath from '../support/hanging-host.ts?file';
import { isAlive, startNode, type RunningProcess } from '../support/processes.ts';

const test = suite('engine loss');
const folder = await mkdtemp(join(tmpdir(), 'enginewright-loss-'));
test.after(() => rm(folder, { recursive: true, force: true }));
let markers = 0;
const newMarker = (): string => join(folder, `acting-${(markers += 1)}`);

/** The id of the process that is in the middle of the tap; a host that ends first is an error. */
async function acting(marker: string, host: RunningProcess): Promise<number> {
  for (;;) {
    const text = await readFile(marker, 'utf8').catch(() => '');
    if (text !== '') return Number(text);
    if (!isAlive(host.pid)) throw new Error(`the host ended first: ${host.output.stdout}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const transport of ['stdio', 'tcp'] as const) {
  test(
    `ends the step at once, and the host by itself, over ${transport}`,
    async () => {
      const marker = newMarker();
      const server = transport === 'tcp' ? startNode([enginePath, marker, 'tcp']) : undefined;
      const port = server === undefined ? '' : ((await server.printed(/port (\d+)\n/u))[1] ?? '');
      const host = startNode([hostPath, enginePath, marker, port]);
      process.kill(await acting(marker, host), 'SIGKILL');
      const ended = await host.finished;
      assert.is(ended.code, 0, ended.stderr);
      const report = JSON.parse(ended.stdout.trimEnd().split('\n').at(-1) ?? '') as {
        code: string;
        message: string;
        step: string;
        summary: string;
        action: string;
        second: string;
        pids: number[];
      };
      assert.is(report.code, 'ENGINE_FAILURE');
      assert.is(report.step, 'ENGINE_FAILURE');
      assert.match(report.summary, /was lost/u);
      assert.is(report.action, 'uncertain');
      if (transport === 'stdio') {
        assert.match(report.message, /SIGKILL/u);
        assert.match(report.message, /last words of the engine/u);
        assert.is(report.second, 'passed');
        assert.is(report.pids.length, 2);
        for (const each of report.pids) assert.not(isAlive(each));
      } else {
        assert.match(report.second, /ENGINE_FAILURE/u);
        await server?.finished;
      }
    },
    { timeoutMs: 30_000 },
  );
}

test('a host that is killed takes its engine process with it', async () => {
  const marker = newMarker();
  const host = startNode([hostPath, enginePath, marker, '']);
  const pid = await acting(marker, host);
  await host.kill('SIGKILL');
  await gone(pid);
  assert.not(isAlive(pid));
});

/** Waits until the process has ended; the test's own limit bounds it. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('helpers: a process that ends without printing is an error, not a hang', async () => {
  const child = startNode(['-e', '0']);
  await rejects(child.printed(/never/u), /ended without printing/u);
  await child.finished;
});
