// The transport rules over all of ours, and over transports with a fault each: a rule that cannot fail
// is no rule.
import { readdirSync } from 'node:fs';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { Transform } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import {
  memoryStreams,
  socketTransport,
  spawnTransport,
  tlsTransport,
  type EngineTransport,
  type TransportConnection,
} from '../../core/protocol/transports/index.ts';
import {
  playFarEnd,
  runTransportSuite,
  transportSuite,
  type FarEndBehaviour,
  type TransportStage,
} from '../../testing/index.ts';
import { assert, suite } from '../harness.ts';
import { makeCertificates } from '../support/certificates.ts';
import { isAlive } from '../support/processes.ts';
import { tempFolder } from './engine-support.ts';
import childPath from './far-end-child.ts?file';

const test = suite('transport suite', { timeoutMs: 60_000 });

type Create = (behaviour: FarEndBehaviour) => Promise<TransportStage>;

/** Behind a server of sockets, plain or encrypted. */
async function behind(
  make: (onSocket: (socket: Socket) => void) => Server,
  listen: { readonly path: string } | { readonly host: string; readonly port: 0 },
  transport: (port: number) => EngineTransport,
  behaviour: FarEndBehaviour,
): Promise<TransportStage> {
  const sockets = new Set<Socket>();
  const server = make((socket) => {
    socket.on('error', () => undefined);
    playFarEnd(behaviour, { input: socket, output: socket });
  });
  // The sockets of the system, below any encryption.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(listen, resolve));
  const address = server.address();
  return {
    transport: transport(typeof address === 'string' ? 0 : (address as AddressInfo).port),
    // Who reads nothing is not told that the other side is gone.
    ...(behaviour !== 'deaf' && behaviour !== 'stubborn' && { alive: () => sockets.size }),
    release: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

const LOOPBACK = { host: '127.0.0.1', port: 0 } as const;

const overTcp: Create = (behaviour) =>
  behind(
    (onSocket) => createTcpServer({ allowHalfOpen: true }, onSocket),
    LOOPBACK,
    (port) => socketTransport({ host: '127.0.0.1', port }),
    behaviour,
  );

const overUnix: Create = async (behaviour) => {
  const folder = tempFolder();
  const path = join(folder.path, 's');
  const stage = await behind(
    (onSocket) => createTcpServer({ allowHalfOpen: true }, onSocket),
    { path },
    () => socketTransport({ path }),
    behaviour,
  );
  return { ...stage, release: () => stage.release().then(folder.remove) };
};

const overMemory: Create = async (behaviour) => {
  const { transport, alive } = memoryTransport(behaviour);
  return { transport, alive, release: async () => undefined };
};

/** Far ends in this process. `alter` puts a fault into a connection. */
function memoryTransport(
  behaviour: FarEndBehaviour,
  alter: (connection: TransportConnection) => TransportConnection = (connection) => connection,
): { readonly transport: EngineTransport; readonly alive: () => number } {
  let living = 0;
  return {
    alive: () => living,
    transport: {
      label: 'memory',
      async open({ signal }) {
        signal.throwIfAborted();
        const [near, far] = memoryStreams();
        playFarEnd(behaviour, far);
        living += 1;
        for (const stream of [near.input, near.output]) stream.on('error', () => undefined);
        let closed = false;
        return alter({
          ...near,
          async close() {
            if (!closed) living -= 1;
            closed = true;
            near.output.end();
            for (const stream of [near.input, near.output, far.input, far.output]) stream.destroy();
          },
          diagnostics: () => 'a pipe in memory',
        });
      },
    },
  };
}

const overSpawn: Create = async (behaviour) => {
  const folder = tempFolder();
  return {
    transport: spawnTransport({
      command: process.execPath,
      args: [childPath, behaviour, folder.path],
    }),
    alive: () => readdirSync(folder.path).filter((pid) => isAlive(Number(pid))).length,
    release: async () => folder.remove(),
  };
};

const certificates = makeCertificates();
test.after(() => certificates?.remove());

const ways: Record<string, Create> = {
  memory: overMemory,
  tcp: overTcp,
  ...(process.platform !== 'win32' && { unix: overUnix }),
  spawn: overSpawn,
  ...(certificates !== undefined && {
    tls: (behaviour: FarEndBehaviour) =>
      behind(
        (onSocket) =>
          createTlsServer(
            { cert: certificates.server.cert, key: certificates.server.key, allowHalfOpen: true },
            onSocket,
          ),
        LOOPBACK,
        (port) => tlsTransport({ host: '127.0.0.1', port, ca: certificates.ca.cert }),
        behaviour,
      ),
  }),
};
if (certificates === undefined) test.skip('no openssl on this machine')('tls');

for (const [name, create] of Object.entries(ways)) {
  for (const rule of transportSuite) {
    test(`${name}: ${rule.name}`, ({ signal }) => rule.run({ create, signal }));
  }
}

type Alter = (connection: TransportConnection) => TransportConnection;
const altered = (alter: Alter, transport: Partial<EngineTransport> = {}): Create => {
  return async (behaviour) => {
    const inner = memoryTransport(behaviour, alter);
    return {
      transport: { ...inner.transport, ...transport },
      alive: inner.alive,
      release: async () => undefined,
    };
  };
};
const through = (change: (chunk: Buffer) => Buffer): Create =>
  altered((connection) => {
    const changed = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        done(null, change(chunk));
      },
    });
    changed.on('error', () => undefined);
    connection.input.once('close', () => changed.end());
    return { ...connection, input: connection.input.pipe(changed) };
  });

