// Whether two captures of a screen differ by more than a screen at rest does. A pixel counts as
// changed only where its colour is found nowhere near it in the other picture, so that a shimmer of
// one pixel (a text that is laid out anew, a scaled edge) is none; and a lone thin upright bar of
// such pixels is a caret that blinks. Equal pixels cost one comparison, so that two pictures of a
// settled screen cost next to nothing.
import { decodePngSync, type Picture } from './decode.ts';
import type { PixelRect } from './plan.ts';

export interface CompareOptions {
  /** Difference of a channel, of 255, that is none. Default 16. */
  readonly tolerance?: number;
  /** Width in image pixels up to which a lone bar is a caret; 0 counts it. Default 4. */
  readonly caret?: number;
}

export interface Comparison {
  readonly changed: boolean;
  /** Changed pixels of all, 0 to 1. What is tolerated is not counted. */
  readonly share: number;
  /** What the changed pixels lie in, in image pixels. Absent where nothing changed or sizes differ. */
  readonly box?: PixelRect;
}

const NONE: Comparison = { changed: false, share: 0 };
/** A caret is at least so many times as high as wide, and nearly solid. */
const CARET_RATIO = 2.5;
const CARET_FILL = 0.75;

/**
 * Compares two pictures, given as PNG or decoded. A PNG is decoded on the spot, so give large ones
 * decoded (`decodePng`) or resampled. Pictures of two sizes differ. Throws a PixelError.
 */
export function comparePictures(
  a: Picture | Uint8Array,
  b: Picture | Uint8Array,
  options: CompareOptions = {},
): Comparison {
  const { tolerance = 16, caret = 4 } = options;
  if (isPng(a) && isPng(b) && Buffer.compare(a, b) === 0) return NONE;
  const left = pictureOf(a);
  const right = pictureOf(b);
  if (left.width !== right.width || left.height !== right.height) {
    return { changed: true, share: 1 };
  }
  const found = findChanges(left, right, tolerance);
  if (found.count === 0) return NONE;
  const { count, box } = found;
  if (
    box.width <= caret &&
    box.height >= box.width * CARET_RATIO &&
    count >= box.width * box.height * CARET_FILL
  ) {
    return NONE;
  }
  return { changed: true, share: count / (left.width * left.height), box };
}

interface Changes {
  readonly count: number;
  readonly box: PixelRect;
}

function findChanges(a: Picture, b: Picture, tolerance: number): Changes {
  const { width, height } = a;
  const wordsA = wordsOf(a);
  const wordsB = wordsOf(b);
  let count = 0;
  let left = width;
  let right = -1;
  let top = height;
  let bottom = -1;
  for (let y = 0, i = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, i += 1) {
      if (wordsA[i] === wordsB[i]) continue;
      // Both ways: a thing that appeared is found nowhere before, one that vanished nowhere after.
      const at = { x, y, tolerance };
      if (isNear(a.data, b, at) && isNear(b.data, a, at)) continue;
      count += 1;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = y;
    }
  }
  return {
    count,
    box: { x: left, y: top, width: right - left + 1, height: bottom - top + 1 },
  };
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly tolerance: number;
}

/** Whether the pixel lies within the range that the other picture has around it. */
function isNear(data: Uint8Array, other: Picture, { x, y, tolerance }: Place): boolean {
  const { width, height } = other;
  const fromX = Math.max(0, x - 1);
  const toX = Math.min(width - 1, x + 1);
  const fromY = Math.max(0, y - 1);
  const toY = Math.min(height - 1, y + 1);
  for (let channel = 0; channel < 4; channel += 1) {
    const value = data[(y * width + x) * 4 + channel] as number;
    let low = 255;
    let high = 0;
    for (let row = fromY; row <= toY; row += 1) {
      for (let column = fromX; column <= toX; column += 1) {
        const near = other.data[(row * width + column) * 4 + channel] as number;
        if (near < low) low = near;
        if (near > high) high = near;
      }
    }
    if (value < low - tolerance || value > high + tolerance) return false;
  }
  return true;
}

function pictureOf(picture: Picture | Uint8Array): Picture {
  return isPng(picture) ? decodePngSync(picture) : picture;
}

/** A pixel a word; a copy where the bytes lie across words. */
function wordsOf({ data, width, height }: Picture): Uint32Array {
  const { buffer, byteOffset } = data.byteOffset % 4 === 0 ? data : Uint8Array.from(data);
  return new Uint32Array(buffer, byteOffset, width * height);
}

function isPng(picture: Picture | Uint8Array): picture is Uint8Array {
  return ArrayBuffer.isView(picture);
}
