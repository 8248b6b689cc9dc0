// What a refusal means. The status decides first, because bodies are prose and proxies answer HTML;
// the provider's codes refine it; words come last, and only those that maintained clients rely on.
// Digits in a message never count: an echoed prompt may hold any.
import type { ModelFailure } from '../../core/agent/model.ts';

/** A provider's error as its dialect read it. */
export interface ProviderError {
  readonly message: string;
  readonly code?: string;
  readonly type?: string;
  /** The request member that is at fault. */
  readonly param?: string;
  /** A status that the body states: an error inside a 200. */
  readonly status?: number;
  /** A wait that the body asks for, ms. */
  readonly waitMs?: number;
}

export interface Verdict {
  readonly failure: ModelFailure;
  readonly retry: boolean;
  /** No hint of the provider's changes it. */
  readonly final?: true;
}

const OVERFLOW_CODES = [
  'context_length_exceeded',
  'model_context_window_exceeded',
  'exceed_context_size_error',
];
const OVERFLOW_WORDS =
  /maximum context length|prompt is too long|exceeds? (?:the )?(?:available |model'?s? )?context (?:size|length|window|limit)|context (?:size|length|window) (?:is |was )?exceeded|input token count .{0,40}exceeds|input is too long|tokens when context the overflows/iu;
const QUOTA_CODES = [
  'insufficient_quota',
  'enforced_spend_limit_reached',
  'billing_error',
  'billing_hard_limit_reached',
];
const QUOTA_WORDS =
  /exceeded your current quota|spend(?:ing)? limit|credit balance|insufficient (?:credits?|balance|funds|quota)/iu;

/** Classifies a refusal. `hinted`: the provider said how long to wait, so waiting helps. */
export function classify(
  status: number,
  error: ProviderError | undefined,
  hinted: boolean,
): Verdict {
  const codes = [error?.code, error?.type];
  const words = error?.message ?? '';
  const has = (known: readonly string[]): boolean =>
    codes.some((code) => code !== undefined && known.includes(code));
  if (has(OVERFLOW_CODES) || (status !== 429 && OVERFLOW_WORDS.test(words))) {
    return { failure: 'context-overflow', retry: false, final: true };
  }
  if (has(QUOTA_CODES) || (status === 429 && !hinted && QUOTA_WORDS.test(words))) {
    return { failure: 'quota', retry: false, final: true };
  }
  switch (status) {
    case 401:
    case 403:
      return { failure: 'auth', retry: false };
    case 402:
      return { failure: 'quota', retry: false, final: true };
    case 404:
      return { failure: 'not-found', retry: false };
    case 408:
      return { failure: 'timeout', retry: true };
    case 409:
      return { failure: 'server', retry: true };
    case 413:
      return { failure: 'request-too-large', retry: false };
    case 429:
      return { failure: 'rate-limit', retry: true };
    case 503:
    case 529:
      return { failure: 'overloaded', retry: true };
    default:
      return status >= 500
        ? { failure: 'server', retry: true }
        : { failure: 'bad-request', retry: false };
  }
}

/** What each failure is called in a message, with what to do about it. */
export const FAILURE_WORDS: Readonly<Record<ModelFailure, string>> = {
  auth: 'refused the key: check the API key and what it may use',
  quota: 'says the quota or credit is used up: waiting does not help, check the account',
  'rate-limit': 'limits the rate: slow down or raise the limit',
  overloaded: 'is overloaded: try again later',
  server: 'failed on its side',
  transport: 'could not be reached, or the connection broke',
  timeout: 'did not answer in time',
  'bad-response': 'answered something that is no answer',
  'context-overflow': 'says the conversation is longer than the model can read',
  'request-too-large': 'says the request has too many bytes',
  'bad-request': 'refused the request',
  'not-found': 'does not know the model or the address: check the model name and the base URL',
  unavailable: 'is not available',
};
