// What `listenEngine` takes, and its check: everything that can be known to be wrong is INVALID_CONFIG
// before anything listens. The token is never shown in a message, whatever is wrong with it.
import process from 'node:process';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { systemClock, type Clock } from '../../base/clock.ts';
import { pemText, type Pem } from '../../base/pem.ts';
import { messageOf } from '../../base/thrown.ts';
import { isEngineHandle } from '../../contract/define.ts';
import { ConfigurationError } from '../../contract/errors.ts';
import { rejectUnknownKeys } from '../../contract/options.ts';
import { checkToken } from '../token.ts';
import type { EngineSource } from './dispatch.ts';

/** Certificates of a listener, as PEM text or the bytes of PEM files. */
export interface ListenTlsOptions {
  /** The server's certificate, with the intermediate ones that clients lack. */
  readonly cert: Pem;
  /** Its private key. */
  readonly key: Pem;
  /** Opens an encrypted `key`. */
  readonly passphrase?: string;
  /** Clients must have a certificate that one of these CAs signed. Default: clients need none. */
  readonly ca?: Pem | readonly Pem[];
}

export interface ListenEngineOptions {
  /**
   * A handle is one engine for all connections, one after another unless `maxConnections` says
   * otherwise. A function makes an engine per connection, from the client's `initializationOptions`.
   */
  readonly engine: EngineSource;
  /** The TCP port; 0 picks a free one. */
  readonly port: number;
  /** The address to listen on; default `127.0.0.1`. Elsewhere, use `tls` and `token`. */
  readonly host?: string;
  readonly tls?: ListenTlsOptions;
  /** What clients must send, by `withToken`. Take it from a file or the environment. */
  readonly token?: string;
  /**
   * Connections of role `worker` at once; one more is refused with who is in. Default: 1 for a
   * handle, 64 for a function.
   */
  readonly maxConnections?: number;
  /** Closes the listener and its connections, without a drain. */
  readonly signal?: AbortSignal;
  /** Gets one line per connection, when it is over. Default: lines on stderr. */
  readonly log?: (line: string) => void;
  /** From the connection to the answer of `initialize`, ms; default 10000. */
  readonly helloTimeoutMs?: number;
  /**
   * A client that says nothing for so long is gone, ms; default 15000. It is asked at half of that.
   * Infinity: never, which a client that stops in a debugger needs.
   */
  readonly silenceTimeoutMs?: number;
  /** What an engine gets to end its attempt and dispose when its client is gone, ms; default 30000. */
  readonly cleanupTimeoutMs?: number;
  /** Hears of malformed messages and failed cleanups. What a client sent may be in them. */
  readonly onError?: (error: Error) => void;
  readonly clock?: Clock;
}

const OPTION_NAMES = Object.keys({
  engine: true,
  port: true,
  host: true,
  tls: true,
  token: true,
  maxConnections: true,
  signal: true,
  log: true,
  helloTimeoutMs: true,
  silenceTimeoutMs: true,
  cleanupTimeoutMs: true,
  onError: true,
  clock: true,
} satisfies Record<keyof ListenEngineOptions, true>);

const TLS_NAMES = Object.keys({
  cert: true,
  key: true,
  passphrase: true,
  ca: true,
} satisfies Record<keyof ListenTlsOptions, true>);

/** With a handle: what it can serve at once. With a function: more than anybody means to. */
const SHARED_CONNECTIONS = 1;
const OWN_CONNECTIONS = 64;
const HELLO_MS = 10_000;
const SILENCE_MS = 15_000;
const CLEANUP_MS = 30_000;

/** The options, checked and complete. */
export interface ListenSettings {
  readonly engine: EngineSource;
  readonly port: number;
  readonly host: string;
  readonly tls: TlsOptions | undefined;
  readonly token: string | undefined;
  readonly maxConnections: number;
  readonly signal: AbortSignal | undefined;
  readonly log: (line: string) => void;
  readonly helloTimeoutMs: number;
  readonly silenceTimeoutMs: number;
  readonly cleanupTimeoutMs: number;
  readonly onError: (error: Error) => void;
  readonly clock: Clock;
}

