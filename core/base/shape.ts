// Shapes of JSON, written once: one value that both checks (answering the first issue and where it
// is) and describes itself as JSON Schema. Members that a shape does not name are let through,
// because an optional member may be added to the wire without a new protocol version; a shape
// that must be closed says so, and what a person wrote by hand is checked closed throughout. Paths are put together only on the way back from an issue: a
// screen of 100 000 nodes without one costs no string.
import type { JsonIssue, JsonObject, JsonValue } from './json.ts';
import { suggestName } from './nearest.ts';

/** The schemas of named shapes, by name, as they are gathered. */
export type SchemaDefinitions = Map<string, JsonObject>;

/** Every object in the value is taken as closed; `also` is a member that the caller knows of. */
export interface ClosedCheck {
  readonly also?: string;
}

export interface Shape {
  /** The first issue; its path is relative (`''`, `.name`, `[2].name`). `undefined`: it fits. */
  check(value: unknown, closed?: ClosedCheck): JsonIssue | undefined;
  /** The shape as JSON Schema; named shapes join `definitions`. */
  schema(definitions: SchemaDefinitions): JsonObject;
}

/** The first issue of `value`, its path beginning with `name`; `undefined` when it fits. */
export function checkShape(shape: Shape, value: unknown, name: string): JsonIssue | undefined {
  return withName(name, shape.check(value));
}

/** The same, and a member that no shape names is an issue too: for what a person wrote by hand. */
export function checkClosed(shape: Shape, value: unknown, name: string): JsonIssue | undefined {
  return withName(name, shape.check(value, {}));
}

function withName(name: string, issue: JsonIssue | undefined): JsonIssue | undefined {
  return issue === undefined ? undefined : { path: name + issue.path, problem: issue.problem };
}

/** The shape as one JSON Schema (2020-12), its named parts under `$defs`. */
export function schemaOf(shape: Shape): JsonObject {
  const definitions: SchemaDefinitions = new Map();
  const schema = shape.schema(definitions);
  return definitions.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
}

const problem = (text: string): JsonIssue => ({ path: '', problem: text });
const fixed = (check: (value: unknown) => JsonIssue | undefined, schema: JsonObject): Shape => ({
  check,
  schema: () => schema,
});

export interface StringOptions {
  /** UTF-16 units. */
  readonly min?: number;
  /** A rule beyond the type, in words that finish "is ...", or `undefined` when it holds. */
  readonly refine?: (text: string) => string | undefined;
  /** Keywords that say the same as `refine`. */
  readonly schema?: JsonObject;
}

export function text(options: StringOptions = {}): Shape {
  const { min = 0, refine } = options;
  return fixed(
    (value) => {
      if (typeof value !== 'string') return problem(`must be a string, not ${kindOf(value)}`);
      if (value.length < min) return problem('must not be empty');
      const refused = refine?.(value);
      return refused === undefined ? undefined : problem(refused);
    },
    { type: 'string', ...(min > 0 ? { minLength: min } : {}), ...options.schema },
  );
}

export const boolean: Shape = fixed(
  (value) =>
    typeof value === 'boolean' ? undefined : problem(`must be a boolean, not ${kindOf(value)}`),
  { type: 'boolean' },
);

export interface NumberOptions {
  readonly min?: number;
  readonly max?: number;
  /** Above `min`, not at it. */
  readonly exclusive?: boolean;
  readonly integer?: boolean;
}

/** A finite number. */
export function number(options: NumberOptions = {}): Shape {
  const { min, max, exclusive = false, integer = false } = options;
  const type = integer ? 'integer' : 'number';
  return fixed(
    (value) => {
      if (typeof value !== 'number') return problem(`must be a number, not ${kindOf(value)}`);
      if (!Number.isFinite(value)) return problem(`must be a finite number, not ${String(value)}`);
      if (integer && !Number.isSafeInteger(value)) return problem(`must be a whole number`);
      if (min !== undefined && (exclusive ? value <= min : value < min)) {
        return problem(`must be ${exclusive ? 'above' : 'at least'} ${min}, not ${value}`);
      }
      if (max !== undefined && value > max) return problem(`must be at most ${max}, not ${value}`);
      return undefined;
    },
    {
      type,
      ...(min === undefined ? {} : { [exclusive ? 'exclusiveMinimum' : 'minimum']: min }),
      ...(max === undefined ? {} : { maximum: max }),
    },
  );
}

/** One of a closed list of JSON primitives. */
export function oneOf(values: readonly (string | number | boolean)[]): Shape {
  const known: ReadonlySet<unknown> = new Set(values);
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return fixed(
    (value) => {
      if (known.has(value)) return undefined;
      const shown = typeof value === 'string' ? JSON.stringify(value) : kindOf(value);
      return problem(`must be ${values.length === 1 ? list : `one of ${list}`}, not ${shown}`);
    },
    values.length === 1 ? { const: values[0] as JsonValue } : { enum: [...values] },
  );
}

/** Any value; what lies in it is for somebody else to judge. */
export const anything: Shape = fixed(() => undefined, {});

export interface ListOptions {
  readonly min?: number;
  /** Items are strings, and none comes twice. */
  readonly unique?: boolean;
}

