// The Chat Completions dialect over fetch: OpenAI itself, and the many servers that speak the same
// (OpenRouter, Groq, DeepSeek, vLLM, LM Studio, Ollama, gateways). The wire's shapes are beside, in
// chat/; here is who is asked, with what key, and what is done about a refusal. A key from the
// environment goes to OpenAI alone: another server gets only the key that its caller names.
import { env } from 'node:process';
import type { GenerateOptions, Model, ModelAnswer, ModelRequest } from '../../core/agent/model.ts';
import { isPlainObject, type JsonObject } from '../../core/base/json.ts';
import { suggestName } from '../../core/base/nearest.ts';
import { ConfigurationError } from '../../core/contract.ts';
import { findChatProblem, readChatAnswer, readChatError } from './chat/answer.ts';
import { learn, newLearned } from './chat/learned.ts';
import { chatBody } from './chat/request.ts';
import { postJson, toModelError, type HttpFailure, type TransportOptions } from './http.ts';
import { redactor } from './redact.ts';

const ADAPTER = 'openai-chat';
const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
const KEY_VARIABLE = 'OPENAI_API_KEY';
/** Lessons in one call: more refusals than members would be a server that refuses everything. */
const MAX_LESSONS = 6;

export interface OpenAIChatOptions extends TransportOptions {
  /** The model's name at the server. */
  readonly model: string;
  /** The part of the address before `/chat/completions`. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string | undefined;
  /** Default: `OPENAI_API_KEY`, read when the model is made, and only for the default base URL. */
  readonly apiKey?: string | undefined;
  /** Whether the model accepts images. Default: true for the default base URL, else false. */
  readonly images?: boolean | undefined;
  /** Whether answers carry `usage.cost`. Default: true for openrouter.ai, else false. */
  readonly reportsCost?: boolean | undefined;
  /** Sent along, such as `HTTP-Referer` or `api-key`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Members added to every request's body, such as `{ "reasoning_effort": "low" }`. */
  readonly body?: JsonObject | undefined;
}
const OPTION_NAMES: readonly string[] = [
  'model',
  'baseUrl',
  'apiKey',
  'images',
  'reportsCost',
  'headers',
  'body',
  'fetch',
  'retries',
  'stallMs',
  'clock',
  'random',
] satisfies readonly (keyof OpenAIChatOptions)[];

/**
 * Makes a model behind a Chat Completions endpoint. Throws `INVALID_CONFIG` for a malformed option,
 * `MODEL_UNAVAILABLE` when the default base URL is used without a key. `generate` rejects with a
 * ModelError, or with the signal's reason.
 */
