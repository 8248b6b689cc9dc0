// What the pixel tests share: comparing pictures, catching faults, and an area average in floating
// point, written from its definition, to hold the real one against.
import {
  decodePng,
  decodePngSync,
  isPixelError,
  type PixelFault,
} from '../../core/pixels/index.ts';
import { assert } from '../harness.ts';

export interface Rgba {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** What a call came to: its value, or the fault of its PixelError. Any other error is thrown on. */
export async function outcome<T>(
  call: () => T | Promise<T>,
): Promise<{ readonly value: T } | { readonly fault: PixelFault; readonly message: string }> {
  try {
    return { value: await call() };
  } catch (error) {
    if (!isPixelError(error)) throw error;
    return { fault: error.fault, message: error.message };
  }
}

/** Both forms refuse, under one of these names. */
export async function refused(png: Uint8Array, ...faults: readonly PixelFault[]): Promise<void> {
  for (const decode of [decodePng, decodePngSync]) {
    const came = await outcome(() => decode(png));
    if ('value' in came) assert.unreachable(`${decode.name}: not refused as ${faults.join()}`);
    else assert.ok(faults.includes(came.fault), `${decode.name}: ${came.fault}, ${came.message}`);
  }
}

/** Both forms read exactly this. */
export async function reads(png: Uint8Array, expected: Rgba): Promise<void> {
  for (const decode of [decodePng, decodePngSync]) {
    const came = await outcome(() => decode(png));
    if ('fault' in came) assert.unreachable(`${decode.name}: ${came.message}`);
    else assert.is(difference(came.value, expected), '', decode.name);
  }
}

/** Empty for the same picture; else where the first difference is. `tolerance` per sample. */
export function difference(actual: Rgba, expected: Rgba, tolerance = 0): string {
  const size = ({ width, height, data }: Rgba): string =>
    `${width}x${height}, ${data.length} bytes`;
  if (size(actual) !== size(expected)) return `${size(actual)} instead of ${size(expected)}`;
  // Comparing as buffers first: a loop over millions of samples is for when they differ.
  if (Buffer.compare(actual.data, expected.data) === 0) return '';
  const at = actual.data.findIndex(
    (value, index) => Math.abs(value - (expected.data[index] as number)) > tolerance,
  );
  if (at < 0) return '';
  const [x, y] = [(at >> 2) % actual.width, Math.floor((at >> 2) / actual.width)];
  return `at ${x},${y} channel ${at & 3}: ${actual.data[at]} instead of ${expected.data[at]}`;
}

/** Opaque: transparent parts laid on white. */
export function onWhite({ width, height, data }: Rgba): Rgba {
  const flat = Uint8Array.from(data, (value, index) => {
    const alpha = data[index | 3] as number;
    return (index & 3) === 3 ? 255 : Math.round((value * alpha + 255 * (255 - alpha)) / 255);
  });
  return { width, height, data: flat };
}

/** The average of the area that each pixel of the result covers, of an opaque picture. */
export function areaAverage(from: Rgba, width: number, height: number): Rgba {
  const data = new Uint8Array(width * height * 4);
  const rows = Array.from({ length: height }, (_, y) => covered(y, height, from.height));
  const columns = Array.from({ length: width }, (_, x) => covered(x, width, from.width));
  for (const [y, tall] of rows.entries()) {
    for (const [x, wide] of columns.entries()) {
      const sums = [0, 0, 0];
      let area = 0;
      for (const [row, high] of tall) {
        for (const [column, broad] of wide) {
          const share = high * broad;
          for (let channel = 0; channel < 3; channel += 1) {
            const value = from.data[(row * from.width + column) * 4 + channel] as number;
            sums[channel] = (sums[channel] as number) + value * share;
          }
          area += share;
        }
      }
      data.set([...sums.map((sum) => Math.round(sum / area)), 255], (y * width + x) * 4);
    }
  }
  return { width, height, data };
}

/** Which of `length` source pixels the pixel `index` of `count` covers, and how much of each. */
function covered(index: number, count: number, length: number): [at: number, share: number][] {
  const [from, to] = [(index * length) / count, ((index + 1) * length) / count];
  const parts: [number, number][] = [];
  for (let at = Math.floor(from); at < Math.min(length, Math.ceil(to)); at += 1) {
    const share = Math.min(to, at + 1) - Math.max(from, at);
    if (share > 1e-9) parts.push([at, share]);
  }
  return parts;
}
