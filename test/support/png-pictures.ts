// Pictures to make PNG files of: patterns that hold flat blocks, ramps, noise and extremes in one
// image, so that every filter meets residues of every kind, and random pictures from a seed.
import type { BitDepth, Chunk, ColorType, FileOptions, Picture, Rgb } from './png-maker.ts';
import { CHANNELS } from './png-maker.ts';
import type { Random } from '../protocol/fuzz-support.ts';

/** Every pair that the specification allows. */
export const FORMATS: readonly (readonly [ColorType, BitDepth])[] = [
  [0, 1],
  [0, 2],
  [0, 4],
  [0, 8],
  [0, 16],
  [2, 8],
  [2, 16],
  [3, 1],
  [3, 2],
  [3, 4],
  [3, 8],
  [4, 8],
  [4, 16],
  [6, 8],
  [6, 16],
];

/** Whole numbers below 2^32 out of whole numbers, always the same. */
export function hash(...words: readonly number[]): number {
  let mixed = 0x9e3779b9;
  for (const word of words) {
    mixed = Math.imul(mixed ^ word, 0x85ebca6b);
    mixed ^= mixed >>> 13;
    mixed = Math.imul(mixed, 0xc2b2ae35);
    mixed ^= mixed >>> 16;
  }
  return mixed >>> 0;
}

/** Samples of a depth: each block of 8 by 4 pixels is flat, a ramp, noise or black and white. */
function pattern(seed: number, bitDepth: number): Picture['sample'] {
  const max = 2 ** bitDepth - 1;
  return (x, y, channel) => {
    const [column, row] = [x >> 3, y >> 2];
    const kind = hash(seed, column, row) & 3;
    if (kind === 0) return hash(seed, column, row, channel) & max;
    if (kind === 1) return ((x * 3 + y * 5 + channel * 7) * ((max >> 6) + 1)) & max;
    if (kind === 2) return hash(seed, x, y, channel) & max;
    return (hash(seed, x, y, channel) & 1) * max;
  };
}

export function paletteOf(seed: number, entries: number): Rgb[] {
  return Array.from({ length: entries }, (_, index) => {
    const bits = hash(seed, index);
    return [bits & 255, (bits >> 8) & 255, (bits >> 16) & 255];
  });
}

export interface PictureOptions {
  readonly seed: number;
  readonly colorType: ColorType;
  readonly bitDepth: BitDepth;
  /** Default 32. */
  readonly width?: number;
  readonly height?: number;
  readonly interlaced?: boolean;
  readonly transparency?: readonly number[];
}

export function pictureOf(options: PictureOptions): Picture {
  const { seed, colorType, bitDepth, width = 32, height = 32 } = options;
  return {
    ...options,
    width,
    height,
    sample: pattern(seed, bitDepth),
    ...(colorType === 3 ? { palette: paletteOf(seed, 2 ** bitDepth) } : {}),
  };
}

/** A picture of any format up to `maxSide`, and how to write it. */
export function randomPicture(random: Random, maxSide: number): [Picture, FileOptions] {
  const [colorType, bitDepth] = random.pick(FORMATS);
  const seed = random.int(2 ** 31);
  const max = 2 ** bitDepth;
  let transparency: number[] | undefined;
  if (colorType === 3 && random.chance(0.4)) {
    transparency = Array.from({ length: 1 + random.int(max) }, () => random.int(256));
  } else if ((colorType === 0 || colorType === 2) && random.chance(0.3)) {
    const at = pattern(seed, bitDepth);
    transparency = Array.from({ length: CHANNELS[colorType] }, (_, channel) => at(0, 0, channel));
  }
  const picture = pictureOf({
    seed,
    colorType,
    bitDepth,
    width: 1 + random.int(maxSide),
    height: 1 + random.int(maxSide),
    interlaced: random.chance(0.3),
    ...(transparency === undefined ? {} : { transparency }),
  });
  const filterSeed = random.int(2 ** 31);
  return [
    picture,
    {
      filter: random.chance(0.3) ? random.int(5) : (row) => hash(filterSeed, row) % 5,
      level: random.pick([0, 1, 3, 6, 9]),
      ...(random.chance(0.4) ? { idatBytes: 1 + random.int(200) } : {}),
      ...(random.chance(0.3) ? { beforeData: [randomAncillary(random)] } : {}),
    },
  ];
}

function randomAncillary(random: Random): Chunk {
  const data = Uint8Array.from({ length: random.int(64) }, () => random.int(256));
  return { type: random.pick(['teXt', 'prIv', 'zzZz']), data };
}
