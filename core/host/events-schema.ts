// The JSON Schema of an event, for readers in another language or process. Every shape here is held to
// its type: a member that is added, dropped or made optional there does not compile here. The
// file that ships under schema/ is generated from this by scripts/schema.mjs.
import type { JsonObject } from '../base/json.ts';
import {
  anything,
  boolean,
  checkShape,
  list,
  named,
  number,
  object,
  oneOf,
  record,
  schemaOf,
  text,
  variants,
  type Shape,
} from '../base/shape.ts';
import type {
  ActionOutcome,
  ActionRecord,
  Judgment,
  StepCacheInfo,
  StepEvent,
  StepKind,
  StepProgress,
  StepRecord,
  StepStatus,
} from '../agent/records.ts';
import type { UsageTotals } from '../agent/usage.ts';
import { ERROR_CATEGORIES } from '../contract/codes.ts';
import { APP_LOG_LEVELS } from '../contract/engine.ts';
import { TIME_SHAPE, VIDEO_SEGMENTS_SHAPE } from '../contract/guards.ts';
import type { JsonIssue } from '../base/json.ts';
import type { ErrorInfo } from './errors.ts';
import type {
  AttemptFinishedEvent,
  AttemptStartedEvent,
  ErrorEvent,
  HostEvent,
  HostEventBody,
  NoticeEvent,
  SessionFinishedEvent,
  SessionStartedEvent,
} from './events.ts';

