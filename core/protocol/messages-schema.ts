// The JSON Schema of every message on the wire, with the params and the result of each method under
// a name of its own: what an engine author in another language generates types from. It is made of
// the same rows and kinds that the codecs check with, so the two cannot drift; the file that ships
// under schema/ is generated from it by scripts/schema.mjs.
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { SchemaDefinitions } from '../base/shape.ts';
import { ENGINE_ERROR_CODES, ERROR_CATEGORIES } from '../contract/codes.ts';
import { WIRE_KINDS, type WireKind } from './codecs/kinds.ts';
import { parseKind } from './codecs/params.ts';
import { manifestSchema } from './manifest-schema.ts';
import {
  ENGINE_METHODS,
  PROTOCOL_MESSAGES,
  PROTOCOL_VERSION,
  type MessageRow,
  type ParamKinds,
} from './methods.ts';

const ref = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` });

/** Members whose rows say `json`, because their refusal has an error of its own. */
const EXACT: Readonly<Record<string, JsonObject>> = {
  protocolVersion: { const: PROTOCOL_VERSION },
  manifest: ref('Manifest'),
};

/** `engine/observe` to `EngineObserve`, `$/abort` to `Abort`. */
function typeName(method: string): string {
  return method
    .split(/[^A-Za-z]+/u)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

/** JSON Schema (2020-12) of a message, either direction. */
export function messagesSchema(): JsonObject {
  const definitions: SchemaDefinitions = new Map();
  const methods: Record<string, JsonValue> = {};
  const messages: JsonObject[] = [];

  const kindRef = (kind: WireKind): JsonObject => {
    const name = `Kind${typeName(kind)}`;
    if (!definitions.has(name)) definitions.set(name, WIRE_KINDS[kind].shape.schema(definitions));
    return ref(name);
  };
  const members = (kinds: ParamKinds): JsonObject => {
    const properties: Record<string, JsonValue> = {};
    const required: string[] = [];
    for (const [name, declared] of Object.entries(kinds)) {
      const { kind, optional } = parseKind(declared);
      properties[name] = EXACT[name] ?? kindRef(kind);
      if (!optional) required.push(name);
    }
    return { type: 'object', properties, ...(required.length > 0 && { required }) };
  };
  const add = (method: string, row: MessageRow): void => {
    const name = typeName(method);
    const hasParams = Object.keys(row.params).length > 0;
    const isRequest = row.kind === 'request';
    if (hasParams) definitions.set(`${name}Params`, members(row.params));
    if (row.result !== undefined) {
      definitions.set(
        `${name}Result`,
        typeof row.result === 'string' ? kindRef(row.result) : members(row.result),
      );
    }
    const type = `${name}${isRequest ? 'Request' : 'Notification'}`;
    definitions.set(type, {
      type: 'object',
      properties: {
        jsonrpc: { const: '2.0' },
        ...(isRequest && { id: ref('Id') }),
        method: { const: method },
        ...(hasParams && { params: ref(`${name}Params`) }),
      },
      required: [
        'jsonrpc',
        ...(isRequest ? ['id'] : []),
        'method',
        ...(hasParams ? ['params'] : []),
      ],
    });
    messages.push(ref(type));
    methods[method] = {
      direction: row.direction,
      kind: row.kind,
      ...(hasParams && { params: ref(`${name}Params`) }),
      ...(row.result !== undefined && { result: ref(`${name}Result`) }),
    };
  };

  definitions.set('Id', { type: ['integer', 'string'] });
  const { $schema: _dialect, $id: _id, ...manifest } = manifestSchema();
  definitions.set('Manifest', manifest);
  definitions.set('ErrorData', errorData());
  definitions.set('Error', {
    type: 'object',
    properties: { code: { type: 'integer' }, message: { type: 'string' }, data: {} },
    required: ['code', 'message'],
    // -32000 is a failed engine method; its data says how the harness classifies it.
    if: { properties: { code: { const: -32000 } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: { data: ref('ErrorData') } },
  });
  for (const [method, row] of Object.entries(PROTOCOL_MESSAGES)) add(method, row);
  for (const [method, { params, result }] of Object.entries(ENGINE_METHODS)) {
    add(method, { direction: 'client-to-server', kind: 'request', params, result });
  }
  const answer = (member: string, schema: JsonObject, id: JsonObject): JsonObject => ({
    type: 'object',
    properties: { jsonrpc: { const: '2.0' }, id, [member]: schema },
    required: ['jsonrpc', 'id', member],
    not: { required: ['method'] },
  });
  definitions.set('ResultResponse', answer('result', {}, ref('Id')));
  definitions.set(
    'ErrorResponse',
    answer('error', ref('Error'), { anyOf: [ref('Id'), { type: 'null' }] }),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:enginewright:engine-messages-v1',
    title: 'Engine protocol messages, version 1',
    description:
      'One message, in either direction. "x-methods" names the params and the result of each method.',
    anyOf: [...messages, ref('ResultResponse'), ref('ErrorResponse')],
    'x-methods': methods,
    $defs: Object.fromEntries(definitions),
  };
}

function errorData(): JsonObject {
  const common = {
    stack: { type: 'string' },
    errno: { type: 'string' },
    cause: ref('Error'),
    retryable: { type: 'boolean' },
  };
  const typed = (type: string, own: JsonObject, required: readonly string[]): JsonObject => ({
    properties: { type: { const: type }, ...own, ...common },
    required: ['type', ...required],
  });
  return {
    type: 'object',
    oneOf: [
      typed('engine', { code: { enum: [...ENGINE_ERROR_CODES] } }, ['code', 'retryable']),
      typed(
        'e2e',
        {
          category: { enum: [...ERROR_CATEGORIES] },
          code: { type: 'string' },
          details: { type: 'object' },
        },
        ['category', 'code', 'retryable'],
      ),
    ],
  };
}
