// The peer: ids, order, dispatch, refusals, closing. Two peers over memory streams, or one peer
// against literal bytes; no test waits for time to pass, except where a clock is handed in.
import { PassThrough, Readable, Writable } from 'node:stream';
import { createDecoder, isFramingError } from '../../core/protocol/framing.ts';
import { encodePacket } from '../../core/protocol/framing-writer.ts';
import { isRpcError, JSON_RPC, methodNotFound, RpcError } from '../../core/protocol/messages.ts';
import {
  createPeer,
  isConnectionClosedError,
  isLimitError,
  isMessageError,
  type Peer,
  type PeerOptions,
} from '../../core/protocol/peer.ts';
import { memoryStreams } from '../../core/protocol/transports/index.ts';
import { assert, rejects, suite } from '../harness.ts';

const test = suite('peer');

type Handlers = Partial<Omit<PeerOptions, 'streams'>>;

interface End {
  readonly peer: Peer;
  readonly errors: Error[];
  readonly notifications: [string, unknown][];
}

function end(streams: PeerOptions['streams'], handlers: Handlers = {}): End {
  const errors: Error[] = [];
  const notifications: [string, unknown][] = [];
  const peer = createPeer({
    streams,
    onRequest: (method) => {
      throw methodNotFound(method);
    },
    onNotification: (method, params) => notifications.push([method, params]),
    onError: (error) => errors.push(error),
    ...handlers,
  });
  return { peer, errors, notifications };
}

function pair(left: Handlers = {}, right: Handlers = {}): [End, End] {
  const [a, b] = memoryStreams();
  return [end(a, left), end(b, right)];
}

/** One peer, and the raw other side: bytes in, messages out. */
function raw(handlers: Handlers = {}): End & {
  readonly input: PassThrough;
  readonly output: Writable;
  readonly sent: Record<string, unknown>[];
  send(message: unknown): void;
} {
  const input = new PassThrough();
  const sent: Record<string, unknown>[] = [];
  const decoder = createDecoder({
    onPacket: (bytes, start, stop) => {
      sent.push(JSON.parse(bytes.toString('utf8', start, stop)) as Record<string, unknown>);
    },
    onError: (error) => {
      throw error;
    },
  });
  const output = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      decoder.write(chunk);
      callback();
    },
  });
  return {
    ...end({ input, output }, handlers),
    input,
    output,
    sent,
    send: (message) => input.write(encodePacket(JSON.stringify(message))),
  };
}

async function until(condition: () => boolean, signal: AbortSignal): Promise<void> {
  while (!condition()) {
    signal.throwIfAborted();
    await new Promise(setImmediate);
  }
}
const turns = async (count = 5): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

test('a request is answered, both ways, with any JSON', async () => {
  const echo: Handlers = { onRequest: (_method, params) => params };
  const [a, b] = pair(echo, echo);
  assert.equal(await a.peer.request('x', { n: [1, '\u4e16', null] }), { n: [1, '\u4e16', null] });
  assert.equal(await b.peer.request('x', [true]), [true]);
  assert.is(await a.peer.request('x'), null);
  await a.peer.close();
  assert.is((await b.peer.closed).reason, 'remote');
  assert.equal([...a.errors, ...b.errors], []);
});

test('errors cross with code and data, others with their message alone', async () => {
  const [a] = pair(
    {},
    {
      onRequest: async (method) => {
        if (method === 'rpc') throw new RpcError(-32000, 'engine', { type: 'engine' });
        if (method === 'late') {
          await Promise.resolve();
          throw new TypeError('broken');
        }
        if (method === 'odd') throw Object.create(null);
        throw methodNotFound(method);
      },
    },
  );
  const rpc = await rejects(a.peer.request('rpc'));
  assert.ok(isRpcError(rpc));
  assert.equal([rpc.code, rpc.message, rpc.data], [-32000, 'engine', { type: 'engine' }]);
  const late = await rejects(a.peer.request('late'));
  assert.equal([late.code, late.message, late.data], [JSON_RPC.internalError, 'broken', undefined]);
  assert.is((await rejects(a.peer.request('odd'))).code, JSON_RPC.internalError);
  const missing = await rejects(a.peer.request('engine/nope'), /"engine\/nope"/);
  assert.is(missing.code, JSON_RPC.methodNotFound);
});

