// The guard of a press: it watches the next one from the window, where press events come first, and
// stops one that does not land on the target before any handler of the page sees it. A guard ends by
// itself after a while, so that one whose press never came cannot swallow a later one.
import type { GuardVerdict } from './api.ts';

const WATCHED = [
  'pointerdown',
  'mousedown',
  'pointerup',
  'mouseup',
  'click',
  'dblclick',
  'auxclick',
  'contextmenu',
] as const;
/** How long a press may be on its way, ms. */
const PATIENCE = 5000;

interface Guard {
  verdict: GuardVerdict;
  stop(): void;
}
let guarding: Guard | undefined;

/** Watches the target's window and all around it. `miss` names what a press hits instead. */
export function watch(target: Element, miss: (hit: Element) => string | undefined): void {
  guarding?.stop();
  const views: Window[] = [];
  for (let view: Window | null = target.ownerDocument.defaultView; view !== null; ) {
    views.push(view);
    view = view === window ? null : view.parent;
  }
  const onPress = (event: Event): void => {
    if (!event.isTrusted) return;
    if (guard.verdict.landed === 'none') {
      clearTimeout(timer);
      const hit = event.composedPath()[0] as Element;
      const on = hit.nodeType === 1 ? miss(hit) : 'page';
      guard.verdict = on === undefined ? { landed: 'hit' } : { landed: 'missed', on };
    }
    if (guard.verdict.landed === 'missed') {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  const guard: Guard = {
    verdict: { landed: 'none' },
    stop() {
      clearTimeout(timer);
      for (const view of views) {
        for (const type of WATCHED) view.removeEventListener(type, onPress, true);
      }
    },
  };
  const timer = setTimeout(() => {
    guard.stop();
  }, PATIENCE);
  for (const view of views) {
    for (const type of WATCHED) {
      view.addEventListener(type, onPress, { capture: true, passive: false });
    }
  }
  guarding = guard;
}

/** Ends the guard and tells what it saw. */
export function release(): GuardVerdict {
  const verdict = guarding?.verdict ?? { landed: 'none' };
  guarding?.stop();
  guarding = undefined;
  return verdict;
}
