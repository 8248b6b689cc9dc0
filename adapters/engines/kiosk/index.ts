// The kiosk: an in-memory order terminal behind the engine contract. It needs nothing but memory,
// and yet does all that a surface can: screens, lists, a form, a secure field, something slow, state,
// pictures. Demos and tests run on it; an engine author can read it as an example. Each handle is
// a kiosk of its own.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ConfigurationError,
  defineEngine,
  EngineError,
  InfrastructureError,
  resolveExpression,
  sleep,
  suggestName,
  systemClock,
  type Clock,
  type EngineAttemptContext,
  type EngineHandle,
  type EngineSnapshot,
  type OperationContext,
  type Point,
} from '../../../core/contract.ts';
import { drawPicture } from './picture.ts';
import { openSlowly, SLOW_PATH } from './probe.ts';
import { SCREEN_PATHS, type ScreenName } from './screens.ts';
import { findDish, newDraft, Shop } from './shop.ts';
import { eachLive, Surface, type Live } from './surface.ts';
import { KIOSK_ACTIONS, pressKey, touch, typeText } from './touch.ts';

const VERSION = '1.0.0';
const STATE_FORMAT = 'enginewright-kiosk';
const STATE_VERSION = 1;
const OPTION_NAMES: readonly string[] = ['preparationMs', 'latencyMs', 'clock'];

export interface KioskOptions {
  /** How long an order is prepared, ms; 0 or more. Default 3000. */
  readonly preparationMs?: number;
  /** How long each operation takes, ms; 0 or more. Default 0. */
  readonly latencyMs?: number;
  /** Time for both. Default: the process's own. */
  readonly clock?: Clock;
}

/** Makes a kiosk. Throws `INVALID_CONFIG` for an unknown option or a length that is none. */
export function kiosk(options: KioskOptions = {}): EngineHandle {
  checkOptions(options);
  const preparationMs = options.preparationMs ?? 3000;
  const latencyMs = options.latencyMs ?? 0;
  const clock = options.clock ?? systemClock;
  const now = (): number => clock.now();
  const shop = new Shop();
  let running = false;
  let attempt: EngineAttemptContext | undefined;
  let pictures = 0;
  const surface = new Surface({
    shop,
    preparationMs,
    now,
    onLocation: (location) => attempt?.navigation(location),
    onLog: (text) => attempt?.appLog({ level: 'warning', text, at: clock.iso(), source: 'kiosk' }),
  });

  const enter = async ({ signal }: OperationContext): Promise<void> => {
    signal.throwIfAborted();
    if (!running) {
      throw new EngineError('INVALID_STATE', 'The kiosk is not switched on: init comes first.');
    }
    if (latencyMs > 0) await sleep(latencyMs, { clock, signal });
  };
  const snapshot = (withPixels: boolean): EngineSnapshot => {
    const tree = surface.snapshot();
    if (!withPixels) return tree;
    const { data, width, height, masked } = drawPicture(surface.render(), surface.focus);
    return {
      ...tree,
      pixels: { data, mediaType: 'image/png', width, height, scale: 1 },
      maskedRegionCount: masked,
    };
  };
  /** Runs one change of the surface and shows the result to whoever keeps a trace. */
  const change = async (context: OperationContext, act: () => void): Promise<void> => {
    await enter(context);
    act();
    if (attempt?.screens === true) attempt.screen(snapshot(false));
  };

  return defineEngine({
    name: 'kiosk',
    version: VERSION,
    spiVersion: 1,
    platform: 'kiosk',
    actions: KIOSK_ACTIONS,
    pointerActions: ['tap', 'swipe'],

    async init({ signal, log }) {
      signal.throwIfAborted();
      running = true;
      log(`kiosk ${VERSION} is on`);
    },
    async dispose() {
      running = false;
      attempt = undefined;
      surface.blank();
      shop.reset();
    },
    async startAttempt(context) {
      context.signal.throwIfAborted();
      surface.blank();
      attempt = context;
      attempt.environment({ kiosk: VERSION });
    },
    async endAttempt() {
      attempt = undefined;
    },

    async observe(context, wanted) {
      await enter(context);
      return snapshot(wanted?.pixels === true);
    },
    async locate(expression, context) {
      await enter(context);
      return resolveExpression(expression, [surface.snapshot().root]);
    },
    perform: (ref, action, context) =>
      change(context, () => {
        touch(surface, surface.find(ref.id), action);
      }),
    performAt: (point, action, context) =>
      change(context, () => {
        if (action.kind !== 'tap' && action.kind !== 'swipe') {
          throw new EngineError(
            'UNSUPPORTED_CAPABILITY',
            `The kiosk cannot do ${JSON.stringify(action.kind)} at a point; it does tap and swipe.`,
          );
        }
        touch(surface, elementAt(surface.render(), point), action);
      }),
    keyboard: {
      type: (text, { replace }, context) =>
        change(context, () => {
          typeText(surface, text, replace);
        }),
      press: (key, context) =>
        change(context, () => {
          pressKey(surface, key);
        }),
      dismiss: (context) =>
        change(context, () => {
          surface.focus = undefined;
        }),
    },
    session: {
      async open(url, context) {
        if (pathOf(url) === SLOW_PATH) {
          await enter(context);
          await openSlowly(context, clock);
        }
        await change(context, () => {
          const { screen, dish } = screenOf(url);
          if (dish !== undefined) shop.draft = newDraft(dish);
          surface.go(screen);
        });
      },
      back: (context) =>
        change(context, () => {
          surface.back();
        }),
      restart: (context) =>
        change(context, () => {
          shop.relaunch();
          surface.blank();
        }),
      reset: (context) =>
        change(context, () => {
          shop.reset();
          surface.blank();
        }),
    },
    state: {
      async capture(context) {
        await enter(context);
        return { format: STATE_FORMAT, version: STATE_VERSION, data: shop.capture(now()) };
      },
      restore: (state, context) =>
        change(context, () => {
          if (state.format !== STATE_FORMAT || state.version !== STATE_VERSION) {
            throw new ConfigurationError(
              'INVALID_CONFIG',
              `Kiosk state has another format or version than ${STATE_FORMAT} ${STATE_VERSION}: capture it again.`,
            );
          }
          if (!shop.restore(state.data, now())) {
            throw new ConfigurationError(
              'INVALID_CONFIG',
              'Kiosk state is damaged: capture it again.',
            );
          }
        }),
    },
    artifacts: {
      async screenshot(label, context) {
        await enter(context);
        if (attempt === undefined) {
          throw new EngineError('INVALID_STATE', 'A kiosk screenshot needs a running attempt.');
        }
        pictures += 1;
        const slug = (label ?? '').replace(/[^\w-]+/gu, '-').slice(0, 60);
        const path = `screenshots/kiosk-${pictures}${slug === '' ? '' : `-${slug}`}.png`;
        await mkdir(join(attempt.artifactsDir, 'screenshots'), { recursive: true });
        await writeFile(
          join(attempt.artifactsDir, path),
          drawPicture(surface.render(), surface.focus).data,
          { signal: context.signal },
        );
        return path;
      },
    },
  });
}

