// Where sizes and points are computed, and nowhere else: how large a picture goes to the model, which
// pixel of it is which CSS pixel of the screen, and back. The factors come from the picture's own size
// as it was sent, one for each axis, and never from a device's ratio: a side is rounded to whole
// pixels, and an engine may capture at another ratio than it says. A point outside the picture is
// refused, not clamped: a model that points there looks at something else.
import { fitSize, type Size } from '../../pixels/fit.ts';

export { fitSize, type Size };

/** The longest side of a picture that goes to a model, in image pixels. */
export const PICTURE_LONG_SIDE = 768;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point, Size {}

/** A picture beside what it shows. */
export interface PictureFrame {
  /** Image pixels, read from the bytes that are sent. */
  readonly picture: Size;
  /** What it shows, in CSS pixels. */
  readonly viewport: Size;
}

/** How far outside the picture a point may lie and still mean the outermost pixel, image pixels. */
const SLACK = 1;

/** CSS pixels of an image pixel, for each axis. */
export function cssPerPixel({ picture, viewport }: PictureFrame): Point {
  return { x: viewport.width / picture.width, y: viewport.height / picture.height };
}

/**
 * The CSS point that an image pixel stands for: its middle. Undefined for a point more than a pixel
 * outside the picture, and for what is no number. Off by at most half an image pixel.
 */
export function pointToCss(point: Point, frame: PictureFrame): Point | undefined {
  const x = pixelWithin(point.x, frame.picture.width);
  const y = pixelWithin(point.y, frame.picture.height);
  if (x === undefined || y === undefined) return undefined;
  const { picture, viewport } = frame;
  // Multiplied before it is divided: equal sizes then give exactly the middle.
  return {
    x: ((x + 0.5) * viewport.width) / picture.width,
    y: ((y + 0.5) * viewport.height) / picture.height,
  };
}

/** The image pixel, in whole numbers, that shows a CSS point; undefined as for `pointToCss`. */
export function cssToPoint(css: Point, { picture, viewport }: PictureFrame): Point | undefined {
  const x = pixelWithin((css.x * picture.width) / viewport.width - 0.5, picture.width);
  const y = pixelWithin((css.y * picture.height) / viewport.height - 0.5, picture.height);
  if (x === undefined || y === undefined) return undefined;
  return { x: Math.round(x), y: Math.round(y) };
}

/** The image pixels that a box in CSS pixels touches, rounded outwards; it may lie outside. */
export function boxToPixels(box: Box, { picture, viewport }: PictureFrame): Box {
  const left = Math.floor((box.x * picture.width) / viewport.width);
  const top = Math.floor((box.y * picture.height) / viewport.height);
  const right = Math.ceil(((box.x + box.width) * picture.width) / viewport.width);
  const bottom = Math.ceil(((box.y + box.height) * picture.height) / viewport.height);
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Within 0 and the last pixel, from as far outside as is let pass. */
function pixelWithin(at: number, length: number): number | undefined {
  if (!(at >= -SLACK && at <= length - 1 + SLACK)) return undefined;
  return Math.min(length - 1, Math.max(0, at));
}
