// The sending half of a peer: which messages may leave, and when the stream is done. A message is
// queued whole or refused whole. A stream that failed is remembered as dead, and never written to
// again; stdout belongs to the process and is not ended.
import { Socket } from 'node:net';
import process from 'node:process';
import type { Writable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { PacketWriter } from './framing-writer.ts';
import { writeMessage, type OutgoingMessage } from './messages.ts';
import { LimitError, type PeerClosure } from './peer-errors.ts';

/** How long the end waits for the last write, ms. */
const FLUSH_MS = 5000;
const UTF8_MAX_BYTES = 3;
/**
 * `true` on a stream of one's own that wraps a pipe, a socket or a file: once a write has called
 * back, its bytes are looked at by nobody.
 */
export const DONE_AT_CALLBACK: symbol = Symbol.for('enginewright.done-at-callback');

export interface OutboxOptions {
  readonly output: Writable;
  readonly clock: Clock;
  /** Names the other side. */
  readonly label: string;
  readonly maxMessageBytes: number;
  readonly maxQueuedBytes: number;
  /** Less is queued than before. */
  onProgress(): void;
  /** The stream failed or was closed. Called at most once. */
  onDead(closure: PeerClosure): void;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #writer: PacketWriter;
  #dead: PeerClosure | undefined;
  #flushed: Promise<void> | undefined;
  #onFlushed: (() => void) | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    const { output } = options;
    const fail = (error?: Error): void => {
      this.#fail(error);
    };
    this.#writer = new PacketWriter({
      output,
      reuse: isDoneAtCallback(output),
      onProgress: () => {
        options.onProgress();
        this.#checkFlushed();
      },
      onFailure: fail,
    });
    // Stays for good: an error that comes late must not bring the process down.
    output.on('error', fail);
    output.once('close', () => {
      fail();
    });
  }

  /** Why nothing can be sent any more. */
  get dead(): PeerClosure | undefined {
    return this.#dead;
  }
  /** True once `end` was called. */
  get ending(): boolean {
    return this.#flushed !== undefined;
  }
  get queuedBytes(): number {
    return this.#writer.queuedBytes;
  }

  /** Queues a message, or answers why it cannot be sent. */
  send(message: OutgoingMessage): Error | undefined {
    const { params, method } = message;
    if (params !== undefined && (typeof params !== 'object' || params === null)) {
      return new TypeError(`The params of ${method} must be an object or an array.`);
    }
    const { text, problem } = writeMessage(message);
    if (text === undefined) {
      return new TypeError(method === undefined ? problem : `${method} cannot be sent: ${problem}`);
    }
    const { label, maxMessageBytes: max, maxQueuedBytes } = this.#options;
    if (text.length * UTF8_MAX_BYTES > max && Buffer.byteLength(text) > max) {
      const subject = method === undefined ? 'The message' : `The message of ${method}`;
      return new LimitError('maxMessageBytes', max, subject);
    }
    if (this.#writer.queuedBytes + text.length > maxQueuedBytes) {
      const subject = `What waits to be sent to ${label}, which does not read,`;
      return new LimitError('maxQueuedBytes', maxQueuedBytes, subject);
    }
    this.#writer.write(text);
    return undefined;
  }

  /**
   * Sends what is queued and ends the stream. Resolves when the last byte has been taken over, when
   * the stream is dead, or after 5 s. Idempotent.
   */
  end(): Promise<void> {
    if (this.#flushed !== undefined) return this.#flushed;
    const { output, clock } = this.#options;
    this.#writer.flush();
    this.#flushed = new Promise((resolve) => {
      const cancel = clock.setTimer(FLUSH_MS, resolve);
      this.#onFlushed = () => {
        cancel();
        resolve();
      };
    });
    if (!isStdout(output) && this.#dead === undefined) output.end();
    this.#checkFlushed();
    return this.#flushed;
  }

  #fail(error: Error | undefined): void {
    if (this.#dead !== undefined) return;
    const { label } = this.#options;
    const detail =
      error === undefined
        ? `the stream to ${label} was closed`
        : `the connection to ${label} failed: ${error.message}`;
    this.#dead = { reason: 'failed', detail, ...(error !== undefined && { error }) };
    this.#checkFlushed();
    this.#options.onDead(this.#dead);
  }

  #checkFlushed(): void {
    if (this.#dead !== undefined || this.#writer.queuedBytes === 0) this.#onFlushed?.();
  }
}

/** What ends in the system copies what it is given; another stream has to say so of itself. */
function isDoneAtCallback(output: Writable): boolean {
  return (
    output instanceof Socket ||
    (output as unknown as Record<symbol, unknown>)[DONE_AT_CALLBACK] === true
  );
}

/** Without touching `process.stdout` unless somebody has: its getter opens it. */
function isStdout(output: Writable): boolean {
  return (output as { fd?: unknown }).fd === 1 && output === process.stdout;
}
