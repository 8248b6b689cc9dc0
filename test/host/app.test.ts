// The app as a test drives it, and what its operations carry to the engine.
import { assert, rejects, suite } from '../harness.ts';
import { runnerError } from '../../core/contract/errors.ts';
import { createTestEngine, open, settle, URL } from './support.ts';

const test = suite('host app');

test('app: open resolves against the URL, restart and clearState end at a blank surface', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  await session.attempt(async ({ app, keyboard }) => {
    const closed = await rejects(keyboard.press('Enter'));
    assert.is(closed.code, 'APP_NOT_OPEN');
    assert.match(closed.message, /call app\.open\(\) first/u);
    assert.is((await rejects(app.back())).code, 'APP_NOT_OPEN');
    await app.open();
    await app.open('/cart?a=b#c');
    await app.open('https://id.example/login');
    await app.open('localhost:3000/x');
    await keyboard.press('Enter');
    await app.restart();
    assert.is((await rejects(keyboard.press('Enter'))).code, 'APP_NOT_OPEN');
    await app.open();
    await app.back();
    await app.clearState();
    assert.is((await rejects(keyboard.press('Enter'))).code, 'APP_NOT_OPEN');
  });
  // Nothing opens by itself: the next attempt starts closed.
  await session.attempt(async ({ keyboard }) => {
    assert.is((await rejects(keyboard.press('Enter'))).code, 'APP_NOT_OPEN');
  });
  assert.equal(
    engine.log.filter((line) => !/Attempt|prepare|init/u.test(line)),
    [
      `open ${URL}`,
      `open ${URL}cart?a=b#c`,
      'open https://id.example/login',
      'open http://localhost:3000/x',
      'press Enter',
      'restart',
      `open ${URL}`,
      'back',
      'reset',
    ],
  );
  await session.close();
});

test('app: without a URL a path cannot be opened; without open it is open by itself', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine, { target: { engine: engine.handle } });
  await session.attempt(async ({ app }) => {
    assert.is(app.baseUrl, undefined);
    assert.is((await rejects(app.open())).code, 'APP_URL_REQUIRED');
    assert.is((await rejects(app.open('/cart'))).code, 'APP_URL_REQUIRED');
    await app.open('https://shop.example/');
  });
  await session.close();
  const device = createTestEngine({ leaveOut: ['session'] });
  const second = await open(device);
  await second.session.attempt(async ({ app, keyboard }) => {
    await keyboard.press('Enter');
    assert.is((await rejects(app.open())).code, 'UNSUPPORTED_CAPABILITY');
  });
  await second.session.close();
});

test('APP_UNREACHABLE comes from open alone', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine);
  const unreachable = (): Error => {
    const error = new Error('ECONNREFUSED');
    return Object.assign(error, { code: 'APP_UNREACHABLE' });
  };
  await session.attempt(async ({ app, keyboard }) => {
    engine.fail.set(`open ${URL}`, runnerError('APP_UNREACHABLE', 'refused'));
    assert.is((await rejects(app.open())).code, 'APP_UNREACHABLE');
    engine.fail.set(`open ${URL}`, unreachable());
    assert.is((await rejects(app.open())).code, 'ENGINE_FAILURE');
    await app.open();
    engine.fail.set('press Enter', runnerError('APP_UNREACHABLE', 'refused'));
    assert.is((await rejects(keyboard.press('Enter'))).code, 'ENGINE_FAILURE');
  });
  await session.close();
});

test('app.open has the rest of the attempt, an action its own limit', async () => {
  const engine = createTestEngine();
  const { session, clock } = await open(engine, { actionTimeout: 1000, timeout: 60_000 });
  const budgets = session.attempt(async ({ app, keyboard }) => {
    await app.open();
    await keyboard.press('Enter');
    return [`open ${URL}`, 'press Enter'].map(
      (name) => (engine.given[name] as { timeoutMs: number }).timeoutMs,
    );
  });
  assert.equal(await settle(clock, budgets), [60_000, 1000]);
  await session.close();
});

test('operations carry run, attempt and origin', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine, { runId: 'run-1' });
  await session.attempt(({ app }) => app.open(), { id: 'a-1' });
  const { runId, attemptId, origin } = engine.given[`open ${URL}`] as Record<string, unknown>;
  assert.equal({ runId, attemptId, origin }, { runId: 'run-1', attemptId: 'a-1', origin: 'test' });
  await session.close();
});

test.run();
