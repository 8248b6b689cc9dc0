// What can be wrong with the bytes of a stream. The message says what was found and shows where it
// begins, because whoever reads it has to find the line in another program that printed it.

/** Bytes shown of what is wrong. */
export const EXCERPT_BYTES = 200;

/**
 * `junk`: bytes outside of packets. `header`: a header block that is none. `length`: no usable
 * Content-Length. `too-large`: a length or a header beyond its cap. `truncated`: the stream ended
 * inside a packet.
 */
export type FramingErrorCode = 'junk' | 'header' | 'length' | 'too-large' | 'truncated';

const FRAMING_ERROR: symbol = Symbol.for('enginewright.framing-error');

/** A complaint about the bytes of a stream. */
export class FramingError extends Error {
  override readonly name = 'FramingError';
  readonly code: FramingErrorCode;
  /** The first bytes (at most 200) of what it complains about. */
  readonly bytes: Buffer;
  constructor(code: FramingErrorCode, message: string, bytes: Buffer) {
    super(
      bytes.length === 0
        ? message
        : `${message} It begins with ${JSON.stringify(bytes.toString('utf8'))}.`,
    );
    Object.defineProperty(this, FRAMING_ERROR, { value: true });
    this.code = code;
    this.bytes = bytes;
  }
}

/** Recognises a FramingError, also one of another copy of this package. */
export function isFramingError(error: unknown): error is FramingError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as Record<symbol, unknown>)[FRAMING_ERROR] === true
  );
}
