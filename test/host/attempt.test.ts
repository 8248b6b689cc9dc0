// One attempt: what the test gets, how it ends, and who wins when several things fail.
import { assert, rejects, suite } from '../harness.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import type { Model } from '../../core/agent/model.ts';
import { createRedactor } from '../../core/agent/redaction.ts';
import { AgentError, EngineError } from '../../core/contract/errors.ts';
import { createAttemptCalls } from '../../core/host/calls.ts';
import type { AttemptContext } from '../../core/host/index.ts';
import { createTestEngine, node, open, settle, URL } from './support.ts';

const test = suite('host attempt');

const model: Model = {
  adapter: 'm',
  modelId: '1',
  images: false,
  generate: () => new Promise(() => undefined),
};

test("answers what fn returns and rethrows fn's error unchanged", async () => {
  const { session, events } = await open(createTestEngine());
  assert.is(await session.attempt(async () => 'value'), 'value');
  const error = { not: 'even an Error' };
  assert.is(await rejects(session.attempt(() => Promise.reject(error))), error);
  const blocked = new AgentError('STEP_TIMEOUT', 'too slow');
  assert.is(
    await rejects(
      session.attempt(() => {
        throw blocked;
      }),
    ),
    blocked,
  );
  const statuses = events.flatMap((event) =>
    event.type === 'attempt-finished' ? [event.status] : [],
  );
  assert.equal(statuses, ['passed', 'failed', 'blocked']);
  await session.close();
});

test("fn's error wins over a cleanup failure, which is an event", async () => {
  const engine = createTestEngine();
  const { session, events } = await open(engine);
  engine.fail.set('endAttempt', new Error('cleanup'));
  const error = new Error('the test failed');
  assert.is(await rejects(session.attempt(() => Promise.reject(error))), error);
  const found = events.filter((event) => event.type === 'error');
  assert.equal(
    found.map(({ stage }) => stage),
    ['endAttempt'],
  );
  await session.close();
});

test('several cleanup failures come together', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  engine.fail.set('settleAttempt', new Error('unawaited'));
  engine.fail.set('endAttempt', new Error('cleanup'));
  const error = await rejects(session.attempt(() => undefined));
  assert.equal(
    error.errors.map((one: { message: string }) => one.message),
    ['Engine "fake": settleAttempt: unawaited', 'Engine "fake": endAttempt: cleanup'],
  );
  await session.close();
});

test('TEST_TIMEOUT comes at the deadline, also when fn ignores its signal', async () => {
  const engine = createTestEngine();
  const { session, clock } = await open(engine, { timeout: 10_000 });
  let seen: AttemptContext | undefined;
  const attempt = session.attempt(
    (context) => {
      seen = context;
      return new Promise(() => undefined);
    },
    { title: 'buy a shoe' },
  );
  attempt.catch(() => undefined);
  await clock.advance(9999);
  assert.is(seen?.signal.aborted, false);
  await clock.advance(1);
  const error = await rejects(attempt);
  assert.is(error.code, 'TEST_TIMEOUT');
  assert.is(error.category, 'test');
  assert.match(error.message, /"buy a shoe" took longer than its 10000 ms/u);
  assert.is(seen?.signal.reason, error);
  assert.equal(engine.log.slice(-3), ['settleAttempt', 'settleAttempt', 'endAttempt']);
  assert.is(clock.pending, 0);
  await session.close();
});

test("the deadline runs from the engine's readiness, and the engine hears of it", async () => {
  const clock = createFakeClock();
  const engine = createTestEngine({
    members: {
      startAttempt: async (context) => {
        engine.given['startAttempt'] = context;
        await clock.advance(5000);
      },
    },
  });
  const { session } = await open(engine, { clock });
  const attempt = session.attempt(() => clock.advance(900).then(() => 'in time'), {
    timeout: 1000,
  });
  assert.is(await attempt, 'in time');
  const { signal } = engine.given['startAttempt'] as { signal: AbortSignal };
  assert.is(signal.aborted, false);
  const late = session.attempt(() => clock.advance(1100), { timeout: 1000 });
  assert.is((await rejects(late)).code, 'TEST_TIMEOUT');
  const second = engine.given['startAttempt'] as { signal: AbortSignal };
  assert.is(second.signal.reason.code, 'TEST_TIMEOUT');
  await session.close();
});

test('an abort of the attempt or the session is its rejection, with the reason', async () => {
  const harness = new AbortController();
  const { session } = await open(createTestEngine(), { signal: harness.signal });
  const own = new AbortController();
  const first = session.attempt(() => new Promise(() => own.abort(new Error('mine'))), {
    signal: own.signal,
  });
  assert.is((await rejects(first)).message, 'mine');
  const second = session.attempt(() => new Promise(() => harness.abort(new Error('all'))));
  assert.is((await rejects(second)).message, 'all');
  assert.is((await rejects(session.attempt(() => undefined))).message, 'all');
  await session.close();
});

