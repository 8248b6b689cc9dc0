// The other end of a connection under the transport rules: five behaviours over any pair of streams, so
// that a server of a test, or the program that a transport starts, is one call.
import type { MessageStreams } from '../core/protocol/index.ts';

/**
 * What the far end does.
 *
 * - `echo`: sends back every byte as it came; ends once its input has ended.
 * - `speaks`: sends `SPOKEN_BYTES` bytes of `patternBytes` at once, without waiting to be asked, and
 *   ends.
 * - `vanishes`: is gone as soon as it has read one byte: without a word, and without an end.
 * - `deaf`: reads nothing, sends nothing, and does not end.
 * - `stubborn`: reads everything, sends nothing, and does not end when its input does.
 */
export type FarEndBehaviour = 'echo' | 'speaks' | 'vanishes' | 'deaf' | 'stubborn';

/** Every behaviour that a stage has to offer. */
export const FAR_END_BEHAVIOURS: readonly FarEndBehaviour[] = Object.freeze([
  'echo',
  'speaks',
  'vanishes',
  'deaf',
  'stubborn',
]);

/** What `speaks` sends. */
export const SPOKEN_BYTES = 1_000_000;

/** Bytes of every value, in an order in which a lost, doubled or swapped piece is noticed. */
export function patternBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; index += 1) {
    // A period that no buffer size is a multiple of.
    bytes[index] = (index % 65_521) ^ (index % 251);
  }
  return bytes;
}

export interface FarEndOptions {
  /** Goes without a word: destroys the socket, or ends the process. Default: destroys the streams. */
  readonly vanish?: () => void;
}

/** Plays a behaviour over the streams of a far end, once. */
export function playFarEnd(
  behaviour: FarEndBehaviour,
  streams: MessageStreams,
  options: FarEndOptions = {},
): void {
  const { input, output } = streams;
  const vanish =
    options.vanish ??
    (() => {
      input.destroy();
      output.destroy();
    });
  // The near end may go at any time: that is what the rules are about.
  input.on('error', () => undefined);
  output.on('error', () => undefined);
  switch (behaviour) {
    case 'echo':
      input.pipe(output);
      return;
    case 'speaks':
      input.resume();
      output.end(patternBytes(SPOKEN_BYTES));
      return;
    case 'vanishes':
      input.once('data', vanish);
      return;
    case 'deaf':
      return;
    case 'stubborn':
      input.resume();
  }
}
