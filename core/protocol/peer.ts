// One end of a JSON-RPC connection: ids, calls that wait for an answer, dispatch, backpressure and
// closing. It knows no engine. Messages are dispatched straight out of `data`, in the order they
// came and in slices of a few ms, so that a burst cannot stall the loop. Reading is held back by
// counting what is owed and queued, only while no own call waits for an answer, and never for long:
// two peers that wait for each other to read must not wait for ever.
import { systemClock, type Clock } from '../base/clock.ts';
import { MAX_HEADER_BYTES, MAX_MESSAGE_BYTES } from './framing.ts';
import {
  JSON_RPC,
  readMessage,
  RpcError,
  type BodyRange,
  type InvalidMessage,
  type MessageId,
  type OutgoingMessage,
  type RpcErrorObject,
} from './messages.ts';
import { Calls } from './peer-calls.ts';
import {
  asError,
  ConnectionClosedError,
  LimitError,
  MessageError,
  toErrorObject,
  type PeerClosure,
} from './peer-errors.ts';
import { InputReader } from './peer-input.ts';
import { Outbox } from './peer-output.ts';
import type { Peer, PeerOptions } from './peer-types.ts';

export {
  isConnectionClosedError,
  isLimitError,
  isMessageError,
  type PeerClosure,
} from './peer-errors.ts';

export type { Peer, PeerCaps, PeerOptions } from './peer-types.ts';

/** Takes over two streams: it reads the one at once and ends the other when it closes. */
export function createPeer(options: PeerOptions): Peer {
  return new JsonRpcPeer(options);
}

const MAX_INBOUND_REQUESTS = 4096;
const MAX_QUEUED_BYTES = 128 * 1024 * 1024;
/** Open requests, and queued bytes, from which on reading is held back. */
const HOLD_REQUESTS = 1024;
const HOLD_BYTES = 4 * 1024 * 1024;
/** How long the input may still be read once the output is dead, ms. */
const LAST_WORDS_MS = 1000;

class JsonRpcPeer implements Peer {
  readonly closed: Promise<PeerClosure>;
  readonly #options: PeerOptions;
  readonly #label: string;
  readonly #clock: Clock;
  readonly #maxInboundRequests: number;
  readonly #calls = new Calls();
  readonly #outbox: Outbox;
  readonly #input: InputReader;
  readonly #resolveClosed: (closure: PeerClosure) => void;
  #openRequests = 0;
  #closure: PeerClosure | undefined;
  #cancelLastWords: (() => void) | undefined;

