// Bytes -> packets: an incremental reader of LSP's base protocol. It knows no JSON. The rule that
// lives here: a body is opaque by its length; everything the base protocol allows is read,
// everything else is one error, and the good packets around it are still delivered. A header in
// its usual spelling is compared byte by byte, and only a mismatch pays for the general parser.
// A body inside one chunk is not copied. The way back is framing-writer.ts.

import { BodyAssembly } from './framing-body.ts';
import { EXCERPT_BYTES, FramingError, type FramingErrorCode } from './framing-error.ts';
import {
  bytesOf,
  Excerpt,
  FIELD_LINE,
  findFlaw,
  isValueByte,
  LENGTH_LINE,
  mayBeContentType,
  withoutLineEnd,
} from './framing-header.ts';
import type { Decoder, DecoderOptions } from './framing-types.ts';

export { FramingError, isFramingError } from './framing-error.ts';

/** Longest header block, in bytes. */
export const MAX_HEADER_BYTES = 8192;
/** Longest body, in bytes. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export type { Decoder, DecoderOptions } from './framing-types.ts';

const LF = 10;
const CR = 13;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const CASE_BIT = 0x20;
/** What almost every packet begins with, and how many digits are read on that path. */
const USUAL = Buffer.from('Content-Length: ', 'latin1');
const USUAL_LENGTH = USUAL.length;
const USUAL_DIGITS = 9;
/** Its first letter occurs in it only once, so that a failed match can restart only there. */
const FIELD_TEXT = 'content-length:';
const FIELD = Buffer.from(FIELD_TEXT, 'latin1');
const FIELD_LENGTH = FIELD.length;

/**
 * `start`: a packet is due. `scan`: the same, but not in the usual spelling: looks for the field.
 * `header`: after the field's colon. `skip`: the rest of a refused header block.
 */
type State = 'start' | 'scan' | 'header' | 'skip' | 'body' | 'dead';

/** Makes a decoder. It never throws on bytes, whatever they are. */
export function createDecoder(options: DecoderOptions): Decoder {
  return new PacketDecoder(options);
}

class PacketDecoder implements Decoder {
  readonly #options: DecoderOptions;
  readonly #maxHeaderBytes: number;
  readonly #maxMessageBytes: number;
  #state: State = 'start';
  // Scanning: junk so far, how much of FIELD its end matches, and where lines begin.
  readonly #junk = new Excerpt();
  #junkSilent = false;
  #matched = 0;
  #matchAtLineStart = false;
  #atLineStart = true;
  // Header: the block's bytes, the line being read, the length found.
  #block = '';
  #line = '';
  #length = -1;
  /** Found in the middle of a line, where it may as well be text: a flaw makes it junk again. */
  #doubtful = false;
  /** A body of several chunks. */
  readonly #body = new BodyAssembly();

