// The kernels without WebAssembly. Sums of 16 bits are kept two to a word, even and odd bytes apart,
// so that one multiplication serves two of them; `settle` puts them in order.
import type {
  AddWork,
  Kernels,
  PairWork,
  ReduceWork,
  SubtractWork,
  UnfilterWork,
} from './kernels.ts';

export function createJsKernels(size: number): Kernels {
  const memory = new ArrayBuffer(Math.ceil(size / 16) * 16);
  const bytes = new Uint8Array(memory);
  const words = new Uint32Array(memory);
  const halves = new Uint16Array(memory);
  const signed = new Int32Array(memory);
  const views = { bytes, words, halves, signed };
  const kernels: Kernels = {
    kind: 'js',
    bytes,
    zeros: (row, length) => zeros(words, bytes, row, length),
    unfilter: (work) => {
      unfilter(views, work);
    },
    paethPair({ row, next, above, length, step }: PairWork) {
      unfilter(views, { filter: 4, row, above, length, step });
      unfilter(views, { filter: 4, row: next, above: row, length, step });
    },
    opaque(row, length) {
      for (let i = row >>> 2, end = (row + length) >>> 2; i < end; i += 1) {
        if ((words[i] as number) < 0xff000000) return false;
      }
      return true;
    },
    add: (work) => {
      add(words, work);
    },
    addWide({ row, sums, length, weight, fresh }: AddWork) {
      const at = sums >>> 2;
      for (let i = 0; i < length; i += 1) {
        const product = (bytes[row + i] as number) * weight;
        words[at + i] = fresh ? product : (words[at + i] as number) + product;
      }
    },
    settle(sums, length, wide) {
      if (wide) {
        const from = sums >>> 2;
        const to = sums >>> 1;
        for (let i = 0; i < length; i += 1)
          halves[to + i] = ((words[from + i] as number) + 128) >>> 8;
        return;
      }
      for (let i = sums >>> 2, end = i + 2 * Math.ceil(length / 4); i < end; i += 2) {
        const even = words[i] as number;
        const odd = words[i + 1] as number;
        words[i] = (even & 0xffff) | (odd << 16);
        words[i + 1] = (even >>> 16) | (odd & 0xffff0000);
      }
    },
    reduce: (work) => {
      reduce(views, work);
    },
    subtract: (work) => {
      subtract(words, work);
    },
  };
  return kernels;
}

function zeros(words: Uint32Array, bytes: Uint8Array, row: number, length: number): number {
  let i = row >>> 2;
  for (const end = (row + length) >>> 2; i < end && words[i] === 0; i += 1);
  let count = (i << 2) - row;
  while (count < length && bytes[row + count] === 0) count += 1;
  return count;
}

interface Memory {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
}

function unfilter(memory: Memory, work: UnfilterWork): void {
  const { bytes, words } = memory;
  const { filter, row, above, length, step } = work;
  const end = row + length;
  switch (filter) {
    case 1:
      for (let i = row + step; i < end; i += 1) {
        bytes[i] = (bytes[i] as number) + (bytes[i - step] as number);
      }
      return;
    case 2: {
      // Four bytes a word: the top bits are added apart, so that nothing carries over.
      const last = (row + length + 3) >>> 2;
      for (let i = row >>> 2, j = above >>> 2; i < last; i += 1, j += 1) {
        const a = words[i] as number;
        const b = words[j] as number;
        words[i] = ((a & 0x7f7f7f7f) + (b & 0x7f7f7f7f)) ^ ((a ^ b) & 0x80808080);
      }
      return;
    }
    case 3:
      for (let i = row, j = above; i < end; i += 1, j += 1) {
        const left = bytes[i - step] as number;
        bytes[i] = (bytes[i] as number) + ((left + (bytes[j] as number)) >>> 1);
      }
      return;
    case 4:
      unpaeth(memory, work);
      return;
    default:
  }
}

/**
 * A pixel at a time, whole pixels in one number each (what is left, above, above left): where nothing
 * is stored and left equals above left, the pixel repeats the one above it, and so do all that follow
 * up to the next stored byte; where above equals above left, it repeats the left one. Most of a
 * screenshot is one of the two, and the three guesses are made for the rest only.
 */
