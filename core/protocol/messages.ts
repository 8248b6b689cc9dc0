// Packets <-> JSON-RPC 2.0 messages: what a body means, and the text of what we send. The one place
// that decides what is legal: everything legal is accepted, everything else becomes one `invalid`
// with the answer that JSON-RPC prescribes for it. There are no batches, as LSP has none.
// Failure is a value here: a hostile body must not unwind the reader of a connection.
import { isAscii, isUtf8 } from 'node:buffer';
import { findJsonIssue } from '../base/json.ts';
import { cutEnd } from '../base/text.ts';

/** Error codes of JSON-RPC 2.0, of LSP's base protocol, and our own. */
export const JSON_RPC = Object.freeze({
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** A failed engine method: `data` carries the error. */
  engineError: -32000,
  /** A request before `initialize`. */
  notInitialized: -32002,
  /** A request beyond a cap of the receiver; the message names the cap. */
  limitExceeded: -32005,
  /** `initialize` without the token that the server asks for. */
  unauthorized: -32004,
} as const);

/** An id that can be echoed exactly. `null` is legal in a request, if discouraged. */
export type MessageId = string | number | null;

/** JSON-RPC's error object. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

const RPC_ERROR: symbol = Symbol.for('enginewright.rpc-error');

/** An error response: what `Peer.request` rejects with, and what a request handler may throw. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    Object.defineProperty(this, RPC_ERROR, { value: true });
    this.code = code;
    this.data = data;
  }
}

/** Recognises an RpcError, also one of another copy of this package. */
export function isRpcError(error: unknown): error is RpcError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as Record<symbol, unknown>)[RPC_ERROR] === true
  );
}

/** The error for a method that nobody answers. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(
    JSON_RPC.methodNotFound,
    `Method ${JSON.stringify(cutEnd(method, 200))} is not answered here.`,
  );
}

/** One message as it came in. `params` is an object, an array, or `undefined`. */
export type IncomingMessage =
  | {
      readonly kind: 'request';
      readonly id: MessageId;
      readonly method: string;
      readonly params: unknown;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'result'; readonly id: MessageId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: MessageId; readonly error: RpcErrorObject }
  | InvalidMessage;

/** A body that is no message. */
export interface InvalidMessage {
  readonly kind: 'invalid';
  /** The id to answer with, or that of the call it was meant to answer; `null` when unknown. */
  readonly id: MessageId;
  /**
   * What it was meant to be. An answer is never answered. `either` has an id and nothing else: an
   * answer whose result was lost, if that id is being waited for.
   */
  readonly meant: 'request' | 'answer' | 'either';
  readonly error: RpcErrorObject;
  /** What somebody who debugs the other side wants to see. */
  readonly excerpt: string;
}

const ASCII_FROM_BYTES = 1024;
const EXCERPT_UNITS = 200;

/** The bytes `[start, end)` of a body. */
export interface BodyRange {
  readonly start: number;
  readonly end: number;
  /** Called as soon as the bytes are not needed any more, while there are no values yet. */
  readonly release?: () => void;
}

