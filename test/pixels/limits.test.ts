// What a picture may cost: memory that is bounded by rows and asked for after the caps, an event loop
// that turns while a large one is read, an abort that ends the work, and never a byte in the result
// that nothing was written to. Counted in bytes and turns, not in milliseconds.
import { Buffer } from 'node:buffer';
import process from 'node:process';
import { createDeflate, deflateSync } from 'node:zlib';
import { decodePng, decodePngSync, resample, resampleSync } from '../../core/pixels/index.ts';
import { assert, rejects, suite } from '../harness.ts';
import { difference, outcome, reads, refused } from '../support/pixel-checks.ts';
import {
  chunksOf,
  cutData,
  expectedRgba,
  filteredRows,
  header,
  joinFile,
  makePng,
  writeChunk,
  type Chunk,
} from '../support/png-maker.ts';
import { hash, pictureOf } from '../support/png-pictures.ts';

const MB = 2 ** 20;
const small = pictureOf({ seed: 1, colorType: 6, bitDepth: 8, width: 24, height: 20 });
const END: Chunk = { type: 'IEND', data: new Uint8Array(0) };

/** The most memory outside of the heap while a call runs, over what there was before, and how often the loop turned. */
async function watch<T>(
  call: () => Promise<T>,
): Promise<{ value: T; bytes: number; turns: number }> {
  const held = (): number => process.memoryUsage().arrayBuffers;
  const before = held();
  let [bytes, turns, running] = [0, 0, true];
  const look = (): void => {
    bytes = Math.max(bytes, held() - before);
    turns += 1;
    if (running) setImmediate(look);
  };
  setImmediate(look);
  try {
    const value = await call();
    bytes = Math.max(bytes, held() - before);
    return { value, bytes, turns };
  } finally {
    running = false;
  }
}

/** A tall RGB picture, row by row: bands of one colour each, all rows but a band's first filtered up. */
async function bands(width: number, height: number, band: number): Promise<Buffer> {
  const deflate = createDeflate({ level: 1 });
  const stream: Buffer[] = [];
  deflate.on('data', (chunk: Buffer) => stream.push(chunk));
  const ended = new Promise((resolve) => deflate.once('end', resolve));
  const row = width * 3 + 1;
  for (let y = 0; y < height; y += band) {
    const block = Buffer.alloc(row * Math.min(band, height - y));
    for (let at = 0; at < block.length; at += row) block[at] = 2;
    block[0] = 0;
    for (let x = 1; x < row; x += 3) block.set(bandColour(y / band), x);
    if (!deflate.write(block)) await new Promise((resolve) => deflate.once('drain', resolve));
  }
  deflate.end();
  await ended;
  const head = header({ width, height, colorType: 2, bitDepth: 8 });
  return joinFile([head, ...cutData(Buffer.concat(stream), 8192), END]);
}
function bandColour(index: number): [number, number, number] {
  const bits = hash(index);
  return [bits & 255, (bits >> 8) & 255, (bits >> 16) & 255];
}

const memory = suite('memory', { timeoutMs: 60_000 });

memory('a page of 2000 by 50000 becomes 31 by 768 within a few MB', async () => {
  const png = await bands(2000, 50_000, 5000);
  const { value, bytes } = await watch(() => resample(png, { longSide: 768, maxPixels: 2 ** 27 }));
  assert.equal([value.width, value.height], [31, 768]);
  assert.ok(bytes < 24 * MB, `${bytes} bytes`);
  const { data } = await decodePng(value.data);
  for (let y = 0; y < 768; y += 1) {
    // Only rows that lie within one band.
    const [first, last] = [(y * 50_000) / 768, ((y + 1) * 50_000) / 768];
    if (Math.floor(first / 5000) !== Math.floor((last - 1e-9) / 5000)) continue;
    const want = [...bandColour(Math.floor(first / 5000)), 255];
    for (let x = 0; x < 31; x += 1) {
      assert.equal([...data.subarray((y * 31 + x) * 4, (y * 31 + x) * 4 + 4)], want, `${x},${y}`);
    }
  }
});

