// Lanczos-3, a row at a time: the second step of the fine mode, from about twice the size. Written
// once, for both kinds of kernels: it runs over small pictures only. Sums are doubles, rounded once
// at the end; at the edges the outermost pixel stands for those that are missing.

export interface LanczosShape {
  readonly width: number;
  readonly height: number;
  readonly toWidth: number;
  readonly toHeight: number;
  /** Bytes of a pixel. */
  readonly channels: number;
}

export interface LanczosOptions {
  readonly shape: LanczosShape;
  readonly bytes: Uint8Array;
  /** Where the next output row goes. */
  readonly target: () => number;
  readonly onRow: () => void;
}

const LOBES = 3;

interface Taps {
  /** First source position, and how many follow from there. */
  readonly first: Int32Array;
  readonly most: number;
  /** `most` for each output position; those beyond its own are 0. */
  readonly weights: Float64Array;
}

/** Gives what takes the rows in order, by where they lie. */
export function createLanczos({
  shape,
  bytes,
  target,
  onRow,
}: LanczosOptions): (slot: number) => void {
  const { width, height, toWidth, toHeight, channels } = shape;
  const across = tapsOf(width, toWidth);
  const down = tapsOf(height, toHeight);
  const length = toWidth * channels;
  const ring = Array.from({ length: down.most }, () => new Float64Array(length));
  const sums = new Float64Array(length);
  let have = 0;
  let y = 0;
  return (slot) => {
    narrow({ taps: across, bytes, slot, channels, to: ring[have % down.most] as Float64Array });
    have += 1;
    while (y < toHeight) {
      const first = down.first[y] as number;
      if (have < Math.min(height, first + down.most)) return;
      sums.fill(0);
      for (let tap = 0; tap < down.most && first + tap < height; tap += 1) {
        const weight = down.weights[y * down.most + tap] as number;
        const row = ring[(first + tap) % down.most] as Float64Array;
        for (let i = 0; i < length; i += 1)
          sums[i] = (sums[i] as number) + weight * (row[i] as number);
      }
      const out = target();
      for (let i = 0; i < length; i += 1) {
        bytes[out + i] = Math.min(255, Math.max(0, Math.round(sums[i] as number)));
      }
      onRow();
      y += 1;
    }
  };
}

interface Narrowing {
  readonly taps: Taps;
  readonly bytes: Uint8Array;
  readonly slot: number;
  readonly channels: number;
  readonly to: Float64Array;
}

function narrow({ taps, bytes, slot, channels, to }: Narrowing): void {
  const { first, most, weights } = taps;
  for (let x = 0, o = 0; x < first.length; x += 1) {
    const start = slot + (first[x] as number) * channels;
    for (let channel = 0; channel < channels; channel += 1, o += 1) {
      let sum = 0;
      for (let tap = 0, i = start + channel; tap < most; tap += 1, i += channels) {
        sum += (weights[x * most + tap] as number) * (bytes[i] as number);
      }
      to[o] = sum;
    }
  }
}

function tapsOf(from: number, to: number): Taps {
  const scale = from / to;
  const reach = LOBES * Math.max(1, scale);
  const most = Math.min(from, Math.ceil(reach * 2) + 1);
  const first = new Int32Array(to);
  const weights = new Float64Array(to * most);
  for (let x = 0; x < to; x += 1) {
    const centre = (x + 0.5) * scale - 0.5;
    // The window is kept inside, so that reading all of `most` never leaves the row.
    const start = Math.min(from - most, Math.max(0, Math.ceil(centre - reach)));
    first[x] = start;
    let sum = 0;
    for (let i = Math.ceil(centre - reach); i <= centre + reach; i += 1) {
      const weight = lanczos((i - centre) / Math.max(1, scale));
      const at = x * most + Math.min(from - 1, Math.max(0, i)) - start;
      weights[at] = (weights[at] as number) + weight;
      sum += weight;
    }
    for (let tap = 0; tap < most; tap += 1) {
      weights[x * most + tap] = (weights[x * most + tap] as number) / sum;
    }
  }
  return { first, most, weights };
}

function lanczos(x: number): number {
  if (x === 0) return 1;
  if (Math.abs(x) >= LOBES) return 0;
  const angle = Math.PI * x;
  return (LOBES * Math.sin(angle) * Math.sin(angle / LOBES)) / (angle * angle);
}
