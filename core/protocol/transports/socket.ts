// Reaches a server that already listens, by TCP or by a Unix socket (a named pipe on Windows).
// Nothing is encrypted here, so a connection that leaves the machine warns, once per address, of what
// the wire carries; whether it does is known only once it is made, because names may lead anywhere.
// Closing ends the socket; the server keeps running.
import { connect } from 'node:net';
import { isLoopbackAddress, warnOnce } from '../../base/wire-warning.ts';
import { labelOf, readConnectTimeout, readHostAndPort, type HostAndPort } from './address.ts';
import { checkOptionNames } from './options.ts';
import { createConnection, openSocket } from './socket-connection.ts';
import type { EngineTransport } from './types.ts';

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

const SUBJECT = 'socketTransport';
const OPTION_NAMES = ['host', 'port', 'path', 'connectTimeoutMs'];

/**
 * Connects to a server that listens on a TCP port or a Unix socket, once per connection. Throws a
 * TypeError on malformed options; opening rejects with an error that names the address, with the
 * `code` of the system's error. The first connection to an address on another machine emits the
 * process warning `ENGINEWRIGHT_PLAIN_TCP`: use `tlsTransport` there.
 */
export function socketTransport(options: SocketTransportOptions): EngineTransport {
  checkOptionNames(SUBJECT, options, OPTION_NAMES);
  const address = readAddress(options);
  const limit = readConnectTimeout(SUBJECT, options.connectTimeoutMs);
  const label = 'path' in address ? address.path : labelOf(address);
  return {
    label,
    async open(context) {
      const socket = await openSocket({
        start: () => connect(address),
        ready: 'connect',
        label,
        limit,
        context,
      });
      const { remoteAddress } = socket;
      if (remoteAddress !== undefined && !isLoopbackAddress(remoteAddress)) warnPlain(label);
      return createConnection(socket, label);
    },
  };
}

function readAddress(options: SocketTransportOptions): HostAndPort | { readonly path: string } {
  const { host, port, path } = options;
  if (path === undefined) {
    if (host === undefined && port === undefined) {
      throw new TypeError(`${SUBJECT} needs host and port, or path.`);
    }
    return readHostAndPort(SUBJECT, options);
  }
  if (host !== undefined || port !== undefined) {
    throw new TypeError(`${SUBJECT} takes host and port, or path, not both.`);
  }
  if (typeof path !== 'string' || path === '') {
    throw new TypeError(`${SUBJECT}: path must be the path of a socket.`);
  }
  return { path };
}

function warnPlain(label: string): void {
  warnOnce(
    'ENGINEWRIGHT_PLAIN_TCP',
    label,
    `socketTransport: the connection to ${label} is not encrypted, and it carries the run's environment and the plaintext of secrets. Serve with TLS and connect with tlsTransport({ host, port, ca }) or tlsTransport({ host, port, fingerprint }); or go through a tunnel that ends on this machine.`,
  );
}
