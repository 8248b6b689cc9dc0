// What an action changed, as text. The rule that lives here: a report is worth sending only while it
// is smaller news than the screen; beyond about half of it, or after a change of location, the whole
// first look comes again. And a screen of which only a part is known is never called unchanged.
import { utf8Length } from '../../base/text.ts';
import type { EngineSnapshot } from '../../contract/observation.ts';
import { diffOutlines, siblingBefore, type ScreenDiff } from './diff.ts';
import {
  FIRST_LOOK_BYTES,
  INCOMPLETE_LINE,
  OUTSIDE_LINE,
  quote,
  UNCHANGED_PART_TEXT,
  UNCHANGED_TEXT,
} from './format.ts';
import type { ShortIds } from './ids.ts';
import { formatItem, indentOf } from './line.ts';
import { createPlacer } from './place.ts';
import { isNear, outlineOf, type Outline, type OutlineItem, type TextMask } from './outline.ts';
import { renderOutline } from './render.ts';

export interface ChangesOptions {
  /** What the reader's last screen or report was made from. */
  readonly before: EngineSnapshot;
  readonly after: EngineSnapshot;
  /** Engine ids of the nodes that the reader holds: `shown` of the last screen or report. */
  readonly shown: ReadonlySet<string>;
  readonly ids: ShortIds;
  /** Cap of a whole screen, as in `renderScreen`; a report is at most a first look long. */
  readonly maxBytes: number;
  readonly redactor?: TextMask | undefined;
}

export interface RenderedChanges {
  /** `unchanged`: `text` is a sentence; the others are to be fenced (`resultMessage` does it). */
  readonly kind: 'unchanged' | 'changes' | 'screen';
  readonly text: string;
  /** UTF-8 bytes of `text`. */
  readonly bytes: number;
  /** Engine ids of the nodes that the reader holds now. */
  readonly shown: ReadonlySet<string>;
  /** The engine left nodes out, or the whole screen's text was cut. */
  readonly truncated: boolean;
}

/** More news than this cannot be shorter than a first look. */
const MAX_NEWS = 1000;

export function renderChanges(options: ChangesOptions): RenderedChanges {
  const { shown, ids, maxBytes } = options;
  const before = outlineOf(options.before, options.redactor);
  const after = outlineOf(options.after, options.redactor);
  const whole = (): RenderedChanges => {
    const screen = renderOutline(after, { ids, view: 'first-look', maxBytes });
    const { text, bytes, truncated } = screen;
    return { kind: 'screen', text, bytes, truncated, shown: screen.shown };
  };
  if (before.location !== after.location || before.treeUnavailable !== after.treeUnavailable) {
    return whole();
  }
  const diff = diffOutlines(before, after, shown);
  const count =
    diff.added.length +
    diff.changed.length +
    diff.moved.length +
    diff.removed.reduce((sum, entry) => sum + 1 + entry.below, 0);
  const size = Math.max(shown.size, after.items.filter(isNear).length);
  if (count * 2 > size || count > MAX_NEWS) return whole();
  const lines = reportLines(diff, { before, after, ids, shown });
  if (lines.length === 0) {
    const text = after.incomplete || before.incomplete ? UNCHANGED_PART_TEXT : UNCHANGED_TEXT;
    return { kind: 'unchanged', text, bytes: utf8Length(text), shown, truncated: after.incomplete };
  }
  if (after.incomplete) lines.push(INCOMPLETE_LINE);
  const text = lines.join('\n');
  const bytes = utf8Length(text);
  if (bytes > Math.min(maxBytes, FIRST_LOOK_BYTES)) return whole();
  return {
    kind: 'changes',
    text,
    bytes,
    shown: heldAfter(diff, { before, after, shown }),
    truncated: after.incomplete,
  };
}

interface ReportContext {
  readonly before: Outline;
  readonly after: Outline;
  readonly shown: ReadonlySet<string>;
  readonly ids: ShortIds;
}