test('a call after the end is CANCELLED and reaches no engine', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine, { agents: { default: { model } } });
  const context = await session.attempt(async (given) => {
    await given.app.open();
    return { ...given, agent: given.agent };
  });
  engine.log.length = 0;
  for (const call of [
    () => context.app.open(),
    () => context.keyboard.press('Enter'),
    () => context.perform({ kind: 'selector', selector: 'x' }, { kind: 'tap' }),
    () => context.locate({ kind: 'selector', selector: 'x' }),
    () => context.captureState(),
    () => context.agent.assert('it works'),
  ]) {
    assert.is((await rejects(call)).code, 'CANCELLED');
  }
  assert.equal(engine.log, []);
  assert.is(context.signal.aborted, true);
  await session.close();
});

test('a call that fn did not await is ended before the engine settles', async () => {
  const engine = createTestEngine();
  engine.hang.set('press Enter', 'polite');
  const { session } = await open(engine);
  let floating: Promise<void> | undefined;
  await session.attempt(async ({ app, keyboard }) => {
    await app.open();
    floating = keyboard.press('Enter');
    floating.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  });
  assert.is((await rejects(floating ?? Promise.resolve())).code, 'CANCELLED');
  assert.equal(engine.log.slice(-4), [
    'press Enter',
    'settleAttempt',
    'settleAttempt',
    'endAttempt',
  ]);
  await session.close();
});

test('an operation that ignores its abort is a CLEANUP_TIMEOUT that names it', async () => {
  const engine = createTestEngine();
  engine.hang.set('press Enter', 'for ever');
  const { session, clock } = await open(engine);
  const attempt = session.attempt(async ({ app, keyboard }) => {
    await app.open();
    keyboard.press('Enter').catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  });
  const error = await rejects(settle(clock, attempt));
  assert.is(error.code, 'CLEANUP_TIMEOUT');
  assert.match(error.message, /keyboard\.press ignored its abort/u);
  engine.hang.clear();
  engine.log.length = 0;
  await session.attempt(() => undefined);
  assert.equal(engine.log.slice(0, 2), ['dispose', 'init']);
  await session.close();
});

test('two calls at once: the second waits, and its deadline runs from its call', async () => {
  const engine = createTestEngine();
  const { session, clock } = await open(engine);
  engine.hang.set('press a', 'polite');
  const attempt = session.attempt(async ({ app, keyboard }) => {
    await app.open();
    const results = await Promise.allSettled([
      keyboard.press('a', { timeout: 2000 }),
      keyboard.press('b', { timeout: 1000 }),
      keyboard.press('c', { timeout: 3000 }),
    ]);
    return results.map((result) =>
      result.status === 'fulfilled' ? 'done' : (result.reason as { code: string }).code,
    );
  });
  assert.equal(await settle(clock, attempt), ['ACTION_FAILED', 'ACTION_FAILED', 'done']);
  // The second call's time was up while it waited: it never reached the engine.
  assert.equal(
    engine.log.filter((line) => line.startsWith('press')),
    ['press a', 'press c'],
  );
  await session.close();
});

test('reading agent throws MODEL_UNAVAILABLE without a model', async () => {
  const { session } = await open(createTestEngine(), {
    agents: { judge: {}, main: { model } },
  });
  const codeOf = async (agent?: string): Promise<string> => {
    const options = agent === undefined ? {} : { agent };
    return (await rejects(session.attempt((context) => void context.agent, options)))
      .code as string;
  };
  assert.is(await codeOf(), 'MODEL_UNAVAILABLE');
  assert.is(await codeOf('judge'), 'MODEL_UNAVAILABLE');
  assert.is(await session.attempt(({ agent }) => typeof agent.act, { agent: 'main' }), 'function');
  // A test that does not read it needs no model.
  assert.is(await session.attempt(({ app }) => app.baseUrl), URL);
  await session.close();
});

test('an attempt can be held open instead, and disposing it ends it', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  {
    await using attempt = await session.startAttempt({ title: 'held' });
    await attempt.app.open();
    assert.is(attempt.record.title, 'held');
    assert.is((await rejects(async () => attempt.agent)).code, 'MODEL_UNAVAILABLE');
  }
  assert.is(engine.log.at(-1), 'endAttempt');
  const second = await session.startAttempt();
  engine.fail.set('endAttempt', new Error('cleanup'));
  await rejects(second.end(), /cleanup/u);
  // Ended is ended: disposing it afterwards says nothing new.
  await second[Symbol.asyncDispose]();
  const third = await session.startAttempt();
  engine.fail.set('endAttempt', new Error('cleanup'));
  await third.end({ error: new Error('the test failed') });
  const fourth = await session.startAttempt();
  const closing = session.close();
  await closing;
  assert.is((await rejects(fourth.end())).code, 'CANCELLED');
});

