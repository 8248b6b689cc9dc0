// Errors on their way through the host. What an engine throws is read here (contract.md section 7; the
// table of engine codes itself is the agent's), and what leaves, as a thrown value or as plain JSON
// in an event, leaves without a secret: not in its message, its stack or anywhere down its causes.
// An error that carries none passes as the same object, so that a caller can still compare it.
import { findJsonIssue, type JsonObject } from '../base/json.ts';
import { isErrorLike, messageOf } from '../base/thrown.ts';
import { agentCodeOf } from '../agent/map-errors.ts';
import type { Redactor } from '../agent/scope.ts';
import {
  findCode,
  isAgentErrorCode,
  isEngineErrorCode,
  type ErrorCategory,
  type ErrorCode,
} from '../contract/codes.ts';
import {
  AgentError,
  categoryOf,
  collectedErrors,
  EngineError,
  isAgentError,
  isEngineError,
  isRunnerError,
  runnerError,
  type RunnerError,
} from '../contract/errors.ts';

/** What a failed call of the test's own tier becomes. `subject` names the call. */
export function readCallError(error: unknown, subject: string, redactor: Redactor): unknown {
  if (isRunnerError(error)) return readRunnerError(error, subject, redactor);
  const code = isEngineError(error) ? agentCodeOf(error) : 'ENGINE_FAILURE';
  return wrap(code, error, subject, redactor);
}

/** The same for `app.open`, the one call that may find the app unreachable. */
export function readOpenError(error: unknown, subject: string, redactor: Redactor): unknown {
  if (isRunnerError(error) && error.code === 'APP_UNREACHABLE') return redactError(error, redactor);
  return readCallError(error, subject, redactor);
}

/** What a failed lifecycle hook becomes: no product verdict can come from one. */
export function readHookError(error: unknown, subject: string, redactor: Redactor): unknown {
  if (isRunnerError(error)) return readRunnerError(error, subject, redactor);
  const kept =
    isEngineError(error) && (error.code === 'UNSUPPORTED_CAPABILITY' || error.code === 'CANCELLED');
  return wrap(kept ? (error.code as ErrorCode) : 'ENGINE_FAILURE', error, subject, redactor);
}

/** Whether the engine itself failed. */
export function isEngineFailure(error: unknown): boolean {
  return (isEngineError(error) || isRunnerError(error)) && error.code === 'ENGINE_FAILURE';
}

/** Whether a failed clean-up leaves the engine in doubt: it failed, or it did not come to an end. */
export function leavesDoubt(error: unknown): boolean {
  return isEngineFailure(error) || (isRunnerError(error) && error.code === 'CLEANUP_TIMEOUT');
}

function readRunnerError(error: RunnerError, subject: string, redactor: Redactor): unknown {
  const known = findCode(error.code)?.owners.includes('runner') === true;
  return known && error.code !== 'APP_UNREACHABLE'
    ? redactError(error, redactor)
    : wrap('ENGINE_FAILURE', error, subject, redactor);
}

function wrap(code: ErrorCode, error: unknown, subject: string, redactor: Redactor): Error {
  const message = messageOf(error);
  const what = message === '' ? 'it failed without a message.' : message;
  return runnerError(code, redactor.text(`${subject}: ${what}`), {
    cause: redactError(error, redactor),
  });
}

/** An error as plain JSON. */
export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  readonly category?: ErrorCategory;
  readonly code?: string;
  readonly blocked?: boolean;
  readonly stack?: string;
  /** A Node error code such as `ECONNREFUSED`. */
  readonly errno?: string;
  readonly details?: JsonObject;
  readonly screenshot?: string;
  /** What caused it; several for a collected error. */
  readonly causes?: readonly ErrorInfo[];
}

/** Causes deeper than this are left out. */
const MAX_DEPTH = 8;

/** Any thrown value, for an event. */
export function describeError(error: unknown, redactor: Redactor): ErrorInfo {
  return redactor.value(infoOf(error));
}

