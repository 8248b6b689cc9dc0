// The same engine behind the wire: every member answers over loopback as it does in process.
import { getEventListeners } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  EngineError,
  TestError,
  isEngineError,
  isRunnerError,
} from '../../core/contract/errors.ts';
import { createSecret } from '../../core/contract/secrets.ts';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import { loopbackTransport } from '../../core/protocol/loopback.ts';
import { describeEngine } from '../../core/protocol/manifest.ts';
import type { EngineHandle, EngineAttemptContext } from '../../core/contract/engine.ts';
import type { ConnectEngineOptions } from '../../core/protocol/client/options.ts';
import { assert, rejects, suite } from '../harness.ts';
import {
  attemptContext,
  cleanup,
  initInfo,
  operation,
  prepareInfo,
  sampleEngine,
  snapshot,
  tempFolder,
  tinyPng,
  until,
} from './engine-support.ts';

const test = suite('protocol loopback');

function connect(engine: EngineHandle, extra: Partial<ConnectEngineOptions> = {}): EngineHandle {
  return connectEngine({
    manifest: describeEngine(engine),
    transport: loopbackTransport(engine),
    ...extra,
  });
}

/** Runs `body` inside init..dispose and one attempt. */
async function inAttempt(
  remote: EngineHandle,
  body: () => Promise<void>,
  context: Partial<EngineAttemptContext> = {},
): Promise<void> {
  await remote.init?.(initInfo());
  await remote.startAttempt?.(attemptContext(context));
  try {
    await body();
  } finally {
    await remote.endAttempt?.(cleanup());
    await remote.dispose?.(cleanup());
  }
}

test('every member crosses with its arguments, and answers what it answers in process', async () => {
  const { handle, calls } = sampleEngine();
  const remote = connect(handle);
  const folder = tempFolder();
  mkdirSync(join(folder.path, 'screenshots'));
  writeFileSync(join(folder.path, 'screenshots/a.png'), tinyPng(1, 1));
  assert.is(remote.remote, true);
  assert.equal([...remote.capabilities], [...handle.capabilities]);
  assert.equal(await remote.prepare?.(prepareInfo()), { workers: 1, env: { A: '1' } });
  await inAttempt(
    remote,
    async () => {
      const ref = { id: 'pay', revision: 'r1' };
      const query = {
        kind: 'query' as const,
        query: {
          kind: 'text' as const,
          value: { kind: 'string' as const, value: 'a', exact: true },
        },
      };
      assert.equal(await remote.observe?.(operation(), { pixels: false }), snapshot());
      assert.equal(await remote.locate?.(query, operation()), [
        { ref: { id: 'pay', revision: '' }, role: 'button' },
      ]);
      assert.is(await remote.perform?.(ref, { kind: 'tap' }, operation()), undefined);
      await remote.performAt?.({ x: 1, y: 2 }, { kind: 'tap' }, operation());
      await remote.keyboard?.type('ä😀', { replace: true }, operation());
      await remote.keyboard?.press('Enter', operation());
      await remote.keyboard?.dismiss?.(operation());
      const state = await remote.state?.capture(operation());
      assert.equal(state, { format: 'x', version: 1, data: { a: [1] } });
      await remote.state?.restore({ format: 'x', version: 1, data: null }, operation());
      assert.is(await remote.artifacts?.screenshot('label', operation()), 'screenshots/a.png');
      await remote.artifacts?.startVideo?.(operation());
      assert.is((await remote.artifacts?.stopVideo?.(operation()))?.length, 1);
      await remote.session?.open?.('http://127.0.0.1/', operation());
      await remote.session?.back?.(operation());
      await remote.session?.restart?.(operation());
      await remote.session?.reset?.(operation());
      await remote.settleAttempt?.(cleanup(77));
    },
    { artifactsDir: folder.path },
  );
  await remote.finish?.({
    ...cleanup(),
    runId: 'run-1',
    targetName: 't',
    env: {},
    log: () => undefined,
  });
  folder.remove();
  const order = calls.map(({ member }) => member);
  assert.equal(order, [
    'prepare',
    'init',
    'startAttempt',
    'observe',
    'locate',
    'perform',
    'performAt',
    'keyboard.type',
    'keyboard.press',
    'keyboard.dismiss',
    'state.capture',
    'state.restore',
    'artifacts.screenshot',
    'artifacts.startVideo',
    'artifacts.stopVideo',
    'session.open',
    'session.back',
    'session.restart',
    'session.reset',
    'settleAttempt',
    'endAttempt',
    'dispose',
    'finish',
  ]);
  const find = (member: string): readonly unknown[] =>
    calls.find((call) => call.member === member)?.args ?? [];
  const [init] = find('init') as [Record<string, unknown>];
  assert.equal(init['env'], { COLOR: 'red' });
  assert.equal(init['app'], { site: 'example.org' });
  assert.type(init['log'], 'function');
  assert.instance(init['signal'], AbortSignal);
  assert.equal(find('keyboard.type').slice(0, 2), ['ä😀', { replace: true }]);
  const [context] = find('session.back') as [Record<string, unknown>];
  assert.equal(Object.keys(context).sort(), [
    'attemptId',
    'origin',
    'runId',
    'signal',
    'timeoutMs',
  ]);
  assert.is((find('settleAttempt')[0] as { timeoutMs: number }).timeoutMs, 77);
  assert.equal(find('perform').slice(0, 2), [{ id: 'pay', revision: 'r1' }, { kind: 'tap' }]);
});