test('messages leave in the order of the calls and are dispatched in the order they came', async () => {
  const seen: string[] = [];
  const [a] = pair(
    {},
    {
      onRequest: (method) => void seen.push(method),
      onNotification: (method) => void seen.push(method),
    },
  );
  const calls: Promise<unknown>[] = [];
  for (let index = 0; index < 50; index += 1) {
    if (index % 3 === 0) a.peer.notify(`n${index}`, { pad: 'x'.repeat(index * 700) });
    else calls.push(a.peer.request(`r${index}`));
  }
  await Promise.all(calls);
  assert.equal(
    seen,
    Array.from({ length: 50 }, (_, index) => `${index % 3 === 0 ? 'n' : 'r'}${index}`),
  );
});

test('the two id spaces are independent', async () => {
  const handler: Handlers = { onRequest: async (method) => method };
  const [a, b] = pair(handler, handler);
  const answers = await Promise.all([
    a.peer.request('a1'),
    b.peer.request('b1'),
    a.peer.request('a2'),
    b.peer.request('b2'),
  ]);
  assert.equal(answers, ['a1', 'b1', 'a2', 'b2']);
});

test('a handler may call back into its caller, many times over', async () => {
  let depth = 0;
  const handler = (self: () => Peer): Handlers => ({
    onRequest: async (_method, params) => {
      const [left] = params as [number];
      depth = Math.max(depth, left);
      return left === 0 ? 'done' : self().request('down', [left - 1]);
    },
  });
  const [a, b]: [End, End] = pair(
    handler(() => a.peer),
    handler(() => b.peer),
  );
  assert.is(await a.peer.request('down', [200]), 'done');
  assert.is(depth, 200);
});

test('every body that is no message gets its answer, and the connection lives on', async () => {
  const one = raw({ onRequest: () => 'ok' });
  const bodies = [
    '{',
    '[]',
    'null',
    '7',
    '{"jsonrpc":"2.0","id":4,"method":1}',
    '{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"m"}}',
    '{"id":8,"result":1}',
  ];
  for (const body of bodies) one.input.write(encodePacket(body));
  one.send({ jsonrpc: '2.0', id: 'x', method: 'm', unknown: 1 });
  await turns();
  assert.equal(
    one.sent.map(({ id, error, result }) => [
      id,
      (error as { code: number } | undefined)?.code ?? result,
    ]),
    [
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [4, -32600],
      ['x', 'ok'],
    ],
  );
  assert.is(one.errors.length, bodies.length);
  assert.ok(one.errors.every(isMessageError));
});

test('an answer is never answered: no two peers complain to one another for ever', async () => {
  const [a, b] = memoryStreams();
  const left = end(a);
  a.output.write(encodePacket('nonsense'));
  const right = end(b);
  await turns(20);
  assert.is(right.errors.length, 1);
  assert.is(left.errors.length, 1);
  assert.match(left.errors[0]!.message, /could not read a message/);
});

test('a malformed answer fails its call, and a second or unknown one is complained of', async () => {
  const one = raw();
  const calls = ['a', 'b', 'c', 'd'].map((method) => one.peer.request(method));
  await turns();
  one.input.write(encodePacket('{"id":1,"result":1}'));
  one.input.write(encodePacket('{"jsonrpc":"2.0","id":2}'));
  one.input.write(encodePacket('{"jsonrpc":"2.0","id":3,"error":{}}'));
  one.send({ jsonrpc: '2.0', id: 4, result: 'fine' });
  one.send({ jsonrpc: '2.0', id: 4, result: 'again' });
  one.send({ jsonrpc: '2.0', id: '4', result: 'text' });
  for (const call of calls.slice(0, 3)) assert.ok(isMessageError(await rejects(call)));
  assert.is(await calls[3], 'fine');
  await turns();
  // Three malformed ones, a second answer, and one with the id as a string; none of it is answered.
  assert.is(one.errors.length, 5);
  assert.match(one.errors[3]!.message, /answered 4, which nobody waits for/);
  assert.match(one.errors[4]!.message, /answered "4"/);
  assert.is(one.sent.length, 4);
});

test('a length counted in characters is one complaint', async () => {
  const one = raw({ onRequest: () => 'ok' });
  const body = '{"jsonrpc":"2.0","id":1,"method":"\u00e9\u00e9"}';
  one.input.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  one.send({ jsonrpc: '2.0', id: 2, method: 'm' });
  await turns();
  assert.is(one.errors.length, 1);
  assert.equal(
    one.sent.map(({ id, result }) => [id, result]),
    [
      [null, undefined],
      [2, 'ok'],
    ],
  );
});

