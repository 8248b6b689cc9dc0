// Signals by id: the sender's listeners, the receiver's memory, and what a reason becomes.
import { getEventListeners } from 'node:events';
import {
  createSignalReceiver,
  createSignalSender,
  type SignalId,
} from '../../core/protocol/codecs/signals.ts';
import type { RpcErrorObject } from '../../core/protocol/messages.ts';
import { AgentError, EngineError, TestError, isRunnerError } from '../../core/contract/errors.ts';
import { assert, suite } from '../harness.ts';

const test = suite('protocol signals');

function sender(): {
  sent: { id: SignalId; reason: RpcErrorObject | undefined }[];
  sender: ReturnType<typeof createSignalSender>;
} {
  const sent: { id: SignalId; reason: RpcErrorObject | undefined }[] = [];
  return { sent, sender: createSignalSender((id, reason) => sent.push({ id, reason })) };
}

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('one id and one listener per signal, however often it is sent', () => {
  const { sent, sender: signals } = sender();
  const [one, two] = [new AbortController(), new AbortController()];
  assert.equal(signals.encode(one.signal), { id: 1 });
  assert.equal(signals.encode(two.signal), { id: 2 });
  for (let index = 0; index < 100; index += 1) assert.equal(signals.encode(one.signal), { id: 1 });
  assert.is(listeners(one.signal), 1);
  assert.is(signals.size, 2);
  one.abort();
  assert.equal(sent, [{ id: 1, reason: undefined }]);
  assert.is(signals.size, 1);
  assert.equal(signals.encode(one.signal), { id: 1, aborted: true });
  assert.equal(sent.length, 1);
});

test('a reason crosses only when it is an error of ours', () => {
  const { sent, sender: signals } = sender();
  const ours = [
    new EngineError('CANCELLED', 'a'),
    new TestError('TEST_TIMEOUT', 'b'),
    new AgentError('STEP_TIMEOUT', 'c'),
  ];
  const others = [undefined, 'text', new Error('plain'), new DOMException('x', 'TimeoutError')];
  for (const reason of [...ours, ...others]) {
    const controller = new AbortController();
    signals.encode(controller.signal);
    controller.abort(reason);
  }
  assert.equal(
    sent.map(({ reason }) => reason?.message),
    ['a', 'b', 'c', undefined, undefined, undefined, undefined],
  );
  const aborted = signals.encode(AbortSignal.abort(ours[1]));
  assert.is(aborted.reason?.message, 'b');
  assert.is(signals.encode(AbortSignal.abort('text')).reason, undefined);
});

test('the end of an attempt stops listening to its signals only', () => {
  const { sent, sender: signals } = sender();
  const [run, attempt] = [new AbortController(), new AbortController()];
  signals.encode(run.signal);
  signals.startAttempt();
  signals.encode(run.signal);
  signals.encode(attempt.signal);
  signals.endAttempt();
  assert.equal([listeners(run.signal), listeners(attempt.signal)], [1, 0]);
  attempt.abort();
  assert.equal(sent, []);
  const later = new AbortController();
  signals.startAttempt();
  const { id } = signals.encode(later.signal);
  signals.endAttempt();
  assert.equal(signals.encode(later.signal), { id }, 'the same signal keeps its id');
  later.abort();
  assert.equal(
    sent.map((message) => message.id),
    [id],
  );
  signals.close();
  assert.equal([listeners(run.signal), signals.size], [0, 0]);
  run.abort();
  assert.is(sent.length, 1);
});

test('100 000 operations leave no listener and no id', () => {
  const { sender: signals } = sender();
  const receiver = createSignalReceiver();
  const test = new AbortController();
  signals.startAttempt();
  receiver.startAttempt();
  for (let index = 0; index < 100_000; index += 1) {
    receiver.decode(signals.encode(index % 2 === 0 ? test.signal : new AbortController().signal));
  }
  assert.is(listeners(test.signal), 1);
  assert.is(receiver.size, 50_001);
  signals.endAttempt();
  receiver.endAttempt();
  assert.equal([listeners(test.signal), signals.size, receiver.size], [0, 0, 0]);
});

test('the receiver: aborted on arrival, known again, forgotten on abort', () => {
  const receiver = createSignalReceiver();
  const first = receiver.decode({ id: 'a' });
  assert.is(receiver.decode({ id: 'a' }), first);
  receiver.abort('a', undefined);
  assert.is((first.reason as Error).name, 'AbortError');
  assert.is.not(receiver.decode({ id: 'a' }), first);
  const live = receiver.decode({ id: 1 });
  const aborted = receiver.decode({ id: 1, aborted: true });
  assert.is(aborted, live, 'an abort that crossed its $/abort reaches the signal that is held');
  assert.is(live.aborted, true);
  assert.is(receiver.size, 1);
  const dead = receiver.decode({ id: 2, aborted: true });
  assert.is(dead.aborted, true);
  assert.is(receiver.size, 1, 'an aborted signal is not kept');
});

test('a reason arrives as the error it was', () => {
  const { sent, sender: signals } = sender();
  const receiver = createSignalReceiver();
  const controller = new AbortController();
  const there = receiver.decode(signals.encode(controller.signal));
  controller.abort(new TestError('TEST_TIMEOUT', 'late', { details: { ms: 3 } }));
  receiver.abort(sent[0]?.id ?? 0, sent[0]?.reason);
  const reason: unknown = there.reason;
  assert.ok(isRunnerError(reason));
  assert.equal([reason.code, reason.category, reason.details], ['TEST_TIMEOUT', 'test', { ms: 3 }]);
});

test('abortAll aborts and forgets what is held', () => {
  const receiver = createSignalReceiver();
  const [a, b] = [receiver.decode({ id: 1 }), receiver.decode({ id: 2 })];
  receiver.abortAll('gone');
  assert.equal([a.reason, b.reason], ['gone', 'gone']);
  assert.is(receiver.size, 0);
});

test('a listener that sends the id again meets a new signal', () => {
  const receiver = createSignalReceiver();
  const first = receiver.decode({ id: 1 });
  let second: AbortSignal | undefined;
  first.addEventListener('abort', () => {
    second = receiver.decode({ id: 1 });
  });
  receiver.abort(1, undefined);
  assert.is(second?.aborted, false);
  assert.is(receiver.size, 1);
});

test.run();
