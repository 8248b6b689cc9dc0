// Packets -> bytes, and the queue in front of a stream. Each packet is encoded when it is queued,
// so packets leave in the order of the calls; what one turn queues leaves as one write. Packets are
// encoded straight into a slab, behind a header whose size is guessed from the text's length. A slab
// is written over only once the stream has called back, and only for a stream that is then done
// with the bytes: over streams in memory a reader may still hold what was written.
import { nextTick } from 'node:process';
import type { Writable } from 'node:stream';

const FIELD = Buffer.from('Content-Length: ', 'latin1');
const LINE_ENDS = Buffer.from('\r\n\r\n', 'latin1');
const SLAB_BYTES = 64 * 1024;
/** A packet of more text gets a slab of its own. */
const SLAB_TEXT = 8 * 1024;
/** How many are kept after a rush. */
const SPARE_SLABS = 4;
/** The longest slab that is kept for the next packet of its kind. */
const KEPT_BYTES = 1024 * 1024 + SLAB_BYTES;
/** What is queued beyond this leaves before the turn ends. */
const EARLY_FLUSH_BYTES = 32 * 1024;
const UTF8_MAX_BYTES = 3;
const encoder = new TextEncoder();

/** One packet: the header and the text in UTF-8. */
export function encodePacket(body: string): Buffer {
  const length = Buffer.byteLength(body);
  const header = headerBytes(length);
  const packet = Buffer.allocUnsafe(header + length);
  writeHeader(packet, 0, length);
  // As many bytes as units: ASCII, which `latin1` copies as it is.
  if (length === body.length) packet.write(body, header, 'latin1');
  else packet.write(body, header);
  return packet;
}

export interface PacketWriterOptions {
  readonly output: Writable;
  /**
   * The stream is done with the bytes of a write when it calls back, as sockets and pipes are:
   * memory is used again. Default false.
   */
  readonly reuse?: boolean;
  /** The stream has taken bytes over: `queuedBytes` is smaller now. */
  onProgress(): void;
  /** A write failed. May be called more than once. */
  onFailure(error: Error): void;
}

/** Memory for packets: `[start, end)` is queued here, what is before it is the stream's. */
interface Slab {
  readonly bytes: Buffer;
  start: number;
  end: number;
  /** Writes that the stream has not called back for; a failed one counts for ever. */
  writes: number;
}

/** The outgoing queue of one stream. */
export class PacketWriter {
  readonly #options: PacketWriterOptions;
  #slab: Slab | undefined;
  /** Slabs that nobody uses: for short packets, and one for long ones. */
  readonly #spares: Slab[] = [];
  #spareLong: Slab | undefined;
  #scheduled = false;
  #handedOver = 0;

  constructor(options: PacketWriterOptions) {
    this.#options = options;
  }

  /** Bytes that the stream has not taken over yet. */
  get queuedBytes(): number {
    const slab = this.#slab;
    return slab === undefined ? this.#handedOver : this.#handedOver + slab.end - slab.start;
  }

  /** Queues one packet, whole. */
  write(body: string): void {
    if (body.length > SLAB_TEXT) {
      this.flush();
      this.#writeLong(body);
      return;
    }
    const guess = headerBytes(body.length);
    // One byte more, for a guess that is a digit short.
    const slab = this.#slabFor(guess + 1 + body.length * UTF8_MAX_BYTES);
    const at = slab.end;
    const { bytes } = slab;
    const length = bytes.write(body, at + guess, bytes.length - at - guess);
    const header = headerBytes(length);
    if (header !== guess) bytes.copyWithin(at + header, at + guess, at + guess + length);
    writeHeader(bytes, at, length);
    slab.end = at + header + length;
    if (slab.end - slab.start >= EARLY_FLUSH_BYTES) {
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
    const slab = this.#slab;
    if (slab === undefined || slab.start === slab.end) return;
    const bytes = slab.bytes.subarray(slab.start, slab.end);
    slab.start = slab.end;
    this.#handOver(bytes, slab);
  }

  #writeLong(body: string): void {
    // Room for ASCII first: to count the bytes beforehand costs more than to write them.
    let length = body.length;
    let slab = this.#longSlab(headerBytes(length) + length);
    if (encodeInto(slab, body, length) < body.length) {
      this.#keep(slab);
      length = Buffer.byteLength(body);
      slab = this.#longSlab(headerBytes(length) + length);
      encodeInto(slab, body, length);
    }
    this.#handOver(slab.bytes.subarray(0, headerBytes(length) + length), slab);
  }

  #longSlab(size: number): Slab {
    const spare = this.#spareLong;
    if (spare === undefined || spare.bytes.length < size) return newSlab(size);
    this.#spareLong = undefined;
    return spare;
  }

  #slabFor(room: number): Slab {
    let slab = this.#slab;
    if (slab !== undefined && slab.bytes.length - slab.end >= room) return slab;
    this.flush();
    slab = this.#spares.pop() ?? newSlab(SLAB_BYTES);
    this.#slab = slab;
    return slab;
  }

  #handOver(bytes: Buffer, slab?: Slab): void {
    const { output, onProgress, onFailure } = this.#options;
    this.#handedOver += bytes.length;
    if (slab !== undefined) slab.writes += 1;
    try {
      output.write(bytes, (error) => {
        this.#handedOver -= bytes.length;
        if (error === null || error === undefined) {
          if (slab !== undefined) this.#takeBack(slab);
          onProgress();
        } else {
          onFailure(error);
        }
      });
    } catch (error) {
      this.#handedOver -= bytes.length;
      onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** The stream is done with one write of a slab. */
  #takeBack(slab: Slab): void {
    slab.writes -= 1;
    if (this.#options.reuse !== true || slab.writes > 0 || slab.start < slab.end) return;
    slab.start = 0;
    slab.end = 0;
    if (slab !== this.#slab) this.#keep(slab);
  }

  #keep(slab: Slab): void {
    if (slab.bytes.length !== SLAB_BYTES) {
      if (slab.bytes.length <= KEPT_BYTES) this.#spareLong = slab;
    } else if (this.#spares.length < SPARE_SLABS) {
      this.#spares.push(slab);
    }
  }
}

function newSlab(bytes: number): Slab {
  return { bytes: Buffer.allocUnsafeSlow(bytes), start: 0, end: 0, writes: 0 };
}

/** Writes the header and the text, as far as `length` bytes go; gives the units that it took. */
function encodeInto(slab: Slab, body: string, length: number): number {
  const header = headerBytes(length);
  writeHeader(slab.bytes, 0, length);
  return encoder.encodeInto(body, slab.bytes.subarray(header, header + length)).read;
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

function headerBytes(length: number): number {
  return FIELD.length + digitsOf(length) + LINE_ENDS.length;
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits += 1;
  return digits;
}
