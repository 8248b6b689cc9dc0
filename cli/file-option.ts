// Options whose value lies elsewhere: certificates and keys in files, and the token in a file or in the
// environment. A token is never an argument itself, because every user of a machine can read those of
// others' processes, and it is in no message here.
import { readFileSync } from 'node:fs';
import { usageError } from './args.ts';

/** The options for the token, for a command's own table. */
export const TOKEN_OPTIONS = {
  'token-file': { type: 'string', value: 'FILE', help: 'Reads the token from this file.' },
  'token-env': {
    type: 'string',
    value: 'NAME',
    help: 'Reads the token from this environment variable.',
  },
} as const;

export type TokenArgs = { readonly [Name in keyof typeof TOKEN_OPTIONS]?: string };

/** The token, without white space around it; undefined when none is named. */
export function tokenOption(command: string, options: TokenArgs): string | undefined {
  const { 'token-file': file, 'token-env': name } = options;
  if (file !== undefined && name !== undefined) {
    throw usageError(command, 'Choose one of --token-file and --token-env.');
  }
  if (file === undefined && name === undefined) return undefined;
  const text =
    file === undefined ? process.env[name ?? ''] : fileOption(command, 'token-file', file);
  const source = file === undefined ? `--token-env names ${name ?? ''}` : `--token-file ${file}`;
  if (text === undefined) throw usageError(command, `Option ${source}, which is not set.`);
  const token = text.trim();
  if (token === '' || /\s/u.test(token)) {
    throw usageError(
      command,
      `Option ${source}: a token is one word, such as "openssl rand -hex 32" prints.`,
    );
  }
  return token;
}

/** The text of the file that an option names. */
export function fileOption(command: string, name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw usageError(
      command,
      `Option --${name}: the file ${JSON.stringify(path)} cannot be read (${code}).`,
    );
  }
}
