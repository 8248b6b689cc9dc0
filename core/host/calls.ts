// How the calls of one attempt share it: one at a time, in order, each under the deadline that it
// had when it was made (waiting for its turn counts). A call never starts after its deadline, and
// none starts after the attempt's end.
import type { Clock } from '../base/clock.ts';
import { createDeadline, race, type Deadline } from '../base/deadline.ts';
import type { Driver, OperationBudget } from '../agent/driver.ts';
import type { Redactor } from '../agent/scope.ts';
import { runnerError } from '../contract/errors.ts';
import { readCallError } from './errors.ts';

/** One call of the test's own tier. */
export interface HostCall<T> {
  /** Names the call in its errors, such as `perform tap`. */
  readonly subject: string;
  /** ms, at most the rest of the attempt; `undefined`: that whole rest. */
  readonly timeoutMs: number | undefined;
  /** The error when the time is up; default `ACTION_FAILED`. */
  readonly expired?: () => Error;
  /** How a failure is read; default: contract.md section 7. */
  readonly read?: (error: unknown, subject: string, redactor: Redactor) => unknown;
  readonly body: (turn: CallTurn) => Promise<T>;
}

export interface CallTurn {
  readonly deadline: Deadline;
  /** The budget of one engine operation, at most `mostMs` (default: the action timeout). */
  budget(mostMs?: number): OperationBudget;
}

export interface AttemptCalls {
  /** Runs a call in its turn. */
  run<T>(call: HostCall<T>): Promise<T>;
  /** The same queue for the agent, which keeps its own deadlines. */
  exclusive<T>(subject: string, body: () => Promise<T>): Promise<T>;
  /** The subjects of the calls that run or wait for their turn. */
  readonly running: readonly string[];
  /** Refuses every further call. */
  close(): void;
  /** Throws `CANCELLED` once closed. */
  refuseAfterEnd(): void;
  /** Resolves when no call is running any more. */
  idle(): Promise<void>;
}

export interface AttemptCallsOptions {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly driver: Pick<Driver, 'abandoned' | 'settleAbandoned'>;
  readonly deadline: Deadline;
  readonly actionTimeout: number;
  readonly cleanupTimeout: number;
}

export function createAttemptCalls(options: AttemptCallsOptions): AttemptCalls {
  const { clock, redactor, driver, actionTimeout, cleanupTimeout } = options;
  let tail: Promise<unknown> = Promise.resolve();
  const running = new Set<{ readonly subject: string }>();
  let closed = false;

  const refuseAfterEnd = (): void => {
    if (closed) throw runnerError('CANCELLED', 'The attempt has ended: no call of it can run.');
  };

  const exclusive = async <T>(subject: string, body: () => Promise<T>): Promise<T> => {
    refuseAfterEnd();
    const call = { subject };
    running.add(call);
    const turn = tail
      .then(async () => {
        refuseAfterEnd();
        return body();
      })
      .finally(() => running.delete(call));
    tail = turn.catch(() => undefined);
    return turn;
  };

  /** One engine, one call at a time: what an earlier call left running is waited for first. */
  const waitForAbandoned = async (): Promise<void> => {
    if (driver.abandoned.length === 0 || (await driver.settleAbandoned(cleanupTimeout))) return;
    throw runnerError(
      'ENGINE_FAILURE',
      `The engine did not stop ${driver.abandoned.join(', ')} within ${cleanupTimeout} ms of the abort.`,
    );
  };

  return {
    exclusive,
    get running() {
      return [...running].map(({ subject }) => subject);
    },
    refuseAfterEnd,
    async run(call) {
      const { subject, timeoutMs } = call;
      const attempt = options.deadline;
      refuseAfterEnd();
      const own =
        timeoutMs === undefined || timeoutMs >= attempt.remaining()
          ? undefined
          : createDeadline({
              clock,
              ms: timeoutMs,
              parent: attempt.signal,
              reason: call.expired ?? (() => lateError(subject, timeoutMs)),
            });
      const deadline = own ?? attempt;
      const { signal } = deadline;
      try {
        return await race(
          exclusive(subject, async () => {
            // Rejects as well when the time was up before the turn came.
            await race(waitForAbandoned(), signal);
            return call.body({
              deadline,
              budget: (mostMs = actionTimeout) => ({
                signal,
                timeoutMs: Math.min(mostMs, deadline.remaining()),
                origin: 'test',
              }),
            });
          }),
          signal,
        );
      } catch (error) {
        // Timers of one moment fire in any order: the attempt's own end is the better reason.
        if (attempt.remaining() === 0) await aborted(attempt.signal);
        if (signal.aborted) throw signal.reason as Error;
        throw (call.read ?? readCallError)(error, subject, redactor);
      } finally {
        own?.dispose();
      }
    },
    close() {
      closed = true;
    },
    async idle() {
      await tail;
    },
  };
}

/** The error of a call whose own time is up. */
export function lateError(subject: string, timeoutMs: number): Error {
  return runnerError('ACTION_FAILED', `${subject} did not finish within ${timeoutMs} ms.`);
}

/** Rejects with the signal's reason, as soon as there is one. */
function aborted(signal: AbortSignal): Promise<never> {
  return race(new Promise<never>(() => undefined), signal);
}
