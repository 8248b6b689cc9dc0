// PngSuite's kinds, made by our own generator: 162 valid ones and a few more must be read exactly
// as the specification says, the 14 broken ones refused. The generator itself is held against
// pngjs and sharp, as far as these are right:
// - pngjs clears the colour of what tRNS makes transparent; the specification keeps it.
// - sharp brings 16 bits to 8 by dropping the low byte; asked for 16, it gives all of them.
import { PNG } from 'pngjs';
import sharp from 'sharp';
import { decodePngSync, resample, resampleSync, type PixelFault } from '../../core/pixels/index.ts';
import { assert, suite } from '../harness.ts';
import {
  areaAverage,
  difference,
  onWhite,
  reads,
  refused,
  type Rgba,
} from '../support/pixel-checks.ts';
import { brokenKinds, validKinds, type Kind } from '../support/png-kinds.ts';
import { expectedRgba } from '../support/png-maker.ts';
import { readPng } from '../support/png-reader.ts';

const kinds = validKinds();
const expected = new Map(kinds.map((kind) => [kind.name, expectedOf(kind)]));

function expectedOf({ picture }: Kind): Rgba {
  return { width: picture.width, height: picture.height, data: expectedRgba(picture) };
}

/** Runs over all kinds and reports all that fail, not the first alone. */
async function each(check: (kind: Kind, picture: Rgba) => string | Promise<string>): Promise<void> {
  const failures: string[] = [];
  for (const kind of kinds) {
    const said = await check(kind, expected.get(kind.name) as Rgba);
    if (said !== '') failures.push(`${kind.name}: ${said}`);
  }
  assert.is(failures.join('\n'), '');
}

const oracles = suite('the PNG maker');

oracles('makes PngSuite’s 162 kinds and two more, each once', () => {
  assert.is(new Set(kinds.map(({ name }) => name)).size, 164);
});

oracles('agrees with pngjs', async () => {
  await each(({ png, picture }, want) => {
    const data = new Uint8Array(PNG.sync.read(png).data);
    const keyed = picture.transparency !== undefined && picture.colorType !== 3;
    // See above: the same colours where something is to be seen.
    for (let at = 0; keyed && at < data.length; at += 4) {
      if (data[at + 3] === 0) data.set(want.data.subarray(at, at + 3), at);
    }
    return difference({ ...want, data }, want);
  });
});

oracles('agrees with sharp', async () => {
  await each(async ({ png, picture }, want) => {
    const deep = picture.bitDepth === 16;
    const { data, info } = await sharp(png)
      .toColourspace(deep ? 'rgb16' : 'srgb')
      .ensureAlpha()
      .raw({ depth: deep ? 'ushort' : 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const bytes = deep
      ? Uint8Array.from(new Uint16Array(data.buffer, data.byteOffset, data.length / 2), (value) =>
          Math.round((value * 255) / 65_535),
        )
      : data;
    return difference({ width: info.width, height: info.height, data: bytes }, want);
  });
});

oracles('agrees with the plain reader', async () => {
  await each(async ({ png }, want) => {
    const { width, height, rgba } = await readPng(png);
    return difference({ width, height, data: rgba }, want);
  });
});

oracles.run();

const decoding = suite('decodePng');

for (const kind of kinds) {
  decoding(`reads ${kind.name}`, async () => {
    await reads(kind.png, expected.get(kind.name) as Rgba);
  });
}

/** xs: signature; xh: header's sum; xc, xd: colour type and depth; xdt, xcs: data and its sum. */
const FAULTS: Readonly<Record<string, PixelFault>> = {
  xs1n0g01: 'not-png',
  xs2n0g01: 'not-png',
  xs4n0g01: 'not-png',
  xs7n0g01: 'not-png',
  xcrn0g04: 'not-png',
  xlfn0g04: 'not-png',
  xhdn0g08: 'bad-checksum',
  xc1n0g08: 'bad-header',
  xc9n2c08: 'bad-header',
  xd0n2c08: 'bad-header',
  xd3n2c08: 'bad-header',
  xd9n2c08: 'bad-header',
  xdtn0g01: 'truncated',
  xcsn0g01: 'bad-checksum',
};
for (const { name, png } of brokenKinds()) {
  decoding(`refuses ${name}`, async () => {
    await refused(png, FAULTS[name] as PixelFault);
  });
}

decoding.run();

const resampling = suite('resample over the suite', { timeoutMs: 60_000 });

resampling('a picture that fits keeps its pixels', async () => {
  await each(async ({ png }, want) => {
    const result = await resample(png, { longSide: 64 });
    return difference(decodePngSync(result.data), want);
  });
});

resampling('is the average of the area, transparent parts laid on white', async () => {
  await each(async ({ png, picture }, want) => {
    for (const longSide of [1, 3, 7, 31]) {
      if (longSide >= Math.max(picture.width, picture.height)) continue;
      const { data, width, height } = await resample(png, { longSide });
      const said = difference(decodePngSync(data), areaAverage(onWhite(want), width, height), 1);
      if (said !== '') return `long side ${longSide}: ${said}`;
    }
    return '';
  });
});

resampling('the synchronous form and the JS kernels give the same bytes', async () => {
  await each(async ({ png }) => {
    for (const mode of ['area', 'fine'] as const) {
      for (const longSide of [1, 5, 13, 32]) {
        const options = { longSide, mode };
        const first = await resample(png, options);
        const others = [
          await resample(png, { ...options, kernels: 'js' }),
          resampleSync(png, options),
          resampleSync(png, { ...options, kernels: 'js' }),
        ];
        for (const [index, other] of others.entries()) {
          if (Buffer.compare(first.data, other.data) !== 0) {
            return `${mode}, ${longSide}: the bytes differ (${index})`;
          }
        }
      }
    }
    return '';
  });
});

resampling.run();
