// A guarded handle: the one seam between everything above and an engine. It checks capabilities,
// stamps revisions, gives each operation its time limit, turns foreign throws into
// ENGINE_FAILURE, and remembers operations that ignored their abort, so that the next call can
// wait for them. It never repeats an operation: `perform` may have committed.
import type { Clock } from '../base/clock.ts';
import { createDeadline, race } from '../base/deadline.ts';
import { messageOf } from '../base/thrown.ts';
import type { LocatorAction, Point, PointerAction } from '../contract/actions.ts';
import { findCode } from '../contract/codes.ts';
import type { EngineHandle, OperationContext, OperationOrigin } from '../contract/engine.ts';
import { EngineError, isEngineError, isRunnerError } from '../contract/errors.ts';
import { validateSnapshot } from '../contract/guards.ts';
import type { LocatorExpression } from '../contract/locator.ts';
import type {
  EngineObserveOptions,
  EngineSnapshot,
  NodeRef,
  SemanticNode,
} from '../contract/observation.ts';
import { resolveExpression } from '../contract/resolve.ts';
import { stampNodes, stampSnapshot } from './stamp.ts';

/** The time and the signal that one operation gets. */
export interface OperationBudget {
  readonly signal: AbortSignal;
  /** ms; the operation is aborted when it passes. */
  readonly timeoutMs: number;
  readonly origin: OperationOrigin;
}

/** A snapshot with its refs stamped, and how long it took. */
export interface Observation {
  readonly snapshot: EngineSnapshot;
  readonly revision: string;
  /** Nodes by engine id. */
  readonly nodes: ReadonlyMap<string, SemanticNode>;
  readonly durationMs: number;
}

/**
 * Every operation rejects with an EngineError or a RunnerError, never anything else; a missing
 * member with `UNSUPPORTED_CAPABILITY`, before the engine is called. When `signal` aborts, with
 * its reason when that is such an error, else with `CANCELLED`.
 */
export interface Driver {
  readonly engine: EngineHandle;
  observe(budget: OperationBudget, options?: EngineObserveOptions): Promise<Observation>;
  /** The newest observation, if any. */
  readonly latest: Observation | undefined;
  locate(expression: LocatorExpression, budget: OperationBudget): Promise<readonly SemanticNode[]>;
  perform(ref: NodeRef, action: LocatorAction, budget: OperationBudget): Promise<void>;
  performAt(point: Point, action: PointerAction, budget: OperationBudget): Promise<void>;
  type(
    text: string,
    options: { readonly replace: boolean },
    budget: OperationBudget,
  ): Promise<void>;
  press(key: string, budget: OperationBudget): Promise<void>;
  dismissKeyboard(budget: OperationBudget): Promise<void>;
  open(url: string, budget: OperationBudget): Promise<void>;
  back(budget: OperationBudget): Promise<void>;
  restart(budget: OperationBudget): Promise<void>;
  reset(budget: OperationBudget): Promise<void>;
  screenshot(label: string | undefined, budget: OperationBudget): Promise<string>;
  /** Operations that were aborted and have not settled yet, by name. */
  readonly abandoned: readonly string[];
  /**
   * Waits for abandoned operations, at most `withinMs` or until `signal` aborts; answers whether
   * none is left.
   */
  settleAbandoned(withinMs: number, signal?: AbortSignal): Promise<boolean>;
}

export interface DriverOptions {
  readonly engine: EngineHandle;
  readonly clock: Clock;
  readonly runId: string;
  readonly attemptId: string;
}

