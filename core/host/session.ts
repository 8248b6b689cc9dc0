// openSession: a host's hold on one engine, one run with one worker. Whatever was begun is ended on
// every way out, in the reverse order; what fails while ending is told, and never hides the first
// failure. Attempts come one at a time, because there is one worker.
import { linkSignals, race } from '../base/deadline.ts';
import { isPlainObject } from '../base/json.ts';
import type { Model } from '../agent/model.ts';
import { createRedactor } from '../agent/redaction.ts';
import type { AgentEntry } from '../agent/scope.ts';
import { addUsage, NO_USAGE, type UsageTotals } from '../agent/usage.ts';
import { isEngineHandle } from '../contract/define.ts';
import type { EngineHandle } from '../contract/engine.ts';
import { runnerError } from '../contract/errors.ts';
import { rejectUnknownKeys } from '../contract/options.ts';
import type { Secret } from '../contract/secrets.ts';
import { completeAgent, isModel, type ModelOption } from './agent-options.ts';
import type { AttemptOptions } from './attempt-options.ts';
import type { AttemptContext } from './attempt-parts.ts';
import { invalid, unsupported } from './checks.ts';
import { claimEngine } from './claims.ts';
import { createEventHub } from './events.ts';
import { createEngineLife } from './lifecycle.ts';
import {
  resolveOptions,
  type EngineRegistry,
  type ResolvedOptions,
  type SessionOptions,
} from './options.ts';
import { createVault, type Credential, type EnvironmentReader } from './secrets.ts';
import type { SessionCore } from './session-core.ts';
import { createSlot, type Held } from './slot.ts';

/** An attempt that is held open instead of being run by a function. Disposing it ends it as passed. */
export interface Attempt extends AttemptContext, AsyncDisposable {
  /**
   * Ends the attempt, once. With an `error` it failed; without one (or with `undefined`) a cleanup
   * failure, a deadline that passed or a lost engine is the rejection. `INVALID_ARGUMENT` for
   * anything else than `{ error }`: the error itself, say.
   */
  end(outcome?: { readonly error?: unknown }): Promise<void>;
}

export interface Session extends AsyncDisposable {
  readonly runId: string;
  readonly targetName: string;
  readonly engine: EngineHandle;
  readonly credentials: { user(name: string): Credential };
  readonly secrets: { get(name: string): Secret };
  /** What models used, over all attempts so far. */
  readonly usage: UsageTotals;
  /** What the host itself had to say, also once the event sink was dropped. */
  readonly notices: readonly string[];
  /**
   * Runs `fn` as one attempt and answers what it returns. Rejects with fn's own error, unchanged;
   * with `TEST_TIMEOUT`; with the reason of an abort; with `ENGINE_FAILURE` when the engine is lost;
   * or, when fn passed, with the cleanup failure (several: an AggregateError).
   */
  attempt<T>(
    fn: (context: AttemptContext) => T | PromiseLike<T>,
    options?: AttemptOptions,
  ): Promise<T>;
  /** Starts an attempt for a harness whose tests are no function of ours; it is to be ended. */
  startAttempt(options?: AttemptOptions): Promise<Attempt>;
  /**
   * Aborts an attempt that starts or runs (it rejects with `CANCELLED`) and waits for its end, then
   * dispose and finish. Rejects with what failed there. Every call answers the same promise.
   */
  close(): Promise<void>;
}

const CLEANUP_FAILED = 'Cleaning up after the attempt failed';

/** What the package's door lends to a session. */
export interface SessionSurroundings {
  readonly readEnv: EnvironmentReader;
  /** Used when `options.registry` is absent, and only for a name. */
  readonly registry: EngineRegistry;
}

