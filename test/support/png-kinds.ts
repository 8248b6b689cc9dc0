// The kinds of the public PngSuite, by its names, made by png-maker.ts instead of copied: 162 valid
// files and its 14 broken ones. A name says what is special: basi4a08 is a basic (bas), interlaced
// (i) image of colour type 4 (grey with alpha: 4a) and 8 bits.
import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import {
  chunksOf,
  header,
  joinFile,
  makePng,
  type BitDepth,
  type Chunk,
  type ColorType,
  type FileOptions,
  type Picture,
} from './png-maker.ts';
import { FORMATS, hash, paletteOf, pictureOf, type PictureOptions } from './png-pictures.ts';

export interface Kind {
  readonly name: string;
  readonly picture: Picture;
  readonly png: Buffer;
}

const LETTERS: Readonly<Record<ColorType, string>> = {
  0: '0g',
  2: '2c',
  3: '3p',
  4: '4a',
  6: '6a',
};

export function validKinds(): Kind[] {
  return [
    ...basic(),
    ...sizes(),
    ...backgrounds(),
    ...transparencies(),
    ...ancillaries(),
    ...filtersAndStreams(),
  ];
}

function kind(
  name: string,
  about: Omit<PictureOptions, 'seed' | 'colorType' | 'bitDepth'> = {},
  options: FileOptions = {},
): Kind {
  // The last four characters are colour type and depth.
  const colorType = Number(name.at(-4)) as ColorType;
  const bitDepth = Number(name.slice(-2)) as BitDepth;
  const picture = pictureOf({ ...about, seed: seedOf(name), colorType, bitDepth });
  return { name, picture, png: makePng(picture, options) };
}

function seedOf(name: string): number {
  return hash(...Buffer.from(name));
}

function chunk(type: string, ...data: readonly number[]): Chunk {
  return { type, data: Uint8Array.from(data) };
}

function words(type: string, ...values: readonly number[]): Chunk {
  return chunk(type, ...values.flatMap((value) => [(value >> 8) & 255, value & 255]));
}

function longs(type: string, values: readonly number[], ...after: readonly number[]): Chunk {
  const data = Buffer.alloc(values.length * 4 + after.length);
  for (const [index, value] of values.entries()) data.writeUInt32BE(value, index * 4);
  data.set(after, values.length * 4);
  return { type, data };
}

function text(type: string, value: string, data: Uint8Array = Buffer.alloc(0)): Chunk {
  return { type, data: Buffer.concat([Buffer.from(value, 'latin1'), data]) };
}

function basic(): Kind[] {
  return ['n', 'i'].flatMap((way) =>
    FORMATS.map(([colorType, depth]) =>
      kind(`bas${way}${LETTERS[colorType]}${String(depth).padStart(2, '0')}`, {
        interlaced: way === 'i',
      }),
    ),
  );
}

/** Odd sizes: 1 to 9 and 32 to 40. */
function sizes(): Kind[] {
  const sides = [1, 2, 3, 4, 5, 6, 7, 8, 9, 32, 33, 34, 35, 36, 37, 38, 39, 40];
  return sides.flatMap((side) =>
    ['i', 'n'].map((way) => {
      const depth = side < 3 ? '01' : side < 5 ? '02' : '04';
      const name = `s${String(side).padStart(2, '0')}${way}3p${depth}`;
      return kind(name, { width: side, height: side, interlaced: way === 'i' });
    }),
  );
}

/** bKGD says what a viewer may paint below; a decoder does not. */
function backgrounds(): Kind[] {
  return [
    kind('bgai4a08', { interlaced: true }),
    kind('bgai4a16', { interlaced: true }),
    kind('bgan6a08'),
    kind('bgan6a16'),
    kind('bgbn4a08', {}, { beforeData: [words('bKGD', 0)] }),
    kind('bggn4a16', {}, { beforeData: [words('bKGD', 43908)] }),
    kind('bgwn6a08', {}, { beforeData: [words('bKGD', 255, 255, 255)] }),
    kind('bgyn6a16', {}, { beforeData: [words('bKGD', 65535, 65535, 0)] }),
  ];
}