const FAULTS: readonly {
  readonly fault: string;
  readonly create: Create;
  readonly caught: RegExp;
}[] = [
  {
    fault: 'a label of two lines',
    create: altered((connection) => connection, { label: 'one\ntwo' }),
    caught: /label is one line/,
  },
  {
    fault: 'a lost byte',
    create: through((chunk) => (chunk.length > 5 ? chunk.subarray(1) : chunk)),
    caught: /something big crosses/,
  },
  {
    fault: 'bytes read as text',
    create: through((chunk) => Buffer.from(chunk.toString('utf8'))),
    caught: /bytes of every value/,
  },
  {
    fault: 'an abort that is not heard',
    create: async (behaviour) => {
      const { transport, alive } = memoryTransport(behaviour);
      const open: EngineTransport['open'] = (context) =>
        transport.open({ ...context, signal: new AbortController().signal });
      return { transport: { ...transport, open }, alive, release: async () => undefined };
    },
    caught: /open rejects under a signal that was aborted before/,
  },
  {
    fault: 'a reason of its own',
    create: async (behaviour) => {
      const { transport, alive } = memoryTransport(behaviour);
      const open: EngineTransport['open'] = async (context) => {
        if (context.signal.aborted) throw new Error('cancelled');
        return transport.open(context);
      };
      return { transport: { ...transport, open }, alive, release: async () => undefined };
    },
    caught: /open rejects under a signal that was aborted before/,
  },
  {
    fault: 'close that lets go of nothing',
    create: altered((connection) => ({ ...connection, close: async () => undefined })),
    caught: /close lets go of a far end that is polite/,
  },
  {
    fault: 'close that works once only',
    create: altered((connection) => {
      let closed = false;
      return {
        ...connection,
        async close(ms) {
          if (closed) throw new Error('closed already');
          closed = true;
          await connection.close(ms);
        },
      };
    }),
    caught: /close lets go of a far end that is stubborn/,
  },
  {
    fault: 'diagnostics without a word',
    create: altered((connection) => ({ ...connection, diagnostics: () => '' })),
    caught: /diagnostics say something/,
  },
  {
    fault: 'errors that nobody hears',
    create: altered((connection) => {
      connection.output.removeAllListeners('error');
      return connection;
    }),
    caught: /an error that nobody listens to/,
  },
];

for (const { fault, create, caught } of FAULTS) {
  test(`catches ${fault}`, async ({ signal }) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(20_000)]);
    const rule = transportSuite.find(({ name }) => caught.test(name));
    assert.ok(rule, 'there is such a rule');
    const error: unknown = await rule.run({ create, signal: limit, patienceMs: 500 }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Error, `${rule.name} passed`);
    assert.not.ok(limit.aborted, 'it was caught, not waited out');
  });
}

test('runTransportSuite tells what came of each rule', async ({ signal }) => {
  const results = await runTransportSuite({ create: overMemory, signal });
  assert.equal(
    results.map(({ rule }) => rule),
    transportSuite.map(({ name }) => name),
  );
  assert.equal(
    results.filter(({ status }) => status !== 'passed'),
    [],
  );
  const quiet = altered((connection) => ({ ...connection, diagnostics: () => '' }));
  const faulty = await runTransportSuite({ create: quiet, signal });
  assert.ok(faulty.some(({ status, error }) => status === 'failed' && error instanceof Error));
});

test.run();
