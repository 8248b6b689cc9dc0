// The agent's door: the four calls over one attempt, the guarded driver, the model port with its
// errors, and what an attempt must lend. Everything else in this folder is the agent's own.
export { createAgent } from './agent.ts';
export type {
  ActOptions,
  ActResult,
  Agent,
  AgentParam,
  AgentParams,
  AssertOptions,
  ExtractOptions,
  VisionOption,
  WaitForOptions,
} from './api.ts';
export { createDriver } from './driver.ts';
export type { Driver, DriverOptions, Observation, OperationBudget } from './driver.ts';
export { isModelError, MODEL_FAILURES, ModelError } from './model.ts';
export type {
  ContentPart,
  GenerateOptions,
  ImagePart,
  Model,
  ModelAnswer,
  ModelErrorOptions,
  ModelFailure,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelUsage,
  ProviderState,
  StopReason,
  TextPart,
  ToolChoice,
} from './model.ts';
export type {
  ActionOutcome,
  ActionRecord,
  Judgment,
  StepCacheInfo,
  StepEvent,
  StepKind,
  StepProgress,
  StepRecord,
  StepStatus,
} from './records.ts';
export { createRedactor } from './redaction.ts';
export type {
  AgentEntry,
  AttemptLimits,
  AttemptScope,
  EngineReport,
  LedgerEntry,
  ModelPrices,
  Redactor,
  ReportLog,
  SecretSource,
  VisionMode,
} from './scope.ts';
export type { StandardIssue, StandardResult, StandardSchemaV1 } from './standard-schema.ts';
export { addUsage, NO_USAGE } from './usage.ts';
export type { UsageTotals } from './usage.ts';
