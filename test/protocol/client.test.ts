// connectEngine against servers that a script plays: what a good one sees, and every way in which a
// bad one may behave.
import { getEventListeners } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFakeClock } from '../../testing/fake-clock.ts';
import type { EngineAttemptContext, EngineHandle } from '../../core/contract/engine.ts';
import { TestError, type EngineError } from '../../core/contract/errors.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../core/base/version.ts';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import type { ConnectEngineOptions } from '../../core/protocol/client/options.ts';
import { fetchManifest } from '../../core/protocol/client/fetch-manifest.ts';
import type { EngineManifest } from '../../core/protocol/types.ts';
import { assert, rejects, suite } from '../harness.ts';
import {
  attemptContext,
  cleanup,
  initInfo,
  operation,
  polite,
  prepareInfo,
  scriptedServer,
  tempFolder,
  tinyPng,
  until,
  type Json,
  type ScriptedServer,
  type Script,
} from './engine-support.ts';

const test = suite('protocol client');

const MANIFEST: EngineManifest = {
  name: 'kiosk',
  version: '1.0.0',
  spiVersion: 1,
  methods: [
    'engine/observe',
    'engine/perform',
    'artifacts/screenshot',
    'lifecycle/init',
    'lifecycle/startAttempt',
    'lifecycle/settleAttempt',
    'lifecycle/endAttempt',
    'lifecycle/dispose',
  ],
  actions: ['tap'],
};
const RUN_MANIFEST: EngineManifest = {
  ...MANIFEST,
  methods: [...MANIFEST.methods, 'lifecycle/finish'],
};
const SCREEN = {
  root: { ref: { id: 'r', revision: '' } },
  viewport: { width: 1, height: 1, scale: 1 },
};

interface Connected {
  readonly server: ScriptedServer;
  readonly engine: EngineHandle;
}

function connect(
  script: Script,
  options: Partial<ConnectEngineOptions> = {},
  diagnostics?: () => string,
): Connected {
  const server = scriptedServer(script, diagnostics);
  const engine = connectEngine({ manifest: MANIFEST, transport: server.transport, ...options });
  return { server, engine };
}

const methods = (server: ScriptedServer): unknown[] => server.received.map(({ method }) => method);
const reply =
  (result: unknown): Script =>
  ({ id }, end) =>
    end.send({ jsonrpc: '2.0', id, result });
const tap = (engine: EngineHandle, signal?: AbortSignal): Promise<unknown> =>
  engine.perform?.({ id: 'x', revision: '' }, { kind: 'tap' }, operation(signal && { signal })) ??
  Promise.reject(new Error('cannot perform'));

test('a whole life: what the server sees, in order, and how it is let go', async () => {
  const { server, engine } = connect(polite(MANIFEST), { initializationOptions: { device: 'a' } });
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext());
  await tap(engine);
  await engine.endAttempt?.(cleanup());
  await engine.dispose?.(cleanup());
  assert.equal(methods(server), [
    'initialize',
    'initialized',
    'lifecycle/init',
    'lifecycle/startAttempt',
    'engine/perform',
    'lifecycle/endAttempt',
    'lifecycle/dispose',
    'shutdown',
    'exit',
  ]);
  assert.is(server.closed(), 1);
  const [hello, , init] = server.received.map(({ params }) => params as Json);
  assert.equal(hello, {
    protocolVersion: 1,
    clientInfo: { name: PACKAGE_NAME, version: PACKAGE_VERSION },
    role: 'worker',
    initializationOptions: { device: 'a' },
  });
  assert.equal(Object.keys(init as Json), [
    'runId',
    'targetName',
    'projectRoot',
    'app',
    'env',
    'headed',
    'workerSlot',
    'signal',
  ]);
  assert.equal(init?.['env'], { COLOR: 'red' });
  assert.equal(
    server.contexts.map(({ role, cwd }) => [role, cwd]),
    [['worker', process.cwd()]],
  );
});

test('methods that the manifest leaves out are never sent', async () => {
  const manifest: EngineManifest = {
    ...MANIFEST,
    methods: ['engine/observe'],
    actions: undefined as never,
  };
  const { actions: _, ...bare } = manifest;
  const { server, engine } = connect(polite(bare), { manifest: bare });
  const own = new AbortController();
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext({ signal: own.signal }));
  await engine.endAttempt?.(cleanup());
  await engine.dispose?.(cleanup());
  assert.equal(methods(server), ['initialize', 'initialized', 'shutdown', 'exit']);
});

