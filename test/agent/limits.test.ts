// Budgets and deadlines: what a step may spend, that it is answered in time, and that nothing starts
// after the answer. All on a fake clock; nothing here sleeps.
import type { Clock } from '../../core/base/clock.ts';
import { ConfigurationError, EngineError } from '../../core/contract/errors.ts';
import { ModelError } from '../../core/agent/model.ts';
import { HANG, scriptedModel } from '../../testing/scripted-model.ts';
import { assert, rejects, suite } from '../harness.ts';
import { calls, idOf, judged, results, stage, tap, textOf, verdict, type Stage } from './stage.ts';

const test = suite('agent limits');

const counter = [{ id: 'plus', role: 'button', name: 'Plus' }];
const observe = calls({ name: 'observe' });

test('the last model call is forced to conclude, with the same tools', async () => {
  const model = scriptedModel([observe, verdict('failed', 'Not done yet.')]);
  const it = stage({ model });
  const error = await rejects(it.play(it.agent.act('x', { maxModelCalls: 2 })), /Not done yet/u);
  assert.is(error.code, 'ACTION_FAILED');
  const [first, last] = model.requests;
  assert.is(first?.toolChoice, 'required');
  assert.equal(last?.toolChoice, { tool: 'complete_step' });
  assert.is(JSON.stringify(last?.tools), JSON.stringify(first?.tools));
  assert.match(textOf(last?.messages.at(-1)), /last model call.*complete_step/u);
});

test('a forced verdict is taken wherever it stands in the turn; other calls are not run', async () => {
  const model = scriptedModel([
    (request) => ({ calls: [tap(idOf(request, 'Save')), ...(verdict('passed').calls ?? [])] }),
  ]);
  const it = stage({ model });
  await it.play(it.agent.act('x', { maxModelCalls: 1 }));
  assert.equal(it.actions, []);
  assert.equal(
    it.record.actions.map((action) => action.outcome),
    ['not-run'],
  );
});

test('no verdict in the last model call is STEP_BUDGET_EXHAUSTED, blocked', async () => {
  const model = scriptedModel([observe, (request) => calls(tap(idOf(request, 'Save')))]);
  const it = stage({ model });
  const error = await rejects(it.play(it.agent.act('x', { maxModelCalls: 2 })), /2 model calls/u);
  assert.is(error.code, 'STEP_BUDGET_EXHAUSTED');
  assert.is(error.blocked, true);
  assert.is(it.record.status, 'blocked');
  assert.is(it.record.modelCalls, 2);
  assert.equal(it.actions, []);
});

test('each repetition is an action, and a call that takes more than is left is refused whole', async () => {
  const press = (times: number) => (request: Parameters<typeof idOf>[0]) =>
    calls({ name: 'press', arguments: { target: idOf(request, 'Plus'), key: 'Enter', times } });
  const model = scriptedModel([press(3), press(3), press(2), verdict('passed')]);
  const it = stage({ model, nodes: counter });
  const result = await it.play(it.agent.act('x', { maxSteps: 5 }));
  assert.is(result.actions, 5);
  assert.is(it.actions.length, 5);
  const told = results(model.requests[3]);
  assert.match(told[1] ?? '', /takes 3 actions, and only 2 are left/u);
  assert.equal(
    it.record.actions.map((action) => action.count),
    [3, 0, 2],
  );
  // All used: the next turn is forced.
  assert.equal(model.requests[3]?.toolChoice, { tool: 'complete_step' });
});

test('repetitions stop at the one that failed, and those before it count', async () => {
  let pressed = 0;
  const model = scriptedModel([
    (request) =>
      calls({
        name: 'press',
        arguments: { target: idOf(request, 'Plus'), key: 'Enter', times: 5 },
      }),
    verdict('passed'),
  ]);
  const it = stage({
    model,
    nodes: counter,
    onAction() {
      pressed += 1;
      if (pressed === 3) throw new EngineError('NOT_ACTIONABLE', 'gone');
    },
  });
  const result = await it.play(it.agent.act('x'));
  assert.is(result.actions, 2);
  assert.is(it.record.actions[0]?.outcome, 'failed');
});

test('used actions without a verdict are STEP_BUDGET_EXHAUSTED', async () => {
  const again = (request: Parameters<typeof idOf>[0]) => calls(tap(idOf(request, 'Save')));
  const it = stage({ model: scriptedModel([again, again, again]) });
  const error = await rejects(it.play(it.agent.act('x', { maxSteps: 1 })), /All 1 actions/u);
  assert.is(error.code, 'STEP_BUDGET_EXHAUSTED');
  assert.equal(it.actions, ['tap save']);
});