  constructor(options: PeerOptions) {
    const { streams, caps = {}, clock = systemClock } = options;
    const maxMessageBytes = caps.maxMessageBytes ?? MAX_MESSAGE_BYTES;
    this.#options = options;
    this.#label = options.label ?? 'the other side';
    this.#clock = clock;
    this.#maxInboundRequests = caps.maxInboundRequests ?? MAX_INBOUND_REQUESTS;
    let resolveClosed: ((closure: PeerClosure) => void) | undefined;
    this.closed = new Promise((resolve) => {
      resolveClosed = resolve;
    });
    this.#resolveClosed = (closure) => resolveClosed?.(closure);
    this.#outbox = new Outbox({
      output: streams.output,
      clock,
      label: this.#label,
      maxMessageBytes,
      maxQueuedBytes: caps.maxQueuedBytes ?? MAX_QUEUED_BYTES,
      onProgress: () => {
        this.#input.reconsider();
      },
      onDead: (closure) => {
        this.#outputDied(closure);
      },
    });
    this.#input = new InputReader({
      input: streams.input,
      clock,
      maxHeaderBytes: caps.maxHeaderBytes ?? MAX_HEADER_BYTES,
      maxMessageBytes,
      strict: options.strict === true,
      onPacket: (bytes, range) => {
        this.#dispatch(bytes, range);
      },
      onFramingError: (error) => {
        this.#complain(error);
        if (options.strict === true || error.code === 'truncated') this.#fail(error);
      },
      shouldHold: () => this.#shouldHold(),
      onEnd: (error) => {
        this.#inputEnded(error);
      },
    });
  }

  get pendingRequests(): number {
    return this.#calls.waiting;
  }
  get owedAnswers(): number {
    return this.#calls.owed;
  }
  get openRequests(): number {
    return this.#openRequests;
  }
  get lastInboundAt(): number {
    return this.#input.lastInboundAt;
  }

  forgetAborted(): void {
    this.#calls.forgetAborted();
  }

  request(
    method: string,
    params?: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<unknown> {
    const signal = options?.signal;
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const gone = this.#closure ?? this.#outbox.dead;
    if (gone !== undefined) return Promise.reject(new ConnectionClosedError(method, gone));
    const id = this.#calls.nextId();
    // Known before it is sent: over streams in memory the answer may be here before `send` returns.
    const answer = this.#calls.add(id, method, signal);
    const problem = this.#outbox.send({ jsonrpc: '2.0', id, method, params });
    if (problem !== undefined) this.#calls.settle(id, (call) => call.reject(problem));
    // An own call waits now: whoever has to answer it must be heard.
    this.#input.reconsider();
    return answer;
  }

  notify(method: string, params?: unknown): void {
    if (this.#closure !== undefined || this.#outbox.dead !== undefined) return;
    const problem = this.#outbox.send({ jsonrpc: '2.0', method, params });
    if (problem !== undefined) this.#undeliverable(problem);
  }

  close(reason?: string): Promise<void> {
    this.#finish({
      reason: 'local',
      detail: `the connection to ${this.#label} was closed${reason === undefined ? '' : `: ${reason}`}`,
    });
    return this.#outbox.end();
  }

  #dispatch(bytes: Buffer, range: BodyRange): void {
    const message = readMessage(bytes, range);
    switch (message.kind) {
      case 'result':
        if (!this.#calls.settle(message.id, (call) => call.resolve(message.result))) {
          this.#surprise(message.id);
        }
        return;
      case 'error':
        this.#receiveError(message.id, message.error);
        return;
      case 'notification':
        try {
          this.#options.onNotification(message.method, message.params);
        } catch (error) {
          this.#complain(asError(error));
        }
        return;
      case 'request':
        this.#receiveRequest(message.id, message.method, message.params);
        return;
      case 'invalid':
        this.#receiveInvalid(message);
        return;
    }
  }

  #receiveError(id: MessageId, error: RpcErrorObject): void {
    const { code, message, data } = error;
    if (this.#calls.settle(id, (call) => call.reject(new RpcError(code, message, data)))) return;
    if (id === null) {
      this.#complain(
        new MessageError(`${this.#label} could not read a message: ${message} (${code}).`, {
          code,
          id,
          excerpt: '',
        }),
      );
    } else {
      this.#surprise(id);
    }
  }

  #surprise(id: MessageId): void {
    this.#complain(
      new MessageError(`${this.#label} answered ${JSON.stringify(id)}, which nobody waits for.`, {
        code: JSON_RPC.invalidRequest,
        id,
        excerpt: '',
      }),
    );
  }

  #receiveInvalid(message: InvalidMessage): void {
    const { id, meant, error, excerpt } = message;
    const complaint = new MessageError(error.message, { code: error.code, id, excerpt });
    // A length counted in characters cuts a body short: what is left of it is the same mistake.
    if (error.code === JSON_RPC.parseError) this.#input.forgiveRest();
    this.#complain(complaint);
    if (meant !== 'request' && this.#calls.settle(id, (call) => call.reject(complaint))) return;
    if (meant !== 'answer') this.#answer({ jsonrpc: '2.0', id, error });
  }

  #receiveRequest(id: MessageId, method: string, params: unknown): void {
    if (this.#openRequests >= this.#maxInboundRequests) {
      const limit = this.#maxInboundRequests;
      const error = new LimitError('maxInboundRequests', limit, 'The number of open requests');
      this.#complain(error);
      this.#answerError(id, new RpcError(JSON_RPC.limitExceeded, error.message));
      return;
    }
    this.#openRequests += 1;
    let result: unknown;
    try {
      result = this.#options.onRequest(method, params, { id });
    } catch (error) {
      this.#settleRequest(() => this.#answerError(id, error));
      return;
    }
    if (!isThenable(result)) {
      this.#settleRequest(() => this.#answerResult(id, method, result));
      return;
    }
    // A native promise settles once, whatever a foreign thenable does.
    Promise.resolve(result).then(
      (value) => this.#settleRequest(() => this.#answerResult(id, method, value)),
      (error: unknown) => this.#settleRequest(() => this.#answerError(id, error)),
    );
  }

  #settleRequest(answer: () => void): void {
    this.#openRequests -= 1;
    answer();
    this.#input.reconsider();
    if (this.#closure !== undefined && this.#openRequests === 0) void this.#outbox.end();
  }

  #answerResult(id: MessageId, method: string, value: unknown): void {
    const result = value === undefined ? null : value;
    const problem = this.#answer({ jsonrpc: '2.0', id, result });
    if (problem === undefined) return;
    const message = `The result of ${method} cannot be sent: ${problem.message}`;
    this.#answer({ jsonrpc: '2.0', id, error: { code: JSON_RPC.internalError, message } });
  }

  #answerError(id: MessageId, thrown: unknown): void {
    const error = toErrorObject(thrown);
    const problem = this.#answer({ jsonrpc: '2.0', id, error });
    if (problem === undefined) return;
    const message = `${error.message.slice(0, 1000)} (its data cannot be sent: ${problem.message})`;
    this.#answer({ jsonrpc: '2.0', id, error: { code: error.code, message } });
  }

  /** Sends an answer, if anything can still be sent; answers why that one cannot. */
  #answer(message: OutgoingMessage): Error | undefined {
    if (this.#outbox.dead !== undefined || this.#outbox.ending) return undefined;
    const problem = this.#outbox.send(message);
    if (problem instanceof LimitError && problem.cap === 'maxQueuedBytes') {
      this.#undeliverable(problem);
      return undefined;
    }
    return problem;
  }

  /** A message that nobody can be told of: when the queue is full, the connection is lost. */
  #undeliverable(error: Error): void {
    this.#complain(error);
    if (error instanceof LimitError && error.cap === 'maxQueuedBytes') this.#fail(error);
  }

  #shouldHold(): boolean {
    return (
      this.#calls.waiting === 0 &&
      (this.#openRequests >= Math.min(HOLD_REQUESTS, this.#maxInboundRequests) ||
        this.#outbox.queuedBytes > HOLD_BYTES)
    );
  }

  #complain(error: Error): void {
    this.#options.onError?.(error);
  }

  #inputEnded(error: Error | undefined): void {
    const closure = this.#outbox.dead;
    if (error !== undefined) this.#fail(error);
    else if (closure?.error !== undefined) this.#finish(closure);
    else {
      this.#finish({ reason: 'remote', detail: `${this.#label} ended the connection` });
    }
  }

  /** Nothing can be sent any more; what the other side said before it went is still read. */
  #outputDied(closure: PeerClosure): void {
    if (this.#closure !== undefined) return;
    this.#cancelLastWords = this.#clock.setTimer(LAST_WORDS_MS, () => {
      this.#finish(closure);
    });
  }

  #fail(error: Error): void {
    const detail = `the connection to ${this.#label} failed: ${error.message.replace(/\.$/u, '')}`;
    this.#finish({ reason: 'failed', detail, error });
  }

  #finish(closure: PeerClosure): void {
    if (this.#closure !== undefined) return;
    this.#closure = closure;
    this.#cancelLastWords?.();
    this.#input.stop();
    this.#calls.rejectAll((method) => new ConnectionClosedError(method, closure));
    this.#resolveClosed(closure);
    // After the other side's end, open requests may still be answered: it may only have ended.
    if (closure.reason !== 'remote' || this.#openRequests === 0) void this.#outbox.end();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
