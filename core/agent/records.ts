// What a step leaves behind: its record, plain JSON free of secrets, and the event that carries it
// to the host as it grows. The host wraps events with `seq` and `at`; the shapes live here.
import type { AgentErrorCode } from '../contract/codes.ts';
import type { UsageTotals } from './usage.ts';

export type StepKind = 'act' | 'waitFor' | 'extract' | 'assert';
/** How a step ended. `blocked` is a failure that is not the product's. */
export type StepStatus = 'passed' | 'failed' | 'blocked';

export type ActionOutcome = 'done' | 'failed' | 'refused' | 'uncertain' | 'not-run' | 'unneeded';

/** One tool call of the step. */
export interface ActionRecord {
  readonly tool: string;
  /** What it aimed at, in words: role and quoted name; redacted. */
  readonly target?: string;
  readonly outcome: ActionOutcome;
  readonly code?: string;
  /** Engine actions that it counted as. */
  readonly count: number;
  readonly durationMs: number;
}

export interface StepCacheInfo {
  readonly mode: 'self-finalized' | 'agent-concluded' | 'missed';
  readonly reason?: string;
  readonly detail?: string;
  readonly entry?: string;
  readonly write?: string;
}

export interface Judgment {
  readonly verdict: 'holds' | 'fails' | 'inconclusive';
  readonly reason: string;
}

export interface StepRecord {
  readonly id: string;
  /** From 1, within the attempt. */
  readonly index: number;
  readonly kind: StepKind;
  /** The instruction, redacted. */
  readonly instruction: string;
  readonly agent: string;
  readonly model?: string;
  readonly status: StepStatus;
  readonly code?: AgentErrorCode;
  readonly summary: string;
  readonly modelCalls: number;
  readonly actions: readonly ActionRecord[];
  /** Sum of the counts of `actions`. */
  readonly actionCount: number;
  readonly usage: UsageTotals;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly timings: {
    readonly observeMs: number;
    readonly modelMs: number;
    readonly actMs: number;
    readonly settleMs: number;
  };
  /** UTF-8 bytes of screen text shown to the model, over the whole step. */
  readonly observationBytes: number;
  readonly visionInput?: true;
  readonly visionDegraded?: 'PIXEL_TAINTED' | 'MASKING_UNPROVEN' | 'UNSUPPORTED_CAPABILITY';
  readonly metrics?: { readonly pixelBytes?: number };
  readonly judgment?: Judgment;
  readonly screenshot?: string;
  readonly cache?: StepCacheInfo;
  /** Engine calls that ignored their abort: they may still be running. */
  readonly abandoned?: readonly string[];
}

/** What a step tells while it runs. */
export type StepProgress =
  | { readonly what: 'observed'; readonly nodes: number; readonly bytes: number }
  | {
      readonly what: 'model-call';
      readonly call: number;
      readonly inputTokens?: number;
      readonly outputTokens?: number;
    }
  | { readonly what: 'action'; readonly action: ActionRecord }
  | { readonly what: 'judgment'; readonly judgment: Judgment }
  | { readonly what: 'waiting'; readonly elapsedMs: number; readonly changed: boolean }
  /** An earlier step left these engine calls running; this one waits for them first. */
  | { readonly what: 'waiting-for-engine'; readonly operations: readonly string[] };

export type StepEvent =
  | {
      readonly type: 'step';
      readonly phase: 'opened';
      readonly stepId: string;
      readonly index: number;
      readonly kind: StepKind;
      readonly instruction: string;
      readonly agent: string;
    }
  | {
      readonly type: 'step';
      readonly phase: 'progress';
      readonly stepId: string;
      readonly progress: StepProgress;
    }
  | {
      readonly type: 'step';
      readonly phase: 'closed';
      readonly stepId: string;
      readonly record: StepRecord;
    };
