// Packets -> bytes, and the queue in front of a stream. Each packet is encoded when it is queued,
// so packets leave in the order of the calls; what one turn queues leaves as one write. Small ones
// are encoded straight into a slab, behind a header whose size is guessed from the text's length.
// A slab is never written over: a reader in the same process may still hold what was written.
import { nextTick } from 'node:process';
import type { Writable } from 'node:stream';

const FIELD = Buffer.from('Content-Length: ', 'latin1');
const LINE_ENDS = Buffer.from('\r\n\r\n', 'latin1');
const SLAB_BYTES = 64 * 1024;
/** A packet of more text gets a buffer of its own. */
const SLAB_TEXT = 8 * 1024;
/** What is queued beyond this leaves before the turn ends. */
const EARLY_FLUSH_BYTES = 32 * 1024;
const UTF8_MAX_BYTES = 3;

/** One packet: the header and the text in UTF-8. */
export function encodePacket(body: string): Buffer {
  const length = Buffer.byteLength(body);
  const header = FIELD.length + digitsOf(length) + LINE_ENDS.length;
  const packet = Buffer.allocUnsafe(header + length);
  writeHeader(packet, 0, length);
  // As many bytes as units: ASCII, which `latin1` copies as it is.
  if (length === body.length) packet.write(body, header, 'latin1');
  else packet.write(body, header);
  return packet;
}

export interface PacketWriterOptions {
  readonly output: Writable;
  /** The stream has taken bytes over: `queuedBytes` is smaller now. */
  onProgress(): void;
  /** A write failed. May be called more than once. */
  onFailure(error: Error): void;
}

/** The outgoing queue of one stream. */
export class PacketWriter {
  readonly #options: PacketWriterOptions;
  #slab: Buffer | undefined;
  #start = 0;
  #end = 0;
  #scheduled = false;
  #handedOver = 0;

  constructor(options: PacketWriterOptions) {
    this.#options = options;
  }

  /** Bytes that the stream has not taken over yet. */
  get queuedBytes(): number {
    return this.#handedOver + this.#end - this.#start;
  }

  /** Queues one packet, whole. */
  write(body: string): void {
    if (body.length > SLAB_TEXT) {
      this.flush();
      this.#handOver(encodePacket(body));
      return;
    }
    const guess = FIELD.length + digitsOf(body.length) + LINE_ENDS.length;
    // One byte more, for a guess that is a digit short.
    const room = guess + 1 + body.length * UTF8_MAX_BYTES;
    let slab = this.#slab;
    if (slab === undefined || slab.length - this.#end < room) {
      this.flush();
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#slab = slab;
      this.#start = 0;
      this.#end = 0;
    }
    const at = this.#end;
    const length = slab.write(body, at + guess, slab.length - at - guess);
    const header = FIELD.length + digitsOf(length) + LINE_ENDS.length;
    if (header !== guess) slab.copyWithin(at + header, at + guess, at + guess + length);
    writeHeader(slab, at, length);
    this.#end = at + header + length;
    if (this.#end - this.#start >= EARLY_FLUSH_BYTES) {
      this.flush();
    } else if (!this.#scheduled) {
      this.#scheduled = true;
      nextTick(() => {
        this.#scheduled = false;
        this.flush();
      });
    }
  }

  /** Hands everything over to the stream now. */
  flush(): void {
    if (this.#slab === undefined || this.#start === this.#end) return;
    const bytes = this.#slab.subarray(this.#start, this.#end);
    this.#start = this.#end;
    this.#handOver(bytes);
  }

  #handOver(bytes: Buffer): void {
    const { output, onProgress, onFailure } = this.#options;
    this.#handedOver += bytes.length;
    try {
      output.write(bytes, (error) => {
        this.#handedOver -= bytes.length;
        if (error === null || error === undefined) onProgress();
        else onFailure(error);
      });
    } catch (error) {
      this.#handedOver -= bytes.length;
      onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

function writeHeader(target: Buffer, at: number, length: number): void {
  let position = at;
  for (let index = 0; index < FIELD.length; index += 1) target[position++] = FIELD[index] as number;
  const end = position + digitsOf(length);
  let rest = length;
  for (let digit = end - 1; digit >= position; digit -= 1) {
    target[digit] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  for (let index = 0; index < LINE_ENDS.length; index += 1) {
    target[end + index] = LINE_ENDS[index] as number;
  }
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits += 1;
  return digits;
}