test('the last part of the deadline forces the verdict; without one it is STEP_NO_CONCLUSION', async () => {
  const slow = async (): Promise<ReturnType<typeof calls>> => {
    await it.clock.advance(9_200);
    return observe;
  };
  const model = scriptedModel([slow, observe, observe]);
  const it = stage({ model });
  const error = await rejects(it.play(it.agent.act('x', { timeout: 10_000 })));
  assert.is(error.code, 'STEP_NO_CONCLUSION');
  assert.equal(
    model.requests.map((request) => request.toolChoice),
    ['required', { tool: 'complete_step' }, { tool: 'complete_step' }],
  );
  assert.match(textOf(model.requests[1]?.messages.at(-1)), /time is almost over/u);
});

test('a model that hangs is aborted at the deadline, and its call counts', async () => {
  const model = scriptedModel([HANG]);
  const it = stage({ model });
  const error = await rejects(
    it.play(it.agent.act('x', { timeout: 5_000 })),
    /while waiting for the model/u,
  );
  assert.is(error.code, 'STEP_TIMEOUT');
  assert.is(error.blocked, true);
  assert.is(it.record.durationMs, 5_000);
  assert.is(it.record.modelCalls, 1);
  assert.is(it.record.usage.tokenAccounting, 'adapter-upper-bound');
});

test('an engine that ignores its abort is named, and the next call waits for it first', async () => {
  let finish = (): void => undefined;
  const model = scriptedModel([(request) => calls(tap(idOf(request, 'Save'))), judged('holds')]);
  const it = stage({
    model,
    onAction: () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  });
  const error = await rejects(it.play(it.agent.act('x', { timeout: 5_000 })));
  assert.is(error.code, 'STEP_TIMEOUT');
  assert.is(it.record.durationMs, 5_000);
  assert.equal(it.record.abandoned, ['perform tap']);
  assert.equal(
    it.record.actions.map(({ outcome, count }) => ({ outcome, count })),
    [{ outcome: 'uncertain', count: 1 }],
  );
  const before = it.log.length;
  const next = it.agent.assert('it is saved');
  await it.clock.advance(10_000);
  assert.is(it.log.length, before, 'the engine was asked while an abandoned call still ran');
  const waiting = it.events.findLast((event) => event.phase === 'progress');
  assert.equal(waiting?.phase === 'progress' && waiting.progress, {
    what: 'waiting-for-engine',
    operations: ['perform tap'],
  });
  finish();
  await it.play(next);
  assert.is(it.record.status, 'passed');
});

test('one that never ends fails the next call once the cleanup budget is over', async () => {
  const model = scriptedModel([(request) => calls(tap(idOf(request, 'Save')))]);
  const it = stage({
    model,
    limits: { cleanupTimeout: 2_000 },
    onAction: () => new Promise<void>(() => undefined),
  });
  await rejects(it.play(it.agent.act('x', { timeout: 5_000 })));
  const error = await rejects(
    it.play(it.agent.assert('x')),
    /perform tap of an earlier step ignored its abort/u,
  );
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.is(it.record.durationMs, 2_000);
});

test('no engine call starts after the answer', async () => {
  for (const timeout of [300, 900, 1_700, 2_600]) {
    const model = scriptedModel((request) => calls(tap(idOf(request, 'Save'))));
    const it = stage({
      model,
      onObserve: async () => {
        await it.clock.advance(40);
      },
      onAction({ app }) {
        app.nodes = [...app.nodes, { id: `n${app.nodes.length}`, role: 'button', name: 'New' }];
      },
    });
    await rejects(it.play(it.agent.act('x', { timeout })));
    const at = it.log.length;
    await it.clock.advance(60_000);
    assert.is(it.log.length, at);
    assert.is(it.driver.abandoned.length, 0);
  }
});

test('the attempt’s rest caps the time-out; its end is a STEP_TIMEOUT too', async () => {
  const it = stage({ model: scriptedModel([HANG]), attemptMs: 3_000 });
  const error = await rejects(it.play(it.agent.act('x', { timeout: 60_000 })));
  assert.is(error.code, 'STEP_TIMEOUT');
  assert.is(it.clock.now(), 3_000);
});

test('the host’s abort is CANCELLED, with its reason as the cause', async () => {
  const reason = new Error('ctrl-c');
  const it = stage({
    model: scriptedModel([
      () => {
        it.abort(reason);
        return HANG;
      },
    ]),
  });
  const error = await rejects(it.play(it.agent.act('x')));
  assert.is(error.code, 'CANCELLED');
  assert.is(error.cause, reason);
  assert.is(it.record.code, 'CANCELLED');
});

