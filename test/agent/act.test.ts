// `act`, turn by turn: what the model is told after each call, what is refused, and how a step ends.
import { EngineError, TestError } from '../../core/contract/errors.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { assert, rejects, suite } from '../harness.ts';
import { calls, idOf, results, stage, tap, textOf, verdict } from './stage.ts';

const test = suite('agent.act');

const form = [
  { id: 'name', role: 'textbox', name: 'Name', value: '' },
  { id: 'save', role: 'button', name: 'Save' },
  { id: 'more', role: 'button', name: 'More' },
] as const;

test('runs actions, reports changes, and passes with the model’s summary', async () => {
  const model = scriptedModel(
    [
      (request) =>
        calls({
          name: 'type',
          arguments: { target: idOf(request, 'Name'), value: 'Ada', replace: null },
        }),
      (request) => calls(tap(idOf(request, 'Save'))),
      verdict('passed', 'Saved Ada.'),
    ],
    { usage: { inputTokens: 100, outputTokens: 10 } },
  );
  const it = stage({
    model,
    nodes: form,
    onAction({ app, action }) {
      app.nodes = app.nodes.map((node) =>
        node.id === 'name' && action.kind === 'fill' ? { ...node, value: action.value } : node,
      );
      if (action.kind === 'tap') {
        app.nodes = [...app.nodes, { id: 'toast', role: 'status', name: 'Saved' }];
      }
    },
  });
  const result = await it.play(it.agent.act('Save Ada'));
  assert.equal(result, { summary: 'Saved Ada.', modelCalls: 3, actions: 2 });
  assert.equal(it.actions, ['fill name=Ada', 'tap save']);
  const told = results(model.requests[2]);
  assert.match(told[0] ?? '', /^Done\.\n<changes>\n~ e\d+ textbox "Name" value "Ada"/u);
  assert.match(told[1] ?? '', /\+ e\d+ status "Saved"/u);
  const { record } = it;
  assert.is(record.status, 'passed');
  assert.is(record.summary, 'Saved Ada.');
  assert.is(record.modelCalls, 3);
  assert.is(record.actionCount, 2);
  assert.equal(
    record.actions.map(({ tool, target, outcome, count }) => ({ tool, target, outcome, count })),
    [
      { tool: 'type', target: 'textbox "Name"', outcome: 'done', count: 1 },
      { tool: 'tap', target: 'button "Save"', outcome: 'done', count: 1 },
    ],
  );
  assert.equal(record.usage, {
    tokenAccounting: 'provider',
    inputTokens: 300,
    outputTokens: 30,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    modelCalls: 3,
    requests: 3,
  });
  assert.ok(record.observationBytes > 0);
  assert.equal(JSON.parse(JSON.stringify(record)), record);
  assert.equal(
    it.events.map((event) => (event.phase === 'progress' ? event.progress.what : event.phase)),
    [
      'opened',
      'observed',
      'model-call',
      'action',
      'observed',
      'model-call',
      'action',
      'observed',
      'model-call',
      'closed',
    ],
  );
});

test('an action without a visible effect is said to have none', async () => {
  const model = scriptedModel([(request) => calls(tap(idOf(request, 'Save'))), verdict('passed')]);
  const it = stage({ model });
  await it.play(it.agent.act('x'));
  assert.is(results(model.requests[1])[0], 'Done.\nNo visible change.');
});

test('an effect that takes a while is waited for, and told once', async () => {
  const model = scriptedModel([
    (request) => calls(tap(idOf(request, 'Save'))),
    (request) => calls(tap(idOf(request, 'More'))),
    verdict('passed'),
  ]);
  const it = stage({
    model,
    nodes: form,
    onAction({ app, id }) {
      if (id !== 'save') return;
      it.clock.setTimer(400, () => {
        app.nodes = [...app.nodes, { id: 'toast', role: 'status', name: 'Saved' }];
      });
    },
  });
  await it.play(it.agent.act('x'));
  const [save, more] = results(model.requests[2]);
  assert.match(save ?? '', /status "Saved"/u);
  assert.is(more, 'Done.\nNo visible change.');
  assert.ok(it.record.timings.settleMs >= 400);
});

