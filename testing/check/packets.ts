// Bytes to bodies, for a reader that doubts: it says what was wrong with the bytes and goes on, where
// the product's own framing only has to survive. Written apart from it, so that a mistake over there
// cannot hide one of a server. A length that does not fit its body is told from rubbish by looking
// for the place where the body really ends.

/** What the reader found, in the order of arrival. */
export type PacketEvent =
  | { readonly kind: 'body'; readonly text: string; readonly value: unknown }
  /** `packet`: bytes that belong to none; `length`: a length that is not its body's. */
  | { readonly kind: 'packet' | 'length'; readonly problem: string };

export interface PacketReader {
  feed(chunk: Uint8Array): readonly PacketEvent[];
  /** Nothing more is expected for now: judges what is left over. */
  flush(): readonly PacketEvent[];
}

/** A header block without an end within this many bytes is none. */
const HEADER_LIMIT = 8192;
const FIELD = /content-length[ \t]*:/iu;
/** What may stand before the length: the one other field that the base protocol has. */
const OTHER_FIELDS = /^(?:content-type[ \t]*:[^\r\n]*\r\n)*$/iu;

interface Header {
  /** Where the body begins. */
  readonly end: number;
  /** Undefined when it cannot be read: then there is no body to speak of. */
  readonly length: number | undefined;
  readonly problem?: string;
}

export function createPacketReader(): PacketReader {
  let rest: Buffer = Buffer.alloc(0);

  /** Drops bytes in front that begin no packet; false while there is no packet in sight. */
  function skipStray(events: PacketEvent[], last: boolean): boolean {
    const text = rest.toString('latin1', 0, HEADER_LIMIT * 2);
    const at = text.search(FIELD);
    if (at === -1) {
      if (rest.length > 0 && (last || rest.length > HEADER_LIMIT)) {
        events.push(stray(rest));
        rest = Buffer.alloc(0);
      }
      return false;
    }
    const before = text.slice(0, at);
    if (OTHER_FIELDS.test(before)) return true;
    const fields = /(?:content-type[ \t]*:[^\r\n]*\r\n)+$/iu.exec(before)?.[0].length ?? 0;
    events.push(stray(rest.subarray(0, at - fields)));
    rest = rest.subarray(at - fields);
    return true;
  }

  /** One packet off the front; undefined when more bytes are needed. */
  function take(last: boolean): readonly PacketEvent[] | undefined {
    const events: PacketEvent[] = [];
    if (!skipStray(events, last)) return events.length > 0 ? events : undefined;
    const header = readHeader(rest);
    if (header === undefined) {
      if (!last && rest.length <= HEADER_LIMIT) return events.length > 0 ? events : undefined;
      events.push({ kind: 'packet', problem: `a header without an end: ${shown(rest)}` });
      rest = Buffer.alloc(0);
      return events;
    }
    if (header.length === undefined) {
      events.push({ kind: 'packet', problem: header.problem ?? '' });
      rest = rest.subarray(header.end);
      return events;
    }
    const end = header.end + header.length;
    if (rest.length < end && !last) return events.length > 0 ? events : undefined;
    if (header.problem !== undefined) events.push({ kind: 'packet', problem: header.problem });
    const exact = rest.length >= end ? parse(rest.subarray(header.end, end)) : undefined;
    if (exact !== undefined) {
      rest = rest.subarray(end);
      events.push({ kind: 'body', ...exact });
      return events;
    }
    // The length is not the body's: it ends where the next packet begins, or with the bytes.
    const next = rest.toString('latin1', header.end).search(FIELD);
    const realEnd = next === -1 ? rest.length : header.end + next;
    const bytes = rest.subarray(header.end, realEnd);
    const real = parse(bytes);
    if (real !== undefined) {
      events.push({
        kind: 'length',
        problem: `Content-Length says ${header.length}, the body has ${bytes.length} bytes: ${shown(bytes)}`,
      });
      events.push({ kind: 'body', ...real });
      rest = rest.subarray(realEnd);
      return events;
    }
    // The rest of a body that is longer than it says may still be on its way.
    if (next === -1 && !last) return events.length > 0 ? events : undefined;
    events.push({
      kind: 'packet',
      problem: `a body that is not JSON in UTF-8: ${shown(bytes)}`,
    });
    rest = rest.subarray(realEnd);
    return events;
  }

  function drain(last: boolean): readonly PacketEvent[] {
    const events: PacketEvent[] = [];
    for (;;) {
      const before = rest.length;
      const found = take(last);
      if (found !== undefined) events.push(...found);
      if (found === undefined || rest.length === before) return events;
    }
  }

  return {
    feed(chunk) {
      rest = Buffer.concat([rest, chunk]);
      return drain(false);
    },
    flush: () => drain(true),
  };
}

function readHeader(bytes: Buffer): Header | undefined {
  const text = bytes.toString('latin1', 0, HEADER_LIMIT + 4);
  const end = /\r?\n\r?\n/u.exec(text);
  if (end === null) return undefined;
  const block = text.slice(0, end.index);
  const value = /content-length[ \t]*:[ \t]*([^\r\n]*?)[ \t]*(?:\r?\n|$)/iu.exec(block)?.[1] ?? '';
  const start = end.index + end[0].length;
  if (!/^\d{1,15}$/u.test(value)) {
    const problem = `Content-Length is ${JSON.stringify(value)}`;
    return { end: start, length: undefined, problem };
  }
  const header = { end: start, length: Number(value) };
  return end[0] === '\r\n\r\n' && !/[^\r]\n/u.test(block)
    ? header
    : { ...header, problem: `header lines end with \\r\\n: ${shown(bytes.subarray(0, start))}` };
}

function parse(bytes: Buffer): { readonly text: string; readonly value: unknown } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const stray = (bytes: Buffer): PacketEvent => ({
  kind: 'packet',
  problem: `bytes that belong to no packet: ${shown(bytes)}`,
});

function shown(bytes: Buffer): string {
  const text = JSON.stringify(bytes.toString('utf8', 0, 200));
  return bytes.length > 200 ? `${text} and ${bytes.length - 200} more bytes` : text;
}

/** A body in its packet. */
export function packet(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
