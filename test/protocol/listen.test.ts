// A listener and its clients on real sockets: who is let in and what the others are told, the token,
// clients that vanish or never say a word, and the end in order.
import { networkInterfaces } from 'node:os';
import process from 'node:process';
import type { Socket } from 'node:net';
import type { EngineHandle } from '../../core/contract/engine.ts';
import type { ListenEngineOptions } from '../../core/protocol/server/listen-options.ts';
import { withToken } from '../../core/protocol/token.ts';
import { socketTransport } from '../../core/protocol/transports/socket.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { assert, rejects, suite } from '../harness.ts';
import { cleanup, initInfo, operation, prepareInfo, until, type Json } from './engine-support.ts';
import {
  breakable,
  clientOf,
  countedEngine,
  counts,
  hello,
  lineThat,
  listen,
  rawClient,
  startClient,
  type RawClient,
  type TestListener,
} from './listen-support.ts';

const test = suite('listen', { timeoutMs: 20_000 });
const NODE = { id: 'pay', revision: '' };

interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}
const errorOf = (answer: Json): WireError => answer['error'] as WireError;
const tap = (client: EngineHandle): unknown => client.perform?.(NODE, { kind: 'tap' }, operation());

test('an engine per connection, with its options, and one line each in the log', async () => {
  const { listener, port, seen, lines } = await listen();
  assert.equal(listener.address, { host: '127.0.0.1', port });
  const clients = [
    await startClient(port, { initializationOptions: { colour: 'red' } }),
    await startClient(port),
  ];
  assert.equal(seen.options, [{ colour: 'red' }, undefined]);
  const [first] = listener.connections;
  assert.is(listener.connections.length, 2);
  assert.is(first?.role, 'worker');
  assert.match(first?.client ?? '', /^enginewright \d/);
  assert.match(first?.address ?? '', /^127\.0\.0\.1:\d+$/);
  for (const client of clients) {
    await client.observe?.(operation());
    await client.endAttempt?.(cleanup());
    await client.dispose?.(cleanup());
  }
  await listener.close();
  assert.is(listener.connections.length, 0);
  assert.equal([seen.made, seen.disposed, seen.attempts, seen.endedAttempts], [2, 2, 2, 2]);
  assert.is(lines.length, 2);
  for (const line of lines) {
    assert.match(
      line,
      /^\d{4}-\d\d-\d\dT[\d:.]+Z "enginewright [\d.]+" at 127\.0\.0\.1:\d+ worker ended after [\d.]+ s$/,
    );
  }
});

test('a handle is shared: one client after another, and the next is told who has it', async ({
  signal,
}) => {
  const seen = counts();
  const { listener, port, lines } = await listen({ engine: countedEngine(seen) });
  const first = await startClient(port);
  const error = await rejects(() => clientOf(port).init?.(initInfo()), /The engine is taken/);
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.match(
    error.message,
    /\(1 of 1 worker connections\): "enginewright [\d.]+" at 127\.0\.0\.1:\d+ holds it since \d{4}-\d\d-\d\dT[\d:.]+Z \(\d+ s\)\. Try again when it is free/,
  );
  await lineThat(lines, /127\.0\.0\.1:\d+ was refused: the engine is taken after/, signal);
  await first.dispose?.(cleanup());
  await until(() => listener.connections.length === 0, signal);
  const second = await startClient(port);
  await second.dispose?.(cleanup());
  await listener.close();
  assert.equal([seen.initialised, seen.disposed], [2, 2]);
});

test('full: programs read who is in; run connections do not count, and hold no engine', async () => {
  const { listener, port, seen } = await listen({ maxConnections: 2 });
  const run = clientOf(port);
  await run.prepare?.(prepareInfo());
  const held = [await startClient(port), await startClient(port)];
  const raw = await rawClient(port);
  const refusal = errorOf(await raw.ask('initialize', hello()));
  assert.is(refusal.code, -32005);
  assert.equal(refusal.data, {
    reason: 'full',
    maxConnections: 2,
    holders: listener.connections.slice(1),
  });
  assert.is(errorOf(await raw.ask('engine/observe')).code, -32600);
  // It is not kept for long either.
  await raw.ended;
  raw.socket.destroy();
  const sly = await rawClient(port);
  assert.ok('result' in (await sly.ask('initialize', hello({ role: 'run' }))));
  const answer = errorOf(await sly.ask('lifecycle/init', {}));
  assert.is(answer.code, -32600);
  assert.match(answer.message, /role "run" is for lifecycle\/prepare and lifecycle\/finish/);
  sly.end();
  for (const client of held) await client.dispose?.(cleanup());
  await run.finish?.({ ...prepareInfo(), timeoutMs: 1000 } as never);
  await listener.close();
  assert.equal([seen.initialised, seen.disposed], [2, 2]);
});

