// The words of the screen text: every marker that `render.ts` writes and `read.ts` reads is here, so
// that the two cannot drift apart. The rule of this file: text of the app enters the prompt only as
// a JSON string on one line. It can then forge neither a node, nor a section, nor a fence, because
// those are recognised only at the start of a line. docs/screen-format.md describes the format.

/** Lines that fence the whole screen. */
export const SCREEN_FENCE = { open: '<screen>', close: '</screen>' } as const;
/** Lines that fence a change report. */
export const CHANGES_FENCE = { open: '<changes>', close: '</changes>' } as const;
/** Stands before the nodes that are scrolled out of the view. */
export const OUTSIDE_LINE = '--- outside the view ---';
/** The engine could not read every node. */
export const INCOMPLETE_LINE = '--- incomplete: the app has nodes that could not be read ---';
/** The engine has no tree, only a picture. */
export const NO_TREE_LINE = '--- no tree: this screen can be seen only in a picture ---';
/** The tree holds nothing worth a line. */
export const EMPTY_LINE = '--- empty: nothing to read ---';
/** The whole change report, when the screen stayed as it was. */
export const UNCHANGED_TEXT = 'No visible change.';
/** The same for a screen of which only a part is known. */
export const UNCHANGED_PART_TEXT =
  'No change in the part of the screen that could be read; the rest is unknown.';
/** What takes the place of an older screen or change report in the transcript. */
export const ELIDED_TEXT = '(older screen removed; a newer one follows)';

/** The role word of a node that has none. */
const TEXT_ROLE = 'text';
/** The state word for `expanded: false`; every other state is written only when it is true. */
export const COLLAPSED = 'collapsed';

/** The kinds of model request, each with its own rules. */
export type PromptKind = 'act' | 'judge' | 'extract';

/** First lines of the sections of a message that opens a request. */
export const SECTION_HEADERS = {
  act: '# Task',
  judge: '# Statement',
  extract: '# Wanted data',
  params: '# Params',
  schema: '# JSON Schema of value',
  context: '# About the app',
  ledger: '# Completed steps of this test',
  screen: '# Screen',
} as const;

/** A first look is never longer than this, in UTF-8 bytes, whatever the agent's own cap. */
export const FIRST_LOOK_BYTES = 12_000;
/** Deeper nodes stand at this depth, so that indentation cannot eat the budget. */
export const MAX_INDENT = 40;

/** What was left out of a screen text. */
export interface Omitted {
  /** Nodes that would have had a line. */
  readonly nodes: number;
  /** Those of them that are listed controls. */
  readonly controls: number;
  /** How many lie above and below the view; the rest lies aside, or its place is unknown. */
  readonly above: number;
  readonly below: number;
  /** Left out because the text reached its limit. */
  readonly cut: number;
}

/** Characters that JSON leaves alone and that a reader could take for a new line, for another
 * order of the text, or not see at all. Joiners stay: emoji and several scripts need them. */
const UNSAFE =
  /[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Any JSON value on one line, without characters that hide or reorder text. */
export function quote(value: unknown): string {
  // Outside of strings JSON is plain ASCII, so every match stands where an escape means the same.
  return (JSON.stringify(value) ?? 'null').replace(UNSAFE, (character) => {
    let escaped = '';
    for (let index = 0; index < character.length; index += 1) {
      escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
    }
    return escaped;
  });
}

/** The role as one word of the format, whatever the engine sent. */
export function roleWord(role: string | undefined): string {
  if (role === undefined || role === '') return TEXT_ROLE;
  if (/^[a-z][a-z0-9-]{0,39}$/u.test(role)) return role;
  const word = role
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^[^a-z]+|-+$/gu, '')
    .slice(0, 40);
  return word === '' ? TEXT_ROLE : word;
}

/** The line that says what was left out, or `undefined` when nothing was. */
export function omittedLine(omitted: Omitted): string | undefined {
  if (omitted.nodes === 0) return undefined;
  const where = [
    omitted.above > 0 ? `${omitted.above} above the view` : '',
    omitted.below > 0 ? `${omitted.below} below` : '',
    omitted.cut > 0 ? `${omitted.cut} over the size limit` : '',
  ].filter((part) => part !== '');
  const counts = `${omitted.nodes} nodes (${omitted.controls} controls)`;
  return `--- not shown: ${counts}${where.length === 0 ? '' : `: ${where.join(', ')}`} ---`;
}