test('several calls of a turn run in order, and the rest is not run after a failure', async () => {
  const model = scriptedModel([
    (request) =>
      calls(tap(idOf(request, 'Save')), tap(idOf(request, 'More')), tap(idOf(request, 'Name'))),
    verdict('passed'),
  ]);
  const it = stage({
    model,
    nodes: form,
    onAction({ id }) {
      if (id === 'more')
        throw new EngineError('NOT_ACTIONABLE', 'button "More" is covered by dialog "Ad"');
    },
  });
  await it.play(it.agent.act('x'));
  assert.equal(it.actions, ['tap save', 'tap more']);
  const [first, second, third] = results(model.requests[1]);
  assert.match(first ?? '', /^Done\./u);
  assert.is(second, 'NOT_ACTIONABLE: button "More" is covered by dialog "Ad".\nNo visible change.');
  assert.match(third ?? '', /^Not run: an earlier call of this turn failed/u);
  assert.equal(
    it.record.actions.map((action) => [action.outcome, action.count]),
    [
      ['done', 1],
      ['failed', 0],
      ['not-run', 0],
    ],
  );
});

test('a call whose node went away in the same turn is not run', async () => {
  const model = scriptedModel([
    (request) => calls(tap(idOf(request, 'Save')), tap(idOf(request, 'More'))),
    verdict('passed'),
  ]);
  const it = stage({
    model,
    nodes: form,
    onAction({ app }) {
      app.nodes = app.nodes.filter((node) => node.id !== 'more');
    },
  });
  await it.play(it.agent.act('x'));
  assert.equal(it.actions, ['tap save']);
  assert.match(
    results(model.requests[1])[1] ?? '',
    /^Not run: the screen changed, and its node is gone/u,
  );
});

test('ids that were never given out, or are gone, are refused and cost no action', async () => {
  const model = scriptedModel([
    calls(tap('e99')),
    (request) => calls(tap(idOf(request, 'Save'))),
    (request) => {
      // The id of the first screen: it named a node that has gone since.
      const [, task] = request.messages;
      const id = /(e\d+) button "More"/u.exec(textOf(task))?.[1] ?? '';
      return calls(tap(id));
    },
    verdict('passed'),
  ]);
  const it = stage({
    model,
    nodes: form,
    onAction({ app }) {
      app.nodes = app.nodes.filter((node) => node.id !== 'more');
    },
  });
  await it.play(it.agent.act('x'));
  assert.match(results(model.requests[1])[0] ?? '', /^LOCATOR_NOT_FOUND: There is no node "e99"/u);
  assert.match(results(model.requests[3])[2] ?? '', /^LOCATOR_NOT_FOUND: Node e\d+ is gone/u);
  assert.equal(it.actions, ['tap save']);
  assert.is(it.record.actionCount, 1);
  assert.equal(
    it.record.actions.map((action) => action.outcome),
    ['refused', 'done', 'refused'],
  );
});

test('an unknown tool, an extra field and malformed arguments never run', async () => {
  const model = scriptedModel([
    calls({ name: 'tapp', arguments: { target: 'e1' } }),
    calls({ name: 'tap', arguments: { target: 'e1', force: true } }),
    calls({ name: 'tap', malformed: '{"target": "e1"' }),
    calls({ name: 'tap', arguments: {} }),
    calls({ name: 'press', arguments: { target: 'e1', key: 'Enter', times: 21 } }),
    calls({ name: 'type_secret', arguments: { target: 'e1', name: 'pin' } }),
    verdict('passed'),
  ]);
  const it = stage({ model });
  await it.play(it.agent.act('x'));
  const told = results(model.requests[6]);
  assert.match(told[0] ?? '', /^INVALID_ARGUMENT: There is no tool "tapp"; did you mean "tap"\?/u);
  assert.match(told[1] ?? '', /tap has no argument "force"/u);
  assert.match(told[2] ?? '', /the arguments were not a JSON object/u);
  assert.match(told[3] ?? '', /tap needs the argument "target"/u);
  assert.match(told[4] ?? '', /"times" must be a whole number from 1 to 20/u);
  assert.match(told[5] ?? '', /type_secret is not offered; .*AUTOMATION_UNSUPPORTED/u);
  for (const text of told) assert.match(text, /No visible change\.$/u);
  assert.equal(it.actions, []);
  assert.is(it.record.modelCalls, 7);
  assert.ok(
    it.record.actions.every((action) => action.outcome === 'refused' && action.count === 0),
  );
});

