// The sockets of a listener up to the point where somebody is let in: first byte, encryption, and the
// time and room that strangers get. Nothing here is answered for free: who says nothing, dawdles over
// the handshake or sends more than a greeting is dropped, and when too many wait, the one that has
// waited longest goes, so that strangers cannot keep others out.
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { hostAndPort, plainAddress } from '../../base/wire-warning.ts';
import { encodePacket } from '../framing-writer.ts';
import { JSON_RPC } from '../messages.ts';

/** Somebody at the door. */
export interface Visitor {
  /** `host:port`, as the log has it. */
  readonly address: string;
  /** What to speak over; encrypted where the listener is. */
  readonly socket: Socket;
  /** Resolves when the socket is closed. */
  readonly gone: Promise<void>;
  /** The common name of the client's certificate. */
  readonly certificate: string | undefined;
  /** It is one of us now: no limit of the doorway applies any more. */
  letIn(): void;
  /** It is to go, in at most so many ms. */
  showOut(ms: number): void;
  /** It is cut off at once; the first reason counts. */
  drop(why: string): void;
  /** Why it was dropped; finishes a sentence. */
  readonly dropped: string | undefined;
}

export interface DoorwayOptions {
  readonly tls: TlsOptions | undefined;
  readonly clock: Clock;
  /** From the first byte of TCP to being let in, ms. */
  readonly helloTimeoutMs: number;
  /** Somebody can be spoken to. */
  readonly onVisitor: (visitor: Visitor) => void;
  /** Somebody is gone who never got as far; `why` finishes a sentence. */
  readonly onLeft: (address: string, why: string) => void;
}

/** How many may wait to be let in. */
const MAX_WAITING = 64;
/** What may be sent before that, bytes: more than any greeting. */
const MAX_HELLO_BYTES = 1024 * 1024;
/** How long somebody who was refused may take to read why, ms. */
const PARTING_MS = 1000;
/** The first byte of a TLS connection. */
const TLS_HANDSHAKE = 0x16;
/** Quiet time before the system asks whether the other machine is there, ms. */
const KEEP_ALIVE_MS = 5000;

export class Doorway {
  readonly server: Server;
  readonly #options: DoorwayOptions;
  readonly #tls: ReturnType<typeof createTlsServer> | undefined;
  /** Not let in yet, in the order in which they came. */
  readonly #waiting = new Set<Arrival>();
  /** By address: how TLS says which connection it is about. */
  readonly #encrypting = new Map<string, Arrival>();

  constructor(options: DoorwayOptions) {
    this.#options = options;
    const settings = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    this.server = createTcpServer(
      // Who has said everything may still want the answers; TLS ends both ways at once.
      { ...settings, allowHalfOpen: options.tls === undefined },
      (socket) => {
        this.#arrive(socket);
      },
    );
    this.#tls = options.tls === undefined ? undefined : this.#tlsServer(options.tls);
  }

  /** Drops everybody who was not let in. */
  clear(why: string): void {
    for (const arrival of this.#waiting) arrival.drop(why);
  }

  #tlsServer(tls: TlsOptions): ReturnType<typeof createTlsServer> {
    const settings = { ...tls, handshakeTimeout: this.#options.helloTimeoutMs };
    const server = createTlsServer(settings, (socket) => {
      const arrival = this.#take(socket);
      // Gone in the meantime: so is its address.
      if (arrival === undefined) socket.destroy();
      else arrival.meet(socket);
    });
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      const refused = (socket.authorizationError as unknown as string | null) ?? undefined;
      const words = refused === undefined ? (error.code ?? error.message) : String(refused);
      this.#take(socket)?.drop(
        refused === undefined
          ? `TLS could not be set up (${words})`
          : `its certificate was refused (${words})`,
      );
    });
    return server;
  }

  #take(socket: TLSSocket): Arrival | undefined {
    const address = addressOf(socket);
    const arrival = this.#encrypting.get(address);
    this.#encrypting.delete(address);
    return arrival;
  }

  #arrive(socket: Socket): void {
    const { clock, helloTimeoutMs, onVisitor, onLeft } = this.#options;
    const arrival = new Arrival({
      socket,
      clock,
      ms: helloTimeoutMs,
      onFirstByte: (byte) => {
        this.#hear(arrival, byte);
      },
      onMet: onVisitor,
      onSettled: () => {
        this.#waiting.delete(arrival);
        if (this.#encrypting.get(arrival.address) === arrival) {
          this.#encrypting.delete(arrival.address);
        }
      },
      onLeft: (why) => {
        onLeft(arrival.address, why);
      },
    });
    this.#waiting.add(arrival);
    const [oldest] = this.#waiting;
    if (this.#waiting.size > MAX_WAITING) oldest?.drop('too many wait to be let in');
  }

  #hear(arrival: Arrival, byte: number): void {
    const encrypted = byte === TLS_HANDSHAKE;
    if (this.#tls === undefined) {
      if (encrypted) arrival.turnAway('speaks TLS, which this server does not', NO_TLS_HERE);
      else arrival.meet(arrival.raw);
    } else if (encrypted) {
      this.#encrypting.set(arrival.address, arrival);
      this.#tls.emit('connection', arrival.raw);
    } else arrival.turnAway('does not speak TLS', TLS_HERE);
  }
}

