// What can end an attempt before its test does: the harness's abort (of the session or of the
// attempt), its deadline, the loss of its engine. All of them meet in one signal, whose reason is
// the error that the attempt fails with; the first one counts.
import { messageOf } from '../agent/map-errors.ts';
import { runnerError } from '../contract/errors.ts';
import type { ResolvedAttempt } from './attempt-options.ts';
import { isEngineFailure } from './engine-errors.ts';
import { redactCause } from './error-info.ts';
import type { SessionCore } from './session-core.ts';

export interface AttemptLife {
  readonly signal: AbortSignal;
  fail(error: unknown): void;
  /** Lets go of everything that it listens to. */
  close(): void;
}

export function createAttemptLife(core: SessionCore, attempt: ResolvedAttempt): AttemptLife {
  const { engine, redactor } = core;
  const controller = new AbortController();
  const { signal } = controller;
  const releases: (() => void)[] = [];

  const fail = (error: unknown): void => {
    if (!signal.aborted) controller.abort(error);
  };
  for (const parent of [core.options.signal, attempt.signal]) {
    if (parent === undefined) continue;
    if (parent.aborted) fail(parent.reason);
    const onAbort = (): void => {
      fail(parent.reason);
    };
    parent.addEventListener('abort', onAbort, { once: true });
    releases.push(() => {
      parent.removeEventListener('abort', onAbort);
    });
  }
  const release = engine.onLost?.((error) => {
    core.suspect();
    const lost = isEngineFailure(error)
      ? redactCause(error, redactor)
      : runnerError(
          'ENGINE_FAILURE',
          redactor.text(`Engine ${JSON.stringify(engine.name)} was lost: ${messageOf(error)}`),
          { cause: redactCause(error, redactor) },
        );
    fail(lost);
  });
  if (release !== undefined) releases.push(release);

  return {
    signal,
    fail,
    close() {
      for (const letGo of releases.splice(0)) letGo();
    },
  };
}
