// The door for whoever tests an engine, an adapter or a harness on Enginewright: the conformance
// rules, a clock that stands still, and a model that plays a script. It imports no test library.
export type { FakeClock, RunUntilOptions } from './fake-clock.ts';
export { createFakeClock } from './fake-clock.ts';
export type { EngineSuiteContext } from './engine-stage.ts';
export type { EngineNeed, EngineRule, RuleResult } from './engine-suite.ts';
export { checkEngine, engineSuite, missingNeeds } from './engine-suite.ts';
export type {
  ScriptedAnswer,
  ScriptedCall,
  ScriptedDecision,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedTurn,
} from './scripted-model.ts';
export { HANG, scriptedModel } from './scripted-model.ts';
