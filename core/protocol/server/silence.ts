// Whether a client is still there. The end of a process is told by the system; the loss of a network,
// a machine that was switched off or a process that hangs are not, and each would hold an engine for
// as long as TCP has patience. An idle client of ours asks `$/ping` every 5 s; one that says nothing
// is asked itself, and is given up when it does not answer that either.
import type { Clock } from '../../base/clock.ts';
import type { Peer } from '../peer.ts';

export interface SilenceOptions {
  readonly peer: Peer;
  readonly clock: Clock;
  /** The client is given up after so long without a byte from it, ms; it is asked at half of that. */
  readonly silenceMs: number;
  readonly onSilence: () => void;
}

/**
 * At least so long, ms, for a client that owes an answer of its own (to `attempt/resolveSecret`):
 * one with a single thread answers nothing else until it has it.
 */
const OWING_MS = 60_000;

/** Watches until the returned function is called. */
export function watchSilence(options: SilenceOptions): () => void {
  const { peer, clock, silenceMs, onSilence } = options;
  let stopped = false;
  let asked = false;
  let cancel: () => void = () => undefined;

  const ask = (): void => {
    asked = true;
    const heard = (): void => {
      asked = false;
    };
    // "Method not found" is a sign of life like any other.
    peer.request('$/ping').then(heard, heard);
  };
  const look = (): void => {
    if (stopped) return;
    const owing = peer.owedAnswers > (asked ? 1 : 0);
    const limit = owing ? Math.max(OWING_MS, silenceMs) : silenceMs;
    const silent = clock.now() - peer.lastInboundAt;
    if (silent >= limit) {
      stopped = true;
      onSilence();
      return;
    }
    if (!asked && silent >= silenceMs / 2) ask();
    const next = asked ? limit - silent : silenceMs / 2 - silent;
    cancel = clock.setTimer(Math.max(1, next), look, { unref: true });
  };
  look();
  return () => {
    stopped = true;
    cancel();
  };
}
