// Real sockets: TCP on both loopback addresses and a Unix socket; servers that refuse, vanish,
// reset, stay silent or keep their side open.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { encodePacket } from '../../core/protocol/framing-writer.ts';
import { createPeer, isConnectionClosedError, type Peer } from '../../core/protocol/peer.ts';
import {
  memoryStreams,
  socketTransport,
  type SocketTransportOptions,
  type TransportConnection,
  type TransportContext,
} from '../../core/protocol/transports/index.ts';
import { assert, rejects, suite } from '../harness.ts';

const test = suite('socket', { timeoutMs: 20_000 });

const context = (signal = new AbortController().signal): TransportContext => ({
  role: 'worker',
  env: {},
  cwd: tmpdir(),
  signal,
});

interface Listening {
  readonly port: number;
  readonly sockets: Socket[];
  close(): Promise<void>;
}

async function listen(
  where: string | { readonly path: string },
  onSocket: (socket: Socket) => void,
  options: { readonly allowHalfOpen?: boolean } = {},
): Promise<Listening> {
  const sockets: Socket[] = [];
  const server: Server = createServer(options, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(typeof where === 'string' ? { host: where, port: 0 } : where, () => resolve());
  });
  const address = server.address();
  return {
    port: typeof address === 'string' ? 0 : (address as AddressInfo).port,
    sockets,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function serve(socket: Socket): void {
  createPeer({
    streams: { input: socket, output: socket },
    onRequest: (method, params) => params ?? method,
    onNotification: () => undefined,
  });
}

function peerOf(streams: Pick<TransportConnection, 'input' | 'output'>): Peer {
  return createPeer({ streams, onRequest: () => null, onNotification: () => undefined });
}

async function speaks(options: SocketTransportOptions): Promise<void> {
  const connection = await socketTransport(options).open(context());
  const peer = peerOf(connection);
  assert.is(await peer.request('hello'), 'hello');
  assert.equal(await peer.request('big', ['\u4e16'.repeat(500_000)]), ['\u4e16'.repeat(500_000)]);
  assert.match(connection.diagnostics?.() ?? '', /^connected to /);
  await peer.close();
  await connection.close(5000);
  assert.match(connection.diagnostics?.() ?? '', /closed by the client/);
}

test('speaks over IPv4', async () => {
  const server = await listen('127.0.0.1', serve);
  await speaks({ host: '127.0.0.1', port: server.port });
  await server.close();
});

test('speaks over IPv6, with and without brackets', async () => {
  let server: Listening;
  try {
    server = await listen('::1', serve);
  } catch (error) {
    // A machine without IPv6 cannot tell.
    assert.match(String((error as { code?: unknown }).code), /EADDRNOTAVAIL|EAFNOSUPPORT/);
    return;
  }
  await speaks({ host: '::1', port: server.port });
  await speaks({ host: '[::1]', port: server.port });
  assert.is(socketTransport({ host: '::1', port: 80 }).label, '[::1]:80');
  await server.close();
});

test('speaks over a Unix socket', async () => {
  if (process.platform === 'win32') return;
  const folder = mkdtempSync(join(tmpdir(), 'ew-'));
  const path = join(folder, 's');
  const server = await listen({ path }, serve);
  await speaks({ path });
  await server.close();
  await rejects(
    socketTransport({ path }).open(context()),
    (error) => error.code === 'ENOENT' && error.message.includes(path),
  );
  rmSync(folder, { recursive: true });
});

test('a refused connection names the address and the cause', async () => {
  const server = await listen('127.0.0.1', serve);
  const { port } = server;
  await server.close();
  const transport = socketTransport({ host: '127.0.0.1', port });
  const error = await rejects(transport.open(context()));
  assert.is(
    error.message,
    `Engine server at 127.0.0.1:${port} cannot be reached: nothing listens there: start the server, or check the port (ECONNREFUSED).`,
  );
  assert.is(error.code, 'ECONNREFUSED');
  assert.is(error.cause.code, 'ECONNREFUSED');
});

test('an aborted opening rejects with the reason', async () => {
  const server = await listen('127.0.0.1', serve);
  const transport = socketTransport({ host: '127.0.0.1', port: server.port });
  const reason = new Error('enough');
  assert.is(await rejects(transport.open(context(AbortSignal.abort(reason)))), reason);
  const controller = new AbortController();
  const opening = transport.open(context(controller.signal));
  controller.abort(reason);
  assert.is(await rejects(opening), reason);
  await server.close();
});

test('a connection that nobody accepts is given up', async () => {
  // An address of the range that is kept for documentation: packets to it go nowhere, or fail.
  const transport = socketTransport({ host: '192.0.2.1', port: 9, connectTimeoutMs: 50 });
  const error = await rejects(transport.open(context()), /^Engine server at 192\.0\.2\.1:9 /);
  assert.match(error.code, /ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|EACCES|EPERM|ECONNREFUSED/);
});

test('a server that ends, or resets, fails the call and is told apart', async () => {
  const ending = await listen('127.0.0.1', (socket) => socket.once('data', () => socket.end()));
  const first = await socketTransport({ host: '127.0.0.1', port: ending.port }).open(context());
  const call = peerOf(first).request('engine/observe');
  assert.ok(isConnectionClosedError(await rejects(call, /^engine\/observe has no answer/)));
  assert.match(first.diagnostics?.() ?? '', /ended by the server/);
  await first.close(1000);
  await ending.close();

  const resetting = await listen('127.0.0.1', (socket) =>
    socket.once('data', () => socket.resetAndDestroy()),
  );
  const second = await socketTransport({ host: '127.0.0.1', port: resetting.port }).open(context());
  const peer = peerOf(second);
  await rejects(peer.request('m'), /ECONNRESET|EPIPE/);
  assert.is((await peer.closed).reason, 'failed');
  assert.match(
    second.diagnostics?.() ?? '',
    /^connection to 127\.0\.0\.1:\d+ failed: .*(ECONNRESET|EPIPE)/,
  );
  await second.close(1000);
  await resetting.close();
});

test('what a server wrote before it ended arrives', async () => {
  const count = 2000;
  const server = await listen('127.0.0.1', (socket) => {
    for (let index = 0; index < count; index += 1)
      socket.write(encodePacket(`{"jsonrpc":"2.0","method":"n","params":[${index}]}`));
    socket.end();
  });
  const connection = await socketTransport({ host: '127.0.0.1', port: server.port }).open(
    context(),
  );
  let seen = 0;
  const peer = createPeer({
    streams: connection,
    onRequest: () => null,
    onNotification: () => {
      seen += 1;
    },
  });
  assert.is((await peer.closed).reason, 'remote');
  assert.is(seen, count);
  await connection.close(1000);
  await server.close();
});

test('close lets go of a server that keeps its side open, or does not read', async () => {
  const server = await listen('127.0.0.1', (socket) => socket.pause(), { allowHalfOpen: true });
  const connection = await socketTransport({ host: '127.0.0.1', port: server.port }).open(
    context(),
  );
  connection.output.write(Buffer.alloc(20_000_000));
  await connection.close(100);
  assert.ok((connection.input as Socket).destroyed);
  await connection.close(100);
  await server.close();
});

test('malformed options are refused, by name', () => {
  const bad = (options: unknown): void => void socketTransport(options as SocketTransportOptions);
  assert.throws(() => bad({}), /needs host and port/);
  assert.throws(() => bad({ host: 'a' }), /port must be 1 to 65535, not undefined/);
  assert.throws(() => bad({ host: 'a', port: 65_536 }), /port must be/);
  assert.throws(() => bad({ host: 'a', port: 1, path: '/x' }), /not both/);
  assert.throws(() => bad({ path: '' }), /path must be/);
  assert.throws(() => bad({ host: 'a', port: 1, connectTimeoutMs: 0 }), /connectTimeoutMs/);
  assert.throws(() => bad({ hots: 'a', port: 1 }), /no option "hots"; did you mean "host"\?/);
});

const memory = suite('memory streams');

memory('bytes cross as they are, with backpressure', async () => {
  const [a, b] = memoryStreams();
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
  let pushedBack = false;
  for (let at = 0; at < sent.length; at += 10_000) {
    if (!a.output.write(sent.subarray(at, at + 10_000))) pushedBack = true;
  }
  a.output.end();
  const received: Buffer[] = [];
  for await (const chunk of b.input) received.push(chunk as Buffer);
  assert.ok(pushedBack);
  assert.is(Buffer.concat(received).compare(sent), 0);
});

memory('the end of one output is the end of the other input, destroyed or not', async () => {
  for (const how of ['end', 'destroy'] as const) {
    const [a, b] = memoryStreams();
    const right = peerOf(b);
    const call = rejects(right.request('m'), /^m has no answer/);
    a.output[how]();
    await call;
    assert.is((await right.closed).reason, 'remote');
  }
});

memory('writing to an end that is gone fails', async () => {
  const [a, b] = memoryStreams();
  const left = peerOf(a);
  b.input.destroy();
  const call = rejects(left.request('m'), /closed|EPIPE/);
  b.output.end();
  await call;
});

test.run();
memory.run();