test('the run has a connection of its own, from prepare to finish, when the server answers one', async () => {
  const { server, engine } = connect(polite(RUN_MANIFEST), { manifest: RUN_MANIFEST });
  const finish = { ...cleanup(), runId: 'r', targetName: 't', env: {}, log: () => undefined };
  await engine.finish?.(finish);
  assert.equal(server.contexts, [], 'no connection for a finish without prepare');
  assert.is(await engine.prepare?.(prepareInfo()), undefined);
  await engine.init?.(initInfo());
  await engine.dispose?.(cleanup());
  await engine.finish?.(finish);
  assert.equal(
    server.contexts.map(({ role }) => role),
    ['run', 'worker'],
  );
  assert.equal(methods(server), [
    'initialize',
    'initialized',
    'initialize',
    'initialized',
    'lifecycle/init',
    'lifecycle/dispose',
    'shutdown',
    'exit',
    'lifecycle/finish',
    'shutdown',
    'exit',
  ]);
  assert.is(server.closed(), 2);
});

test("another manifest: the members that differ by name, and the server's to paste", async () => {
  const theirs = {
    ...MANIFEST,
    version: '2.0.0',
    platform: 'kiosk',
    tapModifiers: false,
    methods: [...MANIFEST.methods.slice(1), 'session/open'],
    actions: ['fill', 'tap'],
  };
  const { server, engine } = connect(polite(theirs));
  const error = await rejects(() => engine.init?.(initInfo()));
  assert.is(error.code, 'ENGINE_FAILURE');
  const { message } = error as Error;
  assert.match(message, /Engine "kiosk" \(scripted\)/);
  assert.match(message, /version \(declared "1\.0\.0", announced "2\.0\.0"\)/);
  assert.match(message, /platform \(declared nothing, announced "kiosk"\)/);
  assert.match(
    message,
    /methods \(only declared: engine\/observe; only announced: session\/open\)/,
  );
  assert.match(message, /actions \(only announced: fill\)/);
  assert.not.match(message, /tapModifiers \(/);
  assert.equal(JSON.parse(message.slice(message.indexOf('\n') + 1)), theirs);
  assert.is(server.closed(), 1);
  assert.is((await rejects(() => engine.observe?.(operation()))).code, 'INVALID_STATE');
});

test('lists in another order are the same manifest', async () => {
  const { engine } = connect(polite({ ...MANIFEST, methods: [...MANIFEST.methods].reverse() }));
  await engine.init?.(initInfo());
  await engine.dispose?.(cleanup());
});

for (const [what, script, pattern] of [
  [
    'another version',
    polite(MANIFEST, { initialize: reply({ protocolVersion: 2, manifest: MANIFEST }) }),
    /speaks protocol version 2, this client speaks 1/,
  ],
  [
    'no version',
    polite(MANIFEST, { initialize: reply({ manifest: MANIFEST }) }),
    /speaks protocol version none/,
  ],
  [
    'null for an answer',
    polite(MANIFEST, { initialize: reply(null) }),
    /speaks protocol version none/,
  ],
  [
    'no manifest',
    polite(MANIFEST, { initialize: reply({ protocolVersion: 1 }) }),
    /announced no manifest/,
  ],
  [
    'a refusal',
    polite(MANIFEST, {
      initialize: ({ id }, end) =>
        end.send({ jsonrpc: '2.0', id, error: { code: -32602, message: 'version 1? never' } }),
    }),
    /refused initialize: version 1\? never/,
  ],
  [
    'a failed factory',
    polite(MANIFEST, {
      initialize: ({ id }, end) =>
        end.send({
          jsonrpc: '2.0',
          id,
          error: {
            code: -32000,
            message: 'no device',
            data: {
              type: 'e2e',
              category: 'configuration',
              code: 'INVALID_CONFIG',
              retryable: false,
            },
          },
        }),
    }),
    /no device/,
  ],
  [
    'the end at once',
    (_message: Json, end: { end(): void }) => end.end(),
    /scripted ended the connection/,
  ],
  [
    'rubbish, then the end',
    (_message: Json, end: { write(text: string): void; end(): void }) => {
      end.write('Welcome to MOTD 1.0\r\nlogin: ');
      end.end();
    },
    /Welcome to MOTD/,
  ],
  [
    'a packet that is no JSON',
    (_message: Json, end: { write(text: string): void; end(): void }) => {
      end.write('Content-Length: 5\r\n\r\nhello');
      end.end();
    },
    /not JSON/,
  ],
] as const) {
  test(`initialize met with ${what} is ENGINE_FAILURE with label and last words`, async () => {
    const { server, engine } = connect(script, {}, () => 'stderr: it hurts');
    const error = await rejects(() => engine.init?.(initInfo()));
    assert.is(error.code, 'ENGINE_FAILURE');
    assert.match(error.message, pattern);
    assert.match(error.message, /scripted/);
    if (!/manifest|version/u.test(String(pattern))) assert.match(error.message, /it hurts/);
    assert.is(server.closed(), 1);
  });
}

test('a server that never answers ends with the launch budget, and is let go', async ({
  signal,
}) => {
  const { server, engine } = connect(
    () => undefined,
    {},
    () => 'still thinking',
  );
  const launch = new AbortController();
  const starting = engine.init?.(initInfo({ signal: launch.signal })) as Promise<void>;
  await until(() => server.received.length > 0, signal);
  const reason = new TestError('LAUNCH_TIMEOUT', 'late');
  launch.abort(reason);
  const error = await rejects(starting, /did not answer initialize in time.*\n.*still thinking/);
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.is(error.cause, reason);
  await until(() => server.closed() === 1, signal);
  assert.is(getEventListeners(launch.signal, 'abort').length, 0);
});

test('a transport that cannot open, or opens too late', async ({ signal }) => {
  const fails = connectEngine({
    manifest: MANIFEST,
    transport: { label: 'nowhere:1', open: () => Promise.reject(new Error('ECONNREFUSED')) },
  });
  const error = await rejects(() => fails.init?.(initInfo()), /nowhere:1.*ECONNREFUSED/);
  assert.is(error.code, 'ENGINE_FAILURE');

  let opened: (connection: never) => void = () => undefined;
  let closed = 0;
  const slow = connectEngine({
    manifest: MANIFEST,
    transport: {
      label: 'slow',
      open: () =>
        new Promise((resolve) => {
          opened = resolve as never;
        }),
    },
  });
  const launch = new AbortController();
  const starting = slow.init?.(initInfo({ signal: launch.signal })) as Promise<void>;
  await until(() => getEventListeners(launch.signal, 'abort').length > 0, signal);
  launch.abort();
  assert.is((await rejects(starting)).code, 'ENGINE_FAILURE');
  opened({ close: async () => void (closed += 1) } as never);
  await until(() => closed === 1, signal);
});

test('a connection lost in the middle ends every call at once, naming its method', async ({
  signal,
}) => {
  const { server, engine } = connect(
    polite(MANIFEST, { 'engine/perform': () => undefined, 'engine/observe': () => undefined }),
    {},
    () => 'Segmentation fault',
  );
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext());
  const calls = [tap(engine), engine.observe?.(operation()) as Promise<unknown>];
  const failures = calls.map((call) => rejects(call));
  await until(() => methods(server).includes('engine/observe'), signal);
  server.end().end();
  const [acting, observing] = await Promise.all(failures);
  assert.is(acting.code, 'ENGINE_FAILURE');
  assert.match(
    acting.message,
    /Engine "kiosk" \(scripted\) was lost during engine\/perform.*\n.*Segmentation fault/,
  );
  assert.match(observing.message, /during engine\/observe/);
  const later = await rejects(tap(engine));
  assert.is(later.code, 'ENGINE_FAILURE');
  assert.is((await rejects(() => engine.endAttempt?.(cleanup()))).code, 'ENGINE_FAILURE');

  await engine.init?.(initInfo());
  assert.is(server.closed(), 1, 'the lost connection was released');
  const again = rejects(tap(engine), /during engine\/perform/);
  server.end().end();
  await again;
  await engine.dispose?.(cleanup());
  assert.is(server.closed(), 2);
});

