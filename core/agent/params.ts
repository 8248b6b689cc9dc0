// The checks of a call's arguments, all of them before a step opens: a call that is wrong must not
// cost an observation, a model call or an entry in the records. Each call's options are a table of
// checks by key, so that an unknown key is known as such and the nearest one can be named.
import { findJsonIssue, isPlainObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { suggestName } from '../base/nearest.ts';
import { toWellFormed, utf8Length } from '../base/text.ts';
import type { AgentErrorCode } from '../contract/codes.ts';
import { AgentError } from '../contract/errors.ts';
import { isSecret, type Secret } from '../contract/secrets.ts';
import type { Model } from './model.ts';
import type { StepKind } from './records.ts';
import type { AgentEntry, AttemptScope } from './scope.ts';
import { isStandardSchema, type StandardSchemaV1 } from './standard-schema.ts';

/** UTF-8 bytes of an instruction after NFC. */
const INSTRUCTION_BYTES = 8192;
/** UTF-8 bytes of params as JSON, with handles projected. */
const PARAMS_BYTES = 65_536;
const PARAMS_DEPTH = 32;
/** Model calls of `assert` and `extract`: one, and one repair round. */
const JUDGMENT_CALLS = 2;
const JUDGMENT_TIMEOUT_MS = 30_000;
const INTERVAL_MS = { default: 3000, min: 100, max: 60_000 } as const;

/** What a step works with once its call was found right. */
export interface CheckedCall {
  readonly kind: StepKind;
  /** NFC, well-formed. */
  readonly instruction: string;
  readonly entry: AgentEntry;
  /** The model that this kind of step asks. */
  readonly model: Model;
  /** ms, before it is capped by the attempt's rest. */
  readonly timeoutMs: number;
  readonly maxModelCalls: number;
  /** 0 but for `act`. */
  readonly maxSteps: number;
  /** `act`: the params as the model may see them, handles projected to name and purpose. */
  readonly params: JsonObject | undefined;
  /** `act`: the handles among the params. */
  readonly secrets: readonly Secret[];
  /** `waitFor`: ms. */
  readonly intervalMs: number;
  /** `assert`: whether a failure keeps evidence. */
  readonly screenshot: boolean;
  /** `extract` only. */
  readonly schema: StandardSchemaV1 | undefined;
}

type Options = Readonly<Record<string, unknown>>;

const OPTION_KEYS: Readonly<Record<StepKind, readonly string[]>> = {
  act: ['params', 'timeout', 'maxSteps', 'maxModelCalls', 'agent'],
  assert: ['timeout', 'screenshot', 'vision', 'agent'],
  waitFor: ['timeout', 'interval', 'maxModelCalls', 'vision', 'agent'],
  extract: ['schema', 'timeout', 'vision', 'agent'],
};
/** Options that `act` does not take although its siblings do: the error says more than "unknown". */
const NOT_OF_ACT: Readonly<Record<string, string>> = {
  schema: 'act returns no value; use agent.extract',
  vision: 'act takes no vision option; it asks for pixels through its tools',
};

/** Checks one call; throws `INVALID_ARGUMENT`, `UNSUPPORTED_CAPABILITY` or `MODEL_UNAVAILABLE`. */
export function checkCall(
  kind: StepKind,
  instruction: unknown,
  options: unknown,
  scope: AttemptScope,
): CheckedCall {
  const call = `agent.${kind}`;
  const text = checkInstruction(call, kind, instruction);
  const given = checkOptions(call, kind, options);
  const entry = checkAgent(call, given['agent'], scope);
  checkVision(call, kind, given['vision'], entry);
  const schema = kind === 'extract' ? checkSchema(call, given['schema']) : undefined;
  const params = given['params'] === undefined ? undefined : checkParams(call, given['params']);
  const timeoutMs =
    checkInteger(call, 'timeout', given['timeout'], { min: 1 }) ?? defaultTimeout(kind, scope);
  const limit = (key: 'maxSteps' | 'maxModelCalls'): number =>
    checkInteger(call, key, given[key], { min: 1, max: entry[key], of: entry.name }) ?? entry[key];
  const intervalMs =
    checkInteger(call, 'interval', given['interval'], INTERVAL_MS) ?? INTERVAL_MS.default;
  const screenshot = given['screenshot'] ?? true;
  if (typeof screenshot !== 'boolean') invalid(`${call}: options.screenshot must be a boolean.`);
  return {
    kind,
    instruction: text,
    entry,
    model: checkModel(call, kind, entry),
    timeoutMs,
    maxModelCalls: kind === 'act' || kind === 'waitFor' ? limit('maxModelCalls') : JUDGMENT_CALLS,
    maxSteps: kind === 'act' ? limit('maxSteps') : 0,
    params: params?.projected,
    secrets: params?.secrets ?? [],
    intervalMs,
    screenshot: screenshot === true,
    schema,
  };
}

function defaultTimeout(kind: StepKind, { limits }: AttemptScope): number {
  return kind === 'act' ? limits.timeout : Math.max(JUDGMENT_TIMEOUT_MS, limits.actionTimeout);
}

function checkInstruction(call: string, kind: StepKind, instruction: unknown): string {
  const what = kind === 'assert' ? 'assertion' : kind === 'waitFor' ? 'condition' : 'instruction';
  if (typeof instruction !== 'string') {
    return invalid(`${call}: the ${what} must be a string, not ${typeName(instruction)}.`);
  }
  const text = toWellFormed(instruction).normalize('NFC');
  const bytes = utf8Length(text);
  if (bytes < 1) return invalid(`${call}: the ${what} is empty; say what is to be done or judged.`);
  if (bytes > INSTRUCTION_BYTES) {
    return invalid(
      `${call}: the ${what} has ${bytes} bytes, the limit is ${INSTRUCTION_BYTES}; pass long values in params, or split the step.`,
    );
  }
  return text;
}

function checkOptions(call: string, kind: StepKind, options: unknown): Options {
  if (options === undefined) {
    return kind === 'extract' ? invalid(`${call}: options with a schema are required.`) : {};
  }
  if (!isPlainObject(options)) {
    return invalid(`${call}: options must be a plain object, not ${typeName(options)}.`);
  }
  const known = OPTION_KEYS[kind];
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    const hint = kind === 'act' && Object.hasOwn(NOT_OF_ACT, key) ? NOT_OF_ACT[key] : undefined;
    if (hint !== undefined) throw unsupported(`${call}: options.${key} is not supported: ${hint}.`);
    return invalid(`${call}: options.${key} is not an option${suggestName(key, known)}`);
  }
  return options;
}

