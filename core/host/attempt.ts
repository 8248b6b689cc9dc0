// One attempt: a test's isolation on the engine. The order is fixed here: startAttempt, state,
// video, the test, settle, teardown, settle, video, endAttempt; and so is who wins when several
// things fail: the test's own error first, a cleanup failure only when there is none. Its end is
// owed as soon as startAttempt was called, and runs once.
import { NO_USAGE } from '../agent/usage.ts';
import type { EngineCleanupContext, OperationContext, VideoSegment } from '../contract/engine.ts';
import { isAgentError, runnerError } from '../contract/errors.ts';
import { createAttemptArtifacts } from './artifacts.ts';
import { createAttemptLife } from './attempt-life.ts';
import type { ResolvedAttempt } from './attempt-options.ts';
import { createAttemptParts, type AttemptContext, type AttemptParts } from './attempt-parts.ts';
import { isEngineFailure } from './engine-errors.ts';
import { describeError } from './error-info.ts';
import { callHook } from './hook.ts';
import { createAttemptReports } from './reports.ts';
import type { SessionCore } from './session-core.ts';
import { createAttemptVideo } from './video.ts';

/** How the test itself ended. */
export type AttemptOutcome =
  | { readonly passed: true }
  | { readonly passed: false; readonly error: unknown };

/** An attempt between its start and its end. */
export interface RunningAttempt {
  readonly context: AttemptContext;
  /** Aborts when the attempt can no longer pass, with the error that it fails with. */
  readonly failed: AbortSignal;
  fail(error: unknown): void;
  /** Ends it, once; answers the cleanup failures. */
  end(outcome: AttemptOutcome): Promise<readonly unknown[]>;
}

/** Starts an attempt; when that fails, ends it and rejects with the reason. */
export async function beginAttempt(
  core: SessionCore,
  attempt: ResolvedAttempt,
): Promise<RunningAttempt> {
  const { engine, options, hub, redactor } = core;
  const { clock, runId, cleanupTimeout, actionTimeout } = options;
  const startedMs = clock.now();
  const note = (text: string): void => hub.notice(text, attempt.id);
  const life = createAttemptLife(core, attempt);
  const artifacts = createAttemptArtifacts({
    root: options.artifactsDir,
    runId,
    attemptId: attempt.id,
    retry: attempt.retry,
    note,
  });
  const reports = createAttemptReports({
    core,
    attemptId: attempt.id,
    artifactsDir: artifacts.dir,
    signal: life.signal,
  });
  const video = createAttemptVideo({ core, artifacts, note });
  const subject = (hook: string): string => `Engine ${JSON.stringify(engine.name)}: ${hook}`;

  /** Runs an operation that the driver does not know: state and video. */
  const operate = <T>(
    hook: string,
    limits: { readonly ms: number; readonly parent?: AbortSignal },
    body: (context: OperationContext) => Promise<T> | undefined,
  ): Promise<T | undefined> =>
    callHook({
      subject: subject(hook),
      clock,
      redactor,
      limit: { ms: limits.ms, code: 'ACTION_FAILED' },
      parent: limits.parent,
      body: ({ signal, timeoutMs }) =>
        body({ signal, timeoutMs, runId, attemptId: attempt.id, origin: 'test' }),
    });

  let parts: AttemptParts | undefined;
  let ending: Promise<readonly unknown[]> | undefined;

  const cleanUp = async (outcome: AttemptOutcome): Promise<readonly unknown[]> => {
    const failures: unknown[] = [];
    const stage = async (name: string, body: () => Promise<unknown>): Promise<void> => {
      try {
        await body();
      } catch (error) {
        if (isEngineFailure(error)) core.suspect();
        failures.push(error);
        hub.error(name, error, attempt.id);
      }
    };
    const hook = (name: string, body: (context: EngineCleanupContext) => unknown): Promise<void> =>
      stage(name, () =>
        callHook({
          subject: subject(name),
          clock,
          redactor,
          limit: { ms: cleanupTimeout, code: 'CLEANUP_TIMEOUT' },
          body,
        }),
      );

    let segments: readonly VideoSegment[] | undefined;
    if (parts !== undefined) {
      const { calls, deadline, fixtures, driver } = parts;
      calls.close();
      deadline.abort(runnerError('CANCELLED', 'The attempt has ended.'));
      await hook('calls in flight', () => calls.idle());
      await stage('calls in flight', async () => {
        if (await driver.settleAbandoned(cleanupTimeout)) return;
        core.suspect();
        throw runnerError(
          'CLEANUP_TIMEOUT',
          `${subject(driver.abandoned.join(', '))} ignored its abort for ${cleanupTimeout} ms.`,
        );
      });
      await hook('settleAttempt', (context) => engine.settleAttempt?.(context));
      await fixtures.teardown((name, body) => hook(`fixture ${name}`, body));
      await hook('settleAttempt', (context) => engine.settleAttempt?.(context));
      segments = await video.stop(
        (name, body) => operate(name, { ms: cleanupTimeout }, body),
        outcome.passed && failures.length === 0,
      );
    }
    await hook('endAttempt', (context) => engine.endAttempt?.(context));
    reports.close();
    life.close();
    const error = outcome.passed ? failures[0] : outcome.error;
    const failed = !outcome.passed || failures.length > 0;
    hub.emit({
      type: 'attempt-finished',
      attemptId: attempt.id,
      title: attempt.title,
      retry: attempt.retry,
      status: !failed ? 'passed' : isAgentError(error) && error.blocked ? 'blocked' : 'failed',
      ...(failed ? { error: describeError(error, redactor) } : {}),
      durationMs: Math.round(clock.now() - startedMs),
      steps: parts?.record.steps.length ?? 0,
      usage: parts?.record.usage ?? NO_USAGE,
      environment: reports.environment,
      ...(segments === undefined ? {} : { video: segments }),
    });
    return failures;
  };
  const end = (outcome: AttemptOutcome): Promise<readonly unknown[]> =>
    (ending ??= cleanUp(outcome));

  hub.emit({
    type: 'attempt-started',
    attemptId: attempt.id,
    title: attempt.title,
    retry: attempt.retry,
  });
  let doing = 'startAttempt';
  try {
    await callHook({
      subject: subject(doing),
      clock,
      redactor,
      limit: { ms: options.launchTimeout, code: 'LAUNCH_TIMEOUT' },
      parent: life.signal,
      body: () => engine.startAttempt?.(reports.context),
    });
    parts = createAttemptParts({ core, attempt, life, artifacts, reports, note });
    const { deadline } = parts;
    const { state } = attempt;
    if (state !== undefined) {
      doing = 'state.restore';
      await operate(doing, { ms: actionTimeout, parent: deadline.signal }, (context) =>
        engine.state?.restore(state, context),
      );
    }
    await video.start((name, body) =>
      operate(name, { ms: actionTimeout, parent: deadline.signal }, body),
    );
    deadline.signal.throwIfAborted();
  } catch (error) {
    if (isEngineFailure(error)) core.suspect();
    hub.error(doing, error, attempt.id);
    await end({ passed: false, error });
    throw error;
  }
  return {
    context: parts.context,
    failed: life.signal,
    fail: (error) => life.fail(error),
    end,
  };
}
