// The head of a PNG: what size it truly is, read from its own bytes and never from what somebody
// says beside it. Reads the signature and the IHDR chunk, nothing more, so that a hostile image is
// refused before it costs memory. Some devices print a line of text before the image; the
// signature is therefore looked for in the first 4 KiB, and `offset` says where it was found.

import { crc32 } from './crc.ts';

export const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] as const;
/** How far into the bytes the signature may begin. */
const BANNER_LIMIT = 4096;
const IHDR_LENGTH = 13;
const MAX_SIDE = 2 ** 31 - 1;

/** Bits per sample that each colour type allows. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/**
 * Why an image is refused. `not-png`: no signature. `truncated`: the file ends too early, or its
 * rows do. `bad-checksum`: of a chunk that counts. `bad-header`: values that no PNG can have.
 * `apple`: the CgBI variant. `bad-chunk`: a chunk's length, place or content. `bad-data`: what is
 * compressed does not inflate, or names a filter that does not exist. `too-large`: beyond a cap.
 */
export const PIXEL_FAULTS = [
  'not-png',
  'truncated',
  'bad-checksum',
  'bad-header',
  'apple',
  'bad-chunk',
  'bad-data',
  'too-large',
] as const;
/** Why an image is refused. */
export type PixelFault = (typeof PIXEL_FAULTS)[number];

const PIXEL_ERROR_BRAND: symbol = Symbol.for('enginewright.pixel-error');

/** An image that cannot be read. */
export class PixelError extends Error {
  override readonly name = 'PixelError';
  readonly fault: PixelFault;
  constructor(fault: PixelFault, message: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, PIXEL_ERROR_BRAND, { value: true });
    this.fault = fault;
  }
}

/** Recognises a pixel error, also one of another copy of this package. */
export function isPixelError(error: unknown): error is PixelError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as Record<symbol, unknown>)[PIXEL_ERROR_BRAND] === true
  );
}

export interface PngInfo {
  /** Image pixels, 1 or more. */
  readonly width: number;
  readonly height: number;
  /** Bits per sample: 1, 2, 4, 8 or 16. */
  readonly bitDepth: number;
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha. */
  readonly colorType: number;
  /** Adam7. */
  readonly interlaced: boolean;
  /** Where the signature begins: bytes of a text banner before it, else 0. */
  readonly offset: number;
}

/**
 * Reads the head of a PNG. Throws a PixelError: `not-png` without a signature in the first 4 KiB,
 * `truncated`, `bad-checksum`, `bad-header` for values that no PNG can have, `apple` for the
 * private variant that Xcode makes.
 */
export function readPngInfo(bytes: Uint8Array): PngInfo {
  const offset = findSignature(bytes);
  if (offset === undefined) {
    throw new PixelError(
      'not-png',
      bytes.length === 0
        ? 'Image is empty: capture it again.'
        : 'Image is no PNG: its signature is not in the first 4 KiB.',
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunk = offset + SIGNATURE.length;
  const data = chunk + 8;
  const type = ascii(bytes, chunk + 4);
  if (type === 'CgBI') {
    throw new PixelError(
      'apple',
      'Image is a PNG in the CgBI variant: capture or save it as a plain PNG.',
    );
  }
  if (bytes.length < data + IHDR_LENGTH + 4) {
    throw new PixelError('truncated', 'Image is a PNG that ends within its header.');
  }
  const length = view.getUint32(chunk);
  if (type !== 'IHDR' || length !== IHDR_LENGTH) {
    throw new PixelError(
      'bad-header',
      'Image is a broken PNG: its first chunk is not an IHDR of 13 bytes.',
    );
  }
  if (crc32(bytes.subarray(chunk + 4, data + IHDR_LENGTH)) !== view.getUint32(data + IHDR_LENGTH)) {
    throw new PixelError(
      'bad-checksum',
      'Image is a broken PNG: the checksum of its header is wrong.',
    );
  }
  return { ...readHeader(view, data), offset };
}

function readHeader(view: DataView, at: number): Omit<PngInfo, 'offset'> {
  const refuse = (what: string): never => {
    throw new PixelError('bad-header', `Image is a broken PNG: ${what}.`);
  };
  const width = view.getUint32(at);
  const height = view.getUint32(at + 4);
  const bitDepth = view.getUint8(at + 8);
  const colorType = view.getUint8(at + 9);
  const interlace = view.getUint8(at + 12);
  if (width === 0 || height === 0) refuse(`it is ${width} by ${height} pixels`);
  if (width > MAX_SIDE || height > MAX_SIDE) refuse('a side is longer than 2^31 - 1 pixels');
  if (DEPTHS[colorType]?.includes(bitDepth) !== true) {
    refuse(`colour type ${colorType} with ${bitDepth} bits does not exist`);
  }
  if (view.getUint8(at + 10) !== 0) refuse('its compression method is unknown');
  if (view.getUint8(at + 11) !== 0) refuse('its filter method is unknown');
  if (interlace > 1) refuse('its interlace method is unknown');
  return { width, height, bitDepth, colorType, interlaced: interlace === 1 };
}

function findSignature(bytes: Uint8Array): number | undefined {
  const last = Math.min(BANNER_LIMIT, bytes.length - SIGNATURE.length);
  for (let start = 0; start <= last; start += 1) {
    if (SIGNATURE.every((byte, index) => bytes[start + index] === byte)) return start;
  }
  return undefined;
}

function ascii(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
