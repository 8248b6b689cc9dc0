// A Chat Completions server on 127.0.0.1 with a model of ours behind it: the far end of `openai-chat`
// in tests. It turns what came over the wire back into the neutral request, so the model behind it
// sees what a provider would see, and nothing else.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  ContentPart,
  Model,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
  ModelToolCall,
  ToolChoice,
} from '../../core/agent/model.ts';
import type { JsonObject } from '../../core/base/json.ts';

export interface ChatServer {
  /** For `openaiChat({ baseUrl })`. */
  readonly baseUrl: string;
  /** Bodies of all requests so far, as parsed. */
  readonly requests: readonly ChatRequest[];
  /** Headers beside them. */
  readonly headers: readonly Readonly<Record<string, string | string[] | undefined>>[];
  close(): Promise<void>;
}

interface ChatCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: 'system' | 'user' | 'assistant' | 'tool';
    readonly content: string | null | readonly ChatPart[];
    readonly tool_calls?: readonly ChatCall[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly {
    readonly function: { name: string; description: string; parameters: JsonObject };
  }[];
  readonly tool_choice?: 'auto' | 'required' | { readonly function: { readonly name: string } };
  readonly response_format?: {
    readonly json_schema?: { readonly name: string; readonly schema: JsonObject };
  };
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}
type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** Starts a server; `close` ends it with its connections. */
export async function startChatServer(options: { readonly model: Model }): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  const headers: Readonly<Record<string, string | string[] | undefined>>[] = [];
  const ended = new AbortController();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const reply = (status: number, body: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      };
      if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
        reply(404, { error: { message: `no ${request.method} ${request.url}` } });
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatRequest;
      requests.push(body);
      headers.push(request.headers);
      options.model.generate(neutralRequest(body), { signal: ended.signal }).then(
        (answer) => reply(200, chatAnswer(answer, requests.length)),
        (error: unknown) => reply(500, { error: { message: String(error) } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    headers,
    async close() {
      ended.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The neutral request of a body. Marks that have no place on the wire (cache) are lost. */
function neutralRequest(body: ChatRequest): ModelRequest {
  const format = body.response_format?.json_schema;
  const names = new Map<string, string>();
  return {
    messages: body.messages.map((message) => neutralMessage(message, names)),
    tools: (body.tools ?? []).map((tool) => tool.function),
    toolChoice: neutralChoice(body.tool_choice),
    ...(format === undefined
      ? {}
      : { responseSchema: { name: format.name, schema: format.schema } }),
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? 0,
  };
}

function neutralChoice(choice: ChatRequest['tool_choice']): ToolChoice {
  return typeof choice === 'object' ? { tool: choice.function.name } : (choice ?? 'auto');
}

function neutralMessage(
  message: ChatRequest['messages'][number],
  names: Map<string, string>,
): ModelMessage {
  const { role, content } = message;
  switch (role) {
    case 'system':
      return { role, text: textOf(content) };
    case 'user':
      return { role, content: contentOf(content) };
    case 'assistant': {
      const toolCalls = (message.tool_calls ?? []).map((call): ModelToolCall => {
        names.set(call.id, call.function.name);
        const args = JSON.parse(call.function.arguments) as JsonObject;
        return { id: call.id, name: call.function.name, arguments: args };
      });
      return { role, text: typeof content === 'string' ? content : '', toolCalls };
    }
    case 'tool': {
      const callId = message.tool_call_id ?? '';
      const text = textOf(content);
      // The dialect has no flag for it: a failed result begins with the word.
      const isError = text.startsWith('Error: ');
      return {
        role,
        callId,
        name: names.get(callId) ?? '',
        content: [{ type: 'text', text: isError ? text.slice('Error: '.length) : text }],
        isError,
      };
    }
  }
}

function textOf(content: ChatRequest['messages'][number]['content']): string {
  return contentOf(content)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('');
}

function contentOf(content: ChatRequest['messages'][number]['content']): readonly ContentPart[] {
  if (content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part): ContentPart => {
    if (part.type === 'text') return part;
    const data = Buffer.from(part.image_url.url.replace(/^data:image\/png;base64,/u, ''), 'base64');
    const size = { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
    return { type: 'image', data, mediaType: 'image/png', ...size };
  });
}

function chatAnswer(answer: ModelAnswer, number: number): unknown {
  const { text, toolCalls, usage } = answer;
  return {
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    model: answer.modelId,
    choices: [
      {
        index: 0,
        finish_reason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(toolCalls.length === 0
            ? {}
            : {
                tool_calls: toolCalls.map((call) => ({
                  id: call.id,
                  type: 'function',
                  function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) },
                })),
              }),
        },
      },
    ],
    usage:
      usage === undefined
        ? null
        : { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens },
  };
}
