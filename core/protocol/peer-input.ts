// The reading half of a peer: when bytes are decoded, and when not. Decoding runs straight out of
// `data` until a slice of time is used up, and goes on in the next turn of the loop; it is held
// back while the peer says so, yet looks again after a moment whatever it says. What was read is
// dispatched before the stream's end is told, so that a dying process is heard to its last word.
import process from 'node:process';
import type { Readable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { createDecoder, type Decoder, type FramingError } from './framing.ts';

/** Work done in one turn of the loop, ms. */
const SLICE_MS = 5;
/** Work below this is not worth a fresh count in the next turn, ms. */
const SLICE_FRACTION_MS = 1;
/** How long reading is held back before it goes on for a slice anyway, ms. */
const HOLD_MS = 250;
/** Junk that no header follows is reported after this, ms. */
const JUNK_MS = 100;

export interface InputReaderOptions {
  readonly input: Readable;
  readonly clock: Clock;
  readonly maxHeaderBytes: number;
  readonly maxMessageBytes: number;
  readonly strict: boolean;
  /** One body, valid during the call. */
  onPacket(bytes: Buffer, start: number, end: number): void;
  onFramingError(error: FramingError): void;
  /** Asked after each packet: true holds back the rest. */
  shouldHold(): boolean;
  /** Everything that came has been dispatched, and no more will come. Called at most once. */
  onEnd(error: Error | undefined): void;
}

export class InputReader {
  readonly #options: InputReaderOptions;
  readonly #decoder: Decoder;
  /** What could not be decoded yet; the first from `#offset` on. */
  #backlog: Buffer[] = [];
  #offset = 0;
  #waiting: 'no' | 'turn' | 'hold' = 'no';
  #cancelHold: (() => void) | undefined;
  #cancelJunk: (() => void) | undefined;
  /** Time spent in this turn, ms, and whether a turn's end will reset it. */
  #spent = 0;
  #resetting = false;
  #sliceEnd = 0;
  #ended: { readonly error: Error | undefined } | undefined;
  #stopped = false;
  lastInboundAt: number;

  constructor(options: InputReaderOptions) {
    this.#options = options;
    const { input, clock } = options;
    this.lastInboundAt = clock.now();
    this.#decoder = createDecoder({
      maxHeaderBytes: options.maxHeaderBytes,
      maxMessageBytes: options.maxMessageBytes,
      strict: options.strict,
      onPacket: (bytes, start, end) => {
        options.onPacket(bytes, start, end);
        return !this.#stopped && clock.now() < this.#sliceEnd && !this.#holds();
      },
      onError: (error) => {
        options.onFramingError(error);
      },
    });
    input.on('data', this.#onData);
    input.once('end', this.#onEnd);
    input.once('close', this.#onClose);
    input.on('error', this.#onError);
    if (input.readableEnded || input.destroyed) setImmediate(this.#onEnd);
  }

  /** What `shouldHold` looks at has changed. */
  reconsider(): void {
    if (this.#waiting !== 'hold' || this.#holds()) return;
    this.#cancelHold?.();
    this.#nextTurn();
  }

  /** The body being dispatched was broken: see `Decoder.forgiveRest`. */
  forgiveRest(): void {
    this.#decoder.forgiveRest();
  }

  /**
   * Stops dispatching. The stream is drained without a look, so that its owner sees it end; stdin
   * is left alone instead, since reading it would keep the process up.
   */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    const { input } = this.#options;
    this.#cancelHold?.();
    this.#cancelJunk?.();
    this.#decoder.flushJunk();
    this.#backlog = [];
    input.off('data', this.#onData);
    input.off('end', this.#onEnd);
    input.off('close', this.#onClose);
    // The listener for errors stays: one that comes late must not bring the process down.
    if (isStdin(input)) input.pause();
    else if (!input.destroyed) input.resume();
  }

  readonly #onData = (chunk: unknown): void => {
    this.lastInboundAt = this.#options.clock.now();
    const bytes = asBuffer(chunk);
    if (this.#waiting !== 'no') {
      this.#backlog.push(bytes);
      return;
    }
    this.#decode(bytes, 0);
  };

  readonly #onEnd = (): void => {
    this.#endWith(undefined);
  };
  readonly #onClose = (): void => {
    this.#endWith(undefined);
  };
  readonly #onError = (error: Error): void => {
    this.#endWith(error);
  };

  #endWith(error: Error | undefined): void {
    if (this.#ended !== undefined || this.#stopped) return;
    this.#ended = { error };
    if (this.#waiting === 'no') this.#tellEnd();
    // Nothing more can come, so there is nobody to hold back.
    else this.reconsider();
  }

  #tellEnd(): void {
    const ended = this.#ended;
    if (ended === undefined || this.#stopped) return;
    // A stream that failed is cut off anywhere: its own error says more than the tail it left.
    if (ended.error === undefined) this.#decoder.end();
    if (!this.#stopped) this.#options.onEnd(ended.error);
  }

  /** Decodes one chunk as far as the slice reaches; true when it is used up. */
  #decode(chunk: Buffer, offset: number): boolean {
    const { clock } = this.#options;
    const start = clock.now();
    this.#sliceEnd = start + Math.max(0, SLICE_MS - this.#spent);
    const stop = this.#decoder.write(chunk, offset);
    this.#spent += clock.now() - start;
    if (this.#spent > SLICE_FRACTION_MS && !this.#resetting) {
      this.#resetting = true;
      setImmediate(() => {
        this.#resetting = false;
        this.#spent = 0;
      });
    }
    if (this.#stopped) return false;
    if (this.#decoder.hasJunk) this.#watchJunk();
    if (stop === chunk.length && !this.#holds()) return true;
    if (stop < chunk.length) {
      this.#backlog.unshift(chunk);
      this.#offset = stop;
    }
    this.#wait();
    return false;
  }

  #wait(): void {
    this.#options.input.pause();
    if (!this.#holds()) {
      this.#nextTurn();
      return;
    }
    this.#waiting = 'hold';
    this.#cancelHold = this.#options.clock.setTimer(HOLD_MS, () => {
      this.#nextTurn();
    });
  }

  #nextTurn(): void {
    this.#waiting = 'turn';
    setImmediate(() => {
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#stopped) return;
    this.#spent = 0;
    this.#waiting = 'no';
    for (let chunk = this.#backlog.shift(); chunk !== undefined; chunk = this.#backlog.shift()) {
      const offset = this.#offset;
      this.#offset = 0;
      if (!this.#decode(chunk, offset)) return;
    }
    if (this.#ended === undefined) this.#options.input.resume();
    else this.#tellEnd();
  }

  #holds(): boolean {
    return this.#ended === undefined && this.#options.shouldHold();
  }

  #watchJunk(): void {
    this.#cancelJunk ??= this.#options.clock.setTimer(
      JUNK_MS,
      () => {
        this.#cancelJunk = undefined;
        this.#decoder.flushJunk();
      },
      { unref: true },
    );
  }
}

/** Without touching `process.stdin` unless somebody has: its getter opens it. */
function isStdin(input: Readable): boolean {
  return (input as { fd?: unknown }).fd === 0 && input === process.stdin;
}

/** A stream with an encoding gives strings, one in object mode anything that has bytes. */
function asBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  if (typeof chunk === 'string') return Buffer.from(chunk);
  return chunk instanceof Uint8Array
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : Buffer.from(String(chunk));
}