test('time runs while a call queues behind another one', async () => {
  const model = scriptedModel([HANG, judged('holds')]);
  const it = stage({ model });
  const first = it.agent.act('slow', { timeout: 10_000 });
  const second = it.agent.assert('waits', { timeout: 4_000 });
  const error = await rejects(it.play(second), /queued behind another call/u);
  assert.is(error.code, 'STEP_TIMEOUT');
  assert.is(it.clock.now() < 10_000, true);
  await rejects(it.play(first));
  await it.clock.advance(60_000);
  // Its turn came after its answer: it asked nobody.
  assert.is(model.requests.length, 1);
  assert.equal(
    it.records.map((record) => [record.kind, record.code]),
    [
      ['assert', 'STEP_TIMEOUT'],
      ['act', 'STEP_TIMEOUT'],
    ],
  );
});

test('model failures by class', async () => {
  for (const [failure, code, blocked] of [
    ['auth', 'MODEL_UNAVAILABLE', false],
    ['quota', 'MODEL_PROVIDER_FAILED', false],
    ['server', 'MODEL_PROVIDER_FAILED', false],
    ['context-overflow', 'CONTEXT_OVERFLOW', true],
  ] as const) {
    const it = stage({
      model: scriptedModel([new ModelError(failure, 'HTTP 4xx: no', { requests: 3 })]),
    });
    const error = await rejects(it.play(it.agent.act('x')), /HTTP 4xx: no/u);
    assert.is(error.code, code);
    assert.is(error.blocked, blocked);
    assert.is(it.record.modelCalls, 0);
    assert.is(it.record.usage.requests, 3);
  }
  const counted = stage({
    model: scriptedModel([
      new ModelError('bad-response', 'unreadable', {
        requests: 1,
        mayHaveAnswered: true,
        usage: { inputTokens: 7, outputTokens: 3 },
      }),
    ]),
  });
  await rejects(counted.play(counted.agent.act('x')));
  assert.is(counted.record.modelCalls, 1);
  assert.is(counted.record.usage.inputTokens, 7);
});

test('a model that throws a stranger is MODEL_PROVIDER_FAILED, cause kept', async () => {
  const cause = new TypeError('x is not a function');
  const it = stage({ model: scriptedModel([cause]) });
  const error = await rejects(it.play(it.agent.act('x')), /x is not a function/u);
  assert.is(error.code, 'MODEL_PROVIDER_FAILED');
  assert.is(error.cause.cause ?? error.cause, cause);
});

test('an adapter that cannot start is MODEL_UNAVAILABLE, and no model call', async () => {
  const cause = new ConfigurationError('INVALID_CONFIG', 'openai-chat: no key; set apiKey.');
  const it = stage({ model: scriptedModel([cause]) });
  const error = await rejects(it.play(it.agent.act('x')), /no key; set apiKey/u);
  assert.is(error.code, 'MODEL_UNAVAILABLE');
  assert.is(it.record.modelCalls, 0);
});

test('maxTokens is held before a request is sent, against what it may take', async () => {
  const usage = { inputTokens: 1_000, outputTokens: 100 };
  const roomy = stage({
    model: scriptedModel([verdict('passed')], { usage }),
    entry: { maxTokens: 100_000 },
  });
  await roomy.play(roomy.agent.act('x'));
  const model = scriptedModel([observe, verdict('passed')], {
    usage: { inputTokens: 90_000, outputTokens: 5 },
  });
  const it = stage({ model, entry: { maxTokens: 100_000 } });
  const error = await rejects(it.play(it.agent.act('x')), /maxTokens is 100000, 90005 are spent/u);
  assert.is(error.code, 'STEP_BUDGET_EXHAUSTED');
  assert.is(model.requests.length, 1);
});

test('maxCost is held by the price list', async () => {
  const model = scriptedModel([observe, verdict('passed')], {
    usage: { inputTokens: 1_000_000, outputTokens: 0 },
  });
  const it = stage({ model, entry: { maxCost: 1, prices: { input: 0.95, output: 10 } } });
  const error = await rejects(it.play(it.agent.act('x')), /maxCost is \$1, \$0\.95/u);
  assert.is(error.code, 'STEP_BUDGET_EXHAUSTED');
  assert.is(model.requests.length, 1);
});

test('nothing is left on the clock or on the attempt’s signal after a step', async () => {
  const it = stage({
    model: scriptedModel([(request) => calls(tap(idOf(request, 'Save'))), verdict('passed')]),
  });
  const before = it.clock.pending;
  await it.play(it.agent.act('x'));
  assert.is(it.clock.pending, before);
});

