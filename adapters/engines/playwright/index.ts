// The Playwright engine: web pages in a real Chromium, behind the engine contract. Playwright brings
// the browser, real input and everything that happens around a page; what is seen on a page, and
// whether a target can be acted on, is said by the code of ../document that runs in the page. One
// browser lives from init to dispose, one context with its pages per attempt.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ConfigurationError,
  defineEngine,
  EngineError,
  isEngineError,
  LOCATOR_ACTION_KINDS,
  POINTER_ACTION_KINDS,
  race,
  type EngineHandle,
  type JsonValue,
  type OperationContext,
  type PermissionSetting,
} from '../../../core/contract.ts';
import { ask } from './in-page.ts';
import { launch, type RunningBrowser } from './launch.ts';
import { locate, observe, picture, ROOT_ID, type Look } from './look.ts';
import { isClosed, Operations, type Operation } from './operation.ts';
import { readOptions, type PlaywrightOptions } from './options.ts';
import { performAction, pressKey } from './perform.ts';
import { performAtPoint } from './pointer.ts';
import { Surface, type StorageState } from './surface.ts';

export { checkPeer } from './launch.ts';
export type { PlaywrightOptions } from './options.ts';

const VERSION = '1.0.0';
const STATE_FORMAT = 'playwright-storage';
const STATE_VERSION = 1;

/**
 * Makes the engine. Nothing is loaded or started before `init`. Throws `INVALID_CONFIG` for an
 * option that is unknown or malformed; `init` throws it when playwright-core or a browser is missing.
 */
