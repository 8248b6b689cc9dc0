// A capture, made as small as a model wants it, in one pass over its rows: inflate, unfilter, mask,
// average, filter, deflate. Holds a few rows, a piece of the file and the result, never the picture
// (an interlaced one excepted, whose rows come in seven passes). What inflates and deflates runs on
// the thread pool beside it, and nothing holds the event loop for more than a few milliseconds.
import { race } from '../base/deadline.ts';
import { readCapped, readChunks, type PngSource } from './chunks.ts';
import { decodeSource, decodeSourceNow, rawBytesOf } from './decode.ts';
import { assemblePng, createDeflater, deflateNow } from './encode.ts';
import type { Size } from './fit.ts';
import { rowFormat } from './formats.ts';
import { inflateParts, inflatePartsNow } from './inflate.ts';
import { createPipeline, outputShape, resamplePicture, type TakeBand } from './pipeline.ts';
import {
  checkOptions,
  isUnchanged,
  planOf,
  readCaps,
  type Plan,
  type ResampleOptions,
} from './plan.ts';
import { PixelError, type PngInfo } from './png-header.ts';
import { runInSlices, runNow } from './slices.ts';

export interface ResampledPicture {
  /** A PNG: 8 bits a channel, grey or RGB, without transparency. */
  readonly data: Uint8Array;
  /** Image pixels. */
  readonly width: number;
  readonly height: number;
  /** What was given, before cropping. */
  readonly source: Size;
  /** How many masks reached into the picture and were painted. */
  readonly masked: number;
}

/** Interlaced pictures are held as a whole: 268 MB. */
const MAX_INTERLACED_PIXELS = 2 ** 26;

/**
 * Brings a PNG's longer side down to `longSide` and writes it as a PNG again; never enlarges.
 * Transparent parts are laid on white; gamma and colour profiles are dropped without a conversion. A
 * picture that needs no change is read to its end as well, so that a broken one is refused, and then
 * given back as it is, not copied (text before its signature is cut off). Takes at most `maxPixels` (default 2^27) out of at most
 * `maxBytes` (default 2^27). Rejects with a PixelError, with a TypeError or RangeError that names an
 * option, or with the signal's reason.
 */
export async function resample(
  png: Uint8Array,
  options: ResampleOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<ResampledPicture> {
  const { signal } = options;
  signal?.throwIfAborted();
  const { info, plan } = begin(png, options);
  const source = await runInSlices(readChunks(png, info), signal);
  if (isUnchanged(plan)) {
    await run(source, { plan, onBand: () => undefined, signal });
    return sameAs(png, info);
  }
  const deflater = createDeflater(plan.level);
  try {
    await run(source, { plan, onBand: deflater.write, signal });
    const data = await (signal === undefined ? deflater.result : race(deflater.result, signal));
    return resultOf({ source, plan, data });
  } finally {
    deflater.destroy();
  }
}

/**
 * The same at once. Node inflates synchronously only in one piece: this holds the raw image (width
 * times height times its bytes per pixel) and blocks until it is done. Data that inflates to more
 * than the picture is refused here, where `resample` stops reading it.
 */
export function resampleSync(png: Uint8Array, options: ResampleOptions = {}): ResampledPicture {
  const { info, plan } = begin(png, options);
  const source = runNow(readChunks(png, info));
  const bands: Uint8Array[] = [];
  const onBand: TakeBand = (band) => bands.push(band);
  if (source.interlaced) {
    const picture = decodeSourceNow(source, plan.kernels);
    runNow(resamplePicture(picture, { plan, grey: rowFormat(source).grey, onBand }));
  } else {
    const take = createPipeline(source, { plan, onBand });
    inflatePartsNow(source.parts, { expected: rawBytesOf(source), take });
  }
  return isUnchanged(plan)
    ? sameAs(png, info)
    : resultOf({ source, plan, data: deflateNow(bands, plan.level) });
}

interface RunOptions {
  readonly plan: Plan;
  readonly onBand: TakeBand;
  readonly signal: AbortSignal | undefined;
}

async function run(source: PngSource, { plan, onBand, signal }: RunOptions): Promise<void> {
  if (source.interlaced) {
    const picture = await decodeSource(source, { kernels: plan.kernels, signal });
    const work = resamplePicture(picture, { plan, grey: rowFormat(source).grey, onBand });
    await runInSlices(work, signal);
  } else {
    const take = createPipeline(source, { plan, onBand });
    await inflateParts({ source, take, signal });
  }
}

function begin(png: Uint8Array, options: ResampleOptions): { info: PngInfo; plan: Plan } {
  checkOptions(options);
  const info = readCapped(png, readCaps(options));
  if (info.interlaced && info.width * info.height > MAX_INTERLACED_PIXELS) {
    throw new PixelError(
      'too-large',
      `Image is interlaced and ${info.width} by ${info.height} pixels: at most ${MAX_INTERLACED_PIXELS} are read, as such a picture is held as a whole.`,
    );
  }
  return { info, plan: planOf(options, info) };
}

function sameAs(png: Uint8Array, { offset, width, height }: PngInfo): ResampledPicture {
  const data = offset === 0 ? png : png.subarray(offset);
  return { data, width, height, source: { width, height }, masked: 0 };
}

interface Result {
  readonly source: PngSource;
  readonly plan: Plan;
  readonly data: readonly Uint8Array[];
}

function resultOf({ source, plan, data }: Result): ResampledPicture {
  const { width, height } = plan.source;
  return {
    data: assemblePng(outputShape(source, plan), data),
    ...plan.target,
    source: { width, height },
    masked: plan.masks.length,
  };
}
