// How a command names an engine server that it is to talk to: `--tcp HOST:PORT`, `--tls HOST:PORT` with
// what TLS needs, or a command line after `--`; and the token that the server may ask for. One place,
// so that a new way to reach a server is an option of every such command.
import type { JsonValue } from '../core/contract.ts';
import { withToken } from '../core/protocol/index.ts';
import {
  socketTransport,
  spawnTransport,
  tlsTransport,
  type EngineTransport,
} from '../core/protocol/transports/index.ts';
import { integerOption, jsonOption, usageError, type ParsedArgs } from './args.ts';
import { fileOption, TOKEN_OPTIONS, tokenOption } from './file-option.ts';

/** What goes with `--tls`. */
const TLS_OPTIONS = {
  ca: { type: 'string', value: 'FILE', help: 'With --tls: trust the CAs of this PEM file only.' },
  fingerprint: {
    type: 'string',
    value: 'SHA256',
    help: 'With --tls: accept only the certificate with this fingerprint.',
  },
  'server-name': {
    type: 'string',
    value: 'NAME',
    help: 'With --tls: the name that the certificate must be for; default HOST.',
  },
  cert: { type: 'string', value: 'FILE', help: "With --tls: this client's certificate, as PEM." },
  key: { type: 'string', value: 'FILE', help: 'With --tls: the private key of --cert, as PEM.' },
} as const;

/** The options that name a server, for a command's own table. */
export const SERVER_OPTIONS = {
  tcp: { type: 'string', value: 'HOST:PORT', help: 'The server that listens there.' },
  tls: { type: 'string', value: 'HOST:PORT', help: 'The server that listens there for TLS.' },
  ...TLS_OPTIONS,
  ...TOKEN_OPTIONS,
} as const;

/** For usage lines: every way to name a server; and the same in a sentence. */
export const SERVER_USAGE = '--tcp HOST:PORT | --tls HOST:PORT | -- COMMAND [ARGS...]';
export const SERVER_WAYS = '--tcp HOST:PORT, --tls HOST:PORT, or -- COMMAND [ARGS...]';

type ServerArgs = Pick<ParsedArgs<typeof SERVER_OPTIONS>, 'options' | 'rest'>;

/** How many servers the arguments name; a command takes one. */
export function countServers({ options, rest }: ServerArgs): number {
  return [options.tcp !== undefined, options.tls !== undefined, rest !== undefined].filter(Boolean)
    .length;
}

/** An option that only makes sense for a server, of arguments that name none. */
export function strayOption({ options }: Pick<ServerArgs, 'options'>): string | undefined {
  return Object.keys(SERVER_OPTIONS).find((name) => Object.hasOwn(options, name));
}

/** The way to the one server that the arguments name. Throws a usage error for a slip. */
export function serverTransport(command: string, { options, rest }: ServerArgs): EngineTransport {
  if (options.tls !== undefined) return overTls(command, options.tls, options);
  const stray = Object.keys(TLS_OPTIONS).find((name) => Object.hasOwn(options, name));
  if (stray !== undefined) throw usageError(command, `Option --${stray} goes with --tls.`);
  if (options.tcp !== undefined) return socketTransport(readAddress(command, 'tcp', options.tcp));
  const [program, ...args] = rest ?? [];
  if (program === undefined) throw usageError(command, 'Write the command after "--".');
  return spawnTransport({ command: program, args });
}

function overTls(
  command: string,
  address: string,
  options: ServerArgs['options'],
): EngineTransport {
  const { fingerprint } = options;
  const read = (name: 'ca' | 'cert' | 'key'): Partial<Record<typeof name, string>> => {
    const path = options[name];
    return path === undefined ? {} : { [name]: fileOption(command, name, path) };
  };
  const serverName = options['server-name'];
  const settings = {
    ...readAddress(command, 'tls', address),
    ...read('ca'),
    ...read('cert'),
    ...read('key'),
    ...(serverName !== undefined && { serverName }),
    ...(fingerprint !== undefined && { fingerprint }),
  };
  try {
    return tlsTransport(settings);
  } catch (error) {
    throw usageError(command, (error as Error).message);
  }
}

/** HOST:PORT of an option, with brackets around an IPv6 address. */
function readAddress(
  command: string,
  name: string,
  text: string,
): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/u.exec(text);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || match?.[3] === undefined) {
    throw usageError(
      command,
      `Option --${name} is ${JSON.stringify(text)}: it takes HOST:PORT, such as 127.0.0.1:4723 or [::1]:4723.`,
    );
  }
  return { host, port: integerOption(command, name, match[3], { min: 1, max: 65_535 }) };
}

/** A time limit in ms from an option; undefined when it is not there. */
export function timeOption(
  command: string,
  name: string,
  text: string | undefined,
): number | undefined {
  return text === undefined
    ? undefined
    : integerOption(command, name, text, { min: 1, max: 86_400_000 });
}

/** The JSON object of `--options`; undefined when it is not there. */
export function engineOptions(
  command: string,
  text: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  return text === undefined ? undefined : jsonOption(command, 'options', text);
}

/** The `initializationOptions` of a server: `--options`, and the token when one is named. */
export function initializationOptions(
  command: string,
  options: ServerArgs['options'] & { readonly options?: string },
): JsonValue | undefined {
  const own = engineOptions(command, options.options) as JsonValue | undefined;
  const token = tokenOption(command, options);
  return token === undefined ? own : withToken(token, own);
}
