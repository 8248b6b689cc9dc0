// Raw bytes to rows: cuts what was inflated into rows and undoes each row's filter in the kernels'
// memory. Holds three rows and never the picture. A row counts only once every byte of it has come:
// memory that inflating did not fill is never read. A row whose bytes say "as the one above" is not
// written again but reported as a repetition; a tenth to a third of a screenshot's rows are.
import { ROW_LEAD, type Kernels } from './kernels.ts';
import { PixelError } from './png-header.ts';
import type { TakeRaw } from './inflate.ts';

/** A rectangle of rows: the picture, or one of the seven of an interlaced one. */
export interface RowPass {
  readonly rowBytes: number;
  readonly rows: number;
}

export interface RowReaderOptions {
  readonly kernels: Kernels;
  /** Where three rows of the longest pass may lie. */
  readonly slots: readonly [number, number, number];
  readonly passes: readonly RowPass[];
  /** Bytes to the pixel on the left: whole ones, at least 1. */
  readonly step: number;
  /** A row that is complete; valid until two more have come. */
  readonly onRow: (slot: number) => void;
  /** A row that is the same as the one before it, which is where it was. */
  readonly onRepeat: () => void;
  /** Rows wanted in all; those behind them are never asked for. */
  readonly wanted: number;
}

const UP = 2;
const PAETH = 4;

export function createRowReader(options: RowReaderOptions): TakeRaw {
  const { kernels, passes, step, onRow, onRepeat } = options;
  const { bytes } = kernels;
  let [above, row, next] = options.slots;
  let wanted = options.wanted;
  let passIndex = -1;
  let rowBytes = 0;
  let rowsLeft = 0;
  let filter = -1;
  let have = 0;

  const startPass = (): void => {
    while (rowsLeft === 0 && passIndex + 1 < passes.length) {
      passIndex += 1;
      const pass = passes[passIndex] as RowPass;
      rowBytes = pass.rowBytes;
      rowsLeft = pass.rows;
    }
    bytes.fill(0, above - ROW_LEAD, above + rowBytes);
  };
  const emit = (slot: number): void => {
    rowsLeft -= 1;
    wanted -= 1;
    onRow(slot);
  };
  /** Gives the offset behind what it used beyond the row itself. */
  const finishRow = (chunk: Uint8Array, at: number): number => {
    if ((filter === UP || filter === PAETH) && kernels.zeros(row, rowBytes) === rowBytes) {
      rowsLeft -= 1;
      wanted -= 1;
      if (rowsLeft + 1 === (passes[passIndex] as RowPass).rows) onRow(above);
      else onRepeat();
      return at;
    }
    if (filter === PAETH && rowsLeft > 1 && chunk[at] === PAETH && at + rowBytes < chunk.length) {
      bytes.set(chunk.subarray(at + 1, at + 1 + rowBytes), next);
      kernels.paethPair({ row, next, above, length: rowBytes, step });
      emit(row);
      if (wanted > 0) emit(next);
      [above, row, next] = [next, above, row];
      return at + 1 + rowBytes;
    }
    kernels.unfilter({ filter, row, above, length: rowBytes, step });
    emit(row);
    [above, row, next] = [row, next, above];
    return at;
  };

  startPass();
  return (chunk) => {
    let at = 0;
    while (at < chunk.length && wanted > 0) {
      if (filter < 0) {
        filter = chunk[at] as number;
        at += 1;
        if (filter > PAETH) {
          throw new PixelError(
            'bad-data',
            `Image is a broken PNG: filter ${filter} does not exist.`,
          );
        }
      }
      const taken = Math.min(rowBytes - have, chunk.length - at);
      bytes.set(chunk.subarray(at, at + taken), row + have);
      have += taken;
      at += taken;
      if (have < rowBytes) break;
      at = finishRow(chunk, at);
      filter = -1;
      have = 0;
      if (rowsLeft === 0) startPass();
    }
    return wanted === 0;
  };
}
