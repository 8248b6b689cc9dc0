// The manifest: what an engine server is and answers, known to the client before any server runs.
// Its rules follow from the rows of ENGINE_METHODS (a method that needs another, a list of kinds
// that a method requires), so that a new row needs nothing here. Two manifests are compared member
// by member, lists as sets, because a server may list in any order.
import { cutEnd } from '../base/text.ts';
import { suggestName } from '../base/nearest.ts';
import {
  boolean,
  checkShape,
  list,
  number,
  object,
  oneOf,
  text,
  type Shape,
} from '../base/shape.ts';
import { isEngineHandle } from '../contract/define.ts';
import type { EngineHandle } from '../contract/engine.ts';
import { ConfigurationError } from '../contract/errors.ts';
import { ACTION_KINDS_SHAPE, POINTER_KINDS_SHAPE } from '../contract/guards.ts';
import { rejectUnknownKeys } from '../contract/options.ts';
import {
  ALWAYS_ANSWERED,
  ENGINE_METHODS,
  ENGINE_METHOD_NAMES,
  isEngineMethod,
  type EngineMethod,
} from './methods.ts';
import type { EngineManifest } from './types.ts';

const filled = text({ min: 1 });
const REQUIRED = {
  name: filled,
  version: filled,
  spiVersion: oneOf([1]),
  methods: list(oneOf(ENGINE_METHOD_NAMES), { unique: true }),
} satisfies Partial<Record<keyof EngineManifest, Shape>>;
const OPTIONAL = {
  platform: filled,
  workers: number({ integer: true, min: 1 }),
  actions: ACTION_KINDS_SHAPE,
  pointerActions: POINTER_KINDS_SHAPE,
  tapModifiers: boolean,
} satisfies Partial<Record<keyof EngineManifest, Shape>>;

/** A manifest's members, each on its own. */
export const MANIFEST_SHAPE: Shape = object({
  required: REQUIRED,
  optional: OPTIONAL,
  closed: true,
});

/** Every member, in the order in which a manifest is printed. */
const MEMBERS = Object.keys({
  name: true,
  version: true,
  spiVersion: true,
  platform: true,
  workers: true,
  methods: true,
  actions: true,
  pointerActions: true,
  tapModifiers: true,
} satisfies Record<keyof EngineManifest, true>) as (keyof EngineManifest)[];

/** The method that a list of action kinds belongs to. */
export const KINDS_OF: Readonly<Record<'actions' | 'pointerActions', EngineMethod>> = Object.freeze(
  {
    actions: 'engine/perform',
    pointerActions: 'engine/performAt',
  },
);

/**
 * Checks a manifest and answers a frozen copy with its known members.
 * Throws `INVALID_CONFIG` naming the member.
 */
export function checkManifest(manifest: unknown): EngineManifest {
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) {
    throw invalid('manifest must be an object: { name, version, spiVersion: 1, methods, ... }.');
  }
  rejectUnknownKeys('manifest', manifest, MEMBERS);
  const source = manifest as Readonly<Record<string, unknown>>;
  const methods: unknown = source['methods'];
  if (Array.isArray(methods)) {
    const unknown: unknown = methods.find((method) => !isEngineMethod(method));
    if (typeof unknown === 'string') {
      throw invalid(
        `manifest.methods has the unknown method ${JSON.stringify(unknown)}${suggestName(unknown, ENGINE_METHOD_NAMES)}`,
      );
    }
  }
  const issue = checkShape(MANIFEST_SHAPE, manifest, 'manifest');
  if (issue !== undefined) throw invalid(`${issue.path} ${issue.problem}.`);
  const checked = pickMembers(source) as unknown as EngineManifest;
  checkRules(checked);
  return checked;
}

