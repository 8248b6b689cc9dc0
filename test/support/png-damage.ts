// Damages a PNG in the ways that reach deep: most mutations repair the checksums afterwards, as a
// checksum that is wrong ends the reading at once and tests nothing behind it.
import { Buffer } from 'node:buffer';
import type { Random } from '../protocol/fuzz-support.ts';
import {
  chunksOf,
  joinFile,
  makePng,
  type Chunk,
  type FileOptions,
  type Picture,
} from './png-maker.ts';
import { randomPicture } from './png-pictures.ts';

export function damage(random: Random, picture: Picture, options: FileOptions): Buffer {
  return random.pick(WAYS)(random, picture, options);
}

type Way = (random: Random, picture: Picture, options: FileOptions) => Buffer;

const WAYS: readonly Way[] = [
  // The file's bytes.
  (random, picture, options) => flip(random, makePng(picture, options)),
  (random, picture, options) => {
    const png = makePng(picture, options);
    return png.subarray(0, random.int(png.length));
  },
  (random, picture, options) => splice(random, makePng(picture, options)),
  // What is inflated: filters, samples and the number of rows. All of it is valid zlib.
  (random, picture, options) =>
    makePng(picture, { ...options, rows: (rows) => flip(random, rows) }),
  (random, picture, options) =>
    makePng(picture, { ...options, rows: (rows) => splice(random, rows) }),
  (random, picture, options) =>
    makePng(picture, {
      ...options,
      rows: (rows) => Buffer.concat([rows, Buffer.alloc(random.int(3000), random.int(256))]),
    }),
  // What is deflated, under right checksums.
  (random, picture, options) =>
    makePng(picture, { ...options, stream: (stream) => flip(random, stream) }),
  (random, picture, options) =>
    makePng(picture, { ...options, stream: (stream) => splice(random, stream) }),
  (random, picture, options) =>
    makePng(picture, {
      ...options,
      stream: (stream) => stream.subarray(0, random.int(stream.length)),
    }),
  // The chunks.
  (random, picture, options) => {
    const chunks = chunksOf(picture, options);
    for (let times = 1 + random.int(3); times > 0; times -= 1) mutateChunks(random, chunks);
    return joinFile(chunks);
  },
  // The head of one picture over the data of another.
  (random, picture, options) => {
    const [other] = randomPicture(random, 24);
    return joinFile([chunksOf(other)[0] as Chunk, ...chunksOf(picture, options).slice(1)]);
  },
];

function mutateChunks(random: Random, chunks: Chunk[]): void {
  const at = random.int(chunks.length);
  const chunk = chunks[at];
  if (chunk === undefined) return;
  const { type, data } = chunk;
  const ways: readonly (() => void)[] = [
    () => chunks.splice(at, 1),
    () => chunks.splice(random.int(chunks.length), 0, chunk),
    () => chunks.splice(random.int(chunks.length), 0, ...chunks.splice(at, 1)),
    () => (chunks[at] = { type, data: flip(random, Buffer.from(data)) }),
    () => (chunks[at] = { type, data: splice(random, Buffer.from(data)) }),
    () => (chunks[at] = { type, data, crc: random.int(2 ** 32) }),
    () => (chunks[at] = { type, data, length: random.int(random.pick([64, 2 ** 16, 2 ** 32])) }),
    () => (chunks[at] = { type: random.pick(NAMES), data }),
    () => {
      const made = Buffer.from(Array.from({ length: random.int(40) }, () => random.int(256)));
      chunks.splice(at, 0, { type: random.pick(NAMES), data: made });
    },
  ];
  random.pick(ways)();
}
const NAMES = ['IHDR', 'PLTE', 'IDAT', 'IEND', 'tRNS', 'gAMA', 'iCCP', 'CgBI', 'abcd', 'ABCD'];

/** Changes one to four bytes. */
function flip(random: Random, bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  if (changed.length === 0) return changed;
  for (let times = 1 + random.int(4); times > 0; times -= 1) {
    changed[random.int(changed.length)] = random.pick([0, 1, 5, 127, 128, 255, random.int(256)]);
  }
  return changed;
}

/** Takes a part out, doubles it, or puts it elsewhere. */
function splice(random: Random, bytes: Buffer): Buffer {
  const from = random.int(bytes.length + 1);
  const part = bytes.subarray(from, from + random.int(Math.min(200, bytes.length - from) + 1));
  const rest = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + part.length)]);
  const to = random.int(rest.length + 1);
  return random.pick([
    rest,
    Buffer.concat([bytes.subarray(0, from), part, bytes.subarray(from)]),
    Buffer.concat([rest.subarray(0, to), part, rest.subarray(to)]),
  ]);
}
