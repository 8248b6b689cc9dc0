// From a PNG's compressed parts to its raw bytes, some hundred KiB at a time, and no further
// than somebody wants them: a bomb behind the last row is never inflated. Inflated raw, because some
// vendors write a wrong Adler-32 or none, and the chunks' own checksums have been compared already.
// What Node's stream holds is one piece of input and one of output; the reader works on a piece in
// the tick after its event, while the thread pool inflates the next. Where that takes long (a slow
// machine, code that is not compiled yet), it stops in between and lets the event loop turn.
import { nextTick } from 'node:process';
import { constants, createInflateRaw, inflateRawSync } from 'node:zlib';
import type { PngSource } from './chunks.ts';
import { rowBytesOf, rowFormat } from './formats.ts';
import { systemClock } from '../base/clock.ts';
import { onAbort } from '../base/on-abort.ts';
import { PixelError } from './png-header.ts';
import { freeBuffer } from './release.ts';

/** Output at a time: what a step costs in waking threads counts. Node's 16 KiB are 2 to 5 times slower. */
const OUTPUT_BYTES = 3 * 2 ** 17;
/**
 * Taken between two looks at the time: this much, or as many pixels where those are small, and some
 * rows at least, as rows are read in pairs. Under a millisecond also in the fine mode.
 */
const TAKEN_BYTES = 2 ** 15;
const TAKEN_PIXELS = 2 ** 13;
const TAKEN_ROWS = 4;
/** The event loop is let go after so much work, ms. */
const TURN_MS = 1;
/** Input at a time: parts of 4 KiB, one by one, are as slow. */
const INPUT_BYTES = 2 ** 20;

/** Takes the next raw bytes; gives true once it has all it wants. May throw a PixelError. */
export type TakeRaw = (bytes: Uint8Array) => boolean;

export interface InflateOptions {
  readonly source: PngSource;
  readonly take: TakeRaw;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves when `take` has all it wants. Rejects with a PixelError, or the signal's reason. */
export function inflateParts({ source, take, signal }: InflateOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const inputs = inputsOf(source.parts);
    const inflate = createInflateRaw({
      chunkSize: OUTPUT_BYTES,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    const { bitsPerPixel } = rowFormat(source);
    const taken = Math.max(
      Math.min(TAKEN_BYTES, (TAKEN_PIXELS * bitsPerPixel) / 8),
      TAKEN_ROWS * (1 + rowBytesOf(source.width, bitsPerPixel)),
    );
    let done = false;
    const finish = (settle: () => void): void => {
      if (done) return;
      done = true;
      ignoreAbort?.();
      inflate.destroy();
      settle();
    };
    const fail = (error: unknown): void => {
      finish(() => {
        reject(error as Error);
      });
    };
    const queue: Buffer[] = [];
    let at = 0;
    let working = false;
    let ended = false;
    const takeFrom = (chunk: Buffer): void => {
      const end = Math.min(chunk.length, at + taken);
      if (take(chunk.subarray(at, end))) finish(resolve);
      at = end;
      if (at < chunk.length) return;
      queue.shift();
      at = 0;
      freeBuffer(chunk);
    };
    const work = (): void => {
      const start = systemClock.now();
      try {
        for (let [chunk] = queue; chunk !== undefined && !done; [chunk] = queue) {
          if (systemClock.now() - start > TURN_MS) {
            inflate.pause();
            setImmediate(work);
            return;
          }
          takeFrom(chunk);
        }
      } catch (error) {
        fail(error);
      }
      working = false;
      if (ended) fail(tooFewRows());
      else if (!done) inflate.resume();
    };
    const goOn = (): void => {
      if (working || done) return;
      working = true;
      nextTick(work);
    };
    inflate.on('data', (chunk: Buffer) => {
      queue.push(chunk);
      goOn();
    });
    inflate.on('end', () => {
      ended = true;
      goOn();
    });
    inflate.on('error', (cause) => {
      fail(badData(cause));
    });
    const feed = (): void => {
      if (done) return;
      const next = inputs.next();
      if (next.done === true) inflate.end();
      else inflate.write(next.value, feed);
    };
    const ignoreAbort =
      signal &&
      onAbort(signal, () => {
        fail(signal.reason);
      });
    feed();
  });
}

/**
 * The same in one go. `expected` raw bytes are held, and a little more: data that inflates to more
 * than that is refused.
 */
export function inflatePartsNow(
  parts: readonly Uint8Array[],
  { expected, take }: { readonly expected: number; readonly take: TakeRaw },
): void {
  const input = Buffer.concat([...inputsOf(parts)]);
  let raw: Buffer;
  try {
    // One chunk that takes it all: nothing is joined. Some room behind it for trailing bytes.
    raw = inflateRawSync(input, {
      chunkSize: expected + 1024,
      maxOutputLength: expected + 1024,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
  } catch (cause) {
    throw badData(cause);
  }
  if (!take(raw)) throw tooFewRows();
}

/** The parts without the zlib head, joined to pieces that are worth a call. */
function* inputsOf(parts: readonly Uint8Array[]): Generator<Uint8Array, void, void> {
  const rest = parts.slice();
  let head = 0;
  for (let seen = 0; seen < 2; ) {
    const [first] = rest;
    if (first === undefined) throw tooFewRows();
    const taken = Math.min(2 - seen, first.length);
    for (let i = 0; i < taken; i += 1) head = (head << 8) | (first[i] as number);
    seen += taken;
    if (taken === first.length) rest.shift();
    else rest[0] = first.subarray(taken);
  }
  checkHead(head);
  for (let from = 0; from < rest.length; ) {
    let bytes = 0;
    let to = from;
    do {
      bytes += (rest[to] as Uint8Array).length;
      to += 1;
    } while (to < rest.length && bytes + (rest[to] as Uint8Array).length <= INPUT_BYTES);
    yield to - from === 1 ? (rest[from] as Uint8Array) : Buffer.concat(rest.slice(from, to), bytes);
    from = to;
  }
}

function checkHead(head: number): void {
  const method = (head >>> 8) & 15;
  const window = head >>> 12;
  const dictionary = (head & 0x20) !== 0;
  if (method !== 8 || window > 7 || dictionary || head % 31 !== 0) {
    throw badData(new Error('The zlib header is wrong.'));
  }
}

function tooFewRows(): PixelError {
  return new PixelError('truncated', 'Image is a broken PNG: it has fewer rows than it says.');
}

function badData(cause: unknown): PixelError {
  return new PixelError('bad-data', 'Image is a broken PNG: its data cannot be inflated.', {
    cause,
  });
}
