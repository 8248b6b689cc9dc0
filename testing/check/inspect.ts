// What can be said of one message on its own: JSON-RPC's shape, the shape and the claims of an error,
// and `null` where a member should have been left out. Findings, not throws: they are gathered over
// all connections and reported by the rule that is about them.
import {
  ERROR_CATEGORIES,
  RETRYABLE_ENGINE_ERROR_CODES,
  isEngineErrorCode,
  isPlainObject,
} from '../../core/contract.ts';
import type { OffenceKind } from './types.ts';

export type Json = Record<string, unknown>;

export interface RpcFault {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** How a request was answered. */
export type Answer = { readonly result: unknown } | { readonly error: RpcFault };

export interface Offence {
  readonly kind: OffenceKind;
  readonly problem: string;
}

/** What is wrong with a message as JSON-RPC; undefined when it is one. */
export function messageProblem(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'a message is an object';
  if (value['jsonrpc'] !== '2.0') return 'a message has "jsonrpc": "2.0"';
  if (value['method'] !== undefined) {
    if (typeof value['method'] !== 'string') return 'a method is a string';
    if ('result' in value || 'error' in value) return 'a request has neither result nor error';
    const { params } = value;
    const named = params === undefined || isPlainObject(params);
    return named ? undefined : 'params are an object, or left out';
  }
  if ('result' in value === 'error' in value) return 'an answer has a result or an error';
  const { id } = value;
  if (typeof id !== 'string' && typeof id !== 'number' && id !== null) {
    return 'an answer has the id of its request';
  }
  if ('result' in value) return id === null ? 'a result has the id of its request' : undefined;
  return faultProblem(value['error']);
}

function faultProblem(error: unknown): string | undefined {
  if (!isPlainObject(error)) return 'an error is an object';
  if (!Number.isInteger(error['code'])) return 'an error has a whole number as its code';
  return typeof error['message'] === 'string' ? undefined : 'an error has a message';
}

/** What is wrong with an error's code and data, and what it claims without right. */
export function errorOffences(error: RpcFault): readonly Offence[] {
  const { code, data } = error;
  const bad = (problem: string): readonly Offence[] => [{ kind: 'error', problem }];
  if (data !== undefined && !isPlainObject(data) && code === -32_000) {
    return bad('data of an engine error is an object');
  }
  const { type, code: name, retryable, category, cause } = (data ?? {}) as Json;
  const deeper = code === -32_000 && cause !== undefined ? faultProblem(cause) : undefined;
  if (deeper !== undefined) return bad(`cause: ${deeper}`);
  if (code !== -32_000) return [];
  if (type !== 'engine' && type !== 'e2e') {
    return bad('an error -32000 says in data.type what was thrown, "engine" or "e2e"');
  }
  if (typeof retryable !== 'boolean') return bad('data.retryable is true or false');
  if (type === 'e2e') {
    if (typeof name !== 'string') return bad('data.code is a string');
    const known = (ERROR_CATEGORIES as readonly unknown[]).includes(category);
    return known ? [] : bad(`data.category is one of ${ERROR_CATEGORIES.join(', ')}`);
  }
  if (!isEngineErrorCode(name)) {
    return bad(`data.code is none of the engine's codes: ${JSON.stringify(name)}`);
  }
  if (!retryable || RETRYABLE_ENGINE_ERROR_CODES.includes(name)) return [];
  const allowed = RETRYABLE_ENGINE_ERROR_CODES.join(' and ');
  return [{ kind: 'retryable', problem: `${name} claims to be retryable; only ${allowed} may` }];
}

/** Results whose every member is described, so that a `null` in them stands for an absent one. */
const DESCRIBED = new Set([
  'initialize',
  'engine/observe',
  'engine/locate',
  'artifacts/screenshot',
  'artifacts/stopVideo',
  'lifecycle/prepare',
]);

export function describesResult(method: string): boolean {
  return DESCRIBED.has(method);
}

/** The path of the first `null` below `value`, such as `root.children[0].name`. */
export function findNull(value: unknown, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const here = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (member === null) return here;
    const found = findNull(member, here);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An error in one line. */
export function describe({ code, message, data }: RpcFault): string {
  const name: unknown = isPlainObject(data) ? data['code'] : undefined;
  const more = typeof name === 'string' ? `, ${name}` : '';
  return `${code}${more}, ${JSON.stringify(message.slice(0, 200))}`;
}
