// A model without a model: plain instructions, read by a grammar and carried out by rules. It works
// offline, without a key and always the same, for demos, for CI and for tests of the harness. It
// sees exactly what any model is sent, prompt text and tools, and keeps nothing between two
// requests. What it does not understand it blocks, saying which words: it never guesses.
import type {
  GenerateOptions,
  Model,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
} from '../../core/agent/model.ts';
import {
  readLatest,
  readScreen,
  readSections,
  type Sections,
} from '../../core/agent/screen/read.ts';
import { isPlainObject, type JsonObject, type JsonValue } from '../../core/base/json.ts';
import { nextMove, type Move } from './plain-words/act.ts';
import { judgeStatement } from './plain-words/statements.ts';
import { extractValue } from './plain-words/wants.ts';

const ADAPTER = 'plain-words';
const MODEL_ID = 'plain-words-1';

/**
 * Makes the offline model. Its tokens are the words, numbers and marks that it reads and writes:
 * an exact count of its own, and a fair guess at what a language model would count. `generate`
 * rejects only with the signal's reason.
 */
export function plainWords(): Model {
  return {
    adapter: ADAPTER,
    modelId: MODEL_ID,
    images: false,
    async generate(request: ModelRequest, { signal }: GenerateOptions): Promise<ModelAnswer> {
      signal.throwIfAborted();
      const given = answer(request);
      return {
        ...given,
        usage: {
          inputTokens: countTokens(request.messages) + countTokens(request.tools),
          outputTokens: countTokens([given.text, given.toolCalls.map((call) => call.arguments)]),
        },
      };
    },
  };
}

function answer(request: ModelRequest): ModelAnswer {
  const { messages } = request;
  const opening = messages.findIndex(
    (message) => message.role === 'user' && readSections(textOf(message)).kind !== undefined,
  );
  const task = messages[opening];
  const sections = task === undefined ? {} : readSections(textOf(task));
  const since = messages.slice(opening + 1);
  switch (sections.kind) {
    case 'act':
      return callAnswer(request, act(request, sections, messages.slice(opening)));
    case 'judge':
      return judge(request, sections);
    case 'extract':
      return textAnswer(JSON.stringify(extract(request, sections, since.length > 0)));
    default:
      return textAnswer('plain-words understands only the requests of this package.');
  }
}

function act(request: ModelRequest, sections: Sections, messages: readonly ModelMessage[]): Move {
  const { toolChoice, tools } = request;
  return nextMove({
    instruction: sections.instruction ?? '',
    params: sections.params ?? {},
    since: messages.slice(1),
    reading: readLatest(messages.filter(({ role }) => role !== 'assistant').map(textOf)),
    tools,
    mustConclude: typeof toolChoice === 'object' && toolChoice.tool === 'complete_step',
  });
}

function judge(request: ModelRequest, sections: Sections): ModelAnswer {
  const reading = sections.screen === undefined ? undefined : readScreen(sections.screen);
  const { verdict, reason } = judgeStatement(sections.instruction ?? '', reading);
  const tool = request.tools.find(({ name }) => name === 'judge');
  return tool === undefined
    ? textAnswer(`${verdict}: ${reason}`)
    : callAnswer(request, { name: tool.name, arguments: { verdict, reason } });
}

function extract(request: ModelRequest, sections: Sections, isRepair: boolean): JsonValue {
  const reading = sections.screen === undefined ? undefined : readScreen(sections.screen);
  const wanted = extractValue(sections.instruction ?? '', valueSchema(request, sections), reading);
  // The same screen gives the same value: asked again, it can only say that the value does not fit.
  return isRepair && wanted.found
    ? { found: false, reason: 'What the screen shows does not fit the schema.', value: null }
    : { ...wanted };
}

/** The schema of the value, out of that of the whole answer or out of the prompt. */
function valueSchema({ responseSchema }: ModelRequest, sections: Sections): JsonValue | undefined {
  const schema = responseSchema?.schema;
  const properties = schema?.['properties'];
  if (schema === undefined || !isPlainObject(properties)) return sections.schema;
  const value = properties['value'];
  if (!isPlainObject(value)) return undefined;
  // Definitions stand at the answer's root.
  const { type: _type, properties: _properties, ...definitions } = schema;
  return { ...definitions, ...(value as JsonObject) };
}

function textOf(message: ModelMessage): string {
  switch (message.role) {
    case 'system':
    case 'assistant':
      return message.text;
    default:
      return message.content
        .flatMap((part) => (part.type === 'text' ? [part.text] : []))
        .join('\n\n');
  }
}

/** Words, numbers and marks in the strings of a value, its member names included. */
function countTokens(value: unknown): number {
  return JSON.stringify(value).match(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]/gu)?.length ?? 0;
}

function textAnswer(text: string): ModelAnswer {
  return { text, toolCalls: [], stopReason: 'stop', modelId: MODEL_ID, requests: 0 };
}

/** One call, with an id that no earlier call of the conversation has. */
function callAnswer({ messages }: ModelRequest, move: Move): ModelAnswer {
  const before = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  );
  const id = `words-${before.length + 1}`;
  return { ...textAnswer(''), toolCalls: [{ id, ...move }], stopReason: 'tool-calls' };
}
