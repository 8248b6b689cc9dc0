// Files that mean harm or have come to it. What a decoder of real screenshots must still read, what
// it must refuse and under which name. Files cut, split and changed at every byte are in
// every-byte.test.ts, what a file may cost in limits.test.ts.
import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import { resample, resampleSync, type PixelFault } from '../../core/pixels/index.ts';
import { assert, suite } from '../harness.ts';
import { outcome, reads, refused, type Rgba } from '../support/pixel-checks.ts';
import {
  chunksOf,
  cutData,
  expectedRgba,
  filteredRows,
  header,
  joinFile,
  makePng,
  SIGNATURE,
  type Chunk,
  type Picture,
} from '../support/png-maker.ts';
import { paletteOf, pictureOf } from '../support/png-pictures.ts';

const rgb = pictureOf({ seed: 1, colorType: 2, bitDepth: 8, width: 21, height: 17 });
const indexed = pictureOf({
  seed: 2,
  colorType: 3,
  bitDepth: 4,
  width: 19,
  height: 13,
  interlaced: true,
  transparency: [0, 128],
});
const deep = pictureOf({ seed: 3, colorType: 6, bitDepth: 16, width: 11, height: 9 });
const text: Chunk = { type: 'tEXt', data: Buffer.from('Title\0A picture') };
const END: Chunk = { type: 'IEND', data: new Uint8Array(0) };

function expectedOf(picture: Picture): Rgba {
  return { width: picture.width, height: picture.height, data: expectedRgba(picture) };
}
const want = expectedOf(rgb);

/** A file whose rows are `raw`, whatever the picture says. */
function withRows(raw: Uint8Array, picture: Picture = rgb): Buffer {
  return withStream(deflateSync(raw), picture);
}
function withStream(stream: Uint8Array, picture: Picture = rgb): Buffer {
  return joinFile([header(picture), ...cutData(stream, 2 ** 20), END]);
}
const rows = filteredRows(rgb, undefined);
const stream = deflateSync(rows);

const wild = suite('screenshots in the wild');

const readable: readonly (readonly [name: string, png: () => Buffer])[] = [
  [
    'a banner before the signature',
    () => Buffer.concat([Buffer.from('WARNING: linker\r\n'), makePng(rgb)]),
  ],
  ['a banner of 4096 bytes', () => Buffer.concat([Buffer.alloc(4096, 0x89), makePng(rgb)])],
  ['a wrong Adler-32', () => withStream(Buffer.concat([stream.subarray(0, -4), Buffer.alloc(4)]))],
  ['no Adler-32', () => withStream(stream.subarray(0, -4))],
  ['half an Adler-32', () => withStream(stream.subarray(0, -2))],
  ['bytes after IEND', () => Buffer.concat([makePng(rgb), Buffer.alloc(5000, 0x41)])],
  ['a second PNG after IEND', () => Buffer.concat([makePng(rgb), makePng(deep)])],
  ['no IEND', () => joinFile(chunksOf(rgb).slice(0, -1))],
  ['a bad checksum of IEND', () => joinFile([...chunksOf(rgb).slice(0, -1), { ...END, crc: 1 }])],
  [
    'rubbish after the data',
    () => Buffer.concat([joinFile(chunksOf(rgb).slice(0, -1)), Buffer.alloc(40, 0xee)]),
  ],
  [
    'a text after the data with a bad checksum',
    () => makePng(rgb, { afterData: [{ ...text, crc: 7 }] }),
  ],
  [
    'a text before the data with a bad checksum',
    () => makePng(rgb, { beforeData: [{ ...text, crc: 7 }] }),
  ],
  [
    'empty IDATs',
    () =>
      joinFile(
        chunksOf(rgb).flatMap((chunk) =>
          chunk.type === 'IDAT'
            ? [
                { type: 'IDAT', data: Buffer.alloc(0) },
                chunk,
                { type: 'IDAT', data: Buffer.alloc(0) },
              ]
            : [chunk],
        ),
      ),
  ],
  ['IDATs of one byte', () => makePng(rgb, { idatBytes: 1 })],
  ['a few bytes more than its rows', () => withRows(Buffer.concat([rows, Buffer.alloc(100, 9)]))],
  ['a stored (level 0) stream', () => makePng(rgb, { level: 0 })],
  [
    'a colour profile and its kin',
    () =>
      makePng(rgb, {
        beforePalette: [
          {
            type: 'iCCP',
            data: Buffer.concat([Buffer.from('Display P3\0\0'), deflateSync(Buffer.alloc(300, 1))]),
          },
          { type: 'cICP', data: Uint8Array.from([12, 13, 0, 1]) },
          { type: 'acTL', data: Buffer.alloc(8, 0) },
        ],
      }),
  ],
];
for (const [name, png] of readable) {
  wild(`reads ${name}`, async () => {
    await reads(png(), want);
  });
}

