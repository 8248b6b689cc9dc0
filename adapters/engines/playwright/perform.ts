// The actions on a node, one case each. What they share (where to press, and whether it was the target
// that was pressed) is in press.ts; what ends in a control's state is in choices.ts.
import type { Page } from 'playwright-core';
import { EngineError, parseKey, systemClock, type LocatorAction } from '../../../core/contract.ts';
import { select, setChecked, setFiles } from './choices.ts';
import { ask } from './in-page.ts';
import { isClosed, type Operation } from './operation.ts';
import { drag, hold, wheel, withModifiers } from './pointer.ts';
import {
  look,
  LOOK_PAUSE,
  pause,
  press,
  reading,
  STATE_WAIT,
  uncommitted,
  type Target,
} from './press.ts';

const DEFAULT_HOLD = 800;

/** Performs one action. */
export async function performAction(target: Target, action: LocatorAction): Promise<void> {
  const { operation, page, id } = target;
  const frame = page.mainFrame();
  switch (action.kind) {
    case 'tap':
      if (!target.isRoot && (await ask(operation, frame, 'isNativeOption', { id }))) {
        operation.commit();
        await ask(operation, frame, 'selectOption', { id });
        return;
      }
      await press(target, (at) =>
        withModifiers(page, action.modifiers, () => page.mouse.click(at.x, at.y)),
      );
      return;
    case 'doubleTap':
      await press(target, (at) =>
        withModifiers(page, action.modifiers, () => page.mouse.dblclick(at.x, at.y)),
      );
      return;
    case 'secondaryTap':
      await press(target, (at) =>
        withModifiers(page, action.modifiers, () =>
          page.mouse.click(at.x, at.y, { button: 'right' }),
        ),
      );
      return;
    case 'longPress':
      await press(target, (at) => hold(operation, page, at, action.durationMs ?? DEFAULT_HOLD));
      return;
    case 'hover': {
      const at = await look(target, { guard: false, loose: false });
      operation.commit();
      await operation.wait(page.mouse.move(at.x, at.y));
      return;
    }
    case 'fill':
      await fill(target, action.value, action.sensitive);
      return;
    case 'clear':
      await fill(target, '', false);
      return;
    case 'focus':
      operation.commit();
      await uncommitted(operation, ask(operation, frame, 'focus', { id }));
      return;
    case 'press':
      if (!target.isRoot) await ask(operation, frame, 'focus', { id });
      await pressKey(operation, page, action.key);
      return;
    case 'check':
    case 'uncheck':
      await setChecked(target, action.kind === 'check');
      return;
    case 'scrollIntoView':
      await ask(operation, frame, 'reveal', { id });
      return;
    case 'selectOption':
      await select(target, action.value);
      return;
    case 'setInputFiles':
      await setFiles(target, action.paths);
      return;
    case 'dragTo':
      await dragTo(target, action.target.id);
      return;
    case 'swipe': {
      const share = action.momentum === 'fast' ? 3 : action.momentum === 'slow' ? 1.5 : 0.8;
      const { direction } = action;
      const plan = await ask(operation, frame, 'planScroll', {
        ...(target.isRoot ? {} : { id }),
        direction,
        share,
      });
      await wheel(operation, page, plan);
      return;
    }
    default:
      throw new EngineError(
        'UNSUPPORTED_CAPABILITY',
        `The playwright engine cannot do ${JSON.stringify((action as { kind: unknown }).kind)}.`,
      );
  }
}

async function fill(target: Target, value: string, sensitive: boolean): Promise<void> {
  const { operation, page, id } = target;
  const frame = page.mainFrame();
  await look(target, { guard: false, loose: true });
  // One that is set as a whole is set in this very call.
  operation.commit();
  const { how } = await uncommitted(operation, ask(operation, frame, 'startFill', { id, value }));
  if (how === 'insert') {
    if (value === '') await operation.wait(page.keyboard.press('Delete'));
    else await operation.wait(page.keyboard.insertText(value));
  }
  const until = Math.min(operation.remaining() / 2, STATE_WAIT);
  for (const started = systemClock.now(); ; ) {
    const back = await reading(operation, () => ask(operation, frame, 'readBack', { id, value }));
    if (back === undefined || back.state === 'same') return;
    if (back.state === 'unchanged' && systemClock.now() - started < until) {
      await pause(operation, LOOK_PAUSE / 2);
      continue;
    }
    const holds =
      back.holds === undefined || sensitive ? 'something else' : JSON.stringify(back.holds);
    throw back.state === 'unchanged'
      ? new EngineError(
          'NOT_ACTIONABLE',
          `The ${back.title} did not take the text: it holds ${holds}.`,
        )
      : new EngineError(
          'ACTION_MAY_HAVE_COMMITTED',
          `The ${back.title} took the text and holds ${holds} now: check before you repeat it.`,
        );
  }
}

async function dragTo(target: Target, targetId: string): Promise<void> {
  const { operation, page } = target;
  const onto: Target = { ...target, id: targetId };
  // Looked at first, so that a target that is not there costs no half drag.
  await look(onto, { guard: false, loose: true });
  await press(target, (from) =>
    drag(operation, page, from, () =>
      ask(operation, page.mainFrame(), 'aim', {
        id: targetId,
        guard: false,
        loose: true,
      }),
    ),
  );
}

/** Presses a key of the contract's grammar on whatever has focus. */
export async function pressKey(operation: Operation, page: Page, key: string): Promise<void> {
  const parsed = parseKey(key);
  if (parsed === undefined) {
    throw new EngineError(
      'NOT_ACTIONABLE',
      `${JSON.stringify(key.slice(0, 40))} is no key: use a name such as Enter, or one character.`,
    );
  }
  operation.commit();
  try {
    await operation.wait(page.keyboard.press(key));
  } catch (error) {
    if (isClosed(error) && page.isClosed()) return;
    if (!(error instanceof Error) || !/Unknown key/u.test(error.message)) throw error;
    operation.uncommit();
    const plain = parsed.modifiers.every((modifier) => modifier === 'Shift');
    if (!plain) {
      throw new EngineError(
        'NOT_ACTIONABLE',
        `${JSON.stringify(key)} cannot be pressed: the character is on no key of the keyboard.`,
      );
    }
    operation.commit();
    await operation.wait(page.keyboard.insertText(parsed.key));
  }
}
