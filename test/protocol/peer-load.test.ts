// A peer under load: how much it does in one turn of the loop, what happens when it is written to
// while it reads, and whose memory is used when. Time is a clock that only the handlers move, so
// that a slice is a number of messages and not a matter of the machine.
import { PassThrough, Writable } from 'node:stream';
import { systemClock, type Clock } from '../../core/base/clock.ts';
import { createDecoder } from '../../core/protocol/framing.ts';
import { encodePacket, PacketWriter } from '../../core/protocol/framing-writer.ts';
import { readMessage } from '../../core/protocol/messages.ts';
import { createPeer, type PeerOptions } from '../../core/protocol/peer.ts';
import { memoryStreams } from '../../core/protocol/transports/index.ts';
import { assert, suite } from '../harness.ts';
import { createRandom } from './fuzz-support.ts';

const test = suite('peer under load');

/** What a turn may take, ms, the data that comes in and the rest of earlier data together. */
const TURN_MS = 10;

interface Load {
  readonly clock: Clock;
  /** A handler works for so long, ms. */
  work(ms: number): void;
  /** Work done in each turn of the loop so far, ms, turns without any left out. */
  turns(): readonly number[];
  stop(): void;
}

function load(): Load {
  let now = 0;
  let atTurnStart = 0;
  let running = true;
  const turns: number[] = [];
  const onTurn = (): void => {
    if (now > atTurnStart) turns.push(now - atTurnStart);
    atTurnStart = now;
    if (running) setImmediate(onTurn);
  };
  setImmediate(onTurn);
  return {
    clock: {
      now: () => now,
      iso: () => systemClock.iso(),
      setTimer: (ms, callback, options) => systemClock.setTimer(ms, callback, options),
    },
    work(ms) {
      now += ms;
    },
    turns: () => turns,
    stop() {
      running = false;
    },
  };
}

function reader(options: Partial<PeerOptions>): PassThrough {
  const input = new PassThrough();
  const output = new Writable({ write: (_chunk, _encoding, callback) => callback() });
  createPeer({
    streams: { input, output },
    onRequest: () => null,
    onNotification: () => undefined,
    ...options,
  });
  return input;
}

