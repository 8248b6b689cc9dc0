// `assert` and `waitFor`: how often the model is asked, what it sees, and what its word becomes.
import { scriptedModel } from '../../testing/scripted-model.ts';
import { assert, rejects, suite } from '../harness.ts';
import { calls, judged, stage, textOf, verdict } from './stage.ts';

const test = suite('agent.assert and agent.waitFor');

const label = (name: string) => [{ id: 'l', role: 'status', name }];

test('assert: one observation, one judgment with one forced tool', async () => {
  const model = scriptedModel([judged('holds', 'It is there.')]);
  const it = stage({ model, nodes: label('Ready') });
  assert.is(await it.play(it.agent.assert('the status is Ready')), undefined);
  assert.equal(it.log, ['observe']);
  const [request] = model.requests;
  assert.equal(
    request?.tools.map((tool) => tool.name),
    ['judge'],
  );
  assert.equal(request?.toolChoice, { tool: 'judge' });
  assert.is(request?.messages.length, 2);
  assert.match(
    textOf(request?.messages[1]),
    /^# Statement\n"the status is Ready"\n# Screen\n<screen>\n.*status "Ready"/su,
  );
  assert.equal(it.record.judgment, { verdict: 'holds', reason: 'It is there.' });
  assert.is(it.record.summary, 'It is there.');
  assert.is(it.record.modelCalls, 1);
});

for (const [name, code] of [
  ['fails', 'ASSERTION_FAILED'],
  ['inconclusive', 'ASSERTION_INCONCLUSIVE'],
] as const) {
  test(`assert: ${name} is ${code}, with evidence`, async () => {
    const evidence: string[] = [];
    const it = stage({
      model: scriptedModel([judged(name, 'It says Busy.')]),
      scope: {
        evidence: (what) => {
          evidence.push(what);
          return Promise.resolve('shots/1.png');
        },
      },
    });
    const error = await rejects(it.play(it.agent.assert('x')), /^It says Busy\.$/u);
    assert.is(error.code, code);
    assert.is(error.screenshot, 'shots/1.png');
    assert.is(error.blocked, false);
    assert.is(it.record.screenshot, 'shots/1.png');
    assert.is(it.record.status, 'failed');
    assert.is(evidence.length, 1);
  });
}

test('assert: no evidence when it is not wanted, tainted, or lost', async () => {
  const never = () => Promise.reject(new Error('must not be asked'));
  for (const [scope, options] of [
    [{ evidence: () => Promise.resolve('shot.png') }, { screenshot: false }],
    [{ evidence: () => Promise.resolve('shot.png'), tainted: true }, {}],
    [{ evidence: never }, {}],
  ] as const) {
    const it = stage({ model: scriptedModel([judged('fails')]), scope });
    const error = await rejects(it.play(it.agent.assert('x', options)));
    assert.is(error.code, 'ASSERTION_FAILED');
    assert.is(error.screenshot, undefined);
  }
});

test('assert: evidence that outlasts the deadline changes no verdict', async () => {
  const it = stage({
    model: scriptedModel([judged('fails')]),
    scope: { evidence: () => new Promise(() => undefined) },
  });
  const error = await rejects(it.play(it.agent.assert('x', { timeout: 2_000 })));
  assert.is(error.code, 'ASSERTION_FAILED');
  assert.is(it.record.durationMs, 2_000);
});

test('assert: one repair round, then STEP_NO_CONCLUSION', async () => {
  const repaired = scriptedModel(['It holds.', judged('holds')]);
  const good = stage({ model: repaired });
  await good.play(good.agent.assert('x'));
  assert.match(textOf(repaired.requests[1]?.messages.at(-1)), /judge was not called/u);
  assert.is(good.record.modelCalls, 2);

  for (const wrong of [
    'It holds.',
    verdict('passed'),
    calls({ name: 'judge', arguments: { verdict: 'yes', reason: 'x' } }),
    calls({ name: 'judge', arguments: { verdict: 'holds', reason: 'x', sure: true } }),
    calls({ name: 'judge', malformed: '{' }),
    { calls: [...(judged('holds').calls ?? []), ...(judged('fails').calls ?? [])] },
  ]) {
    const it = stage({ model: scriptedModel([wrong, wrong]) });
    const error = await rejects(it.play(it.agent.assert('x')));
    assert.is(error.code, 'STEP_NO_CONCLUSION');
    assert.is(it.record.modelCalls, 2);
  }
});

test('assert: a judge model is asked instead of the actor', async () => {
  const actor = scriptedModel([]);
  const judge = scriptedModel([judged('holds')], { modelId: 'judge-1' });
  const it = stage({ model: actor, judge });
  await it.play(it.agent.assert('x'));
  assert.is(actor.requests.length, 0);
  assert.is(it.record.model, 'judge-1');
});

test('waitFor: asks again only when the screen changed', async () => {
  const model = scriptedModel([judged('fails', 'Busy.'), judged('holds', 'Ready.')]);
  const it = stage({
    model,
    nodes: label('Busy'),
    onObserve(_, count) {
      if (count === 6) it.app.nodes = label('Ready');
    },
  });
  await it.play(it.agent.waitFor('it is ready', { interval: 500 }));
  assert.is(it.log.length, 6);
  assert.is(model.requests.length, 2);
  assert.is(it.record.durationMs, 2_500);
  assert.equal(it.record.judgment, { verdict: 'holds', reason: 'Ready.' });
});

