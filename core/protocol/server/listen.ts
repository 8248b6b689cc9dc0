// `listenEngine`: an engine for whoever may have it, over TCP or TLS, for as long as the listener
// lives. The doorway has the sockets of strangers, admission decides who is let in, connection.ts
// serves; here they meet, each connection gets its one line in the log, and all end in order. An
// engine counts as taken until it has been put away, not only until its client is gone.
import type { AddressInfo } from 'node:net';
import type { EngineHandle } from '../../contract/engine.ts';
import { messageOf } from '../../base/thrown.ts';
import { sanitizeLine } from '../../base/text.ts';
import { hostAndPort } from '../../base/wire-warning.ts';
import { Admission, describeClient, type EngineConnection } from './admission.ts';
import { serveConnection, type ConnectionEnd, type ServedConnection } from './connection.ts';
import type { EngineClient } from './dispatch.ts';
import { Doorway, type Visitor } from './doorway.ts';
import {
  readListenOptions,
  type ListenEngineOptions,
  type ListenSettings,
} from './listen-options.ts';
import { howEnded, listenError, warnOfStrangers, whyRefused } from './listen-words.ts';
import { watchSilence } from './silence.ts';

/** A server that listens. */
export interface EngineListener {
  /** Where it listens; `host` is numeric. */
  readonly address: { readonly host: string; readonly port: number };
  /** Who is let in at the moment, in the order in which they came. */
  readonly connections: readonly EngineConnection[];
  /**
   * Lets nobody in any more. Connections that are in the middle of an attempt or a call may end it,
   * for at most `drainMs` (default 5000); all others end at once. Resolves when every engine has been
   * put away. Called again, the shorter time counts.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const DRAIN_MS = 5000;
/** How long a client that was refused may keep its connection, ms; and one that was served. */
const REFUSED_MS = 2000;
const LINGER_MS = 1000;

/**
 * Serves an engine to many clients: a handle to one after another, a function with an engine each.
 * Resolves when it listens. Rejects with `INVALID_CONFIG` for a wrong option, or an address that
 * cannot be listened on. A listener that other machines reach, and that is not encrypted or asks
 * nobody for a proof, emits the process warnings `ENGINEWRIGHT_PLAIN_TCP` and
 * `ENGINEWRIGHT_OPEN_SERVER`.
 */
export async function listenEngine(options: ListenEngineOptions): Promise<EngineListener> {
  const settings = readListenOptions(options);
  const { signal } = settings;
  signal?.throwIfAborted();
  const listener = new Listener(settings);
  await listener.open();
  if (signal?.aborted === true) {
    await listener.close({ drainMs: 0 });
    signal.throwIfAborted();
  }
  return listener;
}

/** A connection from its first message to the end of its engine. */
interface Guest {
  readonly visitor: Visitor;
  readonly served: ServedConnection;
  readonly at: number;
  /** Once it is let in. */
  connection: EngineConnection | undefined;
  refusal: string | undefined;
  /** How many of its messages could not be read or answered. */
  complaints: number;
  /** The first thing that went wrong in ending its engine. */
  failure: string | undefined;
  stopWatch: () => void;
}

class Listener implements EngineListener {
  readonly #settings: ListenSettings;
  readonly #admission: Admission;
  readonly #doorway: Doorway;
  readonly #guests = new Set<Guest>();
  readonly #ends = new Set<Promise<void>>();
  readonly #onAbort = (): void => {
    void this.close({ drainMs: 0 });
  };
  #address: EngineListener['address'] = { host: '', port: 0 };
  #draining = false;
  #closed: Promise<void> | undefined;
  #cancelDrain: () => void = () => undefined;
  #drainEnd = Infinity;

