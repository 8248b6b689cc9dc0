// Deadlines and races: who aborts whom with what, and that nothing is left behind.
import { getEventListeners } from 'node:events';
import {
  createDeadline,
  linkSignals,
  race,
  sleep,
  type Deadline,
} from '../../core/base/deadline.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { assert, rejects, suite } from '../harness.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

const test = suite('deadline');

test('expires at its time with a TimeoutError, and says so', async () => {
  const clock = createFakeClock();
  const deadline = createDeadline({ clock, ms: 100 });
  await clock.advance(99);
  assert.not.ok(deadline.signal.aborted);
  assert.is(deadline.remaining(), 1);
  assert.is(deadline.at, 100);
  await clock.advance(1);
  assert.ok(deadline.signal.aborted);
  assert.ok(deadline.expired);
  assert.is((deadline.signal.reason as Error).name, 'TimeoutError');
  assert.is(deadline.remaining(), 0);
  await clock.advance(50);
  assert.is(deadline.remaining(), 0, 'never negative');
  assert.is(clock.pending, 0);
});

test('a length beyond 2^31-1 ms is a length like any other', async () => {
  const clock = createFakeClock();
  const ms = 2 ** 31 + 1000;
  const deadline = createDeadline({ clock, ms });
  await clock.advance(2 ** 31);
  assert.not.ok(deadline.signal.aborted);
  await clock.advance(1000);
  assert.ok(deadline.expired);
});

test('zero is expired at once, and asks for its own reason', () => {
  const clock = createFakeClock();
  const reason = new Error('out of time');
  const deadline = createDeadline({ clock, ms: 0, reason: () => reason });
  assert.ok(deadline.expired);
  assert.is(deadline.signal.reason, reason);
  assert.is(clock.pending, 0);
});

test('a child hears its parent with the reason itself, and is not expired by it', () => {
  const clock = createFakeClock();
  const parent = createDeadline({ clock, ms: 1000 });
  const child = createDeadline({ clock, ms: 5000, parent: parent.signal });
  const reason = new Error('stop');
  parent.abort(reason);
  assert.is(child.signal.reason, reason);
  assert.not.ok(child.expired);
  assert.not.ok(parent.expired);
  assert.is(listeners(parent.signal), 0);
  assert.is(clock.pending, 0, 'no timer of either is left');
});

test('an aborted parent aborts a child at birth', () => {
  const clock = createFakeClock();
  const reason = new Error('gone');
  const child = createDeadline({ clock, ms: 10, parent: AbortSignal.abort(reason) });
  assert.is(child.signal.reason, reason);
  assert.not.ok(child.expired);
  assert.is(clock.pending, 0);
});

test('a parent outlived by its child still ends it; a child ends without its parent', async () => {
  const clock = createFakeClock();
  const parent = createDeadline({ clock, ms: 50 });
  const long = createDeadline({ clock, ms: 500, parent: parent.signal });
  const short = createDeadline({ clock, ms: 10, parent: parent.signal });
  await clock.advance(10);
  assert.ok(short.expired);
  assert.not.ok(parent.signal.aborted);
  assert.is(listeners(parent.signal), 1, 'the short one no longer listens');
  await clock.advance(40);
  assert.ok(long.signal.aborted);
  assert.not.ok(long.expired);
  assert.is(long.signal.reason, parent.signal.reason);
});

test('dispose releases timer and listener, leaves the signal, and may come twice', async () => {
  const clock = createFakeClock();
  const parent = new AbortController();
  const deadline = createDeadline({ clock, ms: 10, parent: parent.signal });
  deadline.dispose();
  deadline.dispose();
  assert.is(clock.pending, 0);
  assert.is(listeners(parent.signal), 0);
  await clock.advance(100);
  parent.abort();
  assert.not.ok(deadline.signal.aborted);
  assert.not.ok(deadline.expired);
});

