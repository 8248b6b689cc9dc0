// One call of an engine's lifecycle hook: with its time limit, its signal and its reading of
// failures. A hook that ignores its signal cannot hold the session: the host goes on without it.
import type { Clock } from '../base/clock.ts';
import { createDeadline, race } from '../base/deadline.ts';
import type { Redactor } from '../agent/scope.ts';
import { runnerError } from '../contract/errors.ts';
import { readHookError } from './errors.ts';

export interface HookCall<T> {
  /** Such as `Engine "kiosk": init`. */
  readonly subject: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** ms; absent: no limit but `parent`. */
  readonly limit?: {
    readonly ms: number;
    readonly code: 'LAUNCH_TIMEOUT' | 'CLEANUP_TIMEOUT' | 'ACTION_FAILED';
  };
  /** Its abort ends the call with its reason. */
  readonly parent?: AbortSignal | undefined;
  readonly body: (context: {
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
  }) => PromiseLike<T> | T;
}

/** Rejects with a runner error, or with the parent's reason. */
export async function callHook<T>(call: HookCall<T>): Promise<T> {
  const { subject, clock, limit, parent } = call;
  const ms = limit?.ms ?? Number.MAX_SAFE_INTEGER;
  const deadline = createDeadline({
    clock,
    ms,
    parent,
    reason: () =>
      runnerError(
        limit?.code ?? 'LAUNCH_TIMEOUT',
        `${subject} took longer than its ${ms} ms and was abandoned.`,
      ),
  });
  try {
    deadline.signal.throwIfAborted();
    return await race(
      (async () => await call.body({ signal: deadline.signal, timeoutMs: ms }))(),
      deadline.signal,
    );
  } catch (error) {
    if (deadline.signal.aborted && error === deadline.signal.reason) throw error;
    throw readHookError(error, subject, call.redactor);
  } finally {
    deadline.dispose();
  }
}
