// The grammar of `act`: a table of clause patterns, each with the operation it means. A clause that
// fits none blocks the whole instruction before anything is done, because half of an instruction is
// not what was asked for. docs/plain-words.md lists the same for readers.
import type { JsonObject } from '../../../core/base/json.ts';
import { readClauses, type Clause, type Value } from './phrases.ts';
import { NOUNS, type Target } from './screen.ts';

export type Tap = 'tap' | 'double_tap' | 'long_press' | 'right_click' | 'hover';
/** One operation; `said` is the clause as it was written. */
export type Command = { readonly said: string } & (
  | { readonly kind: 'tap'; readonly tool: Tap; readonly target: Target }
  /** Types, or chooses where the target is a choice. */
  | { readonly kind: 'enter'; readonly target?: Target; readonly value: string }
  | { readonly kind: 'secret'; readonly target: Target; readonly name: string }
  | { readonly kind: 'choose'; readonly target?: Target; readonly option: string }
  | { readonly kind: 'check'; readonly target: Target; readonly checked: boolean }
  | {
      readonly kind: 'press';
      readonly key: string;
      readonly target?: Target;
      readonly times: number;
    }
  | { readonly kind: 'scroll'; readonly direction: string; readonly times: number }
  | { readonly kind: 'scroll-to'; readonly text: string }
  | { readonly kind: 'open'; readonly url: string }
  | { readonly kind: 'back' }
  | { readonly kind: 'hide-keyboard' }
  | { readonly kind: 'drag'; readonly target: Target; readonly to: Target }
  | { readonly kind: 'upload'; readonly target: Target; readonly file: string }
);

export type Parsed =
  | { readonly commands: readonly Command[] }
  /** Why it was not understood, naming the words. */
  | { readonly problem: string };

/** A part of a clause, once its pattern fitted. */
interface Parts {
  readonly said: string;
  text(group: string): string;
  value(group: string): Value;
  target(prefix?: string): Target;
  readonly groups: Readonly<Record<string, string | undefined>>;
}
interface Row {
  readonly pattern: RegExp;
  make(parts: Parts): Command | readonly Command[];
}

const ORDINALS: Readonly<Record<string, number>> = {
  first: 0,
  second: 1,
  third: 2,
  fourth: 3,
  fifth: 4,
  last: -1,
};
const NOUN = Object.keys(NOUNS)
  .toSorted((a, b) => b.length - a.length)
  .join('|');
/** `the second #0 button in the row #1`; groups are prefixed, as a clause may name two targets. */
const target = (prefix = ''): string =>
  `(?:the |an? )?(?:(?<${prefix}ordinal>${Object.keys(ORDINALS).join('|')}) )?(?:(?<${prefix}before>${NOUN}) )?(?:called |named |labell?ed )?#(?<${prefix}name>\\d+)(?: (?<${prefix}after>${NOUN}))?(?: (?:in|inside|within|of|on|for|next to|beside) (?:the )?(?:(?:${NOUN}|card|group|section|line) )?(?:of |for |with )?#(?<${prefix}within>\\d+))?`;
const TIMES = '(?: (?<times>once|twice|\\d+ times|three times|four times|five times))?';
const KEY =
  'enter|return|escape|esc|tab|backspace|delete|insert|space|arrow ?up|arrow ?down|arrow ?left|arrow ?right|home|end|page ?up|page ?down|f\\d{1,2}';

const row = (pattern: string, make: Row['make']): Row => ({
  pattern: new RegExp(`^${pattern}$`, 'u'),
  make,
});
const tapRow = (words: string, tool: Tap): Row =>
  row(`(?:${words}) (?:on |over |at )?${target()}${TIMES}`, ({ said, target: one, groups }) => {
    const command: Command = { said, kind: 'tap', tool, target: one() };
    return Array.from({ length: timesOf(groups['times']) }, () => command);
  });
const checkRow = (words: string, checked: boolean): Row =>
  row(words, ({ said, target: one }) => ({ said, kind: 'check', target: one(), checked }));

function enter(parts: Parts, one: Target | undefined): Command {
  const { said } = parts;
  const value = parts.value('value');
  if (value.kind === 'secret') {
    if (one === undefined) throw new Misread('a secret needs a field: into "..."');
    return { said, kind: 'secret', target: one, name: value.name };
  }
  const text = parts.text('value');
  return { said, kind: 'enter', value: text, ...(one === undefined ? {} : { target: one }) };
}

