// `enginewright serve`: an engine by name, over stdio, TCP or TLS. stdout carries the protocol on stdio
// and one `listening` line otherwise, so that a script can read the port; everything else goes to
// stderr, one line per connection among it.
import { isPlainObject } from '../core/base/json.ts';
import { hostAndPort } from '../core/base/wire-warning.ts';
import type { EngineHandle } from '../core/contract.ts';
import {
  listenEngine,
  serveEngine,
  type EngineListener,
  type EngineSource,
  type ListenEngineOptions,
} from '../core/protocol/index.ts';
import { createRegistry } from '../adapters/registry.ts';
import {
  commandHelp,
  integerOption,
  jsonOption,
  parseCommand,
  usageError,
  type CommandSpec,
  type ParsedArgs,
} from './args.ts';
import { fileOption, TOKEN_OPTIONS, tokenOption } from './file-option.ts';

/** What goes with `--port`. */
const LISTEN_OPTIONS = {
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'Address to listen on; default 127.0.0.1. Elsewhere, use --tls-cert and a token: the wire carries secrets.',
  },
  'max-connections': {
    type: 'string',
    value: 'N',
    help: 'Clients at once; one more is told who is in. Default 64, with --shared 1.',
  },
  shared: {
    type: 'boolean',
    help: 'One engine for all clients, one after another, in place of one each.',
  },
  'tls-cert': { type: 'string', value: 'FILE', help: 'Speak TLS, with this certificate (PEM).' },
  'tls-key': { type: 'string', value: 'FILE', help: 'The private key of --tls-cert (PEM).' },
  'tls-ca': {
    type: 'string',
    value: 'FILE',
    help: 'Demand client certificates that a CA of this file signed (PEM).',
  },
  ...TOKEN_OPTIONS,
  silence: {
    type: 'string',
    value: 'MS',
    help: 'Drop a client that says nothing for so long; default 15000. 0: never, for a client in a debugger.',
  },
} as const;

const OPTIONS = {
  stdio: { type: 'boolean', help: 'Speak over stdin and stdout (the default).' },
  port: {
    type: 'string',
    value: 'N',
    help: 'Listen on this TCP port instead; 0 picks a free one.',
  },
  ...LISTEN_OPTIONS,
  options: {
    type: 'string',
    value: 'JSON',
    help: "The engine's options, as a JSON object. A client's initializationOptions win over them.",
  },
} as const;

export const SERVE: CommandSpec<typeof OPTIONS> = {
  name: 'serve',
  usage: '<engine> [--stdio | --port N [options]]',
  summary: 'Serve an engine over stdio, TCP or TLS.',
  about: [
    'Serves an engine of the registry by the engine protocol (JSON-RPC 2.0 with Content-Length headers). Each connection gets an engine of its own, unless --shared says otherwise.',
    'On stdio the server ends with its input. With --port it prints "listening on ADDRESS:PORT" once it accepts connections, and ends with SIGTERM or Ctrl+C: attempts under way get 5 seconds to end, none at the second signal.',
  ],
  options: OPTIONS,
  examples: [
    'enginewright serve kiosk --stdio',
    'enginewright serve kiosk --port 4723',
    'enginewright serve kiosk --port 4723 --host 0.0.0.0 --shared \\',
    '    --tls-cert cert.pem --tls-key key.pem --token-file /etc/kiosk/token',
    `enginewright serve playwright --port 4723 --options '{"sandbox": false}'`,
  ],
};

export async function serve(argv: readonly string[]): Promise<number> {
  const args = parseCommand(SERVE, argv);
  if (args.help) {
    process.stdout.write(commandHelp(SERVE));
    return 0;
  }
  const [name, ...extra] = args.positionals;
  const registry = createRegistry();
  if (name === undefined) {
    throw usageError('serve', `Name an engine: ${registry.engineNames.join(', ')}.`);
  }
  if (extra.length > 0) {
    throw usageError('serve', `One engine at a time: ${JSON.stringify(extra[0])} is one too many.`);
  }
  if (args.options.stdio === true && args.options.port !== undefined) {
    throw usageError('serve', 'Choose one of --stdio and --port.');
  }
  if (args.options.port === undefined) {
    const stray = Object.keys(LISTEN_OPTIONS).find((option) => Object.hasOwn(args.options, option));
    if (stray !== undefined) throw usageError('serve', `Option --${stray} goes with --port.`);
  }
  const own =
    args.options.options === undefined ? {} : jsonOption('serve', 'options', args.options.options);
  const create = async (initializationOptions: unknown): Promise<EngineHandle> =>
    registry.engine(name, {
      ...own,
      ...(isPlainObject(initializationOptions) ? initializationOptions : {}),
    });
  // A wrong name, option or missing peer package fails here, with a sentence, and not at a client.
  await registry.engine(name, own);
  await registry.checkEngine(name);
  if (args.options.port === undefined) {
    await serveEngine(create);
    return 0;
  }
  const settings = readListening(args.options, args.options.port);
  const engine = args.options.shared === true ? await registry.engine(name, own) : create;
  await serveListening({ ...settings, engine });
  return 0;
}

type Listening = Omit<ListenEngineOptions, 'engine'>;

function readListening(options: ParsedArgs<typeof OPTIONS>['options'], port: string): Listening {
  const { host, 'max-connections': connections, silence } = options;
  const tls = readTls(options);
  const token = tokenOption('serve', options);
  const silenceMs =
    silence === undefined
      ? undefined
      : integerOption('serve', 'silence', silence, { min: 0, max: 86_400_000 });
  return {
    port: integerOption('serve', 'port', port, { min: 0, max: 65_535 }),
    ...(host !== undefined && { host }),
    ...(tls !== undefined && { tls }),
    ...(token !== undefined && { token }),
    ...(connections !== undefined && {
      maxConnections: integerOption('serve', 'max-connections', connections, {
        min: 1,
        max: 1_000_000,
      }),
    }),
    ...(silenceMs !== undefined && { silenceTimeoutMs: silenceMs === 0 ? Infinity : silenceMs }),
  };
}

function readTls(options: ParsedArgs<typeof OPTIONS>['options']): ListenEngineOptions['tls'] {
  const { 'tls-cert': cert, 'tls-key': key, 'tls-ca': ca } = options;
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw usageError('serve', 'TLS needs both --tls-cert and --tls-key.');
  }
  return {
    cert: fileOption('serve', 'tls-cert', cert),
    key: fileOption('serve', 'tls-key', key),
    ...(ca !== undefined && { ca: fileOption('serve', 'tls-ca', ca) }),
  };
}

async function serveListening(
  options: Listening & { readonly engine: EngineSource },
): Promise<void> {
  const listener = await listenEngine(options);
  await new Promise<void>((resolve, reject) => {
    let signals = 0;
    const stop = (): void => {
      signals += 1;
      closeGently(listener, signals).then(() => {
        process.off('SIGTERM', stop).off('SIGINT', stop);
        resolve();
      }, reject);
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
    const { host, port } = listener.address;
    process.stdout.write(`listening on ${hostAndPort(host, port)}\n`);
  });
}

/** The first signal lets attempts end, every other one hurries. */
async function closeGently(listener: EngineListener, signals: number): Promise<void> {
  if (signals > 1) return listener.close({ drainMs: 0 });
  const closing = listener.close();
  const busy = listener.connections.length;
  if (busy > 0) {
    process.stderr.write(`shutting down: ${busy} connected; once more to end them at once\n`);
  }
  return closing;
}
