// How large a picture becomes whose long side is limited. The one rule for it: who scales a picture
// and who translates points in it (`agent/screen/coordinates.ts`) both read it here.

export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * The size in whole pixels at which the longer side is at most `longSide`. Never larger than given,
 * and no side becomes 0: 1 by 2000 at 768 is 1 by 768.
 */
export function fitSize(width: number, height: number, longSide: number): Size {
  const long = Math.max(width, height);
  if (long <= longSide) return { width, height };
  const side = (length: number): number =>
    length === long ? longSide : Math.max(1, Math.round((length * longSide) / long));
  return { width: side(width), height: side(height) };
}