wild('reads bytes that lie anywhere in their memory', async () => {
  const png = makePng(rgb);
  for (let offset = 0; offset < 9; offset += 1) {
    const memory = new Uint8Array(png.length + 20).fill(0x50);
    memory.set(png, offset);
    const copy = Uint8Array.from(memory);
    await reads(memory.subarray(offset, offset + png.length), want);
    assert.equal(memory, copy, 'the bytes are not written to');
  }
});

wild('a tRNS of a shallow picture counts with its low bits only', async () => {
  const grey = pictureOf({ seed: 4, colorType: 0, bitDepth: 4 });
  const key = grey.sample(3, 3, 0);
  const png = makePng({ ...grey, transparency: [0xff00 | 0xf0 | key] });
  await reads(png, expectedOf({ ...grey, transparency: [key] }));
});

wild.run();

const broken = suite('broken files', { timeoutMs: 20_000 });

function withHeader(change: (data: Buffer) => void): Buffer {
  const data = Buffer.from(header(rgb).data);
  change(data);
  return joinFile([{ type: 'IHDR', data }, ...chunksOf(rgb).slice(1)]);
}
/** The chunks of the palette picture, changed. */
function changed(change: (chunks: Chunk[]) => Chunk[]): Buffer {
  return joinFile(change(chunksOf(indexed)));
}
const replace = (type: string, data: Uint8Array) => (chunks: Chunk[]) =>
  chunks.map((chunk) => (chunk.type === type ? { type, data } : chunk));
const without = (type: string) => (chunks: Chunk[]) =>
  chunks.filter((chunk) => chunk.type !== type);

