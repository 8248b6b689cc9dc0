// Long work in short pieces: a generator yields where it may be interrupted. The same code then runs
// in one go (the synchronous forms) or lets the event loop turn in between.
import { setImmediate } from 'node:timers/promises';

/** Runs to the end at once. */
export function runNow<T>(work: Generator<void, T, void>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Lets the event loop turn wherever the work yields; rejects with the signal's reason. */
export async function runInSlices<T>(
  work: Generator<void, T, void>,
  signal?: AbortSignal,
): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await setImmediate();
    signal?.throwIfAborted();
  }
}
