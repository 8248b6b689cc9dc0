// From a checked tool call to what the engine is asked: one row per verb. The table is complete by
// its type, so a verb that is offered and a verb that can be run are the same list.
import type { Verb, VerbArguments } from '../tools/table.ts';
import type { CallContext, CallResult } from './context.ts';
import { dismissKeyboard, press, type } from './keyboard.ts';
import { back, navigate } from './navigate.ts';
import { check, drag, onNode, select } from './pointer.ts';
import { scroll, scrollTo } from './scroll.ts';
import { upload } from './upload.ts';

type Handlers = {
  readonly [Name in Verb]: (call: CallContext, args: VerbArguments[Name]) => Promise<CallResult>;
};

const HANDLERS: Handlers = {
  tap: onNode({ kind: 'tap' }),
  double_tap: onNode({ kind: 'doubleTap' }),
  long_press: onNode({ kind: 'longPress' }),
  right_click: onNode({ kind: 'secondaryTap' }),
  hover: onNode({ kind: 'hover' }),
  type,
  press,
  select,
  check,
  scroll,
  scroll_to: scrollTo,
  drag,
  upload,
  navigate,
  back,
  dismiss_keyboard: dismissKeyboard,
  observe: () => Promise.resolve({ text: 'The whole screen:', wholeScreen: true }),
};

/** Runs one verb. `values` have passed `checkArguments` for this very verb. */
export function dispatch(
  verb: Verb,
  values: Readonly<Record<string, unknown>>,
  call: CallContext,
): Promise<CallResult> {
  // The check made them the verb's own arguments; the compiler cannot see it across the table.
  const handler = HANDLERS[verb] as (
    call: CallContext,
    args: Readonly<Record<string, unknown>>,
  ) => Promise<CallResult>;
  return handler(call, values);
}
