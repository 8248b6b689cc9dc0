// Area averaging, a row at a time: source rows are added up, weighted by how much of each falls into
// the output row, and divided horizontally once per output row. Every output pixel is the mean of
// exactly the source area it covers. Weights are whole numbers that add up to the same total for
// every pixel, so a flat colour comes out as it went in. Rows that repeat only add weight.
import { reduceTableSize, writeReduceTable, type Kernels, type Layout } from './kernels.ts';

export interface AreaShape {
  /** Source pixels. */
  readonly width: number;
  readonly height: number;
  /** Output pixels: no more than the source has, on either side. */
  readonly toWidth: number;
  readonly toHeight: number;
  /** Bytes of a source pixel: 1, 3 or 4. */
  readonly step: number;
  /** Bytes of an output pixel: 1 or 3. */
  readonly outStep: number;
}

export interface AreaPlaces {
  readonly sums: number;
  readonly table: number;
}

/** More source rows in an output row than this, and weights of 8 bits would be too coarse. */
const MOST_ROWS_NARROW = 6;

export function placeArea(layout: Layout, shape: AreaShape): AreaPlaces {
  const length = shape.width * shape.step;
  return {
    sums: layout.slot(length * (isWide(shape) ? 4 : 2)),
    table: layout.slot(reduceTableSize(shape.toWidth)),
  };
}

export interface Area {
  /** The next row; it must stay where it is until the next call. */
  readonly row: (slot: number) => void;
  /** The same row once more. */
  readonly repeat: () => void;
}

export interface AreaOptions {
  readonly kernels: Kernels;
  readonly shape: AreaShape;
  readonly places: AreaPlaces;
  /** Where the next output row goes. */
  readonly target: () => number;
  /** An output row is there. */
  readonly onRow: () => void;
}

export function createArea({ kernels, shape, places, target, onRow }: AreaOptions): Area {
  const { width, height, toWidth, toHeight, step, outStep } = shape;
  const { sums, table } = places;
  const wide = isWide(shape);
  const total = wide ? 65536 : 256;
  const length = width * step;
  const full = writeReduceTable(kernels, { table, from: width, to: toWidth, step });
  /** In units of 1/toHeight of a source row, so that every edge is an integer. */
  let position = 0;
  let given = 0;
  let slot = 0;
  let weight = 0;
  let fresh = true;

  const flush = (): void => {
    if (weight === 0) return;
    const work = { row: slot, sums, length, weight, fresh };
    if (wide) kernels.addWide(work);
    else kernels.add(work);
    fresh = false;
    weight = 0;
  };
  const count = (): void => {
    position += toHeight;
    if (position < height) {
      const reached = Math.round((total * position) / height);
      weight += reached - given;
      given = reached;
      return;
    }
    weight += total - given;
    flush();
    kernels.settle(sums, length, wide);
    kernels.reduce({ sums, out: target(), table, count: toWidth, full, step, outStep });
    onRow();
    position -= height;
    given = Math.round((total * position) / height);
    weight = given;
    fresh = true;
  };
  return {
    row(next) {
      flush();
      slot = next;
      count();
    },
    repeat: count,
  };
}

function isWide({ height, toHeight }: AreaShape): boolean {
  return height > toHeight * MOST_ROWS_NARROW;
}
