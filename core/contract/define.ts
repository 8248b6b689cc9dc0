// `defineEngine`: the one way an engine becomes a handle. Everything a harness relies on is checked
// here, once, with a message that names the member and the remedy, so that nothing behind the
// handle asks again. The handle is a frozen copy whose functions stay bound to what they came
// from: a class instance with private state is as good a body as an object literal.
import { isPlainObject } from '../base/json.ts';
import { suggestName } from '../base/nearest.ts';
import { LOCATOR_ACTION_KINDS, POINTER_ACTION_KINDS } from './actions.ts';
import { BUILT_IN_CAPABILITIES, type Engine, type EngineHandle } from './engine.ts';
import { ConfigurationError } from './errors.ts';
import { isSecret } from './secrets.ts';

/** Version of the engine contract. */
export const ENGINE_SPI_VERSION = 1;

const ENGINE_BRAND: symbol = Symbol.for('enginewright.engine');

const HOOKS = [
  'observe',
  'locate',
  'perform',
  'performAt',
  'validateApp',
  'prepare',
  'finish',
  'init',
  'dispose',
  'startAttempt',
  'settleAttempt',
  'endAttempt',
] as const satisfies readonly (keyof Engine)[];

interface GroupRule {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Members that come together or not at all. */
  readonly pairs: readonly (readonly [string, string])[];
}

/** The members that are objects of functions. */
const GROUPS = {
  keyboard: { required: ['type', 'press'], optional: ['dismiss'], pairs: [] },
  state: { required: ['capture', 'restore'], optional: [], pairs: [] },
  artifacts: {
    required: ['screenshot'],
    optional: ['startTrace', 'stopTrace', 'startVideo', 'stopVideo'],
    pairs: [
      ['startTrace', 'stopTrace'],
      ['startVideo', 'stopVideo'],
    ],
  },
  session: { required: [], optional: ['open', 'back', 'restart', 'reset'], pairs: [] },
} as const satisfies Partial<Record<keyof Engine, GroupRule>>;

/** Every member. A `Record`, so that a new one cannot be forgotten here. */
const MEMBERS = Object.keys({
  name: true,
  version: true,
  spiVersion: true,
  platform: true,
  workers: true,
  observe: true,
  locate: true,
  perform: true,
  actions: true,
  performAt: true,
  pointerActions: true,
  tapModifiers: true,
  keyboard: true,
  state: true,
  artifacts: true,
  session: true,
  fixtures: true,
  secrets: true,
  validateApp: true,
  prepare: true,
  finish: true,
  init: true,
  dispose: true,
  startAttempt: true,
  settleAttempt: true,
  endAttempt: true,
} satisfies Record<keyof Engine, true>);

/** Names that a fixture may not take: the harness's own, and those of capabilities. */
const TAKEN_NAMES: readonly string[] = [
  'agent',
  'app',
  'screen',
  'platform',
  'session',
  ...BUILT_IN_CAPABILITIES,
];

export interface DefineEngineOptions {
  /** Marks a handle whose calls cross to another process; `connectEngine` sets it. */
  readonly remote?: boolean;
  /** How the handle tells that its connection is lost; `connectEngine` sets it. */
  readonly onLost?: EngineHandle['onLost'];
  /** How the handle gives another session a handle of its own; `connectEngine` sets it. */
  readonly fork?: EngineHandle['fork'];
}

/**
 * Validates, freezes and brands an engine. Throws `INVALID_CONFIG` naming the member at fault.
 * Members are read once: a getter is asked here and never again.
 */
