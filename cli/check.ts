// `enginewright check`: the conformance check against a server, for whoever writes an engine in any
// language. Each rule is told as soon as it is decided; `--json` prints the report instead, and
// nothing else. Exit code 1 means that a rule failed, as for a test.
import { readFileSync } from 'node:fs';
import { RunnerError } from '../core/contract.ts';
import {
  CHECK_RULES,
  checkEngine,
  COMMON_PROBES,
  formatOutcome,
  formatSummary,
  readProbes,
  type CheckOutcome,
  type EngineProbes,
} from '../testing/index.ts';
import { commandHelp, parseCommand, usageError, type CommandSpec } from './args.ts';
import {
  countServers,
  initializationOptions,
  SERVER_OPTIONS,
  SERVER_USAGE,
  SERVER_WAYS,
  serverTransport,
  timeOption,
} from './server-option.ts';

const OPTIONS = {
  ...SERVER_OPTIONS,
  probes: {
    type: 'string',
    value: 'FILE',
    help: 'The places on your screens that half of the rules need, as a JSON file; or "common" for the common probe scene of docs/engine-conformance.md.',
  },
  destructive: {
    type: 'boolean',
    help: 'Also run the rules that lose what the app remembers: reset and restored state.',
  },
  only: {
    type: 'string',
    value: 'RULES',
    help: 'Run only these rules: ids, or groups such as signals/, with commas between.',
  },
  options: {
    type: 'string',
    value: 'JSON',
    help: "The server's initializationOptions, as a JSON object.",
  },
  timeout: {
    type: 'string',
    value: 'MS',
    help: 'How long any answer may take; default 10000.',
  },
  'launch-timeout': {
    type: 'string',
    value: 'MS',
    help: 'How long a connection, initialize, init or opening a screen may take; default 60000.',
  },
  'abort-timeout': {
    type: 'string',
    value: 'MS',
    help: 'How long an operation may go on after its signal aborted; default 2000.',
  },
  json: { type: 'boolean', help: 'Print the report as JSON on stdout, and nothing else.' },
  verbose: { type: 'boolean', help: 'Say of each rule where it is written.' },
  list: { type: 'boolean', help: 'Print the rules, and check nothing.' },
} as const;

export const CHECK: CommandSpec<typeof OPTIONS> = {
  name: 'check',
  usage: `[options] ${SERVER_USAGE}`,
  summary: 'Check whether an engine server keeps the protocol.',
  about: [
    'Speaks raw JSON-RPC to an engine server, in any language, and says rule by rule whether it keeps the engine protocol: passed, failed with what was sent and what came back, or not applicable.',
    'The exit code is 0 when no rule failed, 1 when one did, 2 for a mistake on the command line, and 3 when the server cannot be reached.',
  ],
  options: OPTIONS,
  examples: [
    'enginewright check --probes common -- python3 my-engine.py',
    'enginewright check --probes probes.json --tcp 192.168.1.20:4723',
    'enginewright check --json --only wire/,signals/ -- ./my-engine',
  ],
};

export async function check(argv: readonly string[]): Promise<number> {
  const args = parseCommand(CHECK, argv);
  if (args.help) {
    process.stdout.write(commandHelp(CHECK));
    return 0;
  }
  const { options } = args;
  if (options.list === true) {
    for (const { id, title } of CHECK_RULES) process.stdout.write(`${id}: ${title}\n`);
    return 0;
  }
  if (countServers(args) !== 1 || args.positionals.length > 0) {
    throw usageError('check', `Name one server: ${SERVER_WAYS}.`);
  }
  const print = options.json !== true;
  const verbose = options.verbose === true;
  const onRule = (outcome: CheckOutcome): void => {
    if (print) process.stdout.write(`${formatOutcome(outcome, { verbose })}\n`);
  };
  const greeting = initializationOptions('check', options);
  const limits = {
    timeoutMs: timeOption('check', 'timeout', options.timeout),
    launchTimeoutMs: timeOption('check', 'launch-timeout', options['launch-timeout']),
    abortTimeoutMs: timeOption('check', 'abort-timeout', options['abort-timeout']),
  };
  const interrupt = new AbortController();
  const stop = (): void => {
    interrupt.abort(new RunnerError('interrupted', 'CANCELLED', 'The check was interrupted.'));
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const report = await checkEngine(serverTransport('check', args), {
      ...(options.probes !== undefined && { probes: probesOption(options.probes) }),
      destructive: options.destructive === true,
      ...(options.only !== undefined && { only: options.only.split(',') }),
      ...(greeting !== undefined && { initializationOptions: greeting }),
      ...Object.fromEntries(Object.entries(limits).filter(([, ms]) => ms !== undefined)),
      signal: interrupt.signal,
      onRule,
    });
    process.stdout.write(
      print ? `\n${formatSummary(report)}\n` : `${JSON.stringify(report, undefined, 2)}\n`,
    );
    return report.ok ? 0 : 1;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

function probesOption(text: string): EngineProbes {
  if (text === 'common') return COMMON_PROBES;
  let probes: unknown;
  try {
    probes = JSON.parse(readFileSync(text, 'utf8'));
  } catch (error) {
    throw usageError(
      'check',
      `Option --probes: ${JSON.stringify(text)} is no JSON file (${error instanceof Error ? error.message : String(error)}), nor "common".`,
    );
  }
  return readProbes(probes);
}
