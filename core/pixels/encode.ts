// Pixels to PNG. Rows are filtered as they come and compressed a band at a time on the thread pool,
// while the next rows are still being made. Each row gets the cheaper of two filters, left or above:
// on screenshots made small, that came out as small as a choice of all five, and smaller than the
// Paeth filter throughout (by 3 to 8 %). Levels beyond 4 take twice the time for 3 % less.
import { createDeflate, deflateSync } from 'node:zlib';
import { crc32 } from './crc.ts';
import { createKernels, layOut, type KernelKind, type Kernels, type Layout } from './kernels.ts';
import { race } from '../base/deadline.ts';
import { SIGNATURE } from './png-header.ts';
import { runInSlices } from './slices.ts';

/** Of zlib, 1 to 9. */
export const DEFAULT_LEVEL = 2;
/** Filtered bytes that go to the compressor at a time. */
const BAND_BYTES = 2 ** 17;
const SUB = 1;
const UP = 2;
const SAMPLE_EVERY = 128;
const SAMPLE_BYTES = 16;
const COLOR_TYPES: Readonly<Record<number, number>> = { 1: 0, 2: 4, 3: 2, 4: 6 };

export interface EncoderShape {
  readonly width: number;
  readonly height: number;
  /** Bytes of a pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
  readonly channels: 1 | 2 | 3 | 4;
}

export interface EncoderPlaces {
  readonly slots: readonly [number, number];
  readonly filtered: number;
}

export function placeEncoder(layout: Layout, { width, channels }: EncoderShape): EncoderPlaces {
  const length = width * channels;
  return {
    slots: [layout.slot(length), layout.slot(length)],
    filtered: layout.slot(length),
  };
}

export interface RowFilter {
  /** Where the next row's bytes go. */
  readonly target: () => number;
  /** They are there. */
  readonly onRow: () => void;
}

export interface RowFilterOptions {
  readonly kernels: Kernels;
  readonly shape: EncoderShape;
  readonly places: EncoderPlaces;
  /** Takes filtered rows, whole ones; the last time when all have come. */
  readonly onBand: (band: Uint8Array, last: boolean) => void;
}

export function createRowFilter({ kernels, shape, places, onBand }: RowFilterOptions): RowFilter {
  const { width, height, channels } = shape;
  const { bytes } = kernels;
  const length = width * channels;
  const perBand = Math.max(1, Math.ceil(BAND_BYTES / (length + 1)));
  let [row, above] = places.slots;
  let y = 0;
  let band = new Uint8Array(0);
  let at = 0;
  return {
    target: () => row,
    onRow() {
      if (at === band.length) {
        band = new Uint8Array((length + 1) * Math.min(perBand, height - y));
        at = 0;
      }
      const filter = chooseFilter({ bytes, row, above, length, step: channels });
      const out = places.filtered;
      const other = filter === UP ? above : row - channels;
      kernels.subtract({ row, other, out, length });
      band[at] = filter;
      band.set(bytes.subarray(out, out + length), at + 1);
      at += length + 1;
      y += 1;
      [row, above] = [above, row];
      if (at === band.length) onBand(band, y === height);
    },
  };
}

interface RowPlace {
  readonly bytes: Uint8Array;
  readonly row: number;
  readonly above: number;
  readonly length: number;
  readonly step: number;
}

/** By the differences that each would leave, in samples: an eighth of the row tells as much. */
function chooseFilter({ bytes, row, above, length, step }: RowPlace): number {
  let toLeft = 0;
  let toAbove = 0;
  for (let from = 0; from < length; from += SAMPLE_EVERY) {
    const end = Math.min(length, from + SAMPLE_BYTES);
    for (let i = from; i < end; i += 1) {
      const value = bytes[row + i] as number;
      toLeft += Math.abs(value - (bytes[row + i - step] as number));
      toAbove += Math.abs(value - (bytes[above + i] as number));
    }
  }
  return toAbove < toLeft ? UP : SUB;
}

export interface Deflater {
  readonly write: (band: Uint8Array, last: boolean) => void;
  /** The compressed bands, once the last has been written. */
  readonly result: Promise<readonly Uint8Array[]>;
  readonly destroy: () => void;
}

export function createDeflater(level: number): Deflater {
  const deflate = createDeflate({ level, chunkSize: BAND_BYTES });
  const chunks: Uint8Array[] = [];
  const result = new Promise<readonly Uint8Array[]>((resolve, reject) => {
    deflate.on('data', (chunk: Buffer) => chunks.push(chunk));
    deflate.on('end', () => {
      resolve(chunks);
    });
    deflate.on('error', reject);
  });
  return {
    write(band, last) {
      if (last) deflate.end(band);
      else deflate.write(band);
    },
    result,
    destroy() {
      deflate.destroy();
    },
  };
}

