// Sizes, edges and colours: what averaging must not do to a picture. Colours are weighted by alpha,
// 16 bits are rounded, no side becomes 0, a flat colour stays what it was, and both modes are near
// to what sharp makes with Lanczos-3.
import sharp from 'sharp';
import { lanczosReference, psnr } from '../../bench/support/pixel-psnr.ts';
import {
  decodePngSync,
  encodePng,
  encodePngSync,
  readPngInfo,
  resample,
  resampleSync,
  type PixelRect,
} from '../../core/pixels/index.ts';
import { createKernels } from '../../core/pixels/kernels.ts';
import { assert, suite } from '../harness.ts';
import { areaAverage, difference, onWhite, type Rgba } from '../support/pixel-checks.ts';
import { expectedRgba, makePng, type ColorType, type Picture } from '../support/png-maker.ts';
import { FORMATS, hash, pictureOf, randomPicture } from '../support/png-pictures.ts';
import { createRandom } from '../protocol/fuzz-support.ts';

const MODES = ['area', 'fine'] as const;
const KERNELS = ['wasm', 'js'] as const;

/** Pixels of the result. */
async function shrink(png: Uint8Array, options: Parameters<typeof resample>[1]): Promise<Rgba> {
  return decodePngSync((await resample(png, options)).data);
}

const sizes = suite('sizes', { timeoutMs: 30_000 });

const SIDES: readonly (readonly [width: number, height: number, to: readonly [number, number]])[] =
  [
    [1, 2000, [1, 768]],
    [2000, 1, [768, 1]],
    [1, 1, [1, 1]],
    [3, 5000, [1, 768]],
    [769, 768, [768, 767]],
    [768, 769, [767, 768]],
    [768, 768, [768, 768]],
    [1537, 2, [768, 1]],
  ];
for (const [width, height, [toWidth, toHeight]] of SIDES) {
  sizes(`${width} by ${height} becomes ${toWidth} by ${toHeight}`, async () => {
    const png = makePng(pictureOf({ seed: 1, colorType: 2, bitDepth: 8, width, height }));
    for (const mode of MODES) {
      for (const kernels of KERNELS) {
        const options = { mode, kernels };
        const result = await resample(png, options);
        const info = readPngInfo(result.data);
        assert.equal([result.width, result.height], [toWidth, toHeight]);
        assert.equal([info.width, info.height], [toWidth, toHeight], 'the bytes say the same');
        assert.equal(result.source, { width, height });
        assert.equal(
          Uint8Array.from(resampleSync(png, options).data),
          Uint8Array.from(result.data),
        );
      }
    }
  });
}

sizes('a flat colour is the same colour at every size', async () => {
  for (const value of [0, 1, 17, 127, 128, 254, 255]) {
    for (const [width, height] of [
      [97, 61],
      [500, 7],
      [7, 500],
      [61, 97],
    ] as const) {
      const picture = flat(width, height, [value, 255 - value, value >> 1]);
      for (const longSide of [1, 2, 13, 60, 96]) {
        for (const mode of MODES) {
          const { data } = await shrink(makePng(picture), { longSide, mode });
          const seen = new Set<string>();
          for (let at = 0; at < data.length; at += 4) seen.add(data.subarray(at, at + 4).join());
          const where = `${width}x${height} to ${longSide}, ${mode}`;
          assert.equal([...seen], [[value, 255 - value, value >> 1, 255].join()], where);
        }
      }
    }
  }
});

function flat(width: number, height: number, samples: readonly number[], deep = false): Picture {
  return {
    width,
    height,
    colorType: (samples.length === 4 ? 6 : 2) as ColorType,
    bitDepth: deep ? 16 : 8,
    sample: (_x, _y, channel) => samples[channel] as number,
  };
}

sizes('random pictures are the mean of the area that each pixel covers', async () => {
  const random = createRandom(20);
  for (let count = 0; count < 60; count += 1) {
    const [picture, options] = randomPicture(random, 150);
    const from = onWhite({ ...picture, data: expectedRgba(picture) });
    const longSide = 1 + random.int(Math.max(picture.width, picture.height));
    const got = await shrink(makePng(picture, options), { longSide });
    if (got.width === picture.width && got.height === picture.height) continue;
    const want = areaAverage(from, got.width, got.height);
    assert.is(difference(got, want, 1), '', `case ${count}`);
  }
});