test('an engine is taken until it has been put away', async ({ signal }) => {
  const seen = counts();
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let disposing = false;
  const engine = countedEngine(seen, {
    dispose: () => {
      disposing = true;
      return gate;
    },
  });
  const { listener, port } = await listen({ engine });
  const first = breakable(port);
  await startClient(port, { transport: first.transport });
  first.socket().destroy();
  await until(() => disposing, signal);
  await rejects(() => clientOf(port).init?.(initInfo()), /The engine is taken/);
  release();
  await until(() => listener.connections.length === 0, signal);
  await listener.close();
});

test('an engine that cannot be made is the answer, and takes no place', async ({ signal }) => {
  let broken = true;
  const seen = counts();
  const { listener, port, lines } = await listen({
    maxConnections: 1,
    engine: async () => {
      if (broken) throw new Error('no device is plugged in');
      return countedEngine(seen);
    },
  });
  await rejects(() => clientOf(port).init?.(initInfo()), /no device is plugged in/);
  await lineThat(lines, /its engine could not be made: no device is plugged in$/, signal);
  const raw = await rawClient(port);
  assert.is(errorOf(await raw.ask('initialize', hello())).message, 'no device is plugged in');
  assert.is(listener.connections.length, 0);
  broken = false;
  await (await startClient(port)).dispose?.(cleanup());
  await raw.ended;
  raw.socket.destroy();
  await listener.close();
});

const TOKEN = 'correct-horse-battery-staple';

test('a token: with it in, without it one and the same refusal', async ({ signal }) => {
  const { listener, port, seen, lines, errors } = await listen({ token: TOKEN, maxConnections: 1 });
  const messages = new Set<string>();
  const wrong: unknown[] = [
    undefined,
    null,
    {},
    { colour: 'red' },
    { 'enginewright/token': '' },
    { 'enginewright/token': 7 },
    { 'enginewright/token': [TOKEN] },
    { 'enginewright/token': TOKEN.slice(0, -1) },
    { 'enginewright/token': `${TOKEN} ` },
    { 'enginewright/token': TOKEN.toUpperCase() },
    { 'enginewright/token': 'x'.repeat(500_000) },
    { options: { 'enginewright/token': TOKEN } },
    JSON.parse(`{"__proto__": {"enginewright/token": "${TOKEN}"}}`),
  ];
  for (const initializationOptions of wrong) {
    const raw = await rawClient(port);
    const { code, message } = errorOf(
      await raw.ask('initialize', hello({ initializationOptions })),
    );
    assert.is(code, -32004);
    messages.add(message);
    raw.end();
    await raw.ended;
  }
  assert.equal(
    [...messages],
    [
      'This engine server asks for a token, and the one of this client is missing or wrong: pass withToken(token, options) as initializationOptions, or --token-file on the command line.',
    ],
  );
  assert.is(seen.made, 0);
  await lineThat(lines, /^\S+ 127\.0\.0\.1:\d+ was refused: its token is missing or wrong/, signal);
  const client = await startClient(port, {
    initializationOptions: withToken(TOKEN, { colour: 'red' }),
  });
  assert.equal(seen.options, [{ colour: 'red' }]);
  // Who has no token does not learn who is in.
  await rejects(() => clientOf(port).init?.(initInfo()), /asks for a token/);
  await client.dispose?.(cleanup());
  await listener.close();
  for (const said of [...lines, ...errors.map(String)]) assert.not.match(said, TOKEN.slice(0, 8));
});