test('waitFor: the default interval is 3 s, and new ids with the same words are no change', async () => {
  const model = scriptedModel([judged('fails'), judged('holds')]);
  const it = stage({
    model,
    nodes: label('Busy'),
    onObserve(_, count) {
      it.app.nodes = [{ id: `l${count}`, role: 'status', name: count < 4 ? 'Busy' : 'Ready' }];
    },
  });
  await it.play(it.agent.waitFor('ready'));
  assert.is(model.requests.length, 2);
  assert.is(it.record.durationMs, 9_000);
});

test('waitFor: what is masked alike is no change', async () => {
  const model = scriptedModel([judged('fails'), judged('holds')]);
  const it = stage({
    model,
    onObserve(_, count) {
      it.app.nodes = label(count === 1 ? 'code 12345678' : count < 4 ? 'code 12%3345678' : 'Ready');
    },
  });
  it.scope.redactor.add('code', '12345678');
  it.scope.redactor.add('code', '12%3345678');
  await it.play(it.agent.waitFor('ready', { interval: 500 }));
  assert.is(model.requests.length, 2);
  assert.not.match(JSON.stringify(model.requests), /345678/u);
});

test('waitFor: an equal but truncated screen is judged again at doubling intervals, 4 times', async () => {
  const asked: number[] = [];
  const model = scriptedModel(() => {
    asked.push(it.clock.now());
    return judged('fails');
  });
  const it = stage({ model });
  it.app.truncated = true;
  await rejects(it.play(it.agent.waitFor('x', { interval: 1_000, timeout: 60_000 })));
  assert.equal(asked, [0, 1_000, 3_000, 7_000, 15_000]);
});

test('waitFor: STEP_TIMEOUT carries the last judgment, and is not blocked when that was fails', async () => {
  const it = stage({ model: scriptedModel([judged('fails', 'Still busy.')]) });
  const error = await rejects(
    it.play(it.agent.waitFor('x', { timeout: 5_000 })),
    /Last judgment: fails\. Still busy\./u,
  );
  assert.is(error.code, 'STEP_TIMEOUT');
  assert.is(error.blocked, false);
  assert.is(it.record.status, 'failed');
  assert.is(it.record.durationMs, 5_000);
  assert.equal(it.record.judgment, { verdict: 'fails', reason: 'Still busy.' });

  const unsure = stage({ model: scriptedModel([judged('inconclusive')]) });
  const other = await rejects(unsure.play(unsure.agent.waitFor('x', { timeout: 5_000 })));
  assert.is(other.blocked, true);
  assert.is(unsure.record.status, 'blocked');
});

test('waitFor: the default time-out is the judgment budget', async () => {
  for (const [actionTimeout, expected] of [
    [5_000, 30_000],
    [45_000, 45_000],
  ] as const) {
    const it = stage({ model: scriptedModel([judged('fails')]), limits: { actionTimeout } });
    await rejects(it.play(it.agent.waitFor('x')));
    assert.is(it.record.durationMs, expected);
  }
});

test('waitFor: STEP_BUDGET_EXHAUSTED carries the last judgment', async () => {
  const model = scriptedModel([judged('fails', 'One.'), judged('inconclusive', 'Two.')]);
  const it = stage({
    model,
    onObserve(_, count) {
      it.app.nodes = label(`Tick ${count}`);
    },
  });
  const error = await rejects(
    it.play(it.agent.waitFor('x', { maxModelCalls: 2, interval: 100 })),
    /Last judgment: inconclusive\. Two\./u,
  );
  assert.is(error.code, 'STEP_BUDGET_EXHAUSTED');
  assert.is(error.blocked, true);
  assert.is(it.record.modelCalls, 2);
});

test('waitFor: tells that it waits', async () => {
  const it = stage({ model: scriptedModel([judged('fails')]) });
  await rejects(it.play(it.agent.waitFor('x', { timeout: 7_000 })));
  const waits = it.events.flatMap((event) =>
    event.phase === 'progress' && event.progress.what === 'waiting' ? [event.progress] : [],
  );
  assert.equal(
    waits.map((wait) => wait.changed),
    [true, false, false],
  );
});

test('waitFor: a screen that is judged again is not told as changed', async () => {
  const it = stage({ model: scriptedModel(() => judged('fails')) });
  it.app.truncated = true;
  await rejects(it.play(it.agent.waitFor('x', { interval: 1_000, timeout: 3_500 })));
  assert.is(it.record.modelCalls, 3);
  const changed = it.events.flatMap((event) =>
    event.phase === 'progress' && event.progress.what === 'waiting' ? [event.progress.changed] : [],
  );
  assert.equal(changed, [true, false, false, false]);
});

test('waitFor: a deadline before any judgment says what was being done instead', async () => {
  const it = stage({
    model: scriptedModel([]),
    onObserve: () => new Promise<void>(() => undefined),
  });
  const error = await rejects(
    it.play(it.agent.waitFor('x', { timeout: 2_000 })),
    /^agent\.waitFor: the deadline passed .* while observing\.$/u,
  );
  assert.is(error.code, 'STEP_TIMEOUT');
  assert.is(error.blocked, true);
});

test.run();
