// The key grammar that every engine shares: modifiers and one key, joined by `+`. One parser, so
// that no engine carries its own and the same spelling means the same key everywhere.
import { TAP_MODIFIERS, type TapModifier } from './actions.ts';

/** Keys with a name, in contract order. */
export const KEY_NAMES = [
  'Enter',
  'Escape',
  'Tab',
  'Backspace',
  'Delete',
  'Insert',
  'Space',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'Home',
  'End',
  'PageUp',
  'PageDown',
  'F1',
  'F2',
  'F3',
  'F4',
  'F5',
  'F6',
  'F7',
  'F8',
  'F9',
  'F10',
  'F11',
  'F12',
] as const;
export type KeyName = (typeof KEY_NAMES)[number];

/** A key as `parseKey` reads it. */
export interface ParsedKey {
  /** Distinct, in the order written. */
  readonly modifiers: readonly TapModifier[];
  /** A name of `KEY_NAMES` when `named`, else one printable character. */
  readonly key: string;
  readonly named: boolean;
}

const NAMES: ReadonlySet<string> = new Set(KEY_NAMES);
const MODIFIERS: ReadonlySet<string> = new Set(TAP_MODIFIERS);

/** Reads `Enter`, `Control+a`, `Shift++`; answers `undefined` for anything outside the grammar. */
export function parseKey(text: string): ParsedKey | undefined {
  if (typeof text !== 'string') return undefined;
  // The last plus is the key itself when nothing comes after it.
  const plus = text.endsWith('+');
  const cut = plus ? text.length - 1 : text.lastIndexOf('+') + 1;
  const key = text.slice(cut);
  const named = NAMES.has(key);
  if (!named && !/^\P{C}$/u.test(key)) return undefined;
  if (cut === 0) return { modifiers: [], key, named };
  const before = text.slice(0, cut);
  if (!before.endsWith('+')) return undefined;
  const modifiers = before.slice(0, -1).split('+');
  if (!modifiers.every(isModifier) || new Set(modifiers).size !== modifiers.length) {
    return undefined;
  }
  return { modifiers, key, named };
}

function isModifier(text: string): text is TapModifier {
  return MODIFIERS.has(text);
}
