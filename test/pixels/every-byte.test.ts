// Three files, cut at every byte, split at every byte into two IDATs, and with every byte changed.
// A cut file is refused until all of its image data is there; a split one is the same picture; a
// changed one is refused or what it was, as a checksum guards every byte that counts.
import { Buffer } from 'node:buffer';
import { decodePng } from '../../core/pixels/index.ts';
import { assert, suite } from '../harness.ts';
import { difference, outcome, reads, refused, type Rgba } from '../support/pixel-checks.ts';
import {
  chunksOf,
  expectedRgba,
  joinFile,
  makePng,
  writeChunk,
  type Chunk,
  type Picture,
} from '../support/png-maker.ts';
import { hash, pictureOf } from '../support/png-pictures.ts';

const subjects = {
  rgb: pictureOf({ seed: 1, colorType: 2, bitDepth: 8, width: 21, height: 17 }),
  indexed: pictureOf({
    seed: 2,
    colorType: 3,
    bitDepth: 4,
    width: 19,
    height: 13,
    interlaced: true,
    transparency: [0, 128],
  }),
  deep: pictureOf({ seed: 3, colorType: 6, bitDepth: 16, width: 11, height: 9 }),
};
const text: Chunk = { type: 'tEXt', data: Buffer.from('Title\0A picture') };
const END: Chunk = { type: 'IEND', data: new Uint8Array(0) };

function expectedOf(picture: Picture): Rgba {
  return { width: picture.width, height: picture.height, data: expectedRgba(picture) };
}

const cuts = suite('every byte', { timeoutMs: 60_000 });
for (const [name, picture] of Object.entries(subjects)) {
  cuts(`${name}: cut anywhere it is refused, until all image data is there`, async () => {
    const png = makePng(picture, { idatBytes: 90, beforeData: [text], afterData: [text] });
    const complete = expectedOf(picture);
    const tail = writeChunk(text).length + writeChunk(END).length;
    for (let length = 0; length < png.length; length += 1) {
      const part = png.subarray(0, length);
      if (length >= png.length - tail) await reads(part, complete);
      else await refused(part, length < 8 ? 'not-png' : 'truncated');
    }
  });

  cuts(`${name}: split anywhere into two IDATs it is the same picture`, async () => {
    const [head, ...rest] = chunksOf(picture);
    const data = rest.find(({ type }) => type === 'IDAT')?.data as Uint8Array;
    const between = rest.filter(({ type }) => type !== 'IDAT' && type !== 'IEND');
    const complete = expectedOf(picture);
    for (let at = 0; at <= data.length; at += 1) {
      const parts = [data.subarray(0, at), data.subarray(at)].map((part) => ({
        type: 'IDAT',
        data: part,
      }));
      await reads(joinFile([head as Chunk, ...between, ...parts, END]), complete);
    }
  });

  cuts(`${name}: with any one byte changed it is refused, or the picture it was`, async () => {
    const png = makePng(picture, { beforeData: [text], afterData: [text] });
    const complete = expectedOf(picture);
    for (let at = 0; at < png.length; at += 1) {
      const damaged = Buffer.from(png);
      damaged[at] = (damaged[at] as number) ^ (1 + (hash(at) % 255));
      const came = await outcome(() => decodePng(damaged));
      if ('value' in came) assert.is(difference(came.value, complete), '', `byte ${at}`);
    }
  });
}

cuts.run();
