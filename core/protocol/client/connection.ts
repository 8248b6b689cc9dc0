// One connection at the client: opening it with the handshake, calling engine methods on it, keeping
// watch over its life, and closing it. A call ends as soon as its own signal aborts or the
// connection is lost. Nothing is ever sent twice: who calls again decides that.
import { systemClock, type Clock } from '../../base/clock.ts';
import { createDeadline, race } from '../../base/deadline.ts';
import type { JsonValue } from '../../base/json.ts';
import { cutEnd } from '../../base/text.ts';
import { messageOf } from '../../base/thrown.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../base/version.ts';
import { EngineError } from '../../contract/errors.ts';
import { decodeKind, decodeParams, encodeParams, namedArguments } from '../codecs/params.ts';
import { createSignalSender, type SignalSender } from '../codecs/signals.ts';
import { isRpcError } from '../messages.ts';
import {
  ENGINE_METHODS,
  PROTOCOL_MESSAGES,
  PROTOCOL_VERSION,
  type EngineMethod,
  type ParamKinds,
} from '../methods.ts';
import { createPeer, type Peer } from '../peer.ts';
import type {
  EngineTransport,
  TransportConnection,
  TransportContext,
} from '../transports/types.ts';
import type { DeriveSecret } from './attempts.ts';
import { badArgument, createFailures, type Failures } from './failures.ts';
import { watchLife, type LivenessOptions } from './liveness.ts';

/** Identifies this client in `initialize`. */
const CLIENT_INFO = Object.freeze({ name: PACKAGE_NAME, version: PACKAGE_VERSION });

/** What the server may send while the connection lives. */
export interface ServerMessages {
  /** Answers a request of the server; throws a `RpcError` for one it does not know. */
  request(method: string, params: unknown, connection: ClientConnection): Promise<unknown>;
  notification(method: string, params: unknown): void;
}

export interface ConnectOptions {
  readonly transport: EngineTransport;
  readonly context: TransportContext;
  readonly initializationOptions?: JsonValue | undefined;
  readonly messages: ServerMessages;
  /** Throws when the server is not the one that was declared. */
  readonly checkManifest: (manifest: unknown) => void;
  /** Names the engine in errors. */
  readonly subject: string;
  readonly clock?: Clock | undefined;
  readonly liveness?: LivenessOptions | undefined;
}

export type LossListener = (error: Error) => void;

export interface ClientConnection {
  readonly signals: SignalSender;
  /** Resolves as the method does; rejects as the engine did, or at once when its signal aborts. */
  call(method: EngineMethod, args: readonly unknown[]): Promise<unknown>;
  /** Asks for the forms that the engine derives from a secret. */
  readonly deriveSecret: DeriveSecret;
  /** Stops waiting for late answers of an attempt that has ended. */
  forgetAborted(): void;
  /** Whether the connection is gone without having been closed from here. */
  readonly lost: boolean;
  /** Calls back when it is lost, at once if it is already; answers the removal. */
  onLost(listener: LossListener): () => void;
  /** Says goodbye if anybody listens, and releases the transport within `timeoutMs`. Idempotent. */
  close(timeoutMs: number): Promise<void>;
}

/** How long a transport may take to let go of a server that never became one, ms. */
const RELEASE_MS = 2000;
/** Longest wait for the answer to `shutdown`, ms. */
const GOODBYE_MS = 5000;
/**
 * How long a server that printed something else than the protocol may take to answer `initialize`
 * after all, ms. A banner is forgiven; a program that is no engine should not cost a whole launch.
 */
const BANNER_MS = 20_000;

/** Opens a connection. Rejects with `ENGINE_FAILURE`; leaves nothing open then. */
export async function openConnection(options: ConnectOptions): Promise<ClientConnection> {
  const { transport, context } = options;
  const { signal } = context;
  const subject = `${options.subject} (${transport.label})`;
  const opening = Promise.resolve().then(() => transport.open(context));
  let streams: TransportConnection;
  try {
    streams = await race(opening, signal);
  } catch (error) {
    // Too late for us, but it must not stay open.
    void opening.then((late) => late.close(RELEASE_MS)).catch(() => undefined);
    const how = signal.aborted
      ? 'was not reached in time.'
      : `cannot be reached: ${messageOf(error)}`;
    throw new EngineError('ENGINE_FAILURE', `${subject} ${how}`, { cause: error });
  }
  const failures = createFailures(subject, () => streams.diagnostics?.());
  const connection = new Connection(options, streams, failures);
  try {
    await connection.handshake(signal);
    return connection;
  } catch (error) {
    const released = connection.release(RELEASE_MS).catch(() => undefined);
    // Its last words come with its end; a caller whose time is up does not wait for them.
    if (!signal.aborted) await released;
    throw failures.ofHandshake(error, signal);
  }
}

class Connection implements ClientConnection {
  readonly signals: SignalSender;
  readonly #options: ConnectOptions;
  readonly #streams: TransportConnection;
  readonly #failures: Failures;
  readonly #clock: Clock;
  readonly #peer: Peer;
  #stopWatch: () => void = () => undefined;
  /** Restarts the patience with a banner; only during the handshake. */
  #onComplaint: (() => void) | undefined;
  #loss: Error | undefined;
  readonly #onLoss = new Set<LossListener>();
  #goodbye = false;
  #released: Promise<void> | undefined;