/** In order: the first that fits is meant. */
const ROWS: readonly Row[] = [
  row(
    `(?:press|hit) (?:the )?(?:key )?(?<key>${KEY})(?: key)?(?: (?:in|on|into) ${target()})?${TIMES}`,
    ({ said, groups, target: one }) => ({
      said,
      kind: 'press',
      key: keyOf(groups['key'] ?? ''),
      times: timesOf(groups['times']),
      ...(groups['name'] === undefined ? {} : { target: one() }),
    }),
  ),
  row(
    `(?:press|hit) (?:the )?key #(?<key>\\d+)(?: (?:in|on|into) ${target()})?${TIMES}`,
    ({ said, text, groups, target: one }) => ({
      said,
      kind: 'press',
      key: text('key'),
      times: timesOf(groups['times']),
      ...(groups['name'] === undefined ? {} : { target: one() }),
    }),
  ),
  row(
    '(?:open|go to|navigate to|visit) (?:the )?(?:page |path |url |address )?(?<path>(?:\\/|https?:\\/\\/)\\S*)',
    ({ said, groups }) => ({
      said,
      kind: 'open',
      url: said.slice(said.length - (groups['path'] ?? '').length),
    }),
  ),
  row(
    '(?:open|go to|navigate to|visit) (?:the )?(?<what>page |path |url |address )?#(?<url>\\d+)',
    ({ said, text, groups }) => {
      const url = text('url');
      return groups['what'] !== undefined || /^(?:\/|https?:\/\/)/u.test(url)
        ? { said, kind: 'open', url }
        : { said, kind: 'tap', tool: 'tap', target: { name: url, roles: [] } };
    },
  ),
  row('(?:go |navigate )?back', ({ said }) => ({ said, kind: 'back' })),
  row('(?:close|hide|dismiss) the keyboard', ({ said }) => ({ said, kind: 'hide-keyboard' })),
  row(
    `scroll (?:the (?:page|screen|view) )?(?<direction>up|down|left|right)${TIMES}`,
    ({ said, groups }) => ({
      said,
      kind: 'scroll',
      direction: groups['direction'] ?? 'down',
      times: timesOf(groups['times']),
    }),
  ),
  row(
    `scroll (?:down |up )?(?:to|until) ${target()}(?: is (?:shown|visible))?`,
    ({ said, text }) => ({
      said,
      kind: 'scroll-to',
      text: text('name'),
    }),
  ),
  tapRow('double[- ]?tap|double[- ]?click', 'double_tap'),
  tapRow('long[- ]?press|long[- ]?tap|hold|press and hold', 'long_press'),
  tapRow('right[- ]?click', 'right_click'),
  tapRow('hover', 'hover'),
  tapRow('tap|click|press|push|hit', 'tap'),
  row(`(?:type|enter|write|input|put) #(?<value>\\d+) (?:into|in|to|as) ${target()}`, (parts) =>
    enter(parts, parts.target()),
  ),
  row('(?:type|enter|write|input) #(?<value>\\d+)', (parts) => enter(parts, undefined)),
  row(`(?:fill|fill in|fill out) ${target()} with #(?<value>\\d+)`, (parts) =>
    enter(parts, parts.target()),
  ),
  row(`(?:set|change) ${target()} to #(?<value>\\d+)`, (parts) => enter(parts, parts.target())),
  row(`(?:clear|empty) ${target()}`, ({ said, target: one }) => ({
    said,
    kind: 'enter',
    target: one(),
    value: '',
  })),
  row(
    `(?:choose|select|pick) (?:the )?(?:option )?#(?<option>\\d+)(?: option)? (?:in|from|for|as) ${target()}`,
    ({ said, text, target: one }) => ({
      said,
      kind: 'choose',
      option: text('option'),
      target: one(),
    }),
  ),
  row(
    '(?:choose|select|pick) (?:the )?(?:option )?#(?<option>\\d+)(?: option)?',
    ({ said, text }) => ({
      said,
      kind: 'choose',
      option: text('option'),
    }),
  ),
  checkRow(`(?:check|tick) ${target()}`, true),
  checkRow(`(?:uncheck|untick) ${target()}`, false),
  checkRow(`(?:turn|switch) on ${target()}`, true),
  checkRow(`(?:turn|switch) off ${target()}`, false),
  checkRow(`(?:turn|switch) ${target()} on`, true),
  checkRow(`(?:turn|switch) ${target()} off`, false),
  row(`drag ${target()} (?:to|onto) ${target('to')}`, ({ said, target: one }) => ({
    said,
    kind: 'drag',
    target: one(),
    to: one('to'),
  })),
  row(
    `(?:upload|attach) #(?<file>\\d+) (?:to|in|into) ${target()}`,
    ({ said, text, target: one }) => ({
      said,
      kind: 'upload',
      file: text('file'),
      target: one(),
    }),
  ),
];