async function until(condition: () => boolean, signal: AbortSignal): Promise<void> {
  while (!condition()) {
    signal.throwIfAborted();
    await new Promise(setImmediate);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const packets = (count: number, make: (index: number) => object): Buffer[] =>
  Array.from({ length: count }, (_, index) =>
    encodePacket(JSON.stringify({ jsonrpc: '2.0', ...make(index) })),
  );

for (const [name, cut] of [
  ['one chunk', (all: readonly Buffer[]) => [Buffer.concat(all)]],
  ['many chunks of one turn', (all: readonly Buffer[]) => all],
] as const) {
  for (const ms of [0.25, 3]) {
    test(`a burst in ${name}, ${ms} ms each, takes 10 ms of a turn`, async ({ signal }) => {
      const { clock, work, turns, stop } = load();
      const seen: unknown[] = [];
      const input = reader({
        clock,
        onNotification(_method, params) {
          seen.push((params as number[])[0]);
          work(ms);
        },
      });
      const count = 600;
      for (const chunk of cut(packets(count, (index) => ({ method: 'n', params: [index] })))) {
        input.write(chunk);
      }
      await until(() => seen.length === count, signal);
      await until(() => turns().reduce((sum, turn) => sum + turn, 0) >= count * ms, signal);
      stop();
      assert.equal(
        seen,
        Array.from({ length: count }, (_, index) => index),
      );
      assert.ok(Math.max(...turns()) <= TURN_MS, `a turn of ${Math.max(...turns())} ms`);
      // It does use its time: it is not one message per turn.
      assert.ok(turns().length <= Math.ceil((count * ms) / Math.min(3, ms * 10)), turns().join());
    });
  }
}

test('work that messages set off in microtasks is bounded by their number', async ({ signal }) => {
  const { clock, work, turns, stop } = load();
  let done = 0;
  const input = reader({
    clock,
    async onRequest() {
      await Promise.resolve();
      work(0.03);
      done += 1;
    },
  });
  const count = 3000;
  input.write(Buffer.concat(packets(count, (id) => ({ id, method: 'm' }))));
  await until(() => done === count, signal);
  await new Promise(setImmediate);
  stop();
  assert.ok(Math.max(...turns()) <= TURN_MS, `a turn of ${Math.max(...turns())} ms`);
});

test('many peers share the turn, and each gets on', async ({ signal }) => {
  const { clock, work, turns, stop } = load();
  const peers = 20;
  const count = 60;
  const seen = Array.from({ length: peers }, () => 0);
  const inputs = seen.map((_, index) =>
    reader({
      clock,
      onNotification() {
        seen[index] = (seen[index] ?? 0) + 1;
        work(0.2);
      },
    }),
  );
  const burst = Buffer.concat(packets(count, () => ({ method: 'n' })));
  for (const input of inputs) input.write(burst);
  await until(() => seen.some((one) => one === count), signal);
  // Nobody was left behind while the first one finished.
  assert.ok(Math.min(...seen) > count / 4, seen.join());
  await until(() => seen.every((one) => one === count), signal);
  await new Promise(setImmediate);
  stop();
  assert.ok(Math.max(...turns()) <= TURN_MS, `a turn of ${Math.max(...turns())} ms`);
});

test('what comes in while a message is dispatched is read after its chunk', async ({ signal }) => {
  const [near, far] = memoryStreams();
  const seen: string[] = [];
  const long = 'x'.repeat(20_000);
  const other = createPeer({
    streams: far,
    onRequest: () => null,
    onNotification() {
      other.notify('nested', [long]);
      other.notify('cut', [long.slice(0, 3000)]);
    },
  });
  other.notify('first');
  other.notify('second');
  await turn();
  // A long message leaves at once, and streams in memory hand it on at once: the answer to what
  // the first notification sends is here before the second one is dispatched.
  const peer = createPeer({
    streams: near,
    onRequest: () => null,
    onNotification(method) {
      seen.push(method);
      if (method === 'first') peer.notify('ask', [long]);
      if (method === 'first') seen.push('asked');
    },
    onError: (error) => seen.push(error.message),
  });
  await until(() => seen.includes('cut'), signal);
  assert.equal(seen, ['first', 'asked', 'second', 'nested', 'cut']);
  await peer.close();
});

test('the end of the input while a message is dispatched comes after its chunk', async () => {
  const seen: string[] = [];
  const input = new PassThrough();
  const output = new Writable({ write: (_chunk, _encoding, callback) => callback() });
  const peer = createPeer({
    streams: { input, output },
    onRequest: () => null,
    onNotification(method) {
      seen.push(method);
      input.emit('end');
    },
  });
  void peer.closed.then(() => seen.push('closed'));
  input.write(Buffer.concat(packets(2, (index) => ({ method: `n${index}` }))));
  await peer.closed;
  assert.equal(seen, ['n0', 'n1', 'closed']);
});

/** A stream that looks at what it was given as late as it may: just before it calls back. */
function held(): {
  readonly output: Writable;
  readonly places: { readonly memory: ArrayBufferLike; readonly offset: number }[];
  /** Takes one write over; false when there is none. */
  take(): boolean;
  taken(): string;
} {
  const places: { memory: ArrayBufferLike; offset: number }[] = [];
  let waiting: (() => void) | undefined;
  let taken = '';
  const output = new Writable({
    highWaterMark: 1 << 30,
    write(chunk: Buffer, _encoding, callback) {
      places.push({ memory: chunk.buffer, offset: chunk.byteOffset });
      waiting = () => {
        taken += chunk.toString();
        callback();
      };
    },
  });
  return {
    output,
    places,
    take() {
      const one = waiting;
      waiting = undefined;
      one?.();
      return one !== undefined;
    },
    taken: () => taken,
  };
}

function writerOf(output: Writable, reuse: boolean): PacketWriter {
  return new PacketWriter({
    output,
    reuse,
    onProgress: () => undefined,
    onFailure: (error) => assert.unreachable(error.message),
  });
}

test('memory is written over only after the stream has called back', async () => {
  const random = createRandom(7);
  const { output, take, taken } = held();
  const writer = writerOf(output, true);
  const texts: string[] = [];
  for (let index = 0; index < 1500; index += 1) {
    const length = random.int(random.pick([50, 3000, 20_000]));
    const text = `${index} ${random.pick(['a', 'a', '\u00e9', '\u{1f600}']).repeat(length)}`;
    texts.push(text);
    writer.write(text);
    if (random.chance(0.3)) await Promise.resolve();
    if (random.chance(0.3)) await turn();
    for (let left = random.int(4); left > 0 && take(); left -= 1) {
      if (random.chance(0.5)) await turn();
    }
  }
  while (writer.queuedBytes > 0) {
    await turn();
    take();
  }
  assert.ok(taken() === texts.map((text) => encodePacket(text).toString()).join(''));
});

test('a stream that keeps up is written to out of the same memory', async () => {
  const { output, places, take } = held();
  const writer = writerOf(output, true);
  for (let index = 0; index < 50; index += 1) {
    writer.write('x'.repeat(99_000 - index * 1000));
    writer.write('y'.repeat(7000));
    await turn();
    while (take()) await turn();
  }
  const memories = new Set(places.map(({ memory }) => memory));
  assert.is(memories.size, 2, `${places.length} writes`);
});

test('memory of a stream that may hold on to it is not used again', async () => {
  const { output, places, take } = held();
  const writer = writerOf(output, false);
  for (let index = 0; index < 5; index += 1) {
    writer.write('x'.repeat(100_000));
    writer.write('y'.repeat(7000));
    await turn();
    while (take()) await turn();
  }
  const offsets = new Map<ArrayBufferLike, Set<number>>();
  for (const { memory, offset } of places) {
    const known = offsets.get(memory) ?? new Set();
    offsets.set(memory, known.add(offset));
  }
  const different = [...offsets.values()].reduce((sum, { size }) => sum + size, 0);
  assert.is(different, places.length);
});

test('a big body is given back before its text is parsed, and the next one is whole', () => {
  const body = (size: number, fill: string): string => JSON.stringify([fill.repeat(size)]);
  const bodies = [
    body(3_000_000, 'a'),
    body(10, 'b'),
    body(1_500_000, '\u00e9'),
    body(300_000, 'c'),
  ];
  const seen: string[] = [];
  const decoder = createDecoder({
    onPacket(bytes, start, end) {
      const before = bytes.toString('utf8', start, end);
      let left = -1;
      const message = readMessage(bytes, {
        start,
        end,
        release() {
          decoder.release();
          left = bytes.length;
        },
      });
      // An array is no message, but it was read: the excerpt is of its text.
      assert.is(message.kind, 'invalid');
      assert.is(left === 0, before.length > 1_100_000, `${before.length}: ${left} bytes left`);
      seen.push(before);
    },
    onError: (error) => assert.unreachable(error.message),
  });
  const stream = Buffer.concat(bodies.map((text) => encodePacket(text)));
  for (let at = 0; at < stream.length; at += 50_000)
    decoder.write(stream.subarray(at, at + 50_000));
  assert.equal(
    seen.map(({ length }) => length),
    bodies.map(({ length }) => length),
  );
  assert.ok(seen.every((text, index) => text === bodies[index]));
});

test.run();
