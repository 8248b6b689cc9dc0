// The soak: one listener under 50 clients at once that connect, act, vanish without goodbye, send
// rubbish, stall half a packet, or are just not allowed in. ENGINEWRIGHT_SOAK_SECONDS says how long each
// of the listeners is under it (default 4, with CI set 8); for a long run give the runner time:
// `ENGINEWRIGHT_SOAK_SECONDS=1800 node scripts/test.mjs --file-limit=5000000 listen-soak`.
import { getEventListeners, setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { EngineHandle } from '../../core/contract/engine.ts';
import { listenEngine, type EngineListener } from '../../core/protocol/server/listen.ts';
import type { ListenTlsOptions } from '../../core/protocol/server/listen-options.ts';
import { withToken } from '../../core/protocol/token.ts';
import { socketTransport } from '../../core/protocol/transports/socket.ts';
import { tlsTransport } from '../../core/protocol/transports/tls.ts';
import type { EngineTransport } from '../../core/protocol/transports/types.ts';
import { assert, suite } from '../harness.ts';
import { makeCertificates } from '../support/certificates.ts';
import { cleanup, operation, until } from './engine-support.ts';
import { createRandom, type Random } from './fuzz-support.ts';
import { countedEngine, counts, hello, startClient, type Counts } from './listen-support.ts';

const ci = !['', '0', 'false', undefined].includes(process.env['CI']);
const seconds = Number(process.env['ENGINEWRIGHT_SOAK_SECONDS'] ?? (ci ? 8 : 4));
const CLIENTS = 50;
/** Fewer than there are clients, so that some find it full. */
const PLACES = 30;
const TOKEN = 'soak-4711-soak-4711';
/** More than this after the first half of the time is growth, bytes. */
const MAX_GROWTH = 6 * 1024 * 1024;

const certificates = makeCertificates();
const test = suite('listen soak', { timeoutMs: seconds * 1000 + 60_000 });
test.after(() => certificates?.remove());

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;
async function held(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collect();
    await sleep(20);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((kind) => /^(TCPSocketWrap|TLSWrap)$/.test(kind)).length;

interface Stage {
  readonly port: number;
  readonly seen: Counts & { polite: number };
  readonly random: Random;
  /** What a listener that speaks TLS is known by. */
  readonly ca: string | undefined;
  readonly transport: () => EngineTransport;
  readonly signal: AbortSignal;
}
type Behaviour = (stage: Stage) => Promise<void>;

/** A socket by hand, gone when `use` is done; to a listener that speaks TLS now and then a plain one. */
async function withSocket(stage: Stage, use: (socket: Socket) => unknown): Promise<void> {
  const { port, ca, random } = stage;
  const address = { host: '127.0.0.1', port };
  const encrypted = ca !== undefined && random.chance(0.7);
  const socket = encrypted ? tlsConnect({ ...address, ca }) : connect(address);
  socket.on('error', () => undefined);
  socket.resume();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const ready = new Promise<void>((resolve) =>
    socket.once(encrypted ? 'secureConnect' : 'connect', () => resolve()),
  );
  await Promise.race([ready, closed]);
  await use(socket);
  socket.destroy();
  await closed;
}

/** Without an end; with a reset, where there is no encryption in the way. */
function vanish(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Waits until the listener has had enough of it. */
const thrownOut = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
    socket.once('end', () => resolve());
  });

/** Our client, let in; undefined when the listener is full. */
async function letIn(
  stage: Stage,
): Promise<{ readonly client: EngineHandle; readonly socket: Socket } | undefined> {
  const inner = stage.transport();
  let socket: Socket | undefined;
  const transport: EngineTransport = {
    label: inner.label,
    async open(context) {
      const connection = await inner.open(context);
      socket = connection.input as Socket;
      return connection;
    },
  };
  try {
    const initializationOptions = withToken(TOKEN, { some: 'option' });
    const client = await startClient(stage.port, { transport, initializationOptions });
    return { client, socket: socket as Socket };
  } catch (error) {
    // Full; or so slow, on a busy machine, that the listener took it for one that stalls.
    if (!/The engine is taken|was lost|cannot be reached/.test(String(error))) throw error;
    return undefined;
  }
}

const tap = (client: EngineHandle): Promise<void> =>
  Promise.resolve(
    client.perform?.({ id: 'pay', revision: '' }, { kind: 'tap' }, operation()),
  ).catch(() => undefined);

function vanisher(how: (socket: Socket) => void): Behaviour {
  return async (stage) => {
    const one = await letIn(stage);
    if (one === undefined) return;
    const acting = tap(one.client);
    if (stage.random.chance(0.5)) await sleep(stage.random.int(5));
    how(one.socket);
    await acting;
    await one.client.dispose?.(cleanup());
  };
}

const packet = (body: string): string => `Content-Length: ${body.length}\r\n\r\n${body}`;
const greeting = packet(
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: hello({ initializationOptions: withToken(TOKEN) }),
  }),
);

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  async polite(stage) {
    const one = await letIn(stage);
    if (one === undefined) return;
    try {
      await one.client.observe?.(operation());
      await one.client.endAttempt?.(cleanup());
      stage.seen.polite += 1;
    } catch (error) {
      if (!/was lost/.test(String(error))) throw error;
    }
    await one.client.dispose?.(cleanup());
  },
  destroyed: vanisher((socket) => socket.destroy()),
  reset: vanisher(vanish),
  ended: vanisher((socket) => socket.end()),
  async 'hangs without a word'(stage) {
    const one = await letIn(stage);
    if (one === undefined) return;
    // A frozen process: it neither reads nor writes, and its machine does not say so.
    one.socket.pause();
    one.socket.removeAllListeners('data');
    const acting = tap(one.client);
    await sleep(stage.random.int(20));
    vanish(one.socket);
    await acting;
    await one.client.dispose?.(cleanup());
  },
  rubbish: (stage) =>
    withSocket(stage, (socket) => {
      const bytes = Array.from({ length: 1 + stage.random.int(3000) }, () => stage.random.int(256));
      socket.write(Buffer.from(bytes));
      return stage.random.chance(0.5) ? sleep(stage.random.int(10)) : thrownOut(socket);
    }),
  'a flood': (stage) =>
    withSocket(stage, (socket) => {
      socket.write(`Content-Length: 60000000\r\n\r\n${'x'.repeat(1_500_000)}`);
      return thrownOut(socket);
    }),
  'half a packet': (stage) =>
    withSocket(stage, (socket) => {
      socket.write(greeting.slice(0, 1 + stage.random.int(greeting.length - 2)));
      return thrownOut(socket);
    }),
  'half a packet, let in': (stage) =>
    withSocket(stage, (socket) => {
      socket.write(`${greeting}Content-Length: 100\r\n\r\n{"half`);
      return thrownOut(socket);
    }),
  'not a word': (stage) => withSocket(stage, thrownOut),
  'gone at once': (stage) => withSocket(stage, vanish),
  'no token': (stage) =>
    withSocket(stage, (socket) => {
      socket.write(greeting.replace(TOKEN, TOKEN.replace('4', '5')));
      return thrownOut(socket);
    }),
  'a burst, and gone': (stage) =>
    withSocket(stage, async (socket) => {
      const ask = packet('{"jsonrpc":"2.0","id":2,"method":"$/ping"}');
      socket.write(greeting + ask.repeat(200));
      await sleep(stage.random.int(10));
    }),
};