/** A few examples, for whoever wrote something else. */
const KNOWN =
  'tap "X", type "V" into "F", choose "O" in "F", check or uncheck "X", open /PATH, go back, scroll to "T", press Enter, joined by commas, "and" or "then"';

class Misread extends Error {}

/** Reads an instruction. */
export function readCommands(instruction: string, params: JsonObject = {}): Parsed {
  const clauses = readClauses(instruction, params);
  if (clauses.length === 0) return { problem: `there is nothing to do in it. It knows ${KNOWN}` };
  const commands: Command[] = [];
  let verb = '';
  for (const clause of clauses) {
    // "check "A" and "B"": a clause that begins with a name carries on with the verb before it.
    const carried = /^(?:the )?#/u.test(clause.pattern) && verb !== '';
    const pattern = carried ? `${verb} ${clause.pattern}` : clause.pattern;
    const read = readClause({ ...clause, pattern });
    if (typeof read === 'string') return { problem: read };
    commands.push(...read);
    if (!carried) verb = /^[^#]*?(?= (?:the |an? )?#)/u.exec(clause.pattern)?.[0] ?? '';
  }
  return { commands };
}

function readClause(clause: Clause): readonly Command[] | string {
  const quoted = JSON.stringify(clause.said);
  for (const { pattern, make } of ROWS) {
    const match = pattern.exec(clause.pattern);
    if (match === null) continue;
    try {
      return [make(partsOf(clause, match.groups ?? {}))].flat();
    } catch (error) {
      if (!(error instanceof Misread)) throw error;
      return `in ${quoted}, ${error.message}`;
    }
  }
  const bare = clause.values.length === 0 ? ' Names and values stand in quotes.' : '';
  return `the words ${quoted} mean nothing to it.${bare} It knows ${KNOWN}`;
}

function partsOf(clause: Clause, groups: Parts['groups']): Parts {
  const value = (group: string): Value => {
    const found = clause.values[Number(groups[group])];
    if (found === undefined || found.kind === 'bad') {
      throw new Misread(found?.problem ?? 'a value is missing');
    }
    return found;
  };
  const text = (group: string): string => {
    const found = value(group);
    if (found.kind === 'text') return found.text;
    throw new Misread('a secret can only be typed into a field');
  };
  return {
    said: clause.said,
    groups,
    value,
    text,
    target(prefix = '') {
      const noun = groups[`${prefix}after`] ?? groups[`${prefix}before`];
      const ordinal = groups[`${prefix}ordinal`];
      const number = ordinal === undefined ? undefined : ORDINALS[ordinal];
      return {
        name: text(`${prefix}name`),
        roles: noun === undefined ? [] : (NOUNS[noun] ?? []),
        ...(groups[`${prefix}within`] === undefined ? {} : { within: text(`${prefix}within`) }),
        ...(number === undefined ? {} : { ordinal: number }),
      };
    },
  };
}

function timesOf(words: string | undefined): number {
  const spelled = ['once', 'twice', 'three times', 'four times', 'five times'].indexOf(
    words ?? 'once',
  );
  const count = spelled === -1 ? Number.parseInt(words ?? '1', 10) : spelled + 1;
  if (count < 1 || count > 20) throw new Misread('something can be done 1 to 20 times');
  return count;
}

/** A key's name as the contract spells it: `page down` is PageDown. */
function keyOf(words: string): string {
  const name = words.replace(' ', '');
  const known: Readonly<Record<string, string>> = {
    return: 'Enter',
    esc: 'Escape',
    arrowup: 'ArrowUp',
    arrowdown: 'ArrowDown',
    arrowleft: 'ArrowLeft',
    arrowright: 'ArrowRight',
    pageup: 'PageUp',
    pagedown: 'PageDown',
  };
  return known[name] ?? name.slice(0, 1).toUpperCase() + name.slice(1);
}
