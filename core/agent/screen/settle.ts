// The wait after an action: observe until the screen has changed and then held still, or until a
// window passes without a change. The rules are those of "Waiting" in the agent rules: two equal
// observations at least 150 ms apart are still; the window is the larger of 1 s and three times the
// last observation's own duration, longer while the location changes; a surface that takes longer
// than 1 s to observe is observed once. Whatever the screen does, the wait is bounded: a clock or an
// animation must not hold a step, and a clock that ticks is not the effect that was waited for.
import { sleep } from '../../base/deadline.ts';
import type { Clock } from '../../base/clock.ts';
import { isEngineError } from '../../contract/errors.ts';
import type { Observation } from '../driver.ts';
import { sameScreen, type SameScreenOptions } from './equal.ts';
import { watchTicks } from './ticks.ts';

/** Two equal observations this far apart mean that the screen holds still, ms. */
const STILL_MS = 150;
/** Pause between two looks while nothing has changed yet, ms. */
const POLL_MS = 100;
/** Shortest window without a change, ms. */
const WINDOW_MS = 1000;
/** A surface slower than this is observed once, ms. */
const SLOW_MS = 1000;
/** Times the window that a changing location, or a screen that never holds still, may take. */
const MOST_WINDOWS = 3;

export interface SettleOptions {
  /** One guarded observation, with its own time limit; called one after the other. */
  readonly observe: () => Promise<Observation>;
  /** The observation that the action was chosen on. */
  readonly before: Observation;
  readonly clock: Clock;
  /** Ends the wait: the step's deadline or abort. */
  readonly signal: AbortSignal;
  /** Texts that earlier waits of the step found to be no clocks; this one adds to them. */
  readonly steady?: Set<string> | undefined;
  /** Compares the pictures of two observations too; in pixel mode only. */
  readonly samePicture?: ((a: Observation, b: Observation) => boolean) | undefined;
}

export interface Settled {
  /** The newest observation. */
  readonly observation: Observation;
  /** Whether it differs from `before`, by more than texts that tick all the time. */
  readonly changed: boolean;
  /** Whether two looks at it were equal; false also where it was observed only once. */
  readonly still: boolean;
  readonly observations: number;
  /** Milliseconds. */
  readonly durationMs: number;
}

/**
 * Waits for the effect of an action. Rejects with the signal's reason when it aborts, and with what
 * `observe` rejects with; only a retryable error (a document that is being replaced) is taken for
 * movement, and looked at again within the window.
 */
export async function settle(options: SettleOptions): Promise<Settled> {
  const { before, clock, signal } = options;
  const start = clock.now();
  const watch = watchTicks(before, options.steady ?? new Set());
  let windowStart = start;
  let observations = 0;
  let last: { readonly observation: Observation; readonly at: number } | undefined;
  for (;;) {
    const lookedAt = clock.now();
    const window = Math.max(WINDOW_MS, 3 * (last?.observation ?? before).durationMs);
    const over = (): boolean => {
      const now = clock.now();
      return now - windowStart >= window || now - start >= window * MOST_WINDOWS;
    };
    let next: Observation;
    try {
      next = await options.observe();
    } catch (error) {
      if (!isEngineError(error) || !error.retryable || over()) throw error;
      await sleep(POLL_MS, { clock, signal });
      continue;
    }
    observations += 1;
    const previous = last;
    last = { observation: next, at: clock.now() };
    watch.enter(next);
    const known = previous?.observation ?? before;
    if (known.snapshot.location !== next.snapshot.location) windowStart = last.at;
    const tickers = watch.tickers();
    const same = (a: Observation, ignored: SameScreenOptions): boolean =>
      sameScreen(a.snapshot, next.snapshot, { boxes: true, ...ignored }) &&
      options.samePicture?.(a, next) !== false;
    const changed = !same(before, { ignoreText: tickers });
    // A button that was tapped takes the focus at once; what it does may come later.
    const effect = changed && !same(before, { ignoreText: watch.doubtful(), focus: false });
    const equal = previous !== undefined && same(previous.observation, { ignoreText: tickers });
    const still = equal && lookedAt - (previous?.at ?? lookedAt) >= STILL_MS;
    const slow = Math.max(before.durationMs, next.durationMs) > SLOW_MS;
    const ended = over();
    if (slow || (effect && still) || ended) {
      if (ended && !slow) watch.conclude();
      const durationMs = clock.now() - start;
      return { observation: next, changed, still: equal, observations, durationMs };
    }
    await sleep(effect ? STILL_MS : POLL_MS, { clock, signal });
  }
}
