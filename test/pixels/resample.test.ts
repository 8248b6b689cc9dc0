// What `resample` promises beside its pixels: options, masks, crops, pictures that stay as they are,
// aborting, and that nothing else runs than was asked for.
import {
  isPixelError,
  type PixelError,
  decodePngSync,
  encodePng,
  encodePngSync,
  readPngInfo,
  resample,
  resampleSync,
} from '../../core/pixels/index.ts';
import { crc32, slicedCrc32 } from '../../core/pixels/crc.ts';
import { assert, rejects, suite } from '../harness.ts';

/** RGB noise over flat parts, from a seed; rows repeat here and there. */
function noise(width: number, height: number, channels: 1 | 3 | 4 = 3): Uint8Array {
  const data = new Uint8Array(width * height * channels);
  let state = width * 31 + height;
  for (let i = 0; i < data.length; i += 1) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    const row = Math.floor(i / (width * channels));
    data[i] =
      row % 5 === 3 ? (data[i - width * channels] as number) : i % 97 < 60 ? row * 3 : state >>> 24;
    if (channels === 4 && i % 4 === 3) data[i] = 255;
  }
  return data;
}

function pngOf(data: Uint8Array, width: number, height: number): Uint8Array {
  const channels = (data.length / (width * height)) as 1 | 3 | 4;
  return encodePngSync({ width, height, channels, data });
}

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Black where the rectangle touches a pixel. */
function blacken(data: Uint8Array, width: number, { x, y, ...size }: Rect): Uint8Array {
  const copy = data.slice();
  const height = data.length / (width * 3);
  for (let row = 0; row < height; row += 1) {
    if (row + 1 <= y || row >= y + size.height) continue;
    for (let column = 0; column < width; column += 1) {
      if (column + 1 <= x || column >= x + size.width) continue;
      copy.fill(0, (row * width + column) * 3, (row * width + column) * 3 + 3);
    }
  }
  return copy;
}

const test = suite('resample', { timeoutMs: 30_000 });
const [WIDTH, HEIGHT] = [211, 157];
const pixels = noise(WIDTH, HEIGHT);
const png = pngOf(pixels, WIDTH, HEIGHT);

test('brings the long side down and says what it was', async () => {
  const result = await resample(png, { longSide: 64 });
  const { width, height, source, masked } = result;
  assert.equal(
    { width, height, source, masked },
    {
      width: 64,
      height: 48,
      source: { width: WIDTH, height: HEIGHT },
      masked: 0,
    },
  );
  const info = readPngInfo(result.data);
  assert.equal([info.width, info.height, info.colorType], [64, 48, 2]);
  assert.equal(resampleSync(png, { longSide: 64 }), result);
});

test('never enlarges: what fits is given back as it is, and not copied', async () => {
  const result = await resample(png);
  assert.is(result.data, png);
  assert.equal([result.width, result.height, result.masked], [WIDTH, HEIGHT, 0]);
  assert.is(resampleSync(png, { longSide: WIDTH }).data, png);
  const whole = { x: -3, y: 0, width: 1000, height: 1000 };
  assert.is((await resample(png, { crop: whole })).data, png);
  const outside = { x: 300, y: 0, width: 10, height: 10 };
  assert.is((await resample(png, { masks: [outside] })).data, png);
});

test('what fits is read all the same: a broken picture is refused, not handed on', async () => {
  for (const length of [60, Math.floor(png.length / 2), png.length - 40]) {
    const cut = png.subarray(0, length);
    const error = await rejects(resample(cut));
    assert.ok(isPixelError(error), String(error));
    const sync = await rejects(async () => resampleSync(cut));
    assert.is((sync as { fault?: string }).fault, (error as { fault?: string }).fault);
  }
  const flipped = Buffer.from(png);
  flipped.writeUInt8(flipped.readUInt8(png.length >> 1) ^ 0xff, png.length >> 1);
  assert.is(((await rejects(resample(flipped))) as { fault?: string }).fault, 'bad-checksum');
});

test('a banner before a picture that fits is cut off', async () => {
  const banner = Buffer.from('Warning: two displays\n');
  const { data } = await resample(Buffer.concat([banner, png]));
  assert.is(Buffer.compare(data, png), 0);
});

test('a mask hides its pixels as if they had been black, and no others', async () => {
  const masks = [
    { x: 20, y: 30, width: 60, height: 21 },
    { x: 70.5, y: 41.25, width: 40.25, height: 30.5 },
    { x: -10, y: 150, width: 30, height: 99 },
  ];
  const painted = masks.reduce((data, mask) => blacken(data, WIDTH, mask), pixels);
  for (const kernels of ['wasm', 'js'] as const) {
    for (const longSide of [768, 150, 64, 20]) {
      const result = await resample(png, { longSide, masks, kernels });
      assert.is(result.masked, 3);
      const wanted = await resample(pngOf(painted, WIDTH, HEIGHT), { longSide });
      assert.equal(
        decodePngSync(result.data),
        decodePngSync(wanted.data),
        `${longSide} ${kernels}`,
      );
    }
  }
});

test('counts the masks that reach into what is kept', async () => {
  const crop = { x: 100, y: 0, width: 50, height: 157 };
  const masks = [
    { x: 90, y: 10, width: 5, height: 5 },
    { x: 98, y: 10, width: 3, height: 5 },
    { x: 120, y: 10, width: 0, height: 5 },
    { x: 149.5, y: 156, width: 500, height: 1 },
  ];
  assert.is((await resample(png, { crop, masks })).masked, 2);
});

