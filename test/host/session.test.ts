// A session over its life: closing, its one worker, its claim on the engine, and an engine that is
// lost or fails in between.
import { assert, rejects, suite } from '../harness.ts';
import { EngineError } from '../../core/contract/errors.ts';
import { createTestEngine, open } from './support.ts';

const test = suite('host session');

const ATTEMPT = ['startAttempt', 'settleAttempt', 'settleAttempt', 'endAttempt'];

test('close is idempotent, also when called twice at once, and disposal is close', async () => {
  const engine = createTestEngine();
  {
    await using held = (await open(engine)).session;
    await Promise.all([held.close(), held.close()]);
    await held.close();
  }
  assert.equal(engine.log, ['prepare', 'init', 'dispose', 'finish']);
});

test('close ends the attempt that runs', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  let started: () => void = () => undefined;
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const attempt = session.attempt(() => {
    started();
    return new Promise(() => undefined);
  });
  attempt.catch(() => undefined);
  await running;
  await session.close();
  assert.is((await rejects(attempt)).code, 'CANCELLED');
  assert.equal(engine.log, ['prepare', 'init', ...ATTEMPT, 'dispose', 'finish']);
  assert.is((await rejects(session.attempt(() => undefined))).code, 'INVALID_STATE');
});

test('close while an attempt still starts waits for it and ends it', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  let called = false;
  const attempt = session.attempt(() => {
    called = true;
  });
  attempt.catch(() => undefined);
  await session.close();
  assert.is((await rejects(attempt)).code, 'CANCELLED');
  assert.is(called, false);
  assert.is(engine.log.at(-1), 'finish');
  assert.is(engine.log.filter((line) => line === 'endAttempt').length, 1);
});

test('a second attempt at once is refused', async () => {
  const { session } = await open(createTestEngine());
  const first = session.attempt(() => 1);
  const error = await rejects(session.attempt(() => 2));
  assert.is(error.code, 'INVALID_STATE');
  assert.is(await first, 1);
  assert.is(await session.attempt(() => 3), 3);
  await session.close();
});

test('one handle in two open sessions is refused, unless it serves more', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  const error = await rejects(open(engine));
  assert.is(error.code, 'INVALID_STATE');
  assert.match(error.message, /"fake".*close one first/u);
  await session.close();
  await (await open(engine)).session.close();
  // A failed opening lets go of the engine too.
  engine.fail.set('init', new Error('no'));
  await rejects(open(engine));
  await (await open(engine)).session.close();

  const pair = createTestEngine({ members: { workers: 2 } });
  const sessions = [await open(pair), await open(pair)];
  assert.is((await rejects(open(pair))).code, 'INVALID_STATE');
  for (const one of sessions) await one.session.close();

  const remote = createTestEngine({ remote: true });
  const both = [await open(remote), await open(remote)];
  for (const one of both) await one.session.close();
});

test('an engine that is lost fails the attempt at once; the next one initialises it anew', async () => {
  const listeners = new Set<(error: Error) => void>();
  const engine = createTestEngine({
    remote: true,
    onLost: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const { session } = await open(engine);
  const attempt = session.attempt(() => {
    for (const listener of listeners) listener(new Error('exit code 9'));
    return new Promise(() => undefined);
  });
  const error = await rejects(attempt);
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.match(error.message, /exit code 9/u);
  // The session's own: it listens between attempts too.
  assert.is(listeners.size, 1);
  assert.is(await session.attempt(() => 'well'), 'well');
  await session.close();
  assert.is(listeners.size, 0);
  const again = ['dispose', 'init', ...ATTEMPT, 'dispose', 'finish'];
  assert.equal(engine.log, ['prepare', 'init', ...ATTEMPT, ...again]);
});

test('after ENGINE_FAILURE of an operation the next attempt initialises anew', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  engine.fail.set('press Enter', new EngineError('ENGINE_FAILURE', 'the browser crashed'));
  const error = await rejects(
    session.attempt(async ({ app, keyboard }) => {
      await app.open();
      await keyboard.press('Enter');
    }),
  );
  assert.is(error.code, 'ENGINE_FAILURE');
  engine.log.length = 0;
  await session.attempt(() => undefined);
  assert.equal(engine.log, ['dispose', 'init', ...ATTEMPT]);
  // A failure of the product is no reason to.
  engine.log.length = 0;
  engine.fail.set('press Enter', new EngineError('NOT_ACTIONABLE', 'nothing has focus'));
  await rejects(
    session.attempt(async ({ app, keyboard }) => {
      await app.open();
      await keyboard.press('Enter');
    }),
  );
  await session.attempt(() => undefined);
  assert.ok(!engine.log.includes('init'));
  await session.close();
});

test('a failed initialisation in between is tried again by the next attempt', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  engine.fail.set('startAttempt', new Error('gone'));
  await rejects(session.attempt(() => undefined));
  engine.fail.set('init', new Error('still gone'));
  await rejects(
    session.attempt(() => undefined),
    /still gone/u,
  );
  engine.log.length = 0;
  assert.is(await session.attempt(() => 1), 1);
  assert.equal(engine.log, ['dispose', 'init', ...ATTEMPT]);
  await session.close();
});

test('sessions at once on a remote handle each get one of their own', async () => {
  const forks: string[] = [];
  const engine = createTestEngine({
    remote: true,
    fork: () => {
      const other = createTestEngine({ remote: true });
      forks.push('made');
      return other.handle;
    },
  });
  const first = await open(engine);
  const second = await open(engine);
  assert.is(first.session.engine, engine.handle);
  assert.is.not(second.session.engine, engine.handle);
  await first.session.close();
  const third = await open(engine);
  assert.is(third.session.engine, engine.handle, 'free again');
  assert.is(forks.length, 1);
  await second.session.close();
  await third.session.close();
});

test('an engine that is lost between two attempts is initialised anew before the next', async () => {
  const listeners = new Set<(error: Error) => void>();
  const engine = createTestEngine({
    remote: true,
    onLost: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const { session, events } = await open(engine);
  await session.attempt(() => 1);
  engine.log.length = 0;
  for (const listener of listeners) listener(new Error('exit code 9'));
  assert.is(await session.attempt(() => 2), 2);
  assert.equal(engine.log, ['dispose', 'init', ...ATTEMPT]);
  const told = events.find((event) => event.type === 'error');
  assert.is(told?.stage, 'connection');
  await session.close();
});

test('a second attempt at once is told which one runs', async () => {
  const { session } = await open(createTestEngine());
  const first = session.attempt(() => 1, { title: 'buys a shoe' });
  await rejects(
    session.attempt(() => 2),
    /"buys a shoe" is still running.*open another session/u,
  );
  await first;
  await session.close();
});

test.run();
