// The record of a step while it grows, and the events that carry it. Whatever is free text passes the
// redactor on its way in; structure (kinds, codes, counts) does not, because a secret that happens
// to spell a keyword must not break a record's shape.
import type { AgentError } from '../contract/errors.ts';
import type { Budget } from './budget.ts';
import type { CheckedCall } from './params.ts';
import type { ActionRecord, Judgment, StepProgress, StepRecord, StepStatus } from './records.ts';
import type { AttemptScope } from './scope.ts';

export type Timing = keyof StepRecord['timings'];

export interface StepLog {
  /** What the step is doing, in words, for the error of a passed deadline. */
  doing: string;
  progress(progress: StepProgress): void;
  model(modelId: string): void;
  action(action: ActionRecord): void;
  judgment(judgment: Judgment): void;
  /** Screen text that the model is shown. */
  shown(text: string, nodes: number): void;
  timed<T>(timing: Timing, body: () => Promise<T>): Promise<T>;
  close(end: StepEnd): void;
}

export interface StepEnd {
  readonly status: StepStatus;
  /** Redacted. */
  readonly summary: string;
  readonly failure?: AgentError | undefined;
  readonly abandoned: readonly string[];
}

/** Opens the record of a step: its number, its first event. */
export function openStepLog(call: CheckedCall, scope: AttemptScope, budget: Budget): StepLog {
  const { clock } = scope;
  const redact = (text: string): string => scope.redactor.text(text);
  const id = scope.newId();
  const index = scope.nextStepIndex();
  const startedAt = clock.iso();
  const startedMs = clock.now();
  const instruction = redact(call.instruction);
  const actions: ActionRecord[] = [];
  const timings: Record<Timing, number> = { observeMs: 0, modelMs: 0, actMs: 0, settleMs: 0 };
  let observationBytes = 0;
  let judgment: Judgment | undefined;
  let model = call.model.modelId;

  const progress = (what: StepProgress): void => {
    scope.emit({ type: 'step', phase: 'progress', stepId: id, progress: what });
  };
  scope.emit({
    type: 'step',
    phase: 'opened',
    stepId: id,
    index,
    kind: call.kind,
    instruction,
    agent: call.entry.name,
  });
  const log: StepLog = {
    doing: 'starting',
    progress,
    model(modelId) {
      model = modelId;
    },
    action(raw) {
      const action = {
        ...raw,
        tool: redact(raw.tool),
        durationMs: Math.round(raw.durationMs),
        ...(raw.target === undefined ? {} : { target: redact(raw.target) }),
      };
      actions.push(action);
      progress({ what: 'action', action });
    },
    judgment(raw) {
      judgment = { ...raw, reason: redact(raw.reason) };
      progress({ what: 'judgment', judgment });
    },
    shown(text, nodes) {
      const bytes = Buffer.byteLength(text, 'utf8');
      observationBytes += bytes;
      progress({ what: 'observed', nodes, bytes });
    },
    async timed(timing, body) {
      const from = clock.now();
      try {
        return await body();
      } finally {
        timings[timing] += clock.now() - from;
      }
    },
    close({ status, summary, failure, abandoned }) {
      const record: StepRecord = {
        id,
        index,
        kind: call.kind,
        instruction,
        agent: call.entry.name,
        model,
        status,
        ...(failure === undefined ? {} : { code: failure.code }),
        summary,
        modelCalls: budget.modelCalls,
        actions: [...actions],
        actionCount: budget.actions,
        usage: budget.usage,
        startedAt,
        durationMs: Math.round(clock.now() - startedMs),
        timings: {
          observeMs: Math.round(timings.observeMs),
          modelMs: Math.round(timings.modelMs),
          actMs: Math.round(timings.actMs),
          settleMs: Math.round(timings.settleMs),
        },
        observationBytes,
        ...(judgment === undefined ? {} : { judgment }),
        ...(failure?.screenshot === undefined ? {} : { screenshot: redact(failure.screenshot) }),
        ...(abandoned.length === 0 ? {} : { abandoned }),
      };
      scope.addToLedger({ index, kind: call.kind, instruction, status, summary });
      scope.emit({ type: 'step', phase: 'closed', stepId: id, record });
    },
  };
  return log;
}
