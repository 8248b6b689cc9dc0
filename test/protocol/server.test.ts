// serveEngine, spoken to by hand: literal conversations over streams in memory.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { EngineError, TestError } from '../../core/contract/errors.ts';
import { createSecret } from '../../core/contract/secrets.ts';
import type { EngineAttemptContext, EngineCleanupContext } from '../../core/contract/engine.ts';
import { serveEngine, type ServeEngineOptions } from '../../core/protocol/server/serve.ts';
import type { EngineSource } from '../../core/protocol/server/dispatch.ts';
import { describeEngine } from '../../core/protocol/manifest.ts';
import { memoryStreams } from '../../core/protocol/transports/memory.ts';
import { assert, rejects, suite } from '../harness.ts';
import { rawEnd, sampleEngine, tinyPng, until, type Json, type RawEnd } from './engine-support.ts';

const test = suite('protocol server');

interface Served {
  readonly end: RawEnd;
  readonly served: Promise<void>;
}

function serve(source: EngineSource, options?: ServeEngineOptions): Served {
  const [client, server] = memoryStreams();
  return { end: rawEnd(client), served: serveEngine(source, server, options) };
}

const HELLO = { protocolVersion: 1, clientInfo: { name: 'test', version: '0' }, role: 'worker' };

async function ready(source: EngineSource, options?: ServeEngineOptions): Promise<Served> {
  const served = serve(source, options);
  const answer = await served.end.ask('initialize', HELLO);
  assert.is(answer['error'], undefined);
  served.end.send({ jsonrpc: '2.0', method: 'initialized', params: {} });
  return served;
}

const errorOf = (answer: Json): { code: number; message: string; data?: Json } =>
  answer['error'] as { code: number; message: string; data?: Json };

const op = (id: number | string, extra: Json = {}): Json => ({
  signal: { id, ...extra },
  timeoutMs: 1000,
  runId: 'r',
  attemptId: 'a',
  origin: 'test',
});

const START = { attemptId: 'a', artifactsDir: '/nowhere', signal: { id: 1 }, screens: false };
const END = { signal: { id: 2 }, timeoutMs: 1000 };

test('a whole conversation, letter by letter', async () => {
  const { handle, names } = sampleEngine();
  const { end, served } = serve(handle);
  const hello = await end.ask('initialize', HELLO);
  assert.equal(hello['result'], { protocolVersion: 1, manifest: { ...describeEngine(handle) } });
  end.send({ jsonrpc: '2.0', method: 'initialized', params: {} });
  assert.equal(
    await end.ask('engine/perform', {
      ref: { id: 'x', revision: '' },
      action: { kind: 'tap' },
      operation: op(1),
    }),
    { jsonrpc: '2.0', id: 2, result: null },
  );
  assert.equal(await end.ask('$/ping'), { jsonrpc: '2.0', id: 3, result: null });
  assert.equal(await end.ask('shutdown'), { jsonrpc: '2.0', id: 4, result: null });
  end.send({ jsonrpc: '2.0', method: 'exit' });
  await served;
  await end.ended;
  assert.equal(names(), ['perform']);
});

test('requests out of order are refused with the code of their state', async () => {
  const { handle } = sampleEngine();
  const { end, served } = serve(handle);
  assert.is(errorOf(await end.ask('engine/observe', { operation: op(1) })).code, -32002);
  assert.is(errorOf(await end.ask('shutdown')).code, -32002);
  assert.ok((await end.ask('initialize', HELLO))['result']);
  assert.is(errorOf(await end.ask('initialize', HELLO)).code, -32600);
  await end.ask('shutdown');
  assert.is(errorOf(await end.ask('engine/observe', { operation: op(1) })).code, -32600);
  end.send({ jsonrpc: '2.0', method: 'exit' });
  await served;
});

test('another version is refused with what is supported, and only exit follows', async () => {
  const { handle } = sampleEngine();
  const { end, served } = serve(handle);
  const { code, data } = errorOf(await end.ask('initialize', { ...HELLO, protocolVersion: 2 }));
  assert.equal([code, data], [-32602, { supported: 1 }]);
  assert.is(errorOf(await end.ask('initialize', HELLO)).code, -32600);
  assert.is(errorOf(await end.ask('engine/observe', { operation: op(1) })).code, -32600);
  end.send({ jsonrpc: '2.0', method: 'exit' });
  await served;
});

