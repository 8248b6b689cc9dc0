// The four screenshots of the pixels bench, kept under .build from run to run: rendered with
// Chromium where there is one, else drawn. The phone's is RGBA with all filters at level 6, as
// Android writes it; Chromium's own files are RGB.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { findChromium } from '../../test/support/chromium.ts';
import { benchPage } from './pixel-page.ts';

/** Changed with the page or the drawing, so that what is kept is not taken for the new. */
const EDITION = 4;

export interface Input {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Image pixels per CSS pixel. */
  readonly ratio: number;
}

export const INPUTS: readonly Input[] = [
  { name: '1280', width: 1280, height: 720, ratio: 1 },
  { name: '2880', width: 2880, height: 1800, ratio: 2 },
  { name: '1080', width: 1080, height: 2400, ratio: 3 },
  { name: '3840', width: 3840, height: 2160, ratio: 2 },
];

/** The file of an input, which `prepareInputs` has made. */
function inputFile({ width, height }: Input): string {
  const source = findChromium() === undefined ? 'drawn' : 'chromium';
  return join(
    process.cwd(),
    '.build',
    'bench-pixels',
    `${source}-${EDITION}-${width}x${height}.png`,
  );
}

/** Makes what is missing; gives where the pictures come from. */
export async function prepareInputs(): Promise<'chromium' | 'drawn'> {
  const executablePath = findChromium();
  const missing = INPUTS.filter((input) => !existsSync(inputFile(input)));
  if (missing.length > 0) {
    mkdirSync(join(process.cwd(), '.build', 'bench-pixels'), { recursive: true });
    if (executablePath !== undefined) await render(missing, executablePath);
    else for (const input of missing) await save(input, await draw(input));
  }
  return executablePath === undefined ? 'drawn' : 'chromium';
}

export function readInput(input: Input): Uint8Array {
  return readFileSync(inputFile(input));
}

async function render(inputs: readonly Input[], executablePath: string): Promise<void> {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    for (const input of inputs) {
      const page = await browser.newPage({
        viewport: { width: input.width / input.ratio, height: input.height / input.ratio },
        deviceScaleFactor: input.ratio,
      });
      await page.setContent(benchPage());
      await save(input, await page.screenshot());
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

async function save(input: Input, png: Uint8Array): Promise<void> {
  const { default: sharp } = await import('sharp');
  const phone = input.height > input.width;
  const bytes = phone
    ? await sharp(png)
        .ensureAlpha()
        .png({ compressionLevel: 6, adaptiveFiltering: true })
        .toBuffer()
    : png;
  const { width, height } = await sharp(bytes).metadata();
  if (width !== input.width || height !== input.height) {
    throw new Error(`The input ${input.name} came out as ${width}x${height}.`);
  }
  // Another run may be making the same file.
  const part = `${inputFile(input)}.${process.pid}`;
  writeFileSync(part, bytes);
  renameSync(part, inputFile(input));
}

/** Lines of text-like marks on flat panels, a gradient and a noisy picture. */
async function draw({ width, height, ratio }: Input): Promise<Uint8Array> {
  const rgb = new Uint8Array(width * height * 3).fill(247);
  let state = 7;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  type Paint = readonly [number, number, number] | ((x: number, y: number) => readonly number[]);
  const fill = (left: number, top: number, wide: number, high: number, paint: Paint): void => {
    for (let y = top; y < Math.min(top + high, height); y += 1) {
      for (let x = left; x < Math.min(left + wide, width); x += 1) {
        rgb.set(typeof paint === 'function' ? paint(x, y) : paint, (y * width + x) * 3);
      }
    }
  };
  fill(0, 0, width, 48 * ratio, (x) => [43 + (x * 20) / width, 58 + (x * 53) / width, 140]);
  fill(0, 48 * ratio, 180 * ratio, height, [255, 255, 255]);
  fill(200 * ratio, 60 * ratio, 300 * ratio, 170 * ratio, (x, y) => {
    const wave = Math.sin(x / 23) * Math.cos(y / 17) * 60 + next(14);
    return [130 + wave, 120 + wave / 2, 150 - wave / 2];
  });
  for (let top = 60 * ratio; top < height; top += 40 * ratio) {
    const from = top < 240 * ratio ? 520 * ratio : 200 * ratio;
    for (let left = from; left < width - 20 * ratio; left += (5 + next(4)) * ratio) {
      if (next(5) < 2) continue;
      // A glyph: a stem, a bar and soft edges.
      fill(left, top, ratio, 10 * ratio, [110, 116, 130]);
      fill(left, top + next(10) * ratio, 4 * ratio, ratio, [110, 116, 130]);
      fill(left + ratio, top + next(8) * ratio, ratio, 2 * ratio, [180, 185, 195]);
    }
  }
  const { default: sharp } = await import('sharp');
  return await sharp(rgb, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}
