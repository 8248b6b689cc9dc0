// One attempt: a test's isolation on the engine. The order is fixed here: an engine that is lost or
// in doubt is initialised anew, then startAttempt, state, video, the test, settle, teardown, settle,
// video, endAttempt; and so is who wins when several things fail: the test's own error first, a
// cleanup failure only when there is none. endAttempt is owed as soon as startAttempt was called.
import { NO_USAGE } from '../agent/usage.ts';
import type { EngineCleanupContext, OperationContext, VideoSegment } from '../contract/engine.ts';
import { isAgentError, runnerError } from '../contract/errors.ts';
import { createAttemptLife } from './attempt-life.ts';
import type { ResolvedAttempt } from './attempt-options.ts';
import { createAttemptParts, type AttemptContext, type AttemptParts } from './attempt-parts.ts';
import { describeError, leavesDoubt } from './errors.ts';
import { createAttemptArtifacts, createAttemptVideo } from './evidence.ts';
import { callHook } from './hook.ts';
import { createAttemptReports } from './reports.ts';
import type { SessionCore } from './session-core.ts';

/** How the test itself ended. */
export type AttemptOutcome =
  | { readonly passed: true }
  | { readonly passed: false; readonly error: unknown };

/** An attempt between its start and its end. */
export interface RunningAttempt {
  readonly context: AttemptContext;
  /** Aborts when the attempt can no longer pass, with the error that it fails with. */
  readonly failed: AbortSignal;
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
    taken: core.takenDirs,
    redactor,
    note,
  });
  const reports = createAttemptReports({
    core,
    attemptId: attempt.id,
    artifactsDir: artifacts.dir,
    signal: life.signal,
  });
  const video = createAttemptVideo({
    mode: options.video,
    engine: engine.artifacts,
    artifacts,
    note,
  });
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

  let startCalled = false;
  let parts: AttemptParts | undefined;
  let ending: Promise<readonly unknown[]> | undefined;

  const cleanUp = async (outcome: AttemptOutcome): Promise<readonly unknown[]> => {
    const failures: unknown[] = [];
    const stage = async (name: string, body: () => Promise<unknown>): Promise<void> => {
      try {
        await body();
      } catch (error) {
        if (leavesDoubt(error)) core.life.doubt();
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
      const { running } = calls;
      if (outcome.passed && running.length > 0) {
        note(`The test returned before ${running.join(', ')} had ended: was an await forgotten?`);
      }
      calls.close();
      deadline.abort(
        runnerError(
          'CANCELLED',
          running.length === 0
            ? 'The attempt has ended.'
            : 'The attempt ended before this call did: await every call of a test.',
        ),
      );
      await hook('calls in flight', () => calls.idle());
      await stage('calls in flight', async () => {
        if (await driver.settleAbandoned(cleanupTimeout)) return;
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
    if (startCalled) await hook('endAttempt', (context) => engine.endAttempt?.(context));
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
  let doing = 'init';
  try {
    if (!core.life.up) await core.life.restart(life.signal);
    life.watchEngine();
    life.signal.throwIfAborted();
    doing = 'startAttempt';
    startCalled = true;
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
    // A start that failed, or that was left behind by an abort, says nothing good of the engine.
    core.life.doubt();
    hub.error(doing, error, attempt.id);
    await end({ passed: false, error });
    throw error;
  }
  return {
    context: parts.context,
    failed: life.signal,
    end,
  };
}
