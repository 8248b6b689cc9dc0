// Whole connections: round trips in memory, over stdio and over TCP, one at a time and 64 in flight;
// a burst of notifications; the memory that one big message takes. Against vscode-jsonrpc, and a
// floor: for 200 B over stdio and TCP a raw echo of the bytes, else an echo that also parses and
// stringifies; for the burst, known offsets and `JSON.parse`. Microseconds per trip, ms per burst,
// and for memory the peak in messages.
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { createPeer } from '../core/protocol/peer.ts';
import { memoryStreams } from '../core/protocol/transports/memory.ts';
import { watchBurst, type BurstResult } from './support/burst.ts';
import { serve, servedHere, start, stdioStreams, stopAll, tcpStreams } from './support/children.ts';
import { answerer, asker, requestOf, type Streams, type Way } from './support/ends.ts';
import { compare, defaults, median, quick, report, row, type Row } from './support/measure.ts';
import { measureMemory, type Direction, type Subject } from './support/memory.ts';
import { KB, MB, packetOf } from './support/payloads.ts';

const served = servedHere();
if (served === undefined) {
  await main();
} else if (served[0] === 'memory') {
  const [, subject, direction, bytes] = served;
  await measureMemory(subject as Subject, {
    direction: direction as Direction,
    bytes: Number(bytes),
  });
} else {
  serve(served);
}

async function main(): Promise<void> {
  const rows: Row[] = [];
  for (const wire of ['memory', 'stdio', 'tcp'] as const) {
    for (const [size, bytes] of [
      ['200B', 200],
      ['4K', 4 * KB],
    ] as const) {
      for (const inFlight of [1, 64]) {
        rows.push(await trip({ wire, size, bytes, inFlight }));
        await stopAll();
      }
    }
  }
  rows.push(...(await burst(100_000)));
  rows.push(await memory('memory 64M', 'in'));
  rows.push(await memory('memory 64M out', 'out'));
  report('round-trip', unitOf, rows);
}

function unitOf(name: string): string {
  return name.startsWith('trip') ? 'us' : name.startsWith('burst') ? 'ms' : 'messages';
}

interface Trip {
  readonly wire: 'memory' | 'stdio' | 'tcp';
  readonly size: string;
  readonly bytes: number;
  readonly inFlight: number;
}

async function trip({ wire, size, bytes, inFlight }: Trip): Promise<Row> {
  const request = requestOf(bytes);
  const packetBytes = packetOf(request).length;
  const open = await opener(wire, packetBytes);
  const work = (way: Way) => asker(way, open(way), { request, inFlight });
  const floor = work(wire === 'memory' || bytes > KB ? 'codec' : 'raw');
  const name = `trip ${wire} ${size}${inFlight === 1 ? '' : ` x${inFlight}`}`;
  // Two whole connections take longer to be compiled than a decoder.
  const warmUpMs = Math.max(250, defaults.warmUpMs);
  const all = { ours: work('ours'), rival: work('rival'), floor };
  return await compare(name, all, { ...defaults, warmUpMs });
}

async function opener(wire: Trip['wire'], packetBytes: number): Promise<(way: Way) => Streams> {
  if (wire === 'stdio') return (way) => stdioStreams(way, packetBytes);
  if (wire === 'tcp') {
    const streams = await tcpStreams(packetBytes);
    return (way) => streams[way];
  }
  return (way) => {
    const [here, there] = memoryStreams();
    answerer(way, there, packetBytes);
    return here;
  };
}

/** All notifications in one chunk, as they lie in memory after a stall of the reader. */
async function burst(count: number): Promise<Row[]> {
  const packet = packetOf('{"jsonrpc":"2.0","method":"n","params":{"index":12345,"text":"moved"}}');
  const bytes = Buffer.concat(Array.from({ length: count }, () => packet));
  const results: Record<Subject, BurstResult[]> = { ours: [], rival: [], floor: [] };
  for (let sample = 0; sample < (quick ? 3 : 7); sample += 1) {
    for (const subject of ['ours', 'rival', 'floor'] as const) {
      // The rival takes seconds.
      if (subject === 'rival' && sample > 0 && quick) continue;
      results[subject].push(await oneBurst(subject, bytes, { count, packet }));
    }
  }
  const figure = (subject: Subject, what: keyof BurstResult): number =>
    median(results[subject].map((result) => result[what]));
  const figures = (name: string, what: keyof BurstResult, floor: boolean): Row =>
    row(
      name,
      figure('ours', what),
      figure('rival', what),
      floor ? figure('floor', what) : Number.NaN,
    );
  return [
    figures(`burst ${count}`, 'ms', true),
    figures(`burst ${count} stall`, 'stallMs', false),
    figures(`burst ${count} wall stall`, 'wallStallMs', false),
  ];
}

async function oneBurst(
  subject: Subject,
  bytes: Buffer,
  { count, packet }: { readonly count: number; readonly packet: Buffer },
): Promise<BurstResult> {
  let seen = 0;
  const isDone = (): boolean => seen === count;
  const input = new PassThrough();
  const output = new Writable({ write: (_chunk, _encoding, callback) => callback() });
  const streams = { input, output };
  const onNotification = (): void => {
    seen += 1;
  };
  if (subject === 'floor') {
    const header = packet.indexOf(0x7b);
    return await watchBurst(() => {
      for (let at = 0; at < bytes.length; at += packet.length) {
        JSON.parse(bytes.toString('utf8', at + header, at + packet.length));
        onNotification();
      }
    }, isDone);
  }
  let close: () => unknown;
  if (subject === 'ours') {
    const peer = createPeer({ streams, onRequest: () => undefined, onNotification });
    close = () => peer.close();
  } else {
    const connection = createMessageConnection(
      new StreamMessageReader(input),
      new StreamMessageWriter(output),
    );
    connection.onNotification('n', onNotification);
    connection.listen();
    close = () => connection.dispose();
  }
  const result = await watchBurst(() => input.write(bytes), isDone);
  await close();
  return result;
}

async function memory(name: string, direction: Direction): Promise<Row> {
  const bytes = 64 * MB;
  const found: Record<Subject, number[]> = { ours: [], rival: [], floor: [] };
  for (let sample = 0; sample < (quick ? 1 : 5); sample += 1) {
    for (const subject of ['ours', 'rival', 'floor'] as const) {
      const child = start(['memory', subject, direction, String(bytes)]);
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      found[subject].push(JSON.parse(line.toString()) as number);
    }
  }
  return row(name, median(found.ours), median(found.rival), median(found.floor));
}
