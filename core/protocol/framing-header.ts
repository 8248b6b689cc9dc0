// The grammar of a header, for what is not in the usual spelling: which lines are fields, what is
// wrong with a length, and what may stand before it. HTTP's rules, as LSP takes them over, but a
// line may end in a bare LF. Lines are held as Latin-1 strings: a header is short and has no other.
import { EXCERPT_BYTES, type FramingErrorCode } from './framing-error.ts';

const SHOWN_UNITS = 40;
const CR = 13;
const LF = 10;
/** A Content-Length line without its end; the value is the first group. */
export const LENGTH_LINE: RegExp = /^content-length:[ \t]*(.*?)[ \t]*$/isu;
/** A line that can be a field. */
export const FIELD_LINE: RegExp = /^[\w!#$%&'*+.^`|~-]+:/u;

/** What is wrong with a Content-Length; `earlier` is one of the same block, or -1. */
export function findFlaw(
  value: string,
  { earlier, max }: { readonly earlier: number; readonly max: number },
): { readonly code: FramingErrorCode; readonly message: string } | undefined {
  if (!/^\d+$/u.test(value)) {
    const shown = JSON.stringify(value.slice(0, SHOWN_UNITS));
    return {
      code: 'length',
      message: `The Content-Length is ${shown}: it must be a number of bytes in decimal digits.`,
    };
  }
  const length = Number(value);
  if (length > max) {
    const shown = value.length > SHOWN_UNITS ? `with ${value.length} digits` : `of ${value}`;
    return {
      code: 'too-large',
      message: `A Content-Length ${shown} is over the limit of ${max} bytes (maxMessageBytes).`,
    };
  }
  return earlier < 0 || earlier === length
    ? undefined
    : { code: 'length', message: `The header has two lengths, ${earlier} and ${length}.` };
}

/** The first bytes of something long, and how long it is. */
export class Excerpt {
  readonly #kept = Buffer.alloc(EXCERPT_BYTES);
  total = 0;

  push(byte: number): void {
    if (this.total < EXCERPT_BYTES) this.#kept[this.total] = byte;
    this.total += 1;
  }
  drop(count: number): void {
    this.total -= count;
  }
  clear(): void {
    this.total = 0;
  }
  bytes(total: number): Buffer {
    return this.#kept.subarray(0, Math.min(total, EXCERPT_BYTES));
  }
  /** The first `total` bytes as text, when that many are kept; else nothing. */
  text(total: number): string {
    return total <= EXCERPT_BYTES ? this.#kept.toString('latin1', 0, total) : '';
  }
}

/** Content-Type is the one other field of the base protocol, and may come first. */
export function mayBeContentType(text: string): boolean {
  const lower = text.toLowerCase();
  return (
    lower !== '' && ('content-type:'.startsWith(lower) || /^content-type:[^\n]*\n?$/u.test(lower))
  );
}

export function isValueByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || byte === 0x20 || byte === 0x09 || byte === CR || byte === LF
  );
}

export function withoutLineEnd(line: string): string {
  return line.slice(0, line.endsWith('\r\n') ? -2 : -1);
}

export function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