/** The error itself when it carries no secret, otherwise a plain copy that says the same without. */
export function redactError(error: unknown, redactor: Redactor): unknown {
  if (redactor.size === 0) return error;
  const info = infoOf(error);
  const clean = redactor.value(info);
  return JSON.stringify(clean) === JSON.stringify(info) ? error : rebuild(clean);
}

function infoOf(error: unknown): ErrorInfo {
  try {
    return plain(error, 0, new Set());
  } catch {
    // A getter of the error threw.
    return { name: typeof error, message: 'An error that cannot be read.' };
  }
}

function plain(error: unknown, depth: number, seen: Set<unknown>): ErrorInfo {
  if (!isErrorLike(error)) {
    const stack: unknown = (error as { readonly stack?: unknown } | null | undefined)?.stack;
    return {
      name: typeof error,
      message: messageOf(error),
      ...(depth === 0 ? { category: categoryOf(error) } : {}),
      ...(typeof stack === 'string' ? { stack } : {}),
    };
  }
  seen.add(error);
  const causes = causesOf(error)
    .filter((cause) => !seen.has(cause) && depth < MAX_DEPTH)
    .map((cause) => plain(cause, depth + 1, seen));
  return {
    name: error.name,
    message: error.message,
    ...(depth === 0 || isOurs(error) ? { category: categoryOf(error) } : {}),
    ...codesOf(error),
    ...(isAgentError(error) ? { blocked: error.blocked } : {}),
    ...(typeof error.stack === 'string' ? { stack: error.stack } : {}),
    ...detailsOf(error),
    ...(isAgentError(error) && error.screenshot !== undefined
      ? { screenshot: error.screenshot }
      : {}),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

/** The code of an error of ours, and what Node calls `code` and the protocol `errno`. */
function codesOf(error: Error): { code?: string; errno?: string } {
  const { code, errno } = error as { readonly code?: unknown; readonly errno?: unknown };
  if (!isOurs(error)) return typeof code === 'string' ? { errno: code } : {};
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof errno === 'string' ? { errno } : {}),
  };
}

function detailsOf(error: Error): { details?: JsonObject } {
  if (!isRunnerError(error) || error.details === undefined) return {};
  return findJsonIssue(error.details, { name: '' }) === undefined ? { details: error.details } : {};
}

function causesOf(error: Error): readonly unknown[] {
  const collected = collectedErrors(error);
  return error.cause === undefined ? collected : [error.cause, ...collected];
}

function isOurs(error: unknown): boolean {
  return isEngineError(error) || isRunnerError(error) || isAgentError(error);
}

/** An error that says what the info says, of the same class when it is one of ours. */
function rebuild(info: ErrorInfo): Error {
  const [first] = info.causes ?? [];
  const copy = sameKind(info, first === undefined ? {} : { cause: rebuild(first) });
  Object.defineProperty(copy, 'name', { value: info.name, configurable: true, writable: true });
  if (info.stack !== undefined) copy.stack = info.stack;
  return info.errno === undefined ? copy : Object.assign(copy, { errno: info.errno });
}

function sameKind(info: ErrorInfo, options: { readonly cause?: unknown }): Error {
  const { name, code, message, blocked, screenshot, details } = info;
  if (name === 'EngineError' && isEngineErrorCode(code)) {
    return new EngineError(code, message, options);
  }
  if (name === 'AgentError' && isAgentErrorCode(code)) {
    return new AgentError(code, message, {
      ...options,
      ...(blocked === undefined ? {} : { blocked }),
      ...(screenshot === undefined ? {} : { screenshot }),
    });
  }
  if (code !== undefined && findCode(code)?.owners.includes('runner') === true) {
    return runnerError(code as ErrorCode, message, {
      ...options,
      ...(details === undefined ? {} : { details }),
    });
  }
  return Object.assign(new Error(message, options), code === undefined ? {} : { code });
}