test('a loss between two calls is told at once, once, and only of the present connection', async ({
  signal,
}) => {
  const { server, engine } = connect(polite(MANIFEST), {}, () => 'out of memory');
  const told: Error[] = [];
  engine.onLost?.((error) => told.push(error))();
  assert.is(engine.onLost?.((error) => told.push(error))(), undefined, 'nothing to lose yet');
  await engine.init?.(initInfo());
  engine.onLost?.(() => {
    throw new Error('a bad listener');
  });
  const listener = (error: Error): void => void told.push(error);
  engine.onLost?.(listener);
  engine.onLost?.(listener)();
  server.end().end();
  await until(() => told.length > 0, signal);
  assert.is((told[0] as EngineError).code, 'ENGINE_FAILURE');
  assert.match(told[0]?.message ?? '', /was lost: .*ended the connection[^]*out of memory/);
  engine.onLost?.(listener);
  assert.equal(told.length, 2, 'who comes too late is told at once');
  await engine.init?.(initInfo());
  engine.onLost?.(listener);
  await engine.dispose?.(cleanup());
  assert.equal(told.length, 2, 'an orderly end is no loss');
});

test('a fork is a handle of its own: two sessions at once', async () => {
  const { server, engine } = connect(polite(MANIFEST, { 'engine/observe': reply(SCREEN) }));
  const other = engine.fork?.() as EngineHandle;
  await engine.init?.(initInfo());
  assert.is((await rejects(() => engine.init?.(initInfo()))).code, 'INVALID_STATE');
  await other.init?.(initInfo());
  assert.is(server.contexts.length, 2);
  await engine.dispose?.(cleanup());
  assert.equal(await other.observe?.(operation()), SCREEN);
  await other.dispose?.(cleanup());
});

