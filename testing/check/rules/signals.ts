// Signals and time: what is aborted ends, with the reason that came; what is forgotten is new again.
// The reason is a test's time-out as a harness sends it, because an engine that answers with a plain
// AbortError instead turns "the test took too long" into "the engine broke".
import { isPlainObject, sleep, systemClock } from '../../../core/contract.ts';
import { launched, lists, onStage, stageOn, type RuleContext, type Stage } from '../context.ts';
import { describe, type Answer, type Json } from '../inspect.ts';
import { slowUrl } from '../probes.ts';
import { CheckFailure, expect, type CheckRule } from '../types.ts';

const SIGNALS = 'engine protocol, Messages: Signals';
/** How long a slow operation is under way before it is aborted, ms. */
const UNDER_WAY_MS = 150;
/** The budget of a slow operation that is to run out of it, ms. */
const SHORT_MS = 300;

const REASON: Json = {
  code: -32_000,
  message: 'The test took longer than 4711 ms.',
  data: { type: 'e2e', category: 'test', code: 'TEST_TIMEOUT', retryable: false },
};

/** Whether an error is the reason that was sent, or says that the operation was cancelled. */
function isReason(answer: Answer): boolean {
  if (!('error' in answer) || !isPlainObject(answer.error.data)) return false;
  const { type, code } = answer.error.data;
  if (type === 'engine') return code === 'CANCELLED';
  return type === 'e2e' && code === 'TEST_TIMEOUT' && answer.error.message === REASON['message'];
}

function expectReason(answer: Answer): void {
  if (isReason(answer)) return;
  const got = 'error' in answer ? describe(answer.error) : 'a result';
  throw new CheckFailure(
    `the answer is the signal's reason, -32000, TEST_TIMEOUT, with its message; it was ${got}`,
  );
}

/** Starts the slow probe; its answer is in a box, since awaiting it is the caller's. */
async function startSlow(
  context: RuleContext,
  stage: Stage,
  { over, limitMs }: { readonly over: Json; readonly limitMs: number },
): Promise<{ readonly answer: Promise<Answer> }> {
  const { slow } = context.probes;
  const url = slowUrl(slow);
  if (url !== undefined) {
    expect(lists(context, 'session/open'), 'the probe slow is a url; session/open is not listed');
    return { answer: stage.call('session/open', { url }, over, limitMs) };
  }
  const { ref } = await stage.find('slow');
  const action = { kind: 'tap' };
  return { answer: stage.call('engine/perform', { ref, action }, over, limitMs) };
}

/** Aborts the slow probe while it is under way, and answers how it ended. */
async function abortSlow(context: RuleContext, stage: Stage, abort: Json): Promise<Answer> {
  const { wire } = stage;
  const signal = { id: wire.mintId() };
  const limitMs = UNDER_WAY_MS + context.limits.abortTimeoutMs;
  const { answer } = await startSlow(context, stage, { over: { signal }, limitMs });
  const early = await Promise.race([
    answer,
    sleep(UNDER_WAY_MS, { clock: systemClock }).then(() => undefined),
  ]);
  if (early !== undefined) {
    const how = 'error' in early ? describe(early.error) : 'a result';
    throw new CheckFailure(`the probe slow was answered at once, with ${how}: nothing to abort`);
  }
  wire.notify('$/abort', { ...signal, ...abort });
  try {
    return await answer;
  } catch (error) {
    throw new CheckFailure(`after $/abort: ${(error as Error).message}`);
  }
}

const observeUnder = (stage: Stage, signal: Json): Promise<Answer> =>
  stage.call('engine/observe', {}, { signal });

async function observes(stage: Stage, signal: Json, why: string): Promise<void> {
  const answer = await observeUnder(stage, signal);
  if (!('error' in answer)) return;
  throw new CheckFailure(`${why}, and observe was refused: ${describe(answer.error)}`);
}

