// What a step may spend: model calls, engine actions, tokens, money and time, and when it has to
// come to an end. A limit is looked at before the thing is done and booked when it is done, so no
// budget can be overrun by one. The counting rules are those of agent-rules.md, "Counting".
import type { Deadline } from '../base/deadline.ts';
import { utf8Length } from '../base/text.ts';
import { AgentError } from '../contract/errors.ts';
import type { ImagePart, ModelAnswer, ModelRequest, ModelUsage } from './model.ts';
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
      const bound = { inputTokens: requestBound(request), outputTokens: request.maxOutputTokens };
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
              return requestBound(request);
            },
            get outputTokens() {
              return answerBytes(answer);
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
              inputTokens: requestBound(request),
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

/** What a provider's own format adds around each message, and around the request: tokens. */
const MESSAGE_FRAME = 32;
const REQUEST_FRAME = 1024;
/** The dearest published price of a picture: a base, and each begun tile of 512 pixels; tokens. */
const PICTURE = { base: 2833, tile: 5667, tilePixels: 512 } as const;

/**
 * Most tokens that a request can be. No tokenizer makes a token of less than one byte of text, so
 * bytes bound them from above, by about four times in practice; a picture is billed by its size.
 */
function requestBound(request: ModelRequest): number {
  let bound = REQUEST_FRAME + jsonBytes(request.tools) + jsonBytes(request.responseSchema);
  for (const message of request.messages) {
    bound += MESSAGE_FRAME;
    switch (message.role) {
      case 'system':
        bound += utf8Length(message.text);
        break;
      case 'assistant':
        bound += answerBytes(message);
        break;
      default:
        if (message.role === 'tool') bound += utf8Length(message.callId + message.name);
        for (const part of message.content) {
          bound += part.type === 'text' ? utf8Length(part.text) : pictureBound(part);
        }
    }
  }
  return bound;
}

/**
 * Bytes of all that came back. Reasoning counts as far as it was handed back: a provider that
 * reasons and neither counts it nor hands it back cannot be bounded by what is seen.
 */
function answerBytes(answer: Pick<ModelAnswer, 'text' | 'toolCalls' | 'providerState'>): number {
  return (
    utf8Length(answer.text) + jsonBytes(answer.toolCalls) + jsonBytes(answer.providerState?.payload)
  );
}

function pictureBound({ width, height }: ImagePart): number {
  const { base, tile, tilePixels } = PICTURE;
  return base + tile * Math.ceil(width / tilePixels) * Math.ceil(height / tilePixels);
}

function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : utf8Length(JSON.stringify(value));
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
