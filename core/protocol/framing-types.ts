// What a decoder takes and gives.
import type { FramingError } from './framing-error.ts';

export interface DecoderOptions {
  /**
   * Receives each body as `bytes[start, end)`, in order. `bytes` is valid during the call: copy what
   * must outlive it. Answering `false` stops `write` after this packet. It must not call `write`.
   */
  onPacket(bytes: Buffer, start: number, end: number): boolean | void;
  /** Receives each complaint once; unless `strict`, reading goes on at the next header. */
  onError(error: FramingError): void;
  /** Longest header block, in bytes; default 8192. */
  readonly maxHeaderBytes?: number;
  /** Longest body, in bytes; default 64 MiB. */
  readonly maxMessageBytes?: number;
  /** The first error ends the decoder: later bytes are ignored. Default false. */
  readonly strict?: boolean;
}

export interface Decoder {
  /**
   * Takes bytes from `offset` (default 0) on; answers where it stopped: `chunk.length`, or less
   * when `onPacket` answered false. Go on with the same chunk and that offset.
   */
  write(chunk: Buffer, offset?: number): number;
  /** Called inside `onPacket`: its `bytes` are not needed any more, a big body's memory may go. */
  release(): void;
  /** The stream has ended: reports junk not yet reported, and a packet that was cut off. */
  end(): void;
  /** Reports junk now, instead of at the next header. */
  flushJunk(): void;
  /** True while there is junk that `flushJunk` would report. */
  readonly hasJunk: boolean;
  /**
   * The body just delivered was not what its length promised: what lies between it and the next
   * header belongs to the same complaint, and is not reported again.
   */
  forgiveRest(): void;
}
