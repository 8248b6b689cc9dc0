// The guarded handle: capability checks, revisions, time limits, foreign errors, abandoned operations.
import { createDriver, type Driver, type OperationBudget } from '../../core/agent/driver.ts';
import { defineEngine } from '../../core/contract/define.ts';
import type { Engine } from '../../core/contract/engine.ts';
import { EngineError, TestError } from '../../core/contract/errors.ts';
import type { EngineSnapshot } from '../../core/contract/observation.ts';
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts';
import { assert, rejects, suite } from '../harness.ts';

const test = suite('driver');

const snapshot: EngineSnapshot = {
  root: {
    ref: { id: 'root', revision: '' },
    children: [
      {
        ref: { id: 'pin', revision: '' },
        role: 'textbox',
        name: 'PIN',
        value: '1234',
        selection: '1',
        states: { secure: true },
      },
      { ref: { id: 'ok', revision: '' }, role: 'button', name: 'OK' },
    ],
  },
  viewport: { width: 10, height: 10, scale: 1 },
};

interface Rig {
  readonly driver: Driver;
  readonly clock: FakeClock;
  readonly budget: OperationBudget;
  readonly abort: AbortController;
}

function rig(members: Partial<Engine> = {}): Rig {
  const clock = createFakeClock();
  const engine = defineEngine({
    name: 'rig',
    version: '1',
    spiVersion: 1,
    observe: () => Promise.resolve(snapshot),
    ...members,
  });
  const driver = createDriver({ engine, clock, runId: 'r', attemptId: 'a' });
  const abort = new AbortController();
  return {
    driver,
    clock,
    abort,
    budget: { signal: abort.signal, timeoutMs: 1_000, origin: 'test' },
  };
}

test('stamps every ref with the observation’s revision, and strips secure values', async () => {
  const { driver, budget } = rig();
  assert.is(driver.latest, undefined);
  const first = await driver.observe(budget);
  const second = await driver.observe(budget);
  assert.is.not(first.revision, second.revision);
  for (const node of second.nodes.values()) assert.is(node.ref.revision, second.revision);
  assert.equal([...second.nodes.keys()], ['root', 'pin', 'ok']);
  assert.is(second.nodes.get('pin')?.value, undefined);
  assert.is(second.nodes.get('pin')?.selection, undefined);
  assert.is(driver.latest, second);
  assert.is(snapshot.root.ref.revision, '');
});

test('a bad snapshot is ENGINE_FAILURE, with the place', async () => {
  const twice = {
    ...snapshot,
    root: { ref: { id: 'a', revision: '' }, children: [{ ref: { id: 'a', revision: '' } }] },
  };
  const { driver, budget } = rig({ observe: () => Promise.resolve(twice) });
  const error = await rejects(driver.observe(budget), /bad snapshot: .*children\[0\]\.ref\.id/u);
  assert.is(error.code, 'ENGINE_FAILURE');
});

test('what the engine lacks is UNSUPPORTED_CAPABILITY, before it is asked', async () => {
  const asked: string[] = [];
  const { driver, budget } = rig({
    actions: ['tap'],
    perform: (_, action) => {
      asked.push(action.kind);
      return Promise.resolve();
    },
    session: { open: () => Promise.resolve() },
  });
  const ref = { id: 'ok', revision: '' };
  const attempts = [
    () => driver.perform(ref, { kind: 'hover' }, budget),
    () => driver.perform(ref, { kind: 'tap', modifiers: ['Shift'] }, budget),
    () => driver.performAt({ x: 1, y: 1 }, { kind: 'tap' }, budget),
    () => driver.type('x', { replace: false }, budget),
    () => driver.press('Enter', budget),
    () => driver.dismissKeyboard(budget),
    () => driver.back(budget),
    () => driver.restart(budget),
    () => driver.reset(budget),
    () => driver.screenshot('x', budget),
  ];
  for (const attempt of attempts) {
    const error = await rejects(attempt, /^Engine rig has no /u);
    assert.is(error.code, 'UNSUPPORTED_CAPABILITY');
    assert.is(error.name, 'EngineError');
  }
  assert.equal(asked, []);
  await driver.perform(ref, { kind: 'tap' }, budget);
  await driver.open('https://a.test/', budget);
  assert.equal(asked, ['tap']);
});

