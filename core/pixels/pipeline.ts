// The stages between inflating and deflating, put together: rows, preparation, averaging, Lanczos in
// the fine mode, the writer's filter. All of their memory is laid out here, once.
import { createArea, placeArea, type Area, type AreaShape } from './area.ts';
import type { PngSource } from './chunks.ts';
import type { Picture } from './decode.ts';
import { createRowFilter, placeEncoder, type EncoderShape, type RowFilter } from './encode.ts';
import { rowBytesOf, rowFormat, type RowFormat } from './formats.ts';
import type { TakeRaw } from './inflate.ts';
import { createKernels, layOut, type Kernels } from './kernels.ts';
import { createLanczos } from './lanczos.ts';
import type { Plan } from './plan.ts';
import { createPreparation, placeScratch } from './prepare.ts';
import { createRowReader } from './rows.ts';

export type TakeBand = (band: Uint8Array, last: boolean) => void;

/** The shape of what comes out: grey pictures stay grey, others are RGB. */
export function outputShape(source: PngSource, { target }: Plan): EncoderShape {
  return { ...target, channels: rowFormat(source).grey ? 1 : 3 };
}

/** Takes the raw bytes of a picture that is not interlaced. */
export function createPipeline(
  source: PngSource,
  { plan, onBand }: { readonly plan: Plan; readonly onBand: TakeBand },
): TakeRaw {
  const format = rowFormat(source);
  const rowBytes = rowBytesOf(source.width, format.bitsPerPixel);
  const stages = createStages({ format, plan, rowBytes, onBand });
  return createRowReader({
    kernels: stages.kernels,
    slots: stages.slots,
    passes: [{ rowBytes, rows: source.height }],
    step: format.step,
    onRow: stages.row,
    onRepeat: stages.repeat,
    wanted: plan.crop.bottom,
  });
}

/** Runs over a decoded picture; yields now and then. */
export function* resamplePicture(
  picture: Picture,
  {
    plan,
    grey,
    onBand,
  }: { readonly plan: Plan; readonly grey: boolean; readonly onBand: TakeBand },
): Generator<void, void, void> {
  const rowBytes = picture.width * 4;
  const format: RowFormat = {
    bitsPerPixel: 32,
    step: 4,
    plain: 4,
    alpha: true,
    grey,
    expand: () => undefined,
  };
  const { kernels, slots, row } = createStages({ format, plan, rowBytes, onBand });
  const [first, second] = slots;
  for (let y = 0, pixels = 0; y < plan.crop.bottom; y += 1, pixels += picture.width) {
    const slot = y % 2 === 0 ? first : second;
    kernels.bytes.set(picture.data.subarray(y * rowBytes, (y + 1) * rowBytes), slot);
    row(slot);
    if (pixels > PIXELS_A_SLICE) {
      pixels = 0;
      yield;
    }
  }
}

const PIXELS_A_SLICE = 2 ** 14;

interface Stages {
  readonly kernels: Kernels;
  readonly slots: readonly [number, number, number];
  readonly row: (slot: number) => void;
  readonly repeat: () => void;
}

interface StagesOptions {
  readonly format: RowFormat;
  readonly plan: Plan;
  readonly rowBytes: number;
  readonly onBand: TakeBand;
}

function createStages({ format, plan, rowBytes, onBand }: StagesOptions): Stages {
  const { crop, target } = plan;
  const channels = format.grey ? 1 : 3;
  const layout = layOut();
  const slots = [layout.slot(rowBytes), layout.slot(rowBytes), layout.slot(rowBytes)] as const;
  const scratch = placeScratch(layout, plan);
  const middle = middleOf(plan);
  const areaShape: AreaShape = {
    width: crop.right - crop.left,
    height: crop.bottom - crop.top,
    toWidth: middle.width,
    toHeight: middle.height,
    step: format.plain === 0 ? 4 : format.plain,
    outStep: channels,
  };
  const areaPlaces = placeArea(layout, areaShape);
  const middleSlot = layout.slot(middle.width * channels);
  const shape: EncoderShape = { ...target, channels };
  const encoderPlaces = placeEncoder(layout, shape);
  const kernels = createKernels(plan.kernels, layout.size);
  const preparation = createPreparation({ kernels, format, plan, scratch });
  const writer = createRowFilter({ kernels, shape, places: encoderPlaces, onBand });
  const base = { kernels, shape: areaShape, places: areaPlaces };
  const area =
    plan.mode === 'fine'
      ? fineArea({ base, plan, middleSlot, writer })
      : createArea({ ...base, target: writer.target, onRow: writer.onRow });
  let y = -1;
  let last = slots[0];
  const row = (slot: number): void => {
    y += 1;
    last = slot;
    if (y >= crop.top) area.row(preparation.ready(slot, y));
  };
  return {
    kernels,
    slots,
    row,
    repeat() {
      if (y < crop.top || !preparation.sameAsAbove(y + 1)) {
        row(last);
        return;
      }
      y += 1;
      area.repeat();
    },
  };
}

/** What averaging makes: the result, or twice its size for Lanczos to begin with. */
function middleOf({ mode, crop, target }: Plan): {
  readonly width: number;
  readonly height: number;
} {
  if (mode === 'area') return target;
  return {
    width: Math.min(crop.right - crop.left, target.width * 2),
    height: Math.min(crop.bottom - crop.top, target.height * 2),
  };
}

interface FineOptions {
  readonly base: Omit<Parameters<typeof createArea>[0], 'target' | 'onRow'>;
  readonly plan: Plan;
  readonly middleSlot: number;
  readonly writer: RowFilter;
}

function fineArea({ base, plan, middleSlot, writer }: FineOptions): Area {
  const take = createLanczos({
    shape: {
      width: base.shape.toWidth,
      height: base.shape.toHeight,
      toWidth: plan.target.width,
      toHeight: plan.target.height,
      channels: base.shape.outStep,
    },
    bytes: base.kernels.bytes,
    target: writer.target,
    onRow: writer.onRow,
  });
  return createArea({
    ...base,
    target: () => middleSlot,
    onRow: () => {
      take(middleSlot);
    },
  });
}
