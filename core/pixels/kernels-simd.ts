// The kernels as WebAssembly with SIMD. One module for the process, compiled when it is first needed;
// an instance and a memory of its own for each picture, so that pictures do not share state.
import type { Kernels } from './kernels.ts';
import { KERNELS_WASM } from './kernels-wasm.ts';

/** What core/pixels/kernels/rows.as exports; all of it whole numbers. */
interface Exports {
  zeros(row: number, length: number): number;
  opaque(row: number, length: number): number;
  sub(row: number, length: number, step: number): void;
  up(row: number, above: number, length: number): void;
  average(row: number, above: number, length: number, step: number): void;
  paeth(row: number, above: number, length: number, step: number): void;
  paethPair(row: number, next: number, above: number, length: number, step: number): void;
  add(row: number, sums: number, length: number, weight: number, fresh: number): void;
  addWide(row: number, sums: number, length: number, weight: number, fresh: number): void;
  narrow(sums: number, length: number): void;
  reduce(
    sums: number,
    out: number,
    table: number,
    count: number,
    full: number,
    step: number,
    outStep: number,
  ): void;
  subtract(row: number, other: number, out: number, length: number): void;
}

const PAGE = 65536;

/** `undefined` until asked for, `null` where there is no WebAssembly or no SIMD. */
let compiled: WebAssembly.Module | null | undefined;

/** Undefined where WebAssembly or its SIMD is missing. */
export function createSimdKernels(size: number): Kernels | undefined {
  if (compiled === undefined) compiled = compile();
  if (compiled === null) return undefined;
  const memory = new WebAssembly.Memory({ initial: Math.ceil(size / PAGE) });
  const instance = new WebAssembly.Instance(compiled, { env: { memory } });
  const wasm = instance.exports as Exports;
  return {
    kind: 'wasm',
    bytes: new Uint8Array(memory.buffer),
    zeros: wasm.zeros,
    unfilter({ filter, row, above, length, step }) {
      if (filter === 1) wasm.sub(row, length, step);
      else if (filter === 2) wasm.up(row, above, length);
      else if (filter === 3) wasm.average(row, above, length, step);
      else if (filter === 4) wasm.paeth(row, above, length, step);
    },
    paethPair({ row, next, above, length, step }) {
      if (step === 3 || step === 4) {
        wasm.paethPair(row, next, above, length, step);
        return;
      }
      wasm.paeth(row, above, length, step);
      wasm.paeth(next, row, length, step);
    },
    opaque: (row, length) => wasm.opaque(row, length) !== 0,
    add({ row, sums, length, weight, fresh }) {
      wasm.add(row, sums, length, weight, fresh ? 1 : 0);
    },
    addWide({ row, sums, length, weight, fresh }) {
      wasm.addWide(row, sums, length, weight, fresh ? 1 : 0);
    },
    settle(sums, length, wide) {
      if (wide) wasm.narrow(sums, length);
    },
    reduce({ sums, out, table, count, full, step, outStep }) {
      wasm.reduce(sums, out, table, count, full, step, outStep);
    },
    subtract({ row, other, out, length }) {
      wasm.subtract(row, other, out, length);
    },
  };
}

function compile(): WebAssembly.Module | null {
  if (typeof WebAssembly === 'undefined') return null;
  try {
    return new WebAssembly.Module(Buffer.from(KERNELS_WASM, 'base64'));
  } catch {
    return null;
  }
}
