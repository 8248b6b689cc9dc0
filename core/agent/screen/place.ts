// Where a line goes that does not follow its parent: the writer's side of `in e4`. It keeps the same
// book as the reader (the last line at each depth), so that indentation alone is used only where the
// reader will understand it.

/** The place of the next line. */
export interface Place {
  /** Index of the node to name in an `in` line before it; `undefined` when none is needed. */
  readonly context?: number;
  readonly depth: number;
}

/** Keeps the book for one run of lines; `-1` stands for the top. */
export interface Placer {
  /** Enters node `index` below `holder`, a node that the reader knows. */
  enter(index: number, holder: number): Place;
}

export function createPlacer(): Placer {
  const depths = new Map<number, number>();
  let open: number[] = [];
  let base = -1;
  return {
    enter(index, holder) {
      const above = depths.get(holder);
      const follows = above !== undefined && open[above] === holder;
      const needsContext = !follows && holder >= 0 && holder !== base;
      const depth = follows ? above + 1 : holder < 0 ? 0 : 1;
      if (needsContext) open = [];
      if (!follows) base = holder;
      open.length = Math.min(open.length, depth);
      open[depth] = index;
      depths.set(index, depth);
      return needsContext ? { context: holder, depth } : { depth };
    },
  };
}
