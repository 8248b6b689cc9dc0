// Plain sentences cut into clauses that a pattern can read. Names and values stand in quotes (or are
// `{params}`), so everything outside of quotes is grammar: a clause becomes a line of lower-case
// words in which the n-th quoted string is written `#n`. No guessing about where a name ends.
import type { JsonObject, JsonValue } from '../../../core/base/json.ts';

/** A quoted string or a param. */
export type Value =
  | { readonly kind: 'text'; readonly text: string }
  /** A param that is a handle: its value is unknown here. */
  | { readonly kind: 'secret'; readonly name: string }
  /** A param that was not given, or is no text. */
  | { readonly kind: 'bad'; readonly problem: string };

export interface Clause {
  /** Lower-case words and `#0`, `#1`, joined by single blanks. */
  readonly pattern: string;
  readonly values: readonly Value[];
  /** As it was written. */
  readonly said: string;
}

const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  '\u201c': '\u201d',
  '\u201e': '\u201c',
  '\u00ab': '\u00bb',
  '\u2018': '\u2019',
  "'": "'",
};
/** Words that carry no meaning at a clause's beginning. */
const FILLERS: readonly string[] = ['please', 'now', 'next', 'finally', 'first', 'also', 'that'];

interface Token {
  readonly kind: 'word' | 'value' | 'end';
  readonly word: string;
  readonly value?: Value;
  readonly from: number;
  readonly to: number;
}

/** The clauses of a text, cut at commas, semicolons, full stops, line ends, "then" and "and". */
export function readClauses(text: string, params: JsonObject = {}): readonly Clause[] {
  const clauses: Clause[] = [];
  let open: Token[] = [];
  const close = (): void => {
    while (open[0] !== undefined && FILLERS.includes(open[0].word)) open.shift();
    const [first] = open;
    const last = open.at(-1);
    if (first !== undefined && last !== undefined) {
      const values: Value[] = [];
      const words = open.map(({ word, value }) =>
        value === undefined ? word : `#${values.push(value) - 1}`,
      );
      clauses.push({ pattern: words.join(' '), values, said: text.slice(first.from, last.to) });
    }
    open = [];
  };
  for (const token of tokens(text, params)) {
    const joins = token.kind === 'word' && ['then', 'and', 'but'].includes(token.word);
    if (token.kind === 'end' || joins) close();
    else open.push(token);
  }
  close();
  return clauses;
}

function* tokens(text: string, params: JsonObject): Generator<Token> {
  let at = 0;
  while (at < text.length) {
    const character = text[at] ?? '';
    if (/[,;!\n]/u.test(character) || /^[.:](?:\s|$)/u.test(text.slice(at, at + 2))) {
      yield { kind: 'end', word: '', from: at, to: at + 1 };
      at += 1;
    } else if (/\s/u.test(character)) {
      at += 1;
    } else {
      const token = quoted(text, at, params) ?? param(text, at, params) ?? word(text, at);
      yield token;
      at = token.to;
    }
  }
}

function quoted(text: string, from: number, params: JsonObject): Token | undefined {
  const closing = QUOTES[text[from] ?? ''];
  if (closing === undefined) return undefined;
  const end = text.indexOf(closing, from + 1);
  if (end === -1) return undefined;
  const value = fillIn(text.slice(from + 1, end), params);
  return { kind: 'value', word: '', value, from, to: end + 1 };
}

function param(text: string, from: number, params: JsonObject): Token | undefined {
  const match = /^\{([\w.-]+)\}/u.exec(text.slice(from));
  const name = match?.[1];
  if (match === null || name === undefined) return undefined;
  const to = from + match[0].length;
  return { kind: 'value', word: '', value: valueOf(name, params), from, to };
}

function word(text: string, from: number): Token {
  const match = /^(?:[^\s,;!.:\n]|[.:](?!\s|$)|,(?=\S))+/u.exec(text.slice(from));
  const raw = match?.[0] ?? text.slice(from, from + 1);
  // A word must not look like the place of a value.
  const written = raw.replaceAll('\u2019', "'").replaceAll('#', '?').toLowerCase();
  return { kind: 'word', word: written, from, to: from + raw.length };
}

/** A quoted text with the params that it names; braces around anything else stay as they are. */
function fillIn(text: string, params: JsonObject): Value {
  const whole = /^\{([\w.-]+)\}$/u.exec(text)?.[1];
  if (whole !== undefined && lookUp(whole, params) !== undefined) return valueOf(whole, params);
  let bad: Value | undefined;
  const filled = text.replace(/\{([\w.-]+)\}/gu, (written, name: string) => {
    if (lookUp(name, params) === undefined) return written;
    const value = valueOf(name, params);
    if (value.kind === 'text') return value.text;
    const problem =
      value.kind === 'bad' ? value.problem : `the secret {${name}} cannot be a part of a text`;
    bad = { kind: 'bad', problem };
    return written;
  });
  return bad ?? { kind: 'text', text: filled };
}

function valueOf(name: string, params: JsonObject): Value {
  const value = lookUp(name, params);
  if (value === undefined) return { kind: 'bad', problem: `there is no param {${name}}` };
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'text', text: String(value) };
  }
  const secret = isObject(value) ? value['secret'] : undefined;
  if (typeof secret === 'string') return { kind: 'secret', name: secret };
  return { kind: 'bad', problem: `the param {${name}} is no text` };
}

/** A param by name, or by a path such as `user.email`. */
function lookUp(name: string, params: JsonObject): JsonValue | undefined {
  if (Object.hasOwn(params, name)) return params[name];
  let at: JsonValue | undefined = params;
  for (const part of name.split('.')) {
    at = isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  }
  return at;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
