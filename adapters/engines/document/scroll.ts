// Where a wheel must turn to move what is meant. A wheel scrolls the innermost box under it that
// still can, so to move the viewport the wheel must turn where no inner box would take it.
import type { SwipeDirection } from '../../../core/contract/actions.ts';
import type { PagePoint, ScrollArgs, ScrollPlan } from './api.ts';
import { elementAt, find, frame, refuse, reveal } from './aim.ts';
import { ancestry, forgetStyles, isFrame, isWithin, offsetOf } from './dom.ts';

export function planScroll({ id, direction, share }: ScrollArgs): ScrollPlan {
  forgetStyles();
  const root = document.scrollingElement ?? document.documentElement;
  const named = id === undefined ? root : find(id);
  const isViewport = named === root || named.localName === 'body';
  if (!isViewport) reveal(named);
  const scroller = isViewport ? root : (scrollerOf(named, direction) ?? root);
  const box = boxOf(scroller, root);
  if (box.width <= 0 || box.height <= 0) refuse(named, 'has no area on the screen to scroll in');
  const at = wheelPoint(box, scroller, direction);
  const by = {
    x: box.width * share * (direction === 'right' ? 1 : direction === 'left' ? -1 : 0),
    y: box.height * share * (direction === 'down' ? 1 : direction === 'up' ? -1 : 0),
  };
  return { at, dx: Math.round(by.x), dy: Math.round(by.y) };
}

/** The nearest box that can move that way: the element, one around it, else the largest inside. */
function scrollerOf(element: Element, direction: SwipeDirection): Element | undefined {
  if (canScroll(element, direction)) return element;
  const inside = [...element.querySelectorAll('*')].filter((one) => canScroll(one, direction));
  const area = (one: Element): number => one.clientWidth * one.clientHeight;
  inside.sort((a, b) => area(b) - area(a));
  const [largest] = inside;
  if (largest !== undefined) return largest;
  for (const at of ancestry(element)) if (canScroll(at, direction)) return at;
  return undefined;
}

function canScroll(element: Element, direction: SwipeDirection): boolean {
  const upright = direction === 'up' || direction === 'down';
  const room = upright
    ? element.scrollHeight - element.clientHeight
    : element.scrollWidth - element.clientWidth;
  if (room < 1) return false;
  const isRoot = element === element.ownerDocument.scrollingElement;
  const style = (element.ownerDocument.defaultView ?? window).getComputedStyle(element);
  const overflow = upright ? style.overflowY : style.overflowX;
  const scrolls = isRoot ? overflow !== 'hidden' : overflow === 'auto' || overflow === 'scroll';
  if (!scrolls) return false;
  const at = upright ? element.scrollTop : element.scrollLeft;
  return direction === 'down' || direction === 'right' ? at < room - 1 : Math.abs(at) > 0;
}

/** The part of a box that the viewport shows. */
function boxOf(scroller: Element, root: Element): DOMRect {
  if (scroller === root) return new DOMRect(0, 0, innerWidth, innerHeight);
  const { x, y } = offsetOf(scroller.ownerDocument);
  const box = scroller.getBoundingClientRect();
  const left = Math.max(0, box.left + x);
  const top = Math.max(0, box.top + y);
  return new DOMRect(
    left,
    top,
    Math.min(innerWidth, box.right + x) - left,
    Math.min(innerHeight, box.bottom + y) - top,
  );
}

/** A point of the box whose innermost movable box is the one meant; else the middle. */
function wheelPoint(box: DOMRect, scroller: Element, direction: SwipeDirection): PagePoint {
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  for (const across of [0.5, 0.05, 0.95, 0.25, 0.75]) {
    for (const down of [0.5, 0.1, 0.9, 0.3, 0.7]) {
      const point = { x: box.x + box.width * across, y: box.y + box.height * down };
      const hit = elementAt(point);
      if (hit === undefined || isFrame(hit) || !isWithin(hit, scroller)) continue;
      for (const at of ancestry(hit)) {
        if (at === scroller) return point;
        if (canScroll(at, direction)) break;
      }
    }
  }
  return middle;
}

/** Resolves when nothing has scrolled for two frames, after 1 s at the latest. */
export async function scrollEnd(): Promise<null> {
  let moved = true;
  const onScroll = (): void => {
    moved = true;
  };
  addEventListener('scroll', onScroll, { capture: true, passive: true });
  try {
    let still = 0;
    for (let frames = 0; frames < 60 && still < 3; frames += 1) {
      still = moved ? 0 : still + 1;
      moved = false;
      await frame();
    }
  } finally {
    removeEventListener('scroll', onScroll, true);
  }
  return null;
}