/** Compresses bands at once. */
export function deflateNow(bands: readonly Uint8Array[], level: number): readonly Uint8Array[] {
  return [deflateSync(Buffer.concat(bands), { level })];
}

/** The file around compressed rows. */
export function assemblePng(shape: EncoderShape, data: readonly Uint8Array[]): Uint8Array {
  const head = new Uint8Array(13);
  const view = new DataView(head.buffer);
  view.setUint32(0, shape.width);
  view.setUint32(4, shape.height);
  head[8] = 8;
  head[9] = COLOR_TYPES[shape.channels] as number;
  const size = data.reduce((sum, { length }) => sum + length, 0);
  const png = new Uint8Array(SIGNATURE.length + 25 + 12 + size + 12);
  png.set(SIGNATURE);
  let at = writeChunk({ png, at: SIGNATURE.length, type: 'IHDR', data: [head] });
  at = writeChunk({ png, at, type: 'IDAT', data });
  writeChunk({ png, at, type: 'IEND', data: [] });
  return png;
}

interface Chunk {
  readonly png: Uint8Array;
  readonly at: number;
  readonly type: string;
  readonly data: readonly Uint8Array[];
}

/** Gives the offset behind it. */
function writeChunk({ png, at, type, data }: Chunk): number {
  const view = new DataView(png.buffer);
  for (let i = 0; i < 4; i += 1) png[at + 4 + i] = type.charCodeAt(i);
  let end = at + 8;
  for (const part of data) {
    png.set(part, end);
    end += part.length;
  }
  view.setUint32(at, end - at - 8);
  view.setUint32(end, crc32(png.subarray(at + 4, end)));
  return end + 4;
}

export interface PixelData extends EncoderShape {
  /** Row by row from the top, 8 bits a channel, nothing between rows. */
  readonly data: Uint8Array;
}

export interface EncodeOptions {
  /** zlib's, 1 to 9. Default 2. */
  readonly level?: number;
  /** Default `wasm`, which is `js` where WebAssembly or its SIMD is missing. Same bytes. */
  readonly kernels?: KernelKind;
}

/** Writes a PNG of 8 bits a channel. Throws a RangeError when the data does not fit the size. */
export function encodePngSync(pixels: PixelData, options: EncodeOptions = {}): Uint8Array {
  const bands: Uint8Array[] = [];
  const rows = filterRows(pixels, { ...options, onBand: (band) => bands.push(band) });
  while (rows.next().done !== true);
  return assemblePng(pixels, deflateNow(bands, options.level ?? DEFAULT_LEVEL));
}

/** The same, compressed on the thread pool. Rejects with the signal's reason when it aborts. */
export async function encodePng(
  pixels: PixelData,
  options: EncodeOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<Uint8Array> {
  const { signal } = options;
  signal?.throwIfAborted();
  const deflater = createDeflater(options.level ?? DEFAULT_LEVEL);
  try {
    await runInSlices(filterRows(pixels, { ...options, onBand: deflater.write }), signal);
    const data = await (signal === undefined ? deflater.result : race(deflater.result, signal));
    return assemblePng(pixels, data);
  } finally {
    deflater.destroy();
  }
}

/** Yields after each band. */
function* filterRows(
  pixels: PixelData,
  options: EncodeOptions & { readonly onBand: RowFilterOptions['onBand'] },
): Generator<void, void, void> {
  const { width, height, channels, data } = pixels;
  const length = width * channels;
  if (!Number.isSafeInteger(width) || !Number.isSafeInteger(height) || width < 1 || height < 1) {
    throw new RangeError(`Picture is ${width} by ${height} pixels: give whole numbers from 1.`);
  }
  if (COLOR_TYPES[channels] === undefined) {
    throw new RangeError(`Picture has ${channels} channels: give 1, 2, 3 or 4.`);
  }
  if (data.length !== length * height) {
    throw new RangeError(
      `Picture has ${data.length} bytes: ${width} by ${height} pixels of ${channels} have ${length * height}.`,
    );
  }
  const layout = layOut();
  const places = placeEncoder(layout, pixels);
  const kernels = createKernels(options.kernels ?? 'wasm', layout.size);
  let full = false;
  const rows = createRowFilter({
    kernels,
    shape: pixels,
    places,
    onBand(band, last) {
      options.onBand(band, last);
      full = true;
    },
  });
  for (let y = 0; y < height; y += 1) {
    kernels.bytes.set(data.subarray(y * length, (y + 1) * length), rows.target());
    rows.onRow();
    if (full) yield;
    full = false;
  }
}