function checkOptions(options: KioskOptions): void {
  for (const key of Object.keys(options)) {
    if (!OPTION_NAMES.includes(key)) {
      throw new ConfigurationError(
        'INVALID_CONFIG',
        `Kiosk option ${JSON.stringify(key)} is unknown${suggestName(key, OPTION_NAMES)}`,
      );
    }
  }
  for (const key of ['preparationMs', 'latencyMs'] as const) {
    const value: unknown = options[key];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
      throw new ConfigurationError(
        'INVALID_CONFIG',
        `Kiosk option ${JSON.stringify(key)} must be a number of milliseconds, 0 or more.`,
      );
    }
  }
}

/** The element that a finger at a point would hit: the deepest, last one drawn there. */
function elementAt(root: Live, { x, y }: Point): Live {
  let hit = root;
  for (const live of eachLive(root)) {
    const { rect } = live;
    if (rect === undefined) continue;
    const inside =
      x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;
    if (inside) hit = live;
  }
  return hit;
}

/** The screen of a URL or a path. The scheme and the host are the harness's own affair. */
function screenOf(url: string): { readonly screen: ScreenName; readonly dish?: string } {
  const path = pathOf(url);
  if (path === SLOW_PATH) return { screen: 'probe' };
  const dish = /^\/menu\/([\w-]+)$/u.exec(path)?.[1];
  if (dish !== undefined && findDish(dish) !== undefined) return { screen: 'options', dish };
  for (const [screen, pattern] of Object.entries(SCREEN_PATHS)) {
    if (pattern === path) return { screen: screen as ScreenName };
  }
  throw new InfrastructureError(
    'APP_UNREACHABLE',
    `The kiosk has no screen at ${JSON.stringify(path.slice(0, 80))}${suggestName(path, Object.values(SCREEN_PATHS))}`,
  );
}

function pathOf(url: string): string {
  const rest = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(.*)$/iu.exec(url)?.[1] ?? url;
  const path = rest.replace(/[?#].*$/su, '').replace(/\/+$/u, '');
  return path.startsWith('/') ? path : `/${path}`;
}
