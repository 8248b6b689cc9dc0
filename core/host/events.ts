// What a host is told while a session runs: plain JSON in one order, numbered, redacted here and
// nowhere else. A sink is the host's code: one that throws loses its place with a notice, and
// never the attempt its verdict.
import type { Clock } from '../base/clock.ts';
import type { StepEvent } from '../agent/records.ts';
import type { Redactor } from '../agent/scope.ts';
import type { UsageTotals } from '../agent/usage.ts';
import type { AppLogLevel, VideoSegment } from '../contract/engine.ts';
import { describeError, type ErrorInfo } from './error-info.ts';

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
  readonly environment?: Readonly<Record<string, string>>;
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
  /** What the host itself had to say, also after the sink was dropped. */
  readonly notices: readonly string[];
}

export interface EventHubOptions {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly sink: EventSink | undefined;
}

export function createEventHub({ clock, redactor, sink }: EventHubOptions): EventHub {
  let open = sink;
  let seq = 0;
  const notices: string[] = [];

  const drop = (error: unknown): void => {
    if (open === undefined) return;
    open = undefined;
    const { message } = describeError(error, redactor);
    notices.push(`The event sink threw and gets no further events: ${message}`);
  };
  const emit = (body: HostEventBody): void => {
    if (open === undefined) return;
    seq += 1;
    // The JSON round trip leaves out what is absent and keeps the host from sharing our objects.
    const plain = JSON.parse(JSON.stringify(body)) as HostEventBody;
    const event: HostEvent = { seq, at: clock.iso(), ...redactor.value(plain) };
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
      notices.push(clean);
      emit({ type: 'notice', source: 'host', level: 'warning', text: clean, ...about(attemptId) });
    },
    error(stage, error, attemptId) {
      emit({ type: 'error', stage, error: describeError(error, redactor), ...about(attemptId) });
    },
    notices,
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}
