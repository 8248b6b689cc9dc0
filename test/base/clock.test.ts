// The system clock beyond Node's longest timer, and the fake clock that every other test trusts.
import { systemClock } from '../../core/base/clock.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { assert, rejects, suite } from '../harness.ts';

const system = suite('system clock');

system('a timer beyond 2^31-1 ms does not fire at once, and is armed again until it is due', () => {
  const realSetTimeout = globalThis.setTimeout;
  const realClearTimeout = globalThis.clearTimeout;
  const armed: { ms: number; callback: () => void; cleared: boolean }[] = [];
  let unrefs = 0;
  globalThis.setTimeout = ((callback: () => void, ms: number) => {
    const timer = { ms, callback, cleared: false, unref: () => (unrefs += 1) };
    armed.push(timer);
    return timer;
  }) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: { cleared: boolean }) => {
    timer.cleared = true;
  }) as unknown as typeof clearTimeout;
  try {
    let fired = 0;
    const max = 2 ** 31 - 1;
    const cancel = systemClock.setTimer(max * 2 + 5, () => (fired += 1), { unref: true });
    assert.equal(
      armed.map(({ ms }) => ms),
      [max],
    );
    armed[0]!.callback();
    armed[1]!.callback();
    assert.is(fired, 0);
    assert.is(armed[2]!.ms, 5);
    assert.is(unrefs, 3, 'each slice is unref-ed');
    cancel();
    assert.ok(armed[2]!.cleared, 'the cancellation reaches the slice that is armed');
    armed[2]!.callback();
    assert.is(fired, 1);
    systemClock.setTimer(-5, () => undefined);
    assert.is(armed[3]!.ms, 0);
  } finally {
    globalThis.setTimeout = realSetTimeout;
    globalThis.clearTimeout = realClearTimeout;
  }
});

system('now does not go back, and iso is a wall-clock time', () => {
  const before = systemClock.now();
  assert.ok(systemClock.now() >= before);
  assert.match(systemClock.iso(), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

const fake = suite('fake clock');

fake('fires in order of time, then of registration, each at its own time', async () => {
  const clock = createFakeClock();
  const log: string[] = [];
  const at = (name: string) => () => log.push(`${name}@${clock.now()}`);
  clock.setTimer(20, at('c'));
  clock.setTimer(10, at('a'));
  clock.setTimer(10, at('b'));
  clock.setTimer(30.5, at('late'));
  assert.is(clock.pending, 4);
  await clock.advance(20);
  assert.equal(log, ['a@10', 'b@10', 'c@20']);
  assert.is(clock.now(), 20);
  assert.is(clock.pending, 1);
});

fake('what a timer wakes may set timers that still fall into the same advance', async () => {
  const clock = createFakeClock();
  const log: number[] = [];
  const loop = async (): Promise<void> => {
    for (let count = 0; count < 3; count += 1) {
      await new Promise<void>((resolve) => {
        clock.setTimer(10, resolve);
      });
      log.push(clock.now());
    }
  };
  const done = loop();
  await clock.advance(100);
  await done;
  assert.equal(log, [10, 20, 30]);
  assert.is(clock.now(), 100);
});

fake('a cancelled timer does not fire, and advance(0) fires what is due now', async () => {
  const clock = createFakeClock();
  let fired = 0;
  const cancel = clock.setTimer(0, () => (fired += 1));
  cancel();
  cancel();
  await clock.advance(0);
  assert.is(fired, 0);
  clock.setTimer(0, () => (fired += 1));
  await clock.advance(0);
  assert.is(fired, 1);
  assert.is(clock.iso(), '2026-01-01T00:00:00.000Z');
});

fake('runUntil looks first, moves in steps, and gives up at its limit', async () => {
  const clock = createFakeClock();
  await clock.runUntil(() => true);
  assert.is(clock.now(), 0);
  let ready = false;
  clock.setTimer(120, () => (ready = true));
  await clock.runUntil(() => ready, { stepMs: 50 });
  assert.is(clock.now(), 150);
  await rejects(
    clock.runUntil(() => false, { limitMs: 100 }),
    /within 100 ms/,
  );
  assert.is(clock.now(), 250);
  await rejects(clock.advance(-1), RegExp('advance\\(-1\\)'));
  await rejects(clock.advance(Number.POSITIVE_INFINITY), /finite/);
});

system.run();
fake.run();
