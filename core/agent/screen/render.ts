// The screen as text: which listed nodes are shown, in which order, and where the text is cut. The
// rule that lives here: what is left out is always said and counted, and a node is shown whole or not
// at all. Focused and dialog nodes have the first claim on a bounded text, then what is in the view.
import { utf8Length } from '../../base/text.ts';
import type { EngineSnapshot } from '../../contract/observation.ts';
import {
  EMPTY_LINE,
  FIRST_LOOK_BYTES,
  INCOMPLETE_LINE,
  MAX_INDENT,
  NO_TREE_LINE,
  omittedLine,
  OUTSIDE_LINE,
  quote,
  type Omitted,
} from './format.ts';
import type { ShortIds } from './ids.ts';
import { formatItem, indentOf } from './line.ts';
import { createPlacer } from './place.ts';
import { isNear, outlineOf, type Outline, type OutlineItem, type TextMask } from './outline.ts';

/**
 * `first-look`: the view, the focused node and dialogs, with counts of the rest, at most 12 000
 * bytes. `whole`: every node, those outside the view below a dividing line.
 */
export type ScreenView = 'first-look' | 'whole';

export interface RenderOptions {
  /** The attempt's id table; shown nodes are entered. */
  readonly ids: ShortIds;
  readonly view: ScreenView;
  /** Cap of the text in UTF-8 bytes; below about 2000 the fixed lines alone may exceed it. */
  readonly maxBytes: number;
  /** Masks secrets in every string; leave it out for a snapshot that is masked already. */
  readonly redactor?: TextMask | undefined;
}

export interface RenderedScreen {
  /** Without the fence; no line feed at the end. */
  readonly text: string;
  /** UTF-8 bytes of `text`. */
  readonly bytes: number;
  /** Engine ids of the nodes that have a line. */
  readonly shown: ReadonlySet<string>;
  /** Nodes that have none although they would deserve one. */
  readonly omitted: Omitted;
  /** The engine left nodes out, or the text was cut: never call this screen unchanged. */
  readonly truncated: boolean;
}

const MAX_OPTIONS: Readonly<Record<ScreenView, number>> = { 'first-look': 20, whole: 1000 };
/** Room for the line that counts what was left out. */
const RESERVED_BYTES = 160;

export function renderScreen(snapshot: EngineSnapshot, options: RenderOptions): RenderedScreen {
  return renderOutline(outlineOf(snapshot, options.redactor), options);
}

/** The same from an outline that is there already. */
export function renderOutline(outline: Outline, options: RenderOptions): RenderedScreen {
  const { items } = outline;
  const whole = options.view === 'whole';
  const cap = whole ? options.maxBytes : Math.min(options.maxBytes, FIRST_LOOK_BYTES);
  const lines = headerOf(outline);
  const body: BodyState = {
    lines,
    left: cap - RESERVED_BYTES - lines.reduce((sum, line) => sum + utf8Length(line) + 1, 0),
    full: false,
    depth: new Int32Array(items.length).fill(-1),
    holder: new Int32Array(items.length).fill(-1),
    shown: new Set(),
  };
  writeNear(items, body, options);
  if (whole && !body.full) writeOutside(items, body, options);
  if (items.length === 0) {
    lines.push(outline.treeUnavailable ? NO_TREE_LINE : EMPTY_LINE);
  }
  const omitted = countOmitted(items, body.shown, whole);
  const note = omittedLine(omitted);
  if (note !== undefined) lines.push(note);
  if (outline.incomplete) lines.push(INCOMPLETE_LINE);
  const text = lines.join('\n');
  return {
    text,
    bytes: utf8Length(text),
    shown: body.shown,
    omitted,
    truncated: outline.incomplete || omitted.cut > 0,
  };
}

interface BodyState {
  readonly lines: string[];
  /** Bytes that may still be written. */
  left: number;
  /** A node did not fit: nothing after it is shown, but what has the first claim. */
  full: boolean;
  /** By item: the depth of its line; -1 without one. */
  readonly depth: Int32Array;
  /** By item: itself when it has a line, else its nearest ancestor with one, or -1. */
  readonly holder: Int32Array;
  readonly shown: Set<string>;
}

