// A body that comes in several chunks, put together. Nothing is set aside for a length that is
// merely claimed: the buffer grows with what came. Up to 1 MiB it is kept and used again, because
// fresh memory costs more than the bytes in it; a bigger body has memory that grows in place and
// can be given back at once, before the garbage collector would: while a 64 MiB message becomes
// text, then values, its bytes need not be there too.

const STEP_BYTES = 64 * 1024;
const STEP_FACTOR = 4;
/** What one decoder keeps between messages, at most. */
const KEPT_BYTES = 1024 * 1024;
/** Up to here a loop is faster than a call of `copy`. */
const LOOP_COPY = 32;

/** Node 20 has it, the library types of ES2023 have not. */
interface ResizableBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}
const Resizable = ArrayBuffer as unknown as new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => ResizableBuffer;

export class BodyAssembly {
  /** The body in `[0, filled)`. */
  bytes: Buffer = Buffer.alloc(0);
  filled = 0;
  #kept: Buffer = this.bytes;
  #big: ResizableBuffer | undefined;

  /** Takes `chunk[start, end)`, of a body that claims to have `total` bytes. */
  add(
    chunk: Buffer,
    start: number,
    { end, total }: { readonly end: number; readonly total: number },
  ): void {
    const needed = this.filled + end - start;
    if (this.bytes.length < needed) this.#grow(needed, total);
    const { bytes } = this;
    if (end - start <= LOOP_COPY) {
      for (let from = start, to = this.filled; from < end; from += 1, to += 1) {
        bytes[to] = chunk[from] as number;
      }
    } else {
      chunk.copy(bytes, this.filled, start, end);
    }
    this.filled = needed;
  }

  /** The next body begins; `bytes` is valid until then, or until `release`. */
  reset(): void {
    this.filled = 0;
    if (this.#big !== undefined) this.release();
  }

  /** Gives back what a big body took. */
  release(): void {
    this.#big?.resize(0);
    this.#big = undefined;
    this.bytes = this.#kept;
  }

  #grow(needed: number, total: number): void {
    if (needed <= KEPT_BYTES) {
      let size = STEP_BYTES;
      while (size < needed) size *= STEP_FACTOR;
      const grown = Buffer.allocUnsafeSlow(size);
      this.bytes.copy(grown, 0, 0, this.filled);
      this.#kept = grown;
      this.bytes = grown;
      return;
    }
    const size = Math.min(total, Math.max(needed, this.bytes.length * 2));
    if (this.#big === undefined) {
      this.#big = new Resizable(size, { maxByteLength: total });
      const grown = Buffer.from(this.#big);
      this.bytes.copy(grown, 0, 0, this.filled);
      this.bytes = grown;
    } else {
      this.#big.resize(size);
      this.bytes = Buffer.from(this.#big);
    }
  }
}
