// The fuzzer. ENGINEWRIGHT_FUZZ_SECONDS says how long (default 10, with CI set 60), and
// ENGINEWRIGHT_FUZZ_SEED where it begins; a failure names the seed of its case, which is then the
// first one. For a long run give the runner time: `ENGINEWRIGHT_FUZZ_SECONDS=3600 node
// scripts/test.mjs --file-limit=4000000 fuzz`. A hang ends at the file's limit, and an unhandled
// rejection fails the file.
import { Buffer } from 'node:buffer';
import { setMaxListeners } from 'node:events';
import process from 'node:process';
import { PassThrough, Transform, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { createDecoder, type FramingError } from '../../core/protocol/framing.ts';
import { methodNotFound } from '../../core/protocol/messages.ts';
import { createPeer, type Peer } from '../../core/protocol/peer.ts';
import { memoryStreams } from '../../core/protocol/transports/index.ts';
import { assert, suite } from '../harness.ts';
import { anyJson, badMessage } from './fuzz-messages.ts';
import {
  createRandom,
  cutUp,
  makeStream,
  MAX_HEADER_BYTES,
  MAX_MESSAGE_BYTES,
  mutate,
  packet,
  type FuzzStream,
  type Random,
} from './fuzz-support.ts';

const ci = !['', '0', 'false', undefined].includes(process.env['CI']);
const seconds = Number(process.env['ENGINEWRIGHT_FUZZ_SECONDS'] ?? (ci ? 60 : 10));
const firstSeed = Number(process.env['ENGINEWRIGHT_FUZZ_SEED'] ?? Date.now() % 2 ** 32);
const test = suite('fuzz');

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;
/** What is still held, in bytes. Memory outside of the heap is given back a moment after. */
async function held(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collect();
    await sleep(20);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
/** More than this after the first fifth of the time is growth, bytes. */
const MAX_GROWTH = 16 * 1024 * 1024;

/** Runs cases for a share of the time. */
async function fuzz(
  name: string,
  share: number,
  oneCase: (random: Random) => void | Promise<void>,
): Promise<void> {
  const start = performance.now();
  const end = start + seconds * share * 1000;
  const warm = start + seconds * share * 200;
  let seed = firstSeed;
  let before: number | undefined;
  let cases = 0;
  do {
    try {
      await oneCase(createRandom(seed));
    } catch (error) {
      throw new Error(`${name}: seed ${seed} (case ${cases}) failed`, { cause: error });
    }
    seed = (seed + 1) % 2 ** 32;
    cases += 1;
    if (cases % 64 === 0) await turn();
    if (before === undefined && performance.now() > warm) before = await held();
  } while (performance.now() < end);
  await turn();
  const after = await held();
  const grown = after - (before ?? after);
  assert.ok(grown < MAX_GROWTH, `${name}: ${grown} bytes more after ${cases} cases`);
  process.stdout.write(
    `note: fuzz ${name}: seed ${firstSeed}, ${cases} cases, ${grown} bytes more\n`,
  );
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Outcome {
  readonly bodies: string[];
  readonly errors: string[];
}

function decode(
  chunks: readonly Buffer[],
  { stops, strict = false }: { readonly stops?: Random; readonly strict?: boolean } = {},
): Outcome {
  const outcome: Outcome = { bodies: [], errors: [] };
  const decoder = createDecoder({
    maxHeaderBytes: MAX_HEADER_BYTES,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    strict,
    onPacket(bytes, start, end) {
      outcome.bodies.push(bytes.toString('latin1', start, end));
      return stops === undefined || stops.chance(0.7);
    },
    onError: ({ code, bytes }: FramingError) =>
      outcome.errors.push(`${code} ${bytes.toString('latin1')}`),
  });
  for (const chunk of chunks) {
    // Its memory is used again at once.
    const own = Buffer.from(chunk);
    let at = 0;
    do at = decoder.write(own, at);
    while (at < own.length);
    own.fill(0x78);
  }
  decoder.end();
  return outcome;
}

function checkRequired({ required, exact }: FuzzStream, bodies: readonly string[]): void {
  if (exact) {
    assert.equal(bodies, required);
    return;
  }
  const wanted = new Set(required);
  assert.equal(
    bodies.filter((body) => wanted.has(body)),
    required,
  );
}

test(
  'the decoder',
  async () => {
    await fuzz('decoder', 0.4, (random) => {
      const stream = makeStream(random);
      const whole = decode([stream.bytes]);
      checkRequired(stream, whole.bodies);
      const cut = decode(cutUp(random, stream.bytes), { stops: random });
      assert.equal(cut, whole, 'cut up');
      const strict = decode(cutUp(random, stream.bytes), { strict: true });
      assert.equal(strict.errors, whole.errors.slice(0, 1), 'strict');
      assert.equal(strict.bodies, whole.bodies.slice(0, strict.bodies.length), 'strict');
      // The end may come anywhere.
      decode([stream.bytes.subarray(0, random.int(stream.bytes.length))]);
    });
  },
  { timeoutMs: seconds * 1000 + 60_000 },
);

interface Answer {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown };
}

test(
  'a peer',
  async () => {
    await fuzz('peer', 0.4, onePeer);
  },
  { timeoutMs: seconds * 1000 + 60_000 },
);

async function onePeer(random: Random): Promise<void> {
  const input = new PassThrough();
  const written: Buffer[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      written.push(Buffer.from(chunk));
      if (random.chance(0.5)) callback();
      else setImmediate(callback);
    },
  });
  const seen: unknown[] = [];
  const peer = createPeer({
    streams: { input, output },
    onRequest(method, params) {
      if (method !== 'echo') throw methodNotFound(method);
      return random.chance(0.5) ? params : turn().then(() => params);
    },
    onNotification(method, params) {
      if (method === 'note') seen.push((params as unknown[])[0]);
      else if (random.chance(0.1)) throw new Error('a handler that fails');
    },
  });
  const calls = Array.from({ length: random.int(4) }, (_, index) => peer.request('ask', [index]));
  const outcomes = Promise.allSettled(calls);
  const parts: Buffer[] = [];
  const notes: number[] = [];
  const asked = new Map<string, string>();
  const answered = new Set<number>();
  const send = (message: object): number =>
    parts.push(packet(JSON.stringify({ jsonrpc: '2.0', ...message })));
  for (let left = random.int(15); left > 0; left -= 1) {
    const value = anyJson(random);
    const kind = random.int(5);
    if (kind === 0) {
      send({ method: 'note', params: [notes.push(notes.length) - 1, value] });
    } else if (kind === 1) {
      const id = `good ${left} ${random.int(2 ** 31)}`;
      asked.set(id, JSON.stringify([value]).replaceAll('\\ud800', '\ufffd'));
      send({ id, method: 'echo', params: [value] });
    } else if (kind === 2 && answered.size < calls.length) {
      const index = answered.size;
      answered.add(index);
      send({ id: index + 1, result: index });
    } else {
      parts.push(badMessage(random));
    }
  }
  for (const chunk of cutUp(random, Buffer.concat(parts))) {
    input.write(chunk);
    if (random.chance(0.05)) await turn();
  }
  input.end();
  await peer.closed;
  for (let turns = 0; peer.openRequests > 0; turns += 1) {
    assert.ok(turns < 1000, 'requests are left open');
    await turn();
  }
  await peer.close();
  const settled = await outcomes;
  assert.equal(seen, notes);
  for (const [index, outcome] of settled.entries()) {
    if (answered.has(index)) assert.equal(outcome, { status: 'fulfilled', value: index });
    else assert.is(outcome.status, 'rejected');
  }
  assert.is(peer.pendingRequests, 0);
  for (const answer of answersIn(written)) {
    const id = answer.id as string;
    const wanted = asked.get(id);
    if (wanted === undefined) continue;
    asked.delete(id);
    assert.is(JSON.stringify(answer.result), wanted);
  }
  assert.equal([...asked.keys()], [], 'requests without an answer, or with two');
}