  constructor(settings: ListenSettings) {
    this.#settings = settings;
    const { maxConnections, token, clock, tls, helloTimeoutMs } = settings;
    this.#admission = new Admission({ maxConnections, token, clock });
    this.#doorway = new Doorway({
      tls,
      clock,
      helloTimeoutMs,
      onVisitor: (visitor) => {
        this.#receive(visitor);
      },
      onLeft: (address, why) => {
        this.#log(`${address} ${why}`);
      },
    });
  }

  get address(): EngineListener['address'] {
    return this.#address;
  }

  get connections(): readonly EngineConnection[] {
    return this.#admission.connections;
  }

  async open(): Promise<void> {
    const { host, port, signal } = this.#settings;
    const { server } = this.#doorway;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        reject(listenError(hostAndPort(host, port), error));
      });
      server.listen({ host, port }, resolve);
    });
    server.removeAllListeners('error');
    // Such as no file descriptors left: the connection that it is about is lost, the others live on.
    server.on('error', (error) => {
      this.#settings.onError(error);
    });
    const bound = server.address() as AddressInfo;
    this.#address = { host: bound.address, port: bound.port };
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    warnOfStrangers(this.#address, this.#settings);
  }

  close({ drainMs = DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    const { clock, signal } = this.#settings;
    this.#draining = true;
    this.#closed ??= (async () => {
      signal?.removeEventListener('abort', this.#onAbort);
      this.#admission.close();
      const closed = new Promise((resolve) => this.#doorway.server.close(resolve));
      this.#doorway.clear('was not let in: the server is shutting down');
      while (this.#ends.size > 0) await Promise.all(this.#ends);
      await closed;
      this.#cancelDrain();
    })();
    const end = clock.now() + drainMs;
    if (end < this.#drainEnd) {
      this.#drainEnd = end;
      this.#cancelDrain();
      if (drainMs > 0) this.#cancelDrain = clock.setTimer(drainMs, () => this.#stopAll(() => true));
    }
    this.#stopAll((guest) => drainMs <= 0 || !guest.served.busy);
    return this.#closed;
  }

  #stopAll(which: (guest: Guest) => boolean): void {
    for (const guest of this.#guests) {
      if (which(guest))
        guest.served.stop(new DOMException('The server is shutting down.', 'AbortError'));
    }
  }

  #receive(visitor: Visitor): void {
    const { clock, cleanupTimeoutMs, onError } = this.#settings;
    const guest: Guest = {
      visitor,
      at: clock.now(),
      connection: undefined,
      refusal: undefined,
      complaints: 0,
      failure: undefined,
      stopWatch: () => undefined,
      served: serveConnection({
        source: (initializationOptions, client) =>
          this.#letIn(guest, initializationOptions, client),
        streams: { input: visitor.socket, output: visitor.socket },
        local: false,
        clock,
        cleanupMs: cleanupTimeoutMs,
        ownRoleOnly: true,
        onComplaint: (error) => {
          guest.complaints += 1;
          onError(error);
        },
        onFailure: (error) => {
          guest.failure ??= sanitizeLine(messageOf(error), 200);
          onError(error);
        },
        onAnswered: () => {
          if (this.#draining && !guest.served.busy) this.#stopAll((other) => other === guest);
        },
      }),
    };
    this.#guests.add(guest);
    const end = this.#seeOut(guest).finally(() => this.#ends.delete(end));
    this.#ends.add(end);
  }

  /** The engine for somebody who asks, or the refusal. */
  async #letIn(
    guest: Guest,
    initializationOptions: unknown,
    client: EngineClient,
  ): Promise<EngineHandle> {
    const { visitor } = guest;
    const { engine, clock, silenceTimeoutMs } = this.#settings;
    try {
      const { address, certificate } = visitor;
      const { connection, engineOptions } = this.#admission.admit({
        address,
        certificate,
        client,
        initializationOptions,
      });
      guest.connection = connection;
      visitor.letIn();
      const handle = typeof engine === 'function' ? await engine(engineOptions, client) : engine;
      if (silenceTimeoutMs < Infinity) {
        guest.stopWatch = watchSilence({
          peer: guest.served.peer,
          clock,
          silenceMs: silenceTimeoutMs,
          onSilence: () =>
            visitor.drop(`vanished: nothing was heard of it for ${silenceTimeoutMs} ms`),
        });
      }
      return handle;
    } catch (error) {
      if (guest.connection === undefined) guest.refusal = whyRefused(error);
      else guest.failure = `its engine could not be made: ${sanitizeLine(messageOf(error), 200)}`;
      this.#free(guest);
      visitor.showOut(REFUSED_MS);
      throw error;
    }
  }

  #free(guest: Guest): void {
    if (guest.connection !== undefined) this.#admission.release(guest.connection);
  }

  /** Waits for the end of a connection and of its engine, and writes its line. */
  async #seeOut(guest: Guest): Promise<void> {
    const { visitor, served } = guest;
    const end = await served.done;
    guest.stopWatch();
    this.#free(guest);
    this.#guests.delete(guest);
    // What was written last must still be read: closing over unread bytes would reset the connection.
    visitor.showOut(LINGER_MS);
    await visitor.gone;
    this.#log(this.#describe(guest, end));
  }

  #describe(guest: Guest, end: ConnectionEnd): string {
    const { visitor, connection, complaints, failure } = guest;
    const seconds = ((this.#settings.clock.now() - guest.at) / 1000).toFixed(1);
    const how = visitor.dropped ?? guest.refusal ?? howEnded(end, guest.served.orderly);
    const who =
      connection === undefined
        ? visitor.address
        : `${describeClient(connection)} ${connection.role}`;
    return [
      `${who} ${how} after ${seconds} s`,
      ...(complaints === 0 ? [] : [`${complaints} malformed messages`]),
      ...(failure === undefined ? [] : [failure]),
    ].join('; ');
  }

  #log(line: string): void {
    const { clock, log, onError } = this.#settings;
    try {
      log(`${clock.iso()} ${line}`);
    } catch (error) {
      onError(error as Error);
    }
  }
}
