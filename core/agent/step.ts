// The frame of every step: its deadline from the call on, its turn among the attempt's calls, its
// record and events, and the two ways out of it (engine and model), both raced and counted. What
// the four calls do lies in act.ts, judge.ts and extract.ts; that the caller is answered at the
// deadline, and that no engine call starts after the answer, is decided here.
import { createDeadline, race, type Deadline } from '../base/deadline.ts';
import {
  AgentError,
  isAgentError,
  isEngineError,
  isRunnerError,
  sanitizeExplanation,
} from '../contract/errors.ts';
import { askModel, type StepRequest } from './ask.ts';
import { createBudget, type Budget } from './budget.ts';
import type { Observation, OperationBudget } from './driver.ts';
import { toAgentError } from './map-errors.ts';
import type { ModelAnswer } from './model.ts';
import type { CheckedCall } from './params.ts';
import type { ActionRecord, Judgment, StepProgress } from './records.ts';
import type { AttemptScope } from './scope.ts';
import type { ShortIds } from './screen/ids.ts';
import { openStepLog, type Timing } from './step-log.ts';

/** What a running step works with. */
export interface Step {
  readonly call: CheckedCall;
  readonly scope: AttemptScope;
  readonly ids: ShortIds;
  readonly budget: Budget;
  readonly signal: AbortSignal;
  /** True once the step's or the attempt's time is up; false for a host's abort. */
  readonly timedOut: boolean;
  /** Masks secrets in a text. */
  redact(text: string): string;
  /** What one engine operation gets: the action time-out, at most `mostMs`, at most the rest. */
  operation(mostMs?: number): OperationBudget;
  observe(): Promise<Observation>;
  ask(request: StepRequest): Promise<ModelAnswer>;
  /** Races anything that is not ours to stop. */
  withinDeadline<T>(work: Promise<T>): Promise<T>;
  /** Says what the step is doing, for the error of a passed deadline. */
  doing(what: string): void;
  /** Adds the time that `body` takes to a timing. */
  timed<T>(timing: Timing, body: () => Promise<T>): Promise<T>;
  progress(progress: StepProgress): void;
  /** Books one tool call of the step. */
  recordAction(action: ActionRecord): void;
  recordJudgment(judgment: Judgment): void;
  /** Counts screen text that the model is shown. */
  shown(text: string, nodes: number): void;
}

/** How a step ends well. A failing one throws an AgentError. */
export interface StepSuccess<T> {
  readonly value: T;
  readonly summary: string;
}

export interface StepFrame {
  readonly call: CheckedCall;
  readonly scope: AttemptScope;
  /** What the steps of an attempt share. */
  readonly ids: ShortIds;
}

interface OpenFrame extends StepFrame {
  readonly deadline: Deadline;
  /** ms of the whole call, its wait for its turn included. */
  readonly totalMs: number;
}

/** Runs one checked call as a step of the attempt; rejects with an AgentError only. */
export async function runStep<T>(
  frame: StepFrame,
  body: (step: Step) => Promise<StepSuccess<T>>,
): Promise<T> {
  const { call, scope } = frame;
  const totalMs = Math.min(call.timeoutMs, scope.deadline.remaining());
  const deadline = createDeadline({
    clock: scope.clock,
    ms: totalMs,
    parent: scope.deadline.signal,
  });
  const open: OpenFrame = { ...frame, deadline, totalMs };
  let state: 'queued' | 'running' | 'answered' = 'queued';
  let stopWaiting: (() => void) | undefined;
  try {
    // Time runs from the call on: one that still queues at its deadline is answered there, and
    // finds itself answered when its turn comes.
    const timeUp = new Promise<'time-up'>((resolve) => {
      const onAbort = (): void => {
        if (state === 'queued') resolve('time-up');
      };
      deadline.signal.addEventListener('abort', onAbort, { once: true });
      stopWaiting = () => {
        deadline.signal.removeEventListener('abort', onAbort);
      };
      if (deadline.signal.aborted) onAbort();
    });
    const turn = scope.exclusive(async () => {
      if (state === 'answered' || deadline.signal.aborted) return 'time-up' as const;
      state = 'running';
      return runOpened(open, body);
    });
    turn.catch(() => undefined);
    const outcome = await Promise.race([turn, timeUp]);
    if (outcome !== 'time-up') return outcome.value;
    state = 'answered';
    const unheard = await runOpened<T>(open, (step) => {
      step.doing('it queued behind another call of the attempt');
      return Promise.reject(deadline.signal.reason as Error);
    });
    return unheard.value;
  } catch (error) {
    throw toAgentError(error, scope.redactor);
  } finally {
    stopWaiting?.();
    deadline.abort(new Error('the step is over'));
  }
}

