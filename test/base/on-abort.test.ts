// One listener a signal, however many wait on it.
import { getEventListeners } from 'node:events';
import { assert, suite } from '../harness.ts';
import { createDeadline, race } from '../../core/base/deadline.ts';
import { systemClock } from '../../core/base/clock.ts';
import { onAbort } from '../../core/base/on-abort.ts';

const test = suite('on abort');
const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('calls everybody once, in order, through one listener', () => {
  const controller = new AbortController();
  const heard: number[] = [];
  for (let each = 0; each < 30; each += 1) onAbort(controller.signal, () => heard.push(each));
  assert.is(listeners(controller.signal), 1);
  controller.abort();
  controller.abort();
  assert.equal(
    heard,
    Array.from({ length: 30 }, (_, index) => index),
  );
  assert.is(listeners(controller.signal), 0);
});

test('the last to stop takes the listener away, and a new one may come', () => {
  const { signal } = new AbortController();
  const stops = [1, 2, 3].map(() => onAbort(signal, () => undefined));
  stops[0]?.();
  stops[0]?.();
  stops[1]?.();
  assert.is(listeners(signal), 1);
  stops[2]?.();
  assert.is(listeners(signal), 0);
  onAbort(signal, () => undefined);
  assert.is(listeners(signal), 1);
});

test('a callback may stop a later one, and one that is stopped is not called', () => {
  const controller = new AbortController();
  const heard: string[] = [];
  onAbort(controller.signal, () => {
    heard.push('first');
    stopSecond();
  });
  const stopSecond = onAbort(controller.signal, () => heard.push('second'));
  onAbort(controller.signal, () => heard.push('third'));
  controller.abort();
  assert.equal(heard, ['first', 'third']);
});

test('an aborted signal calls nobody', () => {
  const stop = onAbort(AbortSignal.abort(), () => {
    throw new Error('called');
  });
  stop();
});

test('forty waits on a foreign signal warn nobody and leave nothing', async () => {
  const { signal } = new AbortController();
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', onWarning);
  const waits = Array.from({ length: 40 }, (_, index) => race(Promise.resolve(index), signal));
  const deadlines = Array.from({ length: 40 }, () =>
    createDeadline({ clock: systemClock, ms: 60_000, parent: signal }),
  );
  await Promise.all(waits);
  for (const deadline of deadlines) deadline.dispose();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  assert.equal(warnings, []);
  assert.is(listeners(signal), 0);
});
