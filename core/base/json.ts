// JSON as values: the types, and the one check that says why something is not JSON and where.
// Used at every edge where a caller's value crosses into a model request, a record or the wire.

export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** What is wrong with a value, and where: `path` is written like `params.items[2].name`. */
export interface JsonIssue {
  readonly path: string;
  readonly problem: string;
}

export interface JsonCheckOptions {
  /** The name of the value itself, the first part of every path. */
  readonly name: string;
  /** Levels of nesting allowed; default 256. */
  readonly maxDepth?: number;
  /** Answers true for a value that is accepted as it is (an opaque handle). */
  readonly accept?: (value: unknown) => boolean;
  /** Accepts `undefined` object members, as `JSON.stringify` leaves them out; default false. */
  readonly allowUndefined?: boolean;
}

/** True for an object made by a literal or `Object.create(null)`: also one from another realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Answers the first reason why `value` is not plain JSON, or `undefined` when it is. */
export function findJsonIssue(value: unknown, options: JsonCheckOptions): JsonIssue | undefined {
  const maxDepth = options.maxDepth ?? 256;
  const open = new Set<object>();
  const visit = (item: unknown, path: string, depth: number): JsonIssue | undefined => {
    if (options.accept?.(item) === true) return undefined;
    switch (typeof item) {
      case 'string':
      case 'boolean':
        return undefined;
      case 'number':
        return Number.isFinite(item)
          ? undefined
          : { path, problem: `is ${String(item)}, which JSON cannot hold` };
      case 'object':
        break;
      default:
        return {
          path,
          problem:
            item === undefined
              ? 'is undefined, which JSON cannot hold'
              : `is a ${typeof item}, which JSON cannot hold`,
        };
    }
    if (item === null) return undefined;
    if (depth >= maxDepth) return { path, problem: `is nested deeper than ${maxDepth} levels` };
    if (open.has(item)) return { path, problem: 'refers to itself' };
    open.add(item);
    try {
      if (Array.isArray(item)) {
        for (let index = 0; index < item.length; index += 1) {
          const issue = visit(item[index], `${path}[${index}]`, depth + 1);
          if (issue !== undefined) return issue;
        }
        return undefined;
      }
      if (!isPlainObject(item)) {
        return { path, problem: `is ${describeObject(item)}, not a plain object` };
      }
      for (const key of Object.keys(item)) {
        const member = item[key];
        if (member === undefined && options.allowUndefined === true) continue;
        const issue = visit(member, memberPath(path, key), depth + 1);
        if (issue !== undefined) return issue;
      }
      return undefined;
    } finally {
      open.delete(item);
    }
  };
  return visit(value, options.name, 0);
}

function memberPath(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

function describeObject(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an exotic object';
}
