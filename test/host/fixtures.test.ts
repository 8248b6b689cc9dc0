// What the engine contributes to a test (fixtures), and the sign-in that it keeps (state).
import { assert, rejects, suite } from '../harness.ts';
import { EngineError } from '../../core/contract/errors.ts';
import type { EngineState } from '../../core/contract/observation.ts';
import { createTestEngine, open } from './support.ts';

const test = suite('host fixtures and state');

test('fixtures are made when read, once, and torn down between the two settles', async () => {
  const engine = createTestEngine({
    members: {
      fixtures: {
        clipboard: ({ onTeardown, attemptId }) => {
          engine.log.push(`make clipboard ${attemptId}`);
          onTeardown(() => void engine.log.push('teardown clipboard'));
          return { text: 'copied', dispose: () => void engine.log.push('dispose clipboard') };
        },
        mail: async () => {
          engine.log.push('make mail');
          return { dispose: async () => void engine.log.push('dispose mail') };
        },
        unused: () => engine.log.push('make unused'),
      },
    },
  });
  const { session } = await open(engine);
  await session.attempt(
    async ({ fixtures }) => {
      assert.is(fixtures['clipboard'], fixtures['clipboard']);
      assert.ok(await fixtures['mail']);
      assert.is(fixtures['nothing'], undefined);
    },
    { id: 'a-1' },
  );
  assert.equal(engine.log.slice(3), [
    'make clipboard a-1',
    'make mail',
    'settleAttempt',
    'dispose mail',
    'dispose clipboard',
    'teardown clipboard',
    'settleAttempt',
    'endAttempt',
  ]);
  await session.close();
});

test('a fixture is not made after the end', async () => {
  const engine = createTestEngine({
    members: { fixtures: { mail: () => engine.log.push('make mail') } },
  });
  const { session } = await open(engine);
  const fixtures = await session.attempt((context) => context.fixtures);
  assert.throws(
    () => fixtures['mail'],
    (error: { code: string }) => error.code === 'CANCELLED',
  );
  assert.ok(!engine.log.includes('make mail'));
  await session.close();
});

test('a teardown that fails leaves none out', async () => {
  const engine = createTestEngine({
    members: {
      fixtures: {
        first: () => ({ dispose: () => void engine.log.push('dispose first') }),
        second: () => ({
          dispose: () => {
            throw new Error('stuck lid');
          },
        }),
      },
    },
  });
  const { session } = await open(engine);
  const error = await rejects(
    session.attempt(({ fixtures }) => [fixtures['first'], fixtures['second']]),
  );
  assert.match(error.message, /fixture second: stuck lid/u);
  assert.ok(engine.log.includes('dispose first'));
  await session.close();
});

test('a state is captured, and restored before fn', async () => {
  const state: EngineState = { format: 'cookies', version: 1, data: { session: 'opaque-data' } };
  const engine = createTestEngine({
    members: {
      state: {
        capture: async () => state,
        restore: async (given) => {
          engine.log.push('restore');
          engine.given['restore'] = given;
        },
      },
    },
  });
  const { session, clock } = await open(engine);
  assert.equal(await session.attempt(({ captureState }) => captureState()), state);
  await session.attempt(() => engine.log.push('fn'), { state });
  assert.equal(engine.given['restore'], state);
  const log = engine.log.slice(-6);
  assert.equal(log.slice(0, 3), ['startAttempt', 'restore', 'fn']);
  const expired = { ...state, expiresAt: clock.iso() };
  const error = await rejects(
    session.attempt(() => undefined, { state: expired }),
    /expired at/u,
  );
  assert.not.match(error.message, /opaque-data/u);
  await session.close();
});

test('a state that cannot be restored fails the attempt, which is ended', async () => {
  const engine = createTestEngine({
    members: {
      state: {
        capture: async () => ({ bad: true }) as never,
        restore: () => Promise.reject(new EngineError('ENGINE_FAILURE', 'no such profile')),
      },
    },
  });
  const { session } = await open(engine);
  const state = { format: 'x', version: 1, data: {} };
  let ran = false;
  const work = session.attempt(() => (ran = true), { state });
  await rejects(work, /no such profile/u);
  assert.is(ran, false);
  assert.is(engine.log.at(-1), 'endAttempt');
  const malformed = await rejects(session.attempt(({ captureState }) => captureState()));
  assert.match(malformed.message, /malformed state/u);
  await session.close();
  const none = await open(createTestEngine());
  const missing = await rejects(none.session.attempt(({ captureState }) => captureState()));
  assert.is(missing.code, 'UNSUPPORTED_CAPABILITY');
  await none.session.close();
});

test.run();
