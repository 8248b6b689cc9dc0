// The way back from text to nodes, for whoever reads only what a model reads: the plain-words model,
// tests, and tools that look at transcripts. It takes every string from its quotes and decides by the
// beginning of a line alone, so text of the app is never mistaken for structure. A line that it does
// not know is skipped and reported, not guessed at.
import { EMPTY_LINE, INCOMPLETE_LINE, NO_TREE_LINE, OUTSIDE_LINE } from './format.ts';
import { readBlocks } from './sections.ts';

export { readSections, type Sections } from './sections.ts';

/** One listed node. */
export interface ScreenLine {
  readonly id: string;
  readonly role: string;
  readonly level?: number;
  /** The accessible name, or the visible text (or placeholder) of a node without one. */
  readonly name?: string;
  /** Visible text, where the name does not tell it. */
  readonly text?: string;
  readonly value?: string;
  readonly selection?: string;
  /** Path of a link without a name. */
  readonly target?: string;
  readonly testId?: string;
  /** Options of a closed choice; `optionCount` is higher when not all are listed. */
  readonly options?: readonly string[];
  readonly optionCount?: number;
  /** `checked`, `disabled`, `selected`, `expanded`, `collapsed`, `pressed`, `focused`, `secure`. */
  readonly states: readonly string[];
  /** From 0. */
  readonly depth: number;
  /** Id of the node above it; absent at the top. */
  readonly parent?: string;
  /** Stands below the dividing line. */
  readonly offscreen: boolean;
}

export interface ScreenReading {
  readonly location?: string;
  readonly title?: string;
  /** In document order, those outside the view last. */
  readonly lines: readonly ScreenLine[];
  /** Nodes that the text says were left out. */
  readonly omitted: { readonly nodes: number; readonly controls: number };
  /** The engine could not read every node. */
  readonly incomplete: boolean;
  /** Lines that are none of the format. */
  readonly unreadable: readonly string[];
}

const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const NODE = /^( *)(e\d+) ([a-z][a-z0-9-]*)/u;
const PART = new RegExp(
  `^ (?:(\\d+)(?= |$)|(text|value|selection|testid|->) (${STRING})|options (\\[(?:${STRING},?)*\\])(?: of (\\d+))?|\\[([a-z, ]*)\\]|(${STRING}))`,
  'u',
);
const HEADER = new RegExp(`^(?:location (${STRING}))?(?: ?title (${STRING}))?$`, 'u');
const OMITTED = /^--- not shown: (\d+) nodes \((\d+) controls\)/u;
const CONTEXT = /^in (e\d+)$/u;

interface Header {
  location?: string;
  title?: string;
}
type Members = { -readonly [Key in keyof ScreenLine]?: ScreenLine[Key] };

/** Reads a screen text (without its fence). */
export function readScreen(text: string): ScreenReading {
  const lines: ScreenLine[] = [];
  const unreadable: string[] = [];
  const header: Header = {};
  const place = new Place();
  let omitted = { nodes: 0, controls: 0 };
  let incomplete = false;
  for (const line of text.split('\n')) {
    const node = readNode(line, place);
    const counts = node === undefined ? OMITTED.exec(line) : null;
    if (node !== undefined) lines.push(node);
    else if (line === OUTSIDE_LINE) place.goOutside();
    else if (line === INCOMPLETE_LINE) incomplete = true;
    else if (counts !== null) omitted = { nodes: Number(counts[1]), controls: Number(counts[2]) };
    else if (line === EMPTY_LINE || line === NO_TREE_LINE || line === '') continue;
    else if (!place.readContext(line) && !readHeader(line, header)) unreadable.push(line);
  }
  return { ...header, lines, omitted, incomplete, unreadable };
}

/** What a change report does to a reading: the screen as it is after it. */
export function applyChanges(before: ScreenReading, text: string): ScreenReading {
  const lines = [...before.lines];
  const unreadable: string[] = [];
  const { location, title, ...other } = before;
  const header: Header = {
    ...(location === undefined ? {} : { location }),
    ...(title === undefined ? {} : { title }),
  };
  let incomplete = false;
  const place = new Place();
  for (const line of text.split('\n')) {
    const sign = line.slice(0, 2);
    const rest = line.slice(2);
    const id = /^e\d+/u.exec(rest)?.[0];
    if (sign === '- ' && id !== undefined) {
      place.reset();
      removeNode(lines, id);
    } else if (sign === '~ ') {
      const node = readNode(rest, place);
      const index = lines.findIndex((known) => known.id === node?.id);
      const known = lines[index];
      if (node === undefined) unreadable.push(line);
      else if (known === undefined) addNode(lines, node);
      else lines[index] = { ...node, ...placeOf(known) };
    } else if (sign === '+ ') {
      const node = readNode(rest, place);
      if (node === undefined) unreadable.push(line);
      else addNode(lines, node);
    } else if (sign === '> ' && id !== undefined) {
      place.reset();
      moveNode(lines, id, / after (e\d+)$/u.exec(rest)?.[1]);
    } else if (line === OUTSIDE_LINE) place.goOutside();
    else if (line === INCOMPLETE_LINE) incomplete = true;
    else if (line === '' || line.startsWith('--- ')) continue;
    else if (!place.readContext(line) && !readHeader(line, header)) unreadable.push(line);
  }
  return { ...other, ...header, lines, incomplete, unreadable };
}

