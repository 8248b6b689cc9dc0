// The session's one worker: at most one attempt holds it, a second one is refused. Before an
// attempt starts, an engine that was lost or that failed is initialised anew.
import { randomUUID } from 'node:crypto';
import { runnerError } from '../contract/errors.ts';
import { beginAttempt, type AttemptOutcome, type RunningAttempt } from './attempt.ts';
import { resolveAttempt, type AttemptOptions } from './attempt-options.ts';
import type { EngineLife } from './lifecycle.ts';
import type { SessionCore } from './session-core.ts';

/** An attempt that holds the worker until its end. */
export interface Held {
  readonly running: RunningAttempt;
  /** Ends the attempt and frees the worker; answers the cleanup failures, the same each time. */
  end(outcome: AttemptOutcome): Promise<readonly unknown[]>;
}

export interface Slot {
  begin(options: AttemptOptions): Promise<Held>;
  /** Refuses further attempts, ends the one that runs and waits for its end. */
  shut(): Promise<void>;
}

export interface SlotOptions {
  readonly core: SessionCore;
  readonly life: EngineLife;
  /** Answers whether the engine has become suspect since the last time. */
  readonly takeSuspect: () => boolean;
}

export function createSlot({ core, life, takeSuspect }: SlotOptions): Slot {
  const { signal } = core.options;
  let shut = false;
  let busy: Promise<unknown> | undefined;
  let held: Held | undefined;

  const start = async (options: AttemptOptions): Promise<RunningAttempt> => {
    const attempt = resolveAttempt(options, core, () => `attempt-${randomUUID().slice(0, 8)}`);
    signal?.throwIfAborted();
    attempt.signal?.throwIfAborted();
    if (takeSuspect() || !life.up) await life.restart(signal);
    return beginAttempt(core, attempt);
  };
  const hold = (running: RunningAttempt): Held => ({
    running,
    async end(outcome) {
      try {
        return await running.end(outcome);
      } finally {
        if (held?.running === running) {
          held = undefined;
          busy = undefined;
        }
      }
    },
  });
  const endForClose = async (attempt: Held): Promise<void> => {
    const error = runnerError('CANCELLED', 'The session was closed while the attempt ran.');
    attempt.running.fail(error);
    await attempt.end({ passed: false, error });
  };

  return {
    async begin(options) {
      if (shut) throw runnerError('INVALID_STATE', 'The session is closed: open another one.');
      if (busy !== undefined) {
        throw runnerError(
          'INVALID_STATE',
          'An attempt is running already: a session has one worker, so await the attempt first.',
        );
      }
      const starting = start(options);
      busy = starting;
      try {
        held = hold(await starting);
      } catch (error) {
        busy = undefined;
        throw error;
      }
      return held;
    },
    async shut() {
      shut = true;
      if (held === undefined) await busy?.catch(() => undefined);
      // One that was still starting holds the worker by now, unless it failed.
      if (held !== undefined) await endForClose(held);
    },
  };
}