export function list(item: Shape, options: ListOptions = {}): Shape {
  const { min = 0, unique = false } = options;
  return {
    check(value, closed) {
      if (!Array.isArray(value)) return problem(`must be a list, not ${kindOf(value)}`);
      if (value.length < min) return problem('must not be empty');
      const seen = unique ? new Set<unknown>() : undefined;
      for (let index = 0; index < value.length; index += 1) {
        const member: unknown = value[index];
        const issue = item.check(member, closed && {});
        if (issue !== undefined) return under(`[${index}]`, issue);
        if (seen?.has(member) === true) {
          return { path: `[${index}]`, problem: `repeats ${JSON.stringify(member)}` };
        }
        seen?.add(member);
      }
      return undefined;
    },
    schema: (definitions) => ({
      type: 'array',
      items: item.schema(definitions),
      ...(min > 0 ? { minItems: min } : {}),
      ...(unique ? { uniqueItems: true } : {}),
    }),
  };
}

/** An object whose own members all have the same shape. */
export function record(member: Shape): Shape {
  return {
    check(value, closed) {
      if (!isObject(value)) return problem(`must be an object, not ${kindOf(value)}`);
      for (const key of Object.keys(value)) {
        const issue = member.check(value[key], closed && {});
        if (issue !== undefined) return under(memberOf(key), issue);
      }
      return undefined;
    },
    schema: (definitions) => ({
      type: 'object',
      additionalProperties: member.schema(definitions),
    }),
  };
}

export interface ObjectMembers {
  readonly required?: Readonly<Record<string, Shape>>;
  /** Absent or `undefined`; `null` is an issue: absent members are left out. */
  readonly optional?: Readonly<Record<string, Shape>>;
  /** Refuses members that are not named. Default false. */
  readonly closed?: boolean;
  /** A rule across members, once each fits on its own. */
  readonly refine?: (value: Readonly<Record<string, unknown>>) => JsonIssue | undefined;
}

export function object(members: ObjectMembers): Shape {
  const required = Object.entries(members.required ?? {});
  const optional = Object.entries(members.optional ?? {});
  const known = new Set([...required, ...optional].map(([key]) => key));
  return {
    check(value, closed) {
      if (!isObject(value)) return problem(`must be an object, not ${kindOf(value)}`);
      for (const [key, shape] of required) {
        const member = own(value, key);
        if (member === undefined) return { path: memberOf(key), problem: 'is missing' };
        const issue = shape.check(member, closed && {});
        if (issue !== undefined) return under(memberOf(key), issue);
      }
      for (const [key, shape] of optional) {
        const member = own(value, key);
        if (member === undefined) continue;
        const issue = shape.check(member, closed && {});
        if (issue !== undefined) return under(memberOf(key), issue);
      }
      if (members.closed === true || closed !== undefined) {
        const extra = Object.keys(value).find((key) => !known.has(key) && key !== closed?.also);
        if (extra !== undefined) {
          return {
            path: memberOf(extra),
            problem: `is not a known member${suggestName(extra, known)}`,
          };
        }
      }
      return members.refine?.(value);
    },
    schema(definitions) {
      const properties: Record<string, JsonValue> = {};
      for (const [key, shape] of [...required, ...optional]) {
        properties[key] = shape.schema(definitions);
      }
      return {
        type: 'object',
        properties,
        ...(required.length === 0 ? {} : { required: required.map(([key]) => key) }),
        ...(members.closed === true ? { additionalProperties: false } : {}),
      };
    },
  };
}

/** Objects told apart by one member: the issue is that of the branch the value chose. */
export function variants(member: string, branches: Readonly<Record<string, Shape>>): Shape {
  const choice = oneOf(Object.keys(branches));
  return {
    check(value, closed) {
      if (!isObject(value)) return problem(`must be an object, not ${kindOf(value)}`);
      const key = own(value, member);
      const issue = key === undefined ? problem('is missing') : choice.check(key);
      if (issue !== undefined) return under(memberOf(member), issue);
      return branches[key as string]?.check(value, closed && { also: member });
    },
    schema: (definitions) => ({
      oneOf: Object.entries(branches).map(([key, shape]) => {
        const schema = shape.schema(definitions);
        const properties = (schema['properties'] ?? {}) as JsonObject;
        const required = (schema['required'] ?? []) as readonly string[];
        return {
          ...schema,
          properties: { [member]: { const: key }, ...properties },
          required: [member, ...required],
        };
      }),
    }),
  };
}

/** Fits when one of the shapes does. `expected` finishes "must be ..." when none does. */
export function either(expected: string, shapes: readonly Shape[]): Shape {
  return {
    check: (value, closed) =>
      shapes.some((shape) => shape.check(value, closed) === undefined)
        ? undefined
        : problem(`must be ${expected}`),
    schema: (definitions) => ({ anyOf: shapes.map((shape) => shape.schema(definitions)) }),
  };
}

/**
 * A shape with a name, as recursion needs it: `inner` is asked for at the first use. Nesting of
 * the same name beyond `maxDepth` is an issue, so that no input can exhaust the stack.
 */
export function named(name: string, inner: () => Shape, maxDepth = 512): Shape {
  let depth = 0;
  let shape: Shape | undefined;
  return {
    check(value, closed) {
      if (depth >= maxDepth) return problem(`is nested deeper than ${maxDepth} levels`);
      shape ??= inner();
      depth += 1;
      try {
        return shape.check(value, closed);
      } finally {
        depth -= 1;
      }
    },
    schema(definitions) {
      if (!definitions.has(name)) {
        // Taken before it is made: the shape may hold itself.
        definitions.set(name, {});
        definitions.set(name, inner().schema(definitions));
      }
      return { $ref: `#/$defs/${name}` };
    },
  };
}

function under(step: string, issue: JsonIssue): JsonIssue {
  return { path: step + issue.path, problem: issue.problem };
}

function memberOf(key: string): string {
  return /^[A-Za-z_$][\w$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member only: `__proto__` and what it brings is nobody's data. */
function own(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value === undefined) return 'undefined';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
