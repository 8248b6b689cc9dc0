// One outline item as one line of text. Kept apart because the screen, the change report and their
// byte counts must agree on it to the last character.
import { MAX_INDENT, quote } from './format.ts';
import type { OutlineItem } from './outline.ts';

/** The line without its indentation. At most `maxOptions` options of a choice are listed. */
export function formatItem(item: OutlineItem, shortId: string, maxOptions: number): string {
  let line = `${shortId} ${item.role}`;
  if (item.level !== undefined) line += ` ${item.level}`;
  if (item.name !== undefined) line += ` ${quote(item.name)}`;
  if (item.text !== undefined) line += ` text ${quote(item.text)}`;
  if (item.value !== undefined) line += ` value ${quote(item.value)}`;
  if (item.selection !== undefined) line += ` selection ${quote(item.selection)}`;
  if (item.target !== undefined) line += ` -> ${quote(item.target)}`;
  if (item.testId !== undefined) line += ` testid ${quote(item.testId)}`;
  if (item.options !== undefined) {
    line += ` options ${quote(item.options.slice(0, maxOptions))}`;
    if (item.options.length > maxOptions) line += ` of ${item.options.length}`;
  }
  if (item.states.length > 0) line += ` [${item.states.join(', ')}]`;
  return line;
}

export function indentOf(depth: number): string {
  return ' '.repeat(Math.min(depth, MAX_INDENT));
}
