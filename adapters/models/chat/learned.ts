// What a server turned out not to take, learned from its own 400 and kept for the model's life.
// Compatible servers differ in a handful of members; a table of servers would age, a refusal names
// the member. Each lesson goes one way, so that learning ends; it is kept only once a request that
// follows it was answered, because a refusal may be about a value and not about the member.
import type { ProviderError } from '../failures.ts';
import type { ChatBody } from './request.ts';

export interface Learned {
  readonly maxTokensMember: 'max_completion_tokens' | 'max_tokens';
  readonly maxTokensSwapped: boolean;
  readonly toolChoice: 'named' | 'required' | 'auto';
  readonly responseFormat: 'json_schema' | 'json_object' | 'none';
  /** Reasoning fields go back with the turns in which they came. */
  readonly echo: boolean;
  /** Optional members that are left out. */
  readonly refused: readonly string[];
}

export function newLearned(isOpenAI: boolean): Learned {
  return {
    maxTokensMember: isOpenAI ? 'max_completion_tokens' : 'max_tokens',
    maxTokensSwapped: false,
    toolChoice: 'named',
    responseFormat: 'json_schema',
    echo: true,
    refused: [],
  };
}

const NEEDED: readonly string[] = ['model', 'messages', 'tools'];

/** What is known after this refusal of `body`; nothing when it teaches nothing new. */
export function learn(learned: Learned, body: ChatBody, error: ProviderError): Learned | undefined {
  const { message, param } = error;
  const names = (member: string): boolean =>
    member in body &&
    (param === member || param?.startsWith(`${member}.`) === true || mentions(message, member));

  if (names(learned.maxTokensMember) && !learned.maxTokensSwapped) {
    const isOld = learned.maxTokensMember === 'max_tokens';
    const maxTokensMember = isOld ? 'max_completion_tokens' : 'max_tokens';
    return { ...learned, maxTokensMember, maxTokensSwapped: true };
  }
  const choice = body['tool_choice'];
  const aboutChoice = names('tool_choice') || /tool choice/iu.test(message);
  if (choice !== undefined && choice !== 'auto' && aboutChoice) {
    const named = typeof choice === 'object' && !/thinking/iu.test(message);
    return { ...learned, toolChoice: named ? 'required' : 'auto' };
  }
  const format = names('response_format') || /json_?schema|additionalProperties/iu.test(message);
  if ('response_format' in body && format) {
    const isFirst = learned.responseFormat === 'json_schema';
    return { ...learned, responseFormat: isFirst ? 'json_object' : 'none' };
  }
  if (learned.echo && /^messages.*reasoning/iu.test(param ?? '')) {
    return { ...learned, echo: false };
  }
  const refused = Object.keys(body).find(
    (member) => !NEEDED.includes(member) && isOptional(member) && names(member),
  );
  return refused === undefined ? undefined : { ...learned, refused: [...learned.refused, refused] };
}

/** The limit, the choice and the format have lessons of their own above. */
function isOptional(member: string): boolean {
  return !['max_tokens', 'max_completion_tokens', 'tool_choice', 'response_format'].includes(
    member,
  );
}

/** Whether prose names the member as a word of its own: `stop` is not in `stopped`. */
function mentions(message: string, member: string): boolean {
  return new RegExp(`(?<![\\w])${member}(?![\\w])`, 'u').test(message);
}