test('what may have committed counts, is said so, and is not done again', async () => {
  const model = scriptedModel([(request) => calls(tap(idOf(request, 'Save'))), verdict('passed')]);
  const it = stage({
    model,
    onAction() {
      throw new EngineError('ACTION_MAY_HAVE_COMMITTED', 'the page went away during the tap');
    },
  });
  const result = await it.play(it.agent.act('x'));
  assert.is(result.actions, 1);
  assert.match(
    results(model.requests[1])[0] ?? '',
    /^ACTION_MAY_HAVE_COMMITTED: .*check before repeating/u,
  );
  assert.equal(it.actions, ['tap save']);
  assert.is(it.record.actions[0]?.outcome, 'uncertain');
});

test('an operation that times out goes to the model; the engine is asked once', async () => {
  const model = scriptedModel([(request) => calls(tap(idOf(request, 'Save'))), verdict('passed')]);
  const it = stage({
    model,
    limits: { actionTimeout: 60_000 },
    onAction: ({ context }) =>
      new Promise((_, reject) => {
        // A targeted action has at most 15 s, whatever the session's action time-out is.
        assert.is(context.timeoutMs, 15_000);
        context.signal.addEventListener('abort', () => {
          reject(context.signal.reason as Error);
        });
      }),
  });
  await it.play(it.agent.act('x'));
  assert.match(
    results(model.requests[1])[0] ?? '',
    /^OPERATION_TIMEOUT: .*check before repeating/u,
  );
  assert.is(it.record.actions[0]?.outcome, 'uncertain');
  assert.is(it.record.actionCount, 1);
  assert.is(it.record.abandoned, undefined);
});

for (const [thrown, code] of [
  [new EngineError('ENGINE_FAILURE', 'the browser crashed'), 'ENGINE_FAILURE'],
  [new EngineError('CANCELLED', 'stopped'), 'CANCELLED'],
  [new EngineError('INVALID_STATE', 'nothing is open'), 'APP_NOT_OPEN'],
  [new TypeError('boom'), 'ENGINE_FAILURE'],
] as const) {
  test(`an engine's ${thrown.name} ${'code' in thrown ? thrown.code : ''} ends the step as ${code}`, async () => {
    const model = scriptedModel([(request) => calls(tap(idOf(request, 'Save')))]);
    const it = stage({
      model,
      onAction() {
        throw thrown;
      },
    });
    const error = await rejects(it.play(it.agent.act('x')));
    assert.is(error.code, code);
    assert.is(it.record.code, code);
    assert.is(it.record.status, 'failed');
    assert.is(it.record.actions.length, 1);
  });
}

test('a failed navigation ends the step with APP_UNREACHABLE', async () => {
  const model = scriptedModel([calls({ name: 'navigate', arguments: { url: '/cart' } })]);
  const it = stage({
    model,
    location: 'https://shop.test/',
    scope: { allowedOrigins: ['https://shop.test'] },
    engine: {
      session: {
        open: () =>
          Promise.reject(new TestError('APP_UNREACHABLE', 'https://shop.test/cart: refused')),
      },
    },
  });
  const error = await rejects(it.play(it.agent.act('x')), /refused/u);
  assert.is(error.code, 'APP_UNREACHABLE');
});

