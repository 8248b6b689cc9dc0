// Small checks that every option goes through. An option's message names its key path first, then
// what it must be, and for an unknown key the nearest known one. Values are never printed: an
// option may hold a secret.
import { isPlainObject } from '../base/json.ts';
import { suggestName } from '../base/nearest.ts';
import { ConfigurationError } from '../contract/errors.ts';

/** The error of a bad option: `Option "agents.main.maxSteps" must be ...`. */
export function invalid(path: string, problem: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError(
    'INVALID_CONFIG',
    `Option ${JSON.stringify(path)} ${problem}`,
    cause === undefined ? {} : { cause },
  );
}

/** The error of an option that is known, but not in this version or not with this engine. */
export function unsupported(path: string, problem: string): ConfigurationError {
  return new ConfigurationError(
    'UNSUPPORTED_CAPABILITY',
    `Option ${JSON.stringify(path)} ${problem}`,
  );
}

/** The same path with one more key; `''` is the root. */
export function keyPath(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/u.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

export interface ObjectRules {
  /** The keys that it may have; default: any. */
  readonly known?: readonly string[];
  /** Keys that people look for here, and where each is: `url` is `target.app.url`. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** What it looks like, such as `{ engine, app? }`. */
  readonly example?: string;
}

/** Checks that `value` is a plain object with known keys only. */
export function checkObject(
  value: unknown,
  path: string,
  rules: ObjectRules = {},
): Readonly<Record<string, unknown>> {
  const { known, elsewhere = {}, example } = rules;
  if (!isPlainObject(value)) {
    const problem = `must be a plain object${example === undefined ? '' : `: ${example}`}.`;
    if (path !== '') throw invalid(path, problem);
    throw new ConfigurationError('INVALID_CONFIG', `The options ${problem}`);
  }
  const unknown =
    known === undefined ? undefined : Object.keys(value).find((key) => !known.includes(key));
  if (known === undefined || unknown === undefined) return value;
  const place = Object.hasOwn(elsewhere, unknown) ? elsewhere[unknown] : undefined;
  throw invalid(
    keyPath(path, unknown),
    place === undefined
      ? `is unknown${endSentence(suggestName(unknown, known))}`
      : `is unknown here: it is ${JSON.stringify(place)}.`,
  );
}

/** The same for one that may be left out: an empty object then. */
export function optionalObject(
  value: unknown,
  path: string,
  rules?: ObjectRules,
): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : checkObject(value, path, rules);
}

function endSentence(suggestion: string): string {
  return suggestion.endsWith('?') ? suggestion : `${suggestion}.`;
}

/** An unknown name among configured ones: `"mian" is not a configured agent; did you mean ...`. */
export function unknownName(name: string, what: string, known: Iterable<string>): string {
  const names = [...known];
  const end = names.length === 0 ? `; no ${what} is configured.` : suggestName(name, names);
  return `${JSON.stringify(name)} is not a configured ${what}${endSentence(end).replace(/\.\.$/u, '.')}`;
}

export function optionalString(value: unknown, path: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw invalid(path, 'must be a non-empty string.');
  return value;
}

export function booleanOr(value: unknown, path: string, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false.');
  return value;
}

/** A positive safe integer; `unit` ends the sentence of the message. */
export function positiveOr<T extends number | undefined>(
  value: unknown,
  path: string,
  fallback: T,
  unit = '',
): number | T {
  if (value === undefined) return fallback;
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw invalid(path, `must be a positive integer${unit}.`);
  }
  return value as number;
}

/** A length of time. */
export function millisecondsOr(value: unknown, path: string, fallback: number): number {
  return positiveOr(value, path, fallback, ', in milliseconds');
}

/** A safe integer of 0 or more. */
export function countOr(value: unknown, path: string, fallback: number): number {
  if (value === undefined) return fallback;
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalid(path, 'must be an integer of 0 or more.');
  }
  return value as number;
}

export function oneOf<const T extends string>(
  value: unknown,
  path: string,
  allowed: readonly T[],
): T {
  if (!(allowed as readonly unknown[]).includes(value)) {
    throw invalid(path, `must be one of ${allowed.map((one) => `"${one}"`).join(', ')}.`);
  }
  return value as T;
}

export function optionalFunction<T>(value: T | undefined, path: string): T | undefined {
  if (value !== undefined && typeof value !== 'function') {
    throw invalid(path, 'must be a function.');
  }
  return value;
}

export function optionalSignal(value: unknown, path: string): AbortSignal | undefined {
  if (value === undefined) return undefined;
  const signal = value as Partial<AbortSignal & AbortController> | null;
  const fits = typeof signal === 'object' && typeof signal?.aborted === 'boolean';
  if (!fits || typeof signal.addEventListener !== 'function') {
    const hint = signal?.signal === undefined ? '' : ': pass the signal of the controller';
    throw invalid(path, `must be an AbortSignal${hint}.`);
  }
  return value as AbortSignal;
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}
