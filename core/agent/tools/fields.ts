// One field of a tool, said twice from one place: as the JSON Schema that the model sees, and as
// the local check of what it sent. The schemas stay in what every provider takes (root object, all
// properties required, null for "none", no bounds, closed), so bounds are only checked here.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { isPlainObject } from '../../base/json.ts';
import { suggestName } from '../../base/nearest.ts';

export interface Field {
  readonly schema: JsonObject;
  /** May be null, and may be left out: some models leave out what is optional. */
  readonly nullable: boolean;
  /** What is wrong with a value, as the end of a sentence; `undefined` when nothing is. */
  readonly problem: (value: unknown) => string | undefined;
}
export type Fields = Readonly<Record<string, Field>>;

/** A tool as the step offers it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly fields: Fields;
}

function field(schema: JsonObject, accepts: (value: unknown) => boolean, expected: string): Field {
  return {
    schema,
    nullable: false,
    problem: (value) => (accepts(value) ? undefined : `must be ${expected}`),
  };
}

const described = (description: string | undefined): JsonObject =>
  description === undefined ? {} : { description };

export function text(description?: string): Field {
  return field(
    { type: 'string', ...described(description) },
    (value) => typeof value === 'string',
    'a string',
  );
}

export function integer(min: number, max: number, description?: string): Field {
  return field(
    { type: 'integer', ...described(description) },
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
    `a whole number from ${min} to ${max}`,
  );
}

export function flag(description?: string): Field {
  return field(
    { type: 'boolean', ...described(description) },
    (value) => typeof value === 'boolean',
    'true or false',
  );
}

export function choice(values: readonly string[], description?: string): Field {
  return field(
    { type: 'string', enum: values, ...described(description) },
    (value) => typeof value === 'string' && values.includes(value),
    `one of ${values.join(', ')}`,
  );
}

export function texts(description?: string): Field {
  return field(
    { type: 'array', items: { type: 'string' }, ...described(description) },
    (value) =>
      Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'),
    'a list of one or more strings',
  );
}

/** The same field, which may be null. */
export function optional(inner: Field): Field {
  const { description, ...rest } = inner.schema;
  // A type union is the common way to say it; an enum would have to list null among its strings.
  const schema: JsonObject =
    'enum' in rest
      ? { anyOf: [rest, { type: 'null' }] }
      : { ...rest, type: [rest['type'] as JsonValue, 'null'] };
  return {
    schema: description === undefined ? schema : { ...schema, description },
    nullable: true,
    problem: (value) => (value === null ? undefined : inner.problem(value)),
  };
}

/** The closed schema of a tool's arguments. */
export function schemaOf(fields: Fields): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, { schema }]) => [name, schema]),
    ),
    required: Object.keys(fields),
    additionalProperties: false,
  };
}

export type CheckedArguments =
  | { readonly values: Readonly<Record<string, unknown>> }
  | { readonly problem: string };

/** Checks what a model sent: every field right, none unknown; one left out counts as null. */
export function checkArguments(spec: ToolSpec, sent: unknown): CheckedArguments {
  const names = Object.keys(spec.fields);
  if (!isPlainObject(sent)) {
    return { problem: `${spec.name}: the arguments were not a JSON object` };
  }
  for (const name of Object.keys(sent)) {
    if (names.includes(name)) continue;
    return {
      problem:
        names.length === 0
          ? `${spec.name} takes no arguments, not ${JSON.stringify(name)}`
          : `${spec.name} has no argument ${JSON.stringify(name)}${suggestName(name, names)}`,
    };
  }
  const values: Record<string, unknown> = {};
  for (const [name, { nullable, problem }] of Object.entries(spec.fields)) {
    const value: unknown = sent[name] ?? null;
    if (value === null && !nullable)
      return { problem: `${spec.name} needs the argument "${name}"` };
    const wrong = problem(value);
    if (wrong !== undefined) return { problem: `${spec.name}: "${name}" ${wrong}` };
    values[name] = value;
  }
  return { values };
}
