// What the fuzzer throws: streams of good packets with bad ones between them. Everything comes from a
// seeded generator, so that a case is found again by its number. A bad piece is `safe` when nothing
// of its neighbours may be lost; after any other, enough good packets follow that the reader must
// have found its way back by the last of them.
import { Buffer } from 'node:buffer';

export const MAX_HEADER_BYTES = 256;
export const MAX_MESSAGE_BYTES = 4096;

export interface Random {
  /** A whole number in `[0, below)`. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

/** Mulberry32: small, fast, and good enough to choose with. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    int: (below) => Math.floor(next() * below),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
  };
}

export interface FuzzStream {
  readonly bytes: Buffer;
  /** Bodies that must come out, in this order, each once; in Latin-1. */
  readonly required: readonly string[];
  /** Nothing else may come out. */
  readonly exact: boolean;
}

/** A stream for the decoder alone: bodies are any bytes. */
export function makeStream(random: Random): FuzzStream {
  const parts: Buffer[] = [];
  const required: string[] = [];
  const exact = random.chance(0.5);
  let count = 0;
  let atLineStart = true;
  const addGood = (body: Buffer, isRequired = true): void => {
    parts.push(goodPacket(random, body, atLineStart));
    atLineStart = true;
    if (isRequired) required.push(body.toString('latin1'));
  };
  const uniqueBody = (): Buffer => {
    count += 1;
    return Buffer.concat([Buffer.from(`#${count} `), randomBody(random)]);
  };
  for (let left = 1 + random.int(12); left > 0; left -= 1) {
    if (random.chance(0.5)) {
      addGood(uniqueBody());
    } else if (exact || random.chance(0.5)) {
      const junk = safeJunk(random);
      parts.push(junk);
      atLineStart = junk.at(-1) === 0x0a;
    } else {
      parts.push(badPiece(random, uniqueBody()));
      // As much as a lie can swallow, and what it cuts in two.
      for (let padding = 0; padding < MAX_MESSAGE_BYTES + 3 * MAX_HEADER_BYTES; padding += 200) {
        parts.push(packet(Buffer.from(`padding ${'.'.repeat(200)}`)));
      }
      addGood(uniqueBody());
    }
  }
  addGood(uniqueBody());
  return { bytes: Buffer.concat(parts), required, exact };
}

/** The stream in pieces of many sizes, some of them empty. */
export function cutUp(random: Random, bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  const most = random.pick([2, 20, 300, 5000]);
  for (let at = 0; at < bytes.length; ) {
    const size = random.int(most);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

export function packet(body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), bytes]);
}

/** Text between packets. It has no line that begins with the field's name. */
export function safeJunk(random: Random): Buffer {
  const kind = random.int(6);
  if (kind === 0)
    return Buffer.from(`Content-Length: ${random.pick(BAD_LENGTHS)}\r\n\r\n${text(random)}`);
  if (kind === 1) return Buffer.from(`${text(random)} content-length: ${random.int(99)} apples\n`);
  if (kind === 2) return Buffer.from('\r\n'.repeat(1 + random.int(4)));
  if (kind === 3) return Buffer.from(`${text(random)}Content-Len`);
  return Buffer.from(text(random) + random.pick(['\n', '\r\n', '', ' ']));
}

/** A few bytes of `bytes` changed, taken out, put in, or doubled. */
export function mutate(random: Random, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes);
  for (let left = 1 + random.int(4); left > 0; left -= 1) {
    const at = random.int(result.length + 1);
    const end = Math.min(result.length, at + random.int(4));
    const byte = random.pick([random.int(256), 0x0a, 0x0d, 0x30 + random.int(10), 0x22, 0x7b]);
    const head = result.subarray(0, at);
    const tail = result.subarray(random.chance(0.5) ? at : end);
    const middle = random.chance(0.7) ? Buffer.from([byte]) : result.subarray(at, end);
    result = Buffer.concat([head, middle, tail]);
  }
  return result;
}

const BAD_LENGTHS = [
  '-1',
  'abc',
  '10abc',
  '1e2',
  '0x10',
  '+5',
  '',
  '9'.repeat(40),
  '99999999',
  '1 2',
  '\t',
];

function goodPacket(random: Random, body: Buffer, atLineStart: boolean): Buffer {
  const { length } = body;
  const heads = [
    `Content-Length: ${length}\r\n\r\n`,
    `Content-Length: ${length}\r\n\r\n`,
    `content-length:${length}\r\n\r\n`,
    `CONTENT-LENGTH:\t${length}\r\nX: y\r\n\r\n`,
    `Content-Length: 0${length}\r\nContent-Type: a; charset=utf-8\r\n\r\n`,
    // Read only where a line begins: elsewhere it may as well be text.
    ...(atLineStart
      ? [
          `Content-Length: ${length}\n\n`,
          `Content-Length: ${length} \r\n\r\n`,
          `Content-Type: a\r\nContent-Length: ${length}\r\n\r\n`,
        ]
      : []),
  ];
  return Buffer.concat([Buffer.from(random.pick(heads)), body]);
}

function randomBody(random: Random): Buffer {
  const kind = random.int(5);
  if (kind === 0) return Buffer.from(text(random));
  if (kind === 1) return Buffer.from(`\r\n\r\nContent-Length: ${random.int(50)}\r\n\r\n{}`);
  if (kind === 2) return noise(random, random.int(100));
  if (kind === 3) return noise(random, random.int(MAX_MESSAGE_BYTES - 20));
  return Buffer.alloc(0);
}

function badPiece(random: Random, body: Buffer): Buffer {
  const whole = goodPacket(random, body, false);
  const other = goodPacket(random, randomBody(random), false);
  const cut = random.int(whole.length);
  switch (random.int(5)) {
    case 0:
      return mutate(random, whole);
    case 1:
      return whole.subarray(0, cut);
    case 2:
      return Buffer.concat([whole.subarray(0, cut), other.subarray(random.int(other.length))]);
    case 3:
      return noise(random, 1 + random.int(600));
    default:
      return Buffer.from(`Content-Length: ${random.int(MAX_MESSAGE_BYTES)}\r\n\r\n`);
  }
}

function noise(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.int(256)));
}

const WORDS = [
  'ready',
  'warn:',
  '{"a":1}',
  '\u00e9\u4e16',
  '\u001b[1m',
  '...',
  '\0',
  ':',
  'Content-',
];

function text(random: Random): string {
  return Array.from({ length: random.int(8) }, () => random.pick(WORDS)).join(' ');
}