export function defineEngine(body: Engine, options: DefineEngineOptions = {}): EngineHandle {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      'defineEngine takes the engine as an object: { name, version, spiVersion: 1, ... }.',
    );
  }
  if (isEngineHandle(body)) {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `Engine ${JSON.stringify(body.name)} is a handle already: use it as it is, without defineEngine.`,
    );
  }
  const source = body as unknown as Readonly<Record<string, unknown>>;
  const handle: Record<string, unknown> = {};
  for (const member of MEMBERS) {
    const value = source[member];
    if (value !== undefined) handle[member] = value;
  }
  const check = new Checker(handle['name']);
  check.identity(handle);
  if (isPlainObject(body)) check.knownKeys('', body, MEMBERS);
  for (const hook of HOOKS) {
    if (handle[hook] !== undefined) handle[hook] = check.bound(hook, handle[hook], body);
  }
  for (const [group, rule] of Object.entries(GROUPS)) {
    if (handle[group] !== undefined) handle[group] = check.group(group, handle[group], rule);
  }
  for (const member of ['locate', 'perform', 'performAt', 'keyboard']) {
    check.needs(handle, member, 'observe');
  }
  check.kinds(handle, { function: 'perform', list: 'actions', known: LOCATOR_ACTION_KINDS });
  check.kinds(handle, {
    function: 'performAt',
    list: 'pointerActions',
    known: POINTER_ACTION_KINDS,
  });
  check.tapModifiers(handle);
  if (handle['fixtures'] !== undefined) handle['fixtures'] = check.fixtures(handle['fixtures']);
  if (handle['secrets'] !== undefined) handle['secrets'] = check.secrets(handle['secrets']);
  if (options.remote === true) handle['remote'] = true;
  if (options.fork !== undefined) handle['fork'] = options.fork;
  if (options.onLost !== undefined) handle['onLost'] = options.onLost;
  handle['capabilities'] = capabilitiesOf(handle);
  Object.defineProperty(handle, ENGINE_BRAND, { value: true });
  return Object.freeze(handle) as unknown as EngineHandle;
}

/** Recognises a handle, also one made by another copy of this package. */
export function isEngineHandle(value: unknown): value is EngineHandle {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as Record<symbol, unknown>)[ENGINE_BRAND] === true
  );
}

/** The rules, each with the engine's name at hand for its message. */
class Checker {
  readonly #subject: string;

  constructor(name: unknown) {
    this.#subject =
      typeof name === 'string' && name !== '' ? `Engine ${JSON.stringify(name)}` : 'Engine';
  }

  refuse(message: string): never {
    throw new ConfigurationError('INVALID_CONFIG', `${this.#subject}: ${message}`);
  }

  identity(handle: Readonly<Record<string, unknown>>): void {
    for (const member of ['name', 'version']) {
      if (!isText(handle[member])) this.refuse(`${member} must be a non-empty string.`);
    }
    if (handle['spiVersion'] !== ENGINE_SPI_VERSION) {
      this.refuse(
        `spiVersion must be the number ${ENGINE_SPI_VERSION}, the version of the engine contract.`,
      );
    }
    if (handle['platform'] !== undefined && !isText(handle['platform'])) {
      this.refuse('platform must be a non-empty string, or left out.');
    }
    const workers = handle['workers'];
    if (workers !== undefined && !(Number.isSafeInteger(workers) && (workers as number) > 0)) {
      this.refuse('workers must be a positive whole number, or left out for no limit.');
    }
  }

  knownKeys(group: string, value: object, known: readonly string[]): void {
    const unknown = Object.keys(value).find((key) => !known.includes(key));
    if (unknown === undefined) return;
    if (group === '' && unknown === 'capabilities') {
      this.refuse('"capabilities" is derived from the members: leave it out.');
    }
    const where = group === '' ? '' : `${group} has `;
    this.refuse(`${where}unknown member ${JSON.stringify(unknown)}${suggestName(unknown, known)}`);
  }

  bound(member: string, value: unknown, owner: object): unknown {
    if (typeof value !== 'function') {
      this.refuse(`${member} must be a function, or left out when the engine cannot do it.`);
    }
    return value.bind(owner) as unknown;
  }

