// What an element says of itself beside role and name: states, value, purpose, level, attributes.
// A secure field gives its state and never its value. Members that say nothing are absent, since
// every one of them crosses a wire and is read by a model.
import type { InputPurpose, NodeStates } from '../../../core/contract/observation.ts';
import { collapse, cut, deepFocus, isSecure, textKind, type Control } from './dom.ts';
import { isEditingHost } from './roles.ts';
import { referenced } from './names.ts';

/** As in core/contract/observation.ts, of which this code may import types only. */
export const OBSERVED_NAME_LIMIT = 256;
export const OBSERVED_TEXT_LIMIT = 512;

export type MutableStates = { -readonly [State in keyof NodeStates]: boolean };

const CHECKABLE = new Set('checkbox radio switch menuitemcheckbox menuitemradio'.split(' '));
const SELECTABLE = new Set('option tab row gridcell treeitem columnheader rowheader'.split(' '));

/** Whether the element is on; nothing for one that cannot be. `mixed` counts as off. */
export function checkedOf(element: Element, role: string): boolean | undefined {
  if (!CHECKABLE.has(role)) {
    const aria = element.getAttribute('aria-checked');
    return aria === null ? undefined : aria === 'true';
  }
  const control = element as Control;
  if (element.localName === 'input' && (control.type === 'checkbox' || control.type === 'radio')) {
    return control.indeterminate !== true && control.checked === true;
  }
  return element.getAttribute('aria-checked') === 'true';
}

export function isDisabled(element: Element): boolean {
  if (element.matches(':disabled')) return true;
  return element.closest('[aria-disabled="true"]') !== null;
}

export function statesOf(element: Element, role: string): NodeStates | undefined {
  const states: Partial<MutableStates> = {};
  const checked = checkedOf(element, role);
  if (checked !== undefined) states.checked = checked;
  if (isDisabled(element)) states.disabled = true;
  const selected = element.getAttribute('aria-selected');
  if (selected !== null && SELECTABLE.has(role)) states.selected = selected === 'true';
  else if (element.localName === 'option') {
    states.selected = (element as HTMLOptionElement).selected;
  }
  const expanded = element.getAttribute('aria-expanded');
  if (expanded === 'true' || expanded === 'false') states.expanded = expanded === 'true';
  else if (element.localName === 'summary' && role === 'button') {
    states.expanded = (element.parentElement as HTMLDetailsElement).open;
  }
  const pressed = element.getAttribute('aria-pressed');
  if (pressed !== null && role === 'button') states.pressed = pressed === 'true';
  if (element === deepFocus()) states.focused = true;
  if (isSecure(element)) states.secure = true;
  for (const _ in states) return states as NodeStates;
  return undefined;
}

const VALUED = new Set('progressbar meter slider scrollbar spinbutton'.split(' '));

/** What the element holds, not cut; nothing for one that holds nothing or is secure. */
export function valueOf(element: Element, role: string): string | undefined {
  if (isSecure(element)) return undefined;
  const control = element as Control;
  switch (element.localName) {
    case 'input': {
      if (control.type === 'file') {
        const names = [...(control.files ?? [])].map((file) => file.name);
        return names.length === 0 ? undefined : names.join(', ');
      }
      return textKind(element) === undefined ? undefined : control.value;
    }
    case 'textarea':
      return control.value;
    case 'select': {
      const chosen = [...((element as HTMLSelectElement).selectedOptions ?? [])];
      return chosen.map((option) => collapse(option.label)).join(', ');
    }
    case 'progress':
    case 'meter': {
      const { value, max, position } = element as HTMLProgressElement;
      const told = element.getAttribute('aria-valuetext');
      if (told !== null) return told;
      if (position === -1) return undefined;
      return element.localName === 'progress' && max === 1
        ? `${Math.round(value * 100)}%`
        : String(value);
    }
    default:
      if (VALUED.has(role)) {
        return (
          element.getAttribute('aria-valuetext') ??
          element.getAttribute('aria-valuenow') ??
          undefined
        );
      }
      if (isEditingHost(element)) return editableText(element);
      return undefined;
  }
}

/** The text of an editable region, without the line break that editors keep at its end. */
export function editableText(element: Element): string {
  return (element as HTMLElement).innerText.replace(/\u00a0/gu, ' ').replace(/\n+$/u, '');
}

/** The selected text of a focused field. */
export function selectionOf(element: Element): string | undefined {
  if (element !== deepFocus() || isSecure(element)) return undefined;
  const control = element as Control;
  if (textKind(element) !== 'typed') return undefined;
  // Types such as number refuse to tell.
  const { selectionStart: start, selectionEnd: end } = control;
  if (typeof start !== 'number' || typeof end !== 'number' || start === end) return undefined;
  return (control.value ?? '').slice(start, end);
}

export function purposeOf(element: Element): InputPurpose | undefined {
  if (element.localName !== 'input' && element.localName !== 'textarea') return undefined;
  const purposes = (element.getAttribute('autocomplete') ?? '').toLowerCase().split(/\s+/u);
  if (purposes.includes('one-time-code')) return 'one-time-code';
  if (purposes.includes('cc-csc')) return 'generic-secret';
  const hides = purposes.some((purpose) => /^(?:current|new)-password$/u.test(purpose));
  if (hides || (element as HTMLInputElement).type === 'password') return 'password';
  if (purposes.includes('username')) return 'username';
  // A field that hid its text once and shows it now is still the password's.
  return isSecure(element) ? 'password' : undefined;
}

export function levelOf(element: Element, role: string): number | undefined {
  if (role !== 'heading') return undefined;
  const aria = Number(element.getAttribute('aria-level'));
  const level = aria >= 1 ? aria : Number(/^h([1-6])$/u.exec(element.localName)?.[1] ?? 2);
  return Math.min(6, Math.trunc(level));
}

const TOLD_TYPES = /^(?:date|datetime-local|month|week|time|color|file|email|url|tel)$/u;

export function attributesOf(
  element: Element,
  role: string,
  name: string,
): Readonly<Record<string, string>> | undefined {
  const found: Record<string, string> = {};
  const take = (key: string, value: string | null): void => {
    if (value !== null && value !== '') found[key] = cut(value, OBSERVED_TEXT_LIMIT);
  };
  if (role === 'link') take('href', element.getAttribute('href'));
  if (element.localName === 'input' || element.localName === 'textarea') {
    const control = element as Control;
    take('placeholder', element.getAttribute('placeholder'));
    if (TOLD_TYPES.test(control.type ?? '')) take('type', control.type ?? null);
    if (control.readOnly === true) found['readonly'] = 'true';
    if (control.required === true) found['required'] = 'true';
  } else if (isEditingHost(element)) {
    found['contenteditable'] = element.getAttribute('contenteditable') || 'true';
    take('placeholder', element.getAttribute('aria-placeholder'));
  }
  if (element.getAttribute('aria-checked') === 'mixed') found['checked'] = 'mixed';
  else if (element.matches(':indeterminate') && role === 'checkbox') found['checked'] = 'mixed';
  const invalid = element.getAttribute('aria-invalid');
  if (invalid !== 'false') take('invalid', invalid);
  const current = element.getAttribute('aria-current');
  if (current !== 'false') take('current', current);
  const described = referenced(element, 'aria-describedby');
  const title = collapse(element.getAttribute('title') ?? '');
  take('description', described || (title === name ? '' : title));
  for (const _ in found) return found;
  return undefined;
}