/**
 * The newest state that a series of message texts tells, oldest first: the last whole screen, with
 * the change reports after it. `undefined` when none of them holds a screen.
 */
export function readLatest(texts: readonly string[]): ScreenReading | undefined {
  let reading: ScreenReading | undefined;
  for (const text of texts) {
    for (const block of readBlocks(text)) {
      if (block.kind === 'screen') reading = readScreen(block.text);
      else if (reading !== undefined) reading = applyChanges(reading, block.text);
    }
  }
  return reading;
}

/** Where the next node line belongs: which nodes are open above it. */
class Place {
  readonly #open: string[] = [];
  #base: string | undefined;
  #outside = false;

  /** The parent of a node at `depth`, which becomes the open one there. */
  enter(id: string, depth: number): string | undefined {
    if (depth === 0) this.#base = undefined;
    const floor = this.#base === undefined ? 0 : 1;
    this.#open.length = Math.min(this.#open.length, depth);
    let parent = this.#base;
    for (let level = depth - 1; level >= floor; level -= 1) {
      const open = this.#open[level];
      if (open === undefined) continue;
      parent = open;
      break;
    }
    this.#open[depth] = id;
    return parent;
  }
  get outside(): boolean {
    return this.#outside;
  }
  goOutside(): void {
    this.reset();
    this.#outside = true;
  }
  reset(): void {
    this.#open.length = 0;
    this.#base = undefined;
  }
  readContext(line: string): boolean {
    const id = CONTEXT.exec(line)?.[1];
    if (id === undefined) return false;
    this.reset();
    this.#base = id;
    return true;
  }
}

function readHeader(line: string, header: Header): boolean {
  const match = line === '' ? null : HEADER.exec(line);
  if (match === null) return false;
  if (match[1] !== undefined) header.location = unquote(match[1]);
  // A report says so when the screen lost its title.
  if (match[2] === '""') delete header.title;
  else if (match[2] !== undefined) header.title = unquote(match[2]);
  return true;
}

function readNode(line: string, place: Place): ScreenLine | undefined {
  const head = NODE.exec(line);
  if (head === null) return undefined;
  const [whole, indent = '', id = '', role = ''] = head;
  const members: Members = {};
  let rest = line.slice(whole.length);
  while (rest !== '') {
    const part = PART.exec(rest);
    if (part === null || !takePart(members, part)) return undefined;
    rest = rest.slice(part[0].length);
  }
  const parent = place.enter(id, indent.length);
  return {
    id,
    role,
    ...members,
    states: members.states ?? [],
    depth: indent.length,
    ...(parent === undefined ? {} : { parent }),
    offscreen: place.outside,
  };
}

function takePart(members: Members, part: RegExpExecArray): boolean {
  const [, level, key, keyed, options, optionCount, states, name] = part;
  try {
    if (level !== undefined) members.level = Number(level);
    else if (keyed !== undefined) {
      const value = unquote(keyed);
      if (key === 'text') members.text = value;
      else if (key === 'value') members.value = value;
      else if (key === 'selection') members.selection = value;
      else if (key === 'testid') members.testId = value;
      else members.target = value;
    } else if (options !== undefined) {
      members.options = JSON.parse(options) as string[];
      members.optionCount = Number(optionCount ?? members.options.length);
    } else if (states !== undefined) members.states = states.split(', ');
    else members.name = unquote(name ?? '""');
    return true;
  } catch {
    // A string with a broken escape is not of this format.
    return false;
  }
}

function unquote(json: string): string {
  return JSON.parse(json) as string;
}

function placeOf(line: ScreenLine): Pick<ScreenLine, 'depth' | 'offscreen' | 'parent'> {
  const { depth, offscreen, parent } = line;
  return { depth, offscreen, ...(parent === undefined ? {} : { parent }) };
}

/** Ids of the node and of all below it. */
function branchOf(lines: readonly ScreenLine[], id: string): ReadonlySet<string> {
  const branch = new Set([id]);
  for (const line of lines) {
    if (line.parent !== undefined && branch.has(line.parent)) branch.add(line.id);
  }
  return branch;
}

function removeNode(lines: ScreenLine[], id: string): ScreenLine[] {
  const branch = branchOf(lines, id);
  const removed = lines.filter((line) => branch.has(line.id));
  lines.splice(0, lines.length, ...lines.filter((line) => !branch.has(line.id)));
  return removed;
}

function addNode(lines: ScreenLine[], node: ScreenLine): void {
  const known = lines.findIndex((line) => line.id === node.id);
  if (known >= 0) lines.splice(known, 1);
  const parent = lines.find((line) => line.id === node.parent);
  const branch = parent === undefined ? undefined : branchOf(lines, parent.id);
  const last = branch === undefined ? -1 : lines.findLastIndex((line) => branch.has(line.id));
  const depth = parent === undefined ? 0 : parent.depth + 1;
  lines.splice(last < 0 ? lines.length : last + 1, 0, { ...node, depth });
}

function moveNode(lines: ScreenLine[], id: string, after: string | undefined): void {
  const moved = removeNode(lines, id);
  const branch = after === undefined ? undefined : branchOf(lines, after);
  const last =
    branch === undefined
      ? lines.findIndex((line) => line.parent === moved[0]?.parent) - 1
      : lines.findLastIndex((line) => branch.has(line.id));
  lines.splice(Math.max(0, last + 1), 0, ...moved);
}
