// What `resample` was asked for, checked and brought to whole pixels before anything is decoded.
// Rectangles are rounded outwards: a mask that covers part of a pixel covers the pixel.
import { suggestName } from '../base/nearest.ts';
import type { PixelCaps } from './chunks.ts';
import { MAX_FILE_BYTES } from './decode.ts';
import { DEFAULT_LEVEL } from './encode.ts';
import { fitSize, type Size } from './fit.ts';
import { KERNEL_KINDS, type KernelKind } from './kernels.ts';

/** A rectangle in image pixels; fractions are rounded outwards. */
export interface PixelRect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const RESAMPLE_MODES = ['area', 'fine'] as const;
/** `area`: the mean of what a pixel covers. `fine`: that to twice the size, then Lanczos-3. */
export type ResampleMode = (typeof RESAMPLE_MODES)[number];

export interface ResampleOptions extends Partial<PixelCaps> {
  /** Image pixels that the longer side has at most afterwards, from 1. Default 768. */
  readonly longSide?: number;
  /** Default `area`. */
  readonly mode?: ResampleMode;
  /** The part to keep; what lies outside the picture is cut off it. Default: all. */
  readonly crop?: PixelRect;
  /** Painted black before anything is averaged, so that nothing of them shows at their edges. */
  readonly masks?: readonly PixelRect[];
  /** zlib's, 1 to 9. Default 2. */
  readonly level?: number;
  /** Default `wasm`, which is `js` where WebAssembly or its SIMD is missing. Same bytes. */
  readonly kernels?: KernelKind;
}

/** Whole pixels; `right` and `bottom` are the first ones outside. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Plan {
  readonly source: Size;
  readonly crop: Box;
  readonly target: Size;
  /** Those that reach into the crop. */
  readonly masks: readonly Box[];
  readonly mode: ResampleMode;
  readonly level: number;
  readonly kernels: KernelKind;
}

const OPTION_NAMES = [
  'longSide',
  'mode',
  'crop',
  'masks',
  'level',
  'kernels',
  'maxPixels',
  'maxBytes',
  'signal',
] as const satisfies readonly (keyof ResampleOptions | 'signal')[];
const DEFAULT_LONG_SIDE = 768;
/** 2000 by 50000 pixels, and a third more. */
const MAX_PIXELS = 2 ** 27;

export function readCaps({
  maxPixels = MAX_PIXELS,
  maxBytes = MAX_FILE_BYTES,
}: ResampleOptions): PixelCaps {
  return { maxPixels, maxBytes };
}

/** Throws a TypeError or RangeError that names the option. */
export function checkOptions(options: ResampleOptions): void {
  for (const name of Object.keys(options)) {
    if (!(OPTION_NAMES as readonly string[]).includes(name)) {
      throw new TypeError(
        `Option ${name} is unknown to resample${suggestName(name, OPTION_NAMES)}`,
      );
    }
  }
  const { longSide, level, mode, kernels } = options;
  for (const [name, value, most] of [
    ['longSide', longSide, Number.MAX_SAFE_INTEGER],
    ['level', level, 9],
  ] as const) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1 && value <= most)) {
      throw new RangeError(`Option ${name} is ${value}: give a whole number from 1 to ${most}.`);
    }
  }
  for (const [name, value, known] of [
    ['mode', mode, RESAMPLE_MODES],
    ['kernels', kernels, KERNEL_KINDS],
  ] as const) {
    if (value !== undefined && !(known as readonly string[]).includes(value)) {
      throw new TypeError(
        `Option ${name} is ${JSON.stringify(value)}${suggestName(String(value), known)}`,
      );
    }
  }
}

export function planOf(options: ResampleOptions, source: Size): Plan {
  const { longSide = DEFAULT_LONG_SIDE, mode = 'area', level = DEFAULT_LEVEL } = options;
  const whole: Box = { left: 0, top: 0, right: source.width, bottom: source.height };
  const crop = options.crop === undefined ? whole : boxOf(options.crop, whole);
  if (crop === undefined) {
    throw new RangeError(
      `Option crop lies outside the picture: it is ${source.width} by ${source.height} pixels.`,
    );
  }
  return {
    source,
    crop,
    target: fitSize(crop.right - crop.left, crop.bottom - crop.top, longSide),
    masks: (options.masks ?? []).flatMap((mask) => boxOf(mask, crop) ?? []),
    mode,
    level,
    kernels: options.kernels ?? 'wasm',
  };
}

/** Whether the picture stays as it is. */
export function isUnchanged({ source, crop, target, masks }: Plan): boolean {
  return (
    masks.length === 0 &&
    crop.right - crop.left === source.width &&
    crop.bottom - crop.top === source.height &&
    target.width === source.width &&
    target.height === source.height
  );
}

/** The pixels that the rectangle touches within `bounds`; undefined for none. */
function boxOf({ x, y, width, height }: PixelRect, bounds: Box): Box | undefined {
  if (![x, y, width, height].every(Number.isFinite) || width < 0 || height < 0) {
    throw new RangeError(
      `Rectangle ${x}, ${y}, ${width}, ${height} is none: give finite numbers, no side below 0.`,
    );
  }
  const box = {
    left: Math.max(bounds.left, Math.floor(x)),
    top: Math.max(bounds.top, Math.floor(y)),
    right: Math.min(bounds.right, Math.ceil(x + width)),
    bottom: Math.min(bounds.bottom, Math.ceil(y + height)),
  };
  if (width === 0 || height === 0) return undefined;
  return box.left < box.right && box.top < box.bottom ? box : undefined;
}