type OptionalKeys<T> = {
  [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K> ? K : never;
}[keyof T];
/** The members of `T`, each with its shape, told apart as the type tells them apart. */
interface Members<T> {
  readonly required: { readonly [K in Exclude<keyof T, OptionalKeys<T>>]: Shape };
  readonly optional: { readonly [K in OptionalKeys<T>]: Shape };
}
const shape = <T>(members: Members<T>): Shape => object(members);
/** The values of a union, complete in both directions. */
const union = <T extends string>(values: Readonly<Record<T, true>>): Shape =>
  oneOf(Object.keys(values));

const string = text();
const count = number({ integer: true, min: 0 });
const ordinal = number({ integer: true, min: 1 });
const length = number({ min: 0 });
const strings = record(string);

const usage = named('usage', () =>
  shape<UsageTotals>({
    required: {
      tokenAccounting: union<UsageTotals['tokenAccounting']>({
        provider: true,
        'adapter-upper-bound': true,
      }),
      inputTokens: count,
      outputTokens: count,
      cachedInputTokens: count,
      reasoningTokens: count,
      modelCalls: count,
      requests: count,
    },
    optional: { cost: length, costOverflow: oneOf([true]) },
  }),
);

const error: Shape = named('error', () =>
  shape<ErrorInfo>({
    required: { name: string, message: string },
    optional: {
      category: oneOf(ERROR_CATEGORIES),
      code: string,
      blocked: boolean,
      stack: string,
      errno: string,
      details: record(anything),
      screenshot: string,
      causes: list(error),
    },
  }),
);

const kind = union<StepKind>({ act: true, waitFor: true, extract: true, assert: true });
const status = union<StepStatus>({ passed: true, failed: true, blocked: true });

const action = named('action', () =>
  shape<ActionRecord>({
    required: {
      tool: string,
      outcome: union<ActionOutcome>({
        done: true,
        failed: true,
        refused: true,
        uncertain: true,
        'not-run': true,
        unneeded: true,
      }),
      count,
      durationMs: length,
    },
    optional: { target: string, code: string },
  }),
);

const judgment = named('judgment', () =>
  shape<Judgment>({
    required: {
      verdict: union<Judgment['verdict']>({ holds: true, fails: true, inconclusive: true }),
      reason: string,
    },
    optional: {},
  }),
);

const stepRecord = named('stepRecord', () =>
  shape<StepRecord>({
    required: {
      id: string,
      index: ordinal,
      kind,
      instruction: string,
      agent: string,
      status,
      summary: string,
      modelCalls: count,
      actions: list(action),
      actionCount: count,
      usage,
      startedAt: TIME_SHAPE,
      durationMs: length,
      timings: shape<StepRecord['timings']>({
        required: { observeMs: length, modelMs: length, actMs: length, settleMs: length },
        optional: {},
      }),
      observationBytes: count,
    },
    optional: {
      model: string,
      code: string,
      visionInput: oneOf([true]),
      visionDegraded: union<NonNullable<StepRecord['visionDegraded']>>({
        PIXEL_TAINTED: true,
        MASKING_UNPROVEN: true,
        UNSUPPORTED_CAPABILITY: true,
      }),
      metrics: shape<NonNullable<StepRecord['metrics']>>({
        required: {},
        optional: { pixelBytes: count },
      }),
      judgment,
      screenshot: string,
      cache: shape<StepCacheInfo>({
        required: {
          mode: union<StepCacheInfo['mode']>({
            'self-finalized': true,
            'agent-concluded': true,
            missed: true,
          }),
        },
        optional: { reason: string, detail: string, entry: string, write: string },
      }),
      abandoned: list(string),
    },
  }),
);

type Progress<W extends StepProgress['what']> = Omit<Extract<StepProgress, { what: W }>, 'what'>;

const progress = variants('what', {
  observed: shape<Progress<'observed'>>({ required: { nodes: count, bytes: count }, optional: {} }),
  'model-call': shape<Progress<'model-call'>>({
    required: { call: ordinal },
    optional: { inputTokens: count, outputTokens: count },
  }),
  action: shape<Progress<'action'>>({ required: { action }, optional: {} }),
  judgment: shape<Progress<'judgment'>>({ required: { judgment }, optional: {} }),
  waiting: shape<Progress<'waiting'>>({
    required: { elapsedMs: length, changed: boolean },
    optional: {},
  }),
  'waiting-for-engine': shape<Progress<'waiting-for-engine'>>({
    required: { operations: list(string) },
    optional: {},
  }),
} satisfies Record<StepProgress['what'], Shape>);

/** What every event has. */
type Envelope = Pick<HostEvent, 'seq' | 'at'>;
const envelope = { seq: ordinal, at: TIME_SHAPE };
type Event<T extends HostEventBody> = Omit<T, 'type'> & Envelope;
type Step<P extends StepEvent['phase']> = Omit<
  Extract<StepEvent, { phase: P }>,
  'type' | 'phase'
> & { readonly attemptId: string } & Envelope;
const inStep = { ...envelope, attemptId: string, stepId: string };

const step = variants('phase', {
  opened: shape<Step<'opened'>>({
    required: { ...inStep, index: ordinal, kind, instruction: string, agent: string },
    optional: {},
  }),
  progress: shape<Step<'progress'>>({ required: { ...inStep, progress }, optional: {} }),
  closed: shape<Step<'closed'>>({ required: { ...inStep, record: stepRecord }, optional: {} }),
} satisfies Record<StepEvent['phase'], Shape>);

const event = variants('type', {
  'session-started': shape<Event<SessionStartedEvent>>({
    required: {
      ...envelope,
      runId: string,
      target: string,
      engine: shape<SessionStartedEvent['engine']>({
        required: { name: string, version: string },
        optional: { platform: string },
      }),
      capabilities: list(string),
    },
    optional: {},
  }),
  notice: shape<Event<NoticeEvent>>({
    required: {
      ...envelope,
      source: union<NoticeEvent['source']>({ engine: true, app: true, host: true }),
      level: oneOf(APP_LOG_LEVELS),
      text: string,
    },
    optional: { attemptId: string },
  }),
  'attempt-started': shape<Event<AttemptStartedEvent>>({
    required: { ...envelope, attemptId: string, title: string, retry: count },
    optional: {},
  }),
  step,
  'attempt-finished': shape<Event<AttemptFinishedEvent>>({
    required: {
      ...envelope,
      attemptId: string,
      title: string,
      retry: count,
      status,
      durationMs: length,
      steps: count,
      usage,
      environment: strings,
    },
    optional: { error, video: VIDEO_SEGMENTS_SHAPE },
  }),
  error: shape<Event<ErrorEvent>>({
    required: { ...envelope, stage: string, error },
    optional: { attemptId: string },
  }),
  'session-finished': shape<Event<SessionFinishedEvent>>({
    required: { ...envelope, runId: string, attempts: count, usage },
    optional: {},
  }),
} satisfies Record<HostEventBody['type'], Shape>);

/** The first issue of an event, or `undefined`. */
export function findEventIssue(value: unknown): JsonIssue | undefined {
  return checkShape(event, value, 'event');
}

/** JSON Schema (2020-12) of one event. */
export function hostEventsSchema(): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:enginewright:host-events-v1',
    title: 'Event of an Enginewright session, version 1',
    description:
      'One event as onEvent gets it. Times are ISO 8601, lengths are milliseconds, costs US dollars. Members may be added: ignore those that you do not know.',
    type: 'object',
    ...schemaOf(event),
  };
}
