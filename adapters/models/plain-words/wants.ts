// The grammar of extraction: values that stand with a label. The instruction names the labels in
// quotes, or, where it quotes nothing, the names in the schema are taken for labels: `orderNumber`
// is "Order number". A value is copied as it stands; only where the schema asks for a number or a
// truth value is it read as one.
import type { JsonObject, JsonValue } from '../../../core/base/json.ts';
import { isPlainObject } from '../../../core/base/json.ts';
import type { ScreenReading } from '../../../core/agent/screen/read.ts';
import { readClauses } from './phrases.ts';
import { labelled, plain } from './screen.ts';

export type Extraction =
  | { readonly found: true; readonly reason: null; readonly value: JsonValue }
  | { readonly found: false; readonly reason: string; readonly value: null };

interface Want {
  /** The member of the answer; absent for the whole answer. */
  readonly key?: string;
  readonly label: string;
  readonly asNumber: boolean;
}

const NAME = '[a-z_$][\\w$]*';
const NUMBER = '(?<number>(?: as)?(?: a| the)? number)?';
const WANTED = [
  // orderNumber from "Order number"
  `(?:the )?(?<key>${NAME})(?: is)? (?:from|as|in|of|beside|next to) (?:the )?(?:value of )?(?:field |label )?#(?<label>\\d+)${NUMBER}`,
  // the "Total" as total
  `(?:read |extract |get )?(?:the )?(?:value of |text of )?(?:the )?#(?<label>\\d+)(?: value| field)?(?: (?:as|into) (?!a number)(?<key>${NAME}))?${NUMBER}`,
].map((pattern) => new RegExp(`^${pattern}$`, 'u'));

/** Reads what is wanted off the screen. `schema`: of the value, where it is known. */
export function extractValue(
  instruction: string,
  schema: JsonValue | undefined,
  reading: ScreenReading | undefined,
): Extraction {
  if (reading === undefined) return notFound('plain-words reads the tree, and none was given');
  const root = isPlainObject(schema) ? (schema as JsonObject) : undefined;
  const shape = root === undefined ? undefined : resolve(root, root);
  const wants = readWants(instruction, shape);
  if (typeof wants === 'string') {
    return notFound(`plain-words cannot read this instruction: ${wants}`);
  }
  const members: Record<string, JsonValue> = {};
  for (const { key, label, asNumber } of wants) {
    const member = memberOf(shape, key, root);
    const read = labelled(reading, label);
    if (read === undefined) {
      if (member?.nullable === true && key !== undefined) {
        members[key] = null;
        continue;
      }
      return notFound(`there is no value labelled ${JSON.stringify(label)}`);
    }
    if ('problem' in read) return notFound(read.problem);
    const value = convert(read.value, asNumber ? 'number' : member?.type);
    if (value === undefined) {
      return notFound(
        `${JSON.stringify(label)} is ${JSON.stringify(read.value)}, which is no ${asNumber ? 'number' : member?.type}`,
      );
    }
    if (key === undefined) return { found: true, reason: null, value };
    members[key] = value;
  }
  return { found: true, reason: null, value: members };
}

function notFound(reason: string): Extraction {
  return { found: false, reason: `${reason}.`, value: null };
}

function readWants(instruction: string, shape: Shape | undefined): readonly Want[] | string {
  const properties = Object.keys(shape?.properties ?? {});
  const clauses = readClauses(instruction);
  if (clauses.every((clause) => clause.values.length === 0)) {
    if (properties.length > 0) {
      return properties.map((key) => ({ key, label: wordsOf(key), asNumber: false }));
    }
    const label = instruction.trim().replace(/^(?:read |extract |get )?(?:the )?/iu, '');
    const isName = shape !== undefined && /^[\p{L}\d][\p{L}\d ]{0,60}$/u.test(label);
    return isName
      ? [{ label, asNumber: false }]
      : 'it names no label. Write NAME from "Label", or the "Label" as NAME';
  }
  const wants: Want[] = [];
  for (const clause of clauses) {
    const groups = WANTED.map((pattern) => pattern.exec(clause.pattern)?.groups).find(
      (found) => found !== undefined,
    );
    const value = clause.values[Number(groups?.['label'])];
    if (groups === undefined || value?.kind !== 'text') {
      return `the words ${JSON.stringify(clause.said)} mean nothing to it. It knows NAME from "Label", the "Label" as NAME, "as a number"`;
    }
    const asNumber = groups['number'] !== undefined;
    const key = keyOf(groups['key'], { label: value.text, properties, said: clause.said });
    wants.push({ label: value.text, asNumber, ...(key === undefined ? {} : { key }) });
  }
  const keyless = wants.filter((want) => want.key === undefined);
  if (keyless.length === 0 || wants.length === 1) return wants;
  return `it does not say what to call ${JSON.stringify(keyless[0]?.label)}: write the "..." as NAME`;
}

