// Makes PNG files from the format's specification (W3C PNG, third edition), and says what a decoder
// must read out of them. Written apart from core/pixels and sharing nothing with it: a mistake
// there is not repeated here. Each step is open (rows, stream, chunks, file), so that broken files
// are made of the same parts as good ones.
import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';

export type ColorType = 0 | 2 | 3 | 4 | 6;
export type BitDepth = 1 | 2 | 4 | 8 | 16;
export type Rgb = readonly [red: number, green: number, blue: number];

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly colorType: ColorType;
  readonly bitDepth: BitDepth;
  readonly interlaced?: boolean;
  /** A sample as it is stored: `0` to `2 ** bitDepth - 1`, an index for colour type 3. */
  readonly sample: (x: number, y: number, channel: number) => number;
  readonly palette?: readonly Rgb[];
  /** tRNS: an alpha per palette entry, or for types 0 and 2 the one transparent colour's samples. */
  readonly transparency?: readonly number[];
}

export interface Chunk {
  readonly type: string;
  readonly data: Uint8Array;
  /** A wrong checksum or length, for broken files. */
  readonly crc?: number;
  readonly length?: number;
}

export interface FileOptions {
  /** The filter of a row; rows are counted through all passes. Default: 0 to 4 in turn. */
  readonly filter?: number | ((row: number) => number);
  /** Of zlib, 0 to 9. Default 6. */
  readonly level?: number;
  /** Bytes per IDAT. Default: all in one. */
  readonly idatBytes?: number;
  readonly beforePalette?: readonly Chunk[];
  readonly beforeData?: readonly Chunk[];
  readonly afterData?: readonly Chunk[];
  /** Changes the filtered rows before they are deflated. */
  readonly rows?: (rows: Buffer) => Buffer;
  /** Changes the zlib stream before it is cut into IDATs. */
  readonly stream?: (stream: Buffer) => Buffer;
}

export const SIGNATURE: Buffer = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
export const CHANNELS: Readonly<Record<ColorType, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Where each pass of Adam7 begins and how far apart its pixels are. */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** The whole file. */
export function makePng(picture: Picture, options: FileOptions = {}): Buffer {
  return joinFile(chunksOf(picture, options));
}

/** A file of chunks. */
export function joinFile(chunks: readonly Chunk[]): Buffer {
  return Buffer.concat([SIGNATURE, ...chunks.map(writeChunk)]);
}

/** IHDR to IEND. */
export function chunksOf(picture: Picture, options: FileOptions = {}): Chunk[] {
  const { rows = same, stream = same } = options;
  const filtered = rows(filteredRows(picture, options.filter));
  const zlib = stream(deflateSync(filtered, { level: options.level ?? 6 }));
  return [
    header(picture),
    ...(options.beforePalette ?? []),
    ...paletteChunks(picture),
    ...(options.beforeData ?? []),
    ...cutData(zlib, options.idatBytes ?? zlib.length),
    ...(options.afterData ?? []),
    { type: 'IEND', data: new Uint8Array(0) },
  ];
}

export function header(
  picture: Pick<Picture, 'width' | 'height' | 'interlaced'> & {
    readonly colorType: number;
    readonly bitDepth: number;
  },
): Chunk {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(picture.width, 0);
  data.writeUInt32BE(picture.height, 4);
  data[8] = picture.bitDepth;
  data[9] = picture.colorType;
  data[12] = picture.interlaced === true ? 1 : 0;
  return { type: 'IHDR', data };
}

/** PLTE and tRNS. */
function paletteChunks({ colorType, palette, transparency }: Picture): Chunk[] {
  const chunks: Chunk[] = [];
  if (palette !== undefined) chunks.push({ type: 'PLTE', data: Uint8Array.from(palette.flat()) });
  if (transparency !== undefined) {
    const wide = colorType === 3 ? 1 : 2;
    const data = Buffer.alloc(transparency.length * wide);
    for (const [index, value] of transparency.entries())
      data.writeUIntBE(value, index * wide, wide);
    chunks.push({ type: 'tRNS', data });
  }
  return chunks;
}

/** A zlib stream as IDATs. */
export function cutData(stream: Uint8Array, bytes: number): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 0; at < stream.length; at += bytes) {
    chunks.push({ type: 'IDAT', data: stream.subarray(at, at + bytes) });
  }
  return chunks;
}

