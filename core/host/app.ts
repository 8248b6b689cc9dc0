// The app as a test drives it: open, back, restart, clear its state, take a picture. Nothing opens
// by itself. Only `open` may find the app unreachable, and only it resolves paths against the URL.
import type { Driver } from '../agent/driver.ts';
import { runnerError } from '../contract/errors.ts';
import { withScheme, type ResolvedApp } from './app-options.ts';
import type { AttemptCalls } from './calls.ts';
import { readOpenError } from './errors.ts';

export interface AttemptApp {
  /** The app's URL, when it has one. */
  readonly baseUrl: string | undefined;
  /** Opens the app, at a path or a whole URL. `APP_URL_REQUIRED` without either; `APP_UNREACHABLE`. */
  open(path?: string): Promise<void>;
  back(): Promise<void>;
  /** Ends at a blank surface where the engine can open: open the app again. */
  restart(): Promise<void>;
  /** Forgets what the app keeps; ends at a blank surface where the engine can open. */
  clearState(): Promise<void>;
  /** The picture's absolute path; `undefined`, with a notice, when evidence cannot be kept. */
  screenshot(label?: string): Promise<string | undefined>;
}

export interface AttemptAppOptions {
  readonly app: ResolvedApp;
  readonly calls: AttemptCalls;
  readonly driver: Driver;
  readonly actionTimeout: number;
  /** Takes a picture; the caller is in its turn. */
  readonly picture: (label: string | undefined, signal: AbortSignal) => Promise<string | undefined>;
}

export function createAttemptApp(options: AttemptAppOptions): AttemptApp {
  const { app, calls, driver, actionTimeout } = options;
  const simple = (
    subject: string,
    body: (driver: Driver) => Driver['back'],
  ): (() => Promise<void>) => {
    return () =>
      calls.run({
        subject,
        timeoutMs: actionTimeout,
        body: (turn) => body(driver)(turn.budget()),
      });
  };

  return Object.freeze({
    baseUrl: app.url,
    async open(path?: string) {
      const url = resolveUrl(path, app.url);
      await calls.run({
        subject: 'app.open',
        // A slow start is not a failed action: opening has the whole rest of the attempt.
        timeoutMs: undefined,
        read: readOpenError,
        body: (turn) => driver.open(url, turn.budget(turn.deadline.remaining())),
      });
    },
    back: simple('app.back', (engine) => engine.back),
    restart: simple('app.restart', (engine) => engine.restart),
    clearState: simple('app.clearState', (engine) => engine.reset),
    async screenshot(label?: string) {
      if (label !== undefined && typeof label !== 'string') {
        throw runnerError('INVALID_ARGUMENT', 'app.screenshot takes a label as a string.');
      }
      return calls.run({
        subject: 'app.screenshot',
        timeoutMs: actionTimeout,
        body: (turn) => options.picture(label, turn.deadline.signal),
      });
    },
  });
}

function resolveUrl(path: string | undefined, base: string | undefined): string {
  if (path !== undefined && typeof path !== 'string') {
    throw runnerError('INVALID_ARGUMENT', 'app.open takes a path or a URL as a string.');
  }
  if (path === undefined || path === '') {
    if (base !== undefined) return base;
    throw runnerError(
      'APP_URL_REQUIRED',
      'app.open has no URL: give "target.app.url", or pass a whole URL.',
    );
  }
  // To the parser, what stands before a port is a scheme.
  const target = /^(?:localhost|[\w-]+(?:\.[\w-]+)+):\d+(?:[/?#]|$)/u.test(path)
    ? withScheme(path)
    : path;
  if (URL.canParse(target, base)) return new URL(target, base).href;
  throw base === undefined
    ? runnerError(
        'APP_URL_REQUIRED',
        `app.open cannot resolve ${JSON.stringify(path)}: give "target.app.url".`,
      )
    : runnerError('INVALID_ARGUMENT', `app.open got a malformed path: ${JSON.stringify(path)}.`);
}