test('a banner is forgiven, but not for ever', async ({ signal }) => {
  const clock = createFakeClock();
  let answer: () => void = () => undefined;
  const { server, engine } = connect(
    polite(MANIFEST, {
      initialize: ({ id }, end) => {
        end.write('Starting up...\n');
        answer = () =>
          end.send({ jsonrpc: '2.0', id, result: { protocolVersion: 1, manifest: MANIFEST } });
      },
    }),
    { clock },
  );
  const starting = engine.init?.(initInfo()) as Promise<void>;
  await until(() => server.received.length > 0, signal);
  await clock.advance(15_000);
  answer();
  await starting;
  await engine.dispose?.(cleanup());
  assert.is(clock.pending, 0);

  const failing = rejects(() => engine.init?.(initInfo()));
  await until(
    () => server.contexts.length === 2 && server.received.at(-1)?.['method'] === 'initialize',
    signal,
  );
  await clock.runUntil(() => server.closed() === 2);
  const error = await failing;
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.match(error.message, /something else than the engine protocol[^]*Starting up/);
  assert.ok(clock.now() < 60_000);
});

test('dispose after a loss releases the transport without a call', async () => {
  const { server, engine } = connect(polite(MANIFEST));
  await engine.init?.(initInfo());
  server.end().end();
  await rejects(tap(engine));
  await engine.dispose?.(cleanup());
  assert.is(server.closed(), 1);
  assert.not.ok(methods(server).includes('shutdown'));
});

test('an abort rejects at once, crosses once, and the late answer is nothing', async ({
  signal,
}) => {
  let answer: () => void = () => undefined;
  const { server, engine } = connect(
    polite(MANIFEST, {
      'engine/perform': ({ id }, end) => {
        answer = () => end.send({ jsonrpc: '2.0', id, result: null });
      },
      'engine/observe': reply(SCREEN),
    }),
  );
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext());
  const own = new AbortController();
  const acting = tap(engine, own.signal);
  await until(() => methods(server).includes('engine/perform'), signal);
  const reason = new TestError('TEST_TIMEOUT', 'late', { details: { ms: 1 } });
  own.abort(reason);
  assert.is(await rejects(acting), reason);
  await until(() => methods(server).includes('$/abort'), signal);
  const sent = server.received.find(({ method }) => method === 'engine/perform')?.[
    'params'
  ] as Json;
  const { id } = (sent['operation'] as Json)['signal'] as Json;
  const { params } = server.received.at(-1) as { params: Json };
  assert.is(params['id'], id);
  const { data, message, code } = params['reason'] as { data: Json; message: string; code: number };
  assert.equal([code, message], [-32000, 'late']);
  assert.equal(
    [data['type'], data['category'], data['code'], data['details']],
    ['e2e', 'test', 'TEST_TIMEOUT', { ms: 1 }],
  );
  answer();
  assert.equal(await engine.observe?.(operation()), SCREEN);
  await engine.dispose?.(cleanup());
});

