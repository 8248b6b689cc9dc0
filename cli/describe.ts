// `enginewright describe`: the manifest that `connectEngine` wants, from an engine of the registry
// or from a running server. Printed as JSON on stdout and nothing else, so that it can be pasted
// or piped.
import type { EngineManifest } from '../core/protocol/index.ts';
import { describeEngine, fetchManifest } from '../core/protocol/index.ts';
import { createRegistry } from '../adapters/registry.ts';
import { commandHelp, parseCommand, usageError, type CommandSpec } from './args.ts';
import {
  countServers,
  engineOptions,
  initializationOptions,
  SERVER_OPTIONS,
  SERVER_USAGE,
  SERVER_WAYS,
  serverTransport,
  strayOption,
  timeOption,
} from './server-option.ts';

const OPTIONS = {
  ...SERVER_OPTIONS,
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
  usage: `<engine> | ${SERVER_USAGE}`,
  summary: 'Print the manifest of an engine or of an engine server.',
  about: [
    'Prints what an engine is and answers, as the JSON that connectEngine takes for its manifest.',
  ],
  options: OPTIONS,
  examples: [
    'enginewright describe kiosk',
    'enginewright describe -- python3 my-engine.py',
    'enginewright describe --tcp 127.0.0.1:4723',
    'enginewright describe --tls device.example:4723 --ca ca.pem --token-env DEVICE_TOKEN',
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
  if (countServers(args) + (name === undefined ? 0 : 1) !== 1 || extra.length > 0) {
    throw usageError(
      'describe',
      `Name one thing to describe: an engine (${registry.engineNames.join(', ')}), ${SERVER_WAYS}.`,
    );
  }
  const stray = strayOption(args);
  if (name !== undefined && stray !== undefined) {
    throw usageError('describe', `Option --${stray} goes with a server, not with an engine.`);
  }
  let manifest: EngineManifest;
  if (name !== undefined) {
    manifest = describeEngine(
      await registry.engine(name, engineOptions('describe', args.options.options) ?? {}),
    );
  } else {
    const options = initializationOptions('describe', args.options);
    manifest = await fetchManifest({
      transport: serverTransport('describe', args),
      timeoutMs: timeOption('describe', 'timeout', args.options.timeout) ?? 60_000,
      ...(options === undefined ? {} : { initializationOptions: options }),
    });
  }
  process.stdout.write(`${JSON.stringify(manifest, undefined, 2)}\n`);
  return 0;
}
