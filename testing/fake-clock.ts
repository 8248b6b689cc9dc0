// A clock that stands still until a test moves it, for everything that takes a `Clock`. Timers fire
// in order of time, then of registration, and between two of them the event loop turns once: what
// a timer woke gets to run, and to set its own timers, before the next one fires. Without that a
// test would see an order that no real clock produces.
import type { Clock } from '../core/base/clock.ts';

export interface RunUntilOptions {
  /** How far each step moves the clock, ms. Default 50. */
  readonly stepMs?: number;
  /** How far the clock moves at most before the call rejects, ms. Default 600 000. */
  readonly limitMs?: number;
}

export interface FakeClock extends Clock {
  /** Moves the clock by `ms` (0 or more) and fires what falls due on the way, also at its end. */
  advance(ms: number): Promise<void>;
  /**
   * Moves the clock step by step until the condition holds; looks before the first step too.
   * Rejects when `limitMs` have passed without it.
   */
  runUntil(condition: () => boolean, options?: RunUntilOptions): Promise<void>;
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
}

interface FakeTimer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Enough for any real schedule; more is a timer that re-arms itself without time passing. */
const MAX_TIMERS_PER_ADVANCE = 100_000;
/** Loop turns per step of `runUntil`: a packet over in-memory streams takes several. */
const TURNS_PER_STEP = 4;
/** What `iso` answers at 0. */
const EPOCH = Date.UTC(2026, 0, 1);

/** Makes a clock at 0 ms, whose wall clock stands at 2026-01-01T00:00:00.000Z. */
export function createFakeClock(): FakeClock {
  const timers = new Set<FakeTimer>();
  let now = 0;
  let order = 0;

  const nextDue = (until: number): FakeTimer | undefined => {
    let next: FakeTimer | undefined;
    for (const timer of timers) {
      if (timer.due > until) continue;
      const earlier =
        next === undefined ||
        timer.due < next.due ||
        (timer.due === next.due && timer.order < next.order);
      if (earlier) next = timer;
    }
    return next;
  };

  const advance = async (ms: number): Promise<void> => {
    if (!(ms >= 0 && Number.isFinite(ms))) {
      throw new RangeError(`advance(${ms}): give a finite number of milliseconds, 0 or more.`);
    }
    const target = now + ms;
    await turn();
    for (let fired = 0; ; fired += 1) {
      const timer = nextDue(target);
      if (timer === undefined) break;
      if (fired === MAX_TIMERS_PER_ADVANCE) {
        throw new Error(`advance(${ms}): a timer keeps arming itself without time passing.`);
      }
      timers.delete(timer);
      now = Math.max(now, timer.due);
      timer.callback();
      await turn();
    }
    now = Math.max(now, target);
  };

  return {
    now: () => now,
    iso: () => new Date(EPOCH + now).toISOString(),
    setTimer(ms, callback) {
      const timer: FakeTimer = { due: now + Math.max(0, ms), order, callback };
      order += 1;
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance,
    async runUntil(condition, options = {}) {
      const { stepMs = 50, limitMs = 600_000 } = options;
      if (!(stepMs > 0)) throw new RangeError(`runUntil: stepMs must be above 0, not ${stepMs}.`);
      const end = now + limitMs;
      while (!condition()) {
        for (let count = 0; count < TURNS_PER_STEP; count += 1) await turn();
        if (condition()) return;
        if (now >= end)
          throw new Error(`runUntil: the condition did not hold within ${limitMs} ms.`);
        await advance(Math.min(stepMs, end - now));
      }
    },
    get pending() {
      return timers.size;
    },
  };
}

/** One turn of the event loop: microtasks first, then whatever input and output is ready. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
