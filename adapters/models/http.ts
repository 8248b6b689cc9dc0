// One JSON request to a model provider, with the whole transport policy: what is retried and after
// how long, one deadline over headers and body, a limit on silence, no redirects (they would carry
// the key along), bounded and redacted quotes. It knows no dialect: what a body says is read by the
// hooks of the adapter. Failure is a value here; the adapter may learn from it before it throws.
import { ModelError, type ModelFailure } from '../../core/agent/model.ts';
import { systemClock, type Clock } from '../../core/base/clock.ts';
import { race, sleep } from '../../core/base/deadline.ts';
import type { JsonValue } from '../../core/base/json.ts';
import { toWellFormed } from '../../core/base/text.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../core/base/version.ts';
import { classify, FAILURE_WORDS, type ProviderError } from './failures.ts';
import { quote, safeCause, type Redact } from './redact.ts';
import { backoff, MAX_HINT_MS, MAX_RETRIES, shouldRetryHint, waitHint } from './retry.ts';

/** A request without any byte for this long is aborted and sent again, ms. */
const STALL_MS = 120_000;
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;
const ERROR_LIMIT_BYTES = 64 * 1024;
/** An answer that parses but is none is asked for once more: it costs tokens each time. */
const EMPTY_ANSWER_RETRIES = 1;

export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** How requests are sent; the same for every request of one model. */
export interface TransportOptions {
  readonly fetch?: FetchLike | undefined;
  /** 0 to 5; default 5. */
  readonly retries?: number | undefined;
  /** Default 120 000 ms. */
  readonly stallMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** 0 to 1, for jitter. */
  readonly random?: (() => number) | undefined;
}

/** How an adapter reads bodies. */
export interface BodyReader {
  /** The error that a body states, also one inside a 200. */
  readError(json: JsonValue): ProviderError | undefined;
  /** Why a parsed 200 is no answer, or nothing. */
  findProblem(json: JsonValue): string | undefined;
}

export interface PostOptions extends TransportOptions {
  /** Who is asked, for messages: `openai-chat gpt-5.6-luna`. */
  readonly subject: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly reader: BodyReader;
  readonly redact: Redact;
  readonly signal: AbortSignal;
}

export interface HttpFailure {
  readonly failure: ModelFailure;
  readonly message: string;
  readonly status?: number;
  readonly provider?: ProviderError;
  readonly requests: number;
  readonly mayHaveAnswered: boolean;
  readonly cause?: unknown;
}
export type HttpOutcome =
  | { readonly ok: true; readonly json: JsonValue; readonly requests: number }
  | ({ readonly ok: false } & HttpFailure);

/** What one request came to, before anything is decided about the next. */
interface Trial {
  readonly failure: ModelFailure;
  readonly detail: string;
  readonly retry: boolean | 'once';
  readonly answered: boolean;
  readonly status?: number;
  readonly provider?: ProviderError;
  readonly waitMs?: number | undefined;
  readonly cause?: unknown;
}

/** Sends until answered or refused for good. Rejects only with the signal's own reason. */
export async function postJson(options: PostOptions): Promise<HttpOutcome> {
  const { signal, clock = systemClock, random = Math.random, retries = MAX_RETRIES } = options;
  const payload = JSON.stringify(options.body, (_, value: unknown) =>
    typeof value === 'string' ? toWellFormed(value) : value,
  );
  let answered = false;
  let malformed = 0;
  for (let requests = 1; ; requests += 1) {
    signal.throwIfAborted();
    const trial = await send(options, payload);
    signal.throwIfAborted();
    if ('json' in trial) return { ok: true, json: trial.json, requests };
    answered ||= trial.answered;
    if (trial.retry === 'once') malformed += 1;
    const again = trial.retry === 'once' ? malformed <= EMPTY_ANSWER_RETRIES : trial.retry;
    const tooLong = trial.waitMs !== undefined && trial.waitMs > MAX_HINT_MS;
    if (!again || tooLong || requests > Math.min(retries, MAX_RETRIES)) {
      return { ok: false, ...failureOf(options, trial, requests, answered) };
    }
    await sleep(trial.waitMs ?? backoff(requests - 1, random), { clock, signal });
  }
}

/** The error that an adapter throws for a failure. */
export function toModelError(failure: HttpFailure): ModelError {
  const { status, requests, mayHaveAnswered, cause } = failure;
  return new ModelError(failure.failure, failure.message, {
    requests,
    mayHaveAnswered,
    ...(status === undefined ? {} : { status }),
    ...(cause === undefined ? {} : { cause }),
  });
}

function failureOf(
  { subject, url, redact }: PostOptions,
  trial: Trial,
  requests: number,
  mayHaveAnswered: boolean,
): HttpFailure {
  const { failure, status, provider, waitMs } = trial;
  const parts = [
    `${subject} at ${shownUrl(url)} ${FAILURE_WORDS[failure]}`,
    ` (${status === undefined ? '' : `HTTP ${status}, `}${requests} ${requests === 1 ? 'request' : 'requests'}`,
    waitMs !== undefined && waitMs > MAX_HINT_MS
      ? `, it asks to wait ${Math.ceil(waitMs / 1000)} s`
      : '',
    trial.detail === '' ? ').' : `): ${quote(trial.detail, redact)}`,
  ];
  return {
    failure,
    message: parts.join(''),
    requests,
    mayHaveAnswered,
    ...(status === undefined ? {} : { status }),
    ...(provider === undefined ? {} : { provider }),
    ...(trial.cause === undefined ? {} : { cause: safeCause(trial.cause, redact) }),
  };
}

