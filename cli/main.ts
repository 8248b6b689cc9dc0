#!/usr/bin/env node
// The command line's entry: picks the command, prints errors as one readable sentence, and exits
// with the code that the error table gives. Commands are loaded when they are called, so that
// `serve` starts without the demo's code.
import { suggestName } from '../core/base/nearest.ts';
import { exitCodeOf, isRunnerError } from '../core/contract.ts';
import { packageVersion } from './package-root.ts';

interface Command {
  readonly summary: string;
  readonly load: () => Promise<(argv: readonly string[]) => Promise<number>>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  demo: {
    summary: 'Play a whole flow against a served engine, with a readable account of it.',
    load: async () => (await import('./demo.ts')).demo,
  },
  serve: {
    summary: 'Serve an engine over stdio or TCP, for a host in another process.',
    load: async () => (await import('./serve.ts')).serve,
  },
  describe: {
    summary: 'Print the manifest of an engine or of an engine server, ready to paste.',
    load: async () => (await import('./describe.ts')).describe,
  },
  check: {
    summary: 'Check whether an engine server, in any language, keeps the protocol.',
    load: async () => (await import('./check.ts')).check,
  },
};

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  return [
    'Usage: enginewright <command> [options]',
    '',
    'Write what a person would do; a model carries it out on a real user interface.',
    '',
    'Commands:',
    ...Object.entries(COMMANDS).map(
      ([name, command]) => `  ${name.padEnd(width)}  ${command.summary}`,
    ),
    '',
    'Run "enginewright <command> --help" for a command\'s options; --version prints the version.',
    '',
  ].join('\n');
}

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined) {
    process.stderr.write(help());
    return 2;
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help());
    return 0;
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    process.stderr.write(
      `enginewright: unknown command ${JSON.stringify(name)}${suggestName(name, Object.keys(COMMANDS))}\n`,
    );
    return 2;
  }
  const run = await command.load();
  return run(rest);
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  const known = isRunnerError(error) || typeof code === 'string';
  return known ? `${error.message} (${String(code)})` : (error.stack ?? error.message);
}

// A reader that has seen enough (`| head`) is no failure of ours: end quietly, as other tools do.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// The exit code is set, not forced: what was written still leaves, and a handle that stays open
// shows as a hang instead of being hidden. A served engine may have set one already (`exit` without
// `shutdown` ends with 1), and a failure that is known is not taken back.
const exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`enginewright: ${describeFailure(error)}\n`);
  return exitCodeOf(error);
});
process.exitCode ||= exitCode;
