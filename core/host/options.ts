// The options of openSession: one table of keys, every default filled in, every mistake refused
// with its key path before anything runs. What is known but not there yet refuses as clearly as
// what is unknown: an option that is silently ignored is worse than none.
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { systemClock, type Clock } from '../base/clock.ts';
import type { Model } from '../agent/model.ts';
import { isEngineHandle } from '../contract/define.ts';
import type { EngineEnvironment, EngineHandle } from '../contract/engine.ts';
import {
  namedReference,
  resolveAgents,
  type AgentOptions,
  type UnresolvedAgent,
} from './agent-options.ts';
import {
  originList,
  originOf,
  resolveApp,
  type AppOptions,
  type ResolvedApp,
} from './app-options.ts';
import {
  booleanOr,
  checkObject,
  countOr,
  invalid,
  isThenable,
  keyPath,
  millisecondsOr,
  oneOf,
  optionalFunction,
  optionalObject,
  optionalSignal,
  optionalString,
  unknownName,
  unsupported,
} from './checks.ts';
import type { EventSink } from './events.ts';
import type { CredentialOptions, SecretOption } from './secrets.ts';

/** An engine by its registry name, with options for its adapter. */
export interface EngineReference {
  readonly name: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

/**
 * Names for engines and models. The core imports no adapter, so whoever embeds it lends a registry;
 * the package's root door lends the built-in one, loaded only when a name is used.
 */
export interface EngineRegistry {
  /** Rejects with `INVALID_CONFIG` naming the nearest known one. */
  engine(name: string, options?: Readonly<Record<string, unknown>>): Promise<EngineHandle>;
  /** `spec` is such as `openai-chat:NAME`. */
  model(spec: string, options?: Readonly<Record<string, unknown>>): Promise<Model>;
}

export interface TargetOptions {
  /** Default: the engine's name. */
  readonly name?: string;
  readonly engine: EngineHandle | string | EngineReference;
  readonly app?: AppOptions;
}

/** `on-failure` records always and keeps what a failed attempt recorded. */
export type RecordingMode = 'on' | 'on-failure' | 'off';

export interface SessionOptions {
  readonly target: TargetOptions;
  readonly agents?: Readonly<Record<string, AgentOptions>>;
  /** The agent that an attempt uses; default `default`. */
  readonly agent?: string;
  /** An attempt's deadline and the default of `act`, ms; default 120000. */
  readonly timeout?: number;
  /** `init` and `startAttempt`, ms; default 60000. */
  readonly launchTimeout?: number;
  /** Each of settle, end, dispose and finish, ms; default 30000. */
  readonly cleanupTimeout?: number;
  /** One engine operation, ms; default 30000. */
  readonly actionTimeout?: number;
  /** Default: the working directory. */
  readonly projectRoot?: string;
  /** Where evidence goes, relative to the root; default `.enginewright`. */
  readonly artifactsDir?: string;
  /** What prepare, init and finish carry to the engine; nothing else of the environment crosses. */
  readonly env?: EngineEnvironment;
  readonly headed?: boolean;
  /** From 0: which of a harness's parallel workers this session is. */
  readonly workerSlot?: number;
  /** Default: random. */
  readonly runId?: string;
  readonly credentials?: Readonly<Record<string, CredentialOptions>>;
  readonly secrets?: Readonly<Record<string, SecretOption>>;
  /** Where the agent may navigate and fill secrets; default: the origin of `target.app.url`. */
  readonly allowedOrigins?: readonly string[];
  /** Only `off` in this version. */
  readonly trace?: RecordingMode;
  /** Default `off`; else the engine must be able to record video. */
  readonly video?: RecordingMode;
  /** The harness's abort: ends what runs with its reason; the session is still to be closed. */
  readonly signal?: AbortSignal;
  readonly onEvent?: EventSink;
  readonly clock?: Clock;
  /** Resolves engines and models given by name. */
  readonly registry?: EngineRegistry;
}

/** The options with every default, names of engines and models not yet resolved. */
export interface ResolvedOptions {
  readonly targetName: string | undefined;
  readonly engine: EngineHandle | EngineReference;
  readonly app: ResolvedApp;
  readonly agents: readonly UnresolvedAgent[];
  readonly agent: string;
  readonly timeout: number;
  readonly launchTimeout: number;
  readonly cleanupTimeout: number;
  readonly actionTimeout: number;
  /** Absolute. */
  readonly projectRoot: string;
  /** Absolute. */
  readonly artifactsDir: string;
  readonly env: EngineEnvironment;
  readonly headed: boolean;
  readonly workerSlot: number;
  readonly runId: string;
  readonly credentials: unknown;
  readonly secrets: unknown;
  readonly allowedOrigins: readonly string[];
  readonly video: RecordingMode;
  readonly signal: AbortSignal | undefined;
  readonly onEvent: EventSink | undefined;
  readonly clock: Clock;
  readonly registry: EngineRegistry | undefined;
}

/** The table of keys; a key that is missing here or there does not compile. */
const KEYS: Readonly<Record<keyof SessionOptions, true>> = {
  target: true,
  agents: true,
  agent: true,
  timeout: true,
  launchTimeout: true,
  cleanupTimeout: true,
  actionTimeout: true,
  projectRoot: true,
  artifactsDir: true,
  env: true,
  headed: true,
  workerSlot: true,
  runId: true,
  credentials: true,
  secrets: true,
  allowedOrigins: true,
  trace: true,
  video: true,
  signal: true,
  onEvent: true,
  clock: true,
  registry: true,
};
/** Specified, and refused until they are there. */
const LATER_KEYS = ['debug', 'dryRun'];
/** Where newcomers look for what is elsewhere. */
const ELSEWHERE = {
  engine: 'target.engine',
  app: 'target.app',
  url: 'target.app.url',
  baseUrl: 'target.app.url',
  model: 'agents.default.model',
} as const;
const RECORDING_MODES = ['on', 'on-failure', 'off'] as const;

/** Throws `INVALID_CONFIG`, or `UNSUPPORTED_CAPABILITY` for what this version does not have. */
export function resolveOptions(value: SessionOptions): ResolvedOptions {
  const record = checkObject(value, '', { example: '{ target: { engine, app? }, ... }' });
  for (const key of LATER_KEYS) {
    if (record[key] !== undefined) {
      throw unsupported(key, 'is not in this version.');
    }
  }
  checkObject(record, '', { known: Object.keys(KEYS), elsewhere: ELSEWHERE });
  const options = record as unknown as SessionOptions;
  if (recordingMode(options.trace, 'trace') !== 'off') {
    throw unsupported('trace', 'can only be "off" in this version.');
  }
  const target = resolveTarget(options.target);
  const agents = resolveAgents(options.agents);
  const agent = optionalString(options.agent, 'agent');
  if (agent !== undefined && !agents.some(({ entry }) => entry.name === agent)) {
    throw invalid(
      'agent',
      `names no agent: ${unknownName(
        agent,
        'agent',
        agents.map(({ entry }) => entry.name),
      )}`,
    );
  }
  const projectRoot = resolveRoot(options.projectRoot);
  const appOrigin = target.app.url === undefined ? undefined : originOf(target.app.url);
  return Object.freeze({
    ...target,
    agents,
    agent: agent ?? 'default',
    timeout: millisecondsOr(options.timeout, 'timeout', 120_000),
    launchTimeout: millisecondsOr(options.launchTimeout, 'launchTimeout', 60_000),
    cleanupTimeout: millisecondsOr(options.cleanupTimeout, 'cleanupTimeout', 30_000),
    actionTimeout: millisecondsOr(options.actionTimeout, 'actionTimeout', 30_000),
    projectRoot,
    artifactsDir: resolvePath(
      projectRoot,
      optionalString(options.artifactsDir, 'artifactsDir') ?? '.enginewright',
    ),
    env: resolveEnv(options.env),
    headed: booleanOr(options.headed, 'headed', false),
    workerSlot: countOr(options.workerSlot, 'workerSlot', 0),
    runId: optionalString(options.runId, 'runId') ?? randomUUID(),
    credentials: options.credentials,
    secrets: options.secrets,
    allowedOrigins: Object.freeze(
      originList(options.allowedOrigins, 'allowedOrigins') ??
        (appOrigin === undefined ? [] : [appOrigin]),
    ),
    video: recordingMode(options.video, 'video'),
    signal: optionalSignal(options.signal, 'signal'),
    onEvent: optionalFunction(options.onEvent, 'onEvent'),
    clock: resolveClock(options.clock),
    registry: resolveRegistry(options.registry),
  });
}

function resolveTarget(value: unknown): Pick<ResolvedOptions, 'targetName' | 'engine' | 'app'> {
  if (value === undefined) throw invalid('target', 'is required: { engine, app? }.');
  const target = checkObject(value, 'target', {
    known: ['name', 'engine', 'app'],
    elsewhere: { url: 'target.app.url', baseUrl: 'target.app.url' },
    example: '{ engine, app? }',
  });
  return {
    targetName: optionalString(target['name'], 'target.name'),
    engine: resolveEngine(target['engine']),
    app: resolveApp(target['app'], 'target.app'),
  };
}

function resolveEngine(value: unknown): EngineHandle | EngineReference {
  const path = 'target.engine';
  if (value === undefined) throw invalid(path, 'is required: an engine, or the name of one.');
  if (isEngineHandle(value)) return value;
  if (typeof value === 'string' && value !== '') return { name: value };
  if (typeof value === 'function') throw invalid(path, 'is a function: pass what it answers.');
  if (typeof value !== 'object' || value === null) {
    throw invalid(path, 'must be an engine, its name, or { name, options }.');
  }
  if (isThenable(value)) throw invalid(path, 'is a promise: await it first.');
  if ('spiVersion' in value) {
    throw invalid(path, 'is an engine as it was written; pass what defineEngine() makes of it.');
  }
  return namedReference(value, path);
}

function resolveEnv(value: unknown): EngineEnvironment {
  const env = optionalObject(value, 'env', { example: 'the variables that the engine needs' });
  for (const [name, setting] of Object.entries(env)) {
    if (setting !== undefined && typeof setting !== 'string') {
      throw invalid(keyPath('env', name), 'must be a string.');
    }
  }
  return Object.freeze({ ...(env as EngineEnvironment) });
}

function recordingMode(value: unknown, path: string): RecordingMode {
  return value === undefined ? 'off' : oneOf(value, path, RECORDING_MODES);
}

/** A root that is no directory is refused: a spawned engine would fail with a puzzle. */
function resolveRoot(value: unknown): string {
  const given = optionalString(value, 'projectRoot');
  const root = resolvePath(given ?? '.');
  if (given !== undefined && !isDirectory(root)) {
    throw invalid('projectRoot', `is no directory: ${root}.`);
  }
  return root;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function resolveClock(value: Clock | undefined): Clock {
  if (value === undefined) return systemClock;
  for (const member of ['now', 'iso', 'setTimer'] as const) {
    if (typeof (value as Partial<Clock> | null)?.[member] !== 'function') {
      throw invalid('clock', 'must have now(), iso() and setTimer().');
    }
  }
  return value;
}

function resolveRegistry(value: EngineRegistry | undefined): EngineRegistry | undefined {
  if (value === undefined) return undefined;
  for (const member of ['engine', 'model'] as const) {
    if (typeof (value as Partial<EngineRegistry> | null)?.[member] !== 'function') {
      throw invalid('registry', 'must have engine() and model().');
    }
  }
  return value;
}
