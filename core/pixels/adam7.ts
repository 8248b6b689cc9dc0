// The seven passes of an interlaced picture: where each begins and how it steps.
import type { PngInfo } from './png-header.ts';

export interface Pass {
  readonly x: number;
  readonly y: number;
  readonly stepX: number;
  readonly stepY: number;
  /** Pixels; 1 or more, passes without any are left out. */
  readonly width: number;
  readonly height: number;
}

const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** The passes of a picture in order: one that is the picture itself where it is not interlaced. */
export function passesOf({ width, height, interlaced }: PngInfo): readonly Pass[] {
  if (!interlaced) return [{ x: 0, y: 0, stepX: 1, stepY: 1, width, height }];
  return ADAM7.map(([x, y, stepX, stepY]) => ({
    x,
    y,
    stepX,
    stepY,
    width: Math.ceil((width - x) / stepX),
    height: Math.ceil((height - y) / stepY),
  })).filter((pass) => pass.width > 0 && pass.height > 0);
}
