// The session's one worker: at most one attempt holds it, and a second one is refused rather than
// queued, because a harness that starts two at once has made a mistake that waiting would hide.
import { randomUUID } from 'node:crypto';
import { runnerError } from '../contract/errors.ts';
import { beginAttempt, type AttemptOutcome, type RunningAttempt } from './attempt.ts';
import { resolveAttempt, type AttemptOptions, type ResolvedAttempt } from './attempt-options.ts';
import type { SessionCore } from './session-core.ts';

/** An attempt that holds the worker until its end. */
export interface Held {
  readonly running: RunningAttempt;
  /** Ends the attempt and frees the worker; answers the cleanup failures, the same each time. */
  end(outcome: AttemptOutcome): Promise<readonly unknown[]>;
}

export interface Slot {
  /** How many attempts were begun. */
  readonly attempts: number;
  begin(options: AttemptOptions): Promise<Held>;
  /** Refuses further attempts and waits for the end of one that runs: the session has aborted it. */
  shut(): Promise<void>;
}

export function createSlot(core: SessionCore): Slot {
  const { signal } = core;
  let attempts = 0;
  let shut = false;
  let busy: { readonly title: string; readonly started: Promise<unknown> } | undefined;
  let held: Held | undefined;

  const start = async (attempt: ResolvedAttempt): Promise<RunningAttempt> => {
    signal.throwIfAborted();
    attempt.signal?.throwIfAborted();
    attempts += 1;
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

  return {
    get attempts() {
      return attempts;
    },
    async begin(options) {
      if (shut) throw runnerError('INVALID_STATE', 'The session is closed: open another one.');
      if (busy !== undefined) {
        throw runnerError(
          'INVALID_STATE',
          `Attempt ${JSON.stringify(busy.title)} is still running: a session has one worker. Await that attempt first, or open another session.`,
        );
      }
      const attempt = resolveAttempt(options, core, () => `attempt-${randomUUID().slice(0, 8)}`);
      const starting = start(attempt);
      busy = { title: attempt.title, started: starting };
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
      await busy?.started.catch(() => undefined);
      // One that was still starting holds the worker by now, unless it failed.
      await held?.end({ passed: false, error: signal.reason });
    },
  };
}