test('a version that is no number, or none, is refused alike', async () => {
  for (const params of [{ ...HELLO, protocolVersion: '1' }, {}, undefined, []]) {
    const { end, served } = serve(sampleEngine().handle);
    assert.is(errorOf(await end.ask('initialize', params)).code, -32602);
    end.end();
    await served;
  }
});

test('unknown methods, and those of members that the engine lacks, are -32601', async () => {
  const { handle } = sampleEngine({ state: undefined, settleAttempt: undefined });
  const { end, served } = await ready(handle);
  for (const method of [
    'engine/fly',
    'toString',
    '__proto__',
    'state/capture',
    'lifecycle/settleAttempt',
  ]) {
    const { code, message } = errorOf(await end.ask(method, { operation: op(1) }));
    assert.is(code, -32601);
    assert.match(message, method);
  }
  end.send({ jsonrpc: '2.0', method: 'no/such/notification', params: {} });
  assert.is((await end.ask('$/ping'))['result'], null);
  end.end();
  await served;
});

test('startAttempt and endAttempt are answered also without the hooks', async () => {
  const { handle } = sampleEngine({ startAttempt: undefined, endAttempt: undefined });
  const { end, served } = await ready(handle);
  assert.is((await end.ask('lifecycle/startAttempt', START))['result'], null);
  assert.is((await end.ask('lifecycle/endAttempt', END))['result'], null);
  assert.is((await end.ask('lifecycle/endAttempt', END))['result'], null);
  end.end();
  await served;
});

test('wrong params are -32602 with the path, and never reach the engine', async () => {
  const { handle, names } = sampleEngine();
  const { end, served } = await ready(handle);
  const cases: [string, unknown, RegExp][] = [
    [
      'engine/perform',
      { ref: { id: 'x', revision: '' }, action: { kind: 'fly' }, operation: op(1) },
      /params\.action\.kind/,
    ],
    [
      'engine/perform',
      { ref: { id: 'x', revision: '' }, operation: op(1) },
      /params\.action is missing/,
    ],
    [
      'engine/observe',
      { operation: { ...op(1), timeoutMs: 'soon' } },
      /params\.operation\.timeoutMs/,
    ],
    ['engine/observe', [op(1)], /params must be an object/],
    ['engine/observe', undefined, /params must be an object/],
    ['engine/observe', { operation: { ...op(1), signal: { id: null } } }, /operation\.signal\.id/],
    [
      'keyboard/type',
      { text: 5, options: { replace: true }, operation: op(1) },
      /params\.text must be a string/,
    ],
    ['lifecycle/init', { runId: 'r' }, /params\.targetName is missing/],
  ];
  for (const [method, params, message] of cases) {
    const error = errorOf(await end.ask(method, params));
    assert.is(error.code, -32602, method);
    assert.match(error.message, message);
  }
  assert.equal(names(), []);
  end.end();
  await served;
});

test('unknown members of params are ignored, additions to come must not break', async () => {
  const { handle, calls } = sampleEngine();
  const { end, served } = await ready(handle);
  const answer = await end.ask('session/open', {
    url: 'u',
    new: 1,
    operation: { ...op(1), new: 1 },
  });
  assert.is(answer['result'], null);
  assert.equal(Object.keys(calls[0]?.args[1] as object).includes('new'), false);
  end.end();
  await served;
});

test('what an engine throws is told in data, anything else by its message alone', async () => {
  const thrown: unknown[] = [
    new EngineError('NODE_STALE', 'gone', { retryable: true }),
    new EngineError('ACTION_MAY_HAVE_COMMITTED', 'maybe', { retryable: true }),
    new TestError('TEST_TIMEOUT', 'late', { details: { ms: 5 } }),
    new TypeError('bug'),
    'a string',
    undefined,
  ];
  const { handle } = sampleEngine({
    observe: async () => {
      throw thrown.shift();
    },
  });
  const { end, served } = await ready(handle);
  const next = async (): Promise<{ code: number; message: string; data: Json }> => {
    const {
      code,
      message,
      data = {},
    } = errorOf(await end.ask('engine/observe', { operation: op(1) }));
    const { stack: _, ...rest } = data;
    return { code, message, data: rest };
  };
  assert.equal(await next(), {
    code: -32000,
    message: 'gone',
    data: { type: 'engine', code: 'NODE_STALE', retryable: true },
  });
  assert.equal(await next(), {
    code: -32000,
    message: 'maybe',
    data: { type: 'engine', code: 'ENGINE_FAILURE', retryable: false },
  });
  assert.equal(await next(), {
    code: -32000,
    message: 'late',
    data: {
      type: 'e2e',
      category: 'test',
      code: 'TEST_TIMEOUT',
      retryable: false,
      details: { ms: 5 },
    },
  });
  assert.equal(await next(), { code: -32603, message: 'bug', data: {} });
  assert.equal(await next(), { code: -32603, message: 'a string', data: {} });
  assert.is((await next()).code, -32603);
  end.end();
  await served;
});

