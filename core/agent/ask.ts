// One request to the model, inside the step's deadline and budget: admitted before it is sent, booked
// whatever becomes of it. A request counts as a model call when a model answered it or may have; an
// adapter that could not even start (no key, no package) says so with an error of configuration.
import { race } from '../base/deadline.ts';
import { cutEnd } from '../base/text.ts';
import { messageOf } from '../base/thrown.ts';
import { AgentError, isRunnerError } from '../contract/errors.ts';
import type { Budget } from './budget.ts';
import {
  isModelError,
  ModelError,
  type Model,
  type ModelAnswer,
  type ModelRequest,
  type ModelToolCall,
} from './model.ts';

/** Output limit of one model call, reasoning included. */
const MAX_OUTPUT_TOKENS = 8192;
/** Longest prompt-cache key that providers take. */
const CACHE_KEY_LENGTH = 64;

/** A request as the steps write it; limit and cache key are added here. */
export type StepRequest = Pick<ModelRequest, 'messages' | 'tools' | 'toolChoice'> & {
  readonly responseSchema?: ModelRequest['responseSchema'] | undefined;
};

export interface AskOptions {
  readonly model: Model;
  readonly budget: Budget;
  readonly signal: AbortSignal;
  /** Same value, same stable prefix. */
  readonly cacheKey: string;
}

/** Sends one request; rejects with a ModelError, an AgentError, or the signal's reason. */
export async function askModel(parts: StepRequest, options: AskOptions): Promise<ModelAnswer> {
  const { model, budget, signal } = options;
  const { responseSchema, ...rest } = parts;
  const request: ModelRequest = {
    ...rest,
    ...(responseSchema === undefined ? {} : { responseSchema }),
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    cacheKey: cutEnd(options.cacheKey, CACHE_KEY_LENGTH),
  };
  signal.throwIfAborted();
  budget.admit(request);
  try {
    const answer = await race((async () => model.generate(request, { signal }))(), signal);
    const problem = problemOf(answer);
    if (problem !== undefined) {
      throw new ModelError(
        'bad-response',
        `Model ${model.adapter} ${model.modelId}: generate answered no ModelAnswer: ${problem}.`,
        { requests: 1, mayHaveAnswered: true },
      );
    }
    budget.bookAnswer(request, answer);
    return answer;
  } catch (error) {
    if (isModelError(error)) {
      const { mayHaveAnswered, requests, usage } = error;
      budget.bookFailure(request, { counts: mayHaveAnswered, requests, usage });
      throw error;
    }
    const unconfigured = isRunnerError(error) && error.category === 'configuration';
    // Any other was sent, and nobody knows how far it came: it counts.
    budget.bookFailure(request, { counts: !unconfigured, requests: unconfigured ? 0 : 1 });
    if (signal.aborted) throw error;
    throw new AgentError(
      unconfigured ? 'MODEL_UNAVAILABLE' : 'MODEL_PROVIDER_FAILED',
      `Model ${model.adapter} ${model.modelId}: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** What is wrong with an answer: a model port may be anybody's plain object. */
function problemOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return 'it is no object';
  const { text, toolCalls, modelId, stopReason, requests } = answer as Partial<ModelAnswer>;
  if (typeof text !== 'string') return '"text" must be a string';
  if (typeof modelId !== 'string') return '"modelId" must be a string';
  if (typeof stopReason !== 'string') return '"stopReason" must be a string';
  if (!Number.isSafeInteger(requests)) return '"requests" must be a whole number';
  if (!Array.isArray(toolCalls)) return '"toolCalls" must be a list';
  const isCall = (call: Partial<ModelToolCall> | null): boolean =>
    typeof call?.id === 'string' && typeof call.name === 'string';
  return toolCalls.every(isCall) ? undefined : 'each of "toolCalls" needs an "id" and a "name"';
}
