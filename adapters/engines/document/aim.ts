// Where to press so that the press lands on the element: the checks that a person makes by looking
// (is it there, can it be used, is something in front of it), and a guard that watches the press
// itself, because a page may move between the look and the press. A press that would land elsewhere
// is stopped before any handler of the page sees it, so that the caller may try again safely.
import type { AimArgs, PagePoint } from './api.ts';
import {
  ancestry,
  collapse,
  controlOf,
  cut,
  forgetStyles,
  frameDocument,
  isElement,
  isFrame,
  isWithin,
  offsetOf,
  parentOf,
  styleOf,
} from './dom.ts';
import { isDisabled } from './facts.ts';
import { watch } from './guard.ts';
import { elementOf, nodeOf } from './ids.ts';
import { contentOf, nameOf } from './names.ts';
import { roleOf } from './roles.ts';

/** Ends a method with the sentence that the caller is to read. */
export class Refusal extends Error {}
/** Ends a method whose node is gone. */
export class Stale extends Error {}

export function find(id: string): Element {
  const element = elementOf(id);
  if (element === undefined) throw new Stale();
  return element;
}

/** How messages call an element: `button "Pay"`. */
export function titleOf(element: Element): string {
  const role = roleOf(element);
  const { name } = nameOf(element, role);
  const words = name || cut(contentOf(element), 200);
  const kind = role || `<${element.localName}>`;
  return words === '' ? kind : `${kind} ${JSON.stringify(cut(words, 80))}`;
}

export function refuse(element: Element, why: string): never {
  throw new Refusal(`The ${titleOf(element)} ${why}.`);
}

/** Refuses what cannot be operated. */
export function assertUsable(element: Element): void {
  if (isDisabled(controlOf(element))) refuse(element, 'is disabled');
  for (const at of ancestry(element)) {
    if (at.hasAttribute('inert')) refuse(element, 'is inert: the page has switched this part off');
  }
}

/** Scrolls the element to where it can be pressed, and answers that point. */
export async function aim({ id, guard, loose }: AimArgs): Promise<PagePoint> {
  forgetStyles();
  const element = find(id);
  assertUsable(element);
  // A drawn label stands in for a box that is hidden behind it; a line of text is its own place.
  const node = nodeOf(id) ?? element;
  const targets = [node, ...labelsOf(element)].filter(hasBox);
  if (targets.length === 0) refuse(element, 'is not visible: it has no box on the page');
  let cover: Element | undefined;
  for (const target of targets) {
    const holder = isElement(target) ? target : element;
    if (!styleOf(holder).visible) continue;
    reveal(target);
    await holdStill(holder);
    if (!target.isConnected) throw new Stale();
    for (const point of pointsOf(target)) {
      const hit = elementAt(point);
      if (hit === undefined) continue;
      if (isHit(hit, element)) {
        if (guard) {
          watch(element, (on) => (isHit(on, element) ? undefined : coverTitle(on, element)));
        }
        return point;
      }
      cover ??= hit;
      if (loose && isNear(hit, holder)) return point;
    }
  }
  if (!targets.some((target) => styleOf(isElement(target) ? target : element).visible)) {
    refuse(element, 'is not visible');
  }
  if (cover === undefined) {
    refuse(element, 'lies outside the viewport and cannot be scrolled into it');
  }
  if (isWithin(element, cover)) refuse(element, 'lets no press through (pointer-events)');
  refuse(element, `is covered by the ${coverTitle(cover, element)}`);
}

function labelsOf(element: Element): readonly Element[] {
  return [...((element as HTMLInputElement).labels ?? [])];
}
function hasBox(node: Node): boolean {
  return boxesOf(node).length > 0;
}

/** The drawn boxes, in the top viewport; of an element without one those of what it holds. */
function boxesOf(node: Node): readonly DOMRect[] {
  const owner = node.ownerDocument ?? document;
  let rects = isElement(node) ? [...node.getClientRects()] : [];
  if (!rects.some(hasArea)) {
    const range = owner.createRange();
    range.selectNodeContents(node);
    rects = [...range.getClientRects()];
  }
  const { x, y } = offsetOf(owner);
  return rects
    .filter(hasArea)
    .map((box) => new DOMRect(box.x + x, box.y + y, box.width, box.height));
}
function hasArea({ width, height }: DOMRect): boolean {
  return width > 0 && height > 0;
}

/** Scrolls only when the middle is out of what every box around it shows. */
export function reveal(node: Node): void {
  const element = isElement(node) ? node : node.parentElement;
  if (element === null) return;
  const [box] = boxesOf(node);
  if (box !== undefined) {
    const hit = elementAt(middleOf(box));
    if (hit !== undefined && isWithin(hit, element)) return;
  }
  for (const at of ancestry(element)) {
    // Inside frames each document scrolls its own part, from the inside out.
    if (at !== element && !isFrame(at)) continue;
    at.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  }
}