export function openaiChat(options: OpenAIChatOptions): Model {
  const { model } = options;
  const baseUrl = checkOptions(options);
  const isDefault = baseUrl === DEFAULT_BASE_URL;
  const apiKey = options.apiKey ?? (isDefault ? env[KEY_VARIABLE] : undefined);
  if (isDefault && (apiKey === undefined || apiKey === '')) {
    throw new ConfigurationError(
      'MODEL_UNAVAILABLE',
      `${ADAPTER}:${model} needs a key: set ${KEY_VARIABLE}, pass "apiKey", or pass the "baseUrl" of a server that takes none.`,
    );
  }
  const headers: Record<string, string> = {
    ...(apiKey === undefined || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
    ...options.headers,
  };
  checkHeaders(headers);
  const redact = redactor(
    [apiKey ?? '', ...Object.values(options.headers ?? {})].filter(isKeyLike),
  );
  let learned = newLearned(isDefault);
  const cost = options.reportsCost ?? new URL(baseUrl).hostname === 'openrouter.ai';

  async function generate(
    request: ModelRequest,
    { signal }: GenerateOptions,
  ): Promise<ModelAnswer> {
    let requests = 0;
    let known = learned;
    for (let lesson = 0; ; lesson += 1) {
      const body = chatBody(request, {
        adapter: ADAPTER,
        model,
        learned: known,
        cacheKeys: isDefault,
        extra: options.body ?? {},
      });
      const outcome = await postJson({
        ...options,
        subject: `${ADAPTER}:${model}`,
        url: `${baseUrl}/chat/completions`,
        headers,
        body,
        reader: { readError: readChatError, findProblem: findChatProblem },
        redact,
        signal,
      });
      requests += outcome.requests;
      if (outcome.ok) {
        learned = known;
        return readChatAnswer(outcome.json, request, { adapter: ADAPTER, model, requests });
      }
      const judged = answerOfRefusal(outcome, { model, requests });
      if (judged !== undefined) return judged;
      const { failure, provider } = outcome;
      const next =
        failure === 'bad-request' && provider !== undefined && lesson < MAX_LESSONS
          ? learn(known, body, provider)
          : undefined;
      if (next !== undefined) {
        known = next;
        continue;
      }
      throw toModelError({ ...outcome, requests });
    }
  }

  return {
    adapter: ADAPTER,
    modelId: model,
    images: options.images ?? isDefault,
    ...(cost ? { reportsCost: true } : {}),
    generate,
  };
}

/**
 * Two refusals are really the model's answer: a call that the server could not read (the model can
 * correct it), and a filter that struck. The agent hears them as an answer, not as a fault.
 */
function answerOfRefusal(
  { provider }: HttpFailure,
  { model, requests }: { readonly model: string; readonly requests: number },
): ModelAnswer | undefined {
  const answer = { toolCalls: [], modelId: model, requests, text: provider?.message ?? '' };
  if (provider?.code === 'tool_use_failed') return { ...answer, stopReason: 'other' };
  if (provider?.code === 'content_filter') return { ...answer, stopReason: 'content-filter' };
  return undefined;
}

/** Checks the options; answers the base URL without a slash at its end. */
function checkOptions(options: OpenAIChatOptions): string {
  const refuse = (message: string): never => {
    throw new ConfigurationError('INVALID_CONFIG', `${ADAPTER} option ${message}`);
  };
  if (!isPlainObject(options)) refuse('list is missing: pass { model: "..." }.');
  for (const key of Object.keys(options)) {
    if (!OPTION_NAMES.includes(key)) {
      refuse(`${JSON.stringify(key)} is unknown${suggestName(key, OPTION_NAMES)}`);
    }
  }
  if (typeof options.model !== 'string' || options.model.trim() === '') {
    refuse('"model" must be the name of a model.');
  }
  const { retries, stallMs, baseUrl = DEFAULT_BASE_URL } = options;
  if (retries !== undefined && !(Number.isSafeInteger(retries) && retries >= 0 && retries <= 5)) {
    refuse('"retries" must be an integer from 0 to 5.');
  }
  if (stallMs !== undefined && !(stallMs > 0)) refuse('"stallMs" must be above 0 ms.');
  if (options.body !== undefined && !isPlainObject(options.body)) {
    refuse('"body" must be an object of members to add to each request.');
  }
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/u.test(url.protocol)) {
    refuse('"baseUrl" must be an http or https URL, such as "http://localhost:11434/v1".');
  }
  if (url?.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    refuse(
      '"baseUrl" must have no user info, query or fragment: pass keys as "apiKey" or "headers".',
    );
  }
  return baseUrl.replace(/\/+$/u, '');
}

/** A header that cannot be sent would be quoted by fetch's own error, key and all. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const valid = /^[\w!#$%&'*+.^`|~-]+$/u.test(name) && typeof value === 'string';
    if (!valid || !/^[\t\x20-\x7e\x80-\xff]*$/u.test(value)) {
      throw new ConfigurationError(
        'INVALID_CONFIG',
        `${ADAPTER} ${name === 'authorization' ? 'option "apiKey"' : `header ${JSON.stringify(name)}`} holds characters that a header cannot: is a line break or a quote left in it?`,
      );
    }
  }
}

const isKeyLike = (value: string): boolean => value.length >= 8;