for (const [status, given, code, blocked] of [
  ['failed', 'AUTHENTICATION_FAILED', 'AUTHENTICATION_FAILED', false],
  ['failed', null, 'ACTION_FAILED', false],
  ['failed', 'SEED_DATA_MISSING', 'ACTION_FAILED', false],
  ['failed', 'INTERNAL', 'ACTION_FAILED', false],
  ['blocked', 'SEED_DATA_MISSING', 'SEED_DATA_MISSING', true],
  ['blocked', 'AUTOMATION_UNSUPPORTED', 'AUTOMATION_UNSUPPORTED', true],
  ['blocked', null, 'ACTION_FAILED', false],
] as const) {
  test(`verdict ${status} with code ${given} is ${code}`, async () => {
    const it = stage({ model: scriptedModel([verdict(status, 'Because of this.', given)]) });
    const error = await rejects(it.play(it.agent.act('x')), /Because of this/u);
    assert.is(error.code, code);
    assert.is(error.blocked, blocked);
    assert.is(error.explanation, error.message);
    assert.is(it.record.status, blocked ? 'blocked' : 'failed');
    assert.is(it.record.code, code);
  });
}

test('a malformed verdict is refused, a passing one keeps no code', async () => {
  const model = scriptedModel([
    calls({ name: 'complete_step', arguments: { status: 'done', summary: 'ok' } }),
    calls({
      name: 'complete_step',
      arguments: { status: 'passed', summary: 'ok', code: 'ACTION_FAILED' },
    }),
  ]);
  const it = stage({ model });
  await it.play(it.agent.act('x'));
  assert.match(
    results(model.requests[1])[0] ?? '',
    /"status" must be one of passed, failed, blocked/u,
  );
  assert.is(it.record.code, undefined);
});

test('a verdict after a failed call of the same turn is not taken', async () => {
  const model = scriptedModel([
    calls(tap('e99'), { name: 'complete_step', arguments: { status: 'passed', summary: 'done' } }),
    verdict('failed', 'It was not there.'),
  ]);
  const it = stage({ model });
  const error = await rejects(it.play(it.agent.act('x')));
  assert.is(error.code, 'ACTION_FAILED');
});

test('prose twice in a row ends the step; once is corrected', async () => {
  const twice = stage({ model: scriptedModel(['I will.', 'I am done.']) });
  const error = await rejects(twice.play(twice.agent.act('x')), /only text/u);
  assert.is(error.code, 'STEP_NO_CONCLUSION');
  assert.is(twice.record.modelCalls, 2);

  const model = scriptedModel(['I will.', calls({ name: 'observe' }), 'Hm.', verdict('passed')]);
  const once = stage({ model });
  await once.play(once.agent.act('x'));
  assert.match(
    textOf(model.requests[1]?.messages.at(-1)),
    /no tool call: the answer was only text/u,
  );
});

test('an answer that is empty, cut or refused is told so', async () => {
  for (const [answer, words] of [
    [{ text: '' }, /the answer was empty/u],
    [{ text: 'I th', stopReason: 'length' }, /cut at its limit/u],
    [{ text: 'No.', stopReason: 'refusal' }, /the model refused/u],
  ] as const) {
    const model = scriptedModel([answer, verdict('passed')]);
    const it = stage({ model });
    await it.play(it.agent.act('x'));
    assert.match(textOf(model.requests[1]?.messages.at(-1)), words);
    assert.is(it.record.modelCalls, 2);
  }
});

test('observe shows the whole screen; reports since the last turn are quoted', async () => {
  const model = scriptedModel([
    (request) => calls(tap(idOf(request, 'Save'))),
    calls({ name: 'observe' }),
    verdict('passed'),
  ]);
  const it = stage({
    model,
    onAction() {
      it.report({ kind: 'navigation', line: 'dialog "Sure?" was dismissed' });
      it.report({
        kind: 'appLog',
        entry: { level: 'error', text: 'TypeError: x', at: '2026-01-01T00:00:00Z' },
      });
      it.report({
        kind: 'appLog',
        entry: { level: 'debug', text: 'noise', at: '2026-01-01T00:00:00Z' },
      });
    },
  });
  await it.play(it.agent.act('x'));
  const [tapped, observed] = results(model.requests[2]);
  assert.match(
    tapped ?? '',
    /app: "dialog \\"Sure\?\\" was dismissed"\napp: "error: TypeError: x"/u,
  );
  assert.not.match(tapped ?? '', /noise/u);
  assert.match(observed ?? '', /^The whole screen:\n<screen>\n.*button "Save"/su);
  assert.not.match(observed ?? '', /app:/u);
});

