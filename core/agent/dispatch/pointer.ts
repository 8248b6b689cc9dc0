// The verbs of a pointer on one node, and the ones that set a control's state. `check` looks first:
// a box that is as wanted is left alone, because a second press would undo it on engines that toggle.
import type { LocatorAction } from '../../contract/actions.ts';
import type { VerbArguments } from '../tools/table.ts';
import type { CallContext, CallResult } from './context.ts';

type OnNode = (call: CallContext, args: { readonly target: string }) => Promise<CallResult>;

/** A verb that is one action on one node. */
export function onNode(action: LocatorAction): OnNode {
  return async (call, { target }) => {
    const node = call.node(target);
    call.reserve(1);
    await call.perform(node, action);
    return { text: 'Done.' };
  };
}

export async function check(call: CallContext, args: VerbArguments['check']): Promise<CallResult> {
  const node = call.node(args.target);
  const wanted = args.checked ?? true;
  if ((node.states?.checked === true) === wanted) {
    return {
      text: `It is ${wanted ? 'checked' : 'unchecked'} already; nothing was done.`,
      unneeded: true,
    };
  }
  call.reserve(1);
  await call.perform(node, { kind: wanted ? 'check' : 'uncheck' });
  return { text: 'Done.' };
}

export async function select(
  call: CallContext,
  args: VerbArguments['select'],
): Promise<CallResult> {
  const node = call.node(args.target);
  call.reserve(1);
  await call.perform(node, { kind: 'selectOption', value: args.value });
  return { text: 'Done.' };
}

export async function drag(call: CallContext, args: VerbArguments['drag']): Promise<CallResult> {
  const node = call.node(args.target);
  const to = call.node(args.to);
  call.reserve(1);
  await call.perform(node, { kind: 'dragTo', target: to.ref });
  return { text: 'Done.' };
}
