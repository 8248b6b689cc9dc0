// The attempt's view of the driver, the same for the test's own calls and for the agent: it knows
// whether the app is open (nothing opens by itself, and restart and reset end at a blank surface),
// and tells the session when the engine failed.
import type { Driver } from '../agent/driver.ts';
import type { EngineHandle } from '../contract/engine.ts';
import { EngineError } from '../contract/errors.ts';
import { isEngineFailure } from './errors.ts';

export interface GuardedDriverOptions {
  readonly driver: Driver;
  readonly engine: EngineHandle;
  readonly onEngineFailure: () => void;
}

export function guardDriver({ driver, engine, onEngineFailure }: GuardedDriverOptions): Driver {
  // An engine without `open` shows its app by itself.
  const opens = engine.session?.open !== undefined;
  let open = !opens;

  const watched = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (isEngineFailure(error)) onEngineFailure();
      throw error;
    }
  };
  const onceOpen = async <T>(body: () => Promise<T>): Promise<T> => {
    if (!open) {
      throw new EngineError('INVALID_STATE', 'The app is not open: call app.open() first.');
    }
    return watched(body());
  };
  const toBlank = async (work: Promise<void>): Promise<void> => {
    await watched(work);
    if (opens) open = false;
  };

  return {
    engine,
    get latest() {
      return driver.latest;
    },
    get abandoned() {
      return driver.abandoned;
    },
    settleAbandoned: (withinMs, signal) => driver.settleAbandoned(withinMs, signal),
    observe: (budget, options) => onceOpen(() => driver.observe(budget, options)),
    locate: (expression, budget) => onceOpen(() => driver.locate(expression, budget)),
    perform: (ref, action, budget) => onceOpen(() => driver.perform(ref, action, budget)),
    performAt: (point, action, budget) => onceOpen(() => driver.performAt(point, action, budget)),
    type: (text, options, budget) => onceOpen(() => driver.type(text, options, budget)),
    press: (key, budget) => onceOpen(() => driver.press(key, budget)),
    dismissKeyboard: (budget) => onceOpen(() => driver.dismissKeyboard(budget)),
    async open(url, budget) {
      await watched(driver.open(url, budget));
      open = true;
    },
    back: (budget) => onceOpen(() => driver.back(budget)),
    restart: (budget) => toBlank(driver.restart(budget)),
    reset: (budget) => toBlank(driver.reset(budget)),
    screenshot: (label, budget) => watched(driver.screenshot(label, budget)),
  };
}
