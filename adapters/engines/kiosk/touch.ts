// What a finger and a keyboard do to one element of the glass. Every refusal is NOT_ACTIONABLE and
// says what stands in the way; an unknown choice lists the choices, since the reader may be a model
// that can pick again.
import {
  EngineError,
  parseKey,
  type LocatorAction,
  type OptionChoice,
} from '../../../core/contract.ts';
import { eachLive, VIEWPORT, type Live, type Surface } from './surface.ts';

/** The node actions of the kiosk, in contract order. */
export const KIOSK_ACTIONS = [
  'tap',
  'fill',
  'clear',
  'press',
  'check',
  'uncheck',
  'focus',
  'scrollIntoView',
  'selectOption',
  'swipe',
] as const;

const PAGE = VIEWPORT.height * 0.8;

/** How messages call an element: `button "Pay"`. */
function title({ view }: Live): string {
  const role = view.role ?? 'text';
  const name = view.name ?? view.text;
  return name === undefined ? role : `${role} ${JSON.stringify(name.slice(0, 80))}`;
}
function refuse(live: Live, why: string): never {
  throw new EngineError('NOT_ACTIONABLE', `The ${title(live)} ${why}.`);
}
function assertEnabled(live: Live): void {
  if (live.view.states?.disabled === true) refuse(live, 'is disabled');
}

/** Performs one action on one element. */
export function touch(surface: Surface, live: Live, action: LocatorAction): void {
  const { view } = live;
  switch (action.kind) {
    case 'swipe': {
      const by = { up: -PAGE, down: PAGE, left: 0, right: 0 }[action.direction];
      surface.scrollBy(by);
      return;
    }
    case 'scrollIntoView':
      surface.reveal(live);
      return;
    case 'tap':
      assertEnabled(live);
      tap(surface, live);
      return;
    case 'focus':
      assertEnabled(live);
      surface.reveal(live);
      surface.focus = live.id;
      return;
    case 'fill':
    case 'clear':
      assertEnabled(live);
      if (view.input === undefined) {
        refuse(live, view.choose === undefined ? 'takes no text' : 'takes a choice, not text');
      }
      surface.reveal(live);
      surface.focus = live.id;
      view.input(action.kind === 'fill' ? action.value : '');
      return;
    case 'check':
    case 'uncheck':
      assertEnabled(live);
      if (view.check === undefined) refuse(live, 'cannot be checked');
      surface.reveal(live);
      view.check(action.kind === 'check');
      return;
    case 'selectOption':
      assertEnabled(live);
      surface.reveal(live);
      choose(live, action.value);
      return;
    case 'press':
      assertEnabled(live);
      surface.focus = live.id;
      pressKey(surface, action.key);
      return;
    default:
      throw new EngineError(
        'UNSUPPORTED_CAPABILITY',
        `The kiosk cannot do ${JSON.stringify(action.kind)}; it does ${KIOSK_ACTIONS.join(', ')}.`,
      );
  }
}

function tap(surface: Surface, live: Live): void {
  surface.reveal(live);
  surface.focus = live.id;
  live.view.tap?.();
}

function choose(live: Live, choice: OptionChoice): void {
  const { view } = live;
  const { options } = view;
  if (view.choose === undefined || options === undefined) refuse(live, 'has no options');
  let found: string | undefined;
  if (typeof choice === 'string') found = options.find((option) => option === choice);
  else if ('index' in choice) found = options[choice.index];
  else {
    const wanted = 'label' in choice ? choice.label : choice.value;
    found = options.find((option) => option === wanted);
  }
  if (found === undefined) {
    const wanted = typeof choice === 'string' ? choice : Object.values(choice)[0];
    const known = options.map((option) => JSON.stringify(option)).join(', ');
    refuse(live, `has no option ${JSON.stringify(wanted)}; its options are ${known}`);
  }
  view.choose(found);
}

/** The focused element when it takes text. */
function focusedField(surface: Surface): Live | undefined {
  if (surface.focus === undefined) return undefined;
  const live = surface.find(surface.focus);
  return live.view.input === undefined ? undefined : live;
}

/** Types into the focused field. */
export function typeText(surface: Surface, text: string, replace: boolean): void {
  const live = focusedField(surface);
  if (live === undefined) {
    throw new EngineError(
      'NOT_ACTIONABLE',
      'Nothing on the kiosk that takes text has focus: tap a field first.',
    );
  }
  live.view.input?.(replace ? text : (live.view.value ?? '') + text);
}

/** Presses a key on whatever has focus; a key that means nothing there does nothing. */
export function pressKey(surface: Surface, key: string): void {
  const parsed = parseKey(key);
  if (parsed === undefined) {
    throw new EngineError(
      'NOT_ACTIONABLE',
      `${JSON.stringify(key.slice(0, 40))} is no key: use a name such as Enter, or one character.`,
    );
  }
  const plain = parsed.modifiers.every((modifier) => modifier === 'Shift');
  if (!plain) return;
  const root = surface.render();
  const order = [...eachLive(root)].filter(isStop);
  const at = order.findIndex((live) => live.id === surface.focus);
  const live = order[at];
  if (parsed.key === 'Tab') {
    const step = parsed.modifiers.includes('Shift') ? -1 : 1;
    const next = at === -1 ? (step === 1 ? 0 : order.length - 1) : at + step;
    surface.focus = order[next]?.id;
    return;
  }
  if (parsed.key === 'PageDown' || parsed.key === 'PageUp') {
    surface.scrollBy(parsed.key === 'PageDown' ? PAGE : -PAGE);
    return;
  }
  if (live === undefined) return;
  const { view } = live;
  const isField = view.input !== undefined;
  const value = view.value ?? '';
  switch (parsed.key) {
    case 'Escape':
      surface.focus = undefined;
      return;
    case 'Enter':
      if (isField) view.enter?.();
      else if (view.choose === undefined) view.tap?.();
      return;
    case 'Space':
      if (isField) view.input?.(`${value} `);
      else view.tap?.();
      return;
    case 'Backspace':
      if (isField) view.input?.([...value].slice(0, -1).join(''));
      return;
    case 'ArrowDown':
    case 'ArrowUp': {
      const { options } = view;
      if (options === undefined) return;
      const next = options[options.indexOf(value) + (parsed.key === 'ArrowDown' ? 1 : -1)];
      if (next !== undefined) view.choose?.(next);
      return;
    }
    default:
      if (isField && [...parsed.key].length === 1) view.input?.(value + parsed.key);
  }
}

/** Whether Tab stops at the element. */
function isStop({ view }: Live): boolean {
  if (view.states?.disabled === true || view.role === 'option') return false;
  return view.tap !== undefined || view.input !== undefined || view.choose !== undefined;
}
