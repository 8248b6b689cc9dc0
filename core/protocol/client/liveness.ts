// Whether the server is still there while nobody asks it anything: an idle client asks `$/ping`.
// Any answer is life, also "method not found" from a server that does not know it. Never while the
// server owes an answer: a server with one thread answers nothing else until it is done.
import type { Clock } from '../../base/clock.ts';
import type { Peer } from '../peer.ts';

export interface LivenessOptions {
  /** Idle time before a ping, ms; default 5000. */
  readonly intervalMs?: number;
  /** How long a ping may stay unanswered before the server is given up, ms; default 15000. */
  readonly timeoutMs?: number;
}

export interface WatchOptions extends LivenessOptions {
  readonly peer: Peer;
  readonly clock: Clock;
  /** The server is given up; `problem` is the end of a sentence. */
  readonly onSilence: (problem: string) => void;
}

const INTERVAL_MS = 5000;
const TIMEOUT_MS = 15_000;

/** Watches until the returned function is called. Its timers keep no process alive. */
export function watchLife(options: WatchOptions): () => void {
  const { peer, clock, onSilence } = options;
  const { intervalMs = INTERVAL_MS, timeoutMs = TIMEOUT_MS } = options;
  let stopped = false;
  let pinged: number | undefined;
  let cancel: () => void;

  const ping = (): void => {
    pinged = clock.now();
    const heard = (): void => {
      pinged = undefined;
    };
    // However it settles, the question is answered; a closed connection has its own word for it.
    peer.request('$/ping').then(heard, heard);
  };
  const look = (): void => {
    if (stopped) return;
    const now = clock.now();
    const idle = now - peer.lastInboundAt;
    if (pinged === undefined) {
      if (peer.owedAnswers === 0 && idle >= intervalMs) ping();
    } else if (peer.owedAnswers === 1 && now - pinged >= timeoutMs && idle >= timeoutMs) {
      onSilence(`it did not answer $/ping within ${timeoutMs} ms`);
      return;
    }
    const rest = pinged === undefined && idle < intervalMs ? intervalMs - idle : intervalMs;
    cancel = clock.setTimer(rest, look, { unref: true });
  };
  cancel = clock.setTimer(intervalMs, look, { unref: true });
  return () => {
    stopped = true;
    cancel();
  };
}