/** Opens the step's record, runs it, closes the record; then answers. */
async function runOpened<T>(
  frame: OpenFrame,
  body: (step: Step) => Promise<StepSuccess<T>>,
): Promise<StepSuccess<T>> {
  const { call, scope, deadline } = frame;
  const { driver } = scope;
  const redact = (text: string): string => scope.redactor.text(text);
  const budget = createBudget({
    deadline,
    totalMs: frame.totalMs,
    maxModelCalls: call.maxModelCalls,
    maxSteps: call.maxSteps,
    entry: call.entry,
  });
  const log = openStepLog(call, scope, budget);
  const operation: Step['operation'] = (mostMs = scope.limits.actionTimeout) => ({
    signal: deadline.signal,
    timeoutMs: Math.min(mostMs, deadline.remaining()),
    origin: 'agent',
  });
  const step: Step = {
    call,
    scope,
    ids: frame.ids,
    budget,
    signal: deadline.signal,
    get timedOut() {
      return timedOut(frame);
    },
    redact,
    operation,
    withinDeadline: (work) => race(work, deadline.signal),
    doing: (what) => {
      log.doing = what;
    },
    timed: (timing, work) => log.timed(timing, work),
    progress: (what) => {
      log.progress(what);
    },
    observe: () =>
      log.timed('observeMs', async () => {
        log.doing = 'observing';
        try {
          return await driver.observe(operation());
        } catch (error) {
          // A read may be repeated, and only for the codes that the table marks.
          if (!isEngineError(error) || !error.retryable) throw error;
          return driver.observe(operation());
        }
      }),
    ask: (request) =>
      log.timed('modelMs', async () => {
        log.doing = 'waiting for the model';
        const answer = await askModel(request, {
          model: call.model,
          budget,
          signal: deadline.signal,
          cacheKey: `${call.kind}/${call.entry.name}/${driver.engine.name}`,
        });
        log.model(answer.modelId);
        const { inputTokens, outputTokens } = answer.usage ?? {};
        log.progress({
          what: 'model-call',
          call: budget.modelCalls,
          ...(inputTokens === undefined ? {} : { inputTokens }),
          ...(outputTokens === undefined ? {} : { outputTokens }),
        });
        return answer;
      }),
    recordAction(action) {
      budget.bookActions(action.count);
      log.action(action);
    },
    recordJudgment: (judgment) => {
      log.judgment(judgment);
    },
    shown: (text, nodes) => {
      log.shown(text, nodes);
    },
  };

  const close = async (summary: string, failure?: AgentError): Promise<void> => {
    // From here on no engine call can start. One that was abandoned gets a turn of the event loop
    // to hear of its abort: the record is to name those that ignore it.
    deadline.abort(new Error('the step is over'));
    if (driver.abandoned.length > 0) await new Promise((resolve) => setImmediate(resolve));
    const status = failure === undefined ? 'passed' : failure.blocked ? 'blocked' : 'failed';
    log.close({ status, summary, failure, abandoned: driver.abandoned });
  };
  let success: StepSuccess<T>;
  try {
    if (!deadline.signal.aborted) await waitForAbandoned(step);
    success = await body(step);
  } catch (error) {
    const failure = failureOf(frame, error, `after ${spent(budget)}, while ${log.doing}`);
    await close(failure.explanation, failure);
    throw failure;
  }
  const summary = sanitizeExplanation(redact(success.summary));
  await close(summary);
  return { ...success, summary };
}

function timedOut({ deadline, scope }: OpenFrame): boolean {
  return deadline.expired || scope.deadline.expired;
}

/**
 * What ended the step. A passed deadline or an abort speaks louder than the error that it caused,
 * but not than a verdict that the step had reached, which is an AgentError already.
 */
function failureOf(frame: OpenFrame, error: unknown, when: string): AgentError {
  const { call, deadline } = frame;
  const { redactor } = frame.scope;
  // Asked first, because it ends a deadline whose timer is late: an operation that had the rest of
  // the step as its own limit may be heard of before the step's timer.
  const late = timedOut(frame);
  const { aborted, reason } = deadline.signal as { aborted: boolean; reason: unknown };
  if (!aborted || isAgentError(error)) return toAgentError(error, redactor);
  if (!late && (isEngineError(reason) || isRunnerError(reason))) {
    return toAgentError(reason, redactor);
  }
  return toAgentError(
    late
      ? new AgentError('STEP_TIMEOUT', `agent.${call.kind}: the deadline passed ${when}.`, {
          cause: error,
        })
      : new AgentError('CANCELLED', `agent.${call.kind}: cancelled by the host.`, {
          cause: reason,
        }),
    redactor,
  );
}

function spent(budget: Budget): string {
  const { modelCalls, actions } = budget;
  return `${modelCalls} model call${modelCalls === 1 ? '' : 's'} and ${actions} action${actions === 1 ? '' : 's'}`;
}

/** One engine, one call at a time: what an earlier step left running is waited for first. */
async function waitForAbandoned(step: Step): Promise<void> {
  const { scope, signal } = step;
  const { driver, limits } = scope;
  const names = driver.abandoned;
  if (names.length === 0) return;
  step.progress({ what: 'waiting-for-engine', operations: names });
  step.doing(`waiting for ${names.join(', ')} of an earlier step, which ignored its abort`);
  if (await race(driver.settleAbandoned(limits.cleanupTimeout, signal), signal)) return;
  throw new AgentError(
    'ENGINE_FAILURE',
    `Engine ${driver.engine.name}: ${driver.abandoned.join(', ')} of an earlier step ignored its abort and did not end within ${limits.cleanupTimeout} ms.`,
  );
}
