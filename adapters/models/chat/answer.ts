// A Chat answer as the neutral one. Servers that call themselves compatible leave members out, send
// null, arrays or objects where others send strings, and repeat call ids: everything here takes what
// came and never guesses at arguments: what does not parse is handed on as malformed.
import type {
  ModelAnswer,
  ModelRequest,
  ModelToolCall,
  ModelUsage,
  ProviderState,
  StopReason,
} from '../../../core/agent/model.ts';
import { isPlainObject, type JsonObject, type JsonValue } from '../../../core/base/json.ts';
import { toWellFormed } from '../../../core/base/text.ts';
import type { ProviderError } from '../failures.ts';
import { parseDuration } from '../retry.ts';

type Loose = Readonly<Record<string, unknown>>;
const object = (value: unknown): Loose => (isPlainObject(value) ? value : {});
const string = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Members of an answer that a reasoning model wants to see again. */
const ECHOED: readonly string[] = ['reasoning_content', 'reasoning', 'reasoning_details'];
/** Prefixes that some models put before a tool's name. */
const NAME_PREFIXES: readonly string[] = ['functions.', 'default_api.', 'default_api:'];

/** The error that a body states: OpenAI's shape, a bare string, vLLM's, FastAPI's, or in an array. */
export function readChatError(json: JsonValue): ProviderError | undefined {
  if (Array.isArray(json)) {
    const first = (json as readonly JsonValue[])[0];
    return first === undefined ? undefined : readChatError(first);
  }
  const body = object(json);
  const choice = object(Array.isArray(body['choices']) ? (body['choices'] as unknown[])[0] : null);
  const error = body['error'] ?? choice['error'];
  if (typeof error === 'string') return { message: error };
  if (isPlainObject(error)) return providerError(error);
  if (body['object'] === 'error') return providerError(body);
  if (body['choices'] !== undefined) return undefined;
  if (body['detail'] !== undefined) return { message: JSON.stringify(body['detail']) };
  const message = string(body['message']);
  return message === undefined ? undefined : { message };
}

function providerError(error: Loose): ProviderError {
  const metadata = object(error['metadata']);
  const raw = metadata['raw'];
  const code = error['code'];
  const words = [
    string(error['message']),
    raw === undefined ? undefined : typeof raw === 'string' ? raw : JSON.stringify(raw),
  ].filter((part) => part !== undefined);
  const type = string(error['type']);
  const param = string(error['param']);
  const waitMs = retryDelay(error['details']);
  return {
    message: words.length === 0 ? JSON.stringify(error) : words.join('; '),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof code === 'number' && code >= 400 && code < 600 ? { status: code } : {}),
    ...(type === undefined ? {} : { type }),
    ...(param === undefined ? {} : { param }),
    ...(waitMs === undefined ? {} : { waitMs }),
  };
}

function retryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const entry of details as unknown[]) {
    const delay = string(object(entry)['retryDelay']);
    if (delay !== undefined) return parseDuration(delay);
  }
  return undefined;
}

/** Why a 200 is no answer, or nothing. */
export function findChatProblem(json: JsonValue): string | undefined {
  const { choices } = object(json);
  if (!Array.isArray(choices)) return `no "choices" in ${JSON.stringify(json).slice(0, 200)}`;
  if (choices.length === 0) return 'an empty list of choices';
  return isPlainObject(object(choices[0])['message']) ? undefined : 'a choice without a message';
}

export interface AnswerOptions {
  readonly adapter: string;
  readonly model: string;
  readonly requests: number;
}

/** Reads an answer in which `findChatProblem` found nothing. */
export function readChatAnswer(
  json: JsonValue,
  request: ModelRequest,
  options: AnswerOptions,
): ModelAnswer {
  const body = object(json);
  const choice = object((body['choices'] as unknown[])[0]);
  const message = object(choice['message']);
  const refusal = string(message['refusal']);
  const read = readCalls(message, request);
  const usage = readUsage(body['usage']);
  const providerState = stateOf(message, read.extras, options);
  return {
    text: toWellFormed(textOf(message['content']) || (refusal ?? '')),
    toolCalls: read.calls,
    stopReason: refusal === undefined ? stopOf(choice['finish_reason'], read.calls) : 'refusal',
    modelId: string(body['model']) ?? options.model,
    requests: options.requests,
    ...(usage === undefined ? {} : { usage }),
    ...(providerState === undefined ? {} : { providerState }),
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as unknown[])
    .map((part) => (typeof part === 'string' ? part : (string(object(part)['text']) ?? '')))
    .join('');
}

