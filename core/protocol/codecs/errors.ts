// Errors across the wire. An engine's failure keeps what the harness classifies by (type, code,
// retryable, category); everything else is an infrastructure failure with its message. Decoding goes
// through the constructors, so that an impossible retryable claim dies here as it does in process.
// Stack, errno and causes travel for reports, bounded, because an error must never be what fails.
import { type JsonObject, findJsonIssue, isPlainObject } from '../../base/json.ts';
import { anything, number, object, text, type Shape } from '../../base/shape.ts';
import { cutUtf8, toWellFormed } from '../../base/text.ts';
import { ERROR_CATEGORIES, type ErrorCategory, findCode } from '../../contract/codes.ts';
import {
  EngineError,
  isAgentError,
  isEngineError,
  isRunnerError,
  runnerErrorOf,
} from '../../contract/errors.ts';
import { JSON_RPC, type RpcErrorObject } from '../messages.ts';

export const WIRE_ERROR_SHAPE: Shape = object({
  required: { code: number({ integer: true }), message: text() },
  optional: { data: anything },
});

/** Longest chain of causes that crosses; what lies deeper is left out. */
export const CAUSE_LIMIT = 8;
/** Longest message and stack, in UTF-8 bytes. */
const MESSAGE_LIMIT = 64 * 1024;
const STACK_LIMIT = 16 * 1024;

/** Encodes anything thrown. Never throws itself. */
export function encodeError(thrown: unknown): RpcErrorObject {
  return encodeLink(thrown, 0, new Set());
}

/** Whether an error is one of ours, of any copy of this package. */
export function isOwnError(error: unknown): boolean {
  return isEngineError(error) || isRunnerError(error) || isAgentError(error);
}

function encodeLink(thrown: unknown, depth: number, seen: Set<unknown>): RpcErrorObject {
  seen.add(thrown);
  const message = cutUtf8(toWellFormed(messageOf(thrown)), MESSAGE_LIMIT);
  const data: Record<string, unknown> = classify(thrown);
  const own = data['type'] !== undefined;
  const stack = read(thrown, 'stack');
  if (typeof stack === 'string') data['stack'] = cutUtf8(toWellFormed(stack), STACK_LIMIT);
  const errno = errnoOf(thrown, own);
  if (errno !== undefined) data['errno'] = errno;
  const cause = read(thrown, 'cause');
  if (cause !== undefined && cause !== null && depth < CAUSE_LIMIT && !seen.has(cause)) {
    data['cause'] = encodeLink(cause, depth + 1, seen);
  }
  return {
    code: own ? JSON_RPC.engineError : JSON_RPC.internalError,
    message,
    ...(Object.keys(data).length > 0 && { data }),
  };
}

function classify(thrown: unknown): Record<string, unknown> {
  if (isEngineError(thrown)) {
    // Read from another copy's error, whose constructor may know other rules: construct again.
    const { code, retryable } = new EngineError(thrown.code, '', { retryable: thrown.retryable });
    return { type: 'engine', code, retryable };
  }
  if (isRunnerError(thrown) || isAgentError(thrown)) {
    const details = read(thrown, 'details');
    return {
      type: 'e2e',
      category: thrown.category,
      code: thrown.code,
      retryable: thrown.retryable === true,
      ...(isPlainObject(details) && isJson(details) && { details }),
    };
  }
  return {};
}

/** Decodes an error object as it was thrown; never throws, whatever a server sent. */
export function decodeError(wire: unknown): Error {
  return decodeLink(wire, 0);
}

/**
 * Decodes the answer of a failed method. As `decodeError`, but what the harness could not classify
 * (a plain error, a code that no table knows) is an `ENGINE_FAILURE`, with what came as its cause.
 */
export function decodeFailure(wire: unknown): Error {
  const error = decodeError(wire);
  if (isEngineError(error)) return error;
  if (isRunnerError(error) && findCode(error.code) !== undefined) return error;
  return new EngineError('ENGINE_FAILURE', error.message, { cause: error });
}

function decodeLink(wire: unknown, depth: number): Error {
  const object = (typeof wire === 'object' && wire !== null ? wire : {}) as Record<string, unknown>;
  const message =
    typeof object['message'] === 'string'
      ? cutUtf8(object['message'], MESSAGE_LIMIT)
      : 'The other side failed without a message.';
  const data = isPlainObject(object['data']) ? object['data'] : {};
  const cause =
    isPlainObject(data['cause']) && depth < CAUSE_LIMIT
      ? { cause: decodeLink(data['cause'], depth + 1) }
      : {};
  const error = construct(object['code'] === JSON_RPC.engineError ? data : {}, message, cause);
  if (typeof data['stack'] === 'string') {
    define(error, 'stack', cutUtf8(data['stack'], STACK_LIMIT));
  }
  if (typeof data['errno'] === 'string' && ERRNO.test(data['errno'])) {
    define(error, 'errno', data['errno']);
    if (!('code' in error)) define(error, 'code', data['errno']);
  }
  return error;
}

function construct(
  data: Readonly<Record<string, unknown>>,
  message: string,
  cause: { readonly cause?: unknown },
): Error {
  const { type, code, category } = data;
  const retryable = data['retryable'] === true;
  if (typeof code !== 'string') return new Error(message, cause);
  if (type === 'engine') {
    return new EngineError(code as EngineError['code'], message, { retryable, ...cause });
  }
  if (type !== 'e2e' || !isCategory(category)) return new Error(message, cause);
  const details = isPlainObject(data['details']) ? { details: data['details'] as JsonObject } : {};
  return runnerErrorOf(category, code, message, { retryable, ...details, ...cause });
}

const ERRNO = /^[A-Z][A-Z0-9_]{1,63}$/u;

function errnoOf(thrown: unknown, own: boolean): string | undefined {
  for (const key of own ? ['errno'] : ['errno', 'code']) {
    const value = read(thrown, key);
    if (typeof value === 'string' && ERRNO.test(value)) return value;
  }
  return undefined;
}

function messageOf(thrown: unknown): string {
  const message = read(thrown, 'message');
  if (typeof message === 'string') return message;
  if (typeof thrown === 'string') return thrown;
  return `The engine threw ${thrown === null ? 'null' : `a value of type ${typeof thrown}`}.`;
}

/** A thrown object may have getters that throw. */
function read(thrown: unknown, key: string): unknown {
  try {
    return (thrown as Record<string, unknown> | null | undefined)?.[key];
  } catch {
    return undefined;
  }
}

function define(error: Error, key: string, value: string): void {
  Object.defineProperty(error, key, {
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}

function isJson(value: unknown): boolean {
  return findJsonIssue(value, { name: 'details', maxDepth: 32 }) === undefined;
}

function isCategory(value: unknown): value is ErrorCategory {
  return (ERROR_CATEGORIES as readonly unknown[]).includes(value);
}
