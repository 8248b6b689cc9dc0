// The reading half of a peer: when bytes are decoded, and when not. Decoding runs straight out of
// `data` until a slice of time is used up, and goes on in the next turn of the loop; all readers of
// a process share that slice, or fifty bursts at once would stall it fifty times as long. It is held
// back while the peer says so, yet looks again after a moment whatever it says. What was read is
// dispatched before the stream's end is told, so that a dying process is heard to its last word.
import process from 'node:process';
import type { Readable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { createDecoder, type Decoder, type FramingError } from './framing.ts';
import type { BodyRange } from './messages.ts';

/** Work done in one turn of the loop, ms. */
const SLICE_MS = 5;
/**
 * Packets of one slice, at most: what they set off in microtasks comes after it, unseen. A chunk of
 * 64 KiB has fewer, if they are of 200 bytes or more.
 */
const SLICE_PACKETS = 320;
/** Less work than this, in ms and in packets, is not worth to know when the turn ends. */
const SMALL_MS = 1;
const SMALL_PACKETS = 16;
/** How long reading is held back before it goes on for a slice anyway, ms. */
const HOLD_MS = 250;
/** Junk that no header follows is reported after this, ms. */
const JUNK_MS = 100;

/** The current turn of the loop, as all readers of one clock see it. */
interface Turn {
  /** When its work began, or would have: `spent` and `packets` are of turns that were not told apart. */
  start: number;
  spent: number;
  packets: number;
  /** `start` holds until the turn ends, so that what was set off in microtasks counts too. */
  marked: boolean;
  /** Readers that go on in the next turn. */
  waiting: number;
}
const turns = new WeakMap<Clock, Turn>();

function turnOf(clock: Clock): Turn {
  const turn = turns.get(clock) ?? { start: 0, spent: 0, packets: 0, marked: false, waiting: 0 };
  turns.set(clock, turn);
  return turn;
}

export interface InputReaderOptions {
  readonly input: Readable;
  readonly clock: Clock;
  readonly maxHeaderBytes: number;
  readonly maxMessageBytes: number;
  readonly strict: boolean;
  /** One body, valid during the call. */
  onPacket(bytes: Buffer, range: BodyRange): void;
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
  #paused = false;
  #decoding = false;
  #cancelHold: (() => void) | undefined;
  #cancelJunk: (() => void) | undefined;
  readonly #turn: Turn;
  #sliceEnd = 0;
  #packets = 0;
  /** The clock after the last packet. */
  #now = 0;
  #ended: { readonly error: Error | undefined } | undefined;
  #stopped = false;
  lastInboundAt: number;

  constructor(options: InputReaderOptions) {
    this.#options = options;
    const { input, clock } = options;
    this.#turn = turnOf(clock);
    this.lastInboundAt = clock.now();
    this.#decoder = createDecoder({
      maxHeaderBytes: options.maxHeaderBytes,
      maxMessageBytes: options.maxMessageBytes,
      strict: options.strict,
      onPacket: (bytes, start, end) => {
        options.onPacket(bytes, { start, end, release: this.#release });
        this.#packets += 1;
        this.#now = clock.now();
        if (this.#stopped || this.#holds()) return false;
        return this.#now < this.#sliceEnd && this.#packets < SLICE_PACKETS;
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

  readonly #release = (): void => {
    this.#decoder.release();
  };

  readonly #onData = (chunk: unknown): void => {
    this.#now = this.#options.clock.now();
    this.lastInboundAt = this.#now;
    this.#backlog.push(asBuffer(chunk));
    // Over streams in memory a handler that sends may be answered before it returns.
    if (this.#waiting !== 'no' || this.#decoding) return;
    const turn = this.#turn;
    if (!turn.marked) turn.start = this.#now - turn.spent;
    this.#sliceEnd = turn.start + SLICE_MS;
    this.#packets = 0;
    this.#drain();
    if (turn.marked) return;
    turn.spent = this.#now - turn.start;
    turn.packets += this.#packets;
    if (turn.spent < SMALL_MS && turn.packets < SMALL_PACKETS) return;
    turn.marked = true;
    setImmediate(() => {
      turn.marked = false;
      turn.spent = 0;
      turn.packets = 0;
    });
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
    if (this.#decoding) return;
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

  /** Decodes what there is, as far as the slice reaches. */
  #drain(): void {
    this.#decoding = true;
    try {
      for (let chunk = this.#backlog.shift(); chunk !== undefined; chunk = this.#backlog.shift()) {
        const offset = this.#offset;
        this.#offset = 0;
        if (!this.#decode(chunk, offset)) return;
      }
    } finally {
      this.#decoding = false;
    }
    if (this.#ended !== undefined) this.#tellEnd();
    else if (this.#paused) {
      this.#paused = false;
      this.#options.input.resume();
    }
  }

  /** Decodes one chunk; false when there has to be a pause. */
  #decode(chunk: Buffer, offset: number): boolean {
    const packets = this.#packets;
    const stop = this.#decoder.write(chunk, offset);
    if (this.#packets === packets) this.#now = this.#options.clock.now();
    if (this.#stopped) return false;
    if (this.#decoder.hasJunk) this.#watchJunk();
    if (stop === chunk.length && this.#now < this.#sliceEnd && !this.#holds()) return true;
    if (stop < chunk.length) {
      this.#backlog.unshift(chunk);
      this.#offset = stop;
    }
    this.#wait();
    return false;
  }

  #wait(): void {
    this.#paused = true;
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
    this.#turn.waiting += 1;
    setImmediate(() => {
      this.#goOn();
    });
  }

  #goOn(): void {
    const share = SLICE_MS / this.#turn.waiting;
    this.#turn.waiting -= 1;
    if (this.#stopped) return;
    this.#now = this.#options.clock.now();
    // Marked: this turn has had data already, perhaps what is put off here.
    this.#sliceEnd = (this.#turn.marked ? this.#turn.start : this.#now) + share;
    if (!this.#turn.marked) this.#packets = 0;
    this.#waiting = 'no';
    this.#drain();
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