  constructor(options: ConnectOptions, streams: TransportConnection, failures: Failures) {
    const { transport, messages, clock = systemClock } = options;
    this.#options = options;
    this.#streams = streams;
    this.#failures = failures;
    this.#clock = clock;
    this.#peer = createPeer({
      streams,
      label: transport.label,
      clock,
      onRequest: (method, params) =>
        method === '$/ping' ? null : messages.request(method, params, this),
      onNotification: (method, params) => messages.notification(method, params),
      onError: (error) => {
        failures.hear(error);
        this.#onComplaint?.();
      },
    });
    this.signals = createSignalSender((id, reason) => {
      this.#peer.notify('$/abort', { id, reason });
    });
    void this.#peer.closed.then(({ detail }) => {
      this.#stopWatch();
      this.signals.close();
      if (!this.#goodbye) this.#tellLoss(failures.ofLoss(detail));
      this.#onLoss.clear();
    });
  }

  get lost(): boolean {
    return this.#loss !== undefined;
  }

  onLost(listener: LossListener): () => void {
    // Wrapped, so that one function may listen twice.
    const entry: LossListener = (error) => listener(error);
    if (this.#loss === undefined) this.#onLoss.add(entry);
    else listener(this.#loss);
    return () => {
      this.#onLoss.delete(entry);
    };
  }

  #tellLoss(loss: Error): void {
    this.#loss = loss;
    for (const listener of this.#onLoss) {
      try {
        listener(loss);
      } catch (error) {
        // A listener's own failure must not keep the others from hearing.
        this.#failures.hear(error as Error);
      }
    }
  }

  async handshake(signal: AbortSignal): Promise<void> {
    const { context, initializationOptions } = this.#options;
    const params = {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: CLIENT_INFO,
      role: context.role,
      initializationOptions,
    };
    let cancelPatience: () => void = () => undefined;
    this.#onComplaint = () => {
      cancelPatience();
      cancelPatience = this.#clock.setTimer(BANNER_MS, () =>
        this.#giveUp(
          `it printed something else than the engine protocol, and no answer within ${BANNER_MS} ms`,
        ),
      );
    };
    let answer: unknown;
    try {
      answer = await this.#peer.request('initialize', params, { signal });
    } finally {
      this.#onComplaint = undefined;
      cancelPatience();
    }
    const { protocolVersion, manifest } = (answer ?? {}) as Readonly<Record<string, unknown>>;
    if (protocolVersion !== PROTOCOL_VERSION) {
      throw new EngineError(
        'ENGINE_FAILURE',
        `${this.#failures.subject} speaks protocol version ${show(protocolVersion)}, this client speaks ${PROTOCOL_VERSION}.`,
      );
    }
    this.#options.checkManifest(manifest);
    this.#peer.notify('initialized', {});
    this.#stopWatch = watchLife({
      peer: this.#peer,
      clock: this.#clock,
      ...this.#options.liveness,
      onSilence: (problem) => this.#giveUp(problem),
    });
  }

  async call(method: EngineMethod, args: readonly unknown[]): Promise<unknown> {
    const row = ENGINE_METHODS[method];
    const values = namedArguments(row, args);
    const { signal } = (values['operation'] ?? values) as { readonly signal?: AbortSignal };
    // Cleanup is always asked for; anything else that nobody waits for must not begin.
    if (signal?.aborted === true && row.time !== 'cleanup') throw signal.reason;
    let params: unknown;
    try {
      params = encodeParams(row.params, values, this.signals);
    } catch (error) {
      throw badArgument(method, error);
    }
    const over = signal?.aborted === true;
    const asked = this.#peer.request(method, params, over ? {} : { signal });
    try {
      return decodeKind(row.result, await (over ? race(asked, signal) : asked), 'result');
    } catch (error) {
      if (signal?.aborted === true && error === signal.reason) throw error;
      throw this.#failures.ofCall(method, error);
    }
  }

  readonly deriveSecret: DeriveSecret = async (derivation, plaintext) => {
    const method = 'attempt/deriveSecret';
    const { params, result } = PROTOCOL_MESSAGES[method];
    try {
      const asked = encodeParams(params, { derivation, plaintext });
      const answer = await this.#peer.request(method, asked);
      const { values } = decodeParams(result as ParamKinds, answer, {}, 'result');
      return values as readonly string[];
    } catch (error) {
      throw this.#failures.ofCall(method, error);
    }
  };

  forgetAborted(): void {
    this.#peer.forgetAborted();
  }

  close(timeoutMs: number): Promise<void> {
    return this.release(timeoutMs, () => this.#sayGoodbye(timeoutMs));
  }

  /** Lets go of the transport, after `first`, all within `timeoutMs`. */
  release(timeoutMs: number, first?: () => Promise<void>): Promise<void> {
    this.#released ??= (async () => {
      const start = this.#clock.now();
      await first?.();
      this.#goodbye = true;
      const flushed = this.#peer.close('the client closed the connection');
      await this.#streams.close(Math.max(0, timeoutMs - (this.#clock.now() - start)));
      await flushed;
    })();
    return this.#released;
  }

  /** `shutdown` and `exit`, in at most half of the time: the transport needs the rest. */
  async #sayGoodbye(timeoutMs: number): Promise<void> {
    if (this.lost) return;
    const ms = Math.min(GOODBYE_MS, timeoutMs / 2);
    const deadline = createDeadline({ clock: this.#clock, ms });
    try {
      await this.#peer.request('shutdown', undefined, { signal: deadline.signal });
    } catch (error) {
      // Nobody answers: the end of the streams is all that is left to say.
      if (!isRpcError(error)) return;
    } finally {
      deadline.dispose();
    }
    // After shutdown signals stay as they are.
    this.signals.close();
    this.#peer.notify('exit');
  }

  #giveUp(problem: string): void {
    this.#failures.giveUp(problem);
    void this.#peer.close(problem);
  }
}

function show(value: unknown): string {
  return value === undefined ? 'none' : cutEnd(JSON.stringify(value), 100);
}