test('a held attempt whose deadline passed is rejected with it', async () => {
  const engine = createTestEngine();
  const { session, clock } = await open(engine);
  const attempt = await session.startAttempt({ timeout: 1000 });
  await clock.advance(1000);
  assert.is((await rejects(attempt.app.open())).code, 'TEST_TIMEOUT');
  assert.is((await rejects(attempt.end())).code, 'TEST_TIMEOUT');
  await session.close();
});

test('no listener or timer is left behind', async () => {
  const harness = new AbortController();
  let listening = 0;
  const { addEventListener, removeEventListener } = harness.signal;
  Object.assign(harness.signal, {
    addEventListener(...given: Parameters<typeof addEventListener>) {
      listening += 1;
      addEventListener.apply(harness.signal, given);
    },
    removeEventListener(...given: Parameters<typeof removeEventListener>) {
      listening -= 1;
      removeEventListener.apply(harness.signal, given);
    },
  });
  const engine = createTestEngine();
  engine.nodes = [node('1', 'button', 'Buy')];
  const { session, clock } = await open(engine, { signal: harness.signal });
  await session.attempt(({ app }) => app.open());
  await session.close();
  assert.is(listening, 0);
  assert.is(clock.pending, 0);
});

test('a call that the deadline of the attempt ends is the deadline of the attempt', async () => {
  const engine = createTestEngine();
  const { session, clock } = await open(engine, { timeout: 10_000, actionTimeout: 60_000 });
  for (const call of ['open', 'press'] as const) {
    engine.hang.set(call === 'open' ? `open ${URL}` : 'press Enter', 'for ever');
    const attempt = session.attempt(async ({ app, keyboard }) => {
      await app.open();
      await keyboard.press('Enter');
    });
    const error = await rejects(settle(clock, attempt));
    assert.is(error.code, 'TEST_TIMEOUT');
    assert.match(error.message, call === 'open' ? /still running: app\.open\./u : /press Enter\./u);
    engine.hang.clear();
  }
  await settle(clock, session.close());
});

test('a call that nobody awaited is cancelled, and the host says so', async () => {
  const engine = createTestEngine();
  const { session, clock } = await open(engine);
  engine.hang.set('press Enter', 'polite');
  let forgotten: Promise<void> | undefined;
  const attempt = session.attempt(async ({ app, keyboard }) => {
    await app.open();
    forgotten = keyboard.press('Enter');
    forgotten.catch(() => undefined);
  });
  await settle(clock, attempt);
  const error = await rejects(forgotten ?? Promise.resolve());
  assert.is(error.code, 'CANCELLED');
  assert.match(error.message, /await every call/u);
  assert.match(session.notices[0] ?? '', /returned before keyboard\.press Enter.*await forgotten/u);
  await session.close();
});

test('a held attempt that ends in another way than { error } is refused, not passed', async () => {
  const { session, events } = await open(createTestEngine());
  const attempt = await session.startAttempt();
  for (const outcome of [new Error('it failed'), { eror: 1 }, null, 'failed']) {
    const error = await rejects(attempt.end(outcome as never));
    assert.is(error.code, 'INVALID_ARGUMENT');
    assert.match(error.message, /attempt\.end/u);
  }
  await attempt.end({ error: new Error('it failed') });
  await attempt.end();
  const passing = await session.startAttempt();
  await passing.end({ error: undefined });
  const statuses = events.flatMap((event) =>
    event.type === 'attempt-finished' ? [event.status] : [],
  );
  assert.equal(statuses, ['failed', 'passed']);
  await session.close();
});

test('disposing a held attempt waits for an end that is under way', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  engine.fail.set('endAttempt', new Error('cleanup'));
  const attempt = await session.startAttempt();
  const ending = attempt.end();
  ending.catch(() => undefined);
  await attempt[Symbol.asyncDispose]();
  assert.is(engine.log.at(-1), 'endAttempt');
  await rejects(ending, /cleanup/u);
  await attempt[Symbol.asyncDispose]();
  await session.close();
});

test('an operation whose timer fires just before that of the attempt is still its deadline', async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  const left = { ms: 100 };
  const calls = createAttemptCalls({
    clock,
    redactor: createRedactor(),
    driver: { abandoned: [], settleAbandoned: async () => true },
    deadline: {
      signal: controller.signal,
      at: 100,
      remaining: () => left.ms,
      expired: false,
      abort: () => undefined,
      dispose: () => undefined,
    },
    actionTimeout: 30_000,
    cleanupTimeout: 30_000,
  });
  const work = calls.run({
    subject: 'app.open',
    timeoutMs: undefined,
    body: async () => {
      left.ms = 0;
      throw new EngineError('OPERATION_TIMEOUT', 'no answer within 100 ms');
    },
  });
  work.catch(() => undefined);
  await clock.advance(0);
  const reason = new Error('the time of the attempt is up');
  controller.abort(reason);
  assert.is(await rejects(work), reason);
});

test.run();