const NO_TLS_HERE =
  'This engine server does not speak TLS: use socketTransport, or serve with a certificate.';
const TLS_HERE =
  'This engine server speaks TLS only: use tlsTransport with its CA or its fingerprint.';

interface ArrivalOptions {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly ms: number;
  onFirstByte(byte: number): void;
  onMet(visitor: Visitor): void;
  /** Let in, or gone. */
  onSettled(): void;
  onLeft(why: string): void;
}

class Arrival implements Visitor {
  readonly address: string;
  readonly raw: Socket;
  readonly gone: Promise<void>;
  socket: Socket;
  dropped: string | undefined;
  readonly #options: ArrivalOptions;
  #met = false;
  #bytes = 0;
  #cancel: () => void;

  constructor(options: ArrivalOptions) {
    this.#options = options;
    const { socket, clock, ms } = options;
    this.raw = socket;
    this.socket = socket;
    this.address = addressOf(socket);
    this.#cancel = clock.setTimer(ms, () => {
      this.drop(`was not let in within ${ms} ms`);
    });
    socket.on('error', () => undefined);
    socket.once('readable', () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null || chunk.length === 0) {
        this.drop('left without a word');
        return;
      }
      socket.unshift(chunk);
      options.onFirstByte(chunk[0] ?? 0);
    });
    this.gone = new Promise((resolve) => {
      socket.once('close', () => {
        this.#cancel();
        options.onSettled();
        if (!this.#met) options.onLeft(this.dropped ?? 'left before it was let in');
        resolve();
      });
    });
  }

  get certificate(): string | undefined {
    const names = (this.socket as Partial<TLSSocket>).getPeerCertificate?.().subject?.CN as
      | string
      | string[]
      | undefined;
    return [names].flat()[0];
  }

  meet(socket: Socket): void {
    this.#met = true;
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', this.#count);
    this.#options.onMet(this);
  }

  readonly #count = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_HELLO_BYTES) this.drop('sent too much before it was let in');
  };

  letIn(): void {
    this.socket.off('data', this.#count);
    this.#cancel();
    this.#options.onSettled();
  }

  showOut(ms: number): void {
    this.#cancel();
    // Nobody would take back the timer.
    if (this.raw.closed) return;
    this.#cancel = this.#options.clock.setTimer(ms, () => {
      this.raw.destroy();
    });
  }

  drop(why: string): void {
    this.dropped ??= why;
    this.raw.destroy();
  }

  /** Tells it in plain text why it cannot be served; read by whoever speaks the protocol. */
  turnAway(why: string, message: string): void {
    this.dropped ??= why;
    const error = { code: JSON_RPC.invalidRequest, message };
    this.raw.end(encodePacket(JSON.stringify({ jsonrpc: '2.0', id: null, error })));
    this.raw.resume();
    this.showOut(PARTING_MS);
  }
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return hostAndPort(plainAddress(remoteAddress ?? 'unknown'), remotePort ?? 0);
}
