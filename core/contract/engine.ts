// The engine contract: what an engine may offer, and what it is handed. Capability is presence: a
// member that is absent is a capability the engine lacks, and nothing asks for its platform.
import type { JsonValue } from '../base/json.ts';
import type {
  LocatorAction,
  LocatorActionKind,
  Point,
  PointerAction,
  PointerActionKind,
} from './actions.ts';
import type { LocatorExpression } from './locator.ts';
import type {
  EngineObserveOptions,
  EngineSnapshot,
  EngineState,
  NodeRef,
  SemanticNode,
} from './observation.ts';
import type { Secret } from './secrets.ts';

/** Who asked for an operation. */
export type OperationOrigin = 'test' | 'agent';

export interface OperationContext {
  readonly signal: AbortSignal;
  /** Budget left when the call starts, ms. */
  readonly timeoutMs: number;
  readonly runId: string;
  readonly attemptId: string;
  readonly origin: OperationOrigin;
}

export interface EngineCleanupContext {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}
export interface EngineDisposeContext extends EngineCleanupContext {
  /** Aborts when the same handle is initialised again while the dispose still runs. */
  readonly reuseSignal?: AbortSignal;
}

export type PermissionSetting = 'grant' | 'deny' | 'reset';

/** The app under test, as an engine sees it. Never its URL: that comes only by `session.open`. */
export interface EngineAppInfo {
  /** Registrable domain of the app's URL. */
  readonly site?: string;
  readonly bundleId?: string;
  readonly appPath?: string;
  readonly launchArguments?: readonly string[];
  readonly permissions?: Readonly<Record<string, PermissionSetting>>;
}
/** What `validateApp` sees. */
export interface EngineAppDeclaration extends EngineAppInfo {
  readonly url?: string;
}

export type EngineEnvironment = Readonly<Record<string, string | undefined>>;

export interface EnginePrepareInfo {
  readonly runId: string;
  readonly targetName: string;
  readonly projectRoot: string;
  readonly app: EngineAppInfo;
  /** Worker slots of the run, 0 or more. */
  readonly slots: number;
  readonly env: EngineEnvironment;
  readonly signal: AbortSignal;
  log(line: string): void;
}
export interface EnginePrepareResult {
  /** 1..slots. */
  readonly workers?: number;
  readonly env?: EngineEnvironment;
}
export interface EngineFinishInfo extends EngineCleanupContext {
  readonly runId: string;
  readonly targetName: string;
  readonly env: EngineEnvironment;
  log(line: string): void;
}
export interface EngineInitInfo {
  readonly runId: string;
  readonly targetName: string;
  readonly projectRoot: string;
  readonly app: EngineAppInfo;
  readonly env: EngineEnvironment;
  readonly headed: boolean;
  /** From 0. */
  readonly workerSlot: number;
  readonly signal: AbortSignal;
  log(line: string): void;
}

export const APP_LOG_LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type AppLogLevel = (typeof APP_LOG_LEVELS)[number];
export interface AppLogEntry {
  readonly level: AppLogLevel;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
  readonly source?: string;
}

/** Longest navigation line, in UTF-8 bytes. */
export const NAVIGATION_LINE_LIMIT = 8192;

export interface ResolveSecretOptions {
  /** Answers the forms that the engine derives from the plaintext; they are redacted too. */
  readonly derived?: (plaintext: string) => readonly string[] | Promise<readonly string[]>;
}

export interface EngineAttemptContext {
  readonly attemptId: string;
  /** Absolute. */
  readonly artifactsDir: string;
  readonly signal: AbortSignal;
  /** Whether `screen` snapshots are wanted. */
  readonly screens: boolean;
  /** The plaintext of a secret that the engine declares. */
  resolveSecret(secret: Secret, options?: ResolveSecretOptions): Promise<string>;
  appLog(entry: AppLogEntry): void;
  navigation(line: string): void;
  environment(facts: Readonly<Record<string, string>>): void;
  screen(snapshot: EngineSnapshot): void;
}

export interface VideoSegmentFile {
  readonly path: string;
  readonly startedAt: string;
}
export interface VideoSegmentUrl {
  readonly url: string;
  readonly mediaType: string;
  readonly startedAt: string;
}
export type VideoSegment = VideoSegmentFile | VideoSegmentUrl;

