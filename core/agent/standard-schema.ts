// Standard Schema v1 as a shape of our own: fifteen lines of structure take the schemas of every
// library that follows it, and nobody who imports this package needs another one for its types.
// JSON Schema conversion is optional there (`~standard.jsonSchema`), so it is optional here.
import { findJsonIssue, type JsonObject } from '../base/json.ts';

export interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<StandardIssue> };

/** Any Standard Schema v1 validator: valibot, zod, arktype and others. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}
// oxlint-disable-next-line typescript/no-namespace -- the specification's own spelling
export declare namespace StandardSchemaV1 {
  /** The type that a schema validates to. */
  export type InferOutput<Schema extends StandardSchemaV1> = NonNullable<
    Schema['~standard']['types']
  >['output'];
}

/** Whether `value` is a Standard Schema v1 validator; a function may carry one too. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = (value as Record<string, unknown>)['~standard'];
  if (typeof standard !== 'object' || standard === null) return false;
  const { version, validate } = standard as Record<string, unknown>;
  return version === 1 && typeof validate === 'function';
}

/** An issue's place, written like `items[2].name`; empty for the value itself. */
export function issuePath(issue: StandardIssue): string {
  let path = '';
  for (const segment of issue.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment;
    if (typeof key === 'number') path += `[${key}]`;
    else path += path === '' ? String(key) : `.${String(key)}`;
  }
  return path;
}

/** The JSON Schema of what the validator takes, when it offers the conversion and it succeeds. */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonObject | undefined {
  const { jsonSchema } = schema['~standard'] as unknown as Record<string, unknown>;
  if (typeof jsonSchema !== 'object' || jsonSchema === null) return undefined;
  const { input } = jsonSchema as Record<string, unknown>;
  if (typeof input !== 'function') return undefined;
  try {
    const converted: unknown = input.call(jsonSchema, { target: 'draft-2020-12' });
    const plain: unknown = JSON.parse(JSON.stringify(converted));
    if (findJsonIssue(plain, { name: 'schema' }) !== undefined) return undefined;
    return typeof plain === 'object' && plain !== null && !Array.isArray(plain)
      ? (plain as JsonObject)
      : undefined;
  } catch {
    // A library refuses what JSON Schema cannot say; then the instruction has to do.
    return undefined;
  }
}
