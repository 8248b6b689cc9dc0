// The model port: one call in, content and usage out. An adapter turns this neutral request into a
// provider's dialect; the agent knows no provider. Failures are classified here, so that the agent
// can tell a bad key from an overflowing context without reading prose.
import type { JsonObject, JsonValue } from '../base/json.ts';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}
export interface ImagePart {
  readonly type: 'image';
  readonly data: Uint8Array;
  readonly mediaType: 'image/png';
  /** Image pixels. */
  readonly width: number;
  readonly height: number;
}
export type ContentPart = TextPart | ImagePart;

/** What a provider wants to see again next turn, replayed verbatim to the same adapter and model. */
export interface ProviderState {
  readonly adapter: string;
  readonly modelId: string;
  readonly payload: JsonValue;
}

export interface ModelToolCall {
  /** Unique within the conversation. */
  readonly id: string;
  readonly name: string;
  /** Parsed arguments; absent when they were no JSON object. */
  readonly arguments?: JsonObject;
  /** What the model sent, when it could not be parsed. */
  readonly malformed?: string;
}

/** One message of the conversation. `cache` marks the end of the stable prefix. */
export type ModelMessage =
  | { readonly role: 'system'; readonly text: string; readonly cache?: boolean }
  | { readonly role: 'user'; readonly content: readonly ContentPart[]; readonly cache?: boolean }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      readonly providerState?: ProviderState;
    }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly name: string;
      readonly content: readonly ContentPart[];
      readonly isError: boolean;
      readonly cache?: boolean;
    };

/** A tool as the model sees it. The schema is closed: a root object, no extra properties. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

export type ToolChoice = 'auto' | 'required' | { readonly tool: string };

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  /** May be empty. */
  readonly tools: readonly ModelTool[];
  readonly toolChoice: ToolChoice;
  /** The answer's text is to be JSON under this schema. */
  readonly responseSchema?: { readonly name: string; readonly schema: JsonObject };
  readonly maxOutputTokens: number;
  /** Same value, same stable prefix: a routing hint for prompt caches. */
  readonly cacheKey?: string;
}

/** Token counts; a count that the provider did not report is absent, never 0. */
export interface ModelUsage {
  /** All input, cached input included. */
  readonly inputTokens?: number;
  /** All output, reasoning included. */
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
  /** US dollars, when the provider reports them. */
  readonly cost?: number;
}

export type StopReason = 'stop' | 'tool-calls' | 'length' | 'refusal' | 'content-filter' | 'other';

export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly stopReason: StopReason;
  readonly usage?: ModelUsage;
  /** The model that answered. */
  readonly modelId: string;
  readonly providerState?: ProviderState;
  /** HTTP requests that this answer took: retries and downgrades included. */
  readonly requests: number;
}

export interface GenerateOptions {
  readonly signal: AbortSignal;
}

/** A model behind the port. */
export interface Model {
  /** The adapter's name, such as `openai-chat`. */
  readonly adapter: string;
  /** The model asked for, such as `gpt-5.6-luna`. */
  readonly modelId: string;
  /** Whether it accepts images. */
  readonly images: boolean;
  /** Whether the provider reports a cost with each answer. */
  readonly reportsCost?: boolean;
  generate(request: ModelRequest, options: GenerateOptions): Promise<ModelAnswer>;
}

/** Why a model call failed. */
export const MODEL_FAILURES = [
  'auth',
  'quota',
  'rate-limit',
  'overloaded',
  'server',
  'transport',
  'timeout',
  'bad-response',
  'context-overflow',
  'request-too-large',
  'bad-request',
  'not-found',
  'unavailable',
] as const;
export type ModelFailure = (typeof MODEL_FAILURES)[number];

const MODEL_ERROR_BRAND: symbol = Symbol.for('enginewright.model-error');

export interface ModelErrorOptions {
  /** HTTP status, when there was an answer. */
  readonly status?: number;
  /** Requests sent before giving up; default 0. */
  readonly requests?: number;
  /** Whether a model answered or may have: then the call counts. Default false. */
  readonly mayHaveAnswered?: boolean;
  readonly usage?: ModelUsage;
  readonly cause?: unknown;
}

/** A failed model call. The message carries no key and at most 1 KiB of a provider's body. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly failure: ModelFailure;
  readonly status?: number;
  readonly requests: number;
  readonly mayHaveAnswered: boolean;
  readonly usage?: ModelUsage;
  constructor(failure: ModelFailure, message: string, options: ModelErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    Object.defineProperty(this, MODEL_ERROR_BRAND, { value: true });
    this.failure = failure;
    if (options.status !== undefined) this.status = options.status;
    this.requests = options.requests ?? 0;
    this.mayHaveAnswered = options.mayHaveAnswered ?? false;
    if (options.usage !== undefined) this.usage = options.usage;
  }
}

/** Recognises a model error, also one of another copy of this package. */
export function isModelError(error: unknown): error is ModelError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as Record<symbol, unknown>)[MODEL_ERROR_BRAND] === true
  );
}
