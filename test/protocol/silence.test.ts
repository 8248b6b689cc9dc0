// Silence on a clock that stands still: when a client is asked, when it is given up, and how much longer
// one gets that owes an answer of its own.
import { createPeer, type Peer } from '../../core/protocol/peer.ts';
import { watchSilence } from '../../core/protocol/server/silence.ts';
import { memoryStreams } from '../../core/protocol/transports/index.ts';
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts';
import { assert, suite } from '../harness.ts';

const test = suite('silence');

interface Stage {
  readonly clock: FakeClock;
  readonly server: Peer;
  readonly client: Peer;
  /** When the client was asked, ms. */
  readonly asked: number[];
  /** When it was given up. */
  readonly given: number[];
  readonly close: () => Promise<unknown>;
}

function stage(answer: () => unknown): Stage {
  const clock = createFakeClock();
  const [a, b] = memoryStreams();
  const asked: number[] = [];
  const given: number[] = [];
  const server = createPeer({
    streams: a,
    clock,
    onRequest: () => null,
    onNotification: () => undefined,
  });
  const client = createPeer({
    streams: b,
    clock,
    onNotification: () => undefined,
    onRequest(method) {
      if (method !== '$/ping') return new Promise(() => undefined);
      asked.push(clock.now());
      return answer();
    },
  });
  const stop = watchSilence({
    peer: server,
    clock,
    silenceMs: 10_000,
    onSilence: () => given.push(clock.now()),
  });
  const close = async (): Promise<void> => {
    stop();
    const closing = [server.close(), client.close()];
    await clock.advance(10_000);
    await Promise.all(closing);
  };
  return { clock, server, client, asked, given, close };
}

test('a client that answers is asked at half of the time, again and again', async () => {
  const { clock, asked, given, close } = stage(() => null);
  await clock.advance(60_000);
  assert.ok(asked.length >= 10, `asked ${asked.length} times`);
  assert.is(asked[0], 5000);
  assert.equal(given, []);
  await close();
  assert.is(clock.pending, 0);
});

test('a client that speaks by itself is not asked', async () => {
  const { clock, client, asked, given, close } = stage(() => null);
  for (let round = 0; round < 20; round += 1) {
    await clock.advance(4000);
    client.notify('initialized');
  }
  assert.equal([asked, given], [[], []]);
  await close();
});

test('a client that does not answer is given up, once', async () => {
  const { clock, asked, given, close } = stage(() => new Promise(() => undefined));
  await clock.advance(60_000);
  assert.equal([asked, given], [[5000], [10_000]]);
  await close();
});

test('a client that owes another answer gets a minute', async () => {
  const { clock, server, given, close } = stage(() => new Promise(() => undefined));
  server.request('attempt/resolveSecret', {}).catch(() => undefined);
  await clock.advance(59_000);
  assert.equal(given, []);
  await clock.advance(60_000);
  assert.is(given.length, 1);
  await close();
});

test.run();