test('completed steps of the attempt are told to the next act', async () => {
  const model = scriptedModel([verdict('passed', 'Signed in.'), verdict('passed')]);
  const it = stage({ model });
  await it.play(it.agent.act('Sign in'));
  await it.play(it.agent.act('Order'));
  assert.match(
    textOf(model.requests[1]?.messages[1]),
    /1\. act passed: "Sign in" -> "Signed in\."/u,
  );
  assert.equal(
    it.records.map((record) => record.index),
    [1, 2],
  );
});

test('secrets that a screen, an error or the model shows are masked everywhere', async () => {
  const model = scriptedModel([
    (request) => calls(tap(idOf(request, 'token'))),
    verdict('passed', 'The token is hunter2hunter2.'),
  ]);
  const it = stage({
    model,
    nodes: [{ id: 'b', role: 'button', name: 'token hunter2hunter2' }],
    onAction() {
      throw new EngineError('NOT_ACTIONABLE', 'covered by hunter2hunter2');
    },
  });
  it.scope.redactor.add('token', 'hunter2hunter2');
  const result = await it.play(
    it.agent.act('Use hunter2hunter2', { params: { t: 'hunter2hunter2' } }),
  );
  assert.is(result.summary, 'The token is <secret:token>.');
  const everything = JSON.stringify([
    it.events,
    model.requests.map((request) => request.messages.slice(0, -1)),
  ]);
  assert.not.match(everything.replaceAll('The token is hunter2hunter2.', ''), /hunter2/u);
  assert.is(it.record.actions[0]?.target, 'button "token <secret:token>"');
});

test('tools, rules and choice stay the same from turn to turn', async () => {
  const model = scriptedModel([
    calls({ name: 'observe' }),
    calls({ name: 'observe' }),
    verdict('passed'),
  ]);
  const it = stage({ model });
  await it.play(it.agent.act('x'));
  const [first, second, third] = model.requests;
  assert.is(JSON.stringify(first?.tools), JSON.stringify(third?.tools));
  assert.is(first?.toolChoice, 'required');
  assert.is(first?.cacheKey, third?.cacheKey);
  const prefix = (request: typeof first) =>
    JSON.stringify(request?.messages.slice(0, 2).map((message) => textOf(message)));
  assert.is(prefix(second), prefix(third));
});

test('older screens are taken out of the transcript, in a batch', async () => {
  const many = Array.from({ length: 150 }, (_, index) => ({
    id: `n${index}`,
    role: 'button',
    name: `Product number ${index} with a name of some length`,
  }));
  const looks = Array.from({ length: 6 }, () => calls({ name: 'observe' }));
  const model = scriptedModel([...looks, verdict('passed')]);
  const it = stage({ model, nodes: many });
  await it.play(it.agent.act('x'));
  const screens = (index: number): number =>
    (model.requests[index]?.messages ?? []).filter((message) =>
      textOf(message).includes('<screen>\n'),
    ).length;
  const counts = looks.map((_, index) => screens(index + 1));
  assert.ok(Math.max(...counts) <= 4, `screens kept: ${counts.join(' ')}`);
  assert.ok(
    counts.some((count) => count > 1),
    'elided one by one, which costs the cache every time',
  );
  assert.match(textOf(model.requests[6]?.messages.at(-1)), /<screen>\n/u);
  assert.match(textOf(model.requests[6]?.messages[1]), /older screen removed/u);
});