test('signals: one object per id, reasons as errors, and forgetting by the rules', async ({
  signal,
}) => {
  const seen: AbortSignal[] = [];
  const { handle } = sampleEngine({
    observe: async (context) => {
      seen.push(context.signal);
      return {
        root: { ref: { id: 'r', revision: '' } },
        viewport: { width: 1, height: 1, scale: 1 },
      };
    },
  });
  const { end, served } = await ready(handle);
  const observe = (id: number | string, extra?: Json): Promise<Json> =>
    end.ask('engine/observe', { operation: op(id, extra) });
  const abort = (id: number | string, reason?: unknown): void =>
    end.send({
      jsonrpc: '2.0',
      method: '$/abort',
      params: { id, ...(reason === undefined ? {} : { reason }) },
    });

  await observe(7);
  await observe(7);
  assert.is(seen[0], seen[1]);
  abort(7, {
    code: -32000,
    message: 'late',
    data: { type: 'e2e', category: 'test', code: 'TEST_TIMEOUT', retryable: false },
  });
  await observe(7);
  assert.is(seen[0]?.aborted, true);
  assert.is((seen[0]?.reason as TestError | undefined)?.code, 'TEST_TIMEOUT');
  assert.not.ok(seen[2]?.aborted, 'an id sent again after its abort is a new signal');

  await observe(8, { aborted: true });
  assert.is((seen[3]?.reason as Error | undefined)?.name, 'AbortError');
  await observe(9, { aborted: true, reason: { code: -32603, message: 'why' } });
  assert.is((seen[4]?.reason as Error | undefined)?.message, 'why');

  await end.ask('lifecycle/startAttempt', START);
  await observe('in');
  await observe(7);
  await end.ask('lifecycle/endAttempt', END);
  await observe('in');
  await observe(7);
  assert.is.not(seen[5], seen[7], 'first seen in the attempt: forgotten with it');
  assert.is(seen[6], seen[8], 'first seen before the attempt: kept');
  assert.not.ok(seen[5]?.aborted, 'forgotten is not aborted');

  abort('nobody');
  abort(7);
  await until(() => seen[8]?.aborted === true, signal);
  assert.is((seen[8]?.reason as Error | undefined)?.name, 'AbortError');
  end.send({ jsonrpc: '2.0', method: '$/abort', params: { id: {} } });
  end.send({ jsonrpc: '2.0', method: '$/abort' });
  assert.is((await end.ask('$/ping'))['result'], null);
  end.end();
  await served;
});

test('streams that close without shutdown abort every signal, end the attempt and dispose', async () => {
  let hanging: AbortSignal | undefined;
  const { handle, names } = sampleEngine({
    perform: (_ref, _action, context) => {
      hanging = context.signal;
      return new Promise((_, reject) => {
        context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
      });
    },
  });
  const { end, served } = await ready(handle);
  await end.ask('lifecycle/init', {
    runId: 'r',
    targetName: 't',
    projectRoot: '/',
    app: {},
    env: {},
    headed: false,
    workerSlot: 0,
    signal: { id: 'init' },
  });
  await end.ask('lifecycle/startAttempt', START);
  end.send({
    jsonrpc: '2.0',
    id: 99,
    method: 'engine/perform',
    params: {
      ref: { id: 'x', revision: '' },
      action: { kind: 'tap' },
      operation: op(5),
    },
  });
  assert.is((await end.ask('$/ping'))['result'], null);
  end.end();
  await served;
  assert.is(hanging?.aborted, true);
  assert.equal(names(), ['init', 'startAttempt', 'endAttempt', 'dispose']);
});

