// What a listener says beside the protocol: the ends of its log lines, the error when it cannot listen,
// and the warnings about an address that other machines reach. Nothing that a client sent is in here:
// it might be the token.
import { ConfigurationError } from '../../contract/errors.ts';
import { hostAndPort, isLoopbackAddress, warnOnce } from '../../base/wire-warning.ts';
import { Refusal } from './admission.ts';
import type { ConnectionEnd } from './connection.ts';
import type { ListenSettings } from './listen-options.ts';

/** Warns, once per address, of what strangers on the way or at the door could do. */
export function warnOfStrangers(
  { host, port }: { readonly host: string; readonly port: number },
  { tls, token }: Pick<ListenSettings, 'tls' | 'token'>,
): void {
  if (isLoopbackAddress(host)) return;
  const where = hostAndPort(host, port);
  const warn = (code: string, message: string): void => {
    warnOnce(
      code,
      `listen ${where}`,
      `listenEngine: ${where} is reached from other machines ${message}`,
    );
  };
  if (tls === undefined) {
    warn(
      'ENGINEWRIGHT_PLAIN_TCP',
      "and is not encrypted, but carries the run's environment, the token and the plaintext of secrets. Pass tls: { cert, key } (enginewright serve --tls-cert FILE --tls-key FILE), and connect with tlsTransport.",
    );
  }
  if (token === undefined && tls?.requestCert !== true) {
    warn(
      'ENGINEWRIGHT_OPEN_SERVER',
      'and lets everybody in. Pass token (enginewright serve --token-file FILE), or tls.ca to demand client certificates.',
    );
  }
}

/** Why `initialize` was refused, for the log. */
export function whyRefused(error: unknown): string {
  const words = {
    token: 'was refused: its token is missing or wrong',
    options: 'was refused: it sent options beside the token',
    full: 'was refused: the engine is taken',
    closing: 'was refused: the server is shutting down',
  };
  return error instanceof Refusal ? words[error.reason] : 'was refused';
}

/** How a connection ended, for the log. */
export function howEnded(end: ConnectionEnd, orderly: boolean): string {
  switch (end.by) {
    case 'exit':
      return orderly ? 'ended' : 'ended without shutdown';
    case 'server':
      return 'was ended by the server, which is shutting down';
    case 'streams': {
      const { error } = end.closure;
      if (error === undefined) return orderly ? 'ended' : 'left without goodbye';
      // Its message may quote what came in.
      const { code, name } = error as NodeJS.ErrnoException;
      return `was lost (${typeof code === 'string' ? code : name})`;
    }
  }
}

const LISTEN_REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already: choose another port, or 0 for a free one',
  EADDRNOTAVAIL: 'this machine has no such address: check host',
  EACCES: 'the port is not allowed: choose one above 1023',
  ENOTFOUND: 'the host name is unknown: check host',
};

/** Why there is no listener. */
export function listenError(where: string, error: NodeJS.ErrnoException): ConfigurationError {
  const { code = '' } = error;
  const remedy = LISTEN_REMEDIES[code] ?? error.message;
  return new ConfigurationError(
    'INVALID_CONFIG',
    `listenEngine cannot listen on ${where}: ${remedy}${code === '' ? '' : ` (${code})`}.`,
    { cause: error },
  );
}