/** Reads a body. Never throws. */
export function readMessage(bytes: Buffer, { start, end, release }: BodyRange): IncomingMessage {
  const text = decodeText(bytes, start, end);
  if (text === undefined) {
    return invalid(JSON_RPC.parseError, 'The message is not valid UTF-8.', {
      excerpt: bytes.toString('latin1', start, Math.min(end, start + EXCERPT_UNITS)),
    });
  }
  release?.();
  let value: unknown;
  try {
    value = JSON.parse(text.includes('\\u') ? wellFormedEscapes(text) : text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return invalid(JSON_RPC.parseError, `The message is not JSON: ${cutEnd(problem, 300)}`, {
      excerpt: cutEnd(text, EXCERPT_UNITS),
    });
  }
  return classify(value, text);
}

function classify(value: unknown, text: string): IncomingMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = Array.isArray(value)
      ? 'The message is an array: batches are not supported, send one message per packet.'
      : `The message is ${value === null ? 'null' : `a ${typeof value}`}, not an object.`;
    return invalid(JSON_RPC.invalidRequest, what, { excerpt: cutEnd(text, EXCERPT_UNITS) });
  }
  // JSON.parse makes `__proto__` a member like any other, so nothing here is ever inherited from it.
  const message = value as LooseMessage;
  if (message.jsonrpc === '2.0') {
    const { id, method, params } = message;
    if (method === undefined) {
      if (isId(id) && (message.result !== undefined || message.error !== undefined)) {
        const answer = readAnswer(id, message);
        if (answer !== undefined) return answer;
      }
    } else if (typeof method === 'string' && (params === undefined || typeof params === 'object')) {
      // `null` stands for no params with many clients, though JSON-RPC has it absent.
      const given = params ?? undefined;
      if (id === undefined) return { kind: 'notification', method, params: given };
      if (isId(id)) return { kind: 'request', id, method, params: given };
    }
  }
  return refuse(message, text);
}

/** What may be in a message, before anything is known of it. */
interface LooseMessage {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

function readAnswer(id: MessageId, { result, error }: LooseMessage): IncomingMessage | undefined {
  const failed = error !== undefined && error !== null;
  if (result !== undefined) return failed ? undefined : { kind: 'result', id, result };
  return isErrorObject(error) ? { kind: 'error', id, error } : undefined;
}

/** Why an object is no message. */
function refuse(message: LooseMessage, text: string): InvalidMessage {
  const { id, method, jsonrpc, params, result, error } = message;
  const isAnswer = method === undefined && (result !== undefined || error !== undefined);
  const idProblem = id === undefined || isId(id) ? undefined : describeId(id);
  let meant: InvalidMessage['meant'] = isAnswer ? 'answer' : 'request';
  let problem: string;
  if (idProblem !== undefined) {
    problem = idProblem;
  } else if (method === undefined && !isAnswer) {
    meant = 'either';
    problem = 'The message has no method, and neither a result nor an error.';
  } else if (method !== undefined && typeof method !== 'string') {
    problem = 'The method is not a string.';
  } else if (jsonrpc !== '2.0') {
    problem =
      jsonrpc === undefined
        ? 'The message has no "jsonrpc": "2.0".'
        : `The message is of JSON-RPC ${cutEnd(JSON.stringify(jsonrpc), 50)}, not "2.0".`;
  } else if (!isAnswer) {
    const name = JSON.stringify(cutEnd(String(method), EXCERPT_UNITS));
    problem = `The params of ${name} are a ${typeof params}, not an object or an array.`;
  } else if (id === undefined) {
    problem = 'The answer has no id.';
  } else if (result !== undefined) {
    problem = 'The answer has both a result and an error.';
  } else {
    problem = 'The answer has an error without a numeric code and a message.';
  }
  return invalid(JSON_RPC.invalidRequest, problem, {
    excerpt: cutEnd(text, EXCERPT_UNITS),
    id: isId(id) ? id : null,
    meant,
  });
}

interface InvalidDetails {
  readonly excerpt: string;
  readonly id?: MessageId;
  readonly meant?: InvalidMessage['meant'];
}

function invalid(code: number, message: string, details: InvalidDetails): InvalidMessage {
  const { excerpt, id = null, meant = 'request' } = details;
  return { kind: 'invalid', id, meant, error: { code, message }, excerpt };
}

/** JSON.parse has rounded a number beyond 2^53-1: the answer would carry another id. */
function isId(id: unknown): id is MessageId {
  if (typeof id !== 'number') return typeof id === 'string' || id === null;
  return Number.isSafeInteger(id) || (Number.isFinite(id) && !Number.isInteger(id));
}

function describeId(id: unknown): string {
  if (typeof id === 'number') {
    return 'The id is a number beyond 2^53-1, which cannot be echoed exactly.';
  }
  return `The id is ${Array.isArray(id) ? 'an array' : `a ${typeof id}`}, not a string or a number.`;
}

function isErrorObject(error: unknown): error is RpcErrorObject {
  return (
    typeof error === 'object' &&
    error !== null &&
    typeof (error as { code?: unknown }).code === 'number' &&
    typeof (error as { message?: unknown }).message === 'string'
  );
}

/** The text of a body, or `undefined` when it is not UTF-8. */
function decodeText(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start >= ASCII_FROM_BYTES && isAscii(bytes.subarray(start, end))) {
    return bytes.toString('latin1', start, end);
  }
  const text = bytes.toString(undefined, start, end);
  // A replacement character is either sent as such, or stands for bytes that are no UTF-8.
  return text.includes('\ufffd') && !isUtf8(bytes.subarray(start, end)) ? undefined : text;
}

