// Text and keys. With a node, text is filled in and takes the place of what was there; without one
// it goes where the focus is, as typing does. What the model gives is data: it is handed on as it is,
// but a secret's placeholder is refused, because typed out it would only look like success.
import { suggestName } from '../../base/nearest.ts';
import { KEY_NAMES, parseKey } from '../../contract/keys.ts';
import { OBSERVED_TEXT_LIMIT, type SemanticNode } from '../../contract/observation.ts';
import { isEditable } from '../screen/controls.ts';
import { hasText, isSecure } from '../screen/kinds.ts';
import type { VerbArguments } from '../tools/table.ts';
import { Refusal, type CallContext, type CallResult } from './context.ts';

const PLACEHOLDER = /<secret:[\w.-]+>/u;

export async function type(call: CallContext, args: VerbArguments['type']): Promise<CallResult> {
  const { target, value } = args;
  if (PLACEHOLDER.test(value)) {
    throw new Refusal(
      'POLICY_DENIED',
      'A secret cannot be typed from its placeholder, and this version fills no secrets.',
    );
  }
  if (target === null || target === undefined) {
    call.reserve(1);
    await call.act((budget) => call.driver.type(value, { replace: args.replace ?? false }, budget));
    return { text: 'Typed where the focus is.' };
  }
  const node = call.node(target);
  const before = args.replace === false ? heldText(node) : '';
  call.reserve(1);
  await call.perform(node, { kind: 'fill', value: before + value, sensitive: false });
  return { text: 'Done.' };
}

/** What a field holds, to put more after it: only if all of it is known. */
function heldText(node: SemanticNode): string {
  const { value, text, children = [] } = node;
  const isUnknown =
    isSecure(node) ||
    (value === undefined && isEditable(node) && (hasText(text) || children.length > 0)) ||
    (value !== undefined && value.length >= OBSERVED_TEXT_LIMIT - 1);
  if (!isUnknown) return value ?? '';
  throw new Refusal(
    'UNSUPPORTED_CAPABILITY',
    'The screen does not show all that it holds, so nothing can be appended; replace it, or give it focus and type without a node.',
  );
}

export async function press(call: CallContext, args: VerbArguments['press']): Promise<CallResult> {
  const { target, key } = args;
  if (parseKey(key) === undefined) {
    throw new Refusal(
      'INVALID_ARGUMENT',
      `press: "key" must be one character or a key name, with modifiers before it as in Control+a${suggestName(key.replace(/^.*\+/su, ''), KEY_NAMES)}`,
    );
  }
  const node = target === null || target === undefined ? undefined : call.node(target);
  const times = args.times ?? 1;
  call.reserve(times);
  for (let done = 0; done < times; done += 1) {
    if (node === undefined) await call.act((budget) => call.driver.press(key, budget));
    else await call.perform(node, { kind: 'press', key });
  }
  return { text: times === 1 ? 'Done.' : `Done, ${times} times.` };
}

export async function dismissKeyboard(call: CallContext): Promise<CallResult> {
  call.reserve(1);
  await call.act((budget) => call.driver.dismissKeyboard(budget));
  return { text: 'Done.' };
}
