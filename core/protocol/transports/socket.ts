// Reaches a server that already listens, by TCP or by a Unix socket (a named pipe on Windows).
// Small messages go out at once (no delay), a dead network is noticed (keep-alive), and waiting for
// a connection has a limit of its own. Nothing is encrypted here. Closing ends the socket; the
// server keeps running.
import { connect, type Socket } from 'node:net';
import { systemClock } from '../../base/clock.ts';
import { checkOptionNames, errnoOf, transportError } from './options.ts';
import type { EngineTransport, TransportConnection, TransportContext } from './types.ts';

export interface SocketTransportOptions {
  /** Host name or address; an IPv6 address with or without brackets. With `port`. */
  readonly host?: string;
  /** 1 to 65535. */
  readonly port?: number;
  /** Path of a Unix socket, instead of `host` and `port`. */
  readonly path?: string;
  /** Longest wait for the connection, ms; default 10000. */
  readonly connectTimeoutMs?: number;
}

const OPTION_NAMES = ['host', 'port', 'path', 'connectTimeoutMs'];
const CONNECT_TIMEOUT_MS = 10_000;
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

type Address = { readonly host: string; readonly port: number } | { readonly path: string };

/**
 * Connects to a server that listens on a TCP port or a Unix socket, once per connection. Throws a
 * TypeError on malformed options; opening rejects with an error that names the address, with the
 * `code` of the system's error.
 */
export function socketTransport(options: SocketTransportOptions): EngineTransport {
  checkOptionNames('socketTransport', options, OPTION_NAMES);
  const address = readAddress(options);
  const limit = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  if (!(limit > 0)) {
    throw new TypeError('socketTransport: connectTimeoutMs must be above 0 milliseconds.');
  }
  const label = labelOf(address);
  return {
    label,
    async open(context) {
      const socket = await openSocket({ address, label, limit, context });
      return createConnection(socket, label);
    },
  };
}

function readAddress({ host, port, path }: SocketTransportOptions): Address {
  if (path !== undefined) {
    if (host !== undefined || port !== undefined) {
      throw new TypeError('socketTransport takes host and port, or path, not both.');
    }
    if (typeof path !== 'string' || path === '') {
      throw new TypeError('socketTransport: path must be the path of a socket.');
    }
    return { path };
  }
  if (typeof host !== 'string' || host === '') {
    throw new TypeError('socketTransport needs host and port, or path.');
  }
  if (port === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new TypeError(`socketTransport: port must be 1 to 65535, not ${String(port)}.`);
  }
  return { host: host.replace(/^\[(.*)\]$/u, '$1'), port };
}

function labelOf(address: Address): string {
  if ('path' in address) return address.path;
  const { host, port } = address;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

interface OpenOptions {
  readonly address: Address;
  readonly label: string;
  readonly limit: number;
  readonly context: TransportContext;
}

function openSocket({ address, label, limit, context }: OpenOptions): Promise<Socket> {
  const { signal } = context;
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...address,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
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
      const code = errnoOf(error);
      const remedy = code === undefined ? undefined : REMEDIES[code];
      fail(
        transportError(
          `Engine server at ${label} cannot be reached: ${remedy ?? error.message}${code === undefined ? '' : ` (${code})`}.`,
          error,
        ),
      );
    };
    const onConnect = (): void => {
      release();
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
      socket.off('connect', onConnect);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', onError);
    socket.once('connect', onConnect);
  });
}

function createConnection(socket: Socket, label: string): TransportConnection {
  let failure: Error | undefined;
  let ended = false;
  let closing: Promise<void> | undefined;
  // Also keeps a late error from bringing the process down.
  socket.on('error', (error) => {
    failure ??= error;
  });
  socket.once('end', () => {
    ended = true;
  });
  return {
    input: socket,
    output: socket,
    close(timeoutMs) {
      closing ??= closeSocket(socket, timeoutMs);
      return closing;
    },
    diagnostics() {
      if (failure !== undefined) return `connection to ${label} failed: ${failure.message}`;
      if (closing !== undefined) return `connection to ${label} closed by the client`;
      if (ended) return `connection to ${label} ended by the server`;
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
