// The address of a server as the network transports take it, and how it is written in messages.
import { hostAndPort } from '../../base/wire-warning.ts';

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Throws a TypeError for what is no address; takes the brackets off an IPv6 one. */
export function readHostAndPort(
  subject: string,
  options: { readonly host?: string | undefined; readonly port?: number | undefined },
): HostAndPort {
  const { host, port } = options;
  if (typeof host !== 'string' || host === '')
    throw new TypeError(`${subject} needs host and port.`);
  if (port === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new TypeError(`${subject}: port must be 1 to 65535, not ${String(port)}.`);
  }
  return { host: host.replace(/^\[(.*)\]$/u, '$1'), port };
}

export function labelOf({ host, port }: HostAndPort): string {
  return hostAndPort(host, port);
}

/** Longest wait for a connection when nobody says, ms. */
const CONNECT_TIMEOUT_MS = 10_000;

export function readConnectTimeout(subject: string, ms: number = CONNECT_TIMEOUT_MS): number {
  if (typeof ms === 'number' && ms > 0) return ms;
  throw new TypeError(`${subject}: connectTimeoutMs must be above 0 milliseconds.`);
}
