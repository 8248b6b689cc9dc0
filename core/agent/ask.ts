// One request to the model, inside the step's deadline and budget: admitted before it is sent, booked
// whatever becomes of it. A request counts as a model call when a model answered it or may have; an
// adapter that could not even start (no key, no package) says so with an error of configuration.
import { race } from '../base/deadline.ts';
import { AgentError, isRunnerError } from '../contract/errors.ts';
import type { Budget } from './budget.ts';
import { messageOf } from './map-errors.ts';
import { isModelError, type Model, type ModelAnswer, type ModelRequest } from './model.ts';

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
    cacheKey: options.cacheKey.slice(0, CACHE_KEY_LENGTH),
  };
  signal.throwIfAborted();
  budget.admit(request);
  try {
    const answer = await race((async () => model.generate(request, { signal }))(), signal);
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