/** Guards `engine` for one attempt. The driver lives as long as the attempt does. */
export function createDriver(options: DriverOptions): Driver {
  const { engine, clock, runId, attemptId } = options;
  const abandoned = new Map<Promise<unknown>, string>();
  let latest: Observation | undefined;
  let revisions = 0;

  const unsupported = (what: string): EngineError =>
    new EngineError('UNSUPPORTED_CAPABILITY', `Engine ${engine.name} has no ${what}.`);

  /** Runs one engine call under its budget. `body` is started at most once. */
  const run = async <T>(
    name: string,
    budget: OperationBudget,
    body: (context: OperationContext) => Promise<T>,
  ): Promise<T> => {
    if (budget.signal.aborted) throw abortError(name, budget.signal.reason);
    const timeoutMs = Math.max(0, Math.ceil(budget.timeoutMs));
    const timeUp = (): EngineError =>
      new EngineError('OPERATION_TIMEOUT', `${name}: no answer within ${timeoutMs} ms.`);
    const deadline = createDeadline({
      clock,
      ms: timeoutMs,
      parent: budget.signal,
      reason: timeUp,
    });
    try {
      if (deadline.expired) throw timeUp();
      const { signal } = deadline;
      // Wrapped, so that a function of the engine that throws at once rejects like any other.
      const work = (async () =>
        body({ signal, timeoutMs, runId, attemptId, origin: budget.origin }))();
      const settled = work.then(
        () => undefined,
        () => undefined,
      );
      const onAbort = (): void => {
        abandoned.set(settled, name);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      void settled.then(() => {
        abandoned.delete(settled);
        signal.removeEventListener('abort', onAbort);
      });
      return await race(work, signal);
    } catch (error) {
      throw deadline.signal.aborted && error === deadline.signal.reason
        ? abortError(name, error)
        : guardError(name, engine.name, error);
    } finally {
      deadline.dispose();
    }
  };

  const observe: Driver['observe'] = async (budget, observeOptions) => {
    const { observe: engineObserve } = engine;
    if (engineObserve === undefined) throw unsupported('observe');
    const startedAt = clock.now();
    const raw = await run('observe', budget, (context) => engineObserve(context, observeOptions));
    // What came over the wire was checked there; an engine in this process is checked here.
    const issue = engine.remote === true ? undefined : validateSnapshot(raw);
    if (issue !== undefined) {
      throw new EngineError(
        'ENGINE_FAILURE',
        `Engine ${engine.name}: observe answered a bad snapshot: ${issue.path} ${issue.problem}.`,
      );
    }
    revisions += 1;
    const revision = `r${revisions}`;
    const stamped = stampSnapshot(raw, revision);
    latest = { ...stamped, revision, durationMs: clock.now() - startedAt };
    return latest;
  };

  const keyboard = (member: 'type' | 'press' | 'dismiss') => {
    const found = engine.keyboard?.[member];
    if (found === undefined) throw unsupported(`keyboard.${member}`);
    return engine.keyboard;
  };
  const session = (
    member: 'open' | 'back' | 'restart' | 'reset',
    budget: OperationBudget,
    call: (context: OperationContext) => Promise<void> | undefined,
  ): Promise<void> =>
    run(`session.${member}`, budget, async (context) => {
      if (engine.session?.[member] === undefined) throw unsupported(`session.${member}`);
      await call(context);
    });

  return {
    engine,
    observe,
    get latest() {
      return latest;
    },
    async locate(expression, budget) {
      const { locate } = engine;
      if (locate !== undefined) {
        const nodes = await run('locate', budget, (context) => locate(expression, context));
        return stampNodes(nodes, latest?.revision ?? '');
      }
      const { snapshot } = await observe(budget);
      return resolveExpression(expression, [snapshot.root]);
    },
    perform: (ref, action, budget) =>
      run(`perform ${action.kind}`, budget, async (context) => {
        const { perform, actions = [] } = engine;
        if (perform === undefined || !actions.includes(action.kind)) {
          throw unsupported(`action ${action.kind}`);
        }
        if (hasModifiers(action) && engine.tapModifiers !== true) throw unsupported('tapModifiers');
        await perform(ref, action, context);
      }),
    performAt: (point, action, budget) =>
      run(`performAt ${action.kind}`, budget, async (context) => {
        const { performAt, pointerActions = [] } = engine;
        if (performAt === undefined || !pointerActions.includes(action.kind)) {
          throw unsupported(`pointer action ${action.kind}`);
        }
        await performAt(point, action, context);
      }),
    type: (text, typeOptions, budget) =>
      run('keyboard.type', budget, async (context) =>
        keyboard('type')?.type(text, typeOptions, context),
      ),
    press: (key, budget) =>
      run('keyboard.press', budget, async (context) => keyboard('press')?.press(key, context)),
    dismissKeyboard: (budget) =>
      run('keyboard.dismiss', budget, async (context) => keyboard('dismiss')?.dismiss?.(context)),
    open: (url, budget) =>
      session('open', budget, (context) => engine.session?.open?.(url, context)),
    back: (budget) => session('back', budget, (context) => engine.session?.back?.(context)),
    restart: (budget) =>
      session('restart', budget, (context) => engine.session?.restart?.(context)),
    reset: (budget) => session('reset', budget, (context) => engine.session?.reset?.(context)),
    screenshot: (label, budget) =>
      run('screenshot', budget, async (context) => {
        const { artifacts } = engine;
        if (artifacts === undefined) throw unsupported('artifacts');
        return artifacts.screenshot(label, context);
      }),
    get abandoned() {
      return [...abandoned.values()];
    },
    async settleAbandoned(withinMs, signal) {
      if (abandoned.size === 0) return true;
      const limit = createDeadline({ clock, ms: withinMs, parent: signal });
      try {
        await race(Promise.all(abandoned.keys()), limit.signal);
      } catch {
        // The limit or the signal: the answer below says what is left.
      } finally {
        limit.dispose();
      }
      return abandoned.size === 0;
    },
  };
}

function hasModifiers(action: LocatorAction): boolean {
  return 'modifiers' in action && action.modifiers !== undefined && action.modifiers.length > 0;
}

/** What an aborted operation rejects with. */
function abortError(name: string, reason: unknown): Error {
  if (isEngineError(reason) || isRunnerError(reason)) return reason;
  return new EngineError('CANCELLED', `${name}: cancelled.`, { cause: reason });
}

/** What an engine's throw becomes: ours pass, a stranger is a failure of the engine. */
function guardError(name: string, engineName: string, error: unknown): Error {
  if (isEngineError(error)) return error;
  // An address that cannot be reached is the word of `open` alone.
  const isPlausible =
    isRunnerError(error) && (error.code !== 'APP_UNREACHABLE' || name === 'session.open');
  if (isPlausible && findCode(error.code)?.owners.includes('runner') === true) return error;
  return new EngineError(
    'ENGINE_FAILURE',
    `Engine ${engineName}: ${name} failed: ${messageOf(error)}`,
    { cause: error },
  );
}
