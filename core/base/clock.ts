// Time for everything that waits. A clock can be handed in, so that budgets are tested without
// sleeping; `now` is monotonic, because a wall clock that is set back must not lengthen a budget.
// Node's timers fire at once beyond 2^31-1 ms: `setTimer` is the one place that knows it.

const MAX_TIMER_MS = 2 ** 31 - 1;

/** A source of time. `now` is monotonic milliseconds from an arbitrary origin. */
export interface Clock {
  now(): number;
  /** Wall-clock time in ISO 8601, for records only. */
  iso(): string;
  /** Calls back once after `ms` (any finite length, 0 or more); returns the cancellation. */
  setTimer(ms: number, callback: () => void, options?: { readonly unref?: boolean }): () => void;
}

/** The process's own clock. */
export const systemClock: Clock = Object.freeze({
  now: () => performance.now(),
  iso: () => new Date().toISOString(),
  setTimer(ms: number, callback: () => void, options?: { readonly unref?: boolean }): () => void {
    let left = Math.max(0, ms);
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const slice = Math.min(left, MAX_TIMER_MS);
      left -= slice;
      timer = setTimeout(() => (left > 0 ? arm() : callback()), slice);
      if (options?.unref === true) timer.unref();
    };
    arm();
    return () => {
      clearTimeout(timer);
    };
  },
});