  constructor(options: DecoderOptions) {
    this.#options = options;
    this.#maxHeaderBytes = options.maxHeaderBytes ?? MAX_HEADER_BYTES;
    this.#maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  }

  write(chunk: Buffer, offset = 0): number {
    const size = chunk.length;
    let at = offset;
    while (at < size) {
      if (this.#state === 'start') {
        const bodyStart = this.#readUsualHeader(chunk, at);
        if (bodyStart < 0) {
          this.#state = 'scan';
          continue;
        }
        at = bodyStart;
        this.#state = 'body';
      }
      if (this.#state === 'body') {
        const missing = this.#length - this.#body.filled;
        if (size - at < missing) {
          this.#body.add(chunk, at, { end: size, total: this.#length });
          return size;
        }
        const start = at;
        at += missing;
        if (this.#deliver(chunk, start, at) === false) return at;
      } else if (this.#state === 'dead') {
        return size;
      } else {
        at = this.#readSlowly(chunk, at);
        // An empty body needs no further byte to be complete.
        if (this.#isBodyEmpty() && this.#deliver(chunk, at, at) === false) return at;
      }
    }
    return at;
  }

  end(): void {
    if (this.#state === 'body') {
      this.#complain(
        'truncated',
        `The stream ended inside a packet: ${this.#body.filled} of the ${this.#length} bytes of its body came.`,
        this.#body.bytes.subarray(0, Math.min(this.#body.filled, EXCERPT_BYTES)),
      );
    } else if (this.#state === 'header') {
      this.flushJunk();
      this.#complain(
        'truncated',
        'The stream ended inside a header.',
        bytesOf(this.#block + this.#line),
      );
    } else if (this.#state === 'scan') {
      // A name that was cut off is no more than other junk.
      this.#matched = 0;
      this.#reportJunk();
    }
    this.#state = 'dead';
    this.#body.reset();
  }

  get hasJunk(): boolean {
    const total = this.#junk.total - this.#matched;
    return !this.#junkSilent && total > 0 && !mayBeContentType(this.#junk.text(total));
  }

  flushJunk(): void {
    if (this.hasJunk) this.#reportJunk();
  }

  release(): void {
    this.#body.release();
  }

  forgiveRest(): void {
    if (this.#state === 'start') this.#junkSilent = true;
  }

  /** Where the body starts, when a whole header in its usual spelling is at `at`; else -1. */
  #readUsualHeader(chunk: Buffer, at: number): number {
    for (let index = 0; index < USUAL_LENGTH; index += 1) {
      if (chunk[at + index] !== USUAL[index]) return -1;
    }
    const digits = at + USUAL_LENGTH;
    let position = digits;
    let length = 0;
    let byte = chunk[position] as number;
    while (byte >= 0x30 && byte <= 0x39 && position < digits + USUAL_DIGITS) {
      length = length * 10 + byte - 0x30;
      position += 1;
      byte = chunk[position] as number;
    }
    if (
      position === digits ||
      byte !== CR ||
      chunk[position + 1] !== LF ||
      chunk[position + 2] !== CR ||
      chunk[position + 3] !== LF ||
      length > this.#maxMessageBytes
    ) {
      return -1;
    }
    this.#junkSilent = false;
    this.#length = length;
    return position + 4;
  }

  #deliver(chunk: Buffer, start: number, end: number): boolean | void {
    this.#state = 'start';
    const body = this.#body;
    if (body.filled === 0) return this.#options.onPacket(chunk, start, end);
    body.add(chunk, start, { end, total: this.#length });
    try {
      return this.#options.onPacket(body.bytes, 0, body.filled);
    } finally {
      body.reset();
    }
  }

  /** Everything that is not in the usual spelling, until a body is due. */
  #readSlowly(chunk: Buffer, at: number): number {
    let position = at;
    while (position < chunk.length && this.#isSlow()) {
      if (this.#state === 'scan') {
        position = this.#scan(chunk, position);
      } else {
        this.#readHeaderByte(chunk[position] as number);
        position += 1;
      }
    }
    return position;
  }

  #isSlow(): boolean {
    return this.#state === 'scan' || this.#state === 'header' || this.#state === 'skip';
  }

  /** Looks for the field's name and colon; what is not part of it is junk. */
  #scan(chunk: Buffer, at: number): number {
    for (let position = at; position < chunk.length; position += 1) {
      const byte = chunk[position] as number;
      const letter = byte >= UPPER_A && byte <= UPPER_Z ? byte | CASE_BIT : byte;
      if (letter === FIELD[this.#matched]) {
        if (this.#matched === 0) this.#matchAtLineStart = this.#atLineStart;
        this.#matched += 1;
      } else if (letter === FIELD[0]) {
        this.#matchAtLineStart = this.#atLineStart;
        this.#matched = 1;
      } else {
        this.#matched = 0;
      }
      this.#atLineStart = byte === LF;
      this.#junk.push(byte);
      if (this.#matched === FIELD_LENGTH) {
        this.#junk.drop(FIELD_LENGTH);
        this.#matched = 0;
        this.#block = '';
        this.#line = FIELD_TEXT;
        this.#length = -1;
        this.#doubtful = !this.#matchAtLineStart;
        this.#state = 'header';
        return position + 1;
      }
    }
    return chunk.length;
  }

  #readHeaderByte(byte: number): void {
    // A doubtful field's value is digits and nothing else: text that mentions it ends here.
    if (this.#doubtful && this.#length < 0 && !isValueByte(byte)) {
      this.#giveUp(this.#line, String.fromCharCode(byte));
      return;
    }
    this.#line += String.fromCharCode(byte);
    if (byte === LF) {
      if (this.#state === 'skip') this.#skipLine(this.#line);
      else this.#readLine(this.#line);
    } else if (this.#block.length + this.#line.length >= this.#maxHeaderBytes) {
      if (this.#doubtful) {
        this.#giveUp(this.#block + this.#line, '');
        return;
      }
      if (this.#state === 'header') {
        const limit = `${this.#maxHeaderBytes} bytes (maxHeaderBytes)`;
        this.#refuse('too-large', `The header is longer than ${limit}.`);
      }
      this.#rescan('');
    }
  }

  #readLine(line: string): void {
    const text = withoutLineEnd(line);
    if (text === '') {
      this.#beginBody();
      return;
    }
    const value = LENGTH_LINE.exec(text)?.[1];
    if (value === undefined) {
      if (FIELD_LINE.test(text)) {
        this.#nextLine(line);
      } else if (this.#doubtful) {
        this.#giveUp(this.#block, line);
      } else {
        this.#refuse('header', 'The header has a line that is no field.');
        this.#rescan(line);
      }
      return;
    }
    const flaw = findFlaw(value, { earlier: this.#length, max: this.#maxMessageBytes });
    if (this.#doubtful && (flaw !== undefined || !line.endsWith('\r\n'))) {
      if (this.#length < 0) this.#giveUp(line, '');
      else this.#giveUp(this.#block, line);
    } else if (flaw === undefined) {
      this.#length = Number(value);
      this.#nextLine(line);
    } else {
      this.#refuse(flaw.code, flaw.message);
      this.#nextLine(line);
      this.#state = this.#isDead() ? 'dead' : 'skip';
      // A header that was cut off, with the next one on the same line.
      const next = text.toLowerCase().lastIndexOf(FIELD_TEXT);
      if (next > 0) this.#rescan(line.slice(next - 1), false);
    }
  }

  /** The rest of a refused block: its fields, up to a blank line or to something else. */
  #skipLine(line: string): void {
    const text = withoutLineEnd(line);
    if (text === '') this.#rescan('');
    else if (FIELD_LINE.test(text)) this.#nextLine(line);
    else this.#rescan(line);
  }

  #nextLine(line: string): void {
    this.#block += line;
    this.#line = '';
  }

  #beginBody(): void {
    if (mayBeContentType(this.#junk.text(this.#junk.total)) && !this.#doubtful) this.#junk.clear();
    this.#reportJunk();
    this.#junk.clear();
    this.#junkSilent = false;
    this.#atLineStart = true;
    this.#block = '';
    this.#line = '';
    if (!this.#isDead()) this.#state = 'body';
  }

  /** A doubtful header is junk after all; `rest` is looked at once more. */
  #giveUp(junk: string, rest: string): void {
    for (const byte of bytesOf(junk)) this.#junk.push(byte);
    this.#rescan(rest, junk.endsWith('\n'));
  }

  #rescan(rest: string, atLineStart = true): void {
    if (this.#isDead()) return;
    this.#state = 'scan';
    this.#doubtful = false;
    this.#atLineStart = atLineStart;
    this.#readSlowly(bytesOf(rest), 0);
  }

  /** Complains about the block; junk around it belongs to the same complaint. */
  #refuse(code: FramingErrorCode, message: string): void {
    this.flushJunk();
    this.#junkSilent = true;
    this.#complain(code, message, bytesOf(this.#block + this.#line));
  }

  #reportJunk(): void {
    const total = this.#junk.total - this.#matched;
    if (this.#junkSilent || total === 0) return;
    this.#junkSilent = true;
    const amount = `${total} byte${total === 1 ? '' : 's'}`;
    this.#complain(
      'junk',
      `The stream has ${amount} outside of packets: something else writes to it.`,
      this.#junk.bytes(total),
    );
  }

  #complain(code: FramingErrorCode, message: string, bytes: Buffer): void {
    if (this.#isDead()) return;
    if (this.#options.strict === true) this.#state = 'dead';
    this.#options.onError(
      new FramingError(code, message, Buffer.from(bytes.subarray(0, EXCERPT_BYTES))),
    );
  }

  #isBodyEmpty(): boolean {
    return this.#state === 'body' && this.#length === 0;
  }

  #isDead(): boolean {
    return this.#state === 'dead';
  }
}
