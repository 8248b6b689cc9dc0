// `enginewright serve`: an engine by name, over stdio or TCP. stdout carries the protocol on stdio
// and one `listening` line on TCP, so that a script can read the port; everything else goes to
// stderr.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { EngineHandle } from '../core/contract.ts';
import { isPlainObject } from '../core/base/json.ts';
import { serveEngine } from '../core/protocol/index.ts';
import { createRegistry } from '../adapters/registry.ts';
import {
  commandHelp,
  integerOption,
  jsonOption,
  parseCommand,
  usageError,
  type CommandSpec,
} from './args.ts';

const OPTIONS = {
  stdio: { type: 'boolean', help: 'Speak over stdin and stdout (the default).' },
  port: {
    type: 'string',
    value: 'N',
    help: 'Listen on this TCP port instead; 0 picks a free one.',
  },
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'Address to listen on; default 127.0.0.1. The wire is plain text and carries secrets: open it elsewhere only on a network you trust.',
  },
  options: {
    type: 'string',
    value: 'JSON',
    help: "The engine's options, as a JSON object. A client's initializationOptions win over them.",
  },
} as const;

export const SERVE: CommandSpec<typeof OPTIONS> = {
  name: 'serve',
  usage: '<engine> [--stdio | --port N [--host ADDRESS]]',
  summary: 'Serve an engine over stdio or TCP.',
  about: [
    'Serves an engine of the registry by the engine protocol (JSON-RPC 2.0 with Content-Length headers). Each connection gets an engine of its own.',
    'On stdio the server ends with its input. On TCP it ends with SIGTERM or Ctrl+C, and prints "listening on ADDRESS:PORT" once it accepts connections.',
  ],
  options: OPTIONS,
  examples: [
    'enginewright serve kiosk --stdio',
    'enginewright serve kiosk --port 4723',
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
  if (args.options.host !== undefined && args.options.port === undefined) {
    throw usageError('serve', 'Option --host goes with --port.');
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
  const port = integerOption('serve', 'port', args.options.port, { min: 0, max: 65_535 });
  await serveTcp(create, { port, host: args.options.host ?? '127.0.0.1' });
  return 0;
}

type EngineFactory = (initializationOptions: unknown) => Promise<EngineHandle>;

async function serveTcp(
  create: EngineFactory,
  address: { readonly host: string; readonly port: number },
): Promise<void> {
  const sockets = new Set<Socket>();
  const serving = new Set<Promise<void>>();
  const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
    const peer = `${socket.remoteAddress ?? '?'}:${socket.remotePort ?? '?'}`;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    process.stderr.write(`${peer} connected\n`);
    const done = serveEngine(create, { input: socket, output: socket }).then(
      () => {
        process.stderr.write(`${peer} closed\n`);
      },
      (error: unknown) => {
        process.stderr.write(
          `${peer} failed: ${error instanceof Error ? error.message : String(error)}\n`,
        );
      },
    );
    const settled = done.finally(() => {
      serving.delete(settled);
      socket.destroy();
    });
    serving.add(settled);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  const shown = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  process.stdout.write(`listening on ${shown}:${bound.port}\n`);
  if (!isLoopback(bound.address)) {
    process.stderr.write(
      'warning: this address is not loopback; the wire is plain text and carries secrets.\n',
    );
  }
  await new Promise<void>((resolve) => {
    const stop = (): void => {
      process.off('SIGTERM', stop);
      process.off('SIGINT', stop);
      server.close(() => {
        resolve();
      });
      // Ends the connections; serveEngine then ends each attempt and disposes of its engine.
      for (const socket of sockets) socket.end();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
  await Promise.all(serving);
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}
