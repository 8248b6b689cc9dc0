// Looking for things on a screen as it was read back from the prompt. A name matches whole, without
// regard to case, white space and a label's closing colon or star; it never matches a part, because
// the nearest thing to what was meant is exactly what a test must not touch.
import type { ScreenLine, ScreenReading } from '../../../core/agent/screen/read.ts';

/** What a clause names: a name, perhaps a kind of thing, a place and a number. */
export interface Target {
  readonly name: string;
  /** Roles that the clause's noun stands for; empty without one. */
  readonly roles: readonly string[];
  /** A text that stands in the same row, group or dialog. */
  readonly within?: string;
  /** From 0; -1 is the last. */
  readonly ordinal?: number;
}

/** The nouns that narrow a name, as words of a pattern. */
export const NOUNS: Readonly<Record<string, readonly string[]>> = {
  button: ['button'],
  link: ['link'],
  tab: ['tab'],
  checkbox: ['checkbox'],
  'check box': ['checkbox'],
  switch: ['switch'],
  toggle: ['switch'],
  radio: ['radio'],
  'radio button': ['radio'],
  option: ['option', 'radio'],
  field: ['textbox', 'searchbox', 'combobox', 'spinbutton', 'listbox'],
  'text field': ['textbox', 'searchbox', 'combobox', 'spinbutton'],
  textbox: ['textbox', 'searchbox'],
  box: ['textbox', 'searchbox', 'combobox', 'spinbutton', 'checkbox'],
  input: ['textbox', 'searchbox', 'combobox', 'spinbutton'],
  combobox: ['combobox'],
  dropdown: ['combobox', 'listbox'],
  list: ['combobox', 'listbox', 'list'],
  'menu item': ['menuitem', 'menuitemcheckbox', 'menuitemradio'],
  item: ['listitem', 'menuitem', 'option', 'treeitem'],
  heading: ['heading'],
  dialog: ['dialog', 'alertdialog'],
  message: ['alert', 'status', 'text'],
  alert: ['alert'],
  status: ['status'],
  image: ['image'],
  row: ['row'],
  text: [],
};

export const TAPPABLE: readonly string[] = [
  'button',
  'link',
  'tab',
  'checkbox',
  'switch',
  'radio',
  'option',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'treeitem',
  'textbox',
  'searchbox',
  'combobox',
  'spinbutton',
  'listbox',
  'slider',
  'gridcell',
];
export const TYPABLE: readonly string[] = ['textbox', 'searchbox', 'combobox', 'spinbutton'];
export const CHOOSABLE: readonly string[] = ['combobox', 'listbox'];
export const CHECKABLE: readonly string[] = [
  'checkbox',
  'switch',
  'radio',
  'menuitemcheckbox',
  'menuitemradio',
];

/** A text as names are compared. */
export function plain(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .replace(/\s*[:*]\s*$/u, '')
    .trim()
    .toLowerCase();
}

/** What a person would call a line by. */
export function titleOf(line: ScreenLine): string {
  const name = line.name ?? line.text;
  return name === undefined ? line.role : `${line.role} ${JSON.stringify(name)}`;
}

/** The lines with exactly this name; by test id where no name fits. */
export function named(reading: ScreenReading, name: string): readonly ScreenLine[] {
  const wanted = plain(name);
  const byName = reading.lines.filter((line) =>
    [line.name, line.text].some((text) => text !== undefined && plain(text) === wanted),
  );
  return byName.length > 0 ? byName : reading.lines.filter((line) => line.testId === name);
}

export type Found =
  | { readonly line: ScreenLine }
  /** Not there: looking further may help. */
  | { readonly missing: string }
  /** There, but it cannot be meant: looking further does not help. */
  | { readonly problem: string };

/** The one line that a target means for a use that needs one of `roles`; empty: any. */
export function findTarget(
  reading: ScreenReading,
  target: Target,
  use: { readonly roles: readonly string[]; readonly any?: boolean; readonly what: string },
): Found {
  const shown = JSON.stringify(target.name);
  const all = named(reading, target.name).filter(
    (line) => target.roles.length === 0 || target.roles.includes(line.role),
  );
  if (all.length === 0) return { missing: `there is no ${shown} on the screen` };
  const fit = all.filter((line) => use.roles.includes(line.role));
  const usable = fit.length > 0 || use.any !== true ? fit : innermost(reading, all);
  if (usable.length === 0) {
    return { problem: `${shown} is ${list(all.map(titleOf))}, nothing ${use.what}` };
  }
  const near = target.within === undefined ? usable : within(reading, usable, target.within);
  if (near.length === 0) {
    return { missing: `there is no ${shown} in ${JSON.stringify(target.within)}` };
  }
  if (target.ordinal !== undefined) {
    const line = near.at(target.ordinal);
    return line === undefined ? { missing: `there are only ${near.length} of ${shown}` } : { line };
  }
  const [only] = near;
  if (near.length === 1 && only !== undefined) return { line: only };
  const places = near.map((line) => `${line.id} ${titleOf(line)}${placeOf(reading, line)}`);
  return {
    problem: `${near.length} things are called ${shown}: ${list(places)}; say which with in "..." or first, second, last`,
  };
}

