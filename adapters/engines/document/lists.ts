// Choosing from a list. A native one is set in the page, as its popup is drawn by the browser and
// cannot be pressed; a list that the page draws itself is only read here, and pressed from outside. An
// option that is not there is refused with the options that are.
import type { OptionChoice } from '../../../core/contract/actions.ts';
import type { SelectArgs, SelectPlan } from './api.ts';
import { assertUsable, find, refuse, Refusal, titleOf } from './aim.ts';
import { collapse, controlOf, forgetStyles, styleOf } from './dom.ts';
import { announce } from './fields.ts';
import { idOf } from './ids.ts';
import { nameOf } from './names.ts';
import { roleOf } from './roles.ts';

/** Options named in a refusal. */
const NAMED_OPTIONS = 30;

export function select({ id, choice }: SelectArgs): SelectPlan {
  forgetStyles();
  const element = find(id);
  assertUsable(element);
  const control = controlOf(element);
  if (control.localName === 'select') {
    const list = control as unknown as HTMLSelectElement;
    const options = [...list.options];
    const found = pick(
      options,
      choice,
      (option) => option.label,
      (option) => option.value,
    );
    if (found === undefined) {
      throw new Refusal(
        unknownOption(
          titleOf(element),
          choice,
          options.filter(isFree).map((option) => option.label),
        ),
      );
    }
    take(found, list);
    return { how: 'done' };
  }
  const role = roleOf(control);
  const popup = control.getAttribute('aria-haspopup');
  if (role === 'combobox' || role === 'listbox' || popup === 'listbox' || popup === 'true') {
    return { how: 'custom' };
  }
  refuse(element, 'has no options');
}

/** Selects one option of a native list, as a tap on it would. */
export function selectOptionElement(id: string): null {
  const option = find(id) as HTMLOptionElement;
  const list = option.closest('select');
  if (list === null) refuse(option, 'belongs to no list');
  assertUsable(list);
  take(option, list);
  return null;
}

export function isNativeOption(id: string): boolean {
  const element = find(id);
  return element.localName === 'option' && element.closest('select') !== null;
}

function take(option: HTMLOptionElement, list: HTMLSelectElement): void {
  if (!isFree(option)) refuse(option, 'is disabled');
  list.focus({ preventScroll: true });
  if (list.multiple) {
    for (const other of list.options) other.selected = other === option;
  } else if (option.selected) {
    return;
  }
  option.selected = true;
  announce(list);
  if (option.isConnected && !option.selected) refuse(option, 'was not taken by the page');
}

function isFree(option: HTMLOptionElement): boolean {
  return !option.matches(':disabled');
}

/** The chosen one of a list that the page draws, once it is open. */
export function customOption({ id, choice }: SelectArgs): { id?: string; known: string[] } {
  forgetStyles();
  const element = controlOf(find(id));
  const options = optionsNear(element);
  const label = (option: Element): string => nameOf(option, 'option').name;
  const value = (option: Element): string => option.getAttribute('data-value') ?? '';
  const found = pick(options, choice, label, value);
  return {
    ...(found === undefined ? {} : { id: idOf(found) }),
    known: options.map(label).slice(0, NAMED_OPTIONS),
  };
}

/** In the popup that the element names, else in the element, else anywhere that is drawn. */
function optionsNear(element: Element): readonly Element[] {
  const root = element.getRootNode() as Document | ShadowRoot;
  const places: ParentNode[] = [];
  for (const name of ['aria-controls', 'aria-owns']) {
    for (const part of (element.getAttribute(name) ?? '').split(/\s+/u)) {
      const popup = part === '' ? null : root.getElementById?.(part);
      if (popup) places.push(popup);
    }
  }
  places.push(element, root, element.ownerDocument);
  for (const place of places) {
    const drawn = [...place.querySelectorAll('[role="option"]')].filter(isDrawn);
    if (drawn.length > 0) return drawn;
  }
  return [];
}

function isDrawn(element: Element): boolean {
  return element.getClientRects().length > 0 && styleOf(element).visible;
}

function pick<T>(
  options: readonly T[],
  choice: OptionChoice,
  label: (option: T) => string,
  value: (option: T) => string,
): T | undefined {
  if (typeof choice !== 'string') {
    if ('index' in choice) return options[choice.index];
    if ('value' in choice) return options.find((option) => value(option) === choice.value);
    return pick(options, choice.label, label, value);
  }
  const wanted = collapse(choice);
  return (
    options.find((option) => collapse(label(option)) === wanted) ??
    options.find((option) => collapse(label(option)).toLowerCase() === wanted.toLowerCase())
  );
}

function unknownOption(title: string, choice: OptionChoice, known: readonly string[]): string {
  const wanted = typeof choice === 'string' ? choice : Object.values(choice)[0];
  const shown = known.slice(0, NAMED_OPTIONS).map((label) => JSON.stringify(collapse(label)));
  const more = known.length > NAMED_OPTIONS ? ` and ${known.length - NAMED_OPTIONS} more` : '';
  return `The ${title} has no option ${JSON.stringify(wanted)}; its options are ${shown.join(', ')}${more}.`;
}
