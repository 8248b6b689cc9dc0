// Boxes over secure fields while a picture is taken, drawn in the page itself, so that no pixel of
// them ever leaves it. They lie in one element of the top layer, above modal dialogs, and the walk
// of the observation knows that element by its tag and leaves it out.
import { frameDocument, isFrame, isSecure, offsetOf } from './dom.ts';

export const MASK_TAG = 'enginewright-mask';

let drawn: HTMLElement | undefined;

/** Masks the document, `deep` also the same-origin frames in it; answers how many boxes it drew. */
export function mask(deep: boolean): number {
  unmask();
  const boxes: DOMRect[] = [];
  gather(document, deep, boxes);
  if (boxes.length === 0) return 0;
  const host = document.createElement(MASK_TAG);
  host.style.cssText =
    'all:initial;position:fixed;inset:0;width:auto;height:auto;margin:0;border:0;padding:0;' +
    'background:transparent;pointer-events:none;z-index:2147483647;overflow:visible';
  const root = host.attachShadow({ mode: 'closed' });
  for (const { x, y, width, height } of boxes) {
    const box = document.createElement('div');
    box.style.cssText = `position:fixed;left:${x}px;top:${y}px;width:${width}px;height:${height}px;background:#000`;
    root.append(box);
  }
  document.documentElement.append(host);
  if (typeof host.showPopover === 'function') {
    host.popover = 'manual';
    host.showPopover();
  }
  drawn = host;
  return boxes.length;
}

export function unmask(): void {
  drawn?.remove();
  drawn = undefined;
}

function gather(root: Document | ShadowRoot, deep: boolean, boxes: DOMRect[]): void {
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot !== null) gather(element.shadowRoot, deep, boxes);
    if (isSecure(element)) {
      const { x, y, width, height } = element.getBoundingClientRect();
      if (width === 0 || height === 0) continue;
      const offset = offsetOf(element.ownerDocument);
      boxes.push(new DOMRect(x + offset.x, y + offset.y, width, height));
    } else if (deep && isFrame(element)) {
      const inner = frameDocument(element);
      if (inner !== undefined) gather(inner, deep, boxes);
    }
  }
}
