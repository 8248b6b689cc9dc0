// The command line's grammar. Each command declares its options once, as data: the parser, the
// help text and the "did you mean" all read that one declaration.
import { parseArgs } from 'node:util';
import { suggestName } from '../core/base/nearest.ts';
import { ConfigurationError } from '../core/contract.ts';

export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  /** Placeholder in the help, such as `N`. Strings only. */
  readonly value?: string;
  readonly help: string;
}

export interface CommandSpec<Options extends Record<string, OptionSpec>> {
  readonly name: string;
  /** After `enginewright NAME`, such as `<engine> [--stdio | --port N]`. */
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  /** Longer help, one string a paragraph. */
  readonly about: readonly string[];
  readonly options: Options;
  readonly examples: readonly string[];
}

export type OptionValues<Options extends Record<string, OptionSpec>> = {
  readonly [Name in keyof Options]?: Options[Name]['type'] extends 'boolean' ? boolean : string;
};

export interface ParsedArgs<Options extends Record<string, OptionSpec>> {
  readonly options: OptionValues<Options>;
  readonly positionals: readonly string[];
  /** What followed `--`, when it was there. */
  readonly rest: readonly string[] | undefined;
  readonly help: boolean;
}

/** A mistake on the command line: exit code 2, and a pointer to the command's help. */
export function usageError(command: string, message: string): ConfigurationError {
  return new ConfigurationError(
    'INVALID_ARGUMENT',
    `${message}\nRun "enginewright ${command} --help" for its options.`,
  );
}

export function parseCommand<Options extends Record<string, OptionSpec>>(
  spec: CommandSpec<Options>,
  argv: readonly string[],
): ParsedArgs<Options> {
  const terminator = argv.indexOf('--');
  const own = terminator === -1 ? argv : argv.slice(0, terminator);
  const { values, positionals, tokens } = parseArgs({
    args: [...own],
    options: {
      ...Object.fromEntries(
        Object.entries(spec.options).map(([name, option]) => [name, { type: option.type }]),
      ),
      help: { type: 'boolean', short: 'h' },
    },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    if (token.name === 'help' || token.name === 'h') continue;
    const option = Object.hasOwn(spec.options, token.name) ? spec.options[token.name] : undefined;
    if (option === undefined) {
      throw usageError(
        spec.name,
        `Unknown option ${token.rawName}${suggestName(token.name, [...Object.keys(spec.options), 'help'])}`,
      );
    }
    if (option.type === 'string' && (token.value === undefined || token.value === '')) {
      throw usageError(
        spec.name,
        `Option ${token.rawName} needs a value: ${token.rawName} ${option.value ?? 'VALUE'}`,
      );
    }
    if (option.type === 'boolean' && token.value !== undefined) {
      throw usageError(spec.name, `Option ${token.rawName} takes no value.`);
    }
  }
  return {
    options: values as OptionValues<Options>,
    positionals,
    rest: terminator === -1 ? undefined : argv.slice(terminator + 1),
    help: values['help'] === true || own.includes('-h'),
  };
}

/** The text that `--help` prints. */
export function commandHelp(spec: CommandSpec<Record<string, OptionSpec>>): string {
  const rows = Object.entries(spec.options).map(
    ([name, option]) =>
      [
        option.type === 'string' ? `--${name} ${option.value ?? 'VALUE'}` : `--${name}`,
        option.help,
      ] as const,
  );
  rows.push(['--help', 'This text.']);
  const width = Math.max(...rows.map(([head]) => head.length));
  return [
    `Usage: enginewright ${spec.name} ${spec.usage}`.trimEnd(),
    '',
    ...spec.about.flatMap((paragraph) => [...wrap(paragraph, 88), '']),
    'Options:',
    ...rows.flatMap(([head, help]) =>
      wrap(help, 86 - width).map((line, index) =>
        `  ${(index === 0 ? head : '').padEnd(width)}  ${line}`.trimEnd(),
      ),
    ),
    '',
    'Examples:',
    ...spec.examples.map((example) => `  ${example}`),
    '',
  ].join('\n');
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}

/** A whole number from a text option, or a clear refusal. */
export function integerOption(
  command: string,
  name: string,
  text: string,
  range: { readonly min: number; readonly max: number },
): number {
  const value = /^\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
  if (Number.isInteger(value) && value >= range.min && value <= range.max) return value;
  throw usageError(
    command,
    `Option --${name} is ${JSON.stringify(text)}: it takes a whole number from ${range.min} to ${range.max}.`,
  );
}

/** A JSON object from a text option, or a clear refusal. */
export function jsonOption(
  command: string,
  name: string,
  text: string,
): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(
      command,
      `Option --${name} is not JSON (${error instanceof Error ? error.message : String(error)}).`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usageError(command, `Option --${name} takes a JSON object, such as '{"key": "value"}'.`);
  }
  return value as Record<string, unknown>;
}
