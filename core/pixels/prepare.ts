// A source row made ready for averaging: brought to 8 bits, cropped, laid on white where it is
// transparent, and masked. Rows that need none of it stay where they are. A changed row is a copy,
// because the next row's filter refers to this one as the file has it; two places take turns, so that
// a row outlives the making of the next.
import type { RowFormat } from './formats.ts';
import type { Kernels, Layout } from './kernels.ts';
import type { Box, Plan } from './plan.ts';

export interface Preparation {
  /** Gives where row `y` of the source is ready, from where it was decoded. */
  readonly ready: (slot: number, y: number) => number;
  /** Whether row `y` is masked just as the one above it. */
  readonly sameAsAbove: (y: number) => boolean;
}

export interface PreparationOptions {
  readonly kernels: Kernels;
  readonly format: RowFormat;
  readonly plan: Plan;
  readonly scratch: readonly [number, number];
}

export function placeScratch(layout: Layout, plan: Plan): readonly [number, number] {
  const length = plan.source.width * 4;
  return [layout.slot(length), layout.slot(length)];
}

export function createPreparation(options: PreparationOptions): Preparation {
  const { kernels, format, plan } = options;
  const { crop, masks, source } = plan;
  const { bytes } = kernels;
  const step = format.plain === 0 ? 4 : format.plain;
  const length = (crop.right - crop.left) * step;
  const edges = new Set(masks.flatMap(({ top, bottom }) => [top, bottom]));
  let [scratch, other] = options.scratch;
  let active: readonly Box[] = [];
  return {
    sameAsAbove: (y) => !edges.has(y),
    ready(slot, y) {
      let at = slot;
      const copy = (): void => {
        if (at !== slot) return;
        bytes.copyWithin(scratch, slot + crop.left * step, slot + crop.left * step + length);
        at = scratch;
      };
      if (format.plain === 0) {
        format.expand({ bytes, from: slot, target: bytes, to: scratch, width: source.width });
        at = scratch + crop.left * 4;
      } else if (crop.left > 0) {
        copy();
      }
      if (format.alpha && !kernels.opaque(at, length)) {
        copy();
        layOnWhite(bytes, at, length);
      }
      if (edges.has(y) || y === crop.top) {
        active = masks.filter(({ top, bottom }) => top <= y && y < bottom);
      }
      if (active.length > 0) {
        copy();
        for (const { left, right } of active) {
          bytes.fill(0, at + (left - crop.left) * step, at + (right - crop.left) * step);
        }
      }
      if (at !== slot) [scratch, other] = [other, scratch];
      return at;
    },
  };
}

/** In place; what alpha is afterwards does not matter. */
function layOnWhite(bytes: Uint8Array, from: number, length: number): void {
  for (let i = from, end = from + length; i < end; i += 4) {
    const alpha = bytes[i + 3] as number;
    if (alpha === 255) continue;
    const white = 255 * (255 - alpha) + 127;
    bytes[i] = ((bytes[i] as number) * alpha + white) / 255;
    bytes[i + 1] = ((bytes[i + 1] as number) * alpha + white) / 255;
    bytes[i + 2] = ((bytes[i + 2] as number) * alpha + white) / 255;
  }
}