test('an engine that does not end within its time is left behind, with a word', async ({
  signal,
}) => {
  const clock = createFakeClock();
  const problems: string[] = [];
  let context: EngineCleanupContext | undefined;
  const { handle } = sampleEngine({
    endAttempt: (given) => {
      context = given;
      return new Promise(() => undefined);
    },
  });
  const { end, served } = await ready(handle, {
    clock,
    onError: (error) => problems.push(String(error)),
  });
  await end.ask('lifecycle/startAttempt', START);
  end.end();
  await until(() => context !== undefined, signal);
  assert.is(context?.timeoutMs, 30_000);
  await clock.advance(29_999);
  assert.not.ok(context?.signal.aborted);
  await clock.advance(1);
  await served;
  assert.is(context?.signal.aborted, true);
  assert.is(problems.length, 1);
});

test('after shutdown no signal is touched, also when the streams just close', async () => {
  let kept: AbortSignal | undefined;
  const { handle } = sampleEngine({
    init: async (info) => {
      kept = info.signal;
    },
  });
  const { end, served } = await ready(handle);
  await end.ask('lifecycle/init', {
    runId: 'r',
    targetName: 't',
    projectRoot: '/',
    app: {},
    env: {},
    headed: false,
    workerSlot: 0,
    signal: { id: 'init' },
  });
  await end.ask('shutdown');
  end.send({ jsonrpc: '2.0', method: '$/abort', params: { id: 'init' } });
  end.end();
  await served;
  assert.is(kept?.aborted, false);
});

test('dispose may carry a reuseSignal, which is passed on', async ({ signal }) => {
  let reuse: AbortSignal | undefined;
  const { handle } = sampleEngine({
    dispose: (context) => {
      reuse = context.reuseSignal;
      return new Promise((resolve) => {
        context.reuseSignal?.addEventListener('abort', () => resolve());
      });
    },
  });
  const { end, served } = await ready(handle);
  end.send({
    jsonrpc: '2.0',
    id: 50,
    method: 'lifecycle/dispose',
    params: { ...END, reuseSignal: { id: 'again' } },
  });
  await until(() => reuse !== undefined, signal);
  end.send({ jsonrpc: '2.0', method: '$/abort', params: { id: 'again' } });
  assert.equal(await end.receive(), { jsonrpc: '2.0', id: 50, result: null });
  end.end();
  await served;
});

test('calls under way when the client goes are waited for, then the engine is ended', async ({
  signal,
}) => {
  const order: string[] = [];
  let begun = false;
  const { handle } = sampleEngine({
    startAttempt: (context) => {
      begun = true;
      return new Promise((resolve) => {
        context.signal.addEventListener('abort', () => {
          setImmediate(() => {
            order.push('start settled');
            resolve();
          });
        });
      });
    },
    endAttempt: async () => void order.push('end'),
  });
  const { end, served } = await ready(handle);
  end.send({ jsonrpc: '2.0', id: 50, method: 'lifecycle/startAttempt', params: START });
  await until(() => begun, signal);
  end.end();
  await served;
  assert.equal(order, ['start settled', 'end']);
});

test('a second attempt needs the end of the first', async () => {
  const { end, served } = await ready(sampleEngine().handle);
  await end.ask('lifecycle/startAttempt', START);
  const error = errorOf(await end.ask('lifecycle/startAttempt', { ...START, attemptId: 'b' }));
  assert.is(error.data?.['code'], 'INVALID_STATE');
  await end.ask('lifecycle/endAttempt', END);
  assert.is((await end.ask('lifecycle/startAttempt', START))['result'], null);
  end.end();
  await served;
});

test('a failed startAttempt is followed by endAttempt as usual', async () => {
  const { handle, names } = sampleEngine({
    startAttempt: async () => {
      throw new EngineError('ENGINE_FAILURE', 'no device');
    },
  });
  const { end, served } = await ready(handle);
  assert.is(errorOf(await end.ask('lifecycle/startAttempt', START)).message, 'no device');
  assert.is((await end.ask('lifecycle/endAttempt', END))['result'], null);
  assert.equal(names(), ['endAttempt']);
  end.end();
  await served;
});

