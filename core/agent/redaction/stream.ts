// Text as the redactor reads it: units with the places in the original text that they stand for.
// Decoding and folding change lengths, and what is found must be cut out of the original.

/** A text whose unit `i` stands for the original's `starts[i]` up to `ends[i]`. */
export interface Stream {
  readonly text: string;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Encodings inside encodings that are undone: a query in a query in a JSON string. */
const MAX_DECODINGS = 3;

const ESCAPE =
  /(?:%[0-9a-f]{2})+|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos|nbsp);|\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2}|["'`\\/bfnrt])/giu;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};
const BACKSLASHED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** The text with its escapes undone, once, twice and so on; with `+` as a blank and without. */
export function decodings(text: string): readonly Stream[] {
  if (!/[%&\\+]/u.test(text)) return [];
  const streams: Stream[] = [];
  const follow = (start: Stream): void => {
    let stream: Stream | undefined = start;
    for (let count = 0; count < MAX_DECODINGS && stream !== undefined; count += 1) {
      stream = decode(stream);
      if (stream !== undefined) streams.push(stream);
    }
  };
  follow(identity(text));
  if (text.includes('+')) {
    const blanks = { ...identity(text), text: text.replaceAll('+', ' ') };
    streams.push(blanks);
    follow(blanks);
  }
  return streams;
}

/**
 * Letter case folded and white space collapsed to single blanks. Folding maps each character on its
 * own, upper case first, so that every spelling of a letter comes out alike.
 */
export function fold(source: string | Stream): Stream {
  const { text, starts, ends } = typeof source === 'string' ? identity(source) : source;
  const units = new Uint16Array(text.length);
  const from = new Uint32Array(text.length);
  const to = new Uint32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = foldUnit(text.charCodeAt(index));
    const end = ends[index] as number;
    if (unit === BLANK && length > 0 && units[length - 1] === BLANK) {
      to[length - 1] = end;
      continue;
    }
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const pair = foldCharacter(text.slice(index, index + 2));
      for (const half of [0, 1]) {
        units[length] = pair.charCodeAt(half);
        from[length] = starts[index + half] as number;
        to[length] = ends[index + half] as number;
        length += 1;
      }
      index += 1;
      continue;
    }
    units[length] = unit;
    from[length] = starts[index] as number;
    to[length] = end;
    length += 1;
  }
  return {
    text: toText(units.subarray(0, length)),
    starts: from.subarray(0, length),
    ends: to.subarray(0, length),
  };
}

function identity(text: string): Stream {
  const starts = new Uint32Array(text.length);
  const ends = new Uint32Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    starts[index] = index;
    ends[index] = index + 1;
  }
  return { text, starts, ends };
}

/** One layer of escapes undone, or `undefined` when there is none. */
function decode(stream: Stream): Stream | undefined {
  const { text } = stream;
  let decoded = '';
  const starts = new Uint32Array(text.length);
  const ends = new Uint32Array(text.length);
  let position = 0;
  const push = (piece: string, first: number, last: number): void => {
    for (let index = 0; index < piece.length; index += 1) {
      starts[decoded.length + index] = stream.starts[first] as number;
      ends[decoded.length + index] = stream.ends[last] as number;
    }
    decoded += piece;
  };
  const keep = (until: number): void => {
    const at = decoded.length;
    starts.set(stream.starts.subarray(position, until), at);
    ends.set(stream.ends.subarray(position, until), at);
    decoded += text.slice(position, until);
    position = until;
  };
  for (const match of text.matchAll(ESCAPE)) {
    keep(match.index);
    const escape = match[0];
    if (escape.startsWith('%')) {
      decodePercent(escape, (piece, from, to) => push(piece, position + from, position + to - 1));
    } else {
      push(decodeOne(escape), position, position + escape.length - 1);
    }
    position += escape.length;
  }
  if (position === 0) return undefined;
  keep(text.length);
  return {
    text: decoded,
    starts: starts.subarray(0, decoded.length),
    ends: ends.subarray(0, decoded.length),
  };
}

/** A run of `%XX`, character by character; a byte that is no UTF-8 is kept as it is written. */
function decodePercent(run: string, push: (piece: string, from: number, to: number) => void): void {
  for (let at = 0; at < run.length; ) {
    const lead = Number.parseInt(run.slice(at + 1, at + 3), 16);
    const bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const piece = run.slice(at, at + 3 * bytes);
    let character: string | undefined;
    try {
      character = decodeURIComponent(piece);
    } catch {
      character = undefined;
    }
    const end = at + (character === undefined ? 3 : piece.length);
    if (character === undefined) {
      for (let index = at; index < end; index += 1) push(run[index] ?? '', index, index + 1);
    } else {
      push(character, at, end);
    }
    at = end;
  }
}

function decodeOne(escape: string): string {
  if (escape.startsWith('&')) {
    const body = escape.slice(1, -1).toLowerCase();
    if (!body.startsWith('#')) return ENTITIES[body] ?? escape;
    return character(
      body.startsWith('#x')
        ? Number.parseInt(body.slice(2), 16)
        : Number.parseInt(body.slice(1), 10),
    );
  }
  const kind = escape[1] ?? '';
  if ((kind === 'u' || kind === 'x' || kind === 'U' || kind === 'X') && escape.length > 2) {
    return character(Number.parseInt(escape.slice(2).replace(/[{}]/gu, ''), 16));
  }
  return BACKSLASHED[kind] ?? kind;
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}

const BLANK = 0x20;
/** Folded units beyond ASCII, as they come up; at most one entry a unit. */
const FOLDED = new Map<number, number>();

/** A unit in its folded case; any white space is a blank. */
function foldUnit(unit: number): number {
  if (unit < 0x80) {
    if (unit >= 0x41 && unit <= 0x5a) return unit + 0x20;
    return unit >= 0x09 && unit <= 0x0d ? BLANK : unit;
  }
  let folded = FOLDED.get(unit);
  if (folded === undefined) {
    const text = String.fromCharCode(unit);
    folded = /\s/u.test(text) ? BLANK : foldCharacter(text).charCodeAt(0);
    FOLDED.set(unit, folded);
  }
  return folded;
}

/** Keeps a character whose other case has another length: lengths are what the maps rest on. */
function foldCharacter(text: string): string {
  const upper = text.toUpperCase();
  const folded = (upper.length === text.length ? upper : text).toLowerCase();
  return folded.length === text.length ? folded : text;
}

function toText(units: Uint16Array): string {
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le');
}