export function playwright(options: PlaywrightOptions = {}): EngineHandle {
  const settings = readOptions(options);
  const operations = new Operations();
  let running: RunningBrowser | undefined;
  let permissions: Readonly<Record<string, PermissionSetting>> = {};
  let surface: Surface | undefined;
  let lost: EngineError | undefined;
  let pictures = 0;

  const theSurface = (): Surface => {
    if (lost !== undefined) throw lost;
    if (running === undefined) {
      throw new EngineError('INVALID_STATE', 'The browser is not started: init comes first.');
    }
    if (surface === undefined) {
      throw new EngineError('INVALID_STATE', 'No attempt is running: startAttempt comes first.');
    }
    return surface;
  };
  const run = <T>(
    name: string,
    context: OperationContext,
    body: (operation: Operation, on: Surface) => Promise<T>,
  ): Promise<T> =>
    operations.run(name, context, async (operation) => {
      const on = theSurface();
      try {
        return await body(operation, on);
      } catch (error) {
        throw lost !== undefined && isClosed(error) ? lost : error;
      }
    });
  const lookOf = (operation: Operation, on: Surface): Look => ({
    operation,
    settings,
    page: () => on.shown(),
  });
  /** Runs one change of the page, and shows the result to whoever keeps a trace. */
  const change = (
    name: string,
    context: OperationContext,
    body: (operation: Operation, on: Surface) => Promise<void>,
  ): Promise<void> =>
    run(name, context, async (operation, on) => {
      await body(operation, on);
      if (!on.attempt.screens) return;
      try {
        on.attempt.screen(await observe(lookOf(operation, on), {}));
      } catch (error) {
        // The action is done: a picture for the trace that fails does not undo it.
        if (operation.signal.aborted || lost !== undefined) throw error;
      }
    });

  return defineEngine({
    name: 'playwright',
    version: VERSION,
    spiVersion: 1,
    platform: 'web',
    actions: LOCATOR_ACTION_KINDS,
    pointerActions: POINTER_ACTION_KINDS,
    tapModifiers: true,

    validateApp(app, { targetName }) {
      for (const key of ['bundleId', 'appPath'] as const) {
        if (app[key] === undefined) continue;
        throw new ConfigurationError(
          'INVALID_CONFIG',
          `Target ${JSON.stringify(targetName)}: the playwright engine opens web pages and has no use for app.${key}; give app.url.`,
        );
      }
    },
    async init({ app, headed, signal, log }) {
      if (running !== undefined) {
        throw new EngineError('INVALID_STATE', 'The browser is started already.');
      }
      lost = undefined;
      permissions = app.permissions ?? {};
      const started = await launch({ settings, headed, signal });
      running = started;
      started.browser.on('disconnected', () => {
        if (running !== started) return;
        lost = new EngineError(
          'ENGINE_FAILURE',
          'The browser is gone: its process ended or lost its connection.',
        );
        operations.fail(lost);
      });
      log(`${started.title} by playwright-core ${started.playwright}`);
    },
    async dispose(context) {
      const ending = running;
      running = undefined;
      surface = undefined;
      lost = undefined;
      await ending?.close(context);
    },
    async startAttempt(attempt) {
      attempt.signal.throwIfAborted();
      if (lost !== undefined) throw lost;
      if (running === undefined) {
        throw new EngineError('INVALID_STATE', 'The browser is not started: init comes first.');
      }
      const { browser, title, playwright: version } = running;
      await surface?.end();
      const next = new Surface({ browser, settings, attempt, operations, permissions });
      surface = next;
      pictures = 0;
      await race(next.start(), attempt.signal);
      const { width, height } = settings.viewport;
      attempt.environment({ browser: title, playwright: version, viewport: `${width}x${height}` });
    },
    async endAttempt(context) {
      const ending = surface;
      surface = undefined;
      if (ending !== undefined) await race(ending.end(), context.signal);
    },

    observe: (context, wanted = {}) =>
      run('observe', context, (operation, on) => observe(lookOf(operation, on), wanted)),
    locate: (expression, context) =>
      run('locate', context, (operation, on) => locate(lookOf(operation, on), expression)),
    perform: (ref, action, context) =>
      change(action.kind, context, (operation, on) =>
        performAction(
          { operation, page: on.page(), id: ref.id, isRoot: ref.id === ROOT_ID },
          action,
        ),
      ),
    performAt: (point, action, context) =>
      change(`${action.kind} at a point`, context, (operation, on) =>
        performAtPoint(operation, on.page(), point, action),
      ),
    keyboard: {
      type: (text, { replace }, context) =>
        change('type', context, async (operation, on) => {
          const page = on.page();
          await ask(operation, page.mainFrame(), 'focusedField', { selectAll: replace });
          operation.commit();
          if (replace && text === '') await operation.wait(page.keyboard.press('Delete'));
          else await operation.wait(page.keyboard.type(text));
        }),
      press: (key, context) =>
        change('press', context, (operation, on) => pressKey(operation, on.page(), key)),
    },
    session: {
      open: (url, context) => change('open', context, (operation, on) => on.open(operation, url)),
      back: (context) => change('back', context, (operation, on) => on.back(operation)),
      restart: (context) =>
        change('restart', context, (operation, on) => operation.wait(on.restart())),
      reset: (context) => change('reset', context, (operation, on) => operation.wait(on.start())),
    },
    state: {
      capture: (context) =>
        run('capture state', context, async (operation, on) => {
          const data = await operation.wait(on.context().storageState({ indexedDB: true }));
          return {
            format: STATE_FORMAT,
            version: STATE_VERSION,
            data: data as unknown as JsonValue,
          };
        }),
      restore: (state, context) =>
        run('restore state', context, async (operation, on) => {
          if (state.format !== STATE_FORMAT || state.version !== STATE_VERSION) {
            throw new ConfigurationError(
              'INVALID_CONFIG',
              `Saved state has another format or version than ${STATE_FORMAT} ${STATE_VERSION}: capture it again.`,
            );
          }
          try {
            await operation.wait(on.start(state.data as unknown as StorageState));
          } catch (error) {
            if (isEngineError(error) || isClosed(error) || operation.signal.aborted) throw error;
            // The cause may quote the state, whose contents belong in no error.
            throw new ConfigurationError(
              'INVALID_CONFIG',
              'Saved state is damaged: capture it again.',
            );
          }
        }),
    },
    artifacts: {
      screenshot: (label, context) =>
        run('screenshot', context, async (operation, on) => {
          const { pixels } = await picture(operation, on.shown());
          pictures += 1;
          const slug = (label ?? '').replace(/[^\w-]+/gu, '-').slice(0, 60);
          const path = `screenshots/page-${pictures}${slug === '' ? '' : `-${slug}`}.png`;
          const { artifactsDir } = on.attempt;
          await mkdir(join(artifactsDir, 'screenshots'), { recursive: true });
          await writeFile(join(artifactsDir, path), pixels.data, { signal: operation.signal });
          return path;
        }),
    },
  });
}
