// A press that is sure of its target: the page says where, real input goes there, and the page's guard
// tells where it landed. A press that the guard stopped has done nothing and is tried again; anything
// else is never repeated.
import type { Page } from 'playwright-core';
import {
  EngineError,
  isEngineError,
  sleep,
  systemClock,
  type Point,
} from '../../../core/contract.ts';
import type { PagePoint } from '../document/api.ts';
import { ask, disarm, peek } from './in-page.ts';
import { isClosed, isPageGone, type Operation } from './operation.ts';

/** What an action works on. */
export interface Target {
  readonly operation: Operation;
  readonly page: Page;
  readonly id: string;
  /** The id stands for the whole page. */
  readonly isRoot: boolean;
}

/** How often, and how far apart in ms, a refusal is looked at again: pages settle. */
const LOOKS = 4;
export const LOOK_PAUSE = 100;
/** How long a control may take to show its new state, or a list to open, ms. */
export const STATE_WAIT = 1000;

/** A refusal of a step that only prepares means that nothing was done. */
export async function uncommitted<T>(operation: Operation, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isEngineError(error)) operation.uncommit();
    throw error;
  }
}

/** Where the target can be pressed, looked at a few times: what covers it may be on its way out. */
export async function look(
  { operation, page, id }: Target,
  how: { readonly guard: boolean; readonly loose: boolean },
): Promise<PagePoint> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await ask(operation, page.mainFrame(), 'aim', { id, ...how });
    } catch (error) {
      if (!isEngineError(error) || error.code !== 'NOT_ACTIONABLE' || looks >= LOOKS) throw error;
    }
    await pause(operation, LOOK_PAUSE);
  }
}

/** Presses on the target, and makes sure that it was the target that was pressed. */
export async function press(target: Target, gesture: (at: Point) => Promise<void>): Promise<void> {
  const { operation, page } = target;
  for (let tries = 1; ; tries += 1) {
    const at = await look(target, { guard: true, loose: false });
    operation.commit();
    try {
      await operation.wait(gesture(at));
    } catch (error) {
      // The press closed the page that it was made on.
      if (isClosed(error) && page.isClosed()) return;
      // Not under the operation, which may be over: the guard must not stop a later press.
      disarm(page.mainFrame());
      throw error;
    }
    const missed = await missedTarget(operation, page);
    if (missed === undefined) return;
    operation.uncommit();
    if (tries >= 3) {
      throw new EngineError(
        'NOT_ACTIONABLE',
        `The target moved away under the press, which would have hit the ${missed}; nothing was pressed.`,
      );
    }
  }
}

/** What a stopped press would have hit. A page that was left took the press with it. */
async function missedTarget(operation: Operation, page: Page): Promise<string | undefined> {
  try {
    const answer = await peek(operation, page.mainFrame(), 'release', null);
    if (answer === undefined || !('ok' in answer)) return undefined;
    return answer.ok.landed === 'missed' ? answer.ok.on : undefined;
  } catch (error) {
    if (isPageGone(error) || page.isClosed()) return undefined;
    throw error;
  }
}

/** Reads after an action; nothing when the page was left or the node re-rendered by it. */
export async function reading<T>(
  operation: Operation,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const gone = isPageGone(error) || (isEngineError(error) && error.code === 'NODE_STALE');
    if (gone && !operation.signal.aborted) return undefined;
    throw error;
  }
}

export function pause(operation: Operation, ms: number): Promise<void> {
  return sleep(ms, { clock: systemClock, signal: operation.signal });
}
