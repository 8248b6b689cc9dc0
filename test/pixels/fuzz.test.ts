// The fuzzer: pictures of any format, damaged, must end in a PixelError or in the picture that the
// plain reader of the tests sees; the same from every form and from both kernels, to the byte.
// ENGINEWRIGHT_FUZZ_SECONDS says how long (default 10, with CI set 60), ENGINEWRIGHT_FUZZ_SEED where
// it begins; a failure names the seed of its case, which is then the first one.
import { Buffer } from 'node:buffer';
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { decodePng, decodePngSync, resample, resampleSync } from '../../core/pixels/index.ts';
import { assert, suite } from '../harness.ts';
import { createRandom, type Random } from '../protocol/fuzz-support.ts';
import { difference, outcome, type Rgba } from '../support/pixel-checks.ts';
import { damage } from '../support/png-damage.ts';
import { expectedRgba, makePng } from '../support/png-maker.ts';
import { randomPicture } from '../support/png-pictures.ts';
import { readPng } from '../support/png-reader.ts';

const ci = !['', '0', 'false', undefined].includes(process.env['CI']);
const seconds = Number(process.env['ENGINEWRIGHT_FUZZ_SECONDS'] ?? (ci ? 60 : 10));
const firstSeed = Number(process.env['ENGINEWRIGHT_FUZZ_SEED'] ?? Date.now() % 2 ** 32);
/** More pixels than any undamaged picture of the fuzzer: a changed header may ask for more. */
const caps = { maxPixels: 20_000 };
/** A case takes some ms. */
const CASE_MS = 20_000;
const counts = { cases: 0, read: 0, refused: 0 };
const test = suite('fuzz');

test(
  'damaged pictures',
  async () => {
    const end = performance.now() + seconds * 1000;
    let seed = firstSeed;
    do {
      try {
        await inTime(oneCase(createRandom(seed)));
      } catch (error) {
        throw new Error(`fuzz: seed ${seed} (case ${counts.cases}) failed`, { cause: error });
      }
      seed = (seed + 1) % 2 ** 32;
      counts.cases += 1;
      if (counts.cases % 32 === 0) await turn();
    } while (performance.now() < end);
    process.stdout.write(
      `note: fuzz pixels: seed ${firstSeed}, ${counts.cases} cases, ${counts.read} read, ${counts.refused} refused\n`,
    );
    // A fuzzer whose files are all refused, or all fine, tests nothing.
    if (counts.cases > 500) {
      assert.ok(counts.read > counts.cases / 20 && counts.refused > counts.cases / 20);
    }
  },
  { timeoutMs: seconds * 1000 + 30_000 },
);

/** A call that never settles fails as what it is, with its seed. */
async function inTime(running: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${CASE_MS} ms`)), CASE_MS);
  });
  try {
    await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function oneCase(random: Random): Promise<void> {
  const [picture, options] = randomPicture(random, random.chance(0.1) ? 120 : 24);
  const intact = random.chance(0.1);
  const png = intact ? makePng(picture, options) : damage(random, picture, options);
  const copy = Buffer.from(png);
  const want = intact
    ? { width: picture.width, height: picture.height, data: expectedRgba(picture) }
    : await secondOpinion(png);
  const came = await outcome(() => decodePng(png, caps));
  const now = await outcome(() => decodePngSync(png, caps));
  assert.is(Buffer.compare(copy, png), 0, 'the bytes given are not written to');
  if ('fault' in came) {
    assert.ok(!intact, `an intact picture is refused: ${'fault' in came && came.message}`);
    counts.refused += 1;
    assert.is('fault' in now && now.fault, came.fault, 'the two forms disagree');
  } else {
    counts.read += 1;
    assert.ok(want !== undefined, 'read, but there is no picture in it');
    assert.is(difference(came.value, want), '', 'decodePng');
    // Data behind the last row is more than the synchronous form takes.
    if ('value' in now) assert.is(difference(now.value, want), '', 'decodePngSync');
    else assert.is(now.fault, 'bad-data');
  }
  await resampled(random, png, came);
}

/** The same outcome in all four ways. */
async function resampled(
  random: Random,
  png: Uint8Array,
  decoded: { readonly value: Rgba } | { readonly fault: string },
): Promise<void> {
  const options = {
    ...caps,
    longSide: 1 + random.int(40),
    mode: random.pick(['area', 'fine'] as const),
  };
  const first = await outcome(() => resample(png, options));
  assert.is('fault' in first ? first.fault : 'none', 'fault' in decoded ? decoded.fault : 'none');
  const others = {
    'resample js': await outcome(() => resample(png, { ...options, kernels: 'js' })),
    resampleSync: await outcome(() => resampleSync(png, options)),
    'resampleSync js': await outcome(() => resampleSync(png, { ...options, kernels: 'js' })),
  };
  for (const [name, other] of Object.entries(others)) {
    if ('value' in first && 'value' in other) {
      assert.is(Buffer.compare(first.value.data, other.value.data), 0, `${name}: other bytes`);
    } else if ('fault' in first) {
      assert.is('fault' in other && other.fault, first.fault, name);
    } else {
      assert.ok(name.startsWith('resampleSync') && 'fault' in other && other.fault === 'bad-data');
    }
  }
  if ('value' in first) {
    const { data, width, height } = first.value;
    const back = await outcome(() => decodePng(data));
    assert.ok('value' in back, 'what we write we can read');
    assert.equal([back.value.width, back.value.height], [width, height]);
  }
}

async function secondOpinion(png: Uint8Array): Promise<Rgba | undefined> {
  try {
    const { width, height, rgba } = await readPng(png);
    return { width, height, data: rgba };
  } catch {
    return undefined;
  }
}

test.run();