test('junk is reported, and what is around it arrives', async () => {
  const one = raw({ onRequest: () => 'ok' });
  one.input.write('Listening...\n');
  one.send({ jsonrpc: '2.0', id: 1, method: 'm' });
  await turns();
  assert.is(one.sent.length, 1);
  assert.ok(isFramingError(one.errors[0]));
  assert.is(one.errors[0]!.bytes.toString(), 'Listening...\n');
});

test('junk that nothing follows is reported when the connection closes', async () => {
  const one = raw();
  one.input.write('usage: kiosk [port]\n');
  await turns();
  await one.peer.close();
  assert.is(one.errors.length, 1);
  assert.match(one.errors[0]!.message, /usage: kiosk/);
});

test('strict: junk closes the connection', async () => {
  const one = raw({ strict: true });
  const call = one.peer.request('m');
  one.input.write('hello\n');
  one.send({ jsonrpc: '2.0', id: 1, result: 1 });
  const error = await rejects(call, /^m has no answer: /);
  assert.ok(isConnectionClosedError(error));
  const closure = await one.peer.closed;
  assert.is(closure.reason, 'failed');
  assert.ok(isFramingError(closure.error));
});

test('a failed connection ends its output at once, whatever is still open', async () => {
  const one = raw({ strict: true, onRequest: () => new Promise(() => undefined) });
  one.send({ jsonrpc: '2.0', id: 1, method: 'm' });
  await turns();
  assert.not(one.output.writableEnded);
  one.input.write('hello\n');
  one.send({ jsonrpc: '2.0', method: 'n' });
  await one.peer.closed;
  assert.ok(one.output.writableEnded);
});

test('an abort rejects at once with its reason; the late answer is expected', async () => {
  const answers: (() => void)[] = [];
  const [a] = pair(
    {},
    {
      onRequest: (_method, params) => new Promise((resolve) => answers.push(() => resolve(params))),
    },
  );
  const controller = new AbortController();
  const reason = new Error('enough');
  const call = a.peer.request('slow', {}, { signal: controller.signal });
  await turns();
  controller.abort(reason);
  assert.is(await rejects(call), reason);
  assert.is(a.peer.pendingRequests, 0);
  assert.is(a.peer.owedAnswers, 1);
  answers[0]!();
  await turns();
  assert.is(a.peer.owedAnswers, 0);
  assert.equal(a.errors, []);
  // Aborted before: nothing is sent.
  assert.is(
    await rejects(a.peer.request('slow', {}, { signal: AbortSignal.abort(reason) })),
    reason,
  );
  await turns();
  assert.is(answers.length, 1);
});

test('a late answer after forgetAborted is no surprise either', async () => {
  const one = raw();
  const controller = new AbortController();
  const call = one.peer.request('slow', {}, { signal: controller.signal });
  controller.abort();
  await rejects(call);
  one.peer.forgetAborted();
  assert.is(one.peer.owedAnswers, 0);
  one.send({ jsonrpc: '2.0', id: 1, result: 1 });
  one.send({ jsonrpc: '2.0', id: 2, result: 1 });
  await turns();
  assert.is(one.errors.length, 1);
  assert.match(one.errors[0]!.message, /answered 2/);
});

test('no listener is left on a signal', async () => {
  const [a] = pair({}, { onRequest: () => 1 });
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = ((...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  }) as typeof add;
  signal.removeEventListener = ((...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  }) as typeof remove;
  for (let index = 0; index < 100; index += 1) await a.peer.request('m', {}, { signal });
  assert.is(listeners, 0);
  const open = a.peer.request('m', {}, { signal });
  const closing = a.peer.close();
  await rejects(open);
  await closing;
  assert.is(listeners, 0);
});

