// The same two ends over TCP: one server for many clients, each with an engine of its own.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import { describeEngine } from '../../core/protocol/manifest.ts';
import { serveEngine } from '../../core/protocol/server/serve.ts';
import { socketTransport } from '../../core/protocol/transports/socket.ts';
import type { EngineHandle } from '../../core/contract/engine.ts';
import { assert, rejects, suite } from '../harness.ts';
import {
  attemptContext,
  cleanup,
  initInfo,
  operation,
  sampleEngine,
  snapshot,
  until,
  type SampleEngine,
} from './engine-support.ts';

const test = suite('protocol tcp');

interface Listening {
  readonly port: number;
  readonly engines: SampleEngine[];
  readonly sockets: Socket[];
  /** Ends when every connection was served to its end. */
  close(): Promise<void>;
}

async function listen(make: () => SampleEngine): Promise<Listening> {
  const engines: SampleEngine[] = [];
  const sockets: Socket[] = [];
  const served: Promise<void>[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    const engine = make();
    engines.push(engine);
    served.push(serveEngine(engine.handle, { input: socket, output: socket }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    engines,
    sockets,
    async close() {
      await Promise.all(served);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const connect = (port: number): EngineHandle =>
  connectEngine({
    manifest: describeEngine(sampleEngine().handle),
    transport: socketTransport({ host: '127.0.0.1', port }),
  });

test('two clients at once, each with its engine', async () => {
  const server = await listen(() => sampleEngine());
  const clients = [connect(server.port), connect(server.port)];
  for (const client of clients) {
    await client.init?.(initInfo());
    await client.startAttempt?.(attemptContext());
  }
  const seen = await Promise.all(clients.map(async (client) => client.observe?.(operation())));
  assert.equal(seen, [snapshot(), snapshot()]);
  for (const client of clients) {
    await client.endAttempt?.(cleanup());
    await client.dispose?.(cleanup());
  }
  await server.close();
  for (const { names } of server.engines) {
    assert.equal(names(), ['init', 'startAttempt', 'observe', 'endAttempt', 'dispose']);
  }
});

test('a connection that is cut: the call ends at once, the server ends its engine', async ({
  signal,
}) => {
  let hanging = false;
  const server = await listen(() =>
    sampleEngine({
      perform: (_ref, _action, context) => {
        hanging = true;
        return new Promise((_, reject) => {
          context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
        });
      },
    }),
  );
  const client = connect(server.port);
  await client.init?.(initInfo());
  await client.startAttempt?.(attemptContext());
  const acting = rejects(() =>
    client.perform?.({ id: 'x', revision: '' }, { kind: 'tap' }, operation()),
  );
  await until(() => hanging, signal);
  server.sockets[0]?.destroy();
  const error = await acting;
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${server.port}.*during engine/perform`));
  await client.dispose?.(cleanup());
  await server.close();
  assert.equal(server.engines[0]?.names(), ['init', 'startAttempt', 'endAttempt', 'dispose']);
});

test('a port where something else listens, or nothing', async () => {
  const http = createServer((socket) => {
    socket.on('error', () => undefined);
    // Read to its end, or this server would wait for ever for the client's goodbye.
    socket.resume();
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const error = await rejects(() => connect(port).init?.(initInfo()), /HTTP\/1\.1 400/);
  assert.is(error.code, 'ENGINE_FAILURE');
  await new Promise((resolve) => http.close(resolve));
  const refused = await rejects(() => connect(port).init?.(initInfo()), /ECONNREFUSED/);
  assert.is(refused.code, 'ENGINE_FAILURE');
});

test.run();
