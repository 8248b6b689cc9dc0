// What an attempt consists of once its engine is ready, put together: deadline, driver, calls, the
// agent's scope, and the object that the test gets.
import { checkShape } from '../base/shape.ts';
import type { Deadline } from '../base/deadline.ts';
import { createDriver, type Driver } from '../agent/driver.ts';
import { createAgent, type Agent } from '../agent/index.ts';
import type { AttemptScope } from '../agent/scope.ts';
import { EngineError, runnerError } from '../contract/errors.ts';
import { ENGINE_STATE_SHAPE } from '../contract/guards.ts';
import type { EngineState } from '../contract/observation.ts';
import { createAttemptApp, type AttemptApp } from './app.ts';
import type { AttemptLife } from './attempt-life.ts';
import type { ResolvedAttempt } from './attempt-options.ts';
import { createAttemptScope, type AttemptRecord, type Taint } from './attempt-scope.ts';
import { createAttemptCalls, type AttemptCalls } from './calls.ts';
import { unknownName } from './checks.ts';
import { createPictures, type AttemptArtifacts } from './evidence.ts';
import { createAttemptFixtures, type AttemptFixtures } from './fixtures.ts';
import { guardDriver } from './guarded-driver.ts';
import { createDeterministicTier, type DeterministicTier } from './locate.ts';
import type { AttemptReports } from './reports.ts';
import { tooShort } from './secrets.ts';
import type { SessionCore } from './session-core.ts';

/** What a test gets. Calls run one at a time; after the attempt's end they reject: `CANCELLED`. */
export interface AttemptContext extends DeterministicTier {
  /** The four calls. Reading it throws `MODEL_UNAVAILABLE` when the agent has no model. */
  readonly agent: Agent;
  readonly app: AttemptApp;
  /** The sign-in as it is now, for the `state` option of another attempt. */
  captureState(): Promise<EngineState>;
  /** What the engine contributes, each made when it is first read. */
  readonly fixtures: Readonly<Record<string, unknown>>;
  /** Aborts with the attempt: at its deadline, its end, or the harness's abort. */
  readonly signal: AbortSignal;
  readonly record: AttemptRecord;
}

export interface AttemptParts {
  readonly context: AttemptContext;
  readonly record: AttemptRecord;
  readonly deadline: Deadline;
  readonly driver: Driver;
  readonly calls: AttemptCalls;
  readonly fixtures: AttemptFixtures;
}

export interface AttemptPartsOptions {
  readonly core: SessionCore;
  readonly attempt: ResolvedAttempt;
  readonly life: AttemptLife;
  readonly artifacts: AttemptArtifacts;
  readonly reports: AttemptReports;
  readonly note: (text: string) => void;
}

export function createAttemptParts(options: AttemptPartsOptions): AttemptParts {
  const { core, attempt, life, artifacts, reports, note } = options;
  const { engine, redactor } = core;
  const { clock, runId, actionTimeout, cleanupTimeout, app } = core.options;
  const taint: Taint = { value: false };

  const deadline = life.startDeadline(() => calls.running);
  const driver = guardDriver({
    driver: createDriver({ engine, clock, runId, attemptId: attempt.id }),
    engine,
    onEngineFailure: () => {
      core.life.doubt();
    },
  });
  const calls = createAttemptCalls({
    clock,
    redactor,
    driver,
    deadline,
    actionTimeout,
    cleanupTimeout,
  });
  const pictures = createPictures({
    driver,
    artifacts,
    redactor,
    actionTimeout,
    tainted: () => taint.value,
    note,
  });
  const { scope, record } = createAttemptScope({
    core,
    attempt,
    deadline,
    driver,
    calls,
    pictures,
    reports: reports.log,
    environment: reports.environment,
    taint,
  });
  const fixtures = createAttemptFixtures({
    factories: engine.fixtures ?? {},
    attemptId: attempt.id,
    signal: life.signal,
    refuseAfterEnd: () => {
      calls.refuseAfterEnd();
    },
  });
  const tier = createDeterministicTier({
    calls,
    driver,
    clock,
    redactor,
    actionTimeout,
    onSensitive(value) {
      taint.value = true;
      if (!tooShort(value)) redactor.add('sensitive', value);
    },
  });
  let agent: Agent | undefined;

  const context: AttemptContext = Object.freeze({
    get agent() {
      return (agent ??= agentOf(scope));
    },
    app: createAttemptApp({
      app,
      calls,
      driver,
      actionTimeout,
      picture: (label, signal) => pictures.take({ label, signal, origin: 'test' }),
    }),
    locate: tier.locate,
    perform: tier.perform,
    keyboard: tier.keyboard,
    captureState: () =>
      calls.run({
        subject: 'captureState',
        timeoutMs: actionTimeout,
        body: async (turn) => {
          if (engine.state === undefined) {
            throw new EngineError('UNSUPPORTED_CAPABILITY', `${engine.name} has no state.`);
          }
          const { signal, timeoutMs, origin } = turn.budget();
          const attemptId = attempt.id;
          const state = await engine.state.capture({ signal, timeoutMs, runId, attemptId, origin });
          // Its contents never appear in an error: not even the path of what is wrong in it.
          if (checkShape(ENGINE_STATE_SHAPE, state, 'state') !== undefined) {
            throw new EngineError('ENGINE_FAILURE', `${engine.name} answered a malformed state.`);
          }
          return state;
        },
      }),
    fixtures: fixtures.values,
    signal: deadline.signal,
    record,
  });
  return { context, record, deadline, driver, calls, fixtures };
}

function agentOf(scope: AttemptScope): Agent {
  const entry = scope.agents.get(scope.agentName);
  if (entry === undefined) {
    throw runnerError(
      'MODEL_UNAVAILABLE',
      scope.agents.size === 0
        ? 'No agent is configured: give the session one, as in agents: { default: { model } }.'
        : `Agent ${unknownName(scope.agentName, 'agent', scope.agents.keys())}`,
    );
  }
  if (entry.model === undefined) {
    throw runnerError(
      'MODEL_UNAVAILABLE',
      `Agent ${JSON.stringify(entry.name)} has no model: give it one under "agents.${entry.name}.model".`,
    );
  }
  return createAgent(scope);
}
