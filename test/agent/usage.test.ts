// Adding up usage: exact or a bound, saturating, and a cost that overflowed never comes back.
import { createBudget } from '../../core/agent/budget.ts';
import type { ModelRequest } from '../../core/agent/model.ts';
import { createDeadline } from '../../core/base/deadline.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { addUsage, NO_USAGE, usageOfCall, type CallUsage } from '../../core/agent/usage.ts';
import { assert, suite } from '../harness.ts';

const bound = { inputTokens: 100, outputTokens: 50 };
const call = (reported?: CallUsage['reported'], requests = 1) =>
  usageOfCall({ reported, bound, requests });

const test = suite('usage');

test('complete counts are exact, anything missing makes a bound of what is missing', () => {
  assert.equal(
    call({ inputTokens: 7, outputTokens: 0, cachedInputTokens: 3, reasoningTokens: 0 }),
    {
      tokenAccounting: 'provider',
      inputTokens: 7,
      outputTokens: 0,
      cachedInputTokens: 3,
      reasoningTokens: 0,
      modelCalls: 1,
      requests: 1,
    },
  );
  const half = call({ inputTokens: 7 });
  assert.is(half.tokenAccounting, 'adapter-upper-bound');
  assert.is(half.inputTokens, 7);
  assert.is(half.outputTokens, 50);
  const none = call(undefined, 3);
  assert.is(none.inputTokens, 100);
  assert.is(none.requests, 3);
  assert.not('cost' in none);
});

test('counts that cannot be are not believed', () => {
  for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const usage = call({ inputTokens: wrong, outputTokens: 1, cost: wrong });
    assert.is(usage.inputTokens, 100);
    assert.is(usage.tokenAccounting, 'adapter-upper-bound');
    assert.not('cost' in usage);
  }
  assert.is(call({ inputTokens: 1.9, outputTokens: 1 }).inputTokens, 1);
});

test('a sum is exact only when all of it is, whichever comes first', () => {
  const exact = call({ inputTokens: 1, outputTokens: 2 });
  const rough = call();
  assert.is(addUsage(NO_USAGE, exact).tokenAccounting, 'provider');
  assert.is(addUsage(exact, exact).inputTokens, 2);
  for (const sum of [addUsage(exact, rough), addUsage(rough, exact)]) {
    assert.is(sum.tokenAccounting, 'adapter-upper-bound');
    assert.is(sum.inputTokens, 101);
    assert.is(sum.modelCalls, 2);
  }
  assert.equal(addUsage(NO_USAGE, NO_USAGE), NO_USAGE);
  assert.ok(Object.isFrozen(NO_USAGE));
});

test('counts saturate', () => {
  const most = call({ inputTokens: Number.MAX_VALUE, outputTokens: Number.MAX_SAFE_INTEGER });
  assert.is(most.inputTokens, Number.MAX_SAFE_INTEGER);
  const sum = addUsage(most, most);
  assert.is(sum.inputTokens, Number.MAX_SAFE_INTEGER);
  assert.is(sum.outputTokens, Number.MAX_SAFE_INTEGER);
});

test('a cost is the sum of those reported, 0 included', () => {
  const priced = call({ inputTokens: 1, outputTokens: 1, cost: 0.25 });
  const free = call({ inputTokens: 1, outputTokens: 1, cost: 0 });
  assert.is(addUsage(priced, call()).cost, 0.25);
  assert.is(addUsage(call(), priced).cost, 0.25);
  assert.is(addUsage(priced, priced).cost, 0.5);
  assert.is(addUsage(NO_USAGE, free).cost, 0);
});

test('an overflowed cost stays out, whatever is added on either side', () => {
  const huge = call({ inputTokens: 1, outputTokens: 1, cost: Number.MAX_VALUE });
  const small = call({ inputTokens: 1, outputTokens: 1, cost: 0.5 });
  let sum = addUsage(huge, huge);
  for (const next of [small, call(), NO_USAGE]) {
    for (const grown of [addUsage(sum, next), addUsage(next, sum)]) {
      assert.not('cost' in grown);
      assert.is(grown.costOverflow, true);
    }
    sum = addUsage(sum, next);
  }
  assert.is(sum.modelCalls, 4);
  assert.not('costOverflow' in addUsage(small, small));
});

const request = (messages: ModelRequest['messages']): ModelRequest => ({
  messages,
  tools: [],
  toolChoice: 'auto',
  maxOutputTokens: 8192,
});
const budget = () =>
  createBudget({
    deadline: createDeadline({ clock: createFakeClock(), ms: 1000 }),
    totalMs: 1000,
    maxModelCalls: 9,
    maxSteps: 9,
    entry: {
      name: 'a',
      vision: false,
      maxSteps: 9,
      maxModelCalls: 9,
      maxObservationBytes: 24_000,
    },
  });

test('the bound of an answered call is the bytes of all that went and came, not much more', () => {
  const it = budget();
  const text = 'ä'.repeat(1000);
  it.bookAnswer(request([{ role: 'system', text }]), {
    text: 'x'.repeat(50),
    toolCalls: [],
    stopReason: 'stop',
    modelId: 'm',
    requests: 1,
    providerState: { adapter: 'a', modelId: 'm', payload: { sealed: 'y'.repeat(3000) } },
    usage: { reasoningTokens: 700 },
  });
  const { tokenAccounting, inputTokens, outputTokens } = it.usage;
  assert.is(tokenAccounting, 'adapter-upper-bound');
  assert.ok(inputTokens >= 2000 && inputTokens <= 3500, `${inputTokens}`);
  assert.ok(outputTokens >= 3750 && outputTokens <= 3900, `${outputTokens}`);
});

test('the bound of a call without an answer is its output limit', () => {
  const it = budget();
  it.bookFailure(request([]), { counts: true, requests: 1 });
  assert.is(it.usage.outputTokens, 8192);
});

test('a picture is bounded by its size, not by its bytes', () => {
  const bound = (width: number, height: number, bytes: number): number => {
    const it = budget();
    const data = new Uint8Array(bytes);
    const picture = { type: 'image', mediaType: 'image/png', data, width, height } as const;
    it.bookFailure(request([{ role: 'user', content: [picture] }]), { counts: true, requests: 1 });
    return it.usage.inputTokens;
  };
  // 2833 and 5667 for each of 3 x 2 tiles.
  assert.ok(bound(1280, 720, 10) >= 36_835);
  assert.is(bound(1280, 720, 10), bound(1280, 720, 4_000_000));
  assert.ok(bound(400, 300, 4_000_000) < 12_000);
});

test.run();