interface Figures {
  readonly clients: number;
  readonly growth: number;
  readonly peakSockets: number;
}

async function soak(
  name: string,
  tls: ListenTlsOptions | undefined,
  signal: AbortSignal,
): Promise<void> {
  // 50 clients share the signal that stands for "nobody aborts".
  setMaxListeners(0, operation().signal);
  const ca = tls === undefined ? undefined : certificates?.ca.cert;
  const seen = { ...counts(), polite: 0 };
  const engines: WeakRef<EngineHandle>[] = [];
  const lines = { count: 0, withToken: 0 };
  const stop = new AbortController();
  const before = { sockets: openSockets(), listeners: process.eventNames().length };
  const listener = await listenEngine({
    engine: () => {
      seen.made += 1;
      const engine = countedEngine(seen);
      engines.push(new WeakRef(engine));
      return engine;
    },
    port: 0,
    token: TOKEN,
    maxConnections: PLACES,
    helloTimeoutMs: 800,
    silenceTimeoutMs: 800,
    signal: stop.signal,
    log: (line) => {
      lines.count += 1;
      if (line.includes('soak')) lines.withToken += 1;
    },
    ...(tls !== undefined && { tls }),
  });
  const { port } = listener.address;
  const seed = Date.now() % 2 ** 32;
  const figures = await play(listener, {
    port,
    seen,
    seed,
    signal,
    ca,
    transport: () =>
      tls === undefined
        ? socketTransport({ host: '127.0.0.1', port })
        : tlsTransport({ host: '127.0.0.1', port, ca: ca ?? '' }),
  });
  assert.is(getEventListeners(stop.signal, 'abort').length, 1);
  await listener.close();
  assert.is(getEventListeners(stop.signal, 'abort').length, 0);
  await until(() => openSockets() <= before.sockets, signal);
  assert.is(process.eventNames().length, before.listeners);
  await held();
  const living = engines.filter((engine) => engine.deref() !== undefined).length;
  process.stdout.write(
    `note: soak ${name}: ${figures.clients} clients (seed ${seed}), ${seen.made} engines made, ${seen.initialised} initialised and ${seen.disposed} disposed, ${seen.attempts} attempts and ${seen.endedAttempts} ended, ${living} engines still in memory, ${lines.count} log lines, at most ${figures.peakSockets} sockets, heap ${(figures.growth / 1024).toFixed(0)} KiB over the second half\n`,
  );
  assert.equal([seen.disposed, seen.endedAttempts], [seen.initialised, seen.attempts]);
  assert.is(seen.hanging, 0);
  assert.ok(seen.polite > 0, 'somebody got through');
  assert.ok(living <= 2, `${living} engines are held`);
  assert.is(lines.withToken, 0);
  assert.ok(lines.count <= figures.clients, 'one line a connection');
  assert.ok(figures.growth < MAX_GROWTH, `${figures.growth} bytes of growth`);
}

