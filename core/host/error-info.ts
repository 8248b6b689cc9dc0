// Errors on their way out of the host: as plain JSON in events, and as thrown values. Neither may
// carry a secret, in its message, its stack or anywhere down its causes; an error without one
// passes as the same object, so that a caller can still compare it.
import type { Redactor } from '../agent/scope.ts';
import { findCode, type ErrorCategory, type ErrorCode } from '../contract/codes.ts';
import {
  categoryOf,
  isAgentError,
  isEngineError,
  isRunnerError,
  runnerError,
} from '../contract/errors.ts';

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
  readonly screenshot?: string;
  /** What caused it; several for a collected error. */
  readonly causes?: readonly ErrorInfo[];
}

/** Causes deeper than this are left out. */
const MAX_DEPTH = 8;

export function describeError(error: unknown, redactor: Redactor): ErrorInfo {
  return redactor.value(plain(error, 0, new Set()));
}

function plain(error: unknown, depth: number, seen: Set<unknown>): ErrorInfo {
  if (!(error instanceof Error) && !isOurs(error)) {
    return { name: typeof error, message: printable(error) };
  }
  seen.add(error);
  const { code, errno } = codesOf(error);
  const causes = causesOf(error)
    .filter((cause) => !seen.has(cause) && depth < MAX_DEPTH)
    .map((cause) => plain(cause, depth + 1, seen));
  return {
    name: error.name,
    message: error.message,
    ...(depth === 0 || isOurs(error) ? { category: categoryOf(error) } : {}),
    ...(code === undefined ? {} : { code }),
    ...(isAgentError(error) ? { blocked: error.blocked } : {}),
    ...(typeof error.stack === 'string' ? { stack: error.stack } : {}),
    ...(errno === undefined ? {} : { errno }),
    ...(isAgentError(error) && error.screenshot !== undefined
      ? { screenshot: error.screenshot }
      : {}),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

/** The code of an error of ours, or what Node calls `code` and the protocol `errno`. */
function codesOf(error: Error): { code?: string; errno?: string } {
  const { code, errno } = error as { readonly code?: unknown; readonly errno?: unknown };
  if (isOurs(error)) {
    return {
      ...(typeof code === 'string' ? { code } : {}),
      ...(typeof errno === 'string' ? { errno } : {}),
    };
  }
  return typeof code === 'string' ? { errno: code } : {};
}

function causesOf(error: Error): readonly unknown[] {
  const collected = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
  return error.cause === undefined ? collected : [error.cause, ...collected];
}

function isOurs(error: unknown): error is Error {
  return isEngineError(error) || isRunnerError(error) || isAgentError(error);
}

function printable(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** The error itself when it carries no secret, otherwise a plain copy that says the same without. */
export function redactCause(error: unknown, redactor: Redactor): unknown {
  if (redactor.size === 0) return error;
  const info = plain(error, 0, new Set());
  const clean = redactor.value(info);
  return JSON.stringify(clean) === JSON.stringify(info) ? error : rebuild(clean);
}

function rebuild(info: ErrorInfo): Error {
  const [first] = info.causes ?? [];
  const options = first === undefined ? {} : { cause: rebuild(first) };
  const row = info.code === undefined ? undefined : findCode(info.code);
  const copy =
    row?.owners.includes('runner') === true
      ? runnerError(info.code as ErrorCode, info.message, options)
      : new Error(info.message, options);
  Object.defineProperty(copy, 'name', { value: info.name, configurable: true, writable: true });
  if (info.stack !== undefined) copy.stack = info.stack;
  if (row === undefined && info.code !== undefined) Object.assign(copy, { code: info.code });
  return info.errno === undefined ? copy : Object.assign(copy, { errno: info.errno });
}