export async function openSessionIn(
  surroundings: SessionSurroundings,
  given: SessionOptions,
): Promise<Session> {
  const options = resolveOptions(given);
  options.signal?.throwIfAborted();
  const registry = options.registry ?? surroundings.registry;
  const wanted = await waitFor(options, resolveEngine(options, registry));
  const agents = await waitFor(options, resolveAgents(options, registry));
  if (options.video !== 'off' && wanted.artifacts?.startVideo === undefined) {
    throw unsupported('video', `needs an engine that records; ${wanted.name} does not.`);
  }
  const redactor = createRedactor();
  const vault = createVault({
    credentials: options.credentials,
    secrets: options.secrets,
    engineSecrets: wanted.secrets ?? [],
    readEnv: surroundings.readEnv,
    redactor,
  });
  const { engine, release } = claimEngine(wanted);
  const hub = createEventHub({ clock: options.clock, redactor, sink: options.onEvent });
  const targetName = options.targetName ?? engine.name;
  const life = createEngineLife({ engine, targetName, options, hub, redactor });
  const ending = linkSignals([options.signal]);
  let usage = NO_USAGE;
  const core: SessionCore = {
    options,
    engine,
    life,
    agents,
    hub,
    redactor,
    vault,
    signal: ending.signal,
    takenDirs: new Set(),
    addUsage(more) {
      usage = addUsage(usage, more);
    },
  };
  const slot = createSlot(core);
  hub.emit({
    type: 'session-started',
    runId: options.runId,
    target: targetName,
    engine: {
      name: engine.name,
      version: engine.version,
      ...(engine.platform === undefined ? {} : { platform: engine.platform }),
    },
    capabilities: [...engine.capabilities],
  });

  const finish = async (): Promise<readonly unknown[]> => {
    const failures = await life.end();
    release();
    ending.release();
    hub.emit({ type: 'session-finished', runId: options.runId, attempts: slot.attempts, usage });
    hub.close();
    return failures;
  };
  try {
    await life.start(options.signal);
  } catch (error) {
    hub.error('open', error);
    await finish();
    throw error;
  }

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    ending.abort(runnerError('CANCELLED', 'The session was closed while the attempt ran.'));
    await slot.shut();
    throwFailures(await finish(), 'Closing the session failed');
  };

  const session: Session = {
    runId: options.runId,
    targetName,
    engine,
    credentials: Object.freeze({ user: (name: string) => vault.user(name) }),
    secrets: Object.freeze({ get: (name: string) => vault.get(name) }),
    get usage() {
      return usage;
    },
    notices: hub.notices,
    async attempt(fn, attemptOptions = {}) {
      if (typeof fn !== 'function') {
        throw runnerError(
          'INVALID_ARGUMENT',
          'session.attempt takes the test as a function, and its options after it.',
        );
      }
      const held = await slot.begin(attemptOptions);
      const { context, failed } = held.running;
      let value: Awaited<ReturnType<typeof fn>>;
      try {
        failed.throwIfAborted();
        value = await race((async () => await fn(context))(), failed);
        // It passed in the same turn in which the attempt failed.
        failed.throwIfAborted();
      } catch (error) {
        await held.end({ passed: false, error });
        throw error;
      }
      throwFailures(await held.end({ passed: true }), CLEANUP_FAILED);
      return value;
    },
    async startAttempt(attemptOptions = {}) {
      return toAttempt(await slot.begin(attemptOptions));
    },
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => session.close(),
  };
  return Object.freeze(session);
}

async function resolveEngine(
  { engine }: ResolvedOptions,
  registry: EngineRegistry,
): Promise<EngineHandle> {
  if (isEngineHandle(engine)) return engine;
  const made: unknown = await registry.engine(engine.name, engine.options);
  if (isEngineHandle(made)) return made;
  throw invalid('target.engine', `names ${JSON.stringify(engine.name)}, which gave no engine.`);
}

async function resolveAgents(
  options: ResolvedOptions,
  registry: EngineRegistry,
): Promise<ReadonlyMap<string, AgentEntry>> {
  const resolveModel = async (
    option: ModelOption | undefined,
    path: string,
  ): Promise<Model | undefined> => {
    if (option === undefined || isModel(option)) return option;
    const { name, options: given } = typeof option === 'string' ? { name: option } : option;
    const made: unknown = await registry.model(name, given);
    if (isModel(made)) return made;
    throw invalid(path, `names ${JSON.stringify(name)}, which gave no model.`);
  };
  const agents = new Map<string, AgentEntry>();
  for (const agent of options.agents) {
    const model = await resolveModel(agent.model, `${agent.path}.model`);
    const judge = await resolveModel(agent.judge, `${agent.path}.judge`);
    agents.set(agent.entry.name, completeAgent(agent, { model, judge }));
  }
  return agents;
}

/** A held attempt as an object: the context with its ends. */
function toAttempt({ running, end }: Held): Attempt {
  let ended: Promise<void> | undefined;
  const finish = async (error: unknown): Promise<void> => {
    const { failed } = running;
    if (error !== undefined) {
      await end({ passed: false, error });
    } else if (failed.aborted) {
      await end({ passed: false, error: failed.reason });
      throw failed.reason as Error;
    } else {
      throwFailures(await end({ passed: true }), CLEANUP_FAILED);
    }
  };
  const ends: Pick<Attempt, 'end' | typeof Symbol.asyncDispose> = {
    async end(outcome = {}) {
      // A failure passed in another way would end the attempt as passed.
      if (!isPlainObject(outcome)) {
        throw runnerError(
          'INVALID_ARGUMENT',
          'attempt.end takes { error } for a test that failed, and nothing for one that passed.',
        );
      }
      rejectUnknownKeys('attempt.end', outcome, ['error'], 'INVALID_ARGUMENT');
      await (ended ??= finish(outcome['error']));
    },
    async [Symbol.asyncDispose]() {
      // Whoever ended it was told what failed.
      await (ended === undefined ? ends.end() : ended.catch(() => undefined));
    },
  };
  // Descriptors, because reading `agent` may throw.
  const members = Object.getOwnPropertyDescriptors({ ...ends });
  return Object.freeze(
    Object.defineProperties(
      {},
      { ...Object.getOwnPropertyDescriptors(running.context), ...members },
    ),
  ) as Attempt;
}

function throwFailures(failures: readonly unknown[], message: string): void {
  if (failures.length === 0) return;
  if (failures.length === 1) throw failures[0] as Error;
  throw new AggregateError(failures, `${message} in ${failures.length} places.`);
}

/** Waits for work that has no signal of its own, no longer than the harness wants it. */
function waitFor<T>({ signal }: ResolvedOptions, work: Promise<T>): Promise<T> {
  return signal === undefined ? work : race(work, signal);
}