export function readListenOptions(options: ListenEngineOptions): ListenSettings {
  if (typeof options !== 'object' || options === null) {
    throw invalid('takes { engine, port, ... }');
  }
  rejectUnknownKeys('listenEngine options', options, OPTION_NAMES);
  const { engine, port, host = '127.0.0.1', token } = options;
  if (!isEngineHandle(engine) && typeof engine !== 'function') {
    throw invalid('engine must be what defineEngine returns, or a function that answers that');
  }
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw invalid(`port must be 0 to 65535, not ${String(port)}`);
  }
  if (typeof host !== 'string' || host === '') throw invalid('host must be an address or a name');
  if (token !== undefined) checkToken('listenEngine', token);
  const standard = typeof engine === 'function' ? OWN_CONNECTIONS : SHARED_CONNECTIONS;
  const { maxConnections = standard } = options;
  if (
    !(maxConnections >= 1) ||
    !(Number.isInteger(maxConnections) || maxConnections === Infinity)
  ) {
    throw invalid(`maxConnections must be a whole number above 0, not ${String(maxConnections)}`);
  }
  return {
    engine,
    port,
    host: host.replace(/^\[(.*)\]$/u, '$1'),
    tls: options.tls === undefined ? undefined : readTls(options.tls),
    token,
    maxConnections,
    signal: options.signal,
    log: options.log ?? printLine,
    helloTimeoutMs: milliseconds('helloTimeoutMs', options.helloTimeoutMs ?? HELLO_MS),
    silenceTimeoutMs: milliseconds(
      'silenceTimeoutMs',
      options.silenceTimeoutMs ?? SILENCE_MS,
      Infinity,
    ),
    cleanupTimeoutMs: milliseconds('cleanupTimeoutMs', options.cleanupTimeoutMs ?? CLEANUP_MS),
    onError: harmless(options.onError),
    clock: options.clock ?? systemClock,
  };
}

function milliseconds(name: string, value: number, limit = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === 'number' && value > 0 && value <= limit) return value;
  throw invalid(`${name} must be a number of ms above 0, not ${String(value)}`);
}

function readTls(tls: ListenTlsOptions): TlsOptions {
  if (typeof tls !== 'object' || tls === null) throw invalid('tls must be { cert, key, ca? }');
  rejectUnknownKeys('listenEngine tls', tls, TLS_NAMES);
  const { cert, key, passphrase, ca } = tls;
  const settings = {
    cert: pem('cert', cert),
    key: pem('key', key),
    ...(passphrase !== undefined && { passphrase }),
    ...(ca !== undefined && { ca: [ca].flat().map((one) => pem('ca', one)) }),
    minVersion: 'TLSv1.2',
    requestCert: ca !== undefined,
    rejectUnauthorized: ca !== undefined,
  } as const satisfies TlsOptions;
  try {
    createSecureContext(settings);
  } catch (error) {
    throw invalid(
      `tls: cert, key, passphrase and ca do not fit together or cannot be read: ${messageOf(error)}`,
      error,
    );
  }
  return settings;
}

function pem(name: string, value: unknown): string {
  const text = pemText(value);
  if (text !== undefined) return text;
  throw invalid(`tls.${name} must be PEM ("-----BEGIN ..."), such as readFileSync(path, 'utf8')`);
}

function invalid(problem: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError(
    'INVALID_CONFIG',
    `listenEngine: ${problem}.`,
    cause === undefined ? {} : { cause },
  );
}

/** A listener that throws must not take a connection with it. */
function harmless(onError: ListenEngineOptions['onError']): (error: Error) => void {
  return (error) => {
    try {
      onError?.(error);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function printLine(line: string): void {
  process.stderr.write(`${line}\n`);
}