/** Waits for a running animation of the element, or of what holds it, to leave it in place. */
async function holdStill(element: Element): Promise<void> {
  const moving = (): boolean =>
    element.ownerDocument.getAnimations().some((animation) => {
      const target = (animation.effect as KeyframeEffect | null)?.target;
      return animation.playState === 'running' && !!target && isWithin(element, target);
    });
  if (!moving()) return;
  let before = element.getBoundingClientRect();
  for (let tries = 0; tries < 60; tries += 1) {
    await frame();
    const now = element.getBoundingClientRect();
    if (now.x === before.x && now.y === before.y && now.width === before.width) return;
    before = now;
  }
  refuse(element, 'does not hold still: an animation keeps moving it');
}

/** The next animation frame, or 50 ms where a page in the background gets none. */
export function frame(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, 50);
    const request = requestAnimationFrame(done);
    function done(): void {
      clearTimeout(timer);
      cancelAnimationFrame(request);
      resolve();
    }
  });
}

function middleOf({ x, y, width, height }: DOMRect): PagePoint {
  return { x: x + width / 2, y: y + height / 2 };
}

/** Points worth a try: the middle of each box, then the quarters of the first. */
function* pointsOf(node: Node): Generator<PagePoint> {
  const boxes = boxesOf(node).map(clip).filter(hasArea);
  for (const box of boxes.slice(0, 4)) yield middleOf(box);
  const [box] = boxes;
  if (box === undefined) return;
  for (const [across, down] of [
    [0.25, 0.5],
    [0.75, 0.5],
    [0.5, 0.25],
    [0.5, 0.75],
  ] as const) {
    yield { x: box.x + box.width * across, y: box.y + box.height * down };
  }
}
function clip(box: DOMRect): DOMRect {
  const left = Math.max(0, box.left);
  const top = Math.max(0, box.top);
  const width = Math.min(innerWidth, box.right) - left;
  return new DOMRect(left, top, width, Math.min(innerHeight, box.bottom) - top);
}

/** The element that is drawn on top at a point of the top viewport, through frames and shadows. */
export function elementAt({ x, y }: PagePoint): Element | undefined {
  let root: Document | ShadowRoot = document;
  let found: Element | undefined;
  for (let owner: Document = document; ; ) {
    const { x: left, y: top } = offsetOf(owner);
    const hit: Element | null = root.elementFromPoint(x - left, y - top);
    if (hit === null || hit === found) return found;
    found = hit;
    if (hit.shadowRoot !== null) root = hit.shadowRoot;
    else if (isFrame(hit)) {
      const inner = frameDocument(hit);
      if (inner === undefined) return found;
      owner = inner;
      root = inner;
    } else return found;
  }
}

/** Whether a press on `hit` is one on `element`: within it, or on a label that hands it on. */
function isHit(hit: Element, element: Element): boolean {
  const control = controlOf(element);
  for (const at of ancestry(hit)) {
    if (at === element || at === control) return true;
    if (at.localName === 'label' && (at as HTMLLabelElement).control === control) return true;
  }
  return false;
}

/** Whether a cover belongs to the same component: editors keep their field under what they draw. */
function isNear(cover: Element, target: Element): boolean {
  let level = 0;
  for (const at of ancestry(target)) {
    const { body, documentElement } = at.ownerDocument;
    if (level > 2 || at === body || at === documentElement) return false;
    level += 1;
    if (isWithin(cover, at)) return true;
  }
  return false;
}

/** What covers the target, by the nearest name around the spot that does not hold the target too. */
function coverTitle(cover: Element, target: Element): string {
  let title = describe(cover);
  for (let at: Element | null = cover; at !== null && !isWithin(target, at); at = parentOf(at)) {
    const role = roleOf(at);
    const { name } = nameOf(at, role);
    if (role !== '' && name !== '') return titleOf(at);
    if (role === 'dialog' || role === 'alertdialog') return `${role} ${describe(at)}`;
    if (title === '') title = describe(at);
  }
  return title || `<${cover.localName}>`;
}
function describe(element: Element): string {
  const mark = element.id === '' ? element.getAttribute('class') : `#${element.id}`;
  const words = cut(collapse(element.textContent ?? ''), 60);
  const tag = mark === null || mark === '' ? element.localName : `${element.localName} ${mark}`;
  return words === '' ? `<${cut(tag, 80)}>` : `<${cut(tag, 80)}> ${JSON.stringify(words)}`;
}
