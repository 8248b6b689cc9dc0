// The arithmetic on rows of bytes that takes nearly all of the time, behind one interface with two
// makers: WebAssembly with SIMD, and plain JS for where that is missing, with the same output to the
// byte. All of it works on offsets into one memory, laid out before it is made (`layOut`). Every row
// has room before and behind it: the SIMD forms read and write whole vectors.
import { createJsKernels } from './kernels-js.ts';
import { createSimdKernels } from './kernels-simd.ts';

/** Zero bytes before each slot: the pixel left of the first one. */
export const ROW_LEAD = 16;
/** Bytes behind each slot that may hold anything. */
const ROW_TAIL = 64;

export interface Kernels {
  readonly kind: 'wasm' | 'js';
  readonly bytes: Uint8Array;
  /** How many bytes of the row are zero before the first that is not. */
  zeros(row: number, length: number): number;
  /** Undoes a filter (0 to 4) in place. */
  unfilter(work: UnfilterWork): void;
  /** Undoes filter 4 of two rows, one below the other. */
  paethPair(work: PairWork): void;
  /** Whether each fourth byte is 255. */
  opaque(row: number, length: number): boolean;
  /** Adds the row, times `weight`, to sums of 16 bits; all weights of a sum are 256 together. */
  add(work: AddWork): void;
  /** The same with sums of 32 bits and weights of 65536 together. */
  addWide(work: AddWork): void;
  /** Makes what was added readable for `reduce`: sums of 16 bits, 256 times a byte. */
  settle(sums: number, length: number, wide: boolean): void;
  /** Averages settled sums to one row of pixels. */
  reduce(work: ReduceWork): void;
  /** What is left of a row when another one is taken off. */
  subtract(work: SubtractWork): void;
}

export interface UnfilterWork {
  readonly filter: number;
  readonly row: number;
  readonly above: number;
  /** Bytes. */
  readonly length: number;
  /** Bytes of a pixel, at least 1. */
  readonly step: number;
}

export interface PairWork {
  readonly row: number;
  /** The row below it. */
  readonly next: number;
  readonly above: number;
  readonly length: number;
  readonly step: number;
}

export interface AddWork {
  readonly row: number;
  readonly sums: number;
  readonly length: number;
  readonly weight: number;
  /** Forgets what was in the sums. */
  readonly fresh: boolean;
}

export interface ReduceWork {
  readonly sums: number;
  readonly out: number;
  /** An entry for each output pixel, see `writeReduceTable`. */
  readonly table: number;
  /** Output pixels. */
  readonly count: number;
  /** Weight of a source pixel that lies within an output pixel, of 65536. */
  readonly full: number;
  /** Sums of a source pixel: 1, 3 or 4. */
  readonly step: number;
  /** Bytes of an output pixel: 1 or 3. */
  readonly outStep: number;
}

export interface SubtractWork {
  readonly row: number;
  /** The row above, or the row itself a pixel further left. */
  readonly other: number;
  readonly out: number;
  readonly length: number;
}

/** Which kernels to use; `wasm` falls back to `js` where it is missing. */
export const KERNEL_KINDS = ['wasm', 'js'] as const;
export type KernelKind = (typeof KERNEL_KINDS)[number];

/** Hands out places in a memory that does not exist yet. */
export interface Layout {
  /** A place for so many bytes, with room around it, at a multiple of 16. */
  slot(length: number): number;
  /** Bytes needed in all. */
  readonly size: number;
}

export function layOut(): Layout {
  let top = 0;
  return {
    slot(length) {
      const at = top + ROW_LEAD;
      top = at + Math.ceil((length + ROW_TAIL) / 16) * 16;
      return at;
    },
    get size() {
      return top;
    },
  };
}

/** Kernels over a memory of their own, all of it zero. */
export function createKernels(kind: KernelKind, size: number): Kernels {
  return (kind === 'wasm' ? createSimdKernels(size) : undefined) ?? createJsKernels(size);
}

/** Bytes of a reduce table. */
export function reduceTableSize(count: number): number {
  return count * 16;
}

/**
 * Writes how `from` pixels become `to`: for each output pixel where its first source pixel's sums
 * begin (bytes), how many source pixels lie within it behind that one, and the weights of the first
 * and of the one behind those, 65536 with the full ones together. Gives the full weight.
 */
export function writeReduceTable(
  kernels: Kernels,
  { table, from, to, step }: { table: number; from: number; to: number; step: number },
): number {
  const view = new Int32Array(kernels.bytes.buffer, table, to * 4);
  const full = Math.floor((65536 * to) / from);
  for (let x = 0; x < to; x += 1) {
    // In units of 1/to of a source pixel, so that every edge is an integer.
    const start = x * from;
    const end = start + from;
    const first = Math.floor(start / to);
    const last = Math.ceil(end / to) - 1;
    const inner = Math.max(0, last - first - 1);
    const covered = Math.min((first + 1) * to, end) - start;
    const head = last === first ? 65536 : Math.floor((65536 * covered) / from);
    view[x * 4] = first * step * 2;
    view[x * 4 + 1] = inner;
    view[x * 4 + 2] = head;
    view[x * 4 + 3] = 65536 - head - inner * full;
  }
  return full;
}