test('a secret does not survive a cut: in a target’s words, in an explanation, in a completed step', async () => {
  const secret = 'correct-horse-battery';
  const long = `${'x'.repeat(70)} ${secret}`;
  const model = scriptedModel([
    (request) => calls(tap(idOf(request, 'xxx'))),
    verdict('failed', `${'y'.repeat(1_990)}${secret}`),
    verdict('passed', `${'z'.repeat(390)}${secret}`),
    verdict('passed'),
  ]);
  const it = stage({ model, nodes: [{ id: 'b', role: 'button', name: long }] });
  it.scope.redactor.add('pass', secret);
  const error = await rejects(it.play(it.agent.act('x')));
  assert.not.match(error.explanation, /correct/u);
  await it.play(it.agent.act('y'));
  await it.play(it.agent.act('z'));
  assert.match(it.records[0]?.actions[0]?.target ?? '', /^button "x+ <secret/u);
  assert.not.match(JSON.stringify([it.events, model.requests.at(-1)]), /correct/u);
});

test('no cause of an error carries a secret, nor does its stack; one without is kept as it is', async () => {
  const secret = 'correct-horse-battery';
  const deep = new Error(`socket said ${secret}`);
  const cause = new EngineError('ENGINE_FAILURE', `lost ${secret}`, { cause: deep });
  const failing = (thrown: Error) =>
    stage({
      model: scriptedModel([]),
      onObserve() {
        throw thrown;
      },
    });
  const it = failing(cause);
  it.scope.redactor.add('pass', secret);
  const error = await rejects(it.play(it.agent.act('x')), /lost <secret:pass>/u);
  let last: unknown = error;
  let depth = 0;
  for (; last instanceof Error; last = last.cause, depth += 1) {
    assert.not.match(`${last.message}\n${last.stack ?? ''}`, /correct/u);
  }
  assert.is(depth, 3);
  assert.is(error.cause.code, 'ENGINE_FAILURE');

  const plain = new EngineError('ENGINE_FAILURE', 'lost');
  const other = failing(plain);
  other.scope.redactor.add('pass', secret);
  assert.is((await rejects(other.play(other.agent.act('x')))).cause, plain);
});

test('a navigation that the screen shows anyway is not told twice', async () => {
  const model = scriptedModel([
    (request) => calls(tap(idOf(request, 'Save'))),
    (request) => calls(tap(idOf(request, 'Save'))),
    verdict('passed'),
  ]);
  const it = stage({
    model,
    location: 'app://one',
    onAction({ app }) {
      app.location = 'app://two';
      it.report({ kind: 'navigation', line: 'app://two' });
    },
  });
  await it.play(it.agent.act('x'));
  const [moved, reloaded] = results(model.requests[2]);
  assert.match(moved ?? '', /^Done\.\n<screen>\nlocation "app:\/\/two"/u);
  // Where the screen is not shown, it is news that it was loaded again.
  assert.match(reloaded ?? '', /^Done\.\napp: "app:\/\/two"\n/u);
});

test('calls that did not run say why, each with its own reason', async () => {
  const model = scriptedModel([
    (request) =>
      calls(
        tap(idOf(request, 'Save')),
        tap(idOf(request, 'More')),
        ...(verdict('passed').calls ?? []),
      ),
    { calls: [{ name: 'complete_step', malformed: '{"status"' }], stopReason: 'length' },
    verdict('passed'),
  ]);
  const it = stage({
    model,
    nodes: form,
    onAction({ app }) {
      app.nodes = app.nodes.filter((node) => node.id !== 'more');
    },
  });
  await it.play(it.agent.act('x'));
  const told = results(model.requests[2]);
  assert.is(told[1], 'Not run: the screen changed, and its node is gone.');
  assert.is(told[2], 'Not run: an earlier call of this turn was not run.');
  assert.match(
    told[3] ?? '',
    /^INVALID_ARGUMENT: complete_step: the arguments were not a JSON object: the answer was cut at its limit; make it shorter\./u,
  );
});

test.run();