test('a timer that is late does not keep a deadline open: whoever asks ends it', () => {
  let now = 0;
  // Timers that never fire: the event loop is busy.
  const clock = { ...createFakeClock(), now: () => now, setTimer: () => () => undefined };
  for (const ask of [
    (deadline: Deadline) => deadline.remaining() === 0,
    (deadline: Deadline) => deadline.expired,
  ]) {
    const deadline = createDeadline({ clock, ms: 10 });
    now += 9;
    assert.not.ok(ask(deadline));
    assert.not.ok(deadline.signal.aborted);
    now += 1;
    assert.ok(ask(deadline));
    assert.ok(deadline.signal.aborted);
    const disposed = createDeadline({ clock, ms: 10 });
    disposed.dispose();
    now += 10;
    ask(disposed);
    assert.not.ok(disposed.signal.aborted, 'the signal of a disposed one stays as it is');
  }
});

test('the first abort wins', async () => {
  const clock = createFakeClock();
  const deadline = createDeadline({ clock, ms: 10 });
  const reason = new Error('first');
  deadline.abort(reason);
  deadline.abort(new Error('second'));
  await clock.advance(20);
  assert.is(deadline.signal.reason, reason);
  assert.not.ok(deadline.expired);
});

const racing = suite('race and sleep');

racing('settles as the work does and takes its listener away', async () => {
  const controller = new AbortController();
  assert.is(await race(Promise.resolve(7), controller.signal), 7);
  await rejects(race(Promise.reject(new Error('no')), controller.signal), /^no$/);
  assert.is(listeners(controller.signal), 0);
});

racing(
  'rejects with the reason while the work goes on, and swallows what it does later',
  async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown): void => {
      unhandled.push(error);
    };
    process.on('unhandledRejection', onUnhandled);
    try {
      const controller = new AbortController();
      let fail: (error: Error) => void = () => undefined;
      const work = new Promise<never>((_resolve, reject) => {
        fail = reject;
      });
      const raced = race(work, controller.signal);
      const reason = new Error('deadline');
      controller.abort(reason);
      assert.is(await rejects(raced), reason);
      fail(new Error('late'));
      assert.is(await rejects(race(Promise.reject(new Error('loser')), controller.signal)), reason);
      for (let count = 0; count < 3; count += 1) {
        await new Promise<void>((resolve) => {
          setImmediate(resolve);
        });
      }
      assert.equal(unhandled, []);
    } finally {
      process.off('unhandledRejection', onUnhandled);
    }
  },
);

racing('sleep waits on the clock, and an abort takes its timer away', async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  let awake = false;
  const first = sleep(100, { clock, signal: controller.signal }).then(() => (awake = true));
  await clock.advance(99);
  assert.not.ok(awake);
  await clock.advance(1);
  await first;
  assert.is(listeners(controller.signal), 0);
  const second = sleep(100, { clock, signal: controller.signal });
  const reason = new Error('up');
  controller.abort(reason);
  assert.is(await rejects(second), reason);
  assert.is(clock.pending, 0);
  assert.is(await rejects(sleep(1, { clock, signal: controller.signal })), reason);
  assert.is(clock.pending, 0);
});

test('a timer that fires early ends nothing', () => {
  let now = 0;
  const timers: (() => void)[] = [];
  const clock = {
    now: () => now,
    iso: () => '',
    setTimer: (_ms: number, callback: () => void) => {
      timers.push(callback);
      return () => undefined;
    },
  };
  const deadline = createDeadline({ clock, ms: 100 });
  now = 99.5;
  timers.shift()?.();
  assert.is(deadline.expired, false);
  assert.is(timers.length, 1, 'it is armed again');
  now = 100;
  timers.shift()?.();
  assert.is(deadline.expired, true);
});

test('a linked signal follows the first of its parents, until it is released', () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const linked = linkSignals([one.signal, undefined, two.signal]);
  two.abort('second');
  one.abort('first');
  assert.is(linked.signal.reason, 'second');
  assert.is(linkSignals([one.signal]).signal.reason, 'first', 'also one that is aborted already');
  const late = new AbortController();
  const free = linkSignals([late.signal]);
  free.release();
  free.release();
  late.abort();
  assert.is(free.signal.aborted, false);
  free.abort('own');
  assert.is(free.signal.reason, 'own');
});

test.run();
racing.run();
