// Check boxes, lists and files: actions whose outcome is a state of the control, which is reached when
// it shows, not when the input was sent.
import { stat } from 'node:fs/promises';
import { EngineError, systemClock, type OptionChoice } from '../../../core/contract.ts';
import { ask, elementHandle } from './in-page.ts';
import {
  LOOK_PAUSE,
  pause,
  press,
  reading,
  STATE_WAIT,
  uncommitted,
  type Target,
} from './press.ts';

/** How long a file dialog may take to come, ms. */
const CHOOSER_WAIT = 3000;

export async function setChecked(target: Target, wanted: boolean): Promise<void> {
  const { operation, page, id } = target;
  const frame = page.mainFrame();
  const state = await ask(operation, frame, 'checkState', { id });
  if (state.checked === wanted) return;
  if (state.isRadio && !wanted) {
    throw new EngineError(
      'NOT_ACTIONABLE',
      `The ${state.title} cannot be switched off: choose another one of its group.`,
    );
  }
  await press(target, (at) => page.mouse.click(at.x, at.y));
  for (const started = systemClock.now(); ; ) {
    const now = await reading(operation, () => ask(operation, frame, 'checkState', { id }));
    if (now === undefined || now.checked === wanted) return;
    if (systemClock.now() - started > STATE_WAIT) {
      throw new EngineError(
        'ACTION_MAY_HAVE_COMMITTED',
        `The ${now.title} was pressed and is still ${now.checked ? 'checked' : 'not checked'}.`,
      );
    }
    await pause(operation, LOOK_PAUSE / 2);
  }
}

export async function select(target: Target, choice: OptionChoice): Promise<void> {
  const { operation, page, id } = target;
  const frame = page.mainFrame();
  operation.commit();
  const plan = await uncommitted(operation, ask(operation, frame, 'select', { id, choice }));
  if (plan.how === 'done') return;
  operation.uncommit();
  const { known } = await ask(operation, frame, 'customOption', { id, choice });
  if (known.length === 0) await press(target, (at) => page.mouse.click(at.x, at.y));
  for (const started = systemClock.now(); ; ) {
    const found = await ask(operation, frame, 'customOption', { id, choice });
    if (found.id !== undefined) {
      await press({ ...target, id: found.id }, (at) => page.mouse.click(at.x, at.y));
      return;
    }
    if (systemClock.now() - started > STATE_WAIT) {
      const wanted = JSON.stringify(typeof choice === 'string' ? choice : Object.values(choice)[0]);
      const known = found.known.map((label) => JSON.stringify(label)).join(', ');
      throw new EngineError(
        'NOT_ACTIONABLE',
        known === ''
          ? `The list shows no options, so ${wanted} cannot be chosen.`
          : `The list has no option ${wanted}; its options are ${known}.`,
      );
    }
    await pause(operation, LOOK_PAUSE);
  }
}

export async function setFiles(target: Target, paths: readonly string[]): Promise<void> {
  const { operation, page, id } = target;
  for (const path of paths) {
    const isFile = await operation.wait(
      stat(path).then(
        (found) => found.isFile(),
        () => false,
      ),
    );
    if (!isFile) {
      throw new EngineError(
        'NOT_ACTIONABLE',
        `There is no file ${JSON.stringify(path)} to upload.`,
      );
    }
  }
  const frame = page.mainFrame();
  const plan = await ask(operation, frame, 'files', { id });
  const tooMany = (): EngineError =>
    new EngineError('NOT_ACTIONABLE', `The ${plan.title} takes one file, not ${paths.length}.`);
  if (plan.isInput) {
    if (paths.length > 1 && !plan.multiple) throw tooMany();
    const handle = (await elementHandle(operation, frame, id)).asElement();
    if (handle === null) {
      throw new EngineError('NODE_STALE', 'The file input is gone: observe again.', {
        retryable: true,
      });
    }
    operation.commit();
    await operation.wait(handle.setInputFiles([...paths], { timeout: 0 }));
    await operation.wait(handle.dispose());
    return;
  }
  const opening = page.waitForEvent('filechooser', { timeout: CHOOSER_WAIT });
  opening.catch(() => undefined);
  await press(target, (at) => page.mouse.click(at.x, at.y));
  let chooser;
  try {
    chooser = await operation.wait(opening);
  } catch (error) {
    if (operation.signal.aborted) throw error;
    throw new EngineError(
      'ACTION_MAY_HAVE_COMMITTED',
      `The ${plan.title} was pressed and opened no file dialog.`,
      { cause: error },
    );
  }
  if (paths.length > 1 && !chooser.isMultiple()) throw tooMany();
  await operation.wait(chooser.setFiles([...paths], { timeout: 0 }));
}
