// The typed errors of a connection: it is gone, a cap was met, a message was malformed. Recognised
// by a marker, since two copies of this package may meet in one process.
import { isRpcError, JSON_RPC, type MessageId, type RpcErrorObject } from './messages.ts';

const PEER_ERROR: symbol = Symbol.for('enginewright.peer-error');
type PeerErrorKind = 'closed' | 'limit' | 'message';

function mark(error: Error, kind: PeerErrorKind): void {
  Object.defineProperty(error, PEER_ERROR, { value: kind });
}
function kindOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null
    ? (error as Record<symbol, unknown>)[PEER_ERROR]
    : undefined;
}

/**
 * How a connection ended. `local`: this side closed it. `remote`: the other side ended its stream
 * between two packets. `failed`: a stream failed, a packet was cut off, or a cap was broken.
 */
export interface PeerClosure {
  readonly reason: 'local' | 'remote' | 'failed';
  /** What happened, as the end of a sentence. */
  readonly detail: string;
  readonly error?: Error;
}

/** A call that can have no answer, since its connection is gone. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError';
  readonly method: string;
  readonly closure: PeerClosure;
  constructor(method: string, closure: PeerClosure) {
    super(
      `${method} has no answer: ${closure.detail}.`,
      closure.error === undefined ? undefined : { cause: closure.error },
    );
    mark(this, 'closed');
    this.method = method;
    this.closure = closure;
  }
}

/** The caps of a peer, by name. */
export type PeerCap = 'maxMessageBytes' | 'maxInboundRequests' | 'maxQueuedBytes';

/** A cap was met. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly cap: PeerCap;
  readonly limit: number;
  constructor(cap: PeerCap, limit: number, subject: string) {
    super(`${subject} is over the limit of ${limit} (${cap}).`);
    mark(this, 'limit');
    this.cap = cap;
    this.limit = limit;
  }
}

export interface MessageErrorOptions {
  /** A code of JSON-RPC. */
  readonly code: number;
  readonly id: MessageId;
  /** The message's beginning, for whoever debugs the other side. */
  readonly excerpt: string;
}

/** The other side sent a message that JSON-RPC does not allow. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
  readonly code: number;
  readonly id: MessageId;
  readonly excerpt: string;
  constructor(message: string, options: MessageErrorOptions) {
    super(options.excerpt === '' ? message : `${message} It begins with ${options.excerpt}`);
    mark(this, 'message');
    this.code = options.code;
    this.id = options.id;
    this.excerpt = options.excerpt;
  }
}

/** Recognises a ConnectionClosedError, also one of another copy of this package. */
export function isConnectionClosedError(error: unknown): error is ConnectionClosedError {
  return kindOf(error) === 'closed';
}
/** Recognises a LimitError, also one of another copy of this package. */
export function isLimitError(error: unknown): error is LimitError {
  return kindOf(error) === 'limit';
}
/** Recognises a MessageError, also one of another copy of this package. */
export function isMessageError(error: unknown): error is MessageError {
  return kindOf(error) === 'message';
}

/** What crosses for a thrown value: an RpcError as it is, of anything else the message alone. */
export function toErrorObject(thrown: unknown): RpcErrorObject {
  if (!isRpcError(thrown))
    return { code: JSON_RPC.internalError, message: asError(thrown).message };
  const { code, message, data } = thrown;
  const safe = Number.isSafeInteger(code) ? code : JSON_RPC.internalError;
  return { code: safe, message, ...(data !== undefined && { data }) };
}

/** A thrown value as an error. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown));
  } catch {
    return new Error('A value was thrown that cannot be shown.');
  }
}