test('errors keep what the harness classifies by', async () => {
  const cause = Object.assign(new Error('no route'), { code: 'ECONNREFUSED' });
  const thrown: unknown[] = [
    new EngineError('NODE_STALE', 'gone', { retryable: true, cause }),
    new EngineError('NOT_ACTIONABLE', 'covered'),
    new TestError('ASSERTION_FAILED', 'no', { details: { a: 1 } }),
    new TypeError('a bug'),
    new TestError('NO_SUCH_CODE', 'odd'),
  ];
  const { handle } = sampleEngine({
    perform: async () => {
      throw thrown.shift();
    },
  });
  const remote = connect(handle);
  await inAttempt(remote, async () => {
    const act = () => remote.perform?.({ id: 'a', revision: '' }, { kind: 'tap' }, operation());
    const stale = await rejects(act, /^gone$/);
    assert.ok(isEngineError(stale));
    assert.equal([stale.code, stale.retryable], ['NODE_STALE', true]);
    assert.match(stale.stack ?? '', /loopback\.test/);
    assert.is((stale.cause as { code: string }).code, 'ECONNREFUSED');
    assert.equal((await rejects(act, /^covered$/)).code, 'NOT_ACTIONABLE');
    const failed = await rejects(act, /^no$/);
    assert.ok(isRunnerError(failed));
    assert.equal(
      [failed.category, failed.code, failed.details],
      ['test', 'ASSERTION_FAILED', { a: 1 }],
    );
    assert.is((await rejects(act, /^a bug$/)).code, 'ENGINE_FAILURE');
    const odd = await rejects(act, /^odd$/);
    assert.is(odd.code, 'ENGINE_FAILURE');
    assert.is((odd.cause as TestError).code, 'NO_SUCH_CODE');
  });
});

test('a signal aborts the call at once, and the engine gets the harness error as the reason', async ({
  signal,
}) => {
  let seen: AbortSignal | undefined;
  let release: () => void = () => undefined;
  const { handle } = sampleEngine({
    perform: (_ref, _action, context) => {
      seen = context.signal;
      return new Promise((resolve) => {
        release = resolve;
      });
    },
  });
  const remote = connect(handle);
  await inAttempt(remote, async () => {
    const own = new AbortController();
    const acting = remote.perform?.(
      { id: 'a', revision: '' },
      { kind: 'tap' },
      operation({ signal: own.signal }),
    );
    await until(() => seen !== undefined, signal);
    const reason = new TestError('TEST_TIMEOUT', 'time is up');
    own.abort(reason);
    assert.is(await rejects(acting as Promise<void>), reason);
    await until(() => seen?.aborted === true, signal);
    assert.ok(isRunnerError(seen?.reason));
    assert.equal([seen?.reason.code, seen?.reason.message], ['TEST_TIMEOUT', 'time is up']);
    release();
    await remote.observe?.(operation());
  });
});

test('an operation on an aborted signal is not begun', async () => {
  const { handle, names } = sampleEngine();
  const remote = connect(handle);
  await inAttempt(remote, async () => {
    const reason = new Error('over');
    const aborted = AbortSignal.abort(reason);
    const act = remote.perform?.(
      { id: 'a', revision: '' },
      { kind: 'tap' },
      operation({ signal: aborted }),
    );
    assert.is(await rejects(act as Promise<void>), reason);
    await remote.observe?.(operation());
  });
  assert.not.ok(names().includes('perform'));
});

