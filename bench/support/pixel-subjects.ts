// Who shrinks a screenshot in the pixels bench. Each loads its own library and nothing of the
// others, so that a process holds one; each is used as its manual shows, with its own defaults.
import { Buffer } from 'node:buffer';

export const LONG_SIDE = 768;
/** zlib's level for sharp's linear row: ours, so that only the pixels differ. */
export const LINEAR_LEVEL = 3;

export type Shrink = (png: Uint8Array) => Promise<Uint8Array>;

/** By name: loads what it needs and gives the work. */
export const SUBJECTS = {
  ours: () => ours({}),
  'ours js': () => ours({ kernels: 'js' }),
  'ours fine': () => ours({ mode: 'fine' }),
  'sharp lanczos3': () => sharpWith('lanczos3'),
  'sharp linear': () => sharpWith('linear', LINEAR_LEVEL),
  'pngjs + pica': pica,
  jimp,
  'fast-png + box': fastPng,
} satisfies Record<string, () => Promise<Shrink>>;

export type Subject = keyof typeof SUBJECTS;

async function ours(options: { readonly kernels?: 'js'; readonly mode?: 'fine' }): Promise<Shrink> {
  const { resample } = await import('../../core/pixels/index.ts');
  return async (png) => (await resample(png, { longSide: LONG_SIDE, ...options })).data;
}

async function sharpWith(kernel: 'lanczos3' | 'linear', level?: number): Promise<Shrink> {
  const { default: sharp } = await import('sharp');
  return async (png) =>
    await sharp(png)
      .resize({ width: LONG_SIDE, height: LONG_SIDE, fit: 'inside', kernel })
      .png(level === undefined ? {} : { compressionLevel: level })
      .toBuffer();
}

async function pica(): Promise<Shrink> {
  const [{ PNG }, { Pica }] = await Promise.all([import('pngjs'), import('pica')]);
  const resizer = new Pica({ features: ['js', 'wasm'] });
  return async (png) => {
    const from = PNG.sync.read(Buffer.from(png.buffer, png.byteOffset, png.length));
    const [width, height] = fit(from.width, from.height);
    const data = await resizer.resizeBuffer({
      src: from.data,
      width: from.width,
      height: from.height,
      toWidth: width,
      toHeight: height,
      filter: 'lanczos3',
    });
    const to = new PNG({ width, height });
    to.data = Buffer.from(data.buffer, data.byteOffset, data.length);
    return PNG.sync.write(to);
  };
}

async function jimp(): Promise<Shrink> {
  const { Jimp } = await import('jimp');
  return async (png) => {
    const image = await Jimp.read(Buffer.from(png.buffer, png.byteOffset, png.length));
    const [w, h] = fit(image.bitmap.width, image.bitmap.height);
    return await image.resize({ w, h }).getBuffer('image/png');
  };
}

async function fastPng(): Promise<Shrink> {
  const [{ decode, encode }, { boxAverage }] = await Promise.all([
    import('fast-png'),
    import('./pixel-box.ts'),
  ]);
  return async (png) => {
    const from = decode(png);
    const [width, height] = fit(from.width, from.height);
    return encode({
      width,
      height,
      channels: from.channels,
      data: boxAverage(from, width, height),
    });
  };
}

function fit(width: number, height: number): [number, number] {
  const scale = LONG_SIDE / Math.max(width, height);
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}
