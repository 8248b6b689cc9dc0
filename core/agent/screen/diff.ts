// What became of the nodes between two outlines, seen by a reader who holds some of them. The rule of
// this file: a node is named only when the reader would otherwise believe something false, or when it
// came into the view. Folding is not news: a wrapper that gained or lost its line, with the same words
// inside, is passed over. Linear but for the order check, which is n log n where the order changed.
import { isNear, type Outline, type OutlineItem } from './outline.ts';

export interface ScreenDiff {
  /** Indices into the older outline: the topmost removed nodes, with the held nodes that go along. */
  readonly removed: readonly { readonly index: number; readonly below: number }[];
  /** Indices into the newer outline, in document order. */
  readonly changed: readonly number[];
  readonly added: readonly number[];
  readonly moved: readonly number[];
  /** Nodes outside the view that the reader does not hold, and that are new or not as they were. */
  readonly unseen: number;
  /** Held nodes that left the view, and held ones that came into it. */
  readonly left: number;
  readonly entered: number;
}

/** New nodes outside the view are listed up to this number, else counted. */
const MAX_NEW_OUTSIDE = 12;

/** `held`: engine ids of the nodes whose lines the reader has. */
export function diffOutlines(
  before: Outline,
  after: Outline,
  held: ReadonlySet<string>,
): ScreenDiff {
  const older = indexById(before.items);
  const newer = indexById(after.items);
  const gone = findRemoved(before, { newer, after, held });
  const changed: number[] = [];
  const added: number[] = [];
  const common: number[] = [];
  const wasThere = before.present();
  const newOutside: number[] = [];
  let unseen = 0;
  let left = 0;
  let entered = 0;
  after.items.forEach((item, index) => {
    const old = before.items[older.get(item.id) ?? -1];
    const near = isNear(item);
    if (old === undefined) {
      if (wasThere.has(item.id) && isBare(item)) return;
      if (near) added.push(index);
      else newOutside.push(index);
      return;
    }
    const isSame = sameContent(old, item);
    if (!held.has(item.id)) {
      if (near && (!isSame || !isNear(old))) added.push(index);
      else if (!isSame) unseen += 1;
      return;
    }
    if (near && !isNear(old)) entered += 1;
    if (!near && isNear(old)) left += 1;
    if (gone.lost.has(item.id) || hasNewParent(before, after, { item, old, older, newer })) {
      added.push(index);
      return;
    }
    common.push(index);
    if (!isSame) changed.push(index);
  });
  if (newOutside.length > MAX_NEW_OUTSIDE) unseen += newOutside.length;
  else added.push(...newOutside);
  const places = common.map((index) => older.get((after.items[index] as OutlineItem).id) ?? 0);
  return {
    removed: gone.removed,
    changed,
    added,
    moved: findMoved(after, common, places),
    unseen,
    left,
    entered,
  };
}

function indexById(items: readonly OutlineItem[]): ReadonlyMap<string, number> {
  return new Map(items.map((item, index) => [item.id, index]));
}

const CONTENT = [
  'role',
  'level',
  'name',
  'text',
  'value',
  'selection',
  'target',
  'testId',
] as const;

/** Whether both would have the same line. Field by field: formatting each would cost far more. */
function sameContent(a: OutlineItem, b: OutlineItem): boolean {
  return (
    CONTENT.every((key) => a[key] === b[key]) &&
    sameList(a.states, b.states) &&
    sameList(a.options ?? [], b.options ?? [])
  );
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}

/** A container that is on the list only for what it holds. */
function isBare(item: OutlineItem): boolean {
  return (
    item.name === undefined &&
    item.value === undefined &&
    item.testId === undefined &&
    item.states.length === 0 &&
    !item.control
  );
}

function findRemoved(
  before: Outline,
  options: {
    readonly newer: ReadonlyMap<string, number>;
    readonly after: Outline;
    readonly held: ReadonlySet<string>;
  },
): { readonly removed: ScreenDiff['removed']; readonly lost: ReadonlySet<string> } {
  const { newer, after, held } = options;
  const { items } = before;
  const there = after.present();
  // A node that lost its line, but not its place in the tree, still holds its children.
  const holds = new Uint8Array(items.length);
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const { id, parent } = items[index] as OutlineItem;
    if (parent >= 0 && (holds[index] === 1 || newer.has(id))) holds[parent] = 1;
  }
  const removed: { index: number; below: number }[] = [];
  const lost = new Set<string>();
  const entryOf = new Int32Array(items.length).fill(-1);
  items.forEach(({ id, parent }, index) => {
    const above = parent < 0 ? -1 : (entryOf[parent] as number);
    const entry = removed[above];
    if (entry !== undefined) {
      entryOf[index] = above;
      if (newer.has(id)) lost.add(id);
      else if (held.has(id)) entry.below += 1;
    } else if (held.has(id) && !newer.has(id) && (!there.has(id) || holds[index] === 0)) {
      entryOf[index] = removed.length;
      removed.push({ index, below: 0 });
    }
  });
  return { removed, lost };
}

interface Pair {
  readonly item: OutlineItem;
  readonly old: OutlineItem;
  readonly older: ReadonlyMap<string, number>;
  readonly newer: ReadonlyMap<string, number>;
}

/** Whether the nearest ancestor that both outlines list is another one now. */
function hasNewParent(before: Outline, after: Outline, pair: Pair): boolean {
  const now = sharedAncestor(after.items, pair.item.parent, pair.older);
  const then = sharedAncestor(before.items, pair.old.parent, pair.newer);
  return now !== then;
}

function sharedAncestor(
  items: readonly OutlineItem[],
  from: number,
  other: ReadonlyMap<string, number>,
): string | undefined {
  for (let index = from; index >= 0; ) {
    const item = items[index] as OutlineItem;
    if (other.has(item.id)) return item.id;
    index = item.parent;
  }
  return undefined;
}

/** The fewest nodes that must move so that the rest keeps its order; not those below a moved one. */
function findMoved(
  after: Outline,
  common: readonly number[],
  places: readonly number[],
): readonly number[] {
  if (places.every((place, at) => at === 0 || (places[at - 1] as number) < place)) return [];
  const steady = longestIncreasing(places);
  const moved = new Set<number>();
  const top: number[] = [];
  common.forEach((index, at) => {
    if (steady.has(at)) return;
    moved.add(index);
    const { parent } = after.items[index] as OutlineItem;
    if (!moved.has(parent)) top.push(index);
  });
  return top;
}

/** Positions of a longest increasing run of `values`. */
function longestIncreasing(values: readonly number[]): ReadonlySet<number> {
  const tails: number[] = [];
  const previous = new Int32Array(values.length).fill(-1);
  values.forEach((value, at) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[tails[middle] as number] as number) < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[at] = tails[low - 1] as number;
    tails[low] = at;
  });
  const run = new Set<number>();
  for (let at = tails[tails.length - 1] ?? -1; at >= 0; at = previous[at] as number) run.add(at);
  return run;
}

/** The node before an item among its siblings, as the reader knows it; `undefined` when first. */
export function siblingBefore(
  outline: Outline,
  index: number,
  known: ReadonlySet<string>,
): string | undefined {
  const { parent } = outline.items[index] as OutlineItem;
  for (let at = index - 1; at > parent; at -= 1) {
    const item = outline.items[at] as OutlineItem;
    if (item.parent === parent && known.has(item.id)) return item.id;
  }
  return undefined;
}