test('closing settles every call once, naming its method', async () => {
  const [a, b] = pair({}, { onRequest: () => new Promise(() => undefined) });
  const calls = ['engine/observe', 'engine/perform'].map((method) => a.peer.request(method));
  await turns();
  assert.is(b.peer.openRequests, 2);
  await a.peer.close('the attempt is over');
  const error = await rejects(calls[0]!, /^engine\/observe has no answer: .*the attempt is over/);
  assert.is(error.method, 'engine/observe');
  assert.ok(isConnectionClosedError(await rejects(calls[1]!, /^engine\/perform/)));
  assert.is((await a.peer.closed).reason, 'local');
  assert.is((await b.peer.closed).reason, 'remote');
  // Later calls reject, later notifications vanish, a second close changes nothing.
  assert.ok(isConnectionClosedError(await rejects(a.peer.request('late'))));
  a.peer.notify('late');
  await a.peer.close('again');
  assert.is((await a.peer.closed).detail.includes('again'), false);
});

test('what was queued is still sent before the close', async () => {
  const [a, b] = pair();
  for (let index = 0; index < 100; index += 1) a.peer.notify('n', { index, pad: 'x'.repeat(3000) });
  await a.peer.close();
  await b.peer.closed;
  assert.is(b.notifications.length, 100);
  assert.equal(b.errors, []);
});

test('close waits for the last write to be taken over', async () => {
  let taken = 0;
  let release: (() => void) | undefined;
  const output = new Writable({
    write(_chunk, _encoding, callback) {
      taken += 1;
      release = callback;
    },
  });
  const { peer } = end({ input: new PassThrough(), output });
  peer.notify('n', { pad: 'x'.repeat(200_000) });
  let closed = false;
  const closing = peer.close().then(() => {
    closed = true;
  });
  await turns();
  assert.equal([taken, closed], [1, false]);
  release?.();
  await closing;
});

test('the end of the other side ends calls; open requests may still be answered', async () => {
  const answers: ((value: unknown) => void)[] = [];
  const one = raw({ onRequest: () => new Promise((resolve) => answers.push(resolve)) });
  one.send({ jsonrpc: '2.0', id: 7, method: 'm' });
  const call = one.peer.request('mine');
  await turns();
  one.input.end();
  assert.is((await rejects(call)).closure.reason, 'remote');
  assert.is((await one.peer.closed).reason, 'remote');
  assert.not(one.output.writableEnded);
  answers[0]!('done');
  await turns();
  assert.equal(one.sent.at(-1), { jsonrpc: '2.0', id: 7, result: 'done' });
  assert.ok(one.output.writableEnded);
});

test('a packet cut off by the end is an error', async () => {
  const one = raw();
  const call = one.peer.request('m');
  one.input.end('Content-Length: 50\r\n\r\n{"jsonrpc"');
  await rejects(call, /stream ended inside a packet: 10 of the 50 bytes/);
  const { reason, error } = await one.peer.closed;
  assert.is(reason, 'failed');
  assert.ok(isFramingError(error) && error.code === 'truncated');
});

test('a dead pipe: one rejection per call, one closing, nothing unhandled', async () => {
  const input = new PassThrough();
  const failure = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
  const output = new Writable({
    write(_chunk, _encoding, callback) {
      setImmediate(() => callback(failure));
    },
  });
  const { peer } = end({ input, output });
  let closings = 0;
  void peer.closed.then(() => {
    closings += 1;
  });
  const calls = Array.from({ length: 5 }, (_, index) => peer.request(`m${index}`));
  const outcomes = Promise.allSettled(calls);
  await turns();
  const late = peer.request('late');
  assert.ok(isConnectionClosedError(await rejects(late, /EPIPE/)));
  peer.notify('late');
  // What the other side said before it died is read to its end.
  input.end(encodePacket('{"jsonrpc":"2.0","id":2,"result":"last word"}'));
  const settled = await outcomes;
  assert.equal(
    settled.map(({ status }) => status),
    ['rejected', 'fulfilled', 'rejected', 'rejected', 'rejected'],
  );
  const { reason, error } = await peer.closed;
  assert.equal([reason, error, closings], ['failed', failure, 1]);
});

test('an output that was merely closed does not make the end of the input a failure', async () => {
  const one = raw();
  const call = rejects(one.peer.request('m'));
  one.output.destroy();
  await turns();
  one.input.end();
  await call;
  assert.is((await one.peer.closed).reason, 'remote');
});

test('a stream that throws in write fails the connection, not the caller', async () => {
  const output = new Writable();
  output.write = () => {
    throw new Error('no such stream');
  };
  const input = new PassThrough();
  const { peer } = end({ input, output });
  const call = peer.request('m');
  const outcome = rejects(call, /no such stream/);
  await turns();
  input.end();
  await outcome;
});