test('a crop is the crop of the picture, then made small', async () => {
  const crop = { x: 37.5, y: 11.2, width: 120.1, height: 99 };
  const [left, top, width, height] = [37, 11, 121, 100];
  const cut = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const from = ((y + top) * WIDTH + left) * 3;
    cut.set(pixels.subarray(from, from + width * 3), y * width * 3);
  }
  for (const kernels of ['wasm', 'js'] as const) {
    for (const longSide of [768, 50]) {
      const result = await resample(png, { crop, longSide, kernels });
      assert.equal(result.source, { width: WIDTH, height: HEIGHT });
      const wanted = await resample(pngOf(cut, width, height), { longSide });
      assert.equal(
        decodePngSync(result.data),
        decodePngSync(wanted.data),
        `${longSide} ${kernels}`,
      );
    }
  }
});

test('a crop reads no further than its last row', async () => {
  const crop = { x: 0, y: 0, width: WIDTH, height: 20 };
  // Rows behind the crop are missing: nobody asks for them.
  const rows = Math.floor(HEIGHT / 2);
  const short = pngOf(pixels.subarray(0, WIDTH * rows * 3), WIDTH, rows);
  const head = png.subarray(0, 33);
  const cut = Buffer.concat([head, short.subarray(33)]);
  const result = await resample(cut, { crop, longSide: 50 });
  assert.is(Buffer.compare(result.data, (await resample(png, { crop, longSide: 50 })).data), 0);
  await rejects(resample(cut, { longSide: 50 }), (error: unknown) => {
    assert.is((error as PixelError).fault, 'truncated');
  });
});

test('names an option that is wrong', async () => {
  const wrong = async (options: object, message: RegExp): Promise<void> => {
    await rejects(resample(png, options), message);
    assert.throws(() => resampleSync(png, options), message);
  };
  await wrong({ longside: 5 }, /longside .*did you mean "longSide"/);
  await wrong({ longSide: 0 }, /longSide is 0/);
  await wrong({ longSide: 7.5 }, /longSide is 7.5/);
  await wrong({ level: 10 }, /level is 10/);
  await wrong({ mode: 'fien' }, /mode is "fien".*did you mean "fine"/);
  await wrong({ kernels: 'wsm' }, /kernels is "wsm".*did you mean "wasm"/);
  await wrong({ crop: { x: 500, y: 0, width: 5, height: 5 } }, /crop lies outside/);
  await wrong({ crop: { x: 5, y: 0, width: 0, height: 5 } }, /crop lies outside/);
  await wrong({ masks: [{ x: Number.NaN, y: 0, width: 5, height: 5 }] }, /Rectangle NaN/);
  await wrong({ masks: [{ x: 0, y: 0, width: -5, height: 5 }] }, /Rectangle 0, 0, -5/);
});

test('aborts with the signal’s reason, before and amid', async () => {
  const reason = new Error('enough');
  await rejects(resample(png, { longSide: 20, signal: AbortSignal.abort(reason) }), /enough/);
  const large = await encodePng({
    width: 1500,
    height: 1500,
    channels: 3,
    data: noise(1500, 1500),
  });
  for (const mode of ['area', 'fine'] as const) {
    const controller = new AbortController();
    const work = resample(large, { mode, signal: controller.signal });
    setImmediate(() => {
      controller.abort(reason);
    });
    await rejects(work, (error: unknown) => {
      assert.is(error, reason);
    });
  }
});

test('pictures side by side do not mix', async () => {
  const sizes = [
    [300, 200],
    [200, 300],
    [640, 480],
    [90, 900],
  ] as const;
  const files = sizes.map(([width, height]) => pngOf(noise(width, height), width, height));
  const alone = files.map((file) => resampleSync(file, { longSide: 77 }).data);
  const together = await Promise.all(files.map((file) => resample(file, { longSide: 77 })));
  for (const [index, { data }] of together.entries()) {
    assert.is(Buffer.compare(data, alone[index] as Uint8Array), 0);
  }
});

test('the fine mode keeps flat colours and edges where they are', async () => {
  const [width, height] = [400, 300];
  const data = new Uint8Array(width * height * 3).fill(90);
  for (let y = 0; y < height; y += 1) data.fill(220, (y * width + 200) * 3, (y + 1) * width * 3);
  const result = decodePngSync(
    (await resample(pngOf(data, width, height), { longSide: 100, mode: 'fine' })).data,
  );
  const row = (x: number): number => result.data[(40 * 100 + x) * 4] as number;
  assert.equal([row(0), row(20), row(44)], [90, 90, 90]);
  assert.equal([row(55), row(80), row(99)], [220, 220, 220]);
  assert.ok(row(49) < 100 && row(50) > 210);
});

test('the checksum without Node’s help is the same', () => {
  for (let length = 0; length < 40; length += 1) {
    const bytes = noise(length + 1, 1).subarray(0, length);
    assert.is(slicedCrc32(bytes), crc32(bytes), `${length} bytes`);
  }
  assert.is(
    slicedCrc32(pixels.subarray(1001), slicedCrc32(pixels.subarray(0, 1001))),
    slicedCrc32(pixels),
  );
  assert.is(slicedCrc32(Buffer.from('123456789')), 0xcbf43926);
});

test.run();