function stopOf(reason: unknown, calls: readonly ModelToolCall[]): StopReason {
  switch (reason) {
    case 'length':
      return 'length';
    case 'content_filter':
      return 'content-filter';
    case 'stop':
    case 'tool_calls':
    case 'function_call':
    case null:
    case undefined:
      return calls.length > 0 ? 'tool-calls' : 'stop';
    default:
      return 'other';
  }
}

interface ReadCalls {
  readonly calls: readonly ModelToolCall[];
  /** Foreign members of a call (a thought signature), by our id. */
  readonly extras: JsonObject;
}

function readCalls(message: Loose, request: ModelRequest): ReadCalls {
  const listed = Array.isArray(message['tool_calls']) ? (message['tool_calls'] as unknown[]) : [];
  const single = message['function_call'];
  const raw = listed.length === 0 && isPlainObject(single) ? [{ function: single }] : listed;
  const used = new Set(
    request.messages.flatMap((entry) =>
      entry.role === 'assistant' ? entry.toolCalls.map((call) => call.id) : [],
    ),
  );
  const extras: Record<string, JsonValue> = {};
  const calls = raw.filter(isPlainObject).map((entry): ModelToolCall => {
    const id = uniqueId(string(entry['id']), used);
    const called = object(entry['function']);
    if (entry['extra_content'] !== undefined) {
      extras[id] = { extra_content: entry['extra_content'] as JsonValue };
    }
    const name = offeredName(string(called['name']) ?? '', request);
    return { id, name, ...readArguments(called['arguments']) };
  });
  return { calls, extras };
}

/** Some servers leave ids out, or count from 0 again each turn. */
function uniqueId(given: string | undefined, used: Set<string>): string {
  const base = given ?? 'call';
  let id = base;
  for (let count = used.size; given === undefined || used.has(id); count += 1) {
    id = `${base}_${count}`;
    if (!used.has(id)) break;
  }
  used.add(id);
  return id;
}

function offeredName(name: string, { tools }: ModelRequest): string {
  const offered = (wanted: string): boolean => tools.some((tool) => tool.name === wanted);
  if (offered(name)) return name;
  const bare = NAME_PREFIXES.filter((prefix) => name.startsWith(prefix))
    .map((prefix) => name.slice(prefix.length))
    .find(offered);
  return bare ?? name;
}

function readArguments(raw: unknown): Pick<ModelToolCall, 'arguments' | 'malformed'> {
  if (raw === undefined || raw === null) return { arguments: {} };
  if (isPlainObject(raw)) return { arguments: wellFormed(raw) };
  if (typeof raw !== 'string') return { malformed: JSON.stringify(raw) };
  if (raw.trim() === '') return { arguments: {} };
  try {
    const parsed: unknown = JSON.parse(raw);
    if (isPlainObject(parsed)) return { arguments: wellFormed(parsed) };
  } catch {
    // Handed on as it came: the agent answers the call with what is wrong.
  }
  return { malformed: toWellFormed(raw) };
}

/** A lone surrogate, which `"\ud83d"` parses to, would be refused by the next receiver. */
function wellFormed(value: Record<string, unknown>): JsonObject {
  return JSON.parse(JSON.stringify(value), (_, item: unknown) =>
    typeof item === 'string' ? toWellFormed(item) : item,
  ) as JsonObject;
}

/** Counts as reported; what is missing, null or no count stays absent. */
function readUsage(raw: unknown): ModelUsage | undefined {
  const usage = object(raw);
  const inputTokens = count(usage['prompt_tokens']);
  const outputTokens = count(usage['completion_tokens']);
  const cachedInputTokens =
    count(object(usage['prompt_tokens_details'])['cached_tokens']) ??
    count(usage['prompt_cache_hit_tokens']);
  const reasoningTokens = count(object(usage['completion_tokens_details'])['reasoning_tokens']);
  const raised = usage['cost'];
  const cost =
    typeof raised === 'number' && Number.isFinite(raised) && raised >= 0 ? raised : undefined;
  const read: ModelUsage = {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(cost === undefined ? {} : { cost }),
  };
  return Object.keys(read).length === 0 ? undefined : read;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function stateOf(
  message: Loose,
  calls: JsonObject,
  { adapter, model }: AnswerOptions,
): ProviderState | undefined {
  const fields: Record<string, JsonValue> = {};
  for (const member of ECHOED) {
    const value = message[member];
    if (value !== undefined && value !== null) fields[member] = value as JsonValue;
  }
  if (Object.keys(fields).length === 0 && Object.keys(calls).length === 0) return undefined;
  return { adapter, modelId: model, payload: { fields, calls } };
}