/** Those that hold no other of the list: a card and the title in it are one thing. */
function innermost(reading: ScreenReading, lines: readonly ScreenLine[]): readonly ScreenLine[] {
  return lines.filter(
    (line) => !lines.some((other) => other !== line && ancestors(reading, other).includes(line)),
  );
}

/** Those that share the smallest group with the text. */
function within(
  reading: ScreenReading,
  lines: readonly ScreenLine[],
  text: string,
): readonly ScreenLine[] {
  const wanted = plain(text);
  const holds = (line: ScreenLine): boolean =>
    [line.name, line.text, line.value].some(
      (part) => part !== undefined && plain(part).includes(wanted),
    );
  const anchors = reading.lines.filter(holds);
  const depths = lines.map((line) => {
    const above = ancestors(reading, line);
    const shared = anchors.flatMap((anchor) => {
      const common = above.find((up) => up === anchor || ancestors(reading, anchor).includes(up));
      return common === undefined ? [] : [common.depth];
    });
    return Math.max(-1, ...shared);
  });
  const deepest = Math.max(-1, ...depths);
  return deepest === -1 ? [] : lines.filter((_, index) => depths[index] === deepest);
}

/** The lines above, nearest first. */
function ancestors(reading: ScreenReading, line: ScreenLine): readonly ScreenLine[] {
  const found: ScreenLine[] = [];
  let { parent } = line;
  while (parent !== undefined && found.length < 100) {
    const up = reading.lines.find((other) => other.id === parent);
    if (up === undefined) break;
    found.push(up);
    parent = up.parent;
  }
  return found;
}

function placeOf(reading: ScreenReading, line: ScreenLine): string {
  const up = ancestors(reading, line)[0];
  if (up === undefined) return '';
  const beside = reading.lines.find(
    (other) => other.parent === up.id && other !== line && (other.name ?? other.text) !== undefined,
  );
  const name = up.name ?? beside?.name ?? beside?.text;
  return name === undefined ? '' : ` in ${JSON.stringify(name)}`;
}

/** At most five of a list, as prose. */
export function list(items: readonly string[]): string {
  const more = items.length > 5 ? ` and ${items.length - 5} more` : '';
  return items.slice(0, 5).join(', ') + more;
}

export type Labelled = { readonly value: string } | { readonly problem: string } | undefined;

/**
 * The value that stands with a label: a control's own, a definition's, the rest of "Label: value", or
 * the text beside. Nothing when the label is not there.
 */
export function labelled(reading: ScreenReading, label: string): Labelled {
  const wanted = plain(label);
  const values: string[] = [];
  for (const line of named(reading, label)) {
    if (line.states.includes('secure')) {
      return { problem: `${titleOf(line)} is a secure field, its value is never shown` };
    }
    const value = valueBeside(reading, line);
    if (value !== undefined) values.push(value);
  }
  if (values.length === 0) {
    for (const { name, text } of reading.lines) {
      const match = /^([^:]{1,80}):\s+(\S.*)$/su.exec(name ?? text ?? '');
      if (match !== null && plain(match[1] ?? '') === wanted) values.push(match[2] ?? '');
    }
  }
  const distinct = [...new Set(values)];
  const [value] = distinct;
  if (value === undefined) return undefined;
  return distinct.length === 1
    ? { value }
    : {
        problem: `${JSON.stringify(label)} stands with ${list(distinct.map((text) => JSON.stringify(text)))}`,
      };
}

function valueBeside(reading: ScreenReading, line: ScreenLine): string | undefined {
  if (CHECKABLE.includes(line.role)) return line.states.includes('checked') ? 'on' : 'off';
  if (line.value !== undefined) return line.value;
  if (TYPABLE.includes(line.role)) return '';
  if (line.name !== undefined && line.text !== undefined) return line.text;
  if (TAPPABLE.includes(line.role) || line.role === 'heading') return undefined;
  const at = reading.lines.indexOf(line);
  const next = reading.lines[at + 1];
  if (next === undefined) return undefined;
  const related = next.parent === line.parent || next.parent === line.id;
  if (!related || TAPPABLE.includes(next.role) || next.role === 'heading') return undefined;
  return next.name ?? next.text ?? next.value;
}
