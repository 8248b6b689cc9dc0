// What the conformance check is made of: rules as data, what came of each, and how long it waits. A
// rule either returns, throws a `CheckFailure` that says what was seen, or a `NotApplicable`.
import type { LocatorActionKind, PointerActionKind } from '../../core/contract.ts';
import type { EngineManifest, EngineMethod } from '../../core/protocol/index.ts';
import type { EngineProbes, ProbeName } from './probes.ts';
import type { RuleContext } from './context.ts';

/** What a server got wrong, as a rule reports it. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
}

/** Why a rule says nothing about this server. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}

/** Fails the rule unless the condition holds. */
export function expect(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new CheckFailure(problem);
}

/**
 * What no single exchange shows, so that it is watched for on every connection of the check:
 * `packet` and `length`, bytes; `message`, JSON-RPC; `answer`, one answer per id; `null`, absent
 * members; `error`, the shape of errors; `retryable`, claims; `late`, reports after the attempt.
 */
export type OffenceKind =
  | 'packet'
  | 'length'
  | 'message'
  | 'answer'
  | 'null'
  | 'error'
  | 'retryable'
  | 'late';

export interface CheckNeeds {
  /** The manifest lists these. */
  readonly methods?: readonly EngineMethod[];
  readonly actions?: readonly LocatorActionKind[];
  readonly pointerActions?: readonly PointerActionKind[];
  /** The author gave these. */
  readonly probes?: readonly ProbeName[];
  /** Only where what the app remembers may be lost. */
  readonly destructive?: true;
}

export interface CheckRule {
  /** `group/name`, stable. */
  readonly id: string;
  /** What holds, as a sentence. */
  readonly title: string;
  /** Where it is written. */
  readonly spec: string;
  readonly needs?: CheckNeeds;
  /** Fails too when this was seen in any other rule. */
  readonly watch?: OffenceKind;
  run(context: RuleContext): Promise<void>;
}

export type CheckStatus = 'passed' | 'failed' | 'not-applicable';

export interface CheckOutcome {
  readonly id: string;
  readonly title: string;
  readonly spec: string;
  readonly status: CheckStatus;
  /** Why it is not applicable, or what was wrong. */
  readonly reason?: string;
  /** Of a failed rule: the last that was sent (`-> ...`) and received (`<- ...`), oldest first. */
  readonly exchange?: readonly string[];
}

export interface CheckReport {
  /** The transport's label. */
  readonly server: string;
  /** As the server announced it; absent when it did not. */
  readonly manifest?: EngineManifest;
  /** No rule failed. */
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  readonly rules: readonly CheckOutcome[];
}

/** How long the check waits, ms. */
export interface CheckLimits {
  readonly timeoutMs: number;
  readonly launchTimeoutMs: number;
  readonly abortTimeoutMs: number;
  readonly quietMs: number;
}

/** What every rule of one check shares. */
export interface CheckSetting {
  /** Absent when `initialize` did not bring one. */
  readonly manifest?: EngineManifest;
  readonly probes: EngineProbes;
  readonly destructive: boolean;
  readonly limits: CheckLimits;
}
