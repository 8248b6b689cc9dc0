// What a session lends to its attempts. Types only: it keeps session and attempt from importing
// each other.
import type { AgentEntry, Redactor } from '../agent/scope.ts';
import type { UsageTotals } from '../agent/usage.ts';
import type { EngineHandle } from '../contract/engine.ts';
import type { EventHub } from './events.ts';
import type { EngineLife } from './lifecycle.ts';
import type { ResolvedOptions } from './options.ts';
import type { Vault } from './secrets.ts';

export interface SessionCore {
  readonly options: ResolvedOptions;
  readonly engine: EngineHandle;
  readonly life: EngineLife;
  readonly agents: ReadonlyMap<string, AgentEntry>;
  readonly hub: EventHub;
  /** One for the whole session: a value met in one attempt stays masked in the next. */
  readonly redactor: Redactor;
  readonly vault: Vault;
  /** Aborts with the harness's reason, or when the session is closed. */
  readonly signal: AbortSignal;
  /** Directories that attempts have had. */
  readonly takenDirs: Set<string>;
  addUsage(usage: UsageTotals): void;
}