/** All that was written has to be good packets of good messages. */
function answersIn(written: readonly Buffer[]): Answer[] {
  const answers: Answer[] = [];
  const ids = new Set<unknown>();
  const decoder = createDecoder({
    onPacket(bytes, start, end) {
      const message = JSON.parse(bytes.toString('utf8', start, end)) as Answer;
      assert.is(message.jsonrpc, '2.0');
      if (message.method !== undefined) return;
      assert.ok((message.result === undefined) !== (typeof message.error?.code !== 'number'));
      if (typeof message.id === 'string' && message.id.startsWith('good')) {
        assert.not(ids.has(message.id), `two answers to ${message.id}`);
        ids.add(message.id);
      }
      answers.push(message);
    },
    onError: (error) => assert.unreachable(error.message),
  });
  decoder.write(Buffer.concat(written));
  decoder.end();
  return answers;
}

test(
  'two peers with a bad wire between them',
  async () => {
    await fuzz('wire', 0.2, badWire);
  },
  { timeoutMs: seconds * 1000 + 60_000 },
);

/** Whatever the wire does to them, every call is settled and both sides end. */
async function badWire(random: Random): Promise<void> {
  const [near, far] = memoryStreams();
  const rate = random.pick([0, 0.02, 0.2]);
  const bad = (): Transform =>
    new Transform({
      transform(chunk: Buffer, _encoding, callback) {
        callback(null, random.chance(rate) ? mutate(random, chunk) : chunk);
      },
    });
  const peers: Peer[] = [];
  for (const streams of [near, far]) {
    const peer = createPeer({
      streams: { input: streams.input.pipe(bad()), output: streams.output },
      onRequest: (method, params) => {
        if (method === 'again' && random.chance(0.3)) return peer.request('echo', params as object);
        return random.chance(0.5) ? params : turn().then(() => params);
      },
      onNotification: () => undefined,
    });
    peers.push(peer);
  }
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const calls = Array.from({ length: 10 + random.int(30) }, (_, index) =>
    (peers[index % 2] as Peer)
      .request(random.pick(['echo', 'again']), [index, anyJson(random)], { signal: stop.signal })
      .then(
        (value) => ({ index, value: (value as unknown[] | null)?.[0] }),
        () => undefined,
      ),
  );
  const all = Promise.all(calls);
  // Without damage everything is answered; with it, whoever waits gives up.
  if (rate > 0) {
    for (let turns = 0; turns < 30; turns += 1) await turn();
    stop.abort(new Error('given up'));
  }
  const results = await all;
  if (rate === 0)
    assert.equal(
      results.map((result) => result?.value),
      calls.map((_, index) => index),
    );
  await Promise.all(peers.map((peer) => peer.close()));
  await Promise.all(peers.map((peer) => peer.closed));
  assert.equal(
    peers.map((peer) => peer.pendingRequests),
    [0, 0],
  );
  for (const { input, output } of [near, far]) {
    input.destroy();
    output.destroy();
  }
}

test.run();
