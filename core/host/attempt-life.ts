// What can end an attempt before its test does: the abort of the session or of the attempt, its
// deadline, the loss of its engine. All of them meet in one signal, whose reason is the error that
// the attempt fails with; the first one counts.
import { createDeadline, linkSignals, type Deadline } from '../base/deadline.ts';
import { messageOf } from '../base/thrown.ts';
import { runnerError } from '../contract/errors.ts';
import type { ResolvedAttempt } from './attempt-options.ts';
import { isEngineFailure, redactError } from './errors.ts';
import type { SessionCore } from './session-core.ts';

export interface AttemptLife {
  readonly signal: AbortSignal;
  /** From here on the loss of the engine is the attempt's. */
  watchEngine(): void;
  /**
   * Starts the attempt's time. It runs from when the engine is ready: its start has its own limit.
   * `running` names the calls that a passed deadline interrupts.
   */
  startDeadline(running: () => readonly string[]): Deadline;
  /** Lets go of everything that it listens to. */
  close(): void;
}

export function createAttemptLife(core: SessionCore, attempt: ResolvedAttempt): AttemptLife {
  const { engine, redactor } = core;
  const linked = linkSignals([core.signal, attempt.signal]);
  const { signal } = linked;
  let stopWatching: (() => void) | undefined;

  return {
    signal,
    watchEngine() {
      stopWatching = engine.onLost?.((error) => {
        const lost = isEngineFailure(error)
          ? redactError(error, redactor)
          : runnerError(
              'ENGINE_FAILURE',
              redactor.text(`Engine ${JSON.stringify(engine.name)} was lost: ${messageOf(error)}`),
              { cause: redactError(error, redactor) },
            );
        linked.abort(lost);
      });
    },
    startDeadline(running) {
      const deadline = createDeadline({
        clock: core.options.clock,
        ms: attempt.timeout,
        parent: signal,
        reason: () => {
          const calls = running();
          const during = calls.length === 0 ? '' : `; still running: ${calls.join(', ')}`;
          return runnerError(
            'TEST_TIMEOUT',
            `Attempt ${JSON.stringify(attempt.title)} took longer than its ${attempt.timeout} ms${during}.`,
          );
        },
      });
      deadline.signal.addEventListener(
        'abort',
        () => {
          if (deadline.expired) linked.abort(deadline.signal.reason);
        },
        { once: true },
      );
      return deadline;
    },
    close() {
      stopWatching?.();
      linked.release();
    },
  };
}