/** Escapes of lone surrogates become U+FFFD, so that no ill-formed string enters or leaves. */
function wellFormedEscapes(text: string): string {
  if (!/\\u[dD][89a-fA-F]/u.test(text)) return text;
  return text.replace(
    /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[^])/gu,
    (escape) => (escape.length === 6 ? '\ufffd' : escape),
  );
}

/** The text of a message, or why there is none. */
export type MessageText =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: string };

/** An outgoing message: a request, a notification, a result or an error. */
export interface OutgoingMessage {
  readonly jsonrpc: '2.0';
  readonly id?: MessageId;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: RpcErrorObject;
}

/**
 * The JSON text of a message. `undefined` members are left out; any other value that JSON cannot
 * hold is a `problem` that names its path, as are cycles and nesting too deep to write.
 */
export function writeMessage(message: OutgoingMessage): MessageText {
  try {
    if (!isPlainJson(message, 0)) return { problem: explain(message) };
    const text = JSON.stringify(message);
    // JSON.stringify escapes a lone surrogate, and never writes a pair as escapes.
    return { text: text.includes('\\ud') ? wellFormedEscapes(text) : text };
  } catch (error) {
    return { problem: explain(message, error) };
  }
}

const MAX_DEPTH = 1000;

// A walk without paths, an eighth of what JSON.stringify costs: it only says whether the thorough
// one has something to find. JSON.stringify itself would turn NaN into null and drop functions
// without a word. Strings come first and nothing is called for a leaf: it is most of what there is.
function isPlainJson(value: object, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (typeof item === 'string' || item === null) continue;
      if (item === undefined || !isPlainItem(item, depth)) return false;
    }
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    // A plain object of another realm has a prototype of its own, which has none.
    if (Object.getPrototypeOf(prototype) !== null) return false;
  }
  for (const key in value) {
    const item: unknown = (value as Record<string, unknown>)[key];
    if (typeof item === 'string' || item === undefined || item === null) continue;
    if (!isPlainItem(item, depth)) return false;
  }
  return true;
}

function isPlainItem(item: unknown, depth: number): boolean {
  // The difference is NaN for NaN and for both infinities.
  if (typeof item === 'number') return item - item === 0;
  if (typeof item === 'object') return isPlainJson(item as object, depth + 1);
  return typeof item === 'boolean';
}

function explain(message: OutgoingMessage, error?: unknown): string {
  const [name, value] =
    message.error === undefined
      ? message.method === undefined
        ? ['result', message.result]
        : ['params', message.params]
      : ['error.data', message.error.data];
  try {
    const issue = findJsonIssue(value, { name, maxDepth: MAX_DEPTH - 2, allowUndefined: true });
    if (issue !== undefined) return `${issue.path} ${issue.problem}`;
  } catch {
    // A getter or a trap threw: the error at hand says more than its repetition.
  }
  return `${name} cannot be written as JSON: ${error instanceof Error ? error.message : 'it changed while it was read'}`;
}
