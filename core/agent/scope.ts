// What an attempt lends to a step. The host implements it; the agent only reads it. Keeping the
// border in one file is what lets the agent know nothing of sessions, files or environment.
import type { Clock } from '../base/clock.ts';
import type { Deadline } from '../base/deadline.ts';
import type { AppLogEntry } from '../contract/engine.ts';
import type { Secret } from '../contract/secrets.ts';
import type { Driver } from './driver.ts';
import type { Model } from './model.ts';
import type { StepEvent, StepKind, StepStatus } from './records.ts';

export type VisionMode = boolean | 'only';

/** US dollars per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
}

/** One named agent, with every default filled in by the host. */
export interface AgentEntry {
  readonly name: string;
  readonly model?: Model;
  readonly judge?: Model;
  readonly system?: string;
  readonly context?: string;
  readonly vision: VisionMode;
  readonly maxSteps: number;
  readonly maxModelCalls: number;
  readonly maxObservationBytes: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly prices?: ModelPrices;
}

/** Masks secret values in everything that leaves the harness. */
export interface Redactor {
  /** Masks every known value in `text`, in every form that contract.md section 8 lists. */
  text(text: string): string;
  /** The same over every string (keys too) of a plain JSON value; answers a new value. */
  value<T>(value: T): T;
  /** Text that was cut at a limit: also masks a value's beginning at its end. */
  cutText(text: string): string;
  /** Joins a value to the attempt's redaction, before it is used. */
  add(name: string, value: string): void;
  readonly size: number;
}

/** One thing the engine reported outside an answer: a navigation, an app log line. */
export type EngineReport =
  | { readonly kind: 'navigation'; readonly line: string }
  | { readonly kind: 'appLog'; readonly entry: AppLogEntry };

/** What the engine reported during the attempt, in order; reading does not consume. */
export interface ReportLog {
  /** A position; `since(mark)` answers what came after it. */
  mark(): number;
  since(mark: number): readonly EngineReport[];
}

/** A completed step, as later steps of the attempt are told of it. */
export interface LedgerEntry {
  readonly index: number;
  readonly kind: StepKind;
  readonly instruction: string;
  readonly status: StepStatus;
  readonly summary: string;
}

/** Resolves handles to values; authorisation is the caller's. */
export interface SecretSource {
  /** Rejects with `SECRET_UNAVAILABLE` or `AUTH_CREDENTIAL_UNAVAILABLE`; joins redaction first. */
  resolve(secret: Secret, signal: AbortSignal): Promise<string>;
  has(name: string): boolean;
  /** Where a credential may be filled; `undefined`: wherever the target allows. */
  allowedOrigins?(name: string): readonly string[] | undefined;
}

export interface AttemptLimits {
  /** Default of `act`, ms. */
  readonly timeout: number;
  /** One engine operation, ms. */
  readonly actionTimeout: number;
  readonly cleanupTimeout: number;
}

export interface AttemptScope {
  readonly clock: Clock;
  readonly runId: string;
  readonly attemptId: string;
  /** 0 for the first try. */
  readonly retry: number;
  readonly projectRoot: string;
  /** The agent that a call uses when it names none. */
  readonly agentName: string;
  readonly agents: ReadonlyMap<string, AgentEntry>;
  readonly limits: AttemptLimits;
  /** The attempt's own deadline; its signal also carries the host's abort. */
  readonly deadline: Deadline;
  readonly driver: Driver;
  readonly allowedOrigins: readonly string[];
  readonly redactor: Redactor;
  readonly secrets: SecretSource;
  readonly reports: ReportLog;
  /** True once a secret was filled: no pixels leave the harness any more. */
  readonly tainted: boolean;
  taint(): void;
  /** Completed steps, oldest first. */
  readonly ledger: readonly LedgerEntry[];
  addToLedger(entry: LedgerEntry): void;
  /** From 1. */
  nextStepIndex(): number;
  newId(): string;
  /** Runs calls one after the other; throws `CANCELLED` once the attempt has ended. */
  exclusive<T>(body: () => Promise<T>): Promise<T>;
  emit(event: StepEvent): void;
  /** Captures evidence through the engine; `undefined` (with a note) when it cannot be had. */
  evidence(label: string, signal: AbortSignal): Promise<string | undefined>;
}