function checkRules(manifest: EngineManifest): void {
  for (const method of manifest.methods) {
    const { needs = [], kinds } = ENGINE_METHODS[method];
    const missing = needs.find((needed) => !manifest.methods.includes(needed as EngineMethod));
    if (missing !== undefined) {
      throw invalid(`manifest.methods lists ${method}, which needs ${missing}: list it too.`);
    }
    if (kinds !== undefined && manifest[kinds] === undefined) {
      throw invalid(`manifest.${kinds} is missing: ${method} needs the kinds that it honours.`);
    }
  }
  for (const [kinds, method] of Object.entries(KINDS_OF)) {
    if (manifest[kinds as keyof typeof KINDS_OF] === undefined) continue;
    if (manifest.methods.includes(method)) continue;
    throw invalid(`manifest.${kinds} needs ${method} in manifest.methods: list it, or leave both.`);
  }
  if (manifest.tapModifiers === true && !manifest.methods.includes('engine/perform')) {
    throw invalid('manifest.tapModifiers needs engine/perform in manifest.methods.');
  }
}

/**
 * The manifest that `serveEngine` announces for a handle: its static members, the methods that its
 * members answer, and `lifecycle/startAttempt` and `lifecycle/endAttempt`, which are always
 * answered.
 */
export function describeEngine(engine: EngineHandle): EngineManifest {
  if (!isEngineHandle(engine)) {
    throw invalid('describeEngine takes an engine handle, what defineEngine returns.');
  }
  const methods = ENGINE_METHOD_NAMES.filter(
    (method) =>
      ALWAYS_ANSWERED.includes(method) ||
      findMember(engine, ENGINE_METHODS[method].member) !== undefined,
  );
  return pickMembers({ ...engine, methods }) as unknown as EngineManifest;
}

/** A function of an engine by its path, bound, or `undefined` when the engine lacks it. */
export function findMember(
  engine: EngineHandle,
  path: string,
): ((...args: unknown[]) => unknown) | undefined {
  let owner: unknown = engine;
  let value: unknown = engine;
  for (const key of path.split('.')) {
    owner = value;
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[key];
  }
  return typeof value === 'function'
    ? (...args) => (value as (...given: unknown[]) => unknown).apply(owner, args)
    : undefined;
}

/**
 * What differs between the manifest a client declared and the one a server announced, a phrase per
 * member; empty when they agree.
 */
export function compareManifests(declared: EngineManifest, announced: unknown): readonly string[] {
  if (typeof announced !== 'object' || announced === null || Array.isArray(announced)) {
    return ['the server announced no manifest'];
  }
  const theirs = announced as Readonly<Record<string, unknown>>;
  const differences: string[] = [];
  for (const member of MEMBERS) {
    const difference = compareMember(member, declared[member], theirs[member]);
    if (difference !== undefined) differences.push(difference);
  }
  return differences;
}

function compareMember(
  member: keyof EngineManifest,
  ours: unknown,
  theirs: unknown,
): string | undefined {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    const onlyOurs = ours.filter((item) => !theirs.includes(item));
    const onlyTheirs = theirs.filter((item) => !ours.includes(item));
    if (onlyOurs.length === 0 && onlyTheirs.length === 0) return undefined;
    const parts = [
      ...(onlyOurs.length > 0 ? [`only declared: ${onlyOurs.join(', ')}`] : []),
      ...(onlyTheirs.length > 0 ? [`only announced: ${onlyTheirs.map(String).join(', ')}`] : []),
    ];
    return `${member} (${parts.join('; ')})`;
  }
  const absent = member === 'tapModifiers' ? false : undefined;
  const [left, right] = [ours ?? absent, theirs ?? absent];
  if (left === right) return undefined;
  return `${member} (declared ${show(left)}, announced ${show(right)})`;
}

/** A manifest as JSON, its members in their usual order, ready to be pasted. */
export function printManifest(manifest: unknown): string {
  const shown =
    typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)
      ? pickMembers(manifest as Readonly<Record<string, unknown>>)
      : manifest;
  return cutEnd(JSON.stringify(shown, undefined, 2) ?? String(shown), 16_384);
}

function pickMembers(source: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const picked: Record<string, unknown> = {};
  for (const member of MEMBERS) {
    const value = source[member];
    if (value === undefined) continue;
    picked[member] = Array.isArray(value) ? Object.freeze([...(value as unknown[])]) : value;
  }
  return Object.freeze(picked);
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : cutEnd(JSON.stringify(value), 200);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('INVALID_CONFIG', message);
}