test('the attempt hears what the engine reports, and nothing after its end', async ({ signal }) => {
  let held: EngineAttemptContext | undefined;
  const { handle } = sampleEngine({
    startAttempt: async (context) => {
      held = context;
      context.navigation(`${'x'.repeat(8191)}ä`);
    },
  });
  const remote = connect(handle);
  const heard: unknown[] = [];
  const context: Partial<EngineAttemptContext> = {
    appLog: (entry) => heard.push(entry),
    navigation: (line) => heard.push(line.length),
    environment: (facts) => heard.push(facts),
    screen: (screen) => heard.push(screen),
  };
  const entry = { level: 'info' as const, text: 'hello', at: '2026-01-01T00:00:00Z' };
  const picture = snapshot({
    pixels: { data: tinyPng(3, 2), mediaType: 'image/png', width: 3, height: 2, scale: 1 },
  });
  await inAttempt(
    remote,
    async () => {
      held?.appLog(entry);
      held?.environment({ os: 'test' });
      held?.screen(picture);
      await until(() => heard.length === 4, signal);
      assert.equal(heard.slice(0, 3), [8191, entry, { os: 'test' }]);
      const { pixels } = heard[3] as typeof picture;
      assert.equal([...(pixels?.data ?? [])], [...tinyPng(3, 2)]);
    },
    context,
  );
  held?.appLog(entry);
  await remote.init?.(initInfo());
  held?.appLog(entry);
  await remote.dispose?.(cleanup());
  assert.is(heard.length, 4);
});

test('secrets resolve by name, only those that were given, with their derived forms', async () => {
  const pin = createSecret('pin', 'password');
  const other = createSecret('other');
  const { handle } = sampleEngine({
    secrets: [pin, other],
    startAttempt: async (context) => {
      const plain = await context.resolveSecret(pin, {
        derived: async (plaintext) => [`basic ${plaintext}`],
      });
      assert.is(plain, 'v-alue1');
      await rejects(context.resolveSecret(other), (error) => {
        assert.is(error.code, 'SECRET_UNAVAILABLE');
        assert.match(error.message, /"other" was not given/);
      });
      assert.is(await context.resolveSecret(pin), 'v-alue1');
    },
  });
  const remote = connect(handle, { secrets: [pin] });
  const asked: unknown[] = [];
  await inAttempt(remote, async () => undefined, {
    resolveSecret: async (secret, options) => {
      asked.push(secret, await options?.derived?.('v-alue1'));
      return 'v-alue1';
    },
  });
  assert.is(asked[0], pin);
  assert.equal(asked[1], ['basic v-alue1']);
  assert.is(asked[3], undefined);
});

test('locators are resolved on the client for a server without engine/locate', async () => {
  const { handle } = sampleEngine({ locate: undefined });
  const remote = connect(handle, { resolveLocators: true });
  assert.ok(remote.capabilities.has('location'));
  await inAttempt(remote, async () => {
    const found = await remote.locate?.(
      {
        kind: 'query',
        query: { kind: 'role', value: { kind: 'string', value: 'button', exact: true } },
      },
      operation(),
    );
    assert.equal(
      found?.map(({ ref }) => ref.id),
      ['pay'],
    );
    await rejects(
      () => remote.locate?.({ kind: 'selector', selector: '#a' }, operation()),
      (error) => error.code === 'UNSUPPORTED_CAPABILITY',
    );
  });
});

test('session hooks, fixtures and validateApp of the client replace or join the server', async () => {
  const { handle, names } = sampleEngine();
  const session = new (class {
    readonly urls: string[] = [];
    open = undefined as never;
    async reset(): Promise<void> {
      this.urls.push('reset');
    }
  })();
  let validated = 0;
  const remote = connect(handle, {
    session,
    fixtures: { mailbox: () => 'box' },
    validateApp: () => {
      validated += 1;
    },
  });
  assert.ok(remote.capabilities.has('mailbox'));
  remote.validateApp?.({}, { targetName: 't' });
  assert.is(validated, 1);
  await inAttempt(remote, async () => {
    await remote.session?.reset?.(operation());
    await remote.session?.back?.(operation());
  });
  assert.equal(session.urls, ['reset']);
  assert.ok(names().includes('session.back'));
  assert.not.ok(names().includes('session.reset'));
});

test('what JSON cannot hold is refused with its path, before the engine', async () => {
  const { handle, names } = sampleEngine();
  const remote = connect(handle);
  await inAttempt(remote, async () => {
    const state = { format: 'x', version: 1, data: { when: [new Date(0)] } as never };
    const error = await rejects(() => remote.state?.restore(state, operation()));
    assert.is(error.code, 'INVALID_ARGUMENT');
    assert.match(error.message, /params\.state\.data\.when\[0\] is a Date/);
    const { signal: _, ...rest } = operation();
    await rejects(
      () => remote.session?.back?.(rest as never),
      /params\.operation\.signal must be an AbortSignal/,
    );
  });
  assert.not.ok(names().includes('state.restore'));
});