function transparencies(): Kind[] {
  const key = (name: string, background: readonly number[] | undefined): Kind => {
    const plain = kind(name);
    const { sample, colorType } = plain.picture;
    const at = (channel: number): number => sample(3, 3, channel);
    const transparency = colorType === 3 ? [0] : colorType === 0 ? [at(0)] : [at(0), at(1), at(2)];
    const chunks: Chunk[] = [];
    if (background !== undefined) {
      chunks.push((colorType === 3 ? chunk : words)('bKGD', ...background));
    }
    return kind(name, { transparency }, { beforeData: chunks });
  };
  const many = (name: string, alphas: readonly number[]): Kind =>
    kind(name, { transparency: alphas });
  return [
    key('tbbn0g04', [0]),
    key('tbbn2c16', [0, 0, 65535]),
    key('tbbn3p08', [1]),
    key('tbgn2c16', [0, 65535, 0]),
    key('tbgn3p08', [2]),
    key('tbrn2c08', [255, 0, 0]),
    key('tbwn0g16', [65535]),
    key('tbwn3p08', [3]),
    key('tbyn3p08', [4]),
    key('tp0n0g08', undefined),
    key('tp0n2c08', undefined),
    kind('tp0n3p08'),
    key('tp1n3p08', undefined),
    many('tm3n3p02', [0, 85, 170, 255]),
    // Not of PngSuite: an alpha for every entry, and 16 bits where only the low byte differs.
    many(
      'tm9n3p08',
      Array.from({ length: 256 }, (_, index) => 255 - index),
    ),
    lowByteKey(),
  ];
}

/** A colour is transparent only when all 16 bits agree. */
function lowByteKey(): Kind {
  const sample: Picture['sample'] = (x, y) => 0x1200 + ((x + y) & 3);
  const picture: Picture = {
    width: 32,
    height: 32,
    colorType: 2,
    bitDepth: 16,
    sample,
    transparency: [0x1201, 0x1201, 0x1201],
  };
  return { name: 'tl1n2c16', picture, png: makePng(picture) };
}

function ancillaries(): Kind[] {
  const before = (name: string, ...chunks: readonly Chunk[]): Kind =>
    kind(name, {}, { beforePalette: chunks });
  const later = (name: string, ...chunks: readonly Chunk[]): Kind =>
    kind(name, {}, { beforeData: chunks });
  const year = [1999, 12, 31, 23, 59, 59];
  const time = (...[y = 0, ...rest]: readonly number[]): Chunk =>
    chunk('tIME', y >> 8, y & 255, ...rest);
  const primaries = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000];
  const suggested = (name: string, depth: 8 | 16): Chunk => {
    const entries = paletteOf(7, 6).flatMap((rgb, index) => [...rgb, 255, index]);
    const data = Buffer.alloc(entries.length * (depth / 8) + 0);
    for (const [index, value] of entries.entries()) {
      if (depth === 16) data.writeUInt16BE(value * 257, index * 2);
      else data[index] = value;
    }
    // In 8 bits the frequency still has two bytes.
    const wide = Buffer.concat(
      Array.from({ length: 6 }, (_, index) =>
        depth === 16
          ? data.subarray(index * 10, index * 10 + 10)
          : Buffer.from([...data.subarray(index * 5, index * 5 + 4), 0, index]),
      ),
    );
    return text('sPLT', `${name}\0${String.fromCharCode(depth)}`, wide);
  };
  const zipped = (value: string): Buffer => deflateSync(Buffer.from(value, 'latin1'));
  const utf8 = (keyword: string, language: string, value: string): Chunk => ({
    type: 'iTXt',
    data: Buffer.concat([
      Buffer.from(`${keyword}\0\0\0${language}\0${keyword}\0`, 'utf8'),
      Buffer.from(value, 'utf8'),
    ]),
  });
  const gammas = [
    ['g03', 35000],
    ['g04', 45000],
    ['g05', 55000],
    ['g07', 70000],
    ['g10', 100_000],
    ['g25', 250_000],
  ] as const;
  return [
    before('ccwn2c08', longs('cHRM', primaries)),
    before('ccwn3p08', longs('cHRM', primaries)),
    before('cdfn2c08', longs('pHYs', [1, 4], 0)),
    before('cdhn2c08', longs('pHYs', [4, 1], 0)),
    before('cdsn2c08', longs('pHYs', [1, 1], 0)),
    before('cdun2c08', longs('pHYs', [1000, 1000], 1)),
    later('ch1n3p04', words('hIST', ...Array.from({ length: 16 }, (_, index) => index * 3))),
    later('ch2n3p08', words('hIST', ...Array.from({ length: 256 }, (_, index) => index))),
    before('cm0n0g04', time(2000, 1, 1, 12, 34, 56)),
    before('cm7n0g04', time(1970, 1, 1, 0, 0, 0)),
    before('cm9n0g04', time(...year)),
    before('cs3n2c16', chunk('sBIT', 13, 13, 13)),
    before('cs3n3p08', chunk('sBIT', 3, 3, 3)),
    before('cs5n2c08', chunk('sBIT', 5, 5, 5)),
    before('cs5n3p08', chunk('sBIT', 5, 5, 5)),
    before('cs8n2c08', chunk('sBIT', 8, 8, 8)),
    before('cs8n3p08', chunk('sBIT', 8, 8, 8)),
    kind('ct0n0g04'),
    later('ct1n0g04', text('tEXt', 'Title\0A picture'), text('tEXt', 'Author\0Somebody')),
    later('cten0g04', utf8('Title', 'en', 'A picture')),
    later('ctfn0g04', utf8('Otsikko', 'fi', 'Kuva, jossa on äitejä')),
    later('ctgn0g04', utf8('Τίτλος', 'el', 'Μια εικόνα')),
    later('cthn0g04', utf8('शीर्षक', 'hi', 'एक चित्र')),
    later('ctjn0g04', utf8('題名', 'ja', '絵')),
    later('ctzn0g04', text('zTXt', 'Title\0\0', zipped('A compressed picture. '.repeat(9)))),
    before('exif2c08', text('eXIf', 'MM\0*\0\0\0\b\0\0\0\0\0\0')),
    ...gammas.flatMap(([name, gamma]) => [
      before(`${name}n0g16`, longs('gAMA', [gamma])),
      before(`${name}n2c08`, longs('gAMA', [gamma])),
      before(`${name}n3p04`, longs('gAMA', [gamma])),
    ]),
    before('PngSuite-rgb2c08', longs('gAMA', [100_000]), text('tEXt', 'Title\0PngSuite')),
    // A palette beside true colour is a suggestion.
    before('pp0n2c16', { type: 'PLTE', data: Uint8Array.from(paletteOf(3, 216).flat()) }),
    before('pp0n6a08', { type: 'PLTE', data: Uint8Array.from(paletteOf(4, 216).flat()) }),
    before('ps1n0g08', suggested('six-cube', 8)),
    before('ps1n2c16', suggested('six-cube', 8)),
    before('ps2n0g08', suggested('six-cube', 16)),
    before('ps2n2c16', suggested('six-cube', 16)),
  ];
}

