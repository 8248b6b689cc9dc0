// What a host is told while a session runs: plain JSON in one order, numbered, redacted here and
// nowhere else. A sink is the host's code: one that throws loses its place with a notice, and
// never the attempt its verdict.
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/thrown.ts';
import type { StepEvent } from '../agent/records.ts';
import type { Redactor } from '../agent/scope.ts';
import type { UsageTotals } from '../agent/usage.ts';
import type { AppLogLevel, VideoSegment } from '../contract/engine.ts';
import { isThenable } from './checks.ts';
import { describeError, type ErrorInfo } from './errors.ts';

export type AttemptStatus = 'passed' | 'failed' | 'blocked';

export interface SessionStartedEvent {
  readonly type: 'session-started';
  readonly runId: string;
  readonly target: string;
  readonly engine: { readonly name: string; readonly version: string; readonly platform?: string };
  readonly capabilities: readonly string[];
}
/** A line from the engine (`log`), the app (its console) or the host itself. */
export interface NoticeEvent {
  readonly type: 'notice';
  readonly source: 'engine' | 'app' | 'host';
  readonly level: AppLogLevel;
  readonly text: string;
  readonly attemptId?: string;
}
export interface AttemptStartedEvent {
  readonly type: 'attempt-started';
  readonly attemptId: string;
  readonly title: string;
  /** 0 for the first try. */
  readonly retry: number;
}
export interface AttemptFinishedEvent {
  readonly type: 'attempt-finished';
  readonly attemptId: string;
  readonly title: string;
  readonly retry: number;
  readonly status: AttemptStatus;
  readonly error?: ErrorInfo;
  readonly durationMs: number;
  readonly steps: number;
  readonly usage: UsageTotals;
  /** What the engine reported of its surroundings. */
  readonly environment: Readonly<Record<string, string>>;
  readonly video?: readonly VideoSegment[];
}
export interface ErrorEvent {
  readonly type: 'error';
  /** Where it happened, such as `init` or `settleAttempt`. */
  readonly stage: string;
  readonly error: ErrorInfo;
  readonly attemptId?: string;
}
export interface SessionFinishedEvent {
  readonly type: 'session-finished';
  readonly runId: string;
  readonly attempts: number;
  readonly usage: UsageTotals;
}

/** The body of an event. */
export type HostEventBody =
  | SessionStartedEvent
  | NoticeEvent
  | AttemptStartedEvent
  | (StepEvent & { readonly attemptId: string })
  | AttemptFinishedEvent
  | ErrorEvent
  | SessionFinishedEvent;

/** One event: plain JSON, free of secrets. */
export type HostEvent = HostEventBody & {
  /** From 1, without gaps, within a session. */
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
};

export type EventSink = (event: HostEvent) => unknown;

/** The one way out of a session. */
export interface EventHub {
  emit(body: HostEventBody): void;
  notice(text: string, attemptId?: string): void;
  error(stage: string, error: unknown, attemptId?: string): void;
  /** Nothing is told any more: what an engine says after the last event has no place. */
  close(): void;
  /** What the host itself had to say, also after the sink was dropped. */
  readonly notices: readonly string[];
}

export interface EventHubOptions {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly sink: EventSink | undefined;
}

/** Notices kept; a long session must not fill the host's memory. The newest go. */
const MAX_NOTICES = 1000;

export function createEventHub({ clock, redactor, sink }: EventHubOptions): EventHub {
  let open = sink;
  let seq = 0;
  const notices: string[] = [];

  const keep = (text: string): void => {
    if (notices.length < MAX_NOTICES) notices.push(text);
  };
  const drop = (error: unknown): void => {
    if (open === undefined) return;
    open = undefined;
    keep(redactor.text(`The event sink threw and gets no further events: ${messageOf(error)}`));
  };
  const emit = (body: HostEventBody): void => {
    if (open === undefined) return;
    let event: HostEvent;
    try {
      // The JSON round trip leaves out what is absent and keeps the host from sharing our objects.
      const plain = JSON.parse(JSON.stringify(body)) as HostEventBody;
      event = { seq: seq + 1, at: clock.iso(), ...redactEvent(plain, redactor) };
    } catch (error) {
      // Telling must never cost what is told about.
      keep(redactor.text(`An event of type ${body.type} could not be told: ${messageOf(error)}`));
      return;
    }
    seq += 1;
    try {
      const result = open(event);
      if (isThenable(result)) result.then(undefined, drop);
    } catch (error) {
      drop(error);
    }
  };
  const about = (attemptId: string | undefined): { readonly attemptId?: string } =>
    attemptId === undefined ? {} : { attemptId };

  return {
    emit,
    notice(text, attemptId) {
      const clean = redactor.text(text);
      keep(clean);
      emit({ type: 'notice', source: 'host', level: 'warning', text: clean, ...about(attemptId) });
    },
    error(stage, error, attemptId) {
      emit({ type: 'error', stage, error: describeError(error, redactor), ...about(attemptId) });
    },
    close() {
      open = undefined;
    },
    notices,
  };
}

/** Members whose value is one of a closed list of ours, or a time. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'type',
  'source',
  'level',
  'status',
  'phase',
  'kind',
  'what',
  'outcome',
  'verdict',
  'category',
  'code',
  'tokenAccounting',
  'mode',
  'startedAt',
]);
/** Members whose keys and numbers are not ours either. */
const FOREIGN: ReadonlySet<string> = new Set(['environment', 'details']);

/**
 * Masks every free text of an event. Structure stays: a secret that happens to spell a keyword, or
 * to be the number that a count is, must not break a record's shape.
 */
function redactEvent<T>(value: T, redactor: Redactor): T {
  const visit = (item: unknown, key: string): unknown => {
    if (typeof item === 'string') return STRUCTURE.has(key) ? item : redactor.text(item);
    if (typeof item !== 'object' || item === null) return item;
    if (FOREIGN.has(key)) return redactor.value(item);
    if (Array.isArray(item)) return item.map((member) => visit(member, key));
    return Object.fromEntries(Object.entries(item).map(([name, own]) => [name, visit(own, name)]));
  };
  return visit(value, '') as T;
}
