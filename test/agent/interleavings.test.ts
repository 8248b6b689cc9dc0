// Deadlines, aborts, slow engines and slow models in random order. Whatever the order: the caller is
// answered at its deadline at the latest, no engine call starts after the answer, no budget is
// overrun, and the record says what was spent. A failing seed is in the message.
import { sleep } from '../../core/base/deadline.ts';
import { isAgentError } from '../../core/contract/errors.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { assert, suite } from '../harness.ts';
import { calls, idOf, judged, stage, tap, verdict } from './stage.ts';

const test = suite('agent interleavings');
const SEEDS = 400;

/** A small generator of its own, so that a seed means the same everywhere. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return ((state >>> 8) / 2 ** 24) * below;
  };
}

async function play(seed: number): Promise<void> {
  const next = random(seed);
  const label = `seed ${seed}`;
  const timeout = 200 + Math.floor(next(8_000));
  const abortAt = next(1) < 0.25 ? next(timeout) : undefined;
  const ignores = next(1) < 0.3;
  const wait = (most: number, signal?: AbortSignal): Promise<void> =>
    sleep(next(most), { clock: it.clock, signal: ignores ? undefined : signal });
  const model = scriptedModel(async (request) => {
    await wait(1_500);
    if (next(1) < 0.1) return 'Only words.';
    if (request.tools.some((tool) => tool.name === 'judge')) {
      return judged(next(1) < 0.2 ? 'holds' : 'fails');
    }
    if (next(1) < 0.15) return verdict('passed');
    const id = idOf(request, 'Save');
    return calls(tap(id), ...(next(1) < 0.5 ? [tap(id)] : []));
  });
  const it = stage({
    model,
    limits: { actionTimeout: 1_000 + next(3_000) },
    async onObserve({ signal }) {
      await wait(next(1) < 0.1 ? 2_500 : 120, signal);
    },
    async onAction({ app, context }) {
      await wait(next(1) < 0.2 ? 3_000 : 200, context.signal);
      app.nodes = [...app.nodes.slice(0, 4), { id: `t${next(1e9)}`, role: 'status', name: 'New' }];
    },
  });
  const cancel =
    abortAt === undefined
      ? undefined
      : it.clock.setTimer(abortAt, () => {
          it.abort(new Error('host'));
        });
  const started = it.clock.now();
  let callsAtAnswer = -1;
  const start = async (limit: number): Promise<void> => {
    const call =
      next(1) < 0.7
        ? it.agent.act('x', { timeout: limit, maxSteps: 6, maxModelCalls: 8 })
        : it.agent.waitFor('x', { timeout: limit, interval: 100 + Math.floor(next(900)) });
    const error = await call.then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    callsAtAnswer = it.log.length;
    assert.ok(error === undefined || isAgentError(error), label);
    // One step of the fake clock: it may move on while an abandoned call hears of its abort.
    const late = it.clock.now() - started - limit;
    assert.ok(late <= 50, `${label}: answered ${late} ms late`);
    const code = error?.code;
    // ACTION_FAILED: an observation that took longer than the action time-out.
    const codes = [
      'STEP_TIMEOUT',
      'CANCELLED',
      'STEP_NO_CONCLUSION',
      'STEP_BUDGET_EXHAUSTED',
      'ACTION_FAILED',
    ];
    assert.ok(code === undefined || codes.includes(code), `${label}: ${code}`);
  };
  const both = [start(timeout)];
  if (next(1) < 0.4) both.push(start(200 + Math.floor(next(8_000))));
  await it.play(Promise.all(both));
  cancel?.();
  await it.clock.advance(60_000);
  assert.is(it.log.length, callsAtAnswer, `${label}: an engine call started after the answer`);
  assert.is(it.records.length, both.length, label);
  let counted = 0;
  let asked = 0;
  for (const record of it.records) {
    counted += record.actionCount;
    asked += record.modelCalls;
    assert.ok(record.actionCount <= 6, label);
    assert.ok(record.modelCalls <= 25, label);
    assert.is(
      record.actionCount,
      record.actions.reduce((sum, action) => sum + action.count, 0),
      label,
    );
    for (const { outcome, count } of record.actions) {
      assert.ok(outcome !== 'not-run' || count === 0, label);
    }
  }
  assert.is(counted, it.actions.length, `${label}: not every dispatched action counted, and once`);
  assert.is(asked, model.requests.length, label);
  assert.is(it.driver.abandoned.length, 0, label);
}

test(
  `${SEEDS} random orders keep the promises`,
  async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) await play(seed);
  },
  { timeoutMs: 120_000 },
);

test.run();
