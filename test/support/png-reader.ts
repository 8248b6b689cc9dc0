// A second opinion: a PNG decoder written from the specification with no thought for speed, for
// files that png-maker.ts did not make as they are (the fuzzer's). It reads leniently, as far as a
// picture is defined at all, and throws otherwise. Shares nothing with core/pixels.
import { Buffer } from 'node:buffer';
import { constants, createInflateRaw } from 'node:zlib';
import {
  CHANNELS,
  crc32,
  expectedRgba,
  SIGNATURE,
  type BitDepth,
  type ColorType,
  type Rgb,
} from './png-maker.ts';

export interface Read {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
}

interface Head {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: BitDepth;
  readonly colorType: ColorType;
  readonly interlaced: boolean;
}

/** Throws an Error that says what is wrong. */
export async function readPng(png: Uint8Array): Promise<Read> {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.length);
  const start = bytes.indexOf(SIGNATURE);
  if (start < 0) throw new Error('no signature');
  const data: Buffer[] = [];
  let head: Head | undefined;
  let palette: Rgb[] | undefined;
  let keys: Buffer | undefined;
  for (let at = start + 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + 8 + length;
    if (data.length > 0 && type !== 'IDAT') break;
    if (end + 4 > bytes.length) throw new Error('a chunk is cut off');
    const content = bytes.subarray(at + 8, end);
    if (/^(IHDR|PLTE|tRNS|IDAT)$/.test(type)) {
      if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw new Error('a sum');
    }
    if (type === 'IHDR') head = readHead(content);
    if (type === 'PLTE') palette = readPalette(content);
    if (type === 'tRNS') keys = content;
    if (type === 'IDAT') data.push(content);
    at = end + 4;
  }
  if (head === undefined || data.length === 0) throw new Error('no image data');
  const needed = bytesOf(head);
  const raw = await inflateAll(Buffer.concat(data).subarray(2));
  if (raw.length < needed) throw new Error('rows are missing');
  const { width, height, colorType, bitDepth } = head;
  const samples = readSamples(head, raw);
  let transparency: number[] | undefined;
  if (keys !== undefined && colorType === 3) transparency = [...keys];
  if (keys !== undefined && (colorType === 0 || colorType === 2)) {
    const mask = 2 ** bitDepth - 1;
    const source = keys;
    transparency = Array.from(
      { length: CHANNELS[colorType] },
      (_, index) => source.readUInt16BE(index * 2) & mask,
    );
  }
  const channels = CHANNELS[colorType];
  const rgba = expectedRgba({
    width,
    height,
    colorType,
    bitDepth,
    sample: (x, y, channel) => samples[(y * width + x) * channels + channel] as number,
    ...(palette === undefined ? {} : { palette }),
    ...(transparency === undefined ? {} : { transparency }),
  });
  return { width, height, rgba };
}

/** All that comes out before the stream ends or breaks; without zlib's head and checksum. */
async function inflateAll(stream: Buffer): Promise<Buffer> {
  // The least there is: what one call has made is lost when it fails.
  const inflate = createInflateRaw({ chunkSize: 64, finishFlush: constants.Z_SYNC_FLUSH });
  const parts: Buffer[] = [];
  await new Promise<void>((resolve) => {
    inflate.on('data', (part: Buffer) => parts.push(part));
    inflate.once('end', resolve);
    inflate.once('error', () => resolve());
    inflate.end(stream);
  });
  return Buffer.concat(parts);
}

function readHead(content: Buffer): Head {
  const bitDepth = content[8] as BitDepth;
  const colorType = content[9] as ColorType;
  const head = {
    width: content.readUInt32BE(0),
    height: content.readUInt32BE(4),
    bitDepth,
    colorType,
    interlaced: content[12] === 1,
  };
  if (content.length !== 13 || CHANNELS[colorType] === undefined) throw new Error('the header');
  const pixels = head.width * head.height;
  if (pixels === 0 || pixels > 2 ** 16) throw new Error('none, or too large for this reader');
  return head;
}

function readPalette(content: Buffer): Rgb[] {
  // An entry that is not there is black, as browsers show it.
  return Array.from({ length: 256 }, (_, index) => {
    const [red = 0, green = 0, blue = 0] = content.subarray(index * 3, index * 3 + 3);
    return [red, green, blue];
  });
}

interface Pass {
  readonly xs: readonly number[];
  readonly ys: readonly number[];
}

function passesOf({ width, height, interlaced }: Head): Pass[] {
  const range = (from: number, to: number, step: number): number[] =>
    Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, i) => from + i * step);
  if (!interlaced) return [{ xs: range(0, width, 1), ys: range(0, height, 1) }];
  // The figure of the specification: which pass each pixel of an 8 by 8 block belongs to.
  const figure = [
    '16462646',
    '77777777',
    '56565656',
    '77777777',
    '36463646',
    '77777777',
    '56565656',
    '77777777',
  ];
  return ['1', '2', '3', '4', '5', '6', '7'].map((pass) => ({
    ys: range(0, height, 1).filter((y) => figure[y % 8]?.includes(pass)),
    xs: range(0, width, 1).filter((x) => figure.some((line) => line[x % 8] === pass)),
  }));
}

function rowBytes({ colorType, bitDepth }: Head, pixels: number): number {
  return Math.ceil((pixels * CHANNELS[colorType] * bitDepth) / 8);
}

function bytesOf(head: Head): number {
  let sum = 0;
  for (const { xs, ys } of passesOf(head)) {
    if (xs.length > 0) sum += ys.length * (1 + rowBytes(head, xs.length));
  }
  return sum;
}

function readSamples(head: Head, raw: Buffer): Uint16Array {
  const channels = CHANNELS[head.colorType];
  const samples = new Uint16Array(head.width * head.height * channels);
  const distance = Math.max(1, (channels * head.bitDepth) >> 3);
  let at = 0;
  for (const { xs, ys } of passesOf(head)) {
    if (xs.length === 0) continue;
    const length = rowBytes(head, xs.length);
    let above = Buffer.alloc(length);
    for (const y of ys) {
      const type = raw[at] as number;
      if (type > 4) throw new Error('a filter');
      const row = Buffer.from(raw.subarray(at + 1, at + 1 + length));
      at += 1 + length;
      for (let index = 0; index < length; index += 1) {
        const left = index < distance ? 0 : (row[index - distance] as number);
        const corner = index < distance ? 0 : (above[index - distance] as number);
        const up = above[index] as number;
        const guesses = [0, left, up, (left + up) >> 1, nearest(left, up, corner)];
        row[index] = (row[index] as number) + (guesses[type] as number);
      }
      for (const [column, x] of xs.entries()) {
        for (let channel = 0; channel < channels; channel += 1) {
          samples[(y * head.width + x) * channels + channel] = sampleAt(
            row,
            column * channels + channel,
            head.bitDepth,
          );
        }
      }
      above = row;
    }
  }
  return samples;
}

function sampleAt(row: Buffer, index: number, bitDepth: BitDepth): number {
  if (bitDepth === 16) return row.readUInt16BE(index * 2);
  if (bitDepth === 8) return row[index] as number;
  const bit = index * bitDepth;
  return ((row[bit >> 3] as number) >> (8 - bitDepth - (bit & 7))) & (2 ** bitDepth - 1);
}

/** Of left, above and corner, in this order, the one nearest to left + above - corner. */
function nearest(left: number, up: number, corner: number): number {
  const aim = left + up - corner;
  return [left, up, corner].reduce((best, one) =>
    Math.abs(aim - one) < Math.abs(aim - best) ? one : best,
  );
}
