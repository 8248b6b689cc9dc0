// The attempt as the agent sees it: the host's side of core/agent/scope.ts.
import { randomUUID } from 'node:crypto';
import type { Deadline } from '../base/deadline.ts';
import type { Driver } from '../agent/driver.ts';
import type { StepRecord } from '../agent/records.ts';
import type { AttemptScope, LedgerEntry, ReportLog } from '../agent/scope.ts';
import { addUsage, NO_USAGE, type UsageTotals } from '../agent/usage.ts';
import type { ResolvedAttempt } from './attempt-options.ts';
import type { AttemptCalls } from './calls.ts';
import type { Pictures } from './evidence.ts';
import type { SessionCore } from './session-core.ts';

/** What an attempt has left behind so far: plain data, free of secrets; grows while it runs. */
export interface AttemptRecord {
  readonly attemptId: string;
  readonly title: string;
  readonly retry: number;
  /** Closed steps, oldest first. */
  readonly steps: readonly StepRecord[];
  readonly usage: UsageTotals;
  /** What the engine reported of its surroundings. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Whether pixels may still leave the harness. */
export interface Taint {
  value: boolean;
}

export interface AttemptScopeOptions {
  readonly core: SessionCore;
  readonly attempt: ResolvedAttempt;
  readonly deadline: Deadline;
  readonly driver: Driver;
  readonly calls: AttemptCalls;
  readonly pictures: Pictures;
  readonly reports: ReportLog;
  readonly environment: Readonly<Record<string, string>>;
  readonly taint: Taint;
}

export function createAttemptScope(options: AttemptScopeOptions): {
  readonly scope: AttemptScope;
  readonly record: AttemptRecord;
} {
  const { core, attempt, taint } = options;
  const { timeout, actionTimeout, cleanupTimeout } = core.options;
  const steps: StepRecord[] = [];
  const ledger: LedgerEntry[] = [];
  let usage = NO_USAGE;
  let stepIndex = 0;

  const scope: AttemptScope = {
    clock: core.options.clock,
    runId: core.options.runId,
    attemptId: attempt.id,
    retry: attempt.retry,
    projectRoot: core.options.projectRoot,
    agentName: attempt.agentName,
    agents: core.agents,
    limits: { timeout, actionTimeout, cleanupTimeout },
    deadline: options.deadline,
    driver: options.driver,
    allowedOrigins: core.options.allowedOrigins,
    redactor: core.redactor,
    secrets: core.vault,
    reports: options.reports,
    get tainted() {
      return taint.value;
    },
    taint() {
      taint.value = true;
    },
    ledger,
    addToLedger(entry) {
      ledger.push(entry);
    },
    nextStepIndex: () => (stepIndex += 1),
    newId: () => randomUUID(),
    exclusive: (body) => options.calls.exclusive('a call of the agent', body),
    emit(event) {
      if (event.phase === 'closed') {
        steps.push(event.record);
        usage = addUsage(usage, event.record.usage);
        core.addUsage(event.record.usage);
      }
      core.hub.emit({ ...event, attemptId: attempt.id });
    },
    evidence: (label, signal) => options.pictures.proof({ label, signal, origin: 'agent' }),
  };
  const record: AttemptRecord = {
    attemptId: attempt.id,
    title: attempt.title,
    retry: attempt.retry,
    steps,
    get usage() {
      return usage;
    },
    environment: options.environment,
  };
  return { scope, record };
}
