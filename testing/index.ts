// The door for whoever tests an engine, an adapter or a harness on Enginewright: the conformance
// rules, a clock that stands still, and a model that plays a script. It imports no test library.
export type { FakeClock, RunUntilOptions } from './fake-clock.ts';
export { createFakeClock } from './fake-clock.ts';
export type { EngineSuiteContext } from './engine-stage.ts';
export type { EngineNeed, EngineRule, RuleResult } from './engine-suite.ts';
export { engineSuite, missingNeeds, runEngineSuite } from './engine-suite.ts';
export { checkEngine, type CheckEngineOptions } from './check/check.ts';
export { COMMON_PROBES, readProbes } from './check/probes.ts';
export type { EngineProbes, NodeProbe, ProbeName } from './check/probes.ts';
export { formatCheckReport, formatOutcome, formatSummary } from './check/report.ts';
export type { FormatOptions } from './check/report.ts';
export { CHECK_RULES } from './check/rules/index.ts';
export type {
  CheckNeeds,
  CheckOutcome,
  CheckReport,
  CheckRule,
  CheckStatus,
  OffenceKind,
} from './check/types.ts';
export type {
  ScriptedAnswer,
  ScriptedCall,
  ScriptedDecision,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedTurn,
} from './scripted-model.ts';
export { HANG, scriptedModel } from './scripted-model.ts';
export type { EngineFault } from './faulty-engine.ts';
export { ENGINE_FAULTS, faultyEngine } from './faulty-engine.ts';
export { faultyTransport } from './faulty-server.ts';
export type { ServerFault } from './faulty-wire.ts';
export { SERVER_FAULTS } from './faulty-wire.ts';
export type { FarEndBehaviour, FarEndOptions } from './far-end.ts';
export { FAR_END_BEHAVIOURS, patternBytes, playFarEnd, SPOKEN_BYTES } from './far-end.ts';
export type { TransportStage, TransportSuiteContext } from './transport-stage.ts';
export type { TransportRule } from './transport-suite.ts';
export { runTransportSuite, transportSuite } from './transport-suite.ts';