const refusals: readonly (readonly [
  name: string,
  fault: readonly PixelFault[],
  png: () => Uint8Array,
])[] = [
  ['no bytes', ['not-png'], () => new Uint8Array(0)],
  ['one byte', ['not-png'], () => Uint8Array.of(0x89)],
  ['a signature alone', ['truncated'], () => SIGNATURE],
  [
    'a banner beyond 4 KiB',
    ['not-png'],
    () => Buffer.concat([Buffer.alloc(4097, 0x20), makePng(rgb)]),
  ],
  ['a JPEG', ['not-png'], () => Buffer.from('ffd8ffe000104a46494600010100', 'hex')],
  [
    'Apple’s CgBI',
    ['apple'],
    () => joinFile([{ type: 'CgBI', data: Buffer.alloc(4) }, ...chunksOf(rgb)]),
  ],
  ['zero width', ['bad-header'], () => withHeader((data) => data.writeUInt32BE(0, 0))],
  ['zero height', ['bad-header'], () => withHeader((data) => data.writeUInt32BE(0, 4))],
  ['a width of 2^31', ['bad-header'], () => withHeader((data) => data.writeUInt32BE(2 ** 31, 0))],
  ['a compression method of 1', ['bad-header'], () => withHeader((data) => (data[10] = 1))],
  ['a filter method of 1', ['bad-header'], () => withHeader((data) => (data[11] = 1))],
  ['an interlace method of 2', ['bad-header'], () => withHeader((data) => (data[12] = 2))],
  ['a palette of 16 bits', ['bad-header'], () => withHeader((data) => data.set([16, 3], 8))],
  [
    'a header of 14 bytes',
    ['bad-header'],
    () => joinFile([{ type: 'IHDR', data: Buffer.alloc(14) }, ...chunksOf(rgb).slice(1)]),
  ],
  ['a chunk before the header', ['bad-header'], () => joinFile([text, ...chunksOf(rgb)])],
  ['a second header', ['bad-chunk'], () => joinFile([header(rgb), ...chunksOf(rgb)])],
  ['no palette', ['bad-chunk'], () => changed(without('PLTE'))],
  ['an empty palette', ['bad-chunk'], () => changed(replace('PLTE', Buffer.alloc(0)))],
  ['a palette of 4 bytes', ['bad-chunk'], () => changed(replace('PLTE', Buffer.alloc(4)))],
  ['a palette of 257 entries', ['bad-chunk'], () => changed(replace('PLTE', Buffer.alloc(771)))],
  [
    'a palette behind the data',
    ['bad-chunk'],
    () => changed((chunks) => [...without('PLTE')(chunks), ...chunks.slice(1, 2)]),
  ],
  [
    'a bad checksum of the palette',
    ['bad-checksum'],
    () =>
      changed((chunks) =>
        chunks.map((chunk) => (chunk.type === 'PLTE' ? { ...chunk, crc: 5 } : chunk)),
      ),
  ],
  [
    'a bad checksum of an IDAT',
    ['bad-checksum'],
    () =>
      joinFile(
        chunksOf(rgb, { idatBytes: 50 }).map((chunk, index) =>
          index === 3 ? { ...chunk, crc: 5 } : chunk,
        ),
      ),
  ],
  [
    'a chunk of 2^32 - 1 bytes',
    ['bad-chunk'],
    () => makePng(rgb, { beforeData: [{ ...text, length: 0xffff_ffff }] }),
  ],
  [
    'a chunk of 2^31 - 1 bytes',
    ['truncated', 'bad-chunk'],
    () => makePng(rgb, { beforeData: [{ ...text, length: 0x7fff_ffff }] }),
  ],
  [
    'an IDAT longer than the file',
    ['truncated'],
    () => joinFile([header(rgb), { type: 'IDAT', data: stream, length: stream.length + 99 }]),
  ],
  [
    'an unknown chunk that counts',
    ['bad-chunk'],
    () => makePng(rgb, { beforeData: [{ type: 'ABCD', data: Buffer.alloc(3) }] }),
  ],
  [
    'a chunk without a name',
    ['bad-chunk'],
    () => makePng(rgb, { beforeData: [{ type: '\0\u0001\u0002\u0003', data: Buffer.alloc(3) }] }),
  ],
  ['no image data', ['truncated'], () => joinFile([header(rgb), END])],
  ['empty image data', ['truncated'], () => withStream(Buffer.alloc(0))],
  [
    'an IDAT of no bytes',
    ['truncated'],
    () => joinFile([header(rgb), { type: 'IDAT', data: Buffer.alloc(0) }, END]),
  ],
  ['half a zlib header', ['truncated'], () => withStream(stream.subarray(0, 1))],
  [
    'data after IEND only',
    ['truncated'],
    () => joinFile([header(rgb), END, ...cutData(stream, 2 ** 20)]),
  ],
  ['a row too few', ['truncated'], () => withRows(rows.subarray(0, -(rgb.width * 3 + 1)))],
  ['a byte too few', ['truncated'], () => withRows(rows.subarray(0, -1))],
  ['a stream that stops', ['truncated'], () => withStream(stream.subarray(0, stream.length >> 1))],
  ['filter 5', ['bad-data'], () => makePng(rgb, { filter: (row) => (row === 9 ? 5 : 0) })],
  [
    'filter 255 in the last row',
    ['bad-data'],
    () => makePng(rgb, { filter: (row) => (row === 16 ? 255 : 1) }),
  ],
  [
    'a zlib header of another method',
    ['bad-data'],
    () => withStream(Buffer.concat([Buffer.from([0x79, 0x9c]), stream.subarray(2)])),
  ],
  [
    'a zlib dictionary',
    ['bad-data'],
    () => withStream(Buffer.concat([Buffer.from([0x78, 0xbb]), stream.subarray(2)])),
  ],
  ['rubbish instead of a stream', ['bad-data'], () => withStream(Buffer.alloc(300, 0xff))],
  [
    'a stream that turns to rubbish',
    ['bad-data', 'truncated'],
    () => withStream(Buffer.concat([stream.subarray(0, 60), Buffer.alloc(300, 0xff)])),
  ],
  [
    'more pixels than the cap',
    ['too-large'],
    () =>
      withHeader((data) => {
        data.writeUInt32BE(60_000, 0);
        data.writeUInt32BE(60_000, 4);
      }),
  ],
];
for (const [name, faults, png] of refusals) {
  broken(`refuses ${name}`, async () => {
    const bytes = png();
    await refused(bytes, ...faults);
    for (const run of [resample, resampleSync]) {
      for (const kernels of ['wasm', 'js'] as const) {
        const came = await outcome(() => run(bytes, { longSide: 8, kernels }));
        assert.ok('fault' in came && faults.includes(came.fault), `${run.name}, ${kernels}`);
      }
    }
  });
}

broken('an index outside of the palette is black, as in browsers', async () => {
  const { transparency: _, ...opaque } = indexed;
  const png = makePng({ ...opaque, palette: paletteOf(2, 3) });
  const padded = [...paletteOf(2, 3), ...Array.from({ length: 13 }, () => [0, 0, 0] as const)];
  await reads(png, expectedOf({ ...opaque, palette: padded }));
});

broken.run();