export interface EngineKeyboard {
  /** Types as a person would, into whatever has focus. */
  type(
    text: string,
    options: { readonly replace: boolean },
    context: OperationContext,
  ): Promise<void>;
  press(key: string, context: OperationContext): Promise<void>;
  dismiss?(context: OperationContext): Promise<void>;
}
export interface EngineStateStore {
  capture(context: OperationContext): Promise<EngineState>;
  /** Replaces the whole persisted state, never merges. */
  restore(state: EngineState, context: OperationContext): Promise<void>;
}
export interface EngineArtifacts {
  /** Answers a path relative to the attempt's artifact directory. */
  screenshot(label: string | undefined, context: OperationContext): Promise<string>;
  startTrace?(context: OperationContext): Promise<void>;
  stopTrace?(context: OperationContext): Promise<string | undefined>;
  startVideo?(context: OperationContext): Promise<void>;
  stopVideo?(context: OperationContext): Promise<readonly VideoSegment[]>;
}
export interface EngineSession {
  open?(url: string, context: OperationContext): Promise<void>;
  back?(context: OperationContext): Promise<void>;
  restart?(context: OperationContext): Promise<void>;
  reset?(context: OperationContext): Promise<void>;
}

/** A factory of one fixture: called once per attempt; its optional `dispose` is its teardown. */
export type EngineFixture = (context: FixtureContext) => unknown;
export interface FixtureContext {
  readonly attemptId: string;
  readonly signal: AbortSignal;
  /** Registers a teardown, run in reverse order at the attempt's end. */
  onTeardown(teardown: () => void | Promise<void>): void;
}

/** What `defineEngine` takes. A class instance is a valid body. */
export interface Engine {
  readonly name: string;
  /** Provenance, and part of the trace cache's identity. */
  readonly version: string;
  readonly spiVersion: 1;
  /** A label; nothing may branch on its value. */
  readonly platform?: string;
  /** Most workers that this engine serves at once. */
  readonly workers?: number;
  observe?(context: OperationContext, options?: EngineObserveOptions): Promise<EngineSnapshot>;
  /** One immediate answer: no polling, no single-match rule. */
  locate?(
    expression: LocatorExpression,
    context: OperationContext,
  ): Promise<readonly SemanticNode[]>;
  perform?(ref: NodeRef, action: LocatorAction, context: OperationContext): Promise<void>;
  readonly actions?: readonly LocatorActionKind[];
  performAt?(point: Point, action: PointerAction, context: OperationContext): Promise<void>;
  readonly pointerActions?: readonly PointerActionKind[];
  /** The engine honours `modifiers` on tap, doubleTap and secondaryTap. */
  readonly tapModifiers?: boolean;
  readonly keyboard?: EngineKeyboard;
  readonly state?: EngineStateStore;
  readonly artifacts?: EngineArtifacts;
  readonly session?: EngineSession;
  readonly fixtures?: Readonly<Record<string, EngineFixture>>;
  /** The only secrets that `resolveSecret` will answer. */
  readonly secrets?: readonly Secret[];
  /** Synchronous; throws `INVALID_CONFIG`. */
  validateApp?(app: EngineAppDeclaration, info: { readonly targetName: string }): void;
  prepare?(info: EnginePrepareInfo): Promise<EnginePrepareResult | void>;
  finish?(info: EngineFinishInfo): Promise<void>;
  init?(info: EngineInitInfo): Promise<void>;
  dispose?(context: EngineDisposeContext): Promise<void>;
  startAttempt?(context: EngineAttemptContext): Promise<void>;
  settleAttempt?(context: EngineCleanupContext): Promise<void>;
  endAttempt?(context: EngineCleanupContext): Promise<void>;
}

export const BUILT_IN_CAPABILITIES = [
  'observation',
  'actions',
  'location',
  'pointer',
  'keyboard',
  'state',
  'artifacts',
] as const;

/** A validated, frozen and branded engine, as `defineEngine` returns it. */
export interface EngineHandle extends Readonly<Engine> {
  /** Capability names: the built-in ones, and each fixture's name. */
  readonly capabilities: ReadonlySet<string>;
  /** True when calls cross to another process: one handle may then serve several sessions. */
  readonly remote?: boolean;
  /**
   * Calls back at once when the connection of the present `init`..`dispose` is lost, also between
   * two calls; answers the removal. Only where there is a connection to lose.
   */
  onLost?(listener: (error: Error) => void): () => void;
  /**
   * Another handle on the same server, with connections of its own: a handle lives one
   * init..dispose at a time, so that sessions that run at once each need one. Remote handles only.
   */
  fork?(): EngineHandle;
}

/** Opaque JSON that an engine server echoes. */
export type SecretDerivation = JsonValue;