/** A clock whose timers are a millisecond late: the event loop was busy. */
const lateClock = (of: () => Stage): Clock => ({
  now: () => of().clock.now(),
  iso: () => of().clock.iso(),
  setTimer: (ms, callback) => of().clock.setTimer(ms + 1, callback),
});

test('an operation that takes the rest of the step is the step’s time-out, whichever timer is first', async () => {
  const hang = () => new Promise<void>(() => undefined);
  const observing: Stage = stage({
    model: scriptedModel([]),
    scope: { clock: lateClock(() => observing) },
    onObserve: hang,
  });
  const first = await rejects(
    observing.play(observing.agent.act('x', { timeout: 5_000 })),
    /while observing/u,
  );
  assert.is(first.code, 'STEP_TIMEOUT');

  const model = scriptedModel([(request) => calls(tap(idOf(request, 'Save')))]);
  const acting: Stage = stage({
    model,
    scope: { clock: lateClock(() => acting) },
    onAction: hang,
  });
  const second = await rejects(
    acting.play(acting.agent.act('x', { timeout: 5_000 })),
    /while running tap/u,
  );
  assert.is(second.code, 'STEP_TIMEOUT');
  assert.is(model.requests.length, 1);
  assert.is(acting.record.actions[0]?.code, 'STEP_TIMEOUT');
});

test('what is not asked for counts for nothing: the time was up before the call', async () => {
  const it: Stage = stage({
    scope: { clock: lateClock(() => it) },
    model: scriptedModel([
      async (request) => {
        await it.clock.advance(5_000);
        return calls(tap(idOf(request, 'Save')));
      },
    ]),
  });
  const error = await rejects(it.play(it.agent.act('x', { timeout: 5_000 })), /0 actions/u);
  assert.is(error.code, 'STEP_TIMEOUT');
  assert.equal(it.actions, []);
  assert.equal(
    it.record.actions.map(({ outcome, count, code }) => ({ outcome, count, code })),
    [{ outcome: 'not-run', count: 0, code: 'STEP_TIMEOUT' }],
  );
});

test('a deadline between two repetitions leaves those that were done, and none in doubt', async () => {
  const it = stage({
    model: scriptedModel([
      (request) =>
        calls({
          name: 'press',
          arguments: { target: idOf(request, 'Plus'), key: 'Enter', times: 9 },
        }),
    ]),
    nodes: counter,
    onAction: async () => {
      await it.clock.advance(2_500);
    },
  });
  const error = await rejects(it.play(it.agent.act('x', { timeout: 5_000 })));
  assert.is(error.code, 'STEP_TIMEOUT');
  const [action] = it.record.actions;
  assert.is(action?.count, it.actions.length);
  assert.is(action?.code, 'STEP_TIMEOUT');
});

test('a passed deadline says what the step was doing', async () => {
  const tapped = (onObserve: (count: number) => Promise<void>) =>
    stage({
      model: scriptedModel([(request) => calls(tap(idOf(request, 'Save')))]),
      onObserve: (_, count) => onObserve(count),
    });
  const settling = tapped((count) =>
    count === 1 ? Promise.resolve() : new Promise<void>(() => undefined),
  );
  await rejects(
    settling.play(settling.agent.act('x', { timeout: 5_000 })),
    /1 model call and 1 action, while waiting for the screen after an action/u,
  );
  // The engine is still at it: the next call says for what it waited.
  await rejects(
    settling.play(settling.agent.assert('x', { timeout: 1_000 })),
    /while waiting for observe of an earlier step, which ignored its abort/u,
  );
});

test('a port that answers something else is MODEL_PROVIDER_FAILED, and says what is wrong', async () => {
  const whole = { text: '', toolCalls: [], modelId: 'm', stopReason: 'stop', requests: 1 };
  for (const [answer, words] of [
    [undefined, /it is no object/u],
    [{ ...whole, text: null }, /"text" must be a string/u],
    [{ ...whole, toolCalls: undefined }, /"toolCalls" must be a list/u],
    [{ ...whole, toolCalls: [{ name: 'tap' }] }, /needs an "id" and a "name"/u],
    [{ ...whole, requests: undefined }, /"requests" must be a whole number/u],
  ] as const) {
    const it = stage({
      model: {
        adapter: 'own',
        modelId: 'm',
        images: false,
        generate: () => Promise.resolve(answer as never),
      },
    });
    const error = await rejects(it.play(it.agent.act('x')), words);
    assert.is(error.code, 'MODEL_PROVIDER_FAILED');
    assert.match(error.message, /^Model own m: /u);
    assert.is(it.record.modelCalls, 1);
  }
});

test.run();