  group(group: string, value: unknown, rule: GroupRule): object {
    const known = [...rule.required, ...rule.optional];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.refuse(`${group} must be an object of functions: ${known.join(', ')}.`);
    }
    if (isPlainObject(value)) this.knownKeys(group, value, known);
    const members = value as Readonly<Record<string, unknown>>;
    const bound: Record<string, unknown> = {};
    for (const key of known) {
      const member = members[key];
      if (member !== undefined) bound[key] = this.bound(`${group}.${key}`, member, value);
      else if (rule.required.includes(key)) this.refuse(`${group} needs ${key}.`);
    }
    for (const [start, stop] of rule.pairs) {
      if ((bound[start] === undefined) === (bound[stop] === undefined)) continue;
      const [there, missing] = bound[start] === undefined ? [stop, start] : [start, stop];
      this.refuse(`${group}.${there} needs ${group}.${missing}: declare both or neither.`);
    }
    return Object.freeze(bound);
  }

  needs(handle: Readonly<Record<string, unknown>>, member: string, needed: string): void {
    if (handle[member] === undefined || handle[needed] !== undefined) return;
    this.refuse(`${member} needs ${needed}: add it, or leave ${member} out.`);
  }

  kinds(
    handle: Record<string, unknown>,
    rule: { readonly function: string; readonly list: string; readonly known: readonly string[] },
  ): void {
    const list = handle[rule.list];
    if (list === undefined) {
      if (handle[rule.function] === undefined) return;
      this.refuse(`${rule.function} needs ${rule.list}, the list of kinds that it honours.`);
    }
    this.needs(handle, rule.list, rule.function);
    if (!Array.isArray(list) || list.length === 0) {
      this.refuse(`${rule.list} must be a non-empty list of action kinds.`);
    }
    const seen = new Set<unknown>();
    for (const kind of list as readonly unknown[]) {
      if (typeof kind !== 'string' || !rule.known.includes(kind)) {
        const hint = typeof kind === 'string' ? suggestName(kind, rule.known) : '';
        this.refuse(`${rule.list} has the unknown kind ${String(JSON.stringify(kind))}${hint}`);
      }
      if (seen.has(kind)) this.refuse(`${rule.list} repeats ${JSON.stringify(kind)}.`);
      seen.add(kind);
    }
    handle[rule.list] = Object.freeze([...list] as unknown[]);
  }

  tapModifiers(handle: Readonly<Record<string, unknown>>): void {
    const value = handle['tapModifiers'];
    if (value !== undefined && typeof value !== 'boolean') {
      this.refuse('tapModifiers must be true or false.');
    }
    if (value === true) this.needs(handle, 'tapModifiers', 'perform');
  }

  fixtures(value: unknown): object {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.refuse('fixtures must be an object of factory functions.');
    }
    const factories: Record<string, unknown> = {};
    for (const [name, factory] of Object.entries(value)) {
      if (!/^[a-z][A-Za-z0-9]*$/u.test(name)) {
        this.refuse(`fixtures.${name}: a fixture's name is a lower-camel identifier.`);
      }
      if (TAKEN_NAMES.includes(name)) {
        this.refuse(`fixtures.${name}: the name is taken; give the fixture another one.`);
      }
      factories[name] = this.bound(`fixtures.${name}`, factory, value);
    }
    return Object.freeze(factories);
  }

  secrets(value: unknown): readonly unknown[] {
    if (!Array.isArray(value)) this.refuse('secrets must be a list of secret handles.');
    const handles: readonly unknown[] = value;
    const wrong = handles.findIndex((item) => !isSecret(item));
    if (wrong !== -1) {
      this.refuse(`secrets[${wrong}] is no secret handle: pass handles, never values.`);
    }
    return Object.freeze([...handles]);
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function capabilitiesOf(handle: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const members: Readonly<Record<(typeof BUILT_IN_CAPABILITIES)[number], string>> = {
    observation: 'observe',
    actions: 'perform',
    location: 'locate',
    pointer: 'performAt',
    keyboard: 'keyboard',
    state: 'state',
    artifacts: 'artifacts',
  };
  const names = BUILT_IN_CAPABILITIES.filter((name) => handle[members[name]] !== undefined);
  return readOnlySet([...names, ...Object.keys(handle['fixtures'] ?? {})]);
}

/** A real set that refuses to change: freezing alone does not stop `add`. */
function readOnlySet(values: readonly string[]): ReadonlySet<string> {
  const set = new Set(values);
  const refuse = (): never => {
    throw new TypeError('The capabilities of an engine handle cannot be changed.');
  };
  for (const method of ['add', 'delete', 'clear']) {
    Object.defineProperty(set, method, { value: refuse });
  }
  return Object.freeze(set);
}
