// vscode-jsonrpc, the field's reference, at the other end: as a client of serveEngine and as a server
// for connectEngine, over stdio and over TCP. It shares no code with ours, so that a mistake that our
// two ends make alike shows here.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import {
  CancellationTokenSource,
  createMessageConnection,
  ErrorCodes,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type { EngineAttemptContext, EngineHandle } from '../../core/contract/engine.ts';
import { EngineError } from '../../core/contract/errors.ts';
import { createSecret } from '../../core/contract/secrets.ts';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import { serveEngine } from '../../core/protocol/server/serve.ts';
import {
  socketTransport,
  spawnTransport,
  type EngineTransport,
  type MessageStreams,
} from '../../core/protocol/transports/index.ts';
import { assert, rejects, suite } from '../harness.ts';
import {
  attemptContext,
  cleanup,
  initInfo,
  operation,
  sampleEngine,
  snapshot,
  tempFolder,
  until,
  type Json,
} from './engine-support.ts';
import servedPath from './served-engine.ts?file';
import { MANIFEST, serveForeign, TEXT } from './vscode-engine.ts';
import foreignPath from './vscode-engine.ts?file';

const test = suite('interoperation with vscode-jsonrpc', { timeoutMs: 20_000 });

function talk({ input, output }: MessageStreams): MessageConnection {
  return createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output));
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const HELLO = { protocolVersion: 1, clientInfo: { name: 'v', version: '10' }, role: 'worker' };
const START = { attemptId: 'a', artifactsDir: '/nowhere', signal: { id: 1 }, screens: false };
const op = (id: number): Json => ({
  signal: { id },
  timeoutMs: 5000,
  runId: 'r',
  attemptId: 'a',
  origin: 'test',
});
const tap = (id: string, signal: number): Json => ({
  ref: { id, revision: '' },
  action: { kind: 'tap' },
  operation: op(signal),
});

/** What a client of either kind does; the engine waits in `wait` and knows `x` as stale. */
async function drive(client: MessageConnection): Promise<void> {
  const hello = await client.sendRequest<{ protocolVersion: number }>('initialize', HELLO);
  assert.is(hello.protocolVersion, 1);
  await client.sendNotification('initialized', {});
  await client.sendRequest('lifecycle/startAttempt', START);
  const many = Array.from({ length: 200 }, (_, index) =>
    client.sendRequest<{ root: unknown }>('engine/observe', { operation: op(100 + index) }),
  );
  for (const seen of await Promise.all(many)) assert.ok(seen.root);

  const stale = await rejects(client.sendRequest('engine/perform', tap('x', 10)));
  assert.ok(stale instanceof ResponseError);
  assert.is(stale.code, -32000);
  const { type, code, retryable } = stale.data as Json;
  assert.equal([type, code, retryable], ['engine', 'NODE_STALE', true]);

  const reason = {
    code: -32000,
    message: 'out of time',
    data: { type: 'e2e', category: 'test', code: 'TEST_TIMEOUT', retryable: false },
  };
  const waiting = rejects(client.sendRequest('engine/perform', tap('wait', 11)));
  // Once this is answered, the engine waits.
  await client.sendRequest('engine/observe', { operation: op(14) });
  await client.sendNotification('$/abort', { id: 11, reason });
  assert.match((await waiting).message, /out of time/);

  const unknown = await rejects(client.sendRequest('engine/fly', {}));
  assert.is(unknown.code, ErrorCodes.MethodNotFound);
  // It cancels in a way of its own, which we do not know: a notification like any other.
  const cancel = new CancellationTokenSource();
  const asked = client.sendRequest('engine/observe', { operation: op(12) }, cancel.token);
  cancel.cancel();
  assert.ok(await asked);

  assert.is(
    await client.sendRequest('lifecycle/endAttempt', { signal: { id: 13 }, timeoutMs: 1000 }),
    null,
  );
  assert.is(await client.sendRequest('shutdown'), null);
  await client.sendNotification('exit');
}