test('a factory gets initializationOptions; its failure is the answer to initialize', async () => {
  let given: unknown;
  const { end, served } = await ready((options) => {
    given = options;
    return sampleEngine().handle;
  });
  assert.is(given, undefined);
  end.end();
  await served;

  const refused = serve(() => {
    throw new TestError('INVALID_CONFIG', 'no such device "x"');
  });
  const error = errorOf(
    await refused.end.ask('initialize', { ...HELLO, initializationOptions: { device: 'x' } }),
  );
  assert.equal(
    [error.code, error.message, error.data?.['code']],
    [-32000, 'no such device "x"', 'INVALID_CONFIG'],
  );
  assert.is(errorOf(await refused.end.ask('initialize', HELLO)).code, -32600);
  refused.end.send({ jsonrpc: '2.0', method: 'exit' });
  await refused.served;

  const wrong = serve(() => ({ name: 'no handle' }) as never);
  assert.match(errorOf(await wrong.end.ask('initialize', HELLO)).message, /no engine handle/);
  wrong.end.end();
  await wrong.served;
});

test('reports carry their attempt and end with it; screens only when wanted', async () => {
  let context: EngineAttemptContext | undefined;
  const { handle } = sampleEngine({
    startAttempt: async (given) => {
      context = given;
      given.navigation('to /');
      given.screen({
        root: { ref: { id: 'r', revision: '' } },
        viewport: { width: 1, height: 1, scale: 1 },
      });
      given.appLog({ level: 'info', text: 'hi', at: '2026-01-01T00:00:00Z' });
      given.environment({ os: 'x' });
      given.environment({ os: 1n as never });
    },
    endAttempt: async () => context?.navigation('leaving'),
  });
  const problems: string[] = [];
  const { end, served } = await ready(handle, { onError: (error) => problems.push(error.message) });
  end.send({ jsonrpc: '2.0', id: 50, method: 'lifecycle/startAttempt', params: START });
  assert.equal(await end.receive(), {
    jsonrpc: '2.0',
    method: 'attempt/navigation',
    params: { attemptId: 'a', line: 'to /' },
  });
  assert.equal((await end.receive())['params'], {
    attemptId: 'a',
    entry: { level: 'info', text: 'hi', at: '2026-01-01T00:00:00Z' },
  });
  assert.equal((await end.receive())['params'], { attemptId: 'a', facts: { os: 'x' } });
  assert.is((await end.receive())['id'], 50);
  assert.is(problems.length, 1, 'a report that cannot be sent is told, and fails nobody');
  end.send({ jsonrpc: '2.0', id: 51, method: 'lifecycle/endAttempt', params: END });
  assert.equal((await end.receive())['params'], { attemptId: 'a', line: 'leaving' });
  assert.is((await end.receive())['id'], 51);
  context?.navigation('too late');
  assert.is((await end.ask('$/ping'))['result'], null);
  end.end();
  await served;
});

test('resolveSecret asks by name, and derives on the way', async () => {
  const pin = createSecret('pin', 'password');
  let value: string | undefined;
  let failure: unknown;
  const { handle } = sampleEngine({
    startAttempt: async (context) => {
      value = await context.resolveSecret(pin, { derived: (plain) => [`${plain}-b64`] });
      failure = await rejects(context.resolveSecret(pin));
    },
  });
  const { end, served } = await ready(handle);
  end.send({ jsonrpc: '2.0', id: 50, method: 'lifecycle/startAttempt', params: START });
  const asked = await end.receive();
  assert.is(asked['method'], 'attempt/resolveSecret');
  const params = asked['params'] as Json;
  assert.equal([params['attemptId'], params['name']], ['a', 'pin']);
  const { derivation } = params;
  const derived = await end.ask('attempt/deriveSecret', { derivation, plaintext: 'geheim' });
  assert.equal(derived['result'], { values: ['geheim-b64'] });
  const stranger = await end.ask('attempt/deriveSecret', { derivation: 'other', plaintext: 'x' });
  assert.is(errorOf(stranger).code, -32602);
  end.send({ jsonrpc: '2.0', id: asked['id'], result: { value: 'geheim' } });
  const second = await end.receive();
  assert.not.ok(Object.hasOwn(second['params'] as object, 'derivation'));
  end.send({
    jsonrpc: '2.0',
    id: second['id'],
    error: {
      code: -32000,
      message: 'no',
      data: {
        type: 'e2e',
        category: 'configuration',
        code: 'SECRET_UNAVAILABLE',
        retryable: false,
      },
    },
  });
  assert.is((await end.receive())['id'], 50);
  assert.is(value, 'geheim');
  assert.is((failure as TestError).code, 'SECRET_UNAVAILABLE');
  const late = await end.ask('attempt/deriveSecret', { derivation, plaintext: 'x' });
  assert.is(errorOf(late).code, -32602);
  end.end();
  await served;
});

