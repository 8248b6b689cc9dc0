// Gestures of the mouse, and the actions at a point. A button that was pressed is always released,
// also when the operation ends in the middle: the next one starts with a mouse at rest.
import type { Page } from 'playwright-core';
import {
  EngineError,
  sleep,
  systemClock,
  type Point,
  type PointerAction,
  type TapModifier,
} from '../../../core/contract.ts';
import type { ScrollPlan } from '../document/api.ts';
import { ask } from './in-page.ts';
import type { Operation } from './operation.ts';

/** Moves of a drag: HTML5 drag and drop needs more than one to begin. */
const DRAG_STEPS = 8;
const DEFAULT_HOLD = 800;

export async function withModifiers(
  page: Page,
  modifiers: readonly TapModifier[] | undefined,
  body: () => Promise<void>,
): Promise<void> {
  const held = modifiers ?? [];
  try {
    for (const modifier of held) await page.keyboard.down(modifier);
    await body();
  } finally {
    for (const modifier of held) await page.keyboard.up(modifier).catch(() => undefined);
  }
}

export async function hold(operation: Operation, page: Page, at: Point, ms: number): Promise<void> {
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  try {
    await sleep(ms, { clock: systemClock, signal: operation.signal });
  } finally {
    await page.mouse.up().catch(() => undefined);
  }
}

/** Drags to where `to` is once the button is down, as the page may have scrolled until then. */
export async function drag(
  operation: Operation,
  page: Page,
  from: Point,
  to: () => Promise<Point>,
): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  try {
    const end = await to();
    await operation.wait(page.mouse.move(end.x, end.y, { steps: DRAG_STEPS }));
    await operation.wait(page.mouse.move(end.x, end.y));
  } finally {
    await page.mouse.up().catch(() => undefined);
  }
}

export async function wheel(operation: Operation, page: Page, plan: ScrollPlan): Promise<void> {
  operation.commit();
  await operation.wait(page.mouse.move(plan.at.x, plan.at.y));
  await operation.wait(page.mouse.wheel(plan.dx, plan.dy));
  await ask(operation, page.mainFrame(), 'scrollEnd', null);
}

/** Performs one action at a point of the viewport. */
export async function performAtPoint(
  operation: Operation,
  page: Page,
  point: Point,
  action: PointerAction,
): Promise<void> {
  assertInside(page, point);
  const { x, y } = point;
  switch (action.kind) {
    case 'tap':
      operation.commit();
      await withModifiers(page, action.modifiers, () => page.mouse.click(x, y));
      return;
    case 'doubleTap':
      operation.commit();
      await withModifiers(page, action.modifiers, () => page.mouse.dblclick(x, y));
      return;
    case 'secondaryTap':
      operation.commit();
      await withModifiers(page, action.modifiers, () =>
        page.mouse.click(x, y, { button: 'right' }),
      );
      return;
    case 'longPress':
      operation.commit();
      await hold(operation, page, point, action.durationMs ?? DEFAULT_HOLD);
      return;
    case 'hover':
      operation.commit();
      await operation.wait(page.mouse.move(x, y));
      return;
    case 'dragTo': {
      const { target } = action;
      assertInside(page, target);
      operation.commit();
      await drag(operation, page, point, () => Promise.resolve(target));
      return;
    }
    case 'swipe': {
      const { width, height } = viewportOf(page);
      const share = action.momentum === 'fast' ? 3 : action.momentum === 'slow' ? 1.5 : 0.8;
      const { direction } = action;
      const sign = direction === 'down' || direction === 'right' ? share : -share;
      const upright = direction === 'down' || direction === 'up';
      await wheel(operation, page, {
        at: point,
        dx: upright ? 0 : Math.round(width * sign),
        dy: upright ? Math.round(height * sign) : 0,
      });
      return;
    }
    case 'swipeTo': {
      // The content follows the finger: the view moves the other way.
      const { target } = action;
      await wheel(operation, page, { at: point, dx: x - target.x, dy: y - target.y });
      return;
    }
    default:
      throw new EngineError(
        'UNSUPPORTED_CAPABILITY',
        `The playwright engine cannot do ${JSON.stringify((action as { kind: unknown }).kind)} at a point.`,
      );
  }
}

function viewportOf(page: Page): { readonly width: number; readonly height: number } {
  return page.viewportSize() ?? { width: Infinity, height: Infinity };
}

function assertInside(page: Page, { x, y }: Point): void {
  const { width, height } = viewportOf(page);
  if (x >= 0 && y >= 0 && x < width && y < height) return;
  throw new EngineError(
    'NOT_ACTIONABLE',
    `The point ${x}, ${y} lies outside the viewport of ${width} x ${height}.`,
  );
}