memory('does not grow with the picture’s height', async () => {
  const peaks = [];
  for (const height of [3000, 12_000]) {
    const png = await bands(1200, height, 500);
    peaks.push((await watch(() => resample(png, { longSide: 768 }))).bytes);
  }
  const [low = 0, high = 0] = peaks;
  assert.ok(high < low + 12 * MB, `${low} and ${high} bytes`);
});

memory('caps come before memory', async () => {
  const huge = (width: number, height: number): Buffer =>
    joinFile([header({ width, height, colorType: 6, bitDepth: 16 }), ...chunksOf(small).slice(1)]);
  for (const png of [huge(60_000, 60_000), huge(2 ** 31 - 1, 1), huge(1, 2 ** 31 - 1)]) {
    const before = process.memoryUsage().arrayBuffers;
    await refused(png, 'too-large');
    for (const run of [resample, resampleSync]) {
      const came = await outcome(() => run(png, { longSide: 768 }));
      assert.is('fault' in came && came.fault, 'too-large');
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < MB);
  }
});

memory('the caps are the caller’s', async () => {
  const png = makePng(small);
  assert.ok('value' in (await outcome(() => decodePng(png, { maxPixels: 480 }))));
  for (const caps of [{ maxPixels: 479 }, { maxBytes: png.length - 1 }]) {
    for (const run of [decodePng, decodePngSync]) {
      const came = await outcome(() => run(png, caps));
      assert.is('fault' in came && came.fault, 'too-large');
    }
    for (const run of [resample, resampleSync]) {
      const came = await outcome(() => run(png, { longSide: 9, ...caps }));
      assert.is('fault' in came && came.fault, 'too-large');
    }
  }
});

memory('a large claim with little data costs little', async () => {
  const head = header({ width: 8000, height: 8000, colorType: 2, bitDepth: 8 });
  const png = joinFile([head, ...cutData(deflateSync(Buffer.alloc(8000 * 3 * 40)), 4096), END]);
  const { value, bytes } = await watch(() => outcome(() => resample(png, { longSide: 768 })));
  assert.is('fault' in value && value.fault, 'truncated');
  assert.ok(bytes < 12 * MB, `${bytes} bytes`);
});

memory('a bomb behind the last row is not inflated', async () => {
  const rows = filteredRows(small, undefined);
  // 256 MB of zeros.
  const stream = deflateSync(Buffer.concat([rows, Buffer.alloc(256 * MB)]), { level: 1 });
  const png = joinFile([header(small), ...cutData(stream, 2 ** 16), END]);
  const { value, bytes } = await watch(() => decodePng(png));
  const want = { width: 24, height: 20, data: expectedRgba(small) };
  assert.is(difference(value, want), '');
  assert.ok(bytes < 8 * MB, `${bytes} bytes`);
  const before = process.memoryUsage().arrayBuffers;
  const now = await outcome(() => decodePngSync(png));
  if ('value' in now) assert.is(difference(now.value, want), '');
  else assert.is(now.fault, 'bad-data');
  assert.ok(process.memoryUsage().arrayBuffers - before < 8 * MB);
});

