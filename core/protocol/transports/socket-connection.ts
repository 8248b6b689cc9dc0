// What a connection over a socket is, plain or encrypted: waiting for it under a limit and a signal,
// saying what went wrong, and letting go. Every cause that the system or TLS names by a code is told
// with what to do about it; the code stays for programs.
import type { Socket } from 'node:net';
import { systemClock } from '../../base/clock.ts';
import { errnoOf, transportError } from './options.ts';
import type { TransportConnection, TransportContext } from './types.ts';

/** Quiet time before the first keep-alive probe, ms. */
const KEEP_ALIVE_MS = 10_000;
/** How long a server may take to end its side, ms. */
const END_GRACE_MS = 1000;

const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start the server, or check the port',
  ENOTFOUND: 'the host name is unknown: check it',
  EAI_AGAIN: 'the host name could not be looked up: check the network',
  EHOSTUNREACH: 'the host cannot be reached: check the network',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host did not answer: check the address and the firewall',
  ENOENT: 'there is no such socket: start the server, or check the path',
  EACCES: 'permission was denied',
};

/** What is particular to one kind of socket. */
export interface SocketKind {
  /** Remedies by code; they come before those of every socket. */
  readonly remedies?: Readonly<Record<string, string>>;
  /** What the server's end may mean when it came before the server said anything. */
  readonly silentEnd?: string | undefined;
}

export interface OpenSocketOptions<Kind extends Socket> extends SocketKind {
  /** Begins to connect. */
  readonly start: () => Kind;
  /** The event that says that the connection can be used. */
  readonly ready: 'connect' | 'secureConnect';
  /** Why a connection that was made must not be used; the answer finishes the error's sentence. */
  readonly refuse?: (socket: Kind) => string | undefined;
  readonly label: string;
  /** Longest wait, ms. */
  readonly limit: number;
  readonly context: TransportContext;
}

/** Resolves with a socket that can be used; rejects with an error that names the address. */
export async function openSocket<Kind extends Socket>(
  options: OpenSocketOptions<Kind>,
): Promise<Kind> {
  const { start, ready, refuse, label, limit, context } = options;
  const { signal } = context;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = start();
    const fail = (error: Error): void => {
      release();
      // What a destroyed socket still has to say is of no interest.
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => {
      fail(signal.reason as Error);
    };
    const onError = (error: Error): void => {
      fail(
        transportError(
          `Engine server at ${label} cannot be reached: ${explain(error, options)}.`,
          error,
        ),
      );
    };
    const onReady = (): void => {
      const refusal = refuse?.(socket);
      if (refusal !== undefined) {
        fail(transportError(`Engine server at ${label} is not the one expected: ${refusal}.`));
        return;
      }
      release();
      // Small messages go out at once, and a dead network is noticed.
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve(socket);
    };
    const cancel = systemClock.setTimer(limit, () => {
      const error = transportError(
        `Engine server at ${label} did not accept the connection within ${limit} ms (ETIMEDOUT): check the address, or raise connectTimeoutMs.`,
      );
      error.code = 'ETIMEDOUT';
      fail(error);
    });
    const release = (): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      socket.off(ready, onReady);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', onError);
    socket.once(ready, onReady);
  });
}

/** A cause with its remedy and its code, without a full stop. */
function explain(error: Error, { remedies = {} }: SocketKind): string {
  const code = errnoOf(error);
  if (code === undefined) return error.message;
  const remedy = remedies[code] ?? REMEDIES[code];
  return `${remedy ?? error.message.trim().replace(/\.$/u, '')} (${code})`;
}

/** The connection over a socket that can be used. */
export function createConnection(
  socket: Socket,
  label: string,
  kind: SocketKind = {},
): TransportConnection {
  let failure: Error | undefined;
  let ended = false;
  let closing: Promise<void> | undefined;
  // Also keeps a late error from bringing the process down.
  socket.on('error', (error) => {
    failure ??= error;
  });
  socket.once('end', () => {
    // Who ended it first is what counts.
    ended = closing === undefined;
  });
  const unheard = (): boolean => !socket.readableDidRead;
  const hint = (): string =>
    kind.silentEnd !== undefined && unheard() ? ` (${kind.silentEnd})` : '';
  return {
    input: socket,
    output: socket,
    close(timeoutMs) {
      closing ??= closeSocket(socket, timeoutMs);
      return closing;
    },
    diagnostics() {
      if (failure !== undefined) {
        const code = errnoOf(failure);
        const named = code !== undefined && kind.remedies?.[code] !== undefined;
        // The system's own words name the call and the code: enough, where there is no remedy.
        const words = named ? explain(failure, kind) : `${failure.message}${hint()}`;
        return `connection to ${label} failed: ${words}`;
      }
      if (ended)
        return `connection to ${label} ended by the server${unheard() ? ' before it said anything' : ''}${hint()}`;
      if (closing !== undefined) return `connection to ${label} closed by the client`;
      return socket.destroyed ? `connection to ${label} closed` : `connected to ${label}`;
    },
  };
}

function closeSocket(socket: Socket, timeoutMs: number): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = systemClock.setTimer(Math.min(Math.max(0, timeoutMs), END_GRACE_MS), () => {
      socket.destroy();
    });
    socket.once('close', () => {
      cancel();
      resolve();
    });
    if (socket.destroyed) return;
    socket.end();
    // Unread bytes would keep the other side's end from being seen.
    if (socket.listenerCount('data') === 0) socket.resume();
  });
}