test('cleanup on a signal that has aborted is still asked for, with the mark', async ({
  signal,
}) => {
  const { server, engine } = connect(polite(MANIFEST));
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext());
  const aborted = AbortSignal.abort(new Error('plain'));
  await rejects(() => engine.endAttempt?.({ signal: aborted, timeoutMs: 10 }), /plain/);
  await until(() => methods(server).includes('lifecycle/endAttempt'), signal);
  const { params } = server.received.at(-1) as { params: Json };
  const wire = params['signal'] as Json;
  assert.is(wire['aborted'], true);
  assert.not.ok(Object.hasOwn(wire, 'reason'), 'a plain error is no reason that crosses');
  await engine.dispose?.(cleanup());
});

test('answers that are wrong, double or late', async ({ signal }) => {
  const answers: Script[] = [
    reply({ root: {} }),
    ({ id }, end) => {
      end.send({ jsonrpc: '2.0', id, result: SCREEN });
      end.send({ jsonrpc: '2.0', id, result: { root: 'again' } });
    },
    ({ id }, end) => end.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'not here' } }),
    ({ id }, end) =>
      end.send({
        jsonrpc: '2.0',
        id,
        error: {
          code: -32000,
          message: 'x',
          data: { type: 'engine', code: 'NO_SUCH', retryable: true },
        },
      }),
    ({ id }, end) =>
      end.send({
        jsonrpc: '2.0',
        id,
        error: {
          code: -32000,
          message: 'y',
          data: { type: 'engine', code: 'NOT_ACTIONABLE', retryable: true },
        },
      }),
    ({ id }, end) =>
      end.send({ jsonrpc: '2.0', id, error: { code: -32000, message: 'z', data: 'nothing' } }),
    ({ id }, end) =>
      end.send({
        jsonrpc: '2.0',
        id,
        error: {
          code: 4711,
          message: 'own code',
          data: { type: 'engine', code: 'NODE_STALE', retryable: true },
        },
      }),
    reply(SCREEN),
  ];
  const { server, engine } = connect(
    polite(MANIFEST, { 'engine/observe': (message, end) => answers.shift()?.(message, end) }),
  );
  await engine.init?.(initInfo());
  const observe = (): Promise<unknown> => engine.observe?.(operation()) as Promise<unknown>;
  assert.match(
    (await rejects(observe())).message,
    /answered engine\/observe wrongly: result\.root\.ref is missing/,
  );
  assert.equal(await observe(), SCREEN);
  assert.match((await rejects(observe())).message, /refused engine\/observe \(-32601\): not here/);
  for (const message of ['x', 'y', 'z']) {
    const error = await rejects(observe());
    assert.equal([error.message, error.code, error.retryable], [message, 'ENGINE_FAILURE', false]);
  }
  assert.is((await rejects(observe())).code, 'ENGINE_FAILURE');
  assert.equal(await observe(), SCREEN);
  server.end().send({ jsonrpc: '2.0', id: 4711, result: null });
  server.end().send([1]);
  server.end().send(null);
  await until(() => server.received.some(({ error }) => error !== undefined), signal);
  assert.equal(await engine.dispose?.(cleanup()), undefined);
});