test('an input that fails closes the connection with its error', async () => {
  const one = raw();
  const call = one.peer.request('m');
  const failure = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  const outcome = rejects(call, /ECONNRESET/);
  one.input.destroy(failure);
  assert.is((await outcome).cause, failure);
  assert.is((await one.peer.closed).error, failure);
});

test('streams that are over already close the peer', async () => {
  const input = Readable.from([]);
  input.resume();
  await new Promise((resolve) => input.once('close', resolve));
  const { peer } = end({ input, output: new PassThrough() });
  assert.is((await peer.closed).reason, 'remote');
});

test('a result that cannot be sent is an error answer with the path', async () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = { deep };
  const results: Record<string, unknown> = { nan: { rect: [Number.NaN] }, deep, fine: undefined };
  const [a] = pair({}, { onRequest: (method) => results[method] });
  const nan = await rejects(
    a.peer.request('nan'),
    /^The result of nan cannot be sent: result\.rect\[0\] is NaN/,
  );
  assert.is(nan.code, JSON_RPC.internalError);
  await rejects(a.peer.request('deep'), /nested deeper/);
  assert.is(await a.peer.request('fine'), null);
});

test('error data that cannot be sent is left out, the code stays', async () => {
  const [a] = pair(
    {},
    {
      onRequest: () => {
        throw new RpcError(-32000, 'engine', { size: 1n });
      },
    },
  );
  const error = await rejects(
    a.peer.request('m'),
    /^engine \(its data cannot be sent: error\.data\.size/,
  );
  assert.equal([error.code, error.data], [-32000, undefined]);
});

test('params that cannot be sent reject the call and send nothing', async () => {
  const one = raw();
  await rejects(
    one.peer.request('m', { at: new Date(0) }),
    /^m cannot be sent: params\.at is a Date/,
  );
  await rejects(one.peer.request('m', 'text'), /params of m must be an object or an array/);
  one.peer.notify('n', [1n]);
  await turns();
  assert.is(one.sent.length, 0);
  assert.match(one.errors[0]!.message, /^n cannot be sent: params\[0\]/);
});

test('a message over maxMessageBytes is refused whole, whoever sends it', async () => {
  const caps = { maxMessageBytes: 1000 };
  const [a, b] = pair({ caps }, { onRequest: () => '\u4e16'.repeat(500), caps });
  const error = await rejects(
    a.peer.request('m', ['x'.repeat(1000)]),
    /of m is over the limit of 1000 \(maxMessageBytes\)/,
  );
  assert.ok(isLimitError(error) && error.cap === 'maxMessageBytes');
  await rejects(a.peer.request('m'), /^The result of m cannot be sent: .*maxMessageBytes/);
  a.peer.notify('n', ['x'.repeat(1000)]);
  assert.match(a.errors[0]!.message, /maxMessageBytes/);
  assert.equal(b.notifications, []);
});

test('one request over maxInboundRequests is refused, by name', async () => {
  const release: ((value: unknown) => void)[] = [];
  const one = raw({
    caps: { maxInboundRequests: 2 },
    onRequest: (method) =>
      method === 'back' ? 'ok' : new Promise((resolve) => release.push(resolve)),
  });
  // An own call waits, so that reading may not be held back.
  void one.peer.request('mine').catch(() => undefined);
  for (let id = 1; id <= 3; id += 1) one.send({ jsonrpc: '2.0', id, method: 'm' });
  await turns();
  const refusals = one.sent.filter(({ id }) => id === 3).map(({ error }) => error as RpcError);
  assert.equal(
    refusals.map(({ code }) => code),
    [JSON_RPC.limitExceeded],
  );
  assert.match(refusals[0]!.message, /maxInboundRequests/);
  assert.ok(isLimitError(one.errors[0]));
  for (const settle of release) settle('late');
  await turns();
  assert.equal(
    one.sent.filter(({ result }) => result === 'late').map(({ id }) => id),
    [1, 2],
  );
  await one.peer.close();
});

test('many requests are held back instead of refused while nothing is asked here', async ({
  signal,
}) => {
  let open = 0;
  let most = 0;
  const one = raw({
    caps: { maxInboundRequests: 10 },
    onRequest: async () => {
      open += 1;
      most = Math.max(most, open);
      await turns(2);
      open -= 1;
    },
  });
  for (let id = 1; id <= 200; id += 1) one.send({ jsonrpc: '2.0', id, method: 'm' });
  await until(() => one.sent.length === 200, signal);
  assert.is(most, 10);
  assert.ok(one.sent.every(({ error }) => error === undefined));
});

test('a stream that goes while it is held back is noticed at once', async () => {
  // A clock whose timers never ring: only the stream's end can go on.
  const clock = { now: () => 0, iso: () => '', setTimer: () => () => undefined };
  const one = raw({
    clock,
    caps: { maxInboundRequests: 1 },
    onRequest: () => new Promise(() => undefined),
  });
  for (let id = 1; id <= 3; id += 1) one.send({ jsonrpc: '2.0', id, method: 'm' });
  await turns();
  assert.is(one.peer.openRequests, 1);
  one.input.destroy();
  await one.peer.closed;
  // What had been read before is not passed over: it is over the cap now, and told so.
  assert.ok(one.errors.every(isLimitError));
});

test('a side that does not read: calls over maxQueuedBytes reject, an answer ends it', async () => {
  const input = new PassThrough();
  const output = new Writable({ write: () => undefined });
  const { peer } = end(
    { input, output },
    { caps: { maxQueuedBytes: 10_000 }, onRequest: () => 'x'.repeat(6000) },
  );
  const first = peer.request('a', ['x'.repeat(6000)]);
  const outcome = rejects(first, /maxQueuedBytes/);
  const error = await rejects(peer.request('b', ['x'.repeat(6000)]), /does not read/);
  assert.ok(isLimitError(error) && error.cap === 'maxQueuedBytes');
  input.write(encodePacket('{"jsonrpc":"2.0","id":1,"method":"m"}'));
  const closure = await peer.closed;
  assert.ok(closure.reason === 'failed' && isLimitError(closure.error));
  await outcome;
  output.destroy();
});

test('both sides write a lot before they read', async ({ signal }) => {
  const size = 300;
  const pad = 'x'.repeat(20_000);
  const handler: Handlers = { onRequest: () => pad };
  const [a, b] = pair(handler, handler);
  const calls = [a, b].flatMap(({ peer }) =>
    Array.from({ length: size }, () => peer.request('m', [pad])),
  );
  signal.throwIfAborted();
  assert.is((await Promise.all(calls)).length, 2 * size);
});

test('a burst does not stall the loop, and stays in order', async ({ signal }) => {
  const one = raw();
  const count = 40_000;
  const packets = Array.from({ length: count }, (_, index) =>
    encodePacket(`{"jsonrpc":"2.0","method":"n","params":[${index}]}`),
  );
  let turnsSeen = 0;
  let counting = true;
  const count1 = (): void => {
    turnsSeen += 1;
    if (counting) setImmediate(count1);
  };
  setImmediate(count1);
  one.input.write(Buffer.concat(packets));
  await until(() => one.notifications.length === count, signal);
  counting = false;
  assert.ok(one.notifications.every(([, params], index) => (params as number[])[0] === index));
  // Other work ran in between; how often depends on the machine.
  assert.ok(turnsSeen >= 2, `${turnsSeen} turns`);
});

test('a notification handler that throws is a complaint, not an end', async () => {
  const one = raw({
    onNotification: () => {
      throw new Error('handler');
    },
    onRequest: () => 'ok',
  });
  one.send({ jsonrpc: '2.0', method: '$/unknown' });
  one.send({ jsonrpc: '2.0', id: 1, method: 'm' });
  await turns();
  assert.equal(
    one.errors.map(({ message }) => message),
    ['handler'],
  );
  assert.is(one.sent.length, 1);
});

test('close inside a handler stops the dispatch', async () => {
  const seen: string[] = [];
  const one = raw({
    onNotification: (method) => {
      seen.push(method);
      void one.peer.close();
    },
  });
  one.input.write(
    Buffer.concat(
      ['a', 'b'].map((method) => encodePacket(`{"jsonrpc":"2.0","method":"${method}"}`)),
    ),
  );
  await one.peer.closed;
  await turns();
  assert.equal(seen, ['a']);
});

test('lastInboundAt follows the bytes', async () => {
  let now = 5;
  const clock = { now: () => now, iso: () => '', setTimer: () => () => undefined };
  const one = raw({ clock });
  assert.is(one.peer.lastInboundAt, 5);
  now = 9;
  one.input.write('C');
  await turns();
  assert.is(one.peer.lastInboundAt, 9);
});

test.run();