test('a token may be long, and options belong under "options"', async () => {
  const token = 'k'.repeat(100_000);
  const { listener, port, seen } = await listen({ token });
  await (await startClient(port, { initializationOptions: withToken(token) })).dispose?.(cleanup());
  assert.equal(seen.options, [undefined]);
  const stray = await rawClient(port);
  const { code, message } = errorOf(
    await stray.ask(
      'initialize',
      hello({ initializationOptions: { ...withToken(token), colour: 'red' } }),
    ),
  );
  assert.is(code, -32602);
  assert.match(message, /"colour" beside the token: put the engine's options under "options"/);
  stray.end();
  await stray.ended;
  await listener.close();
});

test('a server without a token takes those of clients that have one', async () => {
  const { listener, port, seen } = await listen();
  const initializationOptions = withToken(TOKEN, { colour: 'red' });
  await (await startClient(port, { initializationOptions })).dispose?.(cleanup());
  assert.equal(seen.options, [{ colour: 'red' }]);
  await listener.close();
});

test('a malformed greeting never shows the token in the log', async ({ signal }) => {
  const { listener, port, lines } = await listen({ token: TOKEN });
  const raw = await rawClient(port);
  const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":"${TOKEN}" oops}}`;
  raw.write(`Content-Length: ${body.length}\r\n\r\n${body}${TOKEN}\r\n\r\n`);
  await raw.receive();
  raw.end();
  await lineThat(lines, /left without goodbye after [\d.]+ s; \d malformed messages$/, signal);
  assert.not.match(lines.join('\n'), /correct|staple/);
  await raw.ended;
  await listener.close();
});

test('clients that vanish in the middle of a call leave a free engine', async ({ signal }) => {
  const { listener, port, seen, lines } = await listen({ maxConnections: 1 });
  const ways: readonly ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.end(),
  ];
  for (const [index, vanish] of ways.entries()) {
    const way = breakable(port);
    const client = await startClient(port, { transport: way.transport });
    const acting = rejects(async () => tap(client));
    await until(() => seen.hanging === 1, signal);
    vanish(way.socket());
    await acting;
    await until(() => seen.disposed === index + 1 && listener.connections.length === 0, signal);
    await client.dispose?.(cleanup());
  }
  assert.equal([seen.hanging, seen.endedAttempts], [0, 3]);
  await until(() => lines.length === 3, signal);
  for (const line of lines) assert.match(line, /worker (left without goodbye|was lost \(ECONN)/);
  await listener.close();
});

/** A raw client that was let in and initialised. */
async function admitted(port: number): Promise<RawClient> {
  const raw = await rawClient(port);
  assert.ok('result' in (await raw.ask('initialize', hello())));
  return raw;
}

test('a client that says nothing is asked, and dropped when it does not answer', async ({
  signal,
}) => {
  const clock = createFakeClock();
  const { listener, port, lines } = await listen({ clock, silenceTimeoutMs: 15_000 });
  const raw = await admitted(port);
  const asking = raw.receive();
  await clock.advance(7000);
  raw.send({ jsonrpc: '2.0', method: 'initialized', params: {} });
  raw.send({ jsonrpc: '2.0', id: 'x', method: '$/ping' });
  const early = await asking;
  assert.is(early['id'], 'x', 'nobody asked before half of the time');
  const question = raw.receive();
  await clock.advance(7600);
  const ping = await question;
  assert.is(ping['method'], '$/ping');
  // Any answer is life.
  raw.send({ jsonrpc: '2.0', id: ping['id'], error: { code: -32601, message: 'no such method' } });
  await until(() => raw.socket.bytesWritten > 0, signal);
  raw.send({ jsonrpc: '2.0', id: 'y', method: '$/ping' });
  assert.is((await raw.receive())['id'], 'y');
  await clock.advance(14_000);
  assert.is(listener.connections.length, 1);
  // Half a packet, and never the rest.
  raw.write('Content-Length: 1000\r\n\r\n{"jsonrpc":');
  await clock.runUntil(() => listener.connections.length === 0);
  await raw.ended;
  await lineThat(lines, /worker vanished: nothing was heard of it for 15000 ms after/, signal);
  raw.socket.destroy();
  await listener.close();
  assert.is(clock.pending, 0);
});

test('strangers who say nothing, or never finish a greeting, are dropped in time', async ({
  signal,
}) => {
  const clock = createFakeClock();
  const { listener, port, lines, seen } = await listen({ clock, helloTimeoutMs: 10_000 });
  const silent = await rawClient(port);
  const half = await rawClient(port);
  half.write('Content-Length: 100\r\n\r\n{"half":');
  const pinging = await rawClient(port);
  assert.is(errorOf(await pinging.ask('$/ping')).code, -32002);
  await clock.runUntil(() => lines.length === 3);
  for (const { ended, socket } of [silent, half, pinging]) {
    await ended;
    socket.destroy();
  }
  for (const line of lines) assert.match(line, /was not let in within 10000 ms/);
  const flood = await rawClient(port);
  flood.write(`Content-Length: 60000000\r\n\r\n${'x'.repeat(2_000_000)}`);
  await flood.ended;
  await lineThat(lines, /sent too much before it was let in/, signal);
  flood.socket.destroy();
  await listener.close();
  assert.is(seen.made, 0);
  assert.is(clock.pending, 0);
});

test('a crowd of strangers keeps nobody out', async ({ signal }) => {
  const { listener, port, lines } = await listen();
  const crowd = await Promise.all(Array.from({ length: 80 }, () => rawClient(port)));
  await (await startClient(port)).dispose?.(cleanup());
  await until(
    () => lines.filter((line) => /too many wait to be let in/.test(line)).length >= 16,
    signal,
  );
  await listener.close();
  for (const { socket } of crowd) socket.destroy();
});

test('rubbish is counted, not quoted, and hurts nobody', async ({ signal }) => {
  const { listener, port, lines } = await listen();
  const client = await startClient(port);
  for (const rubbish of [
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    '\0\x01\xff'.repeat(1000),
    '{}\n[]\n',
  ]) {
    const raw = await rawClient(port);
    raw.write(rubbish);
    raw.end();
    await raw.ended;
  }
  await until(() => lines.length === 3, signal);
  assert.not.match(lines.join('\n'), /GET|Host/);
  await client.observe?.(operation());
  await client.dispose?.(cleanup());
  await listener.close();
});

test('who ends its side still gets its answers', async () => {
  const { listener, port } = await listen();
  const raw = await admitted(port);
  raw.send({ jsonrpc: '2.0', id: 2, method: 'shutdown' });
  raw.end();
  assert.is((await raw.receive())['id'], 2);
  await raw.ended;
  await listener.close();
});

async function drained(): Promise<
  TestListener & { readonly busy: EngineHandle; readonly acting: Promise<Error> }
> {
  const listening = await listen();
  const busy = await startClient(listening.port);
  const acting = rejects(async () => tap(busy)) as Promise<Error>;
  return { ...listening, busy, acting };
}

test('close: the idle end at once, an attempt may end, and nobody comes in any more', async ({
  signal,
}) => {
  const { listener, port, seen, lines } = await listen();
  const idle = clientOf(port);
  await idle.init?.(initInfo());
  const busy = await startClient(port);
  const closing = listener.close({ drainMs: 1_000_000 });
  await lineThat(lines, /was ended by the server, which is shutting down/, signal);
  assert.is(listener.connections.length, 1);
  await rejects(() => clientOf(port).init?.(initInfo()), /ECONNREFUSED/);
  // What it was let in for goes on.
  await busy.observe?.(operation());
  assert.is(seen.endedAttempts, 0);
  await busy.endAttempt?.(cleanup());
  await closing;
  assert.equal([seen.endedAttempts, seen.disposed], [1, 2]);
  await idle.dispose?.(cleanup());
  await busy.dispose?.(cleanup());
});

test('close: when the time is up, calls end with the reason', async ({ signal }) => {
  for (const drainMs of [0, 30]) {
    const { listener, seen, busy, acting } = await drained();
    await until(() => seen.hanging === 1, signal);
    await listener.close({ drainMs });
    assert.match((await acting).message, /The server is shutting down/);
    assert.equal([seen.hanging, seen.endedAttempts, seen.disposed], [0, 1, 1]);
    await busy.dispose?.(cleanup());
  }
});

test('close again hurries; so does the signal', async ({ signal }) => {
  const first = await drained();
  await until(() => first.seen.hanging === 1, signal);
  const slow = first.listener.close({ drainMs: 1_000_000 });
  await first.listener.close({ drainMs: 0 });
  await slow;
  await first.acting;
  await first.busy.dispose?.(cleanup());

  const controller = new AbortController();
  const second = await listen({ signal: controller.signal });
  const client = await startClient(second.port);
  controller.abort(new Error('enough'));
  await until(() => second.seen.disposed === 1, signal);
  await second.listener.close();
  await client.dispose?.(cleanup());
  const reason = new Error('never');
  assert.is(await rejects(listen({ signal: AbortSignal.abort(reason) })), reason);
});

test('a log or an error listener that throws breaks nothing', async () => {
  const { listener, port } = await listen({
    log: () => {
      throw new Error('the disk is full');
    },
    onError: () => {
      throw new Error('so is this one');
    },
  });
  const raw = await rawClient(port);
  raw.write('rubbish\n\n');
  raw.end();
  await raw.ended;
  await (await startClient(port)).dispose?.(cleanup());
  await listener.close();
});

test('an address that cannot be listened on is named, with what to do', async () => {
  const { listener, port } = await listen();
  const taken = await rejects(listen({ port }), /listens there already: choose another port/);
  assert.is(taken.code, 'INVALID_CONFIG');
  assert.match(taken.message, new RegExp(`127\\.0\\.0\\.1:${port}.*\\(EADDRINUSE\\)`));
  await rejects(listen({ host: '192.0.2.1' }), /has no such address.*\(EADDRNOTAVAIL\)/);
  await listener.close();
});

test('malformed options are refused, by name', async () => {
  const refuses = async (options: object, pattern: RegExp): Promise<void> => {
    const error = await rejects(listen(options as Partial<ListenEngineOptions>), pattern);
    assert.is(error.code, 'INVALID_CONFIG');
    assert.not.match(error.message, 'secret word');
  };
  await refuses({ engine: {} }, /engine must be what defineEngine returns/);
  await refuses({ port: 70_000 }, /port must be 0 to 65535/);
  await refuses({ host: '' }, /host must be/);
  await refuses({ maxConnection: 1 }, /did you mean "maxConnections"/);
  await refuses({ maxConnections: 0 }, /maxConnections must be a whole number above 0, not 0/);
  await refuses({ maxConnections: 1.5 }, /not 1\.5/);
  await refuses({ token: '' }, /token must be text without white space/);
  await refuses({ token: 'my secret word' }, /token must be text/);
  await refuses({ helloTimeoutMs: 0 }, /helloTimeoutMs must be/);
  await refuses({ silenceTimeoutMs: Number.NaN }, /silenceTimeoutMs must be/);
  assert.throws(() => withToken('two words'), /withToken: the token must be text/);
});

/** The warnings of this process while `body` runs. */
async function warnings(body: () => Promise<void>): Promise<{ code?: string; message: string }[]> {
  const heard: { code?: string; message: string }[] = [];
  const listener = (warning: Error): void => void heard.push(warning);
  process.on('warning', listener);
  try {
    await body();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('warning', listener);
  }
  return heard;
}

test('a plain wire to other machines warns once at either end, one on this machine never', async () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
  const quiet = await warnings(async () => {
    const { listener, port } = await listen();
    await (await startClient(port)).dispose?.(cleanup());
    await listener.close();
  });
  assert.equal(quiet, []);
  let port = 0;
  const heard = await warnings(async () => {
    const first = await listen({ host: '0.0.0.0' });
    port = first.port;
    if (outside !== undefined) {
      const transport = socketTransport({ host: outside, port });
      await (await startClient(port, { transport })).dispose?.(cleanup());
      await (await startClient(port, { transport })).dispose?.(cleanup());
    }
    await first.listener.close();
    await (await listen({ host: '0.0.0.0', port })).listener.close();
  });
  const plain = heard.filter(({ code }) => code === 'ENGINEWRIGHT_PLAIN_TCP');
  assert.is(plain.length, outside === undefined ? 1 : 2);
  assert.match(
    plain[0]?.message ?? '',
    new RegExp(`^listenEngine: 0\\.0\\.0\\.0:${port} .*--tls-cert`),
  );
  if (outside !== undefined)
    assert.match(plain[1]?.message ?? '', /^socketTransport: .*tlsTransport/);
  assert.equal(
    heard.filter((warning) => !plain.includes(warning)).map(({ code }) => code),
    ['ENGINEWRIGHT_OPEN_SERVER'],
  );
});

test.run();