test('an answer that JSON cannot hold, or that is no snapshot, names its path', async () => {
  const answers: unknown[] = [
    { ...snapshot(), location: 5 },
    { ...snapshot(), viewport: { width: 1, height: Number.NaN, scale: 1 } },
    snapshot({
      pixels: { data: tinyPng(3, 2), mediaType: 'image/png', width: 4, height: 2, scale: 1 },
    }),
    snapshot({
      pixels: { data: new Uint8Array(40), mediaType: 'image/png', width: 4, height: 2, scale: 1 },
    }),
  ];
  const { handle } = sampleEngine({ observe: async () => answers.shift() as never });
  const remote = connect(handle);
  await inAttempt(remote, async () => {
    const observe = () => remote.observe?.(operation());
    for (const message of [
      /result\.location must be a string/,
      /result\.viewport\.height is NaN/,
      /result\.pixels claims 4 x 2, but the image is 3 x 2/,
      /result\.pixels\.data must be a PNG/,
    ]) {
      assert.is((await rejects(observe, message)).code, 'ENGINE_FAILURE');
    }
  });
});

test('a member undefined is left out, __proto__ is a name like any other', async () => {
  let got: unknown;
  const { handle } = sampleEngine({
    state: {
      capture: async () => ({ format: 'x', version: 1, data: null }),
      restore: async (state) => {
        got = state;
      },
    },
  });
  const remote = connect(handle);
  const data = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}') as never;
  await inAttempt(remote, async () => {
    await remote.state?.restore(
      { format: 'x', version: 1, data, expiresAt: undefined } as never,
      operation(),
    );
  });
  assert.equal(Object.keys(got as object), ['format', 'version', 'data']);
  const received = (got as { data: Record<string, unknown> }).data;
  assert.ok(Object.hasOwn(received, '__proto__'));
  assert.is(({} as Record<string, unknown>)['polluted'], undefined);
});

test('calls outside init..dispose are INVALID_STATE, and nothing is opened for them', async () => {
  const { handle, names } = sampleEngine();
  const remote = connect(handle);
  await remote.dispose?.(cleanup());
  for (const call of [
    () => remote.observe?.(operation()),
    () => remote.startAttempt?.(attemptContext()),
    () => remote.endAttempt?.(cleanup()),
    () => remote.settleAttempt?.(cleanup()),
  ]) {
    assert.is((await rejects(call, /outside init\.\.dispose/)).code, 'INVALID_STATE');
  }
  assert.equal(names(), []);
  await remote.init?.(initInfo());
  assert.is((await rejects(() => remote.init?.(initInfo()))).code, 'INVALID_STATE');
  await remote.dispose?.(cleanup());
  await remote.init?.(initInfo());
  await remote.observe?.(operation());
  await remote.dispose?.(cleanup());
  assert.equal(names(), ['init', 'dispose', 'init', 'observe', 'dispose']);
});

test('an engine without run hooks gets no connection for the run', () => {
  const { handle } = sampleEngine({ prepare: undefined, finish: undefined });
  const remote = connect(handle);
  assert.is(remote.prepare, undefined);
  assert.is(remote.finish, undefined);
});

test('a long-lived signal over many calls has one listener, and none after the attempt', async () => {
  const { handle } = sampleEngine();
  const remote = connect(handle);
  const own = new AbortController();
  const count = (): number => getEventListeners(own.signal, 'abort').length;
  await remote.init?.(initInfo());
  await remote.startAttempt?.(attemptContext());
  for (let index = 0; index < 200; index += 1) {
    await remote.keyboard?.press('Enter', operation({ signal: own.signal }));
  }
  assert.is(count(), 1);
  await remote.endAttempt?.(cleanup());
  assert.is(count(), 0);
  await remote.keyboard?.press('Enter', operation({ signal: own.signal }));
  assert.is(count(), 1);
  await remote.dispose?.(cleanup());
  assert.is(count(), 0);
});

test('a screenshot over loopback stays the file that the engine wrote', async () => {
  const folder = tempFolder();
  const { handle } = sampleEngine({
    startAttempt: async ({ artifactsDir }) => {
      mkdirSync(join(artifactsDir, 'screenshots'), { recursive: true });
      writeFileSync(join(artifactsDir, 'screenshots/a.png'), tinyPng(2, 2));
    },
  });
  const remote = connect(handle);
  await inAttempt(
    remote,
    async () => {
      const path = (await remote.artifacts?.screenshot(undefined, operation())) as string;
      assert.equal([...readFileSync(join(folder.path, path))], [...tinyPng(2, 2)]);
    },
    { artifactsDir: folder.path },
  );
  folder.remove();
});

test.run();
