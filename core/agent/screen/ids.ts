// Short node ids for the model. An engine's own ids may be long, and a model that copies them pays
// for each. The table lives as long as the attempt and only grows: an id names one element for ever,
// so that an id from an older screen can be refused as gone, and never hits another element.

/** Engine ids and their short forms, one to one. */
export interface ShortIds {
  /** The short id of an engine id; makes the next one (`e1`, `e2`, ...) at first sight. */
  short(engineId: string): string;
  /** The engine id behind a short one; `undefined` for a short id that was never given out. */
  engine(shortId: string): string | undefined;
}

/** An empty table; one per attempt. */
export function createShortIds(): ShortIds {
  const byEngine = new Map<string, string>();
  const byShort = new Map<string, string>();
  return Object.freeze({
    short(engineId: string): string {
      const known = byEngine.get(engineId);
      if (known !== undefined) return known;
      const made = `e${byEngine.size + 1}`;
      byEngine.set(engineId, made);
      byShort.set(made, engineId);
      return made;
    },
    engine: (shortId: string) => byShort.get(shortId),
  });
}
