// What a session lends to its attempts. Types only: it keeps session and attempt from importing
// each other.
import type { AgentEntry, Redactor } from '../agent/scope.ts';
import type { UsageTotals } from '../agent/usage.ts';
import type { EngineHandle } from '../contract/engine.ts';
import type { EventHub } from './events.ts';
import type { ResolvedOptions } from './options.ts';
import type { Vault } from './secrets.ts';

export interface SessionCore {
  readonly options: ResolvedOptions;
  readonly engine: EngineHandle;
  readonly targetName: string;
  readonly agents: ReadonlyMap<string, AgentEntry>;
  readonly hub: EventHub;
  /** One for the whole session: a value met in one attempt stays masked in the next. */
  readonly redactor: Redactor;
  readonly vault: Vault;
  addUsage(usage: UsageTotals): void;
  /** The engine may be broken: it is initialised anew before the next attempt. */
  suspect(): void;
}
