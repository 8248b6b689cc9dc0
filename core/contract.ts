// The contract's door (`enginewright/contract`): everything an engine is written with, by name. An
// engine imports nothing else of the core, so the few helpers from `base` that every engine needs
// (time, races, text cuts, JSON checks) stand here too. Names that the specification gives its
// constants are exported under those names beside ours.
export type { Clock } from './base/clock.ts';
export { systemClock } from './base/clock.ts';
export type { Deadline, DeadlineOptions } from './base/deadline.ts';
export { createDeadline, race, sleep } from './base/deadline.ts';
export type { JsonIssue, JsonObject, JsonPrimitive, JsonValue } from './base/json.ts';
export { findJsonIssue, isPlainObject } from './base/json.ts';
export { nearestName, suggestName } from './base/nearest.ts';
export { collapseWhitespace, cutEnd } from './base/text.ts';

export type {
  DragToAction,
  FillAction,
  LocatorAction,
  LocatorActionKind,
  LongPressAction,
  OptionChoice,
  Point,
  PointerAction,
  PointerActionKind,
  PressAction,
  SelectOptionAction,
  SetInputFilesAction,
  SimpleAction,
  SwipeAction,
  SwipeDirection,
  SwipeMomentum,
  TapAction,
  TapModifier,
} from './contract/actions.ts';
export {
  LOCATOR_ACTION_KINDS,
  POINTER_ACTION_KINDS,
  SWIPE_DIRECTIONS,
  SWIPE_MOMENTA,
  TAP_MODIFIERS,
  TAP_MODIFIERS as KEY_MODIFIERS,
} from './contract/actions.ts';

export type {
  AgentErrorCode,
  CodeRow,
  EngineErrorCode,
  ErrorCategory,
  ErrorCode,
  ErrorOwner,
} from './contract/codes.ts';
export {
  AGENT_ERROR_CODES,
  ENGINE_ERROR_CODES,
  ERROR_CATEGORIES,
  ERROR_CODES,
  EXIT_CODES,
  RETRYABLE_ENGINE_ERROR_CODES,
  findCode,
  isAgentErrorCode,
  isEngineErrorCode,
  mayBeRetryable,
} from './contract/codes.ts';

export type { DefineEngineOptions } from './contract/define.ts';
export { ENGINE_SPI_VERSION, defineEngine, isEngineHandle } from './contract/define.ts';

export type {
  AppLogEntry,
  AppLogLevel,
  Engine,
  EngineAppDeclaration,
  EngineAppInfo,
  EngineArtifacts,
  EngineAttemptContext,
  EngineCleanupContext,
  EngineDisposeContext,
  EngineEnvironment,
  EngineFinishInfo,
  EngineFixture,
  EngineHandle,
  EngineInitInfo,
  EngineKeyboard,
  EnginePrepareInfo,
  EnginePrepareResult,
  EngineSession,
  EngineStateStore,
  FixtureContext,
  OperationContext,
  OperationOrigin,
  PermissionSetting,
  ResolveSecretOptions,
  SecretDerivation,
  VideoSegment,
  VideoSegmentFile,
  VideoSegmentUrl,
} from './contract/engine.ts';
export { APP_LOG_LEVELS, BUILT_IN_CAPABILITIES, NAVIGATION_LINE_LIMIT } from './contract/engine.ts';

export type {
  AgentErrorOptions,
  EngineErrorOptions,
  RunnerErrorOptions,
} from './contract/errors.ts';
export {
  AgentError,
  ConfigurationError,
  EXPLANATION_LIMIT,
  EngineError,
  InfrastructureError,
  RunnerError,
  TestError,
  categoryOf,
  exitCodeOf,
  isAgentError,
  isEngineError,
  isRunnerError,
  runnerError,
  sanitizeExplanation,
} from './contract/errors.ts';

export {
  findObservationFault,
  validateAction,
  validateExpression,
  validatePointerAction,
  validateSnapshot,
} from './contract/guards.ts';

export type { KeyName, ParsedKey } from './contract/keys.ts';
export { KEY_NAMES, parseKey } from './contract/keys.ts';

export { cutName, cutText, mayBeCutName, mayBeCutText } from './contract/limits.ts';

export type {
  LocatorExpression,
  QueryKind,
  QueryState,
  SemanticQuery,
  TextPattern,
} from './contract/locator.ts';
export { QUERY_KINDS, QUERY_STATES } from './contract/locator.ts';

export type {
  EngineObserveOptions,
  EngineSnapshot,
  EngineState,
  InputPurpose,
  NodeRef,
  NodeState,
  NodeStates,
  ObservationPixels,
  Rect,
  SemanticNode,
  Viewport,
} from './contract/observation.ts';
export {
  INPUT_PURPOSES,
  OBSERVED_NAME_LIMIT,
  NODE_STATES,
  OBSERVED_TEXT_LIMIT,
} from './contract/observation.ts';

export { rejectUnknownKeys } from './contract/options.ts';

export type { ResolveOptions } from './contract/resolve.ts';
export { matchesText, resolveExpression } from './contract/resolve.ts';

export { INTERACTIVE_ROLES, TEXT_ROLES, isInteractive } from './contract/roles.ts';

export type { Secret, SecretPurpose } from './contract/secrets.ts';
export { SECRET_PURPOSES, createSecret, isSecret } from './contract/secrets.ts';

export { siteOf } from './contract/site.ts';
