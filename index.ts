// The root door: what a harness needs to open a session, and to understand what comes out of one.
// Importing it reads no environment, starts nothing and registers nothing; the adapters behind a
// name are loaded by the first session that uses one.
import process from 'node:process';
import {
  openSessionIn,
  type EngineRegistry,
  type Session,
  type SessionOptions,
} from './core/host/index.ts';

/** The built-in adapters, loaded when a name is first resolved. */
const lazyRegistry: EngineRegistry = {
  engine: async (name, options) =>
    (await import('./adapters/registry.ts')).registry.engine(name, options),
  model: async (name, options) =>
    (await import('./adapters/registry.ts')).registry.model(name, options),
};

/**
 * Opens a session: one engine, initialised, ready for attempts. Close it, or hold it with
 * `await using`. Rejects with `INVALID_CONFIG` for a malformed option (naming its key path),
 * `UNSUPPORTED_CAPABILITY` for one that the engine or this version does not have, `INVALID_STATE`
 * for an engine in use, `LAUNCH_TIMEOUT`, `ENGINE_FAILURE`, or the reason of an abort; what was
 * begun is then already ended.
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  return openSessionIn({ readEnv: (name) => process.env[name], registry: lazyRegistry }, options);
}

export { credentials, secrets } from './core/host/index.ts';
export type {
  ActionTarget,
  AgentOptions,
  AppOptions,
  Attempt,
  AttemptApp,
  AttemptContext,
  AttemptFinishedEvent,
  AttemptKeyboard,
  AttemptOptions,
  AttemptRecord,
  AttemptStartedEvent,
  AttemptStatus,
  CallOptions,
  Credential,
  CredentialHandles,
  CredentialOptions,
  EngineReference,
  EngineRegistry,
  ErrorEvent,
  ErrorInfo,
  EventSink,
  HostEvent,
  HostEventBody,
  ModelOption,
  ModelReference,
  NoticeEvent,
  RecordingMode,
  SecretOption,
  SecretProvider,
  SecretValue,
  Session,
  SessionFinishedEvent,
  SessionOptions,
  SessionStartedEvent,
  TargetOptions,
} from './core/host/index.ts';

export { defineEngine, exitCodeOf, isAgentError } from './core/contract.ts';
export type {
  AgentError,
  AgentErrorCode,
  Engine,
  EngineHandle,
  EngineState,
  ErrorCategory,
  ErrorCode,
  LocatorAction,
  LocatorExpression,
  Secret,
  SecretPurpose,
  SemanticNode,
} from './core/contract.ts';

export type {
  ActOptions,
  ActResult,
  ActionRecord,
  Agent,
  AgentParam,
  AgentParams,
  AssertOptions,
  ExtractOptions,
  Judgment,
  Model,
  ModelPrices,
  StandardSchemaV1,
  StepEvent,
  StepKind,
  StepProgress,
  StepRecord,
  StepStatus,
  UsageTotals,
  VisionMode,
  WaitForOptions,
} from './core/agent/index.ts';