function checkAgent(call: string, name: unknown, scope: AttemptScope): AgentEntry {
  const wanted = name ?? scope.agentName;
  if (typeof wanted !== 'string') {
    return invalid(`${call}: options.agent must be a string, not ${typeName(wanted)}.`);
  }
  const entry = scope.agents.get(wanted);
  return (
    entry ??
    invalid(
      `${call}: there is no agent ${JSON.stringify(wanted)}${suggestName(wanted, scope.agents.keys())}`,
    )
  );
}

function checkModel(call: string, kind: StepKind, entry: AgentEntry): Model {
  const model = kind === 'act' ? entry.model : (entry.judge ?? entry.model);
  if (model !== undefined) return model;
  throw new AgentError(
    'MODEL_UNAVAILABLE',
    `${call}: agent ${JSON.stringify(entry.name)} has no model; give it one in the session's agents.`,
  );
}

function checkVision(call: string, kind: StepKind, vision: unknown, entry: AgentEntry): void {
  if (kind === 'act') return;
  if (vision !== undefined && typeof vision !== 'boolean' && vision !== 'only') {
    invalid(`${call}: options.vision must be true, false or "only".`);
  }
  const mode = vision ?? entry.vision;
  if (mode === false) return;
  throw unsupported(
    `${call}: vision ${JSON.stringify(mode)} needs an engine and a model with pixels, and this version judges by the tree alone; use vision: false.`,
  );
}

function checkSchema(call: string, schema: unknown): StandardSchemaV1 {
  return isStandardSchema(schema)
    ? schema
    : invalid(
        `${call}: options.schema must be a Standard Schema v1 validator (valibot, zod, arktype and others), not ${typeName(schema)}.`,
      );
}

interface IntegerRule {
  readonly min: number;
  readonly max?: number;
  /** The agent whose configured limit `max` is. */
  readonly of?: string;
}

function checkInteger(
  call: string,
  key: string,
  value: unknown,
  rule: IntegerRule,
): number | undefined {
  if (value === undefined) return undefined;
  const { min, max, of } = rule;
  if (!Number.isSafeInteger(value) || (value as number) < min) {
    return invalid(
      `${call}: options.${key} must be ${max === undefined || of !== undefined ? 'a positive whole number' : `a whole number from ${min} to ${max}`}, not ${show(value)}.`,
    );
  }
  if (max !== undefined && (value as number) > max) {
    return invalid(
      of === undefined
        ? `${call}: options.${key} must be a whole number from ${min} to ${max}, not ${show(value)}.`
        : `${call}: options.${key} is ${show(value)}, but agent ${JSON.stringify(of)} allows ${max}; a call can only lower the limit.`,
    );
  }
  return value as number;
}

interface CheckedParams {
  readonly projected: JsonObject;
  readonly secrets: readonly Secret[];
}

function checkParams(call: string, params: unknown): CheckedParams {
  if (!isPlainObject(params)) {
    return invalid(`${call}: options.params must be a plain object, not ${typeName(params)}.`);
  }
  const issue = findJsonIssue(params, { name: 'params', maxDepth: PARAMS_DEPTH, accept: isSecret });
  if (issue !== undefined) return invalid(`${call}: ${issue.path} ${issue.problem}.`);
  const secrets: Secret[] = [];
  const project = (value: unknown): JsonValue => {
    if (isSecret(value)) {
      if (!secrets.some((secret) => secret.name === value.name)) secrets.push(value);
      return { secret: value.name, purpose: value.purpose };
    }
    if (typeof value === 'string') return toWellFormed(value);
    if (Array.isArray(value)) return value.map(project);
    if (!isPlainObject(value)) return value as JsonValue;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [toWellFormed(key), project(member)]),
    );
  };
  const projected = project(params) as JsonObject;
  const bytes = utf8Length(JSON.stringify(projected));
  if (bytes > PARAMS_BYTES) {
    return invalid(`${call}: params have ${bytes} bytes as JSON, the limit is ${PARAMS_BYTES}.`);
  }
  return { projected, secrets };
}

function invalid(message: string): never {
  throw new AgentError('INVALID_ARGUMENT' satisfies AgentErrorCode, message);
}
function unsupported(message: string): AgentError {
  return new AgentError('UNSUPPORTED_CAPABILITY', message);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object of another kind' : typeof value;
}
function show(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? JSON.stringify(value) : typeName(value);
}
