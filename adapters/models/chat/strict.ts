// Whether a JSON Schema may be sent with `strict: true`. The rules are the provider's: an object at
// the root, every object closed and every property required, no bounds or patterns. A schema that
// breaks one is refused as a whole with a 400, so it is sent without the claim instead.
import { isPlainObject } from '../../../core/base/json.ts';

const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  'description',
  'title',
  '$ref',
  '$defs',
  '$schema',
]);

/** True when strict mode takes the schema. */
export function isStrictSchema(schema: unknown): boolean {
  return isPlainObject(schema) && schema['type'] === 'object' && passes(schema, 0);
}

function passes(schema: unknown, depth: number): boolean {
  if (!isPlainObject(schema) || depth > 5) return false;
  if (Object.keys(schema).some((key) => !KEYWORDS.has(key))) return false;
  const { type, properties, required, items, anyOf, $defs } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes('object')) {
    if (schema['additionalProperties'] !== false) return false;
    const names = isPlainObject(properties) ? Object.keys(properties) : [];
    if (!Array.isArray(required) || names.some((name) => !required.includes(name))) return false;
  }
  const inner = [
    ...(isPlainObject(properties) ? Object.values(properties) : []),
    ...(isPlainObject($defs) ? Object.values($defs) : []),
    ...(Array.isArray(anyOf) ? (anyOf as unknown[]) : []),
    ...(items === undefined ? [] : [items]),
  ];
  return inner.every((part) => passes(part, depth + 1));
}