test('late and foreign attempt messages are dropped, malformed ones too', async () => {
  const heard: unknown[] = [];
  const { server, engine } = connect(polite(MANIFEST, { 'engine/observe': reply(SCREEN) }));
  const context = attemptContext({
    screens: false,
    navigation: (line) => heard.push(line),
    appLog: (entry) => heard.push(entry),
    screen: () => heard.push('screen'),
  });
  await engine.init?.(initInfo());
  const say = (method: string, params: unknown): void =>
    server.end().send({ jsonrpc: '2.0', method, params });
  say('attempt/navigation', { attemptId: 'attempt-1', line: 'early' });
  await engine.startAttempt?.(context);
  say('attempt/navigation', { attemptId: 'attempt-1', line: 'good' });
  say('attempt/navigation', { attemptId: 'attempt-0', line: 'foreign' });
  say('attempt/navigation', { attemptId: 'attempt-1', line: 5 });
  say('attempt/navigation', undefined);
  say('attempt/appLog', { attemptId: 'attempt-1', entry: { level: 'loud', text: '', at: '' } });
  say('attempt/screen', { attemptId: 'attempt-1', snapshot: SCREEN });
  say('attempt/unheard', { attemptId: 'attempt-1' });
  await engine.observe?.(operation());
  await engine.endAttempt?.(cleanup());
  say('attempt/navigation', { attemptId: 'attempt-1', line: 'late' });
  await engine.observe?.(operation());
  await engine.dispose?.(cleanup());
  assert.equal(heard, ['good']);
});

test('resolveSecret after the attempt, or of an unknown name, is refused and answered', async ({
  signal,
}) => {
  const { server, engine } = connect(polite(MANIFEST));
  await engine.init?.(initInfo());
  server.end().send({
    jsonrpc: '2.0',
    id: 'a',
    method: 'attempt/resolveSecret',
    params: { attemptId: 'gone', name: 'pin' },
  });
  server.end().send({
    jsonrpc: '2.0',
    id: 'b',
    method: 'attempt/resolveSecret',
    params: { attemptId: 'gone' },
  });
  server.end().send({ jsonrpc: '2.0', id: 'c', method: 'attempt/other', params: {} });
  await engine.startAttempt?.(attemptContext());
  server.end().send({
    jsonrpc: '2.0',
    id: 'd',
    method: 'attempt/resolveSecret',
    params: { attemptId: 'attempt-1', name: 'pin' },
  });
  const answer = (id: string): Json | undefined =>
    server.received.find((message) => message['id'] === id);
  await until(() => answer('d') !== undefined, signal);
  const error = (id: string): { code: number; data?: Json } => answer(id)?.['error'] as never;
  assert.is(error('a').data?.['code'], 'CANCELLED');
  assert.is(error('b').code, -32602);
  assert.is(error('c').code, -32601);
  assert.is(error('d').data?.['code'], 'SECRET_UNAVAILABLE');
  await engine.dispose?.(cleanup());
});

test('screenshot data is written under screenshots/ with safe names, never over a file', async () => {
  const folder = tempFolder();
  mkdirSync(join(folder.path, 'screenshots'));
  writeFileSync(join(folder.path, 'screenshots/001-login-page.png'), 'mine');
  const png = Buffer.from(tinyPng(2, 2)).toString('base64');
  const { engine } = connect(
    polite(MANIFEST, { 'artifacts/screenshot': reply({ data: png, mediaType: 'image/png' }) }),
  );
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext({ artifactsDir: folder.path }));
  const shoot = (label?: string) => engine.artifacts?.screenshot(label, operation());
  assert.is(await shoot('Login page!'), 'screenshots/002-login-page.png');
  assert.is(await shoot('../../etc/passwd'), 'screenshots/003-etc-passwd.png');
  assert.is(await shoot(), 'screenshots/004.png');
  assert.is(await shoot('日本\u0000\n'), 'screenshots/005.png');
  assert.is((await shoot('x'.repeat(500)))?.length, 'screenshots/006-.png'.length + 40);
  assert.is(readdirSync(join(folder.path, 'screenshots')).length, 6);
  assert.is(readFileSync(join(folder.path, 'screenshots/001-login-page.png'), 'utf8'), 'mine');
  await engine.dispose?.(cleanup());
  folder.remove();
});