test('screenshots leave as data from a folder that lives as long as the attempt', async () => {
  let folder = '';
  const { handle } = sampleEngine({
    startAttempt: async ({ artifactsDir }) => {
      folder = artifactsDir;
      mkdirSync(join(artifactsDir, 'screenshots'));
      writeFileSync(join(artifactsDir, 'screenshots/a.png'), tinyPng(2, 2));
    },
  });
  const { end, served } = await ready(handle);
  await end.ask('lifecycle/startAttempt', START);
  assert.is.not(folder, START.artifactsDir);
  const answer = await end.ask('artifacts/screenshot', { label: 'x', operation: op(1) });
  assert.equal(answer['result'], {
    data: Buffer.from(tinyPng(2, 2)).toString('base64'),
    mediaType: 'image/png',
  });
  await end.ask('lifecycle/endAttempt', END);
  assert.not.ok(existsSync(folder));
  end.end();
  await served;
});

test("with localArtifacts the client's directory is used and paths are answered", async () => {
  let folder = '';
  const { handle } = sampleEngine({
    startAttempt: async ({ artifactsDir }) => {
      folder = artifactsDir;
    },
  });
  const { end, served } = await ready(handle, { localArtifacts: true });
  await end.ask('lifecycle/startAttempt', START);
  assert.is(folder, START.artifactsDir);
  const answer = await end.ask('artifacts/screenshot', { operation: op(1) });
  assert.equal(answer['result'], { path: 'screenshots/a.png' });
  end.end();
  await served;
});

test('files that cannot cross are refused with the reason', async () => {
  const { handle, names } = sampleEngine({
    artifacts: {
      screenshot: async () => 'a.png',
      startVideo: async () => undefined,
      stopVideo: async () => [{ path: 'v.webm', startedAt: '2026-01-01T00:00:00Z' }],
    },
  });
  const { end, served } = await ready(handle);
  const upload = (paths: string[]): Promise<Json> =>
    end.ask('engine/perform', {
      ref: { id: 'x', revision: '' },
      action: { kind: 'setInputFiles', paths },
      operation: op(1),
    });
  const refused = errorOf(await upload(['/no/such/file.txt']));
  assert.is(refused.data?.['code'], 'UNSUPPORTED_CAPABILITY');
  assert.match(refused.message, /files do not cross machines/);
  assert.equal(names(), []);
  assert.is((await upload([process.execPath]))['result'], null);
  const video = errorOf(await end.ask('artifacts/stopVideo', { operation: op(1) }));
  assert.is(video.data?.['code'], 'UNSUPPORTED_CAPABILITY');
  end.end();
  await served;
});

test('log lines of prepare, init and finish cross as engine/log', async () => {
  const { handle } = sampleEngine({
    init: async (info) => info.log('starting'),
  });
  const { end, served } = await ready(handle);
  end.send({
    jsonrpc: '2.0',
    id: 50,
    method: 'lifecycle/init',
    params: {
      runId: 'r',
      targetName: 't',
      projectRoot: '/',
      app: { site: 's', url: 'http://secret' },
      env: {},
      headed: false,
      workerSlot: 0,
      signal: { id: 'i' },
    },
  });
  assert.equal(await end.receive(), {
    jsonrpc: '2.0',
    method: 'engine/log',
    params: { line: 'starting' },
  });
  assert.is((await end.receive())['id'], 50);
  end.end();
  await served;
});

test('wrong arguments of serveEngine are INVALID_CONFIG', async () => {
  const [, server] = memoryStreams();
  assert.is((await rejects(serveEngine({} as never, server))).code, 'INVALID_CONFIG');
  const { handle } = sampleEngine();
  const wrong = serveEngine(handle, server, { localArtefacts: true } as never);
  assert.match((await rejects(wrong)).message, /did you mean "localArtifacts"/);
});

test.run();