function filtersAndStreams(): Kind[] {
  const filters = [0, 1, 2, 3, 4].flatMap((filter) => [
    kind(`f0${filter}n0g08`, {}, { filter }),
    kind(`f0${filter}n2c08`, {}, { filter }),
  ]);
  const cuts = [
    ['oi1', undefined],
    ['oi2', 1500],
    ['oi4', 500],
    ['oi9', 1],
  ] as const;
  return [
    ...filters,
    kind('f99n0g04', {}, { filter: (row) => hash(row) % 5 }),
    ...cuts.flatMap(([name, idatBytes]) => {
      const options = idatBytes === undefined ? {} : { idatBytes };
      return [kind(`${name}n0g16`, {}, options), kind(`${name}n2c16`, {}, options)];
    }),
    ...[0, 3, 6, 9].map((level) => kind(`z0${level}n2c08`, {}, { level })),
  ];
}

export interface BrokenKind {
  readonly name: string;
  readonly png: Buffer;
}

/** PngSuite's broken ones. */
export function brokenKinds(): BrokenKind[] {
  const grey = kind('basn0g01');
  const head = (colorType: number, bitDepth: number): Buffer => {
    const [, ...rest] = chunksOf(kind('basn2c08').picture);
    return joinFile([header({ width: 32, height: 32, colorType, bitDepth }), ...rest]);
  };
  const without = (type: string): Buffer =>
    joinFile(chunksOf(grey.picture).filter((part) => part.type !== type));
  const wrongSum = (type: string): Buffer =>
    joinFile(
      chunksOf(grey.picture).map((part) => (part.type === type ? { ...part, crc: 0 } : part)),
    );
  const replaced = (at: number, byte: number): Buffer => {
    const png = Buffer.from(grey.png);
    png[at] = byte;
    return png;
  };
  const newLines = (from: string, to: string): Buffer =>
    Buffer.from(kind('basn0g04').png.toString('latin1').replaceAll(from, to), 'latin1');
  return [
    { name: 'xs1n0g01', png: replaced(0, 0x09) },
    { name: 'xs2n0g01', png: replaced(1, 0x51) },
    { name: 'xs4n0g01', png: replaced(3, 0x67) },
    { name: 'xs7n0g01', png: replaced(6, 0x20) },
    { name: 'xcrn0g04', png: newLines('\n', '\r\n') },
    { name: 'xlfn0g04', png: newLines('\r\n', '\n') },
    { name: 'xhdn0g08', png: wrongSum('IHDR') },
    { name: 'xc1n0g08', png: head(1, 8) },
    { name: 'xc9n2c08', png: head(9, 8) },
    { name: 'xd0n2c08', png: head(2, 0) },
    { name: 'xd3n2c08', png: head(2, 3) },
    { name: 'xd9n2c08', png: head(2, 99) },
    { name: 'xdtn0g01', png: without('IDAT') },
    { name: 'xcsn0g01', png: wrongSum('IDAT') },
  ];
}
