// Bytes to messages and back, without a connection: our decoder and reader, and our encoder and
// writer, against vscode-jsonrpc's. Floors: for decoding, known offsets, `utf8Slice`, `JSON.parse`;
// for encoding, `JSON.stringify`, `Buffer.from`. In microseconds per message.
import { nextTick } from 'node:process';
import { Writable } from 'node:stream';
import {
  ReadableStreamMessageReader,
  WriteableStreamMessageWriter,
  type Message,
} from 'vscode-jsonrpc/node';
import { createDecoder } from '../core/protocol/framing.ts';
import { PacketWriter } from '../core/protocol/framing-writer.ts';
import { readMessage, writeMessage, type OutgoingMessage } from '../core/protocol/messages.ts';
import { compare, defaults, quick, report, type Row, type Work } from './support/measure.ts';
import { KB, MB, packetOf, payload, type Payload } from './support/payloads.ts';

/**
 * What is there at once: with 200 B, 19 000 messages. vscode-jsonrpc's time per message grows with
 * their number (its queue is an array that is shifted): with 1 MiB it is a quarter, with 16 MiB
 * three times as much.
 */
const STREAM_BYTES = 4 * MB;

const sizes = [
  payload('200B', 200),
  payload('4K', 4 * KB),
  payload('64K', 64 * KB),
  payload('1M', MB),
] as const;

/** Node has it, its types do not. */
type SliceableBuffer = Buffer & { utf8Slice(start: number, end: number): string };

const rows: Row[] = [];
for (const size of sizes) rows.push(await decode(size, { chunk: 64 * KB, label: '64K' }));
for (const size of sizes.slice(0, 3)) rows.push(await decode(size, { chunk: 17, label: '17B' }));
rows.push(await decode(payload('1M', MB), { chunk: 17, label: '17B', slowRival: true }));
for (const size of sizes.slice(0, 2)) rows.push(await decode(size, { chunk: 1, label: '1B' }));
if (!quick) rows.push(await decode(sizes[2], { chunk: 1, label: '1B', slowRival: true }));
rows.push(await decode(payload('128K', 128 * KB), { chunk: 1, label: '1B', slowRival: true }));
for (const size of sizes) rows.push(await encode(size));
report('framing', () => 'us', rows);

interface Chunking {
  /** Bytes per chunk, and how the row names it. */
  readonly chunk: number;
  readonly label: string;
  readonly slowRival?: boolean;
}

async function decode(size: Payload, { chunk, label, slowRival = false }: Chunking): Promise<Row> {
  const packet = packetOf(size.body);
  const perStream = chunk < 64 ? 1 : Math.ceil(STREAM_BYTES / packet.length);
  const stream = Buffer.concat(Array.from({ length: perStream }, () => packet)) as SliceableBuffer;
  const chunks: Buffer[] = [];
  for (let at = 0; at < stream.length; at += chunk) chunks.push(stream.subarray(at, at + chunk));

  const perRound = (run: () => void | Promise<void>): Work => {
    return async (count) => {
      for (let round = 0; round < count; round += 1) await run();
    };
  };
  let seen = 0;
  const release = (): void => decoder.release();
  const decoder = createDecoder({
    onPacket(bytes, start, end) {
      if (readMessage(bytes, { start, end, release }).kind === 'notification') seen += 1;
    },
    onError(error) {
      throw error;
    },
  });
  const ours = perRound(() => {
    seen = 0;
    for (const one of chunks) decoder.write(one);
    if (seen !== perStream) throw new Error(`ours: ${seen} of ${perStream}`);
  });

  let onData: (data: Uint8Array) => void = () => undefined;
  const none = { dispose: () => undefined };
  const reader = new ReadableStreamMessageReader({
    onData(listener) {
      onData = listener;
      return none;
    },
    onEnd: () => none,
    onError: () => none,
    onClose: () => none,
  });
  let left = 0;
  let done: () => void = () => undefined;
  reader.listen(() => {
    left -= 1;
    if (left === 0) done();
  });
  const rival = perRound(async () => {
    left = perStream;
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    for (const one of chunks) onData(one);
    await all;
  });

  const header = packet.length - size.bytes;
  const floor = perRound(() => {
    // The floor knows where each message lies in the whole stream, and copies nothing together.
    for (let at = 0; at < stream.length; at += packet.length) {
      const text = stream.utf8Slice(at + header, at + packet.length);
      if (typeof JSON.parse(text) !== 'object') throw new Error('floor');
    }
  });
  const work = { ours, rival, floor };
  const result = await compare(`decode ${size.name}/${label}`, work, { ...defaults, slowRival });
  return perMessage(result, perStream);
}

async function encode(size: Payload): Promise<Row> {
  const { message } = size;
  // A stream that takes over all that it gets, as a pipe or a socket does while there is room.
  const sink = (): Writable => {
    return new Writable({
      write(_chunk, _encoding, callback) {
        nextTick(callback);
      },
    });
  };
  /** What is queued is let go about this often. */
  const batch = Math.max(1, Math.round((256 * KB) / size.bytes));
  const inBatches = (write: (count: number) => void | Promise<void>): Work => {
    return async (count) => {
      for (let left = count; left > 0; left -= batch) await write(Math.min(batch, left));
    };
  };
  let progress: () => void = () => undefined;
  const writer = new PacketWriter({
    output: sink(),
    // What a peer does for a pipe or a socket.
    reuse: true,
    onProgress() {
      if (writer.queuedBytes === 0) progress();
    },
    onFailure(error) {
      throw error;
    },
  });
  const ours = inBatches(async (count) => {
    const taken = new Promise<void>((resolve) => {
      progress = resolve;
    });
    for (let index = 0; index < count; index += 1) {
      writer.write(writeMessage(message as unknown as OutgoingMessage).text as string);
    }
    await taken;
  });
  const output = sink();
  const rivalWriter = new WriteableStreamMessageWriter({
    onClose: () => ({ dispose: () => undefined }),
    onError: () => ({ dispose: () => undefined }),
    onEnd: () => ({ dispose: () => undefined }),
    write: (data: Uint8Array | string, encoding?: string) =>
      new Promise<void>((resolve, reject) => {
        const callback = (error?: Error | null): void => {
          if (error === null || error === undefined) resolve();
          else reject(error);
        };
        if (typeof data === 'string') output.write(data, encoding as BufferEncoding, callback);
        else output.write(data, callback);
      }),
    end: () => output.end(),
  });
  const rival = inBatches(async (count) => {
    const writes: Promise<void>[] = [];
    for (let index = 0; index < count; index += 1) {
      writes.push(rivalWriter.write(message as unknown as Message));
    }
    await Promise.all(writes);
  });
  const floor = inBatches((count) => {
    for (let index = 0; index < count; index += 1) {
      if (Buffer.from(JSON.stringify(message)).length !== size.bytes) throw new Error('floor');
    }
  });
  return await compare(`encode ${size.name}`, { ours, rival, floor });
}

function perMessage(whole: Row, count: number): Row {
  const share = (value: number | null): number | null =>
    value === null ? null : Number((value / count).toPrecision(3));
  return {
    ...whole,
    ours: share(whole.ours) ?? 0,
    rival: share(whole.rival),
    floor: share(whole.floor),
  };
}
