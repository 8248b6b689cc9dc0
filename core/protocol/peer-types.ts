// What a peer takes and gives: the options, the caps, and the connection itself as its owner sees it.
import type { Clock } from '../base/clock.ts';
import type { MessageId } from './messages.ts';
import type { PeerClosure } from './peer-errors.ts';
import type { MessageStreams } from './transports/types.ts';

/** Limits of one connection. A breach is a typed error that names the cap. */
export interface PeerCaps {
  /** Longest header block that is read, in bytes; default 8192. */
  readonly maxHeaderBytes?: number;
  /** Longest body, read or sent, in bytes; default 64 MiB. */
  readonly maxMessageBytes?: number;
  /** Requests of the other side that are open at once; default 4096. One more is refused. */
  readonly maxInboundRequests?: number;
  /** Bytes that wait to be sent; default 128 MiB. */
  readonly maxQueuedBytes?: number;
}

export interface RequestContext {
  readonly id: MessageId;
}

export interface PeerOptions {
  readonly streams: MessageStreams;
  /**
   * Answers a request: with the result (`undefined` becomes `null`), or by throwing. An `RpcError`
   * crosses with its code and data, anything else as -32603 with its message.
   */
  onRequest(method: string, params: unknown, context: RequestContext): unknown;
  onNotification(method: string, params: unknown): void;
  /** Complaints about what came in, or could not be sent. The connection lives on. */
  onError?(error: Error): void;
  readonly caps?: PeerCaps;
  /** The first framing error closes the connection. Default false. */
  readonly strict?: boolean;
  /** Names the other side in errors; default `the other side`. */
  readonly label?: string;
  readonly clock?: Clock;
}

export interface Peer {
  /**
   * Asks the other side. Rejects with an `RpcError` for an error answer, a `ConnectionClosedError`
   * when the connection ends first, a `LimitError` beyond a cap, and the signal's reason as soon as
   * it aborts; its id is then kept for the late answer. Never throws synchronously.
   */
  request(
    method: string,
    params?: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<unknown>;
  /** Tells the other side. Never throws; nothing happens once the connection is closed. */
  notify(method: string, params?: unknown): void;
  /**
   * Ends the connection: what was queued is still sent, every waiting call rejects. Resolves when
   * the last byte has been taken over, the output is gone, or after 5 s. Idempotent.
   */
  close(reason?: string): Promise<void>;
  /** Resolves once, when the connection is over; never rejects. */
  readonly closed: Promise<PeerClosure>;
  /** Own calls that still wait. */
  readonly pendingRequests: number;
  /** Answers that the other side owes: own calls that wait, and those that were aborted. */
  readonly owedAnswers: number;
  /** Requests of the other side that are not answered yet. */
  readonly openRequests: number;
  /** When bytes last came in, on the clock; its creation before that. */
  readonly lastInboundAt: number;
  /** Stops waiting for the late answers of aborted calls. */
  forgetAborted(): void;
}
