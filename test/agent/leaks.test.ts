// A thousand steps of one attempt, well and badly ended, alone and queued: nothing of them stays on a
// signal or on the clock, nothing is rejected unheard, and a late step costs what an early one did.
import { getEventListeners } from 'node:events';
import { ModelError } from '../../core/agent/model.ts';
import { createRedactor } from '../../core/agent/redaction.ts';
import type { StandardSchemaV1 } from '../../core/agent/standard-schema.ts';
import { EngineError } from '../../core/contract/errors.ts';
import { HANG, scriptedModel, type ScriptedTurn } from '../../testing/scripted-model.ts';
import { assert, suite } from '../harness.ts';
import { calls, idOf, judged, stage, tap, verdict, type Stage } from './stage.ts';

const test = suite('agent leaks');
const STEPS = 1000;

const schema: StandardSchemaV1<unknown, string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: String(value) }),
  },
};
const found: ScriptedTurn = JSON.stringify({ found: true, reason: null, value: 'x' });

/** One way in which a step goes: what the model answers, and what is called. */
interface Way {
  readonly turns: readonly ((id: string) => ScriptedTurn)[];
  readonly call: (it: Stage) => Promise<unknown>;
}
const WAYS: readonly Way[] = [
  {
    turns: [(id) => calls(tap(id)), () => verdict('passed')],
    call: (it) => it.agent.act('tap it'),
  },
  { turns: [() => judged('holds')], call: (it) => it.agent.assert('it is there') },
  { turns: [() => found], call: (it) => it.agent.extract('it', { schema }) },
  {
    turns: [() => judged('fails')],
    call: (it) => it.agent.waitFor('it', { interval: 100, timeout: 500 }),
  },
  { turns: [() => HANG], call: (it) => it.agent.act('hang', { timeout: 300 }) },
  {
    turns: [() => new ModelError('server', 'HTTP 500', { requests: 2 })],
    call: (it) => it.agent.assert('broken'),
  },
  {
    turns: [(id) => calls(tap(id), tap(id)), () => verdict('failed')],
    call: (it) => it.agent.act('fail'),
  },
];

test(
  `${STEPS} steps leave no listener, no timer and no rejection`,
  async () => {
    const unheard: unknown[] = [];
    const warnings: unknown[] = [];
    const onUnheard = (reason: unknown): void => void unheard.push(reason);
    const onWarning = (warning: unknown): void => void warnings.push(warning);
    process.on('unhandledRejection', onUnheard);
    process.on('warning', onWarning);
    try {
      const signals = new Set<AbortSignal>();
      let queue: ((id: string) => ScriptedTurn)[] = [];
      let taps = 0;
      const script = scriptedModel((request) => {
        const isAct = request.tools.length > 1;
        const turn = queue.shift();
        return turn === undefined ? HANG : turn(isAct ? idOf(request, 'Save') : '');
      });
      const it = stage({
        model: {
          ...script,
          generate(request, options) {
            signals.add(options.signal);
            return script.generate(request, options);
          },
        },
        attemptMs: 100_000_000,
        onObserve: ({ signal }) => void signals.add(signal),
        onAction({ context, app }) {
          signals.add(context.signal);
          taps += 1;
          if (taps % 3 === 0) throw new EngineError('NOT_ACTIONABLE', 'covered');
          app.nodes = [...app.nodes.slice(0, 1), { id: `n${taps}`, role: 'status', name: 'New' }];
        },
      });
      const before = it.clock.pending;
      const attempt = it.scope.deadline.signal;
      const kept = getEventListeners(attempt, 'abort').length;
      const settle = (call: Promise<unknown>): Promise<unknown> =>
        it.play(call.catch(() => undefined));
      while (it.records.length < STEPS) {
        const way = WAYS[it.records.length % WAYS.length] as Way;
        queue = [...way.turns];
        const first = settle(way.call(it));
        if (it.records.length % 10 !== 0) {
          await first;
          continue;
        }
        // Twelve at once: eleven queue, some of them beyond their deadline.
        const others = Array.from({ length: 11 }, (_, index) =>
          settle(it.agent.assert('queued', { timeout: 100 + index * 20 })),
        );
        await Promise.all([first, ...others]);
      }
      assert.is(getEventListeners(attempt, 'abort').length, kept);
      assert.is(it.clock.pending, before);
      assert.equal(it.driver.abandoned, []);
      assert.ok(signals.size > STEPS);
      for (const signal of signals) assert.is(getEventListeners(signal, 'abort').length, 0);
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(unheard, []);
      assert.equal(warnings, []);
    } finally {
      process.off('unhandledRejection', onUnheard);
      process.off('warning', onWarning);
    }
  },
  { timeoutMs: 120_000 },
);

test('an act late in the attempt masks no more of the completed steps than an early one', async () => {
  let masked = 0;
  const redactor = createRedactor();
  const it = stage({
    model: scriptedModel(() => verdict('passed', 'Done as asked.')),
    attemptMs: 100_000_000,
    scope: {
      redactor: {
        ...redactor,
        text(text) {
          masked += 1;
          return redactor.text(text);
        },
      },
    },
  });
  const costs: number[] = [];
  for (let count = 0; count < 300; count += 1) {
    masked = 0;
    await it.play(it.agent.act(`Step number ${count} of this attempt`));
    costs.push(masked);
  }
  assert.ok((costs[299] ?? 0) <= (costs[150] ?? 0) + 10, `${costs[150]} ${costs[299]}`);
});

test.run();