test('its client drives serveEngine over stdio', async () => {
  const child = spawn(process.execPath, [servedPath], { stdio: ['pipe', 'pipe', 'pipe'] });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const client = talk({ input: child.stdout, output: child.stdin });
  client.listen();
  await drive(client);
  const [code] = (await once(child, 'close')) as [number];
  assert.is(code, 0, printed);
  client.dispose();
});

test('its client drives serveEngine over TCP', async () => {
  const { handle } = sampleEngine({
    observe: async () => snapshot({ location: TEXT }),
    async perform(ref, _action, { signal }) {
      if (ref.id === 'x') throw new EngineError('NODE_STALE', 'x is gone', { retryable: true });
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    },
  });
  const served: Promise<void>[] = [];
  const server = createServer((socket) => {
    served.push(serveEngine(handle, { input: socket, output: socket }));
  });
  const socket = connect(await listening(server), '127.0.0.1');
  const client = talk({ input: socket, output: socket });
  client.listen();
  await drive(client);
  await Promise.all(served);
  await once(socket, 'close');
  client.dispose();
  await new Promise((resolve) => server.close(resolve));
});

interface Foreign {
  readonly transport: EngineTransport;
  stop(): Promise<void>;
}

const FOREIGN: Readonly<Record<string, () => Promise<Foreign>>> = {
  stdio: async () => ({
    transport: spawnTransport({ command: process.execPath, args: [foreignPath, 'serve-foreign'] }),
    stop: async () => undefined,
  }),
  TCP: async () => {
    const server = createServer((socket) => {
      const connection = talk({ input: socket, output: socket });
      serveForeign(connection, () => socket.end());
      connection.listen();
    });
    const port = await listening(server);
    return {
      transport: socketTransport({ host: '127.0.0.1', port }),
      stop: () => new Promise((resolve) => server.close(() => resolve())),
    };
  },
};

for (const [wire, open] of Object.entries(FOREIGN)) {
  test(`connectEngine drives its server over ${wire}`, async ({ signal }) => {
    const { transport, stop } = await open();
    const pin = createSecret('pin', 'password');
    const engine = connectEngine({ manifest: MANIFEST, transport, secrets: [pin] });
    const lines: string[] = [];
    await engine.init?.(initInfo({ log: (line) => lines.push(line) }));
    const folder = tempFolder();
    const entries: unknown[] = [];
    const context: Partial<EngineAttemptContext> = {
      artifactsDir: folder.path,
      resolveSecret: async () => '1234',
      appLog: (entry) => entries.push(entry),
    };
    await engine.startAttempt?.(attemptContext(context));
    assert.equal(lines, ['up']);

    const seen = await Promise.all(
      Array.from({ length: 100 }, async () => engine.observe?.(operation())),
    );
    for (const one of seen) assert.is(one?.root.children?.[0]?.name, TEXT);
    const path = await engine.artifacts?.screenshot('Shot', operation());
    assert.is(readFileSync(join(folder.path, path ?? '')).length, 33);
    const state = {
      format: 'x',
      version: 1,
      data: { text: TEXT, long: '\u00e9x'.repeat(400_000) },
    };
    await engine.state?.restore(state, operation());
    assert.equal(await engine.state?.capture(operation()), state);

    await perform(engine, 'secret');
    await until(() => entries.length > 0, signal);
    assert.is((entries[0] as { text: string }).text, 'typed 4');
    const stale = await rejects(perform(engine, 'stale'));
    assert.equal([stale.code, stale.retryable, stale.message], ['NODE_STALE', true, 'pay is gone']);
    await rejects(perform(engine, 'broken'), /it broke/);
    const stop1 = new AbortController();
    const waiting = rejects(perform(engine, 'wait', stop1.signal));
    stop1.abort(new EngineError('CANCELLED', 'enough'));
    assert.match((await waiting).message, /enough/);

    await engine.endAttempt?.(cleanup());
    await engine.dispose?.(cleanup());
    folder.remove();
    await stop();
  });
}

function perform(engine: EngineHandle, id: string, signal?: AbortSignal): Promise<unknown> {
  return engine.perform?.(
    { id, revision: '1' },
    { kind: 'tap' },
    operation(signal && { signal }),
  ) as Promise<unknown>;
}

test.run();
