// Text fields and check boxes: what is done to them in the page before real input comes from
// outside, and what they hold afterwards. Nothing here believes an input event: a field is read
// back, since a mask, a script or a read-only flag may have had its own idea.
import type { CheckState, FilePlan, FillArgs, FillPlan, ReadBack } from './api.ts';
import { assertUsable, find, refuse, titleOf } from './aim.ts';
import {
  controlOf,
  cut,
  deepFocus,
  forgetStyles,
  isSecure,
  textKind,
  type Control,
} from './dom.ts';
import { checkedOf, editableText, OBSERVED_TEXT_LIMIT } from './facts.ts';
import { isEditingHost, roleOf } from './roles.ts';

const EDITABLE = 'input,textarea,[contenteditable]';

/** What was there before the fill, to tell "took nothing" from "made something else of it". */
let before: { readonly field: Element; readonly text: string } | undefined;

export function startFill({ id, value }: FillArgs): FillPlan {
  forgetStyles();
  const named = find(id);
  assertUsable(named);
  const field = fieldOf(named);
  const kind = field === undefined ? undefined : textKind(field);
  if (field === undefined || kind === undefined) {
    refuse(named, named.localName === 'select' ? 'takes a choice, not text' : 'takes no text');
  }
  if ((field as Control).readOnly === true) refuse(named, 'is read-only');
  before = { field, text: textIn(field) };
  if (kind === 'set') {
    setValue(field as HTMLInputElement, value);
    return { how: 'done' };
  }
  (field as HTMLElement).focus({ preventScroll: true });
  if (deepFocus() !== field) refuse(named, 'does not take the focus');
  selectAll(field);
  return { how: 'insert' };
}

/** The element itself, its editing host, or the one field that a component is made of. */
function fieldOf(element: Element): Element | undefined {
  const control = controlOf(element);
  const kind = textKind(control);
  if (kind === 'rich') {
    for (let at: Element | null = control; at !== null; at = at.parentElement) {
      if (isEditingHost(at)) return at;
    }
    // The whole document is editable.
    return control.ownerDocument.body;
  }
  if (kind !== undefined) return control;
  const inside = [element, ...(element.shadowRoot === null ? [] : [element.shadowRoot])].flatMap(
    (root) => [...root.querySelectorAll(EDITABLE)],
  );
  const fields = inside.filter((one) => textKind(one) !== undefined);
  return fields.length === 1 ? fields[0] : undefined;
}

function selectAll(field: Element): void {
  if (textKind(field) === 'typed') {
    (field as HTMLInputElement).select();
    return;
  }
  const owner = field.ownerDocument;
  const range = owner.createRange();
  range.selectNodeContents(field);
  const selection = owner.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

/** A date, a colour, a position: there is no typing that every browser takes alike. */
function setValue(input: HTMLInputElement, value: string): void {
  const view = input.ownerDocument.defaultView ?? window;
  const prototype = (view as Window & typeof globalThis).HTMLInputElement.prototype;
  // Frameworks shadow the property on the element; the prototype's is the real one.
  const setter = Object.getOwnPropertyDescriptor(prototype, 'value')?.set;
  input.focus({ preventScroll: true });
  setter?.call(input, value.trim());
  if (input.value !== value.trim() && input.value === '' && value.trim() !== '') {
    refuse(input, `takes a ${input.type} in the form ${FORMS[input.type] ?? 'of its type'}`);
  }
  announce(input);
}
const FORMS: Readonly<Record<string, string>> = {
  date: '2026-12-31',
  'datetime-local': '2026-12-31T23:59',
  month: '2026-12',
  week: '2026-W52',
  time: '23:59',
  color: '#rrggbb',
};

export function announce(element: Element): void {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}

function textIn(field: Element): string {
  return textKind(field) === 'rich' ? editableText(field) : ((field as Control).value ?? '');
}

export function readBack({ id, value }: FillArgs): ReadBack {
  const element = find(id);
  const field = fieldOf(element);
  const title = titleOf(element);
  if (field === undefined) return { state: 'different', title };
  const now = textIn(field);
  if (sameText(now, value)) return { state: 'same', title };
  const unchanged = before?.field === field && before.text === now;
  return {
    state: unchanged ? 'unchanged' : 'different',
    title,
    ...(isSecure(field) ? {} : { holds: cut(now, OBSERVED_TEXT_LIMIT) }),
  };
}

/** Equal but for how a mask writes it: digits in groups, letters in upper case, blanks around. */
function sameText(held: string, wanted: string): boolean {
  const plain = (text: string): string => text.replace(/\r\n?/gu, '\n');
  if (plain(held) === plain(wanted)) return true;
  const bare = (text: string): string => text.toLowerCase().replace(/[\s\p{P}\p{S}]+/gu, '');
  return bare(wanted) !== '' && bare(held) === bare(wanted);
}

export function focusElement(id: string): null {
  forgetStyles();
  const element = find(id);
  assertUsable(element);
  const control = controlOf(element);
  const hadFocus = deepFocus() === control;
  control.focus();
  // Where a person who goes on writing would put the cursor.
  if (!hadFocus && textKind(control) === 'typed') cursorToEnd(control);
  const active = deepFocus();
  if (active !== control && !(active !== undefined && control.contains(active))) {
    refuse(element, 'cannot take the focus');
  }
  return null;
}

function cursorToEnd(field: Control): void {
  // Types such as number have no cursor to ask for.
  if (field.selectionStart === null) return;
  const end = field.value?.length ?? 0;
  field.setSelectionRange?.(end, end);
}

/** Whether text can go where the focus is; answers the reason it cannot. */
export function focusedField(selectIt: boolean): string | undefined {
  const field = deepFocus();
  if (field === undefined) return 'Nothing has the focus: tap a field first.';
  // What has focus inside another site's frame cannot be seen from here; the browser types there.
  if (field.localName === 'iframe') return undefined;
  const kind = textKind(field);
  if (kind === undefined || kind === 'set') {
    return `The ${titleOf(field)} has the focus and takes no text: tap a field first.`;
  }
  if ((field as Control).readOnly === true) return `The ${titleOf(field)} is read-only.`;
  if (selectIt) selectAll(field);
  return undefined;
}

export function checkState(id: string): CheckState {
  const element = find(id);
  const control = controlOf(element);
  const role = roleOf(control);
  const checked = checkedOf(control, role) ?? pressedOf(control);
  if (checked === undefined) refuse(element, 'cannot be checked');
  const isRadio = role === 'radio' || role === 'menuitemradio';
  return { checked, isRadio, title: titleOf(element) };
}
function pressedOf(element: Element): boolean | undefined {
  const pressed = element.getAttribute('aria-pressed');
  return pressed === null ? undefined : pressed === 'true';
}

export function filePlan(id: string): FilePlan {
  const element = find(id);
  const control = controlOf(element);
  const isInput = control.localName === 'input' && control.type === 'file';
  if (isInput) {
    // Hidden ones are fine: pages show a button instead.
    if (control.disabled === true) refuse(element, 'is disabled');
  }
  return { isInput, multiple: isInput && control.multiple === true, title: titleOf(element) };
}
