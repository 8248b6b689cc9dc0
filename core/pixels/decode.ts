// PNG to pixels, for who needs all of them: 8-bit RGBA with straight alpha, whatever the file has.
// Holds the decoded picture; `resample` does not.
import { passesOf, type Pass } from './adam7.ts';
import { readCapped, readChunks, type PixelCaps, type PngSource } from './chunks.ts';
import { rowBytesOf, rowFormat, type RowFormat } from './formats.ts';
import { inflateParts, inflatePartsNow, type TakeRaw } from './inflate.ts';
import { createKernels, layOut, type KernelKind } from './kernels.ts';
import { createRowReader } from './rows.ts';
import { runInSlices, runNow } from './slices.ts';

/** Pixels in memory. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue, alpha of each pixel, 8 bits, row by row from the top; alpha is straight. */
  readonly data: Uint8Array;
}

export interface DecodeOptions extends Partial<PixelCaps> {
  /** Default `wasm`, which is `js` where WebAssembly or its SIMD is missing. Same pixels. */
  readonly kernels?: KernelKind;
}

/** 268 MB of pixels. */
const MAX_DECODED_PIXELS = 2 ** 26;
/** Bytes of a file. */
export const MAX_FILE_BYTES = 2 ** 27;

/**
 * Decodes any PNG: all colour types and depths, interlaced or not; gamma and colour profiles are
 * ignored. Takes at most `maxPixels` (default 2^26) out of at most `maxBytes` (default 2^27). Never
 * holds the event loop for more than a few milliseconds. Rejects with a PixelError, or with the
 * signal's reason.
 */
export async function decodePng(
  png: Uint8Array,
  options: DecodeOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<Picture> {
  const { signal } = options;
  signal?.throwIfAborted();
  const info = readCapped(png, capsOf(options));
  const source = await runInSlices(readChunks(png, info), signal);
  return decodeSource(source, { ...options, signal });
}

/** The same at once, holding the inflated file beside the picture. Throws a PixelError. */
export function decodePngSync(png: Uint8Array, options: DecodeOptions = {}): Picture {
  const info = readCapped(png, capsOf(options));
  return decodeSourceNow(runNow(readChunks(png, info)), options.kernels);
}

export async function decodeSource(
  source: PngSource,
  options: { readonly kernels?: KernelKind; readonly signal?: AbortSignal | undefined },
): Promise<Picture> {
  const { picture, take } = collector(source, options.kernels);
  await inflateParts({ source, take, signal: options.signal });
  return picture();
}

export function decodeSourceNow(source: PngSource, kernels?: KernelKind): Picture {
  const { picture, take } = collector(source, kernels);
  inflatePartsNow(source.parts, { expected: rawBytesOf(source), take });
  return picture();
}

/** Bytes that the picture's rows inflate to. */
export function rawBytesOf(source: PngSource): number {
  const { bitsPerPixel } = rowFormat(source);
  return passesOf(source).reduce(
    (sum, { width, height }) => sum + (rowBytesOf(width, bitsPerPixel) + 1) * height,
    0,
  );
}

/** The pixels are asked for by the first row: a file without any costs nothing. */
function collector(
  source: PngSource,
  kind: KernelKind = 'wasm',
): { readonly take: TakeRaw; readonly picture: () => Picture } {
  const { width, height } = source;
  const format = rowFormat(source);
  const passes = passesOf(source);
  const rowBytes = rowBytesOf(width, format.bitsPerPixel);
  const layout = layOut();
  const slots = [layout.slot(rowBytes), layout.slot(rowBytes), layout.slot(rowBytes)] as const;
  const kernels = createKernels(kind, layout.size);
  const thin = source.interlaced ? new Uint8Array(width * 4) : undefined;
  let data: Uint8Array | undefined;
  let index = 0;
  let y = 0;
  let last = slots[0];
  const onRow = (slot: number): void => {
    data ??= new Uint8Array(width * height * 4);
    last = slot;
    const pass = passes[index] as Pass;
    place({ source, format, pass, y, bytes: kernels.bytes, slot, data, thin });
    y += 1;
    if (y === pass.height) {
      index += 1;
      y = 0;
    }
  };
  const take = createRowReader({
    kernels,
    slots,
    passes: passes.map((pass) => ({
      rowBytes: rowBytesOf(pass.width, format.bitsPerPixel),
      rows: pass.height,
    })),
    step: format.step,
    onRow,
    onRepeat: () => {
      onRow(last);
    },
    wanted: passes.reduce((sum, pass) => sum + pass.height, 0),
  });
  return { take, picture: () => ({ width, height, data: data ?? new Uint8Array(0) }) };
}

interface Placing {
  readonly source: PngSource;
  readonly format: RowFormat;
  readonly pass: Pass;
  readonly y: number;
  readonly bytes: Uint8Array;
  readonly slot: number;
  readonly data: Uint8Array;
  readonly thin: Uint8Array | undefined;
}

/** Writes one row of a pass to where its pixels belong. */
function place({ source, format, pass, y, bytes, slot, data, thin }: Placing): void {
  const start = (pass.y + y * pass.stepY) * source.width * 4;
  if (thin === undefined) {
    format.expand({ bytes, from: slot, target: data, to: start, width: pass.width });
    return;
  }
  format.expand({ bytes, from: slot, target: thin, to: 0, width: pass.width });
  for (let x = 0, i = 0; x < pass.width; x += 1, i += 4) {
    const at = start + (pass.x + x * pass.stepX) * 4;
    for (let channel = 0; channel < 4; channel += 1)
      data[at + channel] = thin[i + channel] as number;
  }
}

function capsOf({
  maxPixels = MAX_DECODED_PIXELS,
  maxBytes = MAX_FILE_BYTES,
}: Partial<PixelCaps>): PixelCaps {
  return { maxPixels, maxBytes };
}
