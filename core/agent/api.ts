// The agent's public face: the four calls with their options and results, as spec/agent.md gives
// them. Types only; everything that runs lives beside this file.
import type { JsonPrimitive } from '../base/json.ts';
import type { Secret } from '../contract/secrets.ts';
import type { StepCacheInfo } from './records.ts';
import type { VisionMode } from './scope.ts';
import type { StandardSchemaV1 } from './standard-schema.ts';

/** A value that the test hands to the model, or a handle whose value the model never sees. */
export type AgentParam =
  | JsonPrimitive
  | Secret
  | readonly AgentParam[]
  | { readonly [key: string]: AgentParam };
export type AgentParams = Readonly<Record<string, AgentParam>>;

export interface VisionOption {
  /** What evidence the model is shown. Default: the agent's `vision`. */
  readonly vision?: VisionMode;
}

export interface ActOptions {
  /** JSON-safe values and `Secret` handles, at most 64 KiB and 32 levels. */
  readonly params?: AgentParams;
  /** ms. Default: the session's `timeout`. */
  readonly timeout?: number;
  /** At most the agent's. */
  readonly maxSteps?: number;
  /** At most the agent's. */
  readonly maxModelCalls?: number;
  /** A name in `agents`. Default: the attempt's agent. */
  readonly agent?: string;
}

export interface AssertOptions extends VisionOption {
  /** ms. Default: the larger of 30 000 and the session's `actionTimeout`. */
  readonly timeout?: number;
  /** Whether a failure keeps a screenshot as evidence. Default true. */
  readonly screenshot?: boolean;
  readonly agent?: string;
}

export interface WaitForOptions extends VisionOption {
  /** ms. Default: the larger of 30 000 and the session's `actionTimeout`. */
  readonly timeout?: number;
  /** ms between observations, 100 to 60 000. Default 3000. */
  readonly interval?: number;
  /** At most the agent's. */
  readonly maxModelCalls?: number;
  readonly agent?: string;
}

export interface ExtractOptions<Schema extends StandardSchemaV1> extends VisionOption {
  /** Any Standard Schema v1 validator. */
  readonly schema: Schema;
  /** ms. Default: the larger of 30 000 and the session's `actionTimeout`. */
  readonly timeout?: number;
  readonly agent?: string;
}

export interface ActResult {
  readonly summary: string;
  /** How the trace cache took part; absent when caching is off. */
  readonly cache?: StepCacheInfo;
  readonly modelCalls: number;
  readonly actions: number;
}

/** The four calls. Each is one bounded step; all reject with an `AgentError`. */
export interface Agent {
  /** Plans and executes one flow of actions; resolves when the model's verdict is `passed`. */
  act(instruction: string, options?: ActOptions): Promise<ActResult>;
  /** Observes at an interval until the condition is judged to hold. */
  waitFor(condition: string, options?: WaitForOptions): Promise<void>;
  /** Reads a value off the screen and answers it validated. */
  extract<Schema extends StandardSchemaV1>(
    instruction: string,
    options: ExtractOptions<Schema>,
  ): Promise<StandardSchemaV1.InferOutput<Schema>>;
  /** One observation, one judgment. */
  assert(assertion: string, options?: AssertOptions): Promise<void>;
}