async function send(options: PostOptions, payload: string): Promise<Trial | { json: JsonValue }> {
  const { signal, clock = systemClock, stallMs = STALL_MS } = options;
  const fetcher: FetchLike = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const abort = new AbortController();
  const onAbort = (): void => {
    abort.abort(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  let stalled = false;
  let cancelTimer = (): void => undefined;
  const arm = (): void => {
    cancelTimer();
    cancelTimer = clock.setTimer(stallMs, () => {
      stalled = true;
      abort.abort(new DOMException(`No byte for ${stallMs} ms.`, 'TimeoutError'));
    });
  };
  let begun = false;
  try {
    arm();
    const response = await race(
      fetcher(options.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'user-agent': `${PACKAGE_NAME}/${PACKAGE_VERSION}`,
          ...options.headers,
        },
        body: payload,
        redirect: 'error',
        signal: abort.signal,
      }),
      abort.signal,
    );
    begun = response.ok;
    arm();
    const limit = response.ok ? ANSWER_LIMIT_BYTES : ERROR_LIMIT_BYTES;
    const text = await readText(response, { limit, signal: abort.signal, onBytes: arm });
    return readResponse(options, response, text);
  } catch (error) {
    if (stalled) {
      const detail = `no byte arrived for ${stallMs} ms`;
      return { failure: 'timeout', detail, retry: true, answered: true, cause: error };
    }
    return transportTrial(error, begun);
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', onAbort);
    // Ends what is left of a body that was not read to its end.
    abort.abort();
  }
}

function readResponse(
  { reader, clock = systemClock }: PostOptions,
  response: Response,
  text: Body,
): Trial | { json: JsonValue } {
  const { status, headers } = response;
  const json = parse(text.text);
  const stated = json === undefined ? undefined : reader.readError(json);
  if (!response.ok || stated !== undefined) {
    const effective = response.ok ? (stated?.status ?? 500) : status;
    const waitMs = waitHint({
      headers,
      bodyHintMs: stated?.waitMs,
      wallClock: () => Date.parse(clock.iso()),
    });
    const verdict = classify(effective, stated, waitMs !== undefined);
    const hint = shouldRetryHint(headers);
    return {
      failure: verdict.failure,
      detail: stated?.message ?? shownBody(text.text),
      retry: verdict.final === true ? false : (hint ?? verdict.retry),
      answered: response.ok,
      status,
      waitMs,
      ...(stated === undefined ? {} : { provider: stated }),
    };
  }
  const bad = (detail: string, retry: Trial['retry']): Trial => ({
    failure: 'bad-response',
    detail,
    retry,
    answered: true,
    status,
  });
  if (text.cut) return bad(`more than ${ANSWER_LIMIT_BYTES} bytes`, false);
  if (text.text.trim() === '') return bad('an empty body', true);
  if (json === undefined) {
    return looksLikeHtml(text.text)
      ? bad(`${shownBody(text.text)} (is the base URL that of an API?)`, false)
      : bad(`JSON that is cut or damaged: ${text.text}`, true);
  }
  const problem = reader.findProblem(json);
  return problem === undefined ? { json } : bad(problem, 'once');
}

interface Body {
  readonly text: string;
  /** More came than was read. */
  readonly cut: boolean;
}

async function readText(
  response: Response,
  options: {
    readonly limit: number;
    readonly signal: AbortSignal;
    readonly onBytes: () => void;
  },
): Promise<Body> {
  if (response.body === null) return { text: '', cut: false };
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await race(reader.read(), options.signal);
      if (done) return { text: text + decoder.decode(), cut: false };
      options.onBytes();
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
      if (bytes > options.limit) return { text, cut: true };
    }
  } finally {
    // Not awaited: an injected body may never settle it.
    reader.cancel().catch(() => undefined);
  }
}

/** Codes of connections that never came about: nothing was sent, so nothing can have answered. */
const NEVER_CONNECTED: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

function transportTrial(error: unknown, begun: boolean): Trial {
  const codes: string[] = [];
  let message = error instanceof Error ? error.message : String(error);
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string') codes.push(code);
    if (at !== error && at.message !== '') message += `; ${at.message}`;
    at = at.cause;
  }
  const redirected = /redirect/iu.test(message);
  const unsent = redirected || codes.some((code) => NEVER_CONNECTED.includes(code));
  return {
    failure: 'transport',
    detail: redirected
      ? 'it redirects, and a redirect would carry the key along: use the final address as base URL'
      : [message, ...codes].join(' '),
    retry: !redirected,
    answered: begun || !unsent,
    cause: error,
  };
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

const looksLikeHtml = (text: string): boolean =>
  /^\s*<(?:!doctype|html|head|body|\?xml)/iu.test(text);

/** A body as a message shows it: HTML is named as such, by its title or its first words. */
function shownBody(text: string): string {
  if (text.trim() === '') return 'an empty body';
  if (!looksLikeHtml(text)) return text;
  const title = /<title[^>]*>([^<]*)/iu.exec(text)?.[1]?.trim();
  const words = title ?? text.replace(/<[^>]*>/gu, ' ').trim();
  return `an HTML page: ${words.slice(0, 300)}`;
}

/** An address without user info and query: either may hold a key. */
function shownUrl(url: string): string {
  if (!URL.canParse(url)) return 'the base URL';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
