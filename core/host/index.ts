// The host's door: what an embedding harness opens, and the types of what it gets. The root door
// lends it a registry and a reader of the environment; nothing is read by the import.
export type { AgentOptions, ModelOption, ModelReference } from './agent-options.ts';
export type { AppOptions } from './app-options.ts';
export type { AttemptApp } from './app.ts';
export type { AttemptOptions } from './attempt-options.ts';
export type { AttemptContext } from './attempt-parts.ts';
export type { AttemptRecord } from './attempt-scope.ts';
export type { ErrorInfo } from './errors.ts';
export type {
  AttemptFinishedEvent,
  AttemptStartedEvent,
  AttemptStatus,
  ErrorEvent,
  EventSink,
  HostEvent,
  HostEventBody,
  NoticeEvent,
  SessionFinishedEvent,
  SessionStartedEvent,
} from './events.ts';
export type { ActionTarget, AttemptKeyboard, CallOptions } from './locate.ts';
export type {
  EngineReference,
  EngineRegistry,
  RecordingMode,
  SessionOptions,
  TargetOptions,
} from './options.ts';
export {
  credentials,
  secrets,
  type Credential,
  type CredentialHandles,
  type CredentialOptions,
  type SecretOption,
  type SecretProvider,
  type SecretValue,
} from './secrets.ts';
export {
  openSessionIn,
  type Attempt,
  type Session,
} from './session.ts';
