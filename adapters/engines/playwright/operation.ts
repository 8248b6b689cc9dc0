// One operation of the engine: its deadline, the browser's death, and the question that decides an
// error's code: may input have reached the page already? From that moment a failure is
// ACTION_MAY_HAVE_COMMITTED, and nothing is tried again.
import {
  createDeadline,
  EngineError,
  isEngineError,
  isRunnerError,
  race,
  systemClock,
  type OperationContext,
} from '../../../core/contract.ts';

export interface Operation {
  readonly signal: AbortSignal;
  /** Settles as `work` does, or rejects when the operation ends first. */
  wait<T>(work: PromiseLike<T>): Promise<T>;
  /** From here on input may have reached the page. */
  commit(): void;
  /** The input is known to have reached nothing. */
  uncommit(): void;
  readonly committed: boolean;
  /** Milliseconds left. */
  remaining(): number;
}

/** The operations that run now: all of them end when the browser does. */
export class Operations {
  readonly #running = new Set<(error: Error) => void>();

  /** Ends every running operation. */
  fail(error: Error): void {
    for (const abort of this.#running) abort(error);
  }

  /** Rejects with an EngineError, a RunnerError or the signal's reason. */
  async run<T>(
    name: string,
    context: OperationContext,
    body: (operation: Operation) => Promise<T>,
  ): Promise<T> {
    context.signal.throwIfAborted();
    let committed = false;
    // A little earlier than the caller's own limit, so that it hears which of the two it was.
    const ms = Math.max(1, context.timeoutMs - Math.min(50, context.timeoutMs * 0.05));
    const deadline = createDeadline({
      clock: systemClock,
      ms,
      parent: context.signal,
      reason: () =>
        committed
          ? new EngineError(
              'ACTION_MAY_HAVE_COMMITTED',
              `${name}: the page did not answer in time, and the input may have reached it: check before you repeat it.`,
            )
          : new EngineError('OPERATION_TIMEOUT', `${name}: not done within its time limit.`),
    });
    const abort = (error: Error): void => {
      deadline.abort(error);
    };
    this.#running.add(abort);
    const operation: Operation = {
      signal: deadline.signal,
      wait: (work) => race(work, deadline.signal),
      commit() {
        committed = true;
      },
      uncommit() {
        committed = false;
      },
      get committed() {
        return committed;
      },
      remaining: () => deadline.remaining(),
    };
    try {
      return await race(body(operation), deadline.signal);
    } catch (error) {
      if (deadline.signal.aborted && error === deadline.signal.reason) throw error;
      throw readError(name, error, committed);
    } finally {
      this.#running.delete(abort);
      deadline.dispose();
    }
  }
}

/** The page went away under a call: it navigated, or its frame was taken out. */
export function isPageGone(error: unknown): boolean {
  return (
    error instanceof Error &&
    /context was destroyed|Cannot find context|frame was detached|Frame has been detached|Unable to adopt|Inspected target navigated/iu.test(
      error.message,
    )
  );
}
/** The page or the browser was closed under a call. */
export function isClosed(error: unknown): boolean {
  return (
    error instanceof Error &&
    /has been closed|Target closed|Target crashed|Page crashed|Session closed/iu.test(error.message)
  );
}

function readError(name: string, error: unknown, committed: boolean): Error {
  if (isEngineError(error) || isRunnerError(error)) return error;
  const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  if (isPageGone(error)) {
    return committed
      ? new EngineError(
          'ACTION_MAY_HAVE_COMMITTED',
          `${name}: the page changed under the action, which may have been done: check before you repeat it.`,
          { cause: error },
        )
      : new EngineError('NODE_STALE', `${name}: the page changed meanwhile: observe again.`, {
          retryable: true,
          cause: error,
        });
  }
  if (committed && !isClosed(error)) {
    return new EngineError('ACTION_MAY_HAVE_COMMITTED', `${name}: ${message}`, { cause: error });
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new EngineError('OPERATION_TIMEOUT', `${name}: ${message}`, { cause: error });
  }
  return new EngineError('ENGINE_FAILURE', `${name}: ${message}`, { cause: error });
}