export const SIGNAL_RULES: readonly CheckRule[] = [
  {
    id: 'signals/aborted',
    title: 'an operation under a signal that is aborted already is refused',
    spec: SIGNALS,
    needs: { methods: ['engine/observe'] },
    async run(context) {
      const stage = await onStage(context);
      const id = stage.wire.mintId();
      const answer = await observeUnder(stage, { id, aborted: true });
      expect('error' in answer, 'observe answered a result under an aborted signal');
      await observes(stage, { id: stage.wire.mintId() }, 'the next signal is a live one');
    },
  },
  {
    id: 'signals/reason',
    title: 'an operation under a signal aborted for a reason is answered with that reason',
    spec: SIGNALS,
    needs: { methods: ['engine/observe'] },
    async run(context) {
      const stage = await onStage(context);
      const signal = { id: stage.wire.mintId(), aborted: true, reason: REASON };
      expectReason(await observeUnder(stage, signal));
    },
  },
  {
    id: 'signals/abort-forgets',
    title: 'an id that was aborted is forgotten: sent again it is a new signal',
    spec: SIGNALS,
    needs: { methods: ['engine/observe'] },
    async run(context) {
      const stage = await onStage(context);
      const signal = { id: stage.wire.mintId() };
      await observes(stage, signal, 'the signal is a fresh one');
      await observes(stage, signal, 'the signal is used twice, and live');
      stage.wire.notify('$/abort', signal);
      await observes(stage, signal, 'the id was aborted and sent again');
      await observeUnder(stage, { ...signal, aborted: true });
      await observes(stage, signal, 'the id came aborted, and was sent again');
    },
  },
  {
    id: 'signals/attempt-forgets',
    title: 'the ids of an attempt are forgotten with its end',
    spec: SIGNALS,
    needs: { methods: ['engine/observe', 'lifecycle/startAttempt', 'lifecycle/endAttempt'] },
    async run(context) {
      const stage = stageOn(context, await launched(context));
      const signal = { id: stage.wire.mintId() };
      await stage.startAttempt('check-1');
      await observes(stage, signal, 'the signal is a fresh one');
      await stage.endAttempt();
      stage.wire.notify('$/abort', signal);
      await stage.startAttempt('check-2');
      await observes(stage, signal, 'the id is one of an attempt that ended');
    },
  },
  {
    id: 'signals/unknown',
    title: '$/abort for an id that is unknown does nothing',
    spec: SIGNALS,
    needs: { methods: ['engine/observe'] },
    async run(context) {
      const stage = await onStage(context);
      const signal = { id: stage.wire.mintId() };
      stage.wire.notify('$/abort', signal);
      stage.wire.notify('$/abort', { id: 'nobody', reason: REASON });
      await observes(stage, signal, 'the id was aborted before it was ever sent');
    },
  },
  {
    id: 'signals/under-way',
    title: 'an operation that is under way ends soon after $/abort, and the engine lives on',
    spec: SIGNALS,
    needs: { probes: ['slow'] },
    async run(context) {
      const stage = await onStage(context);
      const answer = await abortSlow(context, stage, {});
      expect('error' in answer, 'the operation was answered with a result after $/abort');
      if (lists(context, 'engine/observe')) await stage.observe();
    },
  },
  {
    id: 'signals/under-way-reason',
    title: 'an operation aborted for a reason while under way is answered with that reason',
    spec: SIGNALS,
    needs: { probes: ['slow'] },
    async run(context) {
      const stage = await onStage(context);
      expectReason(await abortSlow(context, stage, { reason: REASON }));
    },
  },
  {
    id: 'signals/attempt-signal',
    title: 'aborting the signal of startAttempt does not end the connection or later attempts',
    spec: SIGNALS,
    needs: { methods: ['engine/observe', 'lifecycle/startAttempt', 'lifecycle/endAttempt'] },
    async run(context) {
      const wire = await launched(context);
      const signal = { id: wire.mintId() };
      const { artifactsDir, limits } = context;
      const params = { attemptId: 'check-1', artifactsDir, signal, screens: false };
      await wire.result('lifecycle/startAttempt', params, limits.launchTimeoutMs);
      wire.notify('$/abort', { ...signal, reason: REASON });
      const stage = stageOn(context, wire);
      await stage.endAttempt();
      await stage.startAttempt('check-2');
      await stage.observe();
    },
  },
  {
    id: 'signals/timeout',
    title: 'an operation whose timeoutMs has passed ends by itself, with OPERATION_TIMEOUT',
    spec: 'contract, section 2 and section 7',
    needs: { probes: ['slow'] },
    async run(context) {
      const stage = await onStage(context);
      const limitMs = SHORT_MS + context.limits.abortTimeoutMs;
      const over = { timeoutMs: SHORT_MS };
      const { answer } = await startSlow(context, stage, { over, limitMs });
      const ended = await answer;
      const data = 'error' in ended && isPlainObject(ended.error.data) ? ended.error.data : {};
      const codes = ['OPERATION_TIMEOUT', 'ACTION_MAY_HAVE_COMMITTED'];
      const got = 'error' in ended ? describe(ended.error) : 'a result';
      expect(
        data['type'] === 'engine' && codes.includes(String(data['code'])),
        `the answer after ${SHORT_MS} ms is ${codes.join(' or ')}, not ${got}`,
      );
      if (lists(context, 'engine/observe')) await stage.observe();
    },
  },
];
