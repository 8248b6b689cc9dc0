// A burst of notifications that is all there at once, and how long it keeps the event loop. On a
// shared machine a turn is also long because the thread had to wait for a core: Linux tells for how
// long, and that is not counted.
import { readFileSync } from 'node:fs';
import process from 'node:process';

export interface BurstResult {
  /** From the first byte to the last notification, ms. */
  readonly ms: number;
  /** The longest turn of the event loop, ms, without waiting for a core where that is known. */
  readonly stallMs: number;
  /** The same as a clock on the wall saw it. */
  readonly wallStallMs: number;
}

/** Runs `feed` and waits until `isDone`; looks at the clock once per turn of the loop. */
export async function watchBurst(feed: () => void, isDone: () => boolean): Promise<BurstResult> {
  globalThis.gc?.();
  await new Promise(setImmediate);
  const start = performance.now();
  let last = start;
  let lastWait = waitedMs();
  let stallMs = 0;
  let wallStallMs = 0;
  feed();
  while (!isDone()) {
    await new Promise(setImmediate);
    const now = performance.now();
    const wait = waitedMs();
    wallStallMs = Math.max(wallStallMs, now - last);
    stallMs = Math.max(stallMs, now - last - (wait - lastWait));
    last = now;
    lastWait = wait;
  }
  return { ms: performance.now() - start, stallMs, wallStallMs };
}

/** How long this thread has been ready but without a core, ms. */
function waitedMs(): number {
  try {
    const text = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1');
    return Number(text.split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