/** The member's name as the schema or the instruction spells it; patterns are lower-case. */
function keyOf(
  written: string | undefined,
  {
    label,
    properties,
    said,
  }: { readonly label: string; readonly properties: readonly string[]; readonly said: string },
): string | undefined {
  if (written !== undefined) {
    const known = properties.find((name) => name.toLowerCase() === written);
    // In the instruction's own letters; what stands in quotes is a label, not a name.
    const unquoted = said.replace(
      /["\u201c\u201e\u00ab][^"\u201d\u201c\u00bb]*["\u201d\u201c\u00bb]/gu,
      ' ',
    );
    const spelled = unquoted.split(/[^\w$]+/u).find((word) => word.toLowerCase() === written);
    return known ?? spelled ?? written;
  }
  return (
    properties.find((name) => plain(wordsOf(name)) === plain(label)) ??
    (properties.length === 1 ? properties[0] : undefined)
  );
}

/** `orderNumber`, `order_number`: order number. */
function wordsOf(key: string): string {
  return key
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/[_-]+/gu, ' ')
    .toLowerCase();
}

interface Shape {
  readonly type?: string;
  readonly nullable: boolean;
  readonly properties?: Readonly<Record<string, JsonValue>>;
}

/** A schema's type, through references and unions with null. */
function resolve(schema: JsonObject, root: JsonObject, depth = 0): Shape {
  const { $ref: ref } = schema;
  if (typeof ref === 'string' && depth < 8) {
    let at: JsonValue | undefined = root;
    for (const part of ref.replace(/^#\/?/u, '').split('/')) {
      at = isPlainObject(at) ? (at[part] as JsonValue | undefined) : undefined;
    }
    return isPlainObject(at) ? resolve(at as JsonObject, root, depth + 1) : { nullable: false };
  }
  const union = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(union) && depth < 8) {
    const shapes = (union as readonly JsonValue[])
      .filter(isPlainObject)
      .map((part) => resolve(part as JsonObject, root, depth + 1));
    const rest = shapes.filter((part) => part.type !== 'null');
    const nullable = rest.length < shapes.length;
    return { ...rest[0], nullable: nullable || rest[0]?.nullable === true };
  }
  const { type, properties } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
  const main = types.find((one) => one !== 'null') ?? types[0];
  return {
    nullable: types.includes('null'),
    ...(main === undefined ? {} : { type: main }),
    ...(isPlainObject(properties) ? { properties: properties as Record<string, JsonValue> } : {}),
  };
}

function memberOf(
  shape: Shape | undefined,
  key: string | undefined,
  root: JsonObject | undefined,
): Shape | undefined {
  if (key === undefined) return shape;
  const schema = shape?.properties?.[key];
  return isPlainObject(schema) && root !== undefined
    ? resolve(schema as JsonObject, root)
    : undefined;
}

function convert(text: string, type: string | undefined): JsonValue | undefined {
  switch (type) {
    case 'number':
    case 'integer': {
      const number = readNumber(text);
      return type === 'integer' && !Number.isInteger(number) ? undefined : number;
    }
    case 'boolean':
      if (/^(?:on|yes|true|checked|enabled)$/iu.test(text)) return true;
      return /^(?:off|no|false|unchecked|disabled)$/iu.test(text) ? false : undefined;
    case 'object':
    case 'array':
      return undefined;
    default:
      return text;
  }
}

/** The one number in a text: `$1,234.50`, `1.234,50 €`, `12 items`. */
export function readNumber(text: string): number | undefined {
  const found = text.match(/[-\u2212]?\d[\d.,'\u00a0\u202f ]*/gu)?.map((part) => part.trim());
  const [only] = found ?? [];
  if (found?.length !== 1 || only === undefined) return undefined;
  const bare = only
    .replace('\u2212', '-')
    .replace(/['\u00a0\u202f ]/gu, '')
    .replace(/[.,]$/u, '');
  const last = Math.max(bare.lastIndexOf('.'), bare.lastIndexOf(','));
  const marks = bare.match(/[.,]/gu) ?? [];
  // One mark with three digits after it groups thousands; so do several of one kind.
  const groups = last !== -1 && bare.length - last === 4 && new Set(marks).size === 1;
  const grouped = groups || (marks.length > 1 && new Set(marks).size === 1);
  const digits =
    last === -1 || grouped
      ? bare.replace(/[.,]/gu, '')
      : `${bare.slice(0, last).replace(/[.,]/gu, '')}.${bare.slice(last + 1)}`;
  const number = Number(digits);
  return Number.isFinite(number) ? number : undefined;
}
