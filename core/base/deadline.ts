// One absolute deadline for a piece of work, with the signal that enforces it. Everything awaited
// under it is raced against it (`race`), so that a callee that ignores its signal cannot hold the
// caller. Deadlines nest: a child never outlives its parent, and hears the parent's reason. A timer
// may be late: whoever asks and finds no time left ends the deadline there and then, so that nobody
// meets a time that is up under a signal that is not.
import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import { onAbort } from './on-abort.ts';

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
  // Any number of calls may queue under one deadline: no leak, and no warning into a host's output.
  setMaxListeners(0, controller.signal);
  const at = clock.now() + ms;
  let expired = false;
  let disposed = false;
  let cancelTimer: (() => void) | undefined;
  let leaveParent: (() => void) | undefined;
  const dispose = (): void => {
    disposed = true;
    cancelTimer?.();
    cancelTimer = undefined;
    leaveParent?.();
  };
  const expire = (): void => {
    if (controller.signal.aborted) return;
    // Timers count from when the event loop last looked at the time: they may fire early.
    const early = at - clock.now();
    if (early > 0) {
      cancelTimer = clock.setTimer(Math.ceil(early), expire);
      return;
    }
    expired = true;
    controller.abort(
      options.reason?.() ?? new DOMException('The operation timed out.', 'TimeoutError'),
    );
    dispose();
  };
  const look = (): void => {
    if (!disposed && clock.now() >= at) expire();
  };
  if (parent?.aborted === true) controller.abort(parent.reason);
  else if (ms <= 0) expire();
  else {
    if (parent !== undefined) {
      leaveParent = onAbort(parent, () => {
        controller.abort(parent.reason);
        dispose();
      });
    }
    cancelTimer = clock.setTimer(ms, expire);
  }
  return {
    signal: controller.signal,
    at,
    remaining() {
      look();
      return Math.max(0, at - clock.now());
    },
    get expired() {
      look();
      return expired;
    },
    abort(reason: unknown) {
      controller.abort(reason);
      dispose();
    },
    dispose,
  };
}

/** A signal that follows others, and that its owner may abort before them. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Aborts it now, unless it is aborted already: the first reason counts. */
  abort(reason: unknown): void;
  /** Stops following; idempotent. The signal stays as it is. */
  release(): void;
}

/** Aborts with the reason of the first parent that does. Holds a listener on each until released. */
export function linkSignals(parents: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const releases: (() => void)[] = [];
  for (const parent of parents) {
    if (parent === undefined) continue;
    const follow = (): void => {
      controller.abort(parent.reason);
    };
    if (parent.aborted) follow();
    releases.push(onAbort(parent, follow));
  }
  return {
    signal: controller.signal,
    abort: (reason) => {
      controller.abort(reason);
    },
    release() {
      for (const letGo of releases.splice(0)) letGo();
    },
  };
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts. The loser's
 * rejection is swallowed: nothing of it can become an unhandled rejection.
 */
export function race<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) {
      Promise.resolve(work).catch(() => undefined);
      reject(abortReason(signal));
      return;
    }
    const stop = onAbort(signal, () => {
      reject(abortReason(signal));
    });
    work.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
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
    const stop =
      signal === undefined
        ? undefined
        : onAbort(signal, () => {
            cancel();
            reject(abortReason(signal));
          });
    const cancel = clock.setTimer(ms, () => {
      stop?.();
      resolve();
    });
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason as Error;
}