test('a screenshot path must be a file under the artifact directory; data must be a PNG', async () => {
  const folder = tempFolder();
  const other = tempFolder();
  mkdirSync(join(folder.path, 'a'));
  writeFileSync(join(folder.path, 'a/b.png'), tinyPng(1, 1));
  writeFileSync(join(other.path, 'out.png'), tinyPng(1, 1));
  symlinkSync(join(other.path, 'out.png'), join(folder.path, 'link.png'));
  const results: unknown[] = [];
  const { engine } = connect(
    polite(MANIFEST, {
      'artifacts/screenshot': (message, end) => reply(results.shift())(message, end),
    }),
  );
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext({ artifactsDir: folder.path }));
  const shoot = (result: unknown): Promise<unknown> => {
    results.push(result);
    return engine.artifacts?.screenshot('x', operation()) as Promise<unknown>;
  };
  assert.is(await shoot({ path: 'a/b.png' }), 'a/b.png');
  for (const wrong of [
    { path: '' },
    { path: 'a' },
    { path: 'a/../a/b.png' },
    { path: '..' },
    { path: 'none.png' },
    { path: join(folder.path, 'a/b.png') },
    { path: 'C:\\x.png' },
    { path: 'link.png' },
    { path: 'a\0b' },
    { path: 5 },
    null,
    'a/b.png',
    {},
    { data: 'no base64!', mediaType: 'image/png' },
    { data: 'aGVsbG8=', mediaType: 'image/png' },
    { data: 'aGVsbG8=', mediaType: 'image/jpeg' },
  ]) {
    assert.is((await rejects(shoot(wrong))).code, 'ENGINE_FAILURE', JSON.stringify(wrong));
  }
  await engine.dispose?.(cleanup());
  folder.remove();
  other.remove();
});

test('an idle client pings; any answer is life, silence is not', async ({ signal }) => {
  const clock = createFakeClock();
  let silent = false;
  const { server, engine } = connect(
    polite(MANIFEST, {
      '$/ping': ({ id }, end) => {
        if (!silent) end.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } });
      },
      'engine/perform': () => undefined,
    }),
    { clock },
  );
  await engine.init?.(initInfo());
  const pings = (): number => methods(server).filter((method) => method === '$/ping').length;
  await clock.advance(4999);
  assert.is(pings(), 0);
  await clock.runUntil(() => pings() === 1);
  await clock.runUntil(() => pings() === 2);
  const own = new AbortController();
  const acting = tap(engine, own.signal);
  await until(() => methods(server).includes('engine/perform'), signal);
  const before = pings();
  await clock.advance(60_000);
  assert.is(pings(), before, 'never while the server owes an answer');
  own.abort(new Error('enough'));
  await rejects(acting, /enough/);
  await clock.advance(60_000);
  assert.is(pings(), before, 'also when nobody waits for it any more');
  await engine.startAttempt?.(attemptContext());
  await engine.endAttempt?.(cleanup());
  silent = true;
  await clock.runUntil(() => pings() > before);
  await clock.advance(20_000);
  const error = await rejects(tap(engine));
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.match(error.message, /did not answer \$\/ping within 15000 ms/);
  await engine.dispose?.(cleanup());
  assert.is(clock.pending, 0, 'no timer is left');
});

test('dispose keeps to its budget when the server does not answer', async ({ signal }) => {
  const clock = createFakeClock();
  const { server, engine } = connect(
    polite(MANIFEST, { 'lifecycle/dispose': () => undefined, shutdown: () => undefined }),
    { clock },
  );
  await engine.init?.(initInfo());
  const disposing = rejects(() => engine.dispose?.(cleanup(1000)));
  await until(() => methods(server).includes('lifecycle/dispose'), signal);
  await clock.runUntil(() => server.closed() === 1, { limitMs: 1000 });
  assert.is((await disposing).code, 'CLEANUP_TIMEOUT');
  assert.is(clock.pending, 0);
});

test('a dispose that fails still lets go of the server, and can be followed by init', async () => {
  const { server, engine } = connect(
    polite(MANIFEST, {
      'lifecycle/dispose': ({ id }, end) =>
        end.send({ jsonrpc: '2.0', id, error: { code: -32603, message: 'stuck' } }),
    }),
  );
  await engine.init?.(initInfo());
  await rejects(() => engine.dispose?.(cleanup()), /stuck/);
  assert.equal(methods(server).slice(-2), ['shutdown', 'exit']);
  await engine.init?.(initInfo());
  await rejects(() => engine.dispose?.(cleanup()), /stuck/);
  assert.is(server.closed(), 2);
});

test("engine/log goes to the hook's log", async () => {
  const lines: string[] = [];
  const { engine } = connect(
    polite(MANIFEST, {
      'lifecycle/init': ({ id }, end) => {
        end.send({ jsonrpc: '2.0', method: 'engine/log', params: { line: 'booting' } });
        end.send({ jsonrpc: '2.0', method: 'engine/log', params: {} });
        end.send({ jsonrpc: '2.0', id, result: null });
      },
    }),
  );
  await engine.init?.(initInfo({ log: (line) => lines.push(line) }));
  await engine.dispose?.(cleanup());
  assert.equal(lines, ['booting']);
});

