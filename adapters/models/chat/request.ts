// A neutral request in the Chat dialect. Three things have no place there and are bent into one: a
// picture in a tool's result follows as a user message, after all results of its turn; a failed
// result is marked by its first word; what a reasoning model wants to see again goes back as the
// fields in which it came.
import type {
  ContentPart,
  ImagePart,
  ModelMessage,
  ModelRequest,
  ToolChoice,
} from '../../../core/agent/model.ts';
import { isPlainObject } from '../../../core/base/json.ts';
import type { Learned } from './learned.ts';
import { isStrictSchema } from './strict.ts';

/** How a failed tool result begins. */
const ERROR_MARK = 'Error: ';

export interface ChatBody {
  model: string;
  messages: unknown[];
  [member: string]: unknown;
}

export interface BodyOptions {
  readonly adapter: string;
  readonly model: string;
  readonly learned: Learned;
  /** Sends `prompt_cache_key`. */
  readonly cacheKeys: boolean;
  /** Members of the caller's own. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The body of one request, as far as the server is known to take it. */
export function chatBody(request: ModelRequest, options: BodyOptions): ChatBody {
  const { learned, model, extra } = options;
  const body: ChatBody = { model, messages: chatMessages(request.messages, options) };
  body[learned.maxTokensMember] = request.maxOutputTokens;
  addTools(body, request, learned);
  addResponseFormat(body, request, learned);
  if (options.cacheKeys && request.cacheKey !== undefined) {
    body['prompt_cache_key'] = request.cacheKey;
  }
  Object.assign(body, extra);
  for (const member of learned.refused) delete body[member];
  return body;
}

function addTools(body: ChatBody, { tools, toolChoice }: ModelRequest, learned: Learned): void {
  if (tools.length === 0) return;
  const forced = typeof toolChoice === 'object' ? toolChoice.tool : undefined;
  // A server that knows no named choice is given that tool alone, and told that it must call.
  const alone = forced !== undefined && learned.toolChoice === 'required';
  const offered = alone ? tools.filter((tool) => tool.name === forced) : tools;
  body['tools'] = offered.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  body['tool_choice'] = choiceOf(toolChoice, learned);
}

function choiceOf(choice: ToolChoice, { toolChoice }: Learned): unknown {
  if (choice === 'auto' || toolChoice === 'auto') return 'auto';
  if (choice === 'required' || toolChoice === 'required') return 'required';
  return { type: 'function', function: { name: choice.tool } };
}

function addResponseFormat(body: ChatBody, request: ModelRequest, learned: Learned): void {
  const wanted = request.responseSchema;
  if (wanted === undefined) return;
  if (learned.responseFormat === 'json_schema') {
    const strict = isStrictSchema(wanted.schema);
    body['response_format'] = {
      type: 'json_schema',
      json_schema: { name: wanted.name, schema: wanted.schema, ...(strict ? { strict } : {}) },
    };
    return;
  }
  if (learned.responseFormat === 'json_object') body['response_format'] = { type: 'json_object' };
  body.messages.push({
    role: 'user',
    content: `Answer with JSON alone, under this JSON Schema:\n${JSON.stringify(wanted.schema)}`,
  });
}

function chatMessages(messages: readonly ModelMessage[], options: BodyOptions): unknown[] {
  const out: unknown[] = [];
  let pictures: { readonly name: string; readonly images: readonly ImagePart[] }[] = [];
  const flush = (): void => {
    for (const { name, images } of pictures) {
      const text = `The picture that belongs to the result of ${name}:`;
      out.push({ role: 'user', content: [{ type: 'text', text }, ...images.map(imagePart)] });
    }
    pictures = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') flush();
    switch (message.role) {
      case 'system':
        out.push({ role: 'system', content: message.text });
        break;
      case 'user':
        out.push({ role: 'user', content: userContent(message.content) });
        break;
      case 'assistant':
        out.push(assistantMessage(message, options));
        break;
      case 'tool': {
        const text = textOf(message.content);
        const content = message.isError ? ERROR_MARK + text : text;
        out.push({ role: 'tool', tool_call_id: message.callId, content });
        const images = message.content.filter((part) => part.type === 'image');
        if (images.length > 0) pictures.push({ name: message.name, images });
        break;
      }
    }
  }
  flush();
  return out;
}

function assistantMessage(
  message: Extract<ModelMessage, { role: 'assistant' }>,
  { adapter, model, learned }: BodyOptions,
): unknown {
  const { text, toolCalls, providerState } = message;
  const own = providerState?.adapter === adapter && providerState.modelId === model;
  const payload =
    own && learned.echo && isPlainObject(providerState.payload) ? providerState.payload : {};
  const fields = isPlainObject(payload['fields']) ? payload['fields'] : {};
  const extras = isPlainObject(payload['calls']) ? payload['calls'] : {};
  return {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    ...fields,
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
            id,
            type: 'function',
            // What could not be parsed goes back as an empty object: servers parse the history.
            function: { name, arguments: JSON.stringify(args ?? {}) },
            ...(isPlainObject(extras[id]) ? extras[id] : {}),
          })),
        }),
  };
}

/** Plain text stays a string: many servers know nothing else. */
function userContent(parts: readonly ContentPart[]): unknown {
  if (parts.every((part) => part.type === 'text')) return textOf(parts);
  return parts.map((part) =>
    part.type === 'text' ? { type: 'text', text: part.text } : imagePart(part),
  );
}

function textOf(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

function imagePart({ data, mediaType }: ImagePart): unknown {
  const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${base64}` } };
}
