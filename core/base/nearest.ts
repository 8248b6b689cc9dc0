// "Did you mean": the nearest of the known names, for every message about an unknown one.

/** The known name closest to `name`, when it is close enough to be a likely slip. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  const wanted = name.toLowerCase();
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best !== undefined && bestDistance <= Math.max(2, Math.floor(name.length / 2))
    ? best
    : undefined;
}

/** The end of a sentence about an unknown name: `; did you mean "x"?` or the list of known ones. */
export function suggestName(name: string, known: Iterable<string>): string {
  const names = [...known];
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return `; did you mean ${JSON.stringify(nearest)}?`;
  return names.length === 0 ? '' : `; known: ${names.join(', ')}`;
}

/** Edits (insert, delete, replace, swap of neighbours) between two words of bounded length. */
function editDistance(a: string, b: string): number {
  if (a.length > 64 || b.length > 64) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let value = Math.min(
        (row[j - 1] ?? 0) + 1,
        (last[j] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(value);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? Number.POSITIVE_INFINITY;
}
