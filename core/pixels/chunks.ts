// A PNG's chunks: where its compressed rows lie, and its palette and transparency. All of it is read
// from lengths and checksums alone, before anything is inflated, so that a hostile file is refused
// for the price of reading it. Strict up to the last row's data and lenient behind it: what follows
// the image data (text, a bad or missing IEND, anything after it) cannot change the picture.
import { crc32 } from './crc.ts';
import { PixelError, readPngInfo, SIGNATURE, type PngInfo } from './png-header.ts';

export interface PixelCaps {
  /** Most pixels of the picture. */
  readonly maxPixels: number;
  /** Most bytes of the file. */
  readonly maxBytes: number;
}

/** Longest side that is read: what a row may cost in memory. */
const MAX_READ_SIDE = 2 ** 18;
const MAX_CHUNK = 2 ** 31 - 1;
/** More than a file of any use has: 4 KiB each, they hold 1 GiB. */
const MAX_CHUNKS = 2 ** 18;
const IDAT = 0x49444154;
/** What is done between two yields; about a millisecond. */
const CHUNKS_A_SLICE = 1024;
const BYTES_A_SLICE = 2 ** 20;
const IHDR_END = SIGNATURE.length + 25;

export interface PngSource extends PngInfo {
  /** Red, green, blue of each entry; only where the colour type is 3. */
  readonly palette?: Uint8Array;
  /** tRNS as it stands in the file, of a length that its colour type allows. */
  readonly transparency?: Uint8Array;
  /** The content of the IDAT chunks, in order, without empty ones. */
  readonly parts: readonly Uint8Array[];
}

/** Reads the head under the caps. Throws a PixelError. */
export function readCapped(png: Uint8Array, caps: PixelCaps): PngInfo {
  if (png.length > caps.maxBytes) {
    throw new PixelError(
      'too-large',
      `Image is ${png.length} bytes: at most ${caps.maxBytes} are read (maxBytes).`,
    );
  }
  const info = readPngInfo(png);
  const { width, height } = info;
  if (width * height > caps.maxPixels) {
    throw new PixelError(
      'too-large',
      `Image is ${width} by ${height} pixels: at most ${caps.maxPixels} are read (maxPixels).`,
    );
  }
  if (width > MAX_READ_SIDE || height > MAX_READ_SIDE) {
    throw new PixelError(
      'too-large',
      `Image is ${width} by ${height} pixels: a side may have ${MAX_READ_SIDE}.`,
    );
  }
  return info;
}

/**
 * Finds what the picture is made of and compares the checksums. Yields after each piece of work, so
 * that a caller can let others run. Throws a PixelError.
 */
export function* readChunks(png: Uint8Array, info: PngInfo): Generator<void, PngSource, void> {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const parts: Uint8Array[] = [];
  let palette: Uint8Array | undefined;
  let transparency: Uint8Array | undefined;
  let inData = false;
  let at = info.offset + IHDR_END;
  let rested = at;
  for (let count = 0; ; count += 1) {
    if (at + 12 > png.length) {
      if (inData) break;
      throw new PixelError('truncated', 'Image is a PNG that ends before its image data.');
    }
    const length = view.getUint32(at);
    const isData = view.getUint32(at + 4) === IDAT;
    if (inData && !isData) break;
    const type = isData ? 'IDAT' : nameAt(png, at + 4);
    if (length > MAX_CHUNK) refuse(`its chunk ${type} claims ${length} bytes`);
    if (count > MAX_CHUNKS) refuse(`it has more than ${MAX_CHUNKS} chunks`);
    const end = at + 8 + length;
    if (end + 4 > png.length) {
      throw new PixelError('truncated', `Image is a PNG that ends within its chunk ${type}.`);
    }
    const data = png.subarray(at + 8, end);
    const counts = isData || type === 'PLTE' || type === 'tRNS';
    if (counts) yield* check(png.subarray(at + 4, end), { crc: view.getUint32(end), type });
    if (isData) {
      inData = true;
      if (length > 0) parts.push(data);
    } else if (type === 'PLTE') {
      if (palette !== undefined) refuse('it has two palettes');
      if (length === 0 || length % 3 !== 0 || length > 768) {
        refuse(`its palette has ${length} bytes`);
      }
      palette = data;
    } else if (type === 'tRNS') {
      transparency = readTransparency(data, info, palette);
    } else if (type === 'IEND') {
      throw new PixelError('truncated', 'Image is a PNG without image data.');
    } else if (((png[at + 4] as number) & 0x20) === 0) {
      refuse(`its chunk ${type} is unknown and cannot be skipped`);
    }
    at = end + 4;
    if (count % CHUNKS_A_SLICE === CHUNKS_A_SLICE - 1 || at - rested >= BYTES_A_SLICE) {
      rested = at;
      yield;
    }
  }
  if (info.colorType === 3 && palette === undefined) refuse('it has no palette before its data');
  return {
    ...info,
    ...(info.colorType === 3 && palette !== undefined ? { palette } : {}),
    ...(transparency === undefined ? {} : { transparency }),
    parts,
  };
}

function* check(
  bytes: Uint8Array,
  { crc, type }: { readonly crc: number; readonly type: string },
): Generator<void, void, void> {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += BYTES_A_SLICE) {
    if (at > 0) yield;
    sum = crc32(bytes.subarray(at, at + BYTES_A_SLICE), sum);
  }
  if (sum === crc) return;
  throw new PixelError(
    'bad-checksum',
    `Image is a broken PNG: the checksum of a chunk ${type} is wrong.`,
  );
}

function nameAt(png: Uint8Array, at: number): string {
  const name = String.fromCharCode(...png.subarray(at, at + 4));
  if (!/^[A-Za-z]{4}$/.test(name)) refuse('a chunk has a name that is none');
  return name;
}

function readTransparency(
  data: Uint8Array,
  { colorType }: PngInfo,
  palette: Uint8Array | undefined,
): Uint8Array | undefined {
  // Pictures with alpha have no use for it, and decoders skip it there.
  if (colorType === 4 || colorType === 6) return undefined;
  if (colorType === 3 && palette === undefined) refuse('its tRNS comes before its palette');
  const wanted = colorType === 0 ? 2 : 6;
  const fits =
    colorType === 3
      ? data.length > 0 && data.length <= (palette?.length ?? 0) / 3
      : data.length === wanted;
  if (!fits) refuse(`its tRNS has ${data.length} bytes`);
  return data;
}

function refuse(what: string): never {
  throw new PixelError('bad-chunk', `Image is a broken PNG: ${what}.`);
}
