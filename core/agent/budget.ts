// What a step may spend: model calls, engine actions, tokens, money and time, and when it has to
// come to an end. A limit is looked at before the thing is done and booked when it is done, so no
// budget can be overrun by one. The counting rules are those of agent-rules.md, "Counting".
import type { Deadline } from '../base/deadline.ts';
import { utf8Length } from '../base/text.ts';
import { AgentError } from '../contract/errors.ts';
import type { ModelAnswer, ModelRequest, ModelUsage } from './model.ts';
import type { AgentEntry, ModelPrices } from './scope.ts';
import { addUsage, NO_USAGE, usageOfCall, type UsageTotals } from './usage.ts';

/** The last part of a deadline, in which only a verdict is asked for. */
const WIND_DOWN = { part: 0.1, mostMs: 15_000 } as const;

/** Why the choice is forced to `complete_step`. */
export type WindDown = 'model-calls' | 'time' | 'actions';

export interface BudgetLimits {
  readonly deadline: Deadline;
  /** ms of the whole step. */
  readonly totalMs: number;
  readonly maxModelCalls: number;
  readonly maxSteps: number;
  readonly entry: AgentEntry;
}

export interface Budget {
  readonly deadline: Deadline;
  readonly modelCalls: number;
  readonly modelCallsLeft: number;
  readonly actions: number;
  readonly actionsLeft: number;
  readonly usage: UsageTotals;
  /** Throws `STEP_BUDGET_EXHAUSTED` when the request may not be sent. */
  admit(request: ModelRequest): void;
  /** Books a request that a model answered. */
  bookAnswer(request: ModelRequest, answer: ModelAnswer): void;
  /** Books a request that failed; `counts` when a model may have answered it. */
  bookFailure(request: ModelRequest, failure: FailedRequest): void;
  bookActions(count: number): void;
  /** Why the step has to conclude now, if it has to. */
  windDown(): WindDown | undefined;
}

export interface FailedRequest {
  readonly counts: boolean;
  readonly requests: number;
  readonly usage?: ModelUsage | undefined;
}

export function createBudget(limits: BudgetLimits): Budget {
  const { deadline, maxModelCalls, maxSteps, entry } = limits;
  const windDownMs = Math.min(WIND_DOWN.mostMs, limits.totalMs * WIND_DOWN.part);
  let modelCalls = 0;
  let actions = 0;
  let usage = NO_USAGE;
  let spent = 0;

  const book = (call: UsageTotals): void => {
    usage = addUsage(usage, call);
    spent += costOf(call, entry.prices);
    modelCalls += call.modelCalls;
  };

  return {
    deadline,
    get modelCalls() {
      return modelCalls;
    },
    get modelCallsLeft() {
      return maxModelCalls - modelCalls;
    },
    get actions() {
      return actions;
    },
    get actionsLeft() {
      return maxSteps - actions;
    },
    get usage() {
      return usage;
    },
    admit(request) {
      if (modelCalls >= maxModelCalls) {
        throw exhausted(`all ${maxModelCalls} model calls are used`);
      }
      const { maxTokens, maxCost, prices } = entry;
      if (maxTokens === undefined && maxCost === undefined) return;
      const bound = { inputTokens: requestBytes(request), outputTokens: request.maxOutputTokens };
      const next = bound.inputTokens + bound.outputTokens;
      const tokens = usage.inputTokens + usage.outputTokens;
      if (maxTokens !== undefined && tokens + next > maxTokens) {
        throw exhausted(
          `maxTokens is ${maxTokens}, ${tokens} are spent and the next request may take ${next}`,
        );
      }
      // Without prices the next call's cost is unknown; then only what is spent can be held.
      const nextCost = prices === undefined ? 0 : priceOf(bound, prices);
      if (maxCost !== undefined && (spent >= maxCost || spent + nextCost > maxCost)) {
        throw exhausted(
          `maxCost is $${maxCost}, $${spent.toFixed(6)} are spent and the next request may cost $${nextCost.toFixed(6)}`,
        );
      }
    },
    bookAnswer(request, answer) {
      book(
        usageOfCall({
          reported: answer.usage,
          // Getters: counting bytes costs time, and most providers report their counts.
          bound: {
            get inputTokens() {
              return requestBytes(request);
            },
            get outputTokens() {
              return utf8Length(answer.text) + utf8Length(JSON.stringify(answer.toolCalls));
            },
          },
          requests: answer.requests,
        }),
      );
    },
    bookFailure(request, failure) {
      if (failure.counts) {
        book(
          usageOfCall({
            reported: failure.usage,
            bound: {
              inputTokens: requestBytes(request),
              outputTokens: request.maxOutputTokens,
            },
            requests: failure.requests,
          }),
        );
      } else {
        book({ ...NO_USAGE, requests: failure.requests });
      }
    },
    bookActions(count) {
      actions += count;
    },
    windDown() {
      if (maxModelCalls - modelCalls <= 1) return 'model-calls';
      if (deadline.remaining() <= windDownMs) return 'time';
      return maxSteps - actions <= 0 ? 'actions' : undefined;
    },
  };
}

function exhausted(why: string): AgentError {
  return new AgentError('STEP_BUDGET_EXHAUSTED', `The step's budget is used up: ${why}.`);
}

/** A token is never shorter than a byte of what is sent, so bytes bound tokens from above. */
function requestBytes(request: ModelRequest): number {
  let bytes = utf8Length(JSON.stringify(request.tools));
  if (request.responseSchema !== undefined) {
    bytes += utf8Length(JSON.stringify(request.responseSchema));
  }
  for (const message of request.messages) {
    switch (message.role) {
      case 'system':
        bytes += utf8Length(message.text);
        break;
      case 'assistant':
        bytes += utf8Length(message.text) + utf8Length(JSON.stringify(message.toolCalls));
        bytes += utf8Length(JSON.stringify(message.providerState ?? null));
        break;
      default:
        for (const part of message.content) {
          bytes += part.type === 'text' ? utf8Length(part.text) : part.data.byteLength;
        }
    }
  }
  return bytes;
}

interface Counts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
}

/** US dollars of some tokens. */
function priceOf(counts: Counts, prices: ModelPrices): number {
  const cached = Math.min(counts.cachedInputTokens ?? 0, counts.inputTokens);
  const fresh = counts.inputTokens - cached;
  return (
    (fresh * prices.input +
      cached * (prices.cachedInput ?? prices.input) +
      counts.outputTokens * prices.output) /
    1_000_000
  );
}

/** What one call cost: the provider's word, else the price list's. */
function costOf(call: UsageTotals, prices: ModelPrices | undefined): number {
  return call.cost ?? (prices === undefined ? 0 : priceOf(call, prices));
}