memory('no byte comes from memory that nothing was written to', async () => {
  const png = makePng(small, { idatBytes: 70 });
  const files = [
    png,
    makePng({ ...small, interlaced: true }),
    makePng(pictureOf({ seed: 5, colorType: 3, bitDepth: 1, width: 37, height: 5 })),
    makePng(pictureOf({ seed: 6, colorType: 0, bitDepth: 16, width: 1, height: 40 })),
    joinFile([header({ ...small, height: 60 }), ...chunksOf(small).slice(1)]),
    png.subarray(0, png.length >> 1),
  ];
  const runs = [];
  for (const poison of [0x00, 0xff, 0x5a]) {
    const restore = poisoned(poison);
    try {
      const results: string[] = [];
      for (const file of files) {
        for (const kernels of ['wasm', 'js'] as const) {
          for (const mode of ['area', 'fine'] as const) {
            const options = { longSide: 11, mode, kernels };
            // Whatever is kept from one picture to the next is full of another.
            const other = pictureOf({ seed: poison, colorType: 6, bitDepth: 8, width: 90 });
            await resample(makePng(other), options);
            for (const run of [
              () => resample(file, options),
              () => resampleSync(file, options),
              () => decodePng(file, { kernels }),
              () => decodePngSync(file, { kernels }),
            ]) {
              const came = await outcome<{ readonly data: Uint8Array }>(run);
              results.push(
                'fault' in came ? came.fault : Buffer.from(came.value.data).toString('hex'),
              );
            }
          }
        }
      }
      runs.push(results);
    } finally {
      restore();
    }
  }
  assert.equal(runs[1], runs[0]);
  assert.equal(runs[2], runs[0]);
});

/** Fills what Node hands out unfilled; gives the way back. */
function poisoned(value: number): () => void {
  const { allocUnsafe, allocUnsafeSlow } = Buffer;
  Buffer.allocUnsafe = (size: number) => allocUnsafe.call(Buffer, size).fill(value);
  Buffer.allocUnsafeSlow = (size: number) => allocUnsafeSlow.call(Buffer, size).fill(value);
  return () => Object.assign(Buffer, { allocUnsafe, allocUnsafeSlow });
}

memory.run();

const loop = suite('the event loop', { timeoutMs: 60_000 });

/** Raw bytes that may be worked on between two turns: some ms at worst. */
const BYTES_A_TURN = MB;

loop('turns while rows are read', async () => {
  const [width, height] = [2400, 2400];
  const noise = Buffer.alloc((width * 3 + 1) * height);
  for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE(hash(at), at);
  for (let y = 0; y < height; y += 1) noise[y * (width * 3 + 1)] = 1 + (y % 4);
  const head = header({ width, height, colorType: 2, bitDepth: 8 });
  const png = joinFile([head, ...cutData(deflateSync(noise, { level: 1 }), 4096), END]);
  for (const kernels of ['wasm', 'js'] as const) {
    for (const mode of ['area', 'fine'] as const) {
      const { turns } = await watch(() => resample(png, { longSide: 768, mode, kernels }));
      assert.ok(turns > noise.length / BYTES_A_TURN, `${turns} turns, ${kernels}, ${mode}`);
    }
  }
  const { turns } = await watch(() => decodePng(png));
  assert.ok(turns > noise.length / BYTES_A_TURN, `${turns} turns`);
});

loop('turns while 200 000 chunks are read, and each costs the same', async () => {
  const empty = writeChunk({ type: 'IDAT', data: Buffer.alloc(0) });
  const [head, ...rest] = chunksOf(small);
  const before = joinFile([head as Chunk]);
  const png = Buffer.concat([
    before,
    ...Array.from({ length: 200_000 }, () => empty),
    ...rest.map(writeChunk),
  ]);
  const { value, turns } = await watch(() => decodePng(png));
  assert.is(difference(value, { width: 24, height: 20, data: expectedRgba(small) }), '');
  assert.ok(turns > 20, `${turns} turns`);
});

loop('an abort ends the work with its reason', async () => {
  const png = await bands(2000, 20_000, 500);
  const reason = new Error('enough');
  for (const run of [
    (signal: AbortSignal) => resample(png, { longSide: 768, signal }),
    (signal: AbortSignal) => decodePng(png, { signal }),
  ]) {
    await rejects(run(AbortSignal.abort(reason)), (error) => assert.is(error, reason));
    const abort = new AbortController();
    const pending = run(abort.signal);
    setImmediate(() => abort.abort(reason));
    await rejects(pending, (error) => assert.is(error, reason));
  }
  await reads(makePng(small), { width: 24, height: 20, data: expectedRgba(small) });
});

loop.run();