test('an env value that is no string is refused with its path', async () => {
  const { engine } = connect(polite(MANIFEST));
  const error = await rejects(() => engine.init?.(initInfo({ env: { PORT: 5 as never } })));
  assert.equal(
    [error.code, error.message],
    [
      'INVALID_ARGUMENT',
      'lifecycle/init: params.env["PORT"] is a number: an environment holds only strings.',
    ],
  );
  await engine.dispose?.(cleanup());
});

test('options are checked, and name what is wrong', async () => {
  const { transport } = scriptedServer(() => undefined);
  const good = { manifest: MANIFEST, transport };
  const wrong: [unknown, RegExp][] = [
    [undefined, /connectEngine takes/],
    [{ ...good, resolveLocator: true }, /did you mean "resolveLocators"/],
    [{ ...good, transport: 'tcp' }, /transport must be a transport/],
    [{ ...good, initializationOptions: { a: () => 1 } }, /initializationOptions\.a is a function/],
    [
      {
        ...good,
        manifest: { ...MANIFEST, methods: [...MANIFEST.methods, 'engine/locate'] },
        resolveLocators: true,
      },
      /resolveLocators is for a server without/,
    ],
    [
      {
        ...good,
        manifest: { name: 'x', version: '1', spiVersion: 1, methods: [] },
        resolveLocators: true,
      },
      /needs engine\/observe/,
    ],
    [{ ...good, fixtures: { agent: () => 1 } }, /fixtures\.agent/],
    [{ ...good, session: 5 }, /session must be an object/],
    [{ ...good, liveness: 5 }, /liveness must be/],
    [{ ...good, liveness: { interval: 5 } }, /did you mean "intervalMs"/],
    [{ ...good, liveness: { timeoutMs: 0 } }, /liveness\.timeoutMs must be a number/],
    [{ ...good, secrets: ['pin'] }, /secrets\[0\] is no secret handle/],
  ];
  for (const [options, message] of wrong) {
    const error = await rejects(() => connectEngine(options as never), message);
    assert.is(error.code, 'INVALID_CONFIG');
  }
});

test('fetchManifest asks and leaves; a malformed one is shown', async () => {
  const server = scriptedServer(polite(MANIFEST));
  assert.equal(await fetchManifest({ transport: server.transport }), MANIFEST);
  assert.equal(methods(server), ['initialize', 'initialized', 'shutdown', 'exit']);
  const wrong = scriptedServer(polite({ name: 'x' }));
  const error = await rejects(
    fetchManifest({ transport: wrong.transport }),
    /manifest\.version is missing/,
  );
  assert.is(error.code, 'ENGINE_FAILURE');
  const clock = createFakeClock();
  const mute = scriptedServer(() => undefined);
  const asking = rejects(fetchManifest({ transport: mute.transport, clock, timeoutMs: 100 }));
  await clock.runUntil(() => mute.closed() === 1);
  assert.is((await asking).code, 'ENGINE_FAILURE');
});

test('a context kept by nobody: the attempt of a handle is its own', async () => {
  const heard: string[] = [];
  const make = (name: string): Connected & { context: EngineAttemptContext } => ({
    ...connect(polite(MANIFEST, { 'engine/observe': reply(SCREEN) })),
    context: attemptContext({
      attemptId: name,
      navigation: (line) => heard.push(`${name}:${line}`),
    }),
  });
  const [one, two] = [make('one'), make('two')];
  for (const { engine, context } of [one, two]) {
    await engine.init?.(initInfo());
    await engine.startAttempt?.(context);
  }
  two.server.end().send({
    jsonrpc: '2.0',
    method: 'attempt/navigation',
    params: { attemptId: 'one', line: 'x' },
  });
  two.server.end().send({
    jsonrpc: '2.0',
    method: 'attempt/navigation',
    params: { attemptId: 'two', line: 'y' },
  });
  for (const { engine } of [one, two]) {
    await engine.observe?.(operation());
    await engine.dispose?.(cleanup());
  }
  assert.equal(heard, ['two:y']);
});

test.run();