function unpaeth(memory: Memory, work: UnfilterWork): void {
  const { bytes } = memory;
  const { row, above, length, step } = work;
  if (step !== 3 && step !== 4) {
    unpaethChannels(bytes, work);
    return;
  }
  const end = row + length;
  const offset = above - row;
  let left = 0;
  let corner = 0;
  for (let i = row; i < end; ) {
    const raw = pixelAt(bytes, i, step);
    if (raw === 0 && left === corner) {
      const zero = zerosEnd(memory, i + step, end);
      const stop = zero - ((zero - i) % step);
      for (let j = i; j < stop; j += 1) bytes[j] = bytes[j + offset] as number;
      i = stop;
      left = pixelAt(bytes, i - step, step);
      corner = left;
      continue;
    }
    const up = pixelAt(bytes, i + offset, step);
    if (raw !== 0 || up !== corner) {
      // Written out: a loop over the channels takes twice as long.
      const pixel =
        (((raw & 255) + paeth(left & 255, up & 255, corner & 255)) & 255) |
        (((((raw >> 8) & 255) + paeth((left >> 8) & 255, (up >> 8) & 255, (corner >> 8) & 255)) &
          255) <<
          8) |
        (((((raw >> 16) & 255) +
          paeth((left >> 16) & 255, (up >> 16) & 255, (corner >> 16) & 255)) &
          255) <<
          16) |
        (step === 3 ? 0 : ((raw >>> 24) + paeth(left >>> 24, up >>> 24, corner >>> 24)) << 24);
      left = pixel;
    }
    bytes[i] = left;
    bytes[i + 1] = left >>> 8;
    bytes[i + 2] = left >>> 16;
    if (step === 4) bytes[i + 3] = left >>> 24;
    corner = up;
    i += step;
  }
}

function pixelAt(bytes: Uint8Array, at: number, step: 3 | 4): number {
  const rgb =
    (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
  return step === 3 ? rgb : rgb | ((bytes[at + 3] as number) << 24);
}

/** Where the zero bytes from `at` on end, to a few bytes less than is true. */
function zerosEnd({ bytes, words }: Memory, at: number, end: number): number {
  let i = at;
  while ((i & 3) !== 0 && bytes[i] === 0) i += 1;
  if ((i & 3) !== 0) return i;
  while (i < end && words[i >>> 2] === 0) i += 4;
  return Math.min(i, end);
}

/** A channel at a time: what is left and above left stays in registers. */
function unpaethChannels(bytes: Uint8Array, { row, above, length, step }: UnfilterWork): void {
  for (let channel = 0; channel < step; channel += 1) {
    let a = 0;
    let c = 0;
    const end = row + length;
    for (let i = row + channel, j = above + channel; i < end; i += step, j += step) {
      const b = bytes[j] as number;
      a = ((bytes[i] as number) + paeth(a, b, c)) & 0xff;
      bytes[i] = a;
      c = b;
    }
  }
}

function paeth(a: number, b: number, c: number): number {
  const pa = Math.abs(b - c);
  const pb = Math.abs(a - c);
  const pc = Math.abs(a + b - c - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

function add(words: Uint32Array, { row, sums, length, weight, fresh }: AddWork): void {
  const end = (row + length + 3) >>> 2;
  let to = sums >>> 2;
  if (fresh) {
    for (let i = row >>> 2; i < end; i += 1, to += 2) {
      const word = words[i] as number;
      words[to] = Math.imul(word & 0xff00ff, weight);
      words[to + 1] = Math.imul((word >>> 8) & 0xff00ff, weight);
    }
    return;
  }
  for (let i = row >>> 2; i < end; i += 1, to += 2) {
    const word = words[i] as number;
    words[to] = (words[to] as number) + Math.imul(word & 0xff00ff, weight);
    words[to + 1] = (words[to + 1] as number) + Math.imul((word >>> 8) & 0xff00ff, weight);
  }
}

interface Views {
  readonly bytes: Uint8Array;
  readonly halves: Uint16Array;
  readonly signed: Int32Array;
}

/** Sums of 32 bits without a sign: they may pass through negative numbers, the top byte is right. */
function reduce({ bytes, halves, signed }: Views, work: ReduceWork): void {
  const { count, full, step, outStep } = work;
  let to = work.out;
  for (let entry = work.table >>> 2, x = 0; x < count; x += 1, entry += 4) {
    const head = signed[entry + 2] as number;
    const tail = signed[entry + 3] as number;
    const last = (signed[entry + 1] as number) * step + step;
    const from = (work.sums + (signed[entry] as number)) >>> 1;
    for (let i = from, end = from + outStep; i < end; i += 1) {
      const behind = i + last;
      let within = 0;
      for (let j = i + step; j < behind; j += step) within += halves[j] as number;
      bytes[to] =
        (Math.imul(halves[i] as number, head) +
          Math.imul(within, full) +
          Math.imul(halves[behind] as number, tail) +
          0x800000) >>>
        24;
      to += 1;
    }
  }
}

/** Four bytes a word, as for adding; a row that lies across words is put together from two. */
function subtract(words: Uint32Array, { row, other, out, length }: SubtractWork): void {
  const shift = (other & 3) * 8;
  let j = other >>> 2;
  let k = out >>> 2;
  let low = words[j] as number;
  for (let i = row >>> 2, end = (row + length + 3) >>> 2; i < end; i += 1, k += 1) {
    j += 1;
    const high = words[j] as number;
    const b = shift === 0 ? low : (low >>> shift) | (high << (32 - shift));
    const a = words[i] as number;
    words[k] = ((a | 0x80808080) - (b & 0x7f7f7f7f)) ^ ((a ^ ~b) & 0x80808080);
    low = high;
  }
}
