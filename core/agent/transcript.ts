// The conversation of one act step. It only grows at its end, so that a provider's prompt cache keeps
// its prefix; screens that a newer one has overtaken are replaced by a short note, but in batches,
// because each replacement costs the cache everything after it.
import { utf8Length } from '../base/text.ts';
import type { ModelAnswer, ModelMessage, ModelToolCall } from './model.ts';
import { elideScreens } from './prompts.ts';

/** Overtaken text that is worth a broken cache, UTF-8 bytes. */
const BATCH_BYTES = 16_384;

export interface Transcript {
  /** The messages of the next request: a new list, with the cache marks set. */
  messages(): readonly ModelMessage[];
  answer(answer: ModelAnswer): void;
  /** Answers one tool call. `whole`: the text carries a whole screen, which overtakes older ones. */
  result(call: ModelToolCall, result: ResultText): void;
  user(text: string): void;
}

export interface ResultText {
  readonly text: string;
  readonly isError: boolean;
  readonly whole: boolean;
}

/** What opens every request: the fixed rules, then the task with its screen. */
export function opening(rules: string, task: string): ModelMessage[] {
  return [
    { role: 'system', text: rules, cache: true },
    { role: 'user', content: [{ type: 'text', text: task }] },
  ];
}

/** Starts a conversation. */
export function createTranscript(rules: string, task: string): Transcript {
  const messages = opening(rules, task);
  /** Index of the message with the newest whole screen. */
  let newest = 1;
  /** Messages before this one have no screen left in them. */
  let elided = 1;

  const elide = (): void => {
    const lean: ModelMessage[] = [];
    let gain = 0;
    for (const message of messages.slice(elided, newest)) {
      const next = withoutScreens(message);
      gain += textBytes(message) - textBytes(next);
      lean.push(next);
    }
    if (gain < BATCH_BYTES) return;
    messages.splice(elided, lean.length, ...lean);
    elided = newest;
  };

  return {
    messages() {
      const last = messages.length - 1;
      return messages.map((message, index) =>
        index === last && message.role !== 'assistant' ? { ...message, cache: true } : message,
      );
    },
    answer(answer) {
      messages.push(assistantMessage(answer));
    },
    result(call, { text, isError, whole }) {
      messages.push({
        role: 'tool',
        callId: call.id,
        name: call.name,
        content: [{ type: 'text', text }],
        isError,
      });
      if (!whole) return;
      newest = messages.length - 1;
      elide();
    },
    user(text) {
      messages.push({ role: 'user', content: [{ type: 'text', text }] });
    },
  };
}

/** What the model said, as the next request repeats it. */
export function assistantMessage(answer: ModelAnswer): ModelMessage {
  return {
    role: 'assistant',
    text: answer.text,
    toolCalls: answer.toolCalls,
    ...(answer.providerState === undefined ? {} : { providerState: answer.providerState }),
  };
}

/** Tells the model what was wrong with its answer: as its calls' results, or as a user message. */
export function correction(answer: ModelAnswer, text: string): readonly ModelMessage[] {
  const content = [{ type: 'text', text }] as const;
  if (answer.toolCalls.length === 0) return [{ role: 'user', content }];
  return answer.toolCalls.map((call) => ({
    role: 'tool',
    callId: call.id,
    name: call.name,
    content,
    isError: true,
  }));
}

function withoutScreens(message: ModelMessage): ModelMessage {
  if (message.role !== 'user' && message.role !== 'tool') return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === 'text' ? { type: 'text', text: elideScreens(part.text) } : part,
    ),
  };
}

function textBytes(message: ModelMessage): number {
  if (message.role !== 'user' && message.role !== 'tool') return 0;
  let bytes = 0;
  for (const part of message.content) if (part.type === 'text') bytes += utf8Length(part.text);
  return bytes;
}
