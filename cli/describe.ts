// `enginewright describe`: the manifest that `connectEngine` wants, from an engine of the registry
// or from a running server. Printed as JSON on stdout and nothing else, so that it can be pasted
// or piped.
import type { EngineManifest } from '../core/protocol/index.ts';
import { describeEngine, fetchManifest } from '../core/protocol/index.ts';
import {
  socketTransport,
  spawnTransport,
  type EngineTransport,
} from '../core/protocol/transports/index.ts';
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
  tcp: { type: 'string', value: 'HOST:PORT', help: 'Ask the server that listens there.' },
  options: {
    type: 'string',
    value: 'JSON',
    help: "The engine's options, or a server's initializationOptions, as a JSON object.",
  },
  timeout: {
    type: 'string',
    value: 'MS',
    help: 'How long a server may take to answer; default 60000.',
  },
} as const;

export const DESCRIBE: CommandSpec<typeof OPTIONS> = {
  name: 'describe',
  usage: '<engine> | --tcp HOST:PORT | -- COMMAND [ARGS...]',
  summary: 'Print the manifest of an engine or of an engine server.',
  about: [
    'Prints what an engine is and answers, as the JSON that connectEngine takes for its manifest.',
  ],
  options: OPTIONS,
  examples: [
    'enginewright describe kiosk',
    'enginewright describe -- python3 my-engine.py',
    'enginewright describe --tcp 127.0.0.1:4723',
  ],
};

export async function describe(argv: readonly string[]): Promise<number> {
  const args = parseCommand(DESCRIBE, argv);
  if (args.help) {
    process.stdout.write(commandHelp(DESCRIBE));
    return 0;
  }
  const registry = createRegistry();
  const [name, ...extra] = args.positionals;
  const ways = [name !== undefined, args.options.tcp !== undefined, args.rest !== undefined];
  if (ways.filter(Boolean).length !== 1 || extra.length > 0) {
    throw usageError(
      'describe',
      `Name one thing to describe: an engine (${registry.engineNames.join(', ')}), --tcp HOST:PORT, or -- COMMAND.`,
    );
  }
  const options =
    args.options.options === undefined
      ? undefined
      : jsonOption('describe', 'options', args.options.options);
  let manifest: EngineManifest;
  if (name !== undefined) {
    manifest = describeEngine(await registry.engine(name, options ?? {}));
  } else {
    const timeoutMs =
      args.options.timeout === undefined
        ? 60_000
        : integerOption('describe', 'timeout', args.options.timeout, { min: 1, max: 86_400_000 });
    manifest = await fetchManifest({
      transport: serverTransport(args.options.tcp, args.rest),
      timeoutMs,
      ...(options === undefined ? {} : { initializationOptions: options as never }),
    });
  }
  process.stdout.write(`${JSON.stringify(manifest, undefined, 2)}\n`);
  return 0;
}

function serverTransport(
  tcp: string | undefined,
  rest: readonly string[] | undefined,
): EngineTransport {
  if (tcp !== undefined) {
    const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/u.exec(tcp);
    const host = match?.[1] ?? match?.[2];
    if (host === undefined || match?.[3] === undefined) {
      throw usageError(
        'describe',
        `Option --tcp is ${JSON.stringify(tcp)}: it takes HOST:PORT, such as 127.0.0.1:4723 or [::1]:4723.`,
      );
    }
    return socketTransport({
      host,
      port: integerOption('describe', 'tcp', match[3], { min: 1, max: 65_535 }),
    });
  }
  const [command, ...commandArgs] = rest ?? [];
  if (command === undefined) throw usageError('describe', 'Write the command after "--".');
  return spawnTransport({ command, args: commandArgs });
}
