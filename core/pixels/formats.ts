// What a row's bytes mean: every colour type and depth, brought to 8-bit RGBA. 16 bits are rounded,
// not cut (`v * 255 / 65535`); a colour that tRNS names is transparent, compared at full depth. The
// three kinds that screenshots come in are not converted at all: `plain` says so.
import type { PngSource } from './chunks.ts';

export interface RowFormat {
  readonly bitsPerPixel: number;
  /** What the filters take for a pixel: its whole bytes, at least 1. */
  readonly step: number;
  /** Colours are grey. */
  readonly grey: boolean;
  /** Bytes of a pixel that needs no conversion: 1 grey, 3 RGB, 4 RGBA; 0 if it does. */
  readonly plain: 0 | 1 | 3 | 4;
  /** Alpha may be less than 255. */
  readonly alpha: boolean;
  /** Writes `width` RGBA pixels at `to`, which may not overlap `from`; alpha is straight. */
  readonly expand: (work: ExpandWork) => void;
}

export interface ExpandWork {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly target: Uint8Array;
  readonly to: number;
  readonly width: number;
}

const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export function rowFormat(source: PngSource): RowFormat {
  const { colorType, bitDepth, transparency } = source;
  const bitsPerPixel = bitDepth * (CHANNELS[colorType] as number);
  const keyed = transparency !== undefined;
  const plain = bitDepth === 8 && !keyed;
  const base = {
    bitsPerPixel,
    step: Math.max(1, bitsPerPixel >>> 3),
    grey: colorType === 0 || colorType === 4,
    alpha: keyed || colorType >= 4,
  };
  switch (colorType) {
    case 0:
    case 3:
      if (bitDepth === 16) return { ...base, plain: 0, expand: wide(1, transparency) };
      return {
        ...base,
        plain: plain && colorType === 0 ? 1 : 0,
        expand: looked(bitDepth, tableOf(source)),
      };
    case 2:
      if (bitDepth === 16) return { ...base, plain: 0, expand: wide(3, transparency) };
      return { ...base, plain: plain ? 3 : 0, expand: rgb(transparency) };
    case 4:
      return { ...base, plain: 0, expand: bitDepth === 16 ? wide(2) : greyAlpha };
    default:
      return bitDepth === 16
        ? { ...base, plain: 0, expand: wide(4) }
        : { ...base, plain: 4, expand: copy };
  }
}

/** Bytes of a row. */
export function rowBytesOf(width: number, bitsPerPixel: number): number {
  return Math.ceil((width * bitsPerPixel) / 8);
}

/** RGBA for each value that a pixel of at most 8 bits can have. */
function tableOf({ colorType, bitDepth, palette, transparency }: PngSource): Uint8Array {
  const values = 2 ** bitDepth;
  const table = new Uint8Array(values * 4);
  const key =
    colorType === 0 && transparency !== undefined
      ? sample(transparency, 0) & (values - 1)
      : undefined;
  for (let value = 0; value < values; value += 1) {
    // A value that the palette does not have is black, as browsers show it.
    const [red, green, blue] =
      palette === undefined
        ? Array<number>(3).fill((value * 255) / (values - 1))
        : palette.subarray(value * 3, value * 3 + 3);
    const alpha =
      palette === undefined ? (value === key ? 0 : 255) : (transparency?.[value] ?? 255);
    table.set([red ?? 0, green ?? 0, blue ?? 0, alpha], value * 4);
  }
  return table;
}

function looked(bitDepth: number, table: Uint8Array): RowFormat['expand'] {
  const perByte = 8 / bitDepth;
  const mask = 2 ** bitDepth - 1;
  return ({ bytes, from, target, to, width }) => {
    for (let x = 0; x < width; x += 1) {
      const byte = bytes[from + Math.floor(x / perByte)] as number;
      const value = (byte >>> (8 - bitDepth - (x % perByte) * bitDepth)) & mask;
      const at = to + x * 4;
      target[at] = table[value * 4] as number;
      target[at + 1] = table[value * 4 + 1] as number;
      target[at + 2] = table[value * 4 + 2] as number;
      target[at + 3] = table[value * 4 + 3] as number;
    }
  };
}

function rgb(transparency: Uint8Array | undefined): RowFormat['expand'] {
  const key =
    transparency === undefined ? -1 : keyOf([0, 2, 4].map((at) => sample(transparency, at) & 0xff));
  return ({ bytes, from, target, to, width }) => {
    for (let x = 0, i = from, o = to; x < width; x += 1, i += 3, o += 4) {
      const red = bytes[i] as number;
      const green = bytes[i + 1] as number;
      const blue = bytes[i + 2] as number;
      target[o] = red;
      target[o + 1] = green;
      target[o + 2] = blue;
      target[o + 3] = ((red << 16) | (green << 8) | blue) === key ? 0 : 255;
    }
  };
}

const greyAlpha: RowFormat['expand'] = ({ bytes, from, target, to, width }) => {
  for (let x = 0, i = from, o = to; x < width; x += 1, i += 2, o += 4) {
    const value = bytes[i] as number;
    target[o] = value;
    target[o + 1] = value;
    target[o + 2] = value;
    target[o + 3] = bytes[i + 1] as number;
  }
};

const copy: RowFormat['expand'] = ({ bytes, from, target, to, width }) => {
  target.set(bytes.subarray(from, from + width * 4), to);
};

/** 16 bits: grey, grey and alpha, RGB, RGBA by its number of channels. */
function wide(channels: 1 | 2 | 3 | 4, transparency?: Uint8Array): RowFormat['expand'] {
  const colours = channels >= 3 ? 3 : 1;
  const hasAlpha = channels % 2 === 0;
  return ({ bytes, from, target, to, width }) => {
    for (let x = 0, i = from, o = to; x < width; x += 1, i += channels * 2, o += 4) {
      const red = round16(bytes, i);
      target[o] = red;
      target[o + 1] = colours === 1 ? red : round16(bytes, i + 2);
      target[o + 2] = colours === 1 ? red : round16(bytes, i + 4);
      target[o + 3] = hasAlpha ? round16(bytes, i + colours * 2) : 255;
      if (transparency !== undefined && startsWith({ bytes, at: i, key: transparency })) {
        target[o + 3] = 0;
      }
    }
  };
}

/** (v * 255) / 65535 rounded, without a division: exact for all 65536 values. */
function round16(bytes: Uint8Array, at: number): number {
  const value = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  return (value * 255 + 32895) >>> 16;
}

function startsWith({
  bytes,
  at,
  key,
}: {
  bytes: Uint8Array;
  at: number;
  key: Uint8Array;
}): boolean {
  for (let i = 0; i < key.length; i += 1) if (bytes[at + i] !== key[i]) return false;
  return true;
}

function sample(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

function keyOf([red = 0, green = 0, blue = 0]: readonly number[]): number {
  return (red << 16) | (green << 8) | blue;
}
