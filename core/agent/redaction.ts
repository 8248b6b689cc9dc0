// Masks secret values in everything that leaves the harness. A value is looked for in two ways: in
// each form that common encoders give it, and as it is within the text decoded again, which
// catches any mix of encodings. Matches are ranges of the original text; ranges that overlap are
// replaced together, so that of two overlapping values no end is left. What is masked is one
// pass over the text, however many values there are (an Aho-Corasick automaton).
import { escapedForms } from './redaction/forms.ts';
import { createMatcher, type Form, type Matcher } from './redaction/matcher.ts';
import { decodings, fold } from './redaction/stream.ts';
import type { Redactor } from './scope.ts';

const MARKER = /<secret:([\w.-]{1,64})>/gu;

/** A range of the original text that gives a value away. */
interface Hit {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Makes an empty redactor. */
export function createRedactor(): Redactor {
  const names = new Map<string, string>();
  const known = new Set<string>();
  let matchers: { readonly forms: Matcher; readonly plain: Matcher } | undefined;

  const compile = (): { readonly forms: Matcher; readonly plain: Matcher } => {
    const plain: Form[] = [];
    const escaped: Form[] = [];
    for (const [value, name] of names) {
      for (const variant of variantsOf(value)) {
        plain.push({ name, text: variant, head: headOf(variant) });
        escaped.push(...escapedForms(variant, headOf(variant)).map((form) => ({ name, ...form })));
      }
    }
    return { forms: createMatcher([...plain, ...escaped]), plain: createMatcher(plain) };
  };

  const mask = (text: string, cut: boolean): string => {
    if (names.size === 0 || text === '') return text;
    matchers ??= compile();
    const { forms, plain } = matchers;
    const hits: Hit[] = [...forms.find(fold(text), { cut })];
    for (const decoded of decodings(text)) hits.push(...plain.find(fold(decoded), { cut }));
    return hits.length === 0 ? text : replace(text, hits, markersOf(text, known));
  };

  const copy = (value: unknown): unknown => {
    if (typeof value === 'string') return mask(value, false);
    if (typeof value === 'number') {
      // A value of digits may come back as the number that it is.
      const digits = String(value);
      const masked = mask(digits, false);
      return /^<secret:[\w.-]+>$/u.test(masked) ? masked : value;
    }
    if (Array.isArray(value)) return value.map(copy);
    if (!isRecord(value)) return value;
    const result: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      const masked = mask(key, false);
      let free = masked;
      for (let count = 2; Object.hasOwn(result, free); count += 1) free = `${masked} (${count})`;
      // Defined, not assigned: `__proto__` is a key like any other.
      Object.defineProperty(result, free, {
        value: copy(member),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return result;
  };

  return {
    text: (text) => mask(text, false),
    cutText: (text) => mask(text, true),
    value: <T>(value: T): T => copy(value) as T,
    add(name, value) {
      if (value.trim() === '' || names.has(value)) return;
      names.set(value, name);
      known.add(name);
      matchers = undefined;
    },
    get size() {
      return names.size;
    },
  };
}

/** The value as a surface may show it: letter case that changes lengths, composed or not. */
function variantsOf(value: string): ReadonlySet<string> {
  return new Set([
    value,
    value.toUpperCase(),
    value.toLowerCase(),
    value.normalize('NFC'),
    value.normalize('NFD'),
  ]);
}

/** How much of a value gives it away at a cut: its first 8 characters, or half of a short one. */
function headOf(value: string): string {
  const characters = [...value.trim()];
  return characters.slice(0, Math.max(1, Math.min(8, characters.length >> 1))).join('');
}

/** Markers already in the text, of names known here: what is in them is no value. */
function markersOf(text: string, known: ReadonlySet<string>): readonly Hit[] {
  const markers: Hit[] = [];
  for (const match of text.matchAll(MARKER)) {
    const name = match[1] ?? '';
    if (!known.has(name)) continue;
    markers.push({ start: match.index, end: match.index + match[0].length, name });
  }
  return markers;
}

function replace(text: string, hits: readonly Hit[], markers: readonly Hit[]): string {
  const inMarker = (hit: Hit): boolean =>
    markers.some((marker) => hit.start >= marker.start && hit.end <= marker.end);
  const ordered = hits
    .filter((hit) => markers.length === 0 || !inMarker(hit))
    .sort((a, b) => a.start - b.start || b.end - a.end);
  const parts: string[] = [];
  let end = 0;
  let last: string | undefined;
  for (const hit of ordered) {
    // Ordered by start, the longest first: one that ends no later lies within the last.
    if (hit.end <= end) continue;
    const overlaps = hit.start < end;
    if (!overlaps) parts.push(text.slice(end, hit.start));
    if (!overlaps || hit.name !== last) parts.push(`<secret:${hit.name}>`);
    end = hit.end;
    last = hit.name;
  }
  parts.push(text.slice(end));
  return parts.join('');
}

/** Handles, bytes and other objects of a class pass as they are. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
