// Every way out of a run, at every point of it: an abort, a hook that throws what is no error, a close
// from outside. Whatever was begun is ended once, in order; the first failure is the one that is told;
// and nothing that listens or waits is left behind.
import { getEventListeners } from 'node:events';
import { assert, rejects, suite } from '../harness.ts';
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts';
import { findJsonIssue } from '../../core/base/json.ts';
import type { HostEvent } from '../../core/host/index.ts';
import { createTestEngine, open, settle, type OpenOptions, type TestEngine } from './support.ts';

const test = suite('host aborts');

const STATE = { format: 'x', version: 1, data: {} };

interface Run {
  readonly failures: Partial<Record<'open' | 'attempt' | 'close', unknown>>;
  readonly clock: FakeClock;
  readonly events: readonly HostEvent[];
}

/** Opens, runs one attempt that restores a state, closes; answers what each rejected with. */
async function run(
  engine: TestEngine,
  given: {
    readonly session?: OpenOptions;
    readonly attempt?: { signal?: AbortSignal };
    readonly clock?: FakeClock;
  } = {},
): Promise<Run> {
  const failures: Run['failures'] = {};
  const { clock = createFakeClock() } = given;
  const events: HostEvent[] = [];
  const during = async <T>(
    stage: keyof typeof failures,
    work: Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return await settle(clock, work);
    } catch (error) {
      failures[stage] = error ?? 'nothing';
      return undefined;
    }
  };
  const opened = await during(
    'open',
    open(engine, { clock, onEvent: (event) => events.push(event), ...given.session }),
  );
  if (opened !== undefined) {
    const { session } = opened;
    await during(
      'attempt',
      session.attempt(() => engine.log.push('fn'), { state: STATE, ...given.attempt }),
    );
    await during('close', session.close());
  }
  return { failures, clock, events };
}

function statefulEngine(onCall?: (name: string) => void): TestEngine {
  const engine = createTestEngine({
    members: {
      state: {
        capture: async () => STATE,
        restore: async (_state, context) => engine.step('restore', context),
      },
    },
  });
  if (onCall !== undefined) engine.onCall = onCall;
  return engine;
}

const count = (engine: TestEngine, name: string): number =>
  engine.log.filter((line) => line === name).length;

/** What holds after any run. */
function assertEnded(engine: TestEngine, { clock }: Run): void {
  for (const [begun, ended] of [
    ['prepare', 'finish'],
    ['init', 'dispose'],
    ['startAttempt', 'endAttempt'],
  ] as const) {
    assert.is(count(engine, ended), count(engine, begun), `${ended} follows each ${begun}`);
  }
  if (count(engine, 'prepare') > 0) assert.is(engine.log.at(-1), 'finish');
  assert.is(clock.pending, 0, 'no timer is left');
}

const STARTING = ['prepare', 'init', 'startAttempt', 'restore'];
const ENDING = ['settleAttempt', 'endAttempt', 'dispose', 'finish'];

for (const hook of [...STARTING, ...ENDING]) {
  for (const manner of ['polite', 'for ever'] as const) {
    for (const source of ['session', 'attempt'] as const) {
      // The attempt's signal has no say in the session's own hooks.
      if (source === 'attempt' && !['startAttempt', 'restore', 'settleAttempt'].includes(hook)) {
        continue;
      }
      test(`an abort of the ${source} during ${hook}, which hangs (${manner})`, async () => {
        const controller = new AbortController();
        const { signal } = controller;
        const reason = new Error('the harness wants to go');
        const clock = createFakeClock();
        let abortedAt = 0;
        const engine = statefulEngine((name) => {
          if (name !== hook) return;
          abortedAt = clock.now();
          controller.abort(reason);
        });
        engine.hang.set(hook, manner);
        const result = await run(engine, { [source]: { signal }, clock });
        assertEnded(engine, result);
        assert.is(getEventListeners(signal, 'abort').length, 0, 'no listener is left');
        const { failures } = result;
        if (STARTING.includes(hook)) {
          const stage = hook === 'prepare' || hook === 'init' ? 'open' : 'attempt';
          assert.is(failures[stage], reason, 'the reason is what is thrown');
          assert.is(count(engine, 'fn'), 0, 'no test runs');
          assert.ok(clock.now() - abortedAt < 30_000, 'nothing waited for a limit');
        } else {
          // A cleanup is not aborted: it has its own limit, and its failure is told as what it is.
          const failed = failures.attempt ?? failures.close;
          const [first = failed] = (failed as AggregateError).errors ?? [];
          assert.is((first as { code?: unknown }).code, 'CLEANUP_TIMEOUT');
        }
      });
    }
  }
}

const ODD: readonly unknown[] = [
  undefined,
  null,
  '',
  'only words',
  0,
  10n,
  Symbol('odd'),
  Object.create(null),
  { message: 5 },
  Object.defineProperty(new Error('x'), 'stack', {
    get() {
      throw new Error('no stack for you');
    },
  }),
  Object.assign(new Error('big'), { cause: { big: 10n } }),
];

