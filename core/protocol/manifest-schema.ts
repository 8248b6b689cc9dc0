// The manifest's JSON Schema, from the same shape and rows that `checkManifest` reads. The file
// that ships under schema/ is generated from it by scripts/schema.mjs and compared with it there.
import type { JsonObject, JsonValue } from '../base/json.ts';
import { schemaOf } from '../base/shape.ts';
import { KINDS_OF, MANIFEST_SHAPE } from './manifest.ts';
import { ENGINE_METHODS, ENGINE_METHOD_NAMES } from './methods.ts';

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  name: "The engine's name.",
  version: 'Provenance, and part of what recordings are valid for.',
  spiVersion: 'Version of the engine contract.',
  platform: 'A label, such as web, ios, android or kiosk; nothing branches on its value.',
  workers: 'Most workers that the engine serves at once; no limit when absent.',
  methods: 'The engine methods that the server answers; one left out is a capability it lacks.',
  actions: 'The action kinds that engine/perform honours; required with it.',
  pointerActions: 'The action kinds that engine/performAt honours; required with it.',
  tapModifiers: 'Whether modifiers are honoured on tap, doubleTap and secondaryTap. Default false.',
};

const lists = (method: string): JsonObject => ({
  type: 'object',
  properties: { methods: { type: 'array', contains: { const: method } } },
});

/** JSON Schema (2020-12) of a manifest. */
export function manifestSchema(): JsonObject {
  const schema = schemaOf(MANIFEST_SHAPE);
  const properties: Record<string, JsonValue> = {};
  for (const [member, own] of Object.entries(schema['properties'] as JsonObject)) {
    const description = DESCRIPTIONS[member];
    properties[member] = { ...(description && { description }), ...(own as JsonObject) };
  }
  const rules: JsonObject[] = [];
  for (const method of ENGINE_METHOD_NAMES) {
    const { needs = [], kinds } = ENGINE_METHODS[method];
    const consequences = [
      ...needs.map(lists),
      ...(kinds === undefined ? [] : [{ type: 'object', required: [kinds] }]),
    ];
    if (consequences.length > 0) {
      rules.push({
        if: { ...lists(method), required: ['methods'] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: consequences.length === 1 ? (consequences[0] as JsonObject) : { allOf: consequences },
      });
    }
  }
  const requiring = (condition: JsonObject, method: string): JsonObject => ({
    if: condition,
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: lists(method),
  });
  for (const [kinds, method] of Object.entries(KINDS_OF)) {
    rules.push(requiring({ type: 'object', required: [kinds] }, method));
  }
  rules.push(
    requiring(
      { type: 'object', properties: { tapModifiers: { const: true } }, required: ['tapModifiers'] },
      'engine/perform',
    ),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:enginewright:engine-manifest-v1',
    title: 'Engine manifest, version 1',
    ...schema,
    properties,
    allOf: rules,
  };
}
