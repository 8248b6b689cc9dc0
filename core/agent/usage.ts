// Adding up what models used, per step, attempt and session. A sum is exact (`provider`) only when
// every call supplied complete counts; otherwise it is an upper bound, and says so: for a call that
// was answered the bytes of what was sent and of what came back, for one that was not (a time-out,
// an abort) its output limit in place of the latter (budget.ts). Sums saturate at MAX_SAFE_INTEGER; a cost that overflowed is left out, and stays out
// whatever is added later: what came before it is lost, and the rest is not the sum.
import type { ModelUsage } from './model.ts';

export interface UsageTotals {
  /**
   * `provider`: every call supplied complete counts. `adapter-upper-bound`: some did not; their
   * tokens are at most what is counted here, and in practice about a quarter of it.
   */
  readonly tokenAccounting: 'provider' | 'adapter-upper-bound';
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  /** US dollars, the sum of those reported; absent when none was, or when the sum overflowed. */
  readonly cost?: number;
  /** Costs were reported, but their sum is beyond what a number holds. */
  readonly costOverflow?: true;
  readonly modelCalls: number;
  /** HTTP requests: transport retries and downgrades included. */
  readonly requests: number;
}

/** One call as it is added: what the provider said, and the bound to use where it said nothing. */
export interface CallUsage {
  readonly reported?: ModelUsage | undefined;
  readonly bound: { readonly inputTokens: number; readonly outputTokens: number };
  readonly requests: number;
}

export const NO_USAGE: UsageTotals = Object.freeze({
  tokenAccounting: 'provider',
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  modelCalls: 0,
  requests: 0,
});

function saturate(a: number, b: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, a + b);
}

/** A count that can be trusted: a safe integer of 0 or more. */
function count(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) && value >= 0
    ? Math.min(Number.MAX_SAFE_INTEGER, Math.trunc(value))
    : undefined;
}

/** Turns one call into totals that `addUsage` can sum. */
export function usageOfCall(call: CallUsage): UsageTotals {
  const input = count(call.reported?.inputTokens);
  const output = count(call.reported?.outputTokens);
  const reasoning = count(call.reported?.reasoningTokens) ?? 0;
  const cost = call.reported?.cost;
  const complete = input !== undefined && output !== undefined;
  return {
    tokenAccounting: complete ? 'provider' : 'adapter-upper-bound',
    inputTokens: input ?? call.bound.inputTokens,
    outputTokens: output ?? saturate(call.bound.outputTokens, reasoning),
    cachedInputTokens: count(call.reported?.cachedInputTokens) ?? 0,
    reasoningTokens: reasoning,
    ...(cost !== undefined && Number.isFinite(cost) && cost >= 0 ? { cost } : {}),
    modelCalls: 1,
    requests: call.requests,
  };
}

/** The sum of two totals. */
export function addUsage(a: UsageTotals, b: UsageTotals): UsageTotals {
  return {
    tokenAccounting:
      a.tokenAccounting === 'provider' && b.tokenAccounting === 'provider'
        ? 'provider'
        : 'adapter-upper-bound',
    inputTokens: saturate(a.inputTokens, b.inputTokens),
    outputTokens: saturate(a.outputTokens, b.outputTokens),
    cachedInputTokens: saturate(a.cachedInputTokens, b.cachedInputTokens),
    reasoningTokens: saturate(a.reasoningTokens, b.reasoningTokens),
    ...addCost(a, b),
    modelCalls: saturate(a.modelCalls, b.modelCalls),
    requests: saturate(a.requests, b.requests),
  };
}

/** Costs accumulate where the provider gives one. */
function addCost(a: UsageTotals, b: UsageTotals): Pick<UsageTotals, 'cost' | 'costOverflow'> {
  if (a.costOverflow === true || b.costOverflow === true) return { costOverflow: true };
  if (a.cost === undefined && b.cost === undefined) return {};
  const cost = (a.cost ?? 0) + (b.cost ?? 0);
  return Number.isFinite(cost) ? { cost } : { costOverflow: true };
}