async function play(
  listener: EngineListener,
  stage: Omit<Stage, 'random'> & { readonly seed: number },
): Promise<Figures> {
  const names = Object.keys(BEHAVIOURS);
  let clients = 0;
  let peakSockets = 0;
  const client = async (number: number, end: number): Promise<void> => {
    const random = createRandom(stage.seed + number);
    while (performance.now() < end) {
      stage.signal.throwIfAborted();
      clients += 1;
      await BEHAVIOURS[random.pick(names)]?.({ ...stage, random });
      peakSockets = Math.max(peakSockets, openSockets());
    }
  };
  const half = async (round: number): Promise<number> => {
    const end = performance.now() + seconds * 500;
    await Promise.all(
      Array.from({ length: CLIENTS }, (_, number) => client(round * CLIENTS + number, end)),
    );
    // All are gone, and nobody's engine is taken any more.
    await until(() => listener.connections.length === 0, stage.signal);
    return held();
  };
  const warm = await half(0);
  const growth = (await half(1)) - warm;
  return { clients, growth, peakSockets };
}

test('plain', ({ signal }) => soak('plain', undefined, signal));

if (certificates === undefined) test.skip('no openssl on this machine')('TLS');
else {
  const { cert, key } = certificates.server;
  test('TLS', ({ signal }) => soak('TLS', { cert, key }, signal));
}

test.run();