function headerOf(outline: Outline): string[] {
  const { location, title } = outline;
  if (location === undefined && title === undefined) return [];
  const parts = [
    ...(location === undefined ? [] : [`location ${quote(location)}`]),
    ...(title === undefined ? [] : [`title ${quote(title)}`]),
  ];
  return [parts.join(' ')];
}

function writeNear(items: readonly OutlineItem[], body: BodyState, options: RenderOptions): void {
  const maxOptions = MAX_OPTIONS[options.view];
  let claimed = 0;
  const claims = new Map<number, number>();
  items.forEach((item, index) => {
    if (!item.always) return;
    const bytes = sizeOf(formatItem(item, ID_ROOM, maxOptions), MAX_INDENT);
    claims.set(index, bytes);
    claimed += bytes;
  });
  items.forEach((item, index) => {
    const holder = item.parent < 0 ? -1 : (body.holder[item.parent] as number);
    body.holder[index] = holder;
    if (!isNear(item)) return;
    claimed -= claims.get(index) ?? 0;
    if (body.full && !item.always) return;
    const depth = holder < 0 ? 0 : (body.depth[holder] as number) + 1;
    const bytes = sizeOf(formatItem(item, ID_ROOM, maxOptions), depth);
    if (bytes > body.left - (item.always ? 0 : claimed)) {
      body.full = true;
      return;
    }
    writeItem(body, { item, index, depth, options });
  });
}

/** Nodes outside the view; a line `in e4` says which shown node the next ones belong to. */
function writeOutside(
  items: readonly OutlineItem[],
  body: BodyState,
  options: RenderOptions,
): void {
  const placer = createPlacer();
  let begun = false;
  for (const [index, item] of items.entries()) {
    if (isNear(item)) continue;
    const holder = item.parent < 0 ? -1 : (body.holder[item.parent] as number);
    body.holder[index] = holder;
    const { depth, context } = placer.enter(index, holder);
    const parent = context === undefined ? undefined : items[context];
    const head = [
      ...(begun ? [] : [OUTSIDE_LINE]),
      ...(parent === undefined ? [] : [`in ${options.ids.short(parent.id)}`]),
    ];
    const bytes =
      head.reduce((sum, line) => sum + line.length + 1, 0) +
      sizeOf(formatItem(item, ID_ROOM, MAX_OPTIONS.whole), depth);
    if (bytes > body.left) return;
    begun = true;
    for (const line of head) writeLine(body, line);
    writeItem(body, { item, index, depth, options });
  }
}

/** Stands for an id that is not given out yet: numbers are for nodes that get a line. */
const ID_ROOM = 'e000000';

function sizeOf(line: string, depth: number): number {
  return utf8Length(line) + Math.min(depth, MAX_INDENT) + 1;
}

function writeItem(
  body: BodyState,
  entry: {
    readonly item: OutlineItem;
    readonly index: number;
    readonly depth: number;
    readonly options: RenderOptions;
  },
): void {
  const { item, index, depth, options } = entry;
  const line = formatItem(item, options.ids.short(item.id), MAX_OPTIONS[options.view]);
  writeLine(body, indentOf(depth) + line);
  body.depth[index] = depth;
  body.holder[index] = index;
  body.shown.add(item.id);
}

function writeLine(body: BodyState, line: string): void {
  body.lines.push(line);
  body.left -= utf8Length(line) + 1;
}

function countOmitted(
  items: readonly OutlineItem[],
  shown: ReadonlySet<string>,
  whole: boolean,
): Omitted {
  const counts = { nodes: 0, controls: 0, above: 0, below: 0, cut: 0 };
  for (const item of items) {
    if (shown.has(item.id)) continue;
    counts.nodes += 1;
    if (item.control) counts.controls += 1;
    if (whole || isNear(item)) counts.cut += 1;
    else if (item.side === 'above') counts.above += 1;
    else if (item.side === 'below') counts.below += 1;
  }
  return counts;
}