test('locate answers over the tree when the engine has no own answer', async () => {
  const expression = {
    kind: 'query',
    query: { kind: 'role', value: { kind: 'string', value: 'button', exact: true } },
  } as const;
  const plain = rig();
  assert.equal(
    (await plain.driver.locate(expression, plain.budget)).map((node) => node.ref.id),
    ['ok'],
  );
  const native = rig({ locate: () => Promise.resolve([{ ref: { id: 'own', revision: '' } }]) });
  await native.driver.observe(native.budget);
  const [node] = await native.driver.locate(expression, native.budget);
  assert.equal(node?.ref, { id: 'own', revision: native.driver.latest?.revision });
});

test('an operation is aborted at its limit, and remembered until it settles', async () => {
  let finish = (): void => undefined;
  const { driver, budget, clock } = rig({
    observe: () =>
      new Promise((resolve) => {
        finish = () => {
          resolve(snapshot);
        };
      }),
  });
  const work = rejects(driver.observe(budget), /observe: no answer within 1000 ms/u);
  await clock.advance(1_000);
  assert.is((await work).code, 'OPERATION_TIMEOUT');
  assert.equal(driver.abandoned, ['observe']);
  const early = driver.settleAbandoned(500);
  await clock.advance(500);
  assert.is(await early, false);
  const later = driver.settleAbandoned(500);
  finish();
  assert.is(await later, true);
  assert.equal(driver.abandoned, []);
  assert.is(await driver.settleAbandoned(500), true);
  assert.is(driver.latest, undefined, 'a late answer is no observation');
  assert.is(clock.pending, 0);
});

test('an abort ends it at once: our reasons pass, others are CANCELLED with their cause', async () => {
  const lost = new EngineError('ENGINE_FAILURE', 'connection lost');
  for (const [reason, code] of [
    [lost, 'ENGINE_FAILURE'],
    [new Error('stop'), 'CANCELLED'],
  ] as const) {
    let asked = 0;
    const { driver, budget, abort } = rig({
      observe: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    });
    const work = driver.observe(budget);
    abort.abort(reason);
    const error = await rejects(work);
    assert.is(error.code, code);
    assert.is(error === reason || error.cause === reason, true);
    const refused = await rejects(driver.observe(budget));
    assert.is(refused.code, code);
    assert.is(asked, 1, 'the engine was asked although the signal had aborted');
  }
});

test('ours pass, strangers and unknown codes become ENGINE_FAILURE with their cause', async () => {
  const ours = new TestError('APP_UNREACHABLE', 'refused');
  const unknown = new TestError('WHATEVER', 'odd');
  for (const [thrown, code] of [
    [ours, 'APP_UNREACHABLE'],
    [unknown, 'ENGINE_FAILURE'],
    [new TypeError('boom'), 'ENGINE_FAILURE'],
    ['a string', 'ENGINE_FAILURE'],
  ] as const) {
    const { driver, budget } = rig({
      session: {
        open() {
          throw thrown;
        },
      },
    });
    const error = await rejects(driver.open('x', budget));
    assert.is(error.code, code);
    assert.is(error === thrown || error.cause === thrown, true);
  }
});

test('the engine is told its budget, its run and who asked', async () => {
  const seen: unknown[] = [];
  const { driver, budget } = rig({
    keyboard: {
      type: () => Promise.resolve(),
      press: (_, { signal: _signal, ...context }) => {
        seen.push(context);
        return Promise.resolve();
      },
    },
  });
  await driver.press('Enter', { ...budget, origin: 'agent' });
  assert.equal(seen, [{ timeoutMs: 1_000, runId: 'r', attemptId: 'a', origin: 'agent' }]);
});

test('only open may find an address unreachable', async () => {
  const unreachable = () => Promise.reject(new TestError('APP_UNREACHABLE', 'refused'));
  const { driver, budget } = rig({
    observe: unreachable,
    session: { open: unreachable, back: unreachable },
  });
  const codes: unknown[] = [];
  for (const work of [
    () => driver.observe(budget),
    () => driver.back(budget),
    () => driver.open('https://a.test/', budget),
  ]) {
    codes.push((await rejects(work)).code);
  }
  assert.equal(codes, ['ENGINE_FAILURE', 'ENGINE_FAILURE', 'APP_UNREACHABLE']);
});

test.run();