function reportLines(diff: ScreenDiff, context: ReportContext): string[] {
  const { before, after, ids } = context;
  const lines: string[] = [];
  if (after.title !== before.title) lines.push(`title ${quote(after.title ?? '')}`);
  for (const { index, below } of diff.removed) {
    const { id, role, name } = before.items[index] as OutlineItem;
    const what = name === undefined ? role : `${role} ${quote(name)}`;
    const along = below === 0 ? '' : ` and ${below} ${below === 1 ? 'node' : 'nodes'} in it`;
    lines.push(`- ${ids.short(id)} ${what}${along}`);
  }
  for (const index of diff.changed) {
    const item = after.items[index] as OutlineItem;
    lines.push(`~ ${formatItem(item, ids.short(item.id), MAX_OPTIONS)}`);
  }
  const near = diff.added.filter((index) => isNear(after.items[index] as OutlineItem));
  const outside = diff.added.filter((index) => !isNear(after.items[index] as OutlineItem));
  const told = toldNodes(diff, context);
  lines.push(...addedLines(near, context, told));
  const known = new Set(told);
  for (const index of near) known.add((after.items[index] as OutlineItem).id);
  for (const index of diff.moved) {
    const place = siblingBefore(after, index, known);
    const item = after.items[index] as OutlineItem;
    lines.push(
      `> ${ids.short(item.id)} ${place === undefined ? 'first' : `after ${ids.short(place)}`}`,
    );
  }
  if (outside.length > 0) lines.push(OUTSIDE_LINE, ...addedLines(outside, context, told));
  if (diff.unseen > 0) {
    lines.push(`--- ${counted(diff.unseen)} new or changed outside the view, not shown ---`);
  }
  if (diff.left + diff.entered > 0) {
    lines.push(
      `--- the view moved: ${diff.left} listed nodes left it, ${diff.entered} came back ---`,
    );
  }
  return lines;
}

const MAX_OPTIONS = 20;

function counted(nodes: number): string {
  return nodes === 1 ? '1 node' : `${nodes} nodes`;
}

/** Ids that the reader holds once the removals are read, before any addition. */
function toldNodes(diff: ScreenDiff, context: Omit<ReportContext, 'ids'>): ReadonlySet<string> {
  const told = new Set(context.shown);
  const gone = new Set(diff.removed.map((entry) => entry.index));
  context.before.items.forEach(({ id, parent }, index) => {
    if (gone.has(parent)) gone.add(index);
    if (gone.has(index)) told.delete(id);
  });
  return told;
}

function heldAfter(diff: ScreenDiff, context: Omit<ReportContext, 'ids'>): ReadonlySet<string> {
  const held = new Set(toldNodes(diff, context));
  for (const index of diff.added) held.add((context.after.items[index] as OutlineItem).id);
  return held;
}

/** Added nodes with their place: below another added node, or after a line `in e4`. */
function addedLines(
  indices: readonly number[],
  context: ReportContext,
  told: ReadonlySet<string>,
): string[] {
  const { after, ids } = context;
  const lines: string[] = [];
  const wanted = new Set(indices);
  const entered = new Set<number>();
  const placer = createPlacer();
  for (const index of indices) {
    const item = after.items[index] as OutlineItem;
    let holder = item.parent;
    while (holder >= 0) {
      const { id, parent } = after.items[holder] as OutlineItem;
      if (entered.has(holder) || (told.has(id) && !wanted.has(holder))) break;
      holder = parent;
    }
    entered.add(index);
    const { depth, context: named } = placer.enter(index, holder);
    if (named !== undefined) lines.push(`in ${ids.short((after.items[named] as OutlineItem).id)}`);
    lines.push(`+ ${indentOf(depth)}${formatItem(item, ids.short(item.id), MAX_OPTIONS)}`);
  }
  return lines;
}
