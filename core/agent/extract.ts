// `extract`: one observation, one answer in JSON, validated by the caller's schema, and one repair
// round that quotes the issues by path. The model may also say that the data is not on the screen;
// that is an answer of its own, so that a schema is never satisfied with something made up.
import type { JsonObject, JsonValue } from '../base/json.ts';
import { isPlainObject } from '../base/json.ts';
import { messageOf } from '../base/thrown.ts';
import { AgentError } from '../contract/errors.ts';
import type { ModelAnswer } from './model.ts';
import { extractMessage, repairMessage, rulesMessage, type ValueIssue } from './prompts.ts';
import { issuePath, jsonSchemaOf, type StandardSchemaV1 } from './standard-schema.ts';
import type { Step, StepSuccess } from './step.ts';
import { assistantMessage, correction, opening } from './transcript.ts';
import { wholeScreen } from './view.ts';

/** Model calls: the extraction and its repair. */
const ROUNDS = 2;
/** Issues that the final error names. */
const ISSUES_IN_ERROR = 5;

export async function runExtract(step: Step): Promise<StepSuccess<unknown>> {
  const { call } = step;
  const schema = call.schema as StandardSchemaV1;
  const { snapshot } = await step.observe();
  const valueSchema = jsonSchemaOf(schema);
  const answerSchema = valueSchema === undefined ? undefined : answerSchemaOf(valueSchema);
  const { context } = call.entry;
  const messages = opening(
    step.redact(rulesMessage('extract', call.entry.system)),
    extractMessage({
      instruction: step.redact(call.instruction),
      screen: wholeScreen(step, snapshot),
      context: context === undefined ? undefined : step.redact(context),
      // One that cannot travel as a response schema is told in words.
      schema: answerSchema === undefined ? valueSchema : undefined,
    }),
  );
  let issues: readonly ValueIssue[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const answer = await step.ask({
      messages: [...messages],
      tools: [],
      toolChoice: 'auto',
      responseSchema:
        answerSchema === undefined ? undefined : { name: 'extraction', schema: answerSchema },
    });
    const read = readExtraction(answer);
    if ('reason' in read) {
      throw new AgentError(
        'ASSERTION_INCONCLUSIVE',
        `The data is not on the screen: ${read.reason}`,
      );
    }
    if ('value' in read) {
      const validated = await validate(step, schema, read.value);
      if ('output' in validated) return { value: validated.output, summary: 'Extracted.' };
      ({ issues } = validated);
    } else {
      ({ issues } = read);
    }
    messages.push(
      assistantMessage(answer),
      ...correction(answer, step.redact(repairMessage(issues))),
    );
  }
  throw new AgentError(
    'MODEL_OUTPUT_INVALID',
    `The model's answer does not fit the schema after one repair: ${issues
      .slice(0, ISSUES_IN_ERROR)
      .map((issue) => `${issue.path}: ${issue.message}`)
      .join('; ')}`,
  );
}

type Extraction =
  | { readonly value: JsonValue }
  | { readonly reason: string }
  | { readonly issues: readonly ValueIssue[] };

/** Reads `{ found, reason, value }` from an answer's text. */
function readExtraction(answer: ModelAnswer): Extraction {
  const wrong = (message: string): Extraction => ({ issues: [{ path: 'answer', message }] });
  const body = answer.text.trim();
  if (answer.stopReason === 'length') return wrong('was cut at the output limit; answer shorter');
  if (body === '') return wrong('is empty; answer with JSON');
  let parsed: unknown;
  try {
    parsed = JSON.parse(withoutCodeFence(body));
  } catch (error) {
    return wrong(`is not JSON: ${messageOf(error)}`);
  }
  if (!isPlainObject(parsed)) return wrong('must be an object with found, reason and value');
  if (parsed['found'] === false) {
    const { reason } = parsed;
    return { reason: typeof reason === 'string' && reason !== '' ? reason : 'no reason given.' };
  }
  if (parsed['found'] !== true || !('value' in parsed)) {
    return wrong('must be an object with found, reason and value');
  }
  return { value: parsed['value'] as JsonValue };
}

/** Models put JSON into a fence of Markdown now and then, whatever they are told. */
function withoutCodeFence(text: string): string {
  return /^```(?:json)?\s*\n(?<body>[\s\S]*?)\n?```$/u.exec(text)?.groups?.['body'] ?? text;
}

async function validate(
  step: Step,
  schema: StandardSchemaV1,
  value: JsonValue,
): Promise<{ readonly output: unknown } | { readonly issues: readonly ValueIssue[] }> {
  // The validator is the caller's code: it may be asynchronous, and it may throw.
  const check = async () => schema['~standard'].validate(value);
  const result = await step.withinDeadline(check()).catch((error: unknown) => {
    if (step.signal.aborted) throw error;
    throw new AgentError(
      'MODEL_OUTPUT_INVALID',
      `agent.extract: the schema's validator threw: ${messageOf(error)}`,
      { cause: error },
    );
  });
  if (result.issues === undefined) return { output: result.value };
  return {
    issues: result.issues.map((issue) => {
      const path = issuePath(issue);
      return {
        path: path === '' ? 'value' : path.startsWith('[') ? `value${path}` : `value.${path}`,
        message: issue.message,
      };
    }),
  };
}

/**
 * The schema of the whole answer around that of the value. Definitions move to the root, because
 * references name them from there; a schema that refers elsewhere cannot be moved.
 */
function answerSchemaOf(schema: JsonObject): JsonObject | undefined {
  const { $schema: _dialect, $defs, definitions, ...value } = schema;
  if (!referencesAreMovable(schema)) return undefined;
  return {
    type: 'object',
    properties: {
      found: { type: 'boolean' },
      reason: { type: ['string', 'null'] },
      value: { anyOf: [value, { type: 'null' }] },
    },
    required: ['found', 'reason', 'value'],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function referencesAreMovable(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(referencesAreMovable);
  return Object.entries(value as JsonObject).every(([key, member]) =>
    key === '$ref' && typeof member === 'string'
      ? /^#\/(?:\$defs|definitions)\//u.test(member)
      : referencesAreMovable(member),
  );
}