sizes('a crop and masks are applied before averaging', async () => {
  const random = createRandom(22);
  for (let count = 0; count < 60; count += 1) {
    const [picture, options] = randomPicture(random, 90);
    const { width, height } = picture;
    const rect = (): PixelRect => ({
      x: random.int(width + 8) - 4,
      y: random.int(height + 8) - 4,
      width: random.int(width),
      height: random.int(height),
    });
    const masks = [rect(), rect()];
    const x = random.int(width);
    const y = random.int(height);
    const crop = { x, y, width: 1 + random.int(width - x), height: 1 + random.int(height - y) };
    const longSide = 1 + random.int(Math.max(crop.width, crop.height));
    const result = await resample(makePng(picture, options), { longSide, crop, masks });
    const from = onWhite({ width, height, data: expectedRgba(picture) });
    for (const mask of masks) paint(from, mask);
    const want = areaAverage(cut(from, crop), result.width, result.height);
    if (result.masked === 0 && picture.width === result.width) continue;
    assert.is(difference(decodePngSync(result.data), want, 1), '', `case ${count}`);
    const hits = masks.filter((mask) => overlap(mask, crop));
    assert.is(result.masked, hits.length, `case ${count}`);
  }
});

function overlap(one: PixelRect, other: PixelRect): boolean {
  const wide = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const high = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  return one.width > 0 && one.height > 0 && wide > 0 && high > 0;
}
function paint({ width, height, data }: Rgba, mask: PixelRect): void {
  for (let y = Math.max(0, mask.y); y < Math.min(height, mask.y + mask.height); y += 1) {
    for (let x = Math.max(0, mask.x); x < Math.min(width, mask.x + mask.width); x += 1) {
      data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  }
}
function cut(from: Rgba, { x, y, width, height }: PixelRect): Rgba {
  const data = new Uint8Array(width * height * 4);
  for (let row = 0; row < height; row += 1) {
    const at = ((y + row) * from.width + x) * 4;
    data.set(from.data.subarray(at, at + width * 4), row * width * 4);
  }
  return { width, height, data };
}

sizes.run();

const twins = suite('the JS kernels', { timeoutMs: 60_000 });

twins('are compared with WebAssembly ones that are really there', () => {
  assert.equal(
    KERNELS.map((kind) => createKernels(kind, 64).kind),
    ['wasm', 'js'],
  );
});

twins('give the bytes of the WebAssembly ones for random pictures', async () => {
  const random = createRandom(21);
  for (let count = 0; count < 150; count += 1) {
    const [picture, options] = randomPicture(random, random.pick([20, 90, 300]));
    const png = makePng(picture, options);
    const longSide = 1 + random.int(Math.max(picture.width, picture.height));
    for (const mode of MODES) {
      const [one, other] = [
        resampleSync(png, { longSide, mode, kernels: 'wasm' }),
        resampleSync(png, { longSide, mode, kernels: 'js' }),
      ];
      assert.is(Buffer.compare(one.data, other.data), 0, `case ${count}, ${mode}`);
    }
    const decoded = KERNELS.map((kernels) => decodePngSync(png, { kernels }));
    assert.is(difference(decoded[0] as Rgba, decoded[1] as Rgba), '', `case ${count}`);
  }
});

twins.run();

const quality = suite('quality', { timeoutMs: 30_000 });

quality('against Lanczos-3 of sharp, area has 35 dB and more, fine has 42', async () => {
  // Waves, and edges as panels and text have them.
  const picture: Picture = {
    width: 1000,
    height: 640,
    colorType: 2,
    bitDepth: 8,
    sample: (x, y, channel) => {
      const wave = Math.sin(x / 19 + channel) * Math.cos(y / 23) * 50;
      const panel = hash(x >> 6, y >> 5) & 63;
      const stroke = y % 24 < 3 && hash(x >> 2, y) % 3 === 0 ? -40 : 0;
      return Math.round(120 + wave + panel + stroke);
    },
  };
  const png = makePng(picture);
  for (const longSide of [768, 500, 250, 125]) {
    const reference = await lanczosReference(png, longSide);
    for (const [mode, least] of [
      ['area', 35],
      ['fine', 42],
    ] as const) {
      const found = await psnr((await resample(png, { longSide, mode })).data, reference);
      assert.ok(found >= least, `${found} dB at ${longSide}, ${mode}`);
    }
  }
});

quality.run();

const colours = suite('colours', { timeoutMs: 30_000 });

colours('edges to transparency keep their colour', async () => {
  // Opaque red beside fully transparent black, blue or green: hidden colours must not be seen.
  for (const hidden of [
    [0, 0, 0],
    [0, 0, 255],
    [0, 255, 0],
  ] as const) {
    const picture: Picture = {
      width: 90,
      height: 40,
      colorType: 6,
      bitDepth: 8,
      sample: (x, y, channel) => {
        const seen = (x * 7 + y * 3) % 11 < 5;
        return (seen ? [255, 0, 0, 255] : [...hidden, 0])[channel] as number;
      },
    };
    for (const kernels of KERNELS) {
      const { data } = await shrink(makePng(picture), { longSide: 13, kernels });
      for (let at = 0; at < data.length; at += 4) {
        const [red, green = 0, blue] = data.subarray(at, at + 3);
        assert.ok(
          red === 255 && green === blue && green > 60 && green < 220,
          `${red},${green},${blue}`,
        );
      }
    }
  }
});

colours('a colour that tRNS hides is not seen either', async () => {
  const picture: Picture = {
    width: 64,
    height: 64,
    colorType: 2,
    bitDepth: 8,
    sample: (x, y, channel) => ((x + y) & 1 ? [200, 100, 50] : [0, 255, 0])[channel] as number,
    transparency: [0, 255, 0],
  };
  const { data } = await shrink(makePng(picture), { longSide: 8 });
  for (let at = 0; at < data.length; at += 4) {
    // Half of it and half white.
    for (const [channel, value] of [227.5, 177.5, 152.5].entries()) {
      assert.ok(Math.abs((data[at + channel] as number) - value) <= 1, `${data[at + channel]}`);
    }
  }
});

colours('16 bits are rounded', async () => {
  // 0x0181 is 1.498 of 255, 0x0182 is 1.502; dropping the low byte would give 1 for both.
  for (const [value, byte] of [
    [0x0080, 0],
    [0x0081, 1],
    [0x0181, 1],
    [0x0182, 2],
    [0xfe7d, 253],
    [0xff80, 255],
    [0xff7e, 254],
  ] as const) {
    assert.is(Math.round((value * 255) / 65_535), byte);
    for (const longSide of [5, 30]) {
      const png = makePng(flat(30, 20, [value, value, value, 0xffff], true));
      const { data } = await shrink(png, { longSide });
      assert.equal([...data.subarray(0, 4)], [byte, byte, byte, 255], `${value} at ${longSide}`);
    }
  }
});

colours('what is written is grey or RGB, and never transparent', async () => {
  for (const [colorType, bitDepth] of FORMATS) {
    const png = makePng(pictureOf({ seed: 9, colorType, bitDepth, width: 40, height: 30 }));
    const info = readPngInfo((await resample(png, { longSide: 20 })).data);
    assert.equal([info.bitDepth, info.interlaced], [8, false]);
    assert.is(info.colorType, colorType === 0 || colorType === 4 ? 0 : 2);
  }
});

colours('a Display P3 profile is dropped, and the numbers stay as they are', async () => {
  const picture = pictureOf({ seed: 10, colorType: 2, bitDepth: 16, width: 50, height: 40 });
  const p3 = { type: 'cICP', data: Uint8Array.from([12, 13, 0, 1]) };
  const plain = await resample(makePng(picture), { longSide: 20 });
  const tagged = await resample(makePng(picture, { beforePalette: [p3] }), { longSide: 20 });
  assert.is(Buffer.compare(plain.data, tagged.data), 0);
  assert.not.match(Buffer.from(tagged.data).toString('latin1'), /cICP|iCCP|sRGB|gAMA/);
});

colours('sharp reads what is encoded, for every number of channels', async () => {
  for (const channels of [1, 2, 3, 4] as const) {
    for (const [width, height] of [
      [1, 1],
      [5, 3],
      [300, 77],
    ] as const) {
      const data = Uint8Array.from({ length: width * height * channels }, (_, i) => hash(i) & 255);
      const want = new Uint8Array(width * height * 4);
      for (let at = 0, to = 0; to < want.length; at += channels, to += 4) {
        const [first = 0, second = 255, third = 0, fourth = 255] = data.subarray(at, at + channels);
        want.set(channels < 3 ? [first, first, first, second] : [first, second, third, fourth], to);
      }
      const pixels = { width, height, channels, data };
      for (const png of [
        await encodePng(pixels),
        encodePngSync(pixels, { level: 1 }),
        encodePngSync(pixels, { kernels: 'js' }),
      ]) {
        const image = sharp(png).toColourspace('srgb').ensureAlpha().raw();
        const { data: got, info } = await image.toBuffer({ resolveWithObject: true });
        assert.is(difference({ ...info, data: got }, { width, height, data: want }), '');
      }
    }
  }
});

colours.run();
