// An engine's life in one session: prepare, init, dispose, finish, in that order and each owed its
// counterpart. The state lives here, so that a session may fail anywhere and still only asks to
// "end": dispose follows an init that was called, finish a prepare that was called.
import type { Redactor } from '../agent/scope.ts';
import { isPlainObject } from '../base/json.ts';
import { sanitizeLine } from '../base/text.ts';
import type { EngineEnvironment, EngineHandle } from '../contract/engine.ts';
import { runnerError } from '../contract/errors.ts';
import { isThenable } from './checks.ts';
import { readHookError } from './errors.ts';
import type { EventHub } from './events.ts';
import { callHook } from './hook.ts';
import type { ResolvedOptions } from './options.ts';

export interface EngineLife {
  /** validateApp, prepare and init. */
  start(signal: AbortSignal | undefined): Promise<void>;
  /** Disposes what is left of the engine and initialises it once more. */
  restart(signal: AbortSignal | undefined): Promise<void>;
  /** Whether the engine stands initialised, is not lost and not in doubt. */
  readonly up: boolean;
  /** The engine may be broken: it is to be initialised anew before its next attempt. */
  doubt(): void;
  /** dispose and finish, as far as they are owed; answers what failed. */
  end(): Promise<readonly unknown[]>;
}

export interface EngineLifeOptions {
  readonly engine: EngineHandle;
  readonly targetName: string;
  readonly options: ResolvedOptions;
  readonly hub: EventHub;
  readonly redactor: Redactor;
}

/** Longest line of an engine's log, in UTF-16 units. */
const LOG_LINE_LIMIT = 8192;

export function createEngineLife(parts: EngineLifeOptions): EngineLife {
  const { engine, targetName, options, hub, redactor } = parts;
  const { clock, runId, projectRoot, app } = options;
  const subject = (hook: string): string => `Engine ${JSON.stringify(engine.name)}: ${hook}`;
  const launch = { ms: options.launchTimeout, code: 'LAUNCH_TIMEOUT' } as const;
  const cleanup = { ms: options.cleanupTimeout, code: 'CLEANUP_TIMEOUT' } as const;
  let env: EngineEnvironment = options.env;
  let finishOwed = false;
  let disposeOwed = false;
  let up = false;
  let stopWatching: (() => void) | undefined;

  const log = (line: string): void => {
    const text = sanitizeLine(String(line), LOG_LINE_LIMIT);
    hub.emit({ type: 'notice', source: 'engine', level: 'info', text });
  };

  const validateApp = (): void => {
    if (engine.validateApp === undefined) return;
    let answer: unknown;
    try {
      answer = engine.validateApp(app.declaration, { targetName });
    } catch (error) {
      throw readHookError(error, subject('validateApp'), redactor);
    }
    if (answer !== undefined) {
      // A promise would be a check whose failure nobody waits for.
      if (isThenable(answer)) answer.then(undefined, () => undefined);
      throw runnerError(
        'ENGINE_FAILURE',
        `${subject('validateApp')} must be synchronous and return nothing.`,
      );
    }
  };

  const prepare = async (parent: AbortSignal | undefined): Promise<void> => {
    finishOwed = true;
    const result = await callHook({
      subject: subject('prepare'),
      clock,
      redactor,
      parent,
      body: ({ signal }) =>
        engine.prepare?.({
          runId,
          targetName,
          projectRoot,
          app: app.info,
          slots: 1,
          env,
          signal,
          log,
        }),
    });
    if (!isEnvironment(result?.env ?? {})) {
      throw runnerError(
        'ENGINE_FAILURE',
        `${subject('prepare')} answered an env that is no object of strings.`,
      );
    }
    const workers = result?.workers;
    if (workers !== undefined && workers !== 1) {
      throw runnerError(
        'ENGINE_FAILURE',
        `${subject('prepare')} answered ${String(workers)} workers for 1 slot.`,
      );
    }
    env = Object.freeze({ ...env, ...result?.env });
  };

  const init = async (parent: AbortSignal | undefined): Promise<void> => {
    disposeOwed = true;
    await callHook({
      subject: subject('init'),
      clock,
      redactor,
      limit: launch,
      parent,
      body: ({ signal }) =>
        engine.init?.({
          runId,
          targetName,
          projectRoot,
          app: app.info,
          env,
          headed: options.headed,
          workerSlot: options.workerSlot,
          signal,
          log,
        }),
    });
    up = true;
    // Also between two attempts: the next one must not be the one that finds out.
    stopWatching = engine.onLost?.((error) => {
      up = false;
      hub.error('connection', error);
    });
  };

  /** Runs one cleanup hook; its failure is an event and is answered, never thrown. */
  const attempt = async (
    hook: string,
    body: (context: { signal: AbortSignal; timeoutMs: number }) => unknown,
  ): Promise<readonly unknown[]> => {
    try {
      await callHook({ subject: subject(hook), clock, redactor, limit: cleanup, body });
      return [];
    } catch (error) {
      hub.error(hook, error);
      return [error];
    }
  };

  const dispose = async (): Promise<readonly unknown[]> => {
    if (!disposeOwed) return [];
    disposeOwed = false;
    up = false;
    stopWatching?.();
    return attempt('dispose', (context) => engine.dispose?.(context));
  };

  return {
    async start(signal) {
      validateApp();
      await prepare(signal);
      await init(signal);
    },
    async restart(signal) {
      await dispose();
      await init(signal);
    },
    get up() {
      return up;
    },
    doubt() {
      up = false;
    },
    async end() {
      const failures = [...(await dispose())];
      if (finishOwed) {
        finishOwed = false;
        failures.push(
          ...(await attempt('finish', (context) =>
            engine.finish?.({ ...context, runId, targetName, env, log }),
          )),
        );
      }
      return failures;
    },
  };
}

function isEnvironment(value: unknown): value is EngineEnvironment {
  const fits = (setting: unknown): boolean => setting === undefined || typeof setting === 'string';
  return isPlainObject(value) && Object.values(value).every(fits);
}