for (const hook of [...STARTING, ...ENDING]) {
  test(`${hook} throws what is no error`, async () => {
    for (const thrown of ODD) {
      const engine = statefulEngine();
      engine.fail.set(hook, thrown);
      const result = await run(engine);
      assertEnded(engine, result);
      const [failure, ...more] = Object.values(result.failures);
      assert.is(more.length, 0);
      const { code, message, cause } = failure as Error & { code?: unknown };
      assert.is(code, 'ENGINE_FAILURE');
      assert.match(message, new RegExp(`^Engine "fake": (state\\.)?${hook}: .`, 'u'));
      assert.is(cause, thrown);
      assert.is(result.events.at(-1)?.type, 'session-finished');
      for (const event of result.events) assert.is(findJsonIssue(event, { name: '' }), undefined);
    }
  });
}

test('a test may throw anything: it is rethrown, and told', async () => {
  for (const thrown of ODD) {
    const engine = statefulEngine();
    const { session, events } = await open(engine);
    let caught: unknown = 'nothing was thrown';
    try {
      await session.attempt(() => {
        throw thrown;
      });
    } catch (error) {
      caught = error;
    }
    assert.is(caught, thrown);
    const finished = events.find((event) => event.type === 'attempt-finished');
    assert.is(finished?.status, 'failed');
    assert.type(finished?.error?.message, 'string');
    await session.close();
  }
});

test('an attempt whose signal aborts while the engine is initialised anew', async () => {
  const engine = createTestEngine();
  const { session, events } = await open(engine);
  engine.fail.set('startAttempt', new Error('gone'));
  await rejects(session.attempt(() => undefined));
  engine.log.length = 0;
  engine.hang.set('init', 'for ever');
  const controller = new AbortController();
  const reason = new Error('not now');
  engine.onCall = (name) => {
    if (name === 'init') controller.abort(reason);
  };
  assert.is(await rejects(session.attempt(() => 1, { signal: controller.signal })), reason);
  assert.equal(engine.log, ['dispose', 'init']);
  const { type } = events.at(-1) ?? {};
  assert.is(type, 'attempt-finished', 'also an attempt that did not get so far is told');
  engine.hang.clear();
  assert.is(await session.attempt(() => 2), 2);
  await session.close();
});

for (const hook of ['init', 'startAttempt']) {
  test(`close does not wait for an attempt whose ${hook} hangs`, async () => {
    const engine = createTestEngine();
    const { session, clock } = await open(engine);
    if (hook === 'init') {
      engine.fail.set('startAttempt', new Error('gone'));
      await rejects(session.attempt(() => undefined));
      engine.log.length = 0;
    }
    engine.hang.set(hook, 'for ever');
    const called = new Promise<void>((resolve) => {
      engine.onCall = (name) => {
        if (name === hook) resolve();
      };
    });
    const attempt = session.attempt(() => engine.log.push('fn'));
    attempt.catch(() => undefined);
    await called;
    await session.close();
    assert.is((await rejects(attempt)).code, 'CANCELLED');
    assert.is(clock.now(), 0, 'no limit had to pass');
    assert.equal(engine.log.slice(-2), ['dispose', 'finish']);
    assert.is(count(engine, 'fn'), 0);
    assert.is(clock.pending, 0);
  });
}

test('a test may close its own session', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  let closed: Promise<void> | undefined;
  const error = await rejects(
    session.attempt(async () => {
      closed = session.close();
      await closed;
    }),
  );
  assert.is(error.code, 'CANCELLED');
  await closed;
  assert.is(session.close(), closed, 'each call answers the same promise');
  assert.is(count(engine, 'endAttempt'), 1);
  assert.equal(engine.log.slice(-2), ['dispose', 'finish']);
});

test('an engine that did not come to its end, or was left at its start, is initialised anew', async () => {
  for (const [hook, manner] of [
    ['endAttempt', 'for ever'],
    ['startAttempt', 'for ever'],
    ['startAttempt', 'polite'],
  ] as const) {
    const engine = createTestEngine();
    const { session, clock } = await open(engine);
    engine.hang.set(hook, manner);
    const attempt = session.attempt(() => 1);
    await rejects(settle(clock, attempt));
    engine.hang.clear();
    engine.log.length = 0;
    await session.attempt(() => 2);
    assert.equal(engine.log.slice(0, 2), ['dispose', 'init']);
    await session.close();
  }
});

test('a thousand attempts leave no listener, no timer and no claim', async () => {
  const losses = new Set<unknown>();
  const engine = createTestEngine({
    remote: true,
    onLost: (listener) => {
      losses.add(listener);
      return () => losses.delete(listener);
    },
  });
  const controller = new AbortController();
  const own = new AbortController();
  const { session, clock } = await open(engine, { signal: controller.signal });
  const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
  const before = { session: listeners(controller.signal), losses: losses.size };
  const signals: AbortSignal[] = [];
  for (let index = 0; index < 1000; index += 1) {
    const failing = index % 10 === 0;
    const attempt = session.attempt(
      async ({ app, keyboard, signal }) => {
        signals.push(signal);
        await app.open();
        await keyboard.press('Enter');
        if (failing) throw new Error('as it happens');
      },
      { signal: own.signal },
    );
    if (failing) await rejects(attempt);
    else await attempt;
  }
  assert.is(listeners(controller.signal), before.session, 'on the signal of the session');
  assert.is(listeners(own.signal), 0, 'on the signal of the attempts');
  assert.is(losses.size, before.losses, 'on the engine');
  assert.is(clock.pending, 0, 'timers');
  assert.ok(signals.every((signal) => signal.aborted));
  await session.close();
  assert.is(listeners(controller.signal), 0);
  assert.is(losses.size, 0);
});

test.run();
