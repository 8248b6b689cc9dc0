// One absolute deadline for a piece of work, with the signal that enforces it. Everything awaited
// under it is raced against it (`race`), so that a callee that ignores its signal cannot hold the
// caller. Deadlines nest: a child never outlives its parent, and hears the parent's reason.
import type { Clock } from './clock.ts';

/** The work's time limit: `signal` aborts at the deadline, or with the parent's reason before it. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Absolute time on the clock, ms. */
  readonly at: number;
  /** Milliseconds left, never negative. */
  remaining(): number;
  /** True once this deadline itself (not a parent's abort) has passed. */
  readonly expired: boolean;
  /** Aborts the signal with `reason` now. */
  abort(reason: unknown): void;
  /** Releases the timer and the parent's listener. Idempotent; the signal stays as it is. */
  dispose(): void;
}

export interface DeadlineOptions {
  readonly clock: Clock;
  /** Length in ms from now; may be beyond 2^31-1. */
  readonly ms: number;
  /** Aborts this deadline with the same reason. */
  readonly parent?: AbortSignal | undefined;
  /** What the signal aborts with when the time is up. Default: a `TimeoutError` DOMException. */
  readonly reason?: () => unknown;
}

export function createDeadline(options: DeadlineOptions): Deadline {
  const { clock, ms, parent } = options;
  const controller = new AbortController();
  const at = clock.now() + ms;
  let expired = false;
  let cancelTimer: (() => void) | undefined;
  const onParent = (): void => {
    controller.abort(parent?.reason);
    dispose();
  };
  const dispose = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    parent?.removeEventListener('abort', onParent);
  };
  const expire = (): void => {
    if (controller.signal.aborted) return;
    expired = true;
    controller.abort(
      options.reason?.() ?? new DOMException('The operation timed out.', 'TimeoutError'),
    );
    dispose();
  };
  if (parent?.aborted === true) controller.abort(parent.reason);
  else if (ms <= 0) expire();
  else {
    parent?.addEventListener('abort', onParent, { once: true });
    cancelTimer = clock.setTimer(ms, expire);
  }
  return {
    signal: controller.signal,
    at,
    remaining: () => Math.max(0, at - clock.now()),
    get expired() {
      return expired;
    },
    abort(reason: unknown) {
      controller.abort(reason);
      dispose();
    },
    dispose,
  };
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts. The loser's
 * rejection is swallowed: nothing of it can become an unhandled rejection.
 */
export function race<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      reject(abortReason(signal));
    };
    if (signal.aborted) {
      Promise.resolve(work).catch(() => undefined);
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error as Error);
      },
    );
  });
}

/** Resolves after `ms` on the clock; rejects with the signal's reason when it aborts first. */
export function sleep(
  ms: number,
  options: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { clock, signal } = options;
  return new Promise<void>((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      cancel();
      if (signal !== undefined) reject(abortReason(signal));
    };
    const cancel = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason as Error;
}
