// What an engine calls back into the harness during an attempt: app logs, navigations, facts about
// its surroundings, and the one question it may ask, for the value of a secret it declares. Text
// is redacted on arrival and bounded: a chatty app must not fill the host's memory or its events.
import { cutUtf8, sanitizeLine } from '../base/text.ts';
import type { EngineReport, ReportLog } from '../agent/scope.ts';
import { APP_LOG_LEVELS, NAVIGATION_LINE_LIMIT } from '../contract/engine.ts';
import type { EngineAttemptContext } from '../contract/engine.ts';
import { runnerError } from '../contract/errors.ts';
import type { SessionCore } from './session-core.ts';

export interface AttemptReports {
  readonly log: ReportLog;
  readonly environment: Readonly<Record<string, string>>;
  /** What `startAttempt` hands to the engine. */
  readonly context: EngineAttemptContext;
  /** Reports that come later are dropped. */
  close(): void;
}

export interface AttemptReportsOptions {
  readonly core: SessionCore;
  readonly attemptId: string;
  readonly artifactsDir: string;
  readonly signal: AbortSignal;
}

/** Reports kept for the agent; older ones go first. */
const MAX_KEPT = 1000;
/** App log lines passed on as events, per attempt. */
const MAX_LOG_EVENTS = 500;
/** Longest app log text and environment fact, in UTF-16 units. */
const OBSERVED_TEXT_LIMIT = 4096;
const MAX_FACTS = 100;

export function createAttemptReports(options: AttemptReportsOptions): AttemptReports {
  const { core, attemptId, artifactsDir, signal } = options;
  const { hub, redactor, vault } = core;
  const kept: EngineReport[] = [];
  const environment: Record<string, string> = {};
  let dropped = 0;
  let logEvents = 0;
  let closed = false;

  const keep = (report: EngineReport): void => {
    kept.push(report);
    if (kept.length <= MAX_KEPT) return;
    kept.shift();
    dropped += 1;
  };
  const tell = (level: (typeof APP_LOG_LEVELS)[number], text: string): void => {
    logEvents += 1;
    if (logEvents === MAX_LOG_EVENTS + 1) {
      hub.notice('The app logs a lot: its further lines are not reported.', attemptId);
    }
    if (logEvents > MAX_LOG_EVENTS) return;
    hub.emit({ type: 'notice', source: 'app', level, text, attemptId });
  };

  return {
    log: {
      mark: () => dropped + kept.length,
      since: (mark) => kept.slice(Math.max(0, mark - dropped)),
    },
    environment,
    context: Object.freeze({
      attemptId,
      artifactsDir,
      signal,
      screens: false,
      resolveSecret: async (secret, given) => {
        if (closed) throw runnerError('CANCELLED', 'The attempt has ended: no secret is resolved.');
        return vault.resolveForEngine(secret, given, signal);
      },
      appLog(entry) {
        if (closed) return;
        const level = APP_LOG_LEVELS.includes(entry.level) ? entry.level : 'info';
        const text = redactor.text(sanitizeLine(String(entry.text), OBSERVED_TEXT_LIMIT));
        keep({ kind: 'appLog', entry: { level, text, at: String(entry.at) } });
        tell(level, text);
      },
      navigation(line) {
        if (closed) return;
        const text = redactor.text(cutUtf8(String(line), NAVIGATION_LINE_LIMIT));
        keep({ kind: 'navigation', line: text });
      },
      environment(facts) {
        if (closed) return;
        for (const [name, fact] of Object.entries(facts)) {
          if (!Object.hasOwn(environment, name) && Object.keys(environment).length >= MAX_FACTS) {
            return;
          }
          environment[name] = redactor.text(sanitizeLine(String(fact), OBSERVED_TEXT_LIMIT));
        }
      },
      // Screens are for traces, which this version does not keep: `screens` says so.
      screen: () => undefined,
    } satisfies EngineAttemptContext),
    close() {
      closed = true;
    },
  };
}