export function writeChunk({ type, data, crc, length }: Chunk): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(length ?? data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc ?? crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

/** What inflating gives: a filter byte and the filtered bytes of each row, pass by pass. */
export function filteredRows(picture: Picture, filter: FileOptions['filter']): Buffer {
  const filterOf = typeof filter === 'function' ? filter : (row: number) => filter ?? row % 5;
  const bits = CHANNELS[picture.colorType] * picture.bitDepth;
  const parts: Buffer[] = [];
  let count = 0;
  for (const [left, top, stepX, stepY] of picture.interlaced === true ? ADAM7 : WHOLE) {
    if (left >= picture.width) continue;
    let above: Buffer | undefined;
    for (let y = top; y < picture.height; y += stepY) {
      const row = packRow(picture, { y, left, step: stepX });
      above ??= Buffer.alloc(row.length);
      parts.push(filterRow(filterOf(count), row, { above, distance: Math.max(1, bits >> 3) }));
      above = row;
      count += 1;
    }
  }
  return Buffer.concat(parts);
}
const WHOLE = [[0, 0, 1, 1]] as const;

function packRow(
  { width, colorType, bitDepth, sample }: Picture,
  { y, left, step }: { readonly y: number; readonly left: number; readonly step: number },
): Buffer {
  const channels = CHANNELS[colorType];
  const pixels = Math.ceil((width - left) / step);
  const row = Buffer.alloc(Math.ceil((pixels * channels * bitDepth) / 8));
  for (let index = 0; index < pixels * channels; index += 1) {
    const value = sample(left + Math.floor(index / channels) * step, y, index % channels);
    if (bitDepth === 16) {
      row.writeUInt16BE(value, index * 2);
    } else {
      // Leftmost pixels are in the high bits.
      const bit = index * bitDepth;
      row[bit >> 3] = (row[bit >> 3] as number) | (value << (8 - bitDepth - (bit & 7)));
    }
  }
  return row;
}

function filterRow(
  type: number,
  row: Buffer,
  { above, distance }: { readonly above: Buffer; readonly distance: number },
): Buffer {
  const out = Buffer.alloc(row.length + 1);
  out[0] = type;
  for (let at = 0; at < row.length; at += 1) {
    const a = at < distance ? 0 : (row[at - distance] as number);
    const b = above[at] as number;
    const c = at < distance ? 0 : (above[at - distance] as number);
    out[at + 1] = (row[at] as number) - predict(type, a, b, c);
  }
  return out;
}

/** `a` is left, `b` above, `c` above left. */
function predict(type: number, a: number, b: number, c: number): number {
  if (type === 1) return a;
  if (type === 2) return b;
  if (type === 3) return Math.floor((a + b) / 2);
  if (type !== 4) return 0;
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

/** What a decoder must give: 8-bit RGBA, colours as stored also where alpha is 0. */
export function expectedRgba(picture: Picture): Uint8Array<ArrayBuffer> {
  const { width, height, colorType, bitDepth, sample, palette = [], transparency } = picture;
  const max = 2 ** bitDepth - 1;
  const scale = (value: number): number => Math.round((value * 255) / max);
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const s = Array.from({ length: CHANNELS[colorType] }, (_, index) => sample(x, y, index));
      const [first = 0, second = 0, third = 0, fourth = 0] = s;
      let pixel: readonly number[];
      if (colorType === 3) {
        pixel = [...(palette[first] as Rgb), transparency?.[first] ?? 255];
      } else {
        const isGrey = colorType === 0 || colorType === 4;
        const colour = (isGrey ? [first, first, first] : [first, second, third]).map(scale);
        const keyed = transparency?.every((value, index) => s[index] === value) === true;
        const alpha =
          colorType === 4 ? scale(second) : colorType === 6 ? scale(fourth) : keyed ? 0 : 255;
        pixel = [...colour, alpha];
      }
      rgba.set(pixel, (y * width + x) * 4);
    }
  }
  return rgba;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});
export function crc32(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) c = (TABLE[(c ^ byte) & 0xff] as number) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

function same(bytes: Buffer): Buffer {
  return bytes;
}
