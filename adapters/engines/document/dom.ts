// Small facts about elements that hold across shadow roots and same-origin frames, and the one
// cache of computed styles: an observation asks for each element's style once.

/** An element of any realm with what form controls have; members are absent on others. */
export type Control = HTMLElement & Partial<HTMLInputElement>;

/** Works across documents, whose classes are not ours. */
export function isElement(node: Node): node is Element {
  return node.nodeType === 1;
}

export interface Style {
  readonly display: string;
  readonly visible: boolean;
  /** Continues the line of text it stands in. */
  readonly inline: boolean;
}

let styles = new Map<Element, Style>();
/** Forgets all styles: they hold for one observation or one action. */
export function forgetStyles(): void {
  styles = new Map();
}

export function styleOf(element: Element): Style {
  const known = styles.get(element);
  if (known !== undefined) return known;
  const computed = (element.ownerDocument.defaultView ?? window).getComputedStyle(element);
  const { display } = computed;
  const skipped = computed.getPropertyValue('content-visibility') === 'hidden';
  const style = {
    display: skipped ? 'none' : display,
    visible: computed.visibility === 'visible',
    inline: display === 'inline' || display === 'contents' || display === 'ruby',
  };
  styles.set(element, style);
  return style;
}

/** The element above, out of a shadow root or a slot if need be, within one document. */
export function parentOf(element: Element): Element | null {
  if (element.assignedSlot !== null) return element.assignedSlot;
  if (element.parentElement !== null) return element.parentElement;
  const root = element.getRootNode();
  return 'host' in root ? (root as ShadowRoot).host : null;
}

/** Self and the elements above, out of frames as well. */
export function* ancestry(element: Element): Generator<Element> {
  for (let at: Element | null = element; at !== null; ) {
    yield at;
    const above: Element | null = parentOf(at);
    at = above ?? at.ownerDocument.defaultView?.frameElement ?? null;
  }
}

export function isWithin(element: Element, container: Element): boolean {
  for (const at of ancestry(element)) if (at === container) return true;
  return false;
}

/**
 * The children that are drawn: a shadow root's instead of its host's, a slot's assigned ones, of
 * closed details the summary alone.
 */
export function childrenOf(node: Node): Iterable<Node> {
  const element = node as Element;
  if (element.localName === 'details' && !(element as HTMLDetailsElement).open) {
    return [...element.children].filter((child) => child.localName === 'summary').slice(0, 1);
  }
  if (element.shadowRoot) return element.shadowRoot.childNodes;
  if (element.localName === 'slot') {
    const assigned = (element as HTMLSlotElement).assignedNodes({ flatten: true });
    if (assigned.length > 0) return assigned;
  }
  return node.childNodes;
}

/** The document of a frame, or nothing where another origin closes it. */
export function frameDocument(element: Element): Document | undefined {
  try {
    return (element as HTMLIFrameElement).contentDocument ?? undefined;
  } catch {
    return undefined;
  }
}
export function isFrame(element: Element): boolean {
  return element.localName === 'iframe' || element.localName === 'frame';
}

/** Where a document's own viewport begins in the top one's. */
export function offsetOf(owner: Document): { readonly x: number; readonly y: number } {
  let x = 0;
  let y = 0;
  for (let frame = owner.defaultView?.frameElement; frame; ) {
    const corner = contentCorner(frame);
    x += corner.x;
    y += corner.y;
    frame = frame.ownerDocument.defaultView?.frameElement;
  }
  return { x, y };
}
/** Where a frame's content begins in the viewport of the document that holds the frame. */
export function contentCorner(frame: Element): { readonly x: number; readonly y: number } {
  const box = frame.getBoundingClientRect();
  const style = (frame.ownerDocument.defaultView ?? window).getComputedStyle(frame);
  return {
    x: box.x + frame.clientLeft + (Number.parseFloat(style.paddingLeft) || 0),
    y: box.y + frame.clientTop + (Number.parseFloat(style.paddingTop) || 0),
  };
}

/** The focused element, however deep; nothing when only the document has focus. */
export function deepFocus(): Element | undefined {
  let active = document.activeElement;
  for (;;) {
    const inner: Element | null | undefined =
      active?.shadowRoot?.activeElement ??
      (active !== null && isFrame(active) ? frameDocument(active)?.activeElement : undefined);
    if (!inner || inner.localName === 'body') break;
    active = inner;
  }
  return active === null || active.localName === 'body' || active.localName === 'html'
    ? undefined
    : active;
}

/** The control that a label stands for, else the element itself. */
export function controlOf(element: Element): Control {
  if (element.localName === 'label') {
    const { control } = element as HTMLLabelElement;
    if (control !== null) return control as Control;
  }
  return element as Control;
}

export function collapse(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}
/** At most `limit` units, never ending in half a character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

const TYPED_INPUTS = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number']);
/** How text gets into an element: typed, set as a whole (a date, a colour), or not at all. */
export function textKind(element: Element): 'typed' | 'set' | 'rich' | undefined {
  const control = element as Control;
  if (element.localName === 'textarea') return 'typed';
  if (element.localName === 'input') {
    const type = control.type ?? 'text';
    if (TYPED_INPUTS.has(type)) return 'typed';
    return /^(?:date|datetime-local|month|week|time|color|range)$/u.test(type) ? 'set' : undefined;
  }
  return control.isContentEditable === true ? 'rich' : undefined;
}

const wasSecure = new WeakSet<Element>();
/** Whether what the field holds must not be told; one that hid its text once stays secure. */
export function isSecure(element: Element): boolean {
  if (wasSecure.has(element)) return true;
  const control = element as Control;
  if (element.localName !== 'input' && element.localName !== 'textarea') return false;
  const purposes = (element.getAttribute('autocomplete') ?? '').toLowerCase();
  const secure =
    control.type === 'password' ||
    /\b(?:current-password|new-password|cc-csc)\b/u.test(purposes) ||
    (element.ownerDocument.defaultView ?? window)
      .getComputedStyle(element)
      .getPropertyValue('-webkit-text-security')
      .replace('none', '') !== '';
  if (secure) wasSecure.add(element);
  return secure;
}
