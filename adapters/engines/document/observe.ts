// The observation: one walk over what is drawn, in document order, through open shadow roots and
// same-origin frames. An element becomes a node when it means something (a role, a test id, focus);
// all others are folded into what holds them. Text becomes a node of its own only where no name tells
// it already: text on one line is one run, and a box that holds nothing but a run carries it itself,
// so that a text that is re-rendered keeps the id of its box.
import type { ObserveArgs, PageObservation } from './api.ts';
import {
  childrenOf,
  collapse,
  contentCorner,
  cut,
  deepFocus,
  forgetStyles,
  frameDocument,
  isElement,
  isFrame,
  styleOf,
} from './dom.ts';
import { draftOf, isRun, type Draft } from './drafts.ts';
import { OBSERVED_NAME_LIMIT, statesOf, OBSERVED_TEXT_LIMIT } from './facts.ts';
import { idOf, setRootId } from './ids.ts';
import { MASK_TAG } from './mask.ts';
import { contentOf, nameOf } from './names.ts';
import { CONTROLS, LEAF_ROLES, NAMED_BY_CONTENT, roleOf } from './roles.ts';
import { frameSelector } from './selectors.ts';

const SKIPPED = new Set(
  'script style template noscript head meta link title base col colgroup source track param'.split(
    ' ',
  ),
);
/** Deeper nodes are left out: the wire refuses a tree of 512 levels. */
const MAX_DEPTH = 200;
/** Viewport heights around the viewport that are told once the soft cap is reached. */
const NEAR = 1;
/** Structure that a table cell's flat name would lose. */
const STRUCTURE = 'ul,ol,dl,table,p,h1,h2,h3,h4,h5,h6,iframe,[role="list"],[role="table"]';

/** Collects the children of one node. */
interface Sink {
  readonly nodes: Draft[];
  readonly depth: number;
  /** A name above tells the text already. */
  readonly silent: boolean;
  text: string;
  first: Text | undefined;
  last: Text | undefined;
}

export function observe(args: ObserveArgs): PageObservation {
  forgetStyles();
  setRootId(args.rootId);
  return new Walk(args).run();
}

class Walk {
  readonly #args: ObserveArgs;
  readonly #keep: ReadonlySet<string>;
  readonly #told = new Set<Element>();
  readonly #focus = deepFocus();
  #count = 0;
  #truncated = false;
  /** Of the document that is being walked. */
  #dx = 0;
  #dy = 0;
  #framePath: readonly string[] = [];

  constructor(args: ObserveArgs) {
    this.#args = args;
    this.#keep = new Set(args.keep);
  }

  run(): PageObservation {
    const viewport = { width: innerWidth, height: innerHeight, scale: devicePixelRatio };
    const root: Draft = { ref: { id: this.#args.rootId, revision: '' }, role: 'document' };
    const title = collapse(document.title);
    if (title !== '') root.name = cut(title, OBSERVED_NAME_LIMIT);
    root.rect = { x: 0, y: 0, width: viewport.width, height: viewport.height };
    if (this.#focus === undefined) root.states = { focused: true };
    const sink = newSink(1, false);
    if (document.documentElement !== null) this.#children(document.documentElement, sink);
    this.#flush(sink);
    if (sink.nodes.length > 0) root.children = sink.nodes;
    return {
      location: location.href,
      root,
      viewport,
      ...(this.#truncated ? { truncated: true } : {}),
    };
  }

  #children(parent: Node, sink: Sink): void {
    for (const child of childrenOf(parent)) {
      if (child.nodeType === 3) this.#text(child as Text, sink);
      else if (isElement(child)) this.#element(child, sink);
    }
  }

  #text(text: Text, sink: Sink): void {
    if (sink.silent) return;
    const { data } = text;
    const holder = text.parentElement;
    if (holder !== null && !styleOf(holder).visible) return;
    if (/\S/u.test(data)) {
      sink.first ??= text;
      sink.last = text;
    }
    sink.text += data;
  }

  /** Ends the line of text. */
  #flush(sink: Sink): void {
    const { first, last } = sink;
    const text = collapse(sink.text);
    sink.text = '';
    sink.first = undefined;
    sink.last = undefined;
    if (text === '' || first === undefined || last === undefined || !this.#room(sink.depth)) return;
    const range = first.ownerDocument.createRange();
    range.setStartBefore(first);
    range.setEndAfter(last);
    const node: Draft = {
      ref: { id: idOf(first), revision: '' },
      text: cut(text, OBSERVED_TEXT_LIMIT),
    };
    this.#place(node, range);
    sink.nodes.push(node);
  }

  #room(depth: number): boolean {
    if (this.#count < this.#args.maxNodes * 2 && depth < MAX_DEPTH) {
      this.#count += 1;
      return true;
    }
    this.#truncated = true;
    return false;
  }

  #place(node: Draft, box: Element | Range): void {
    const { x, y, width, height } = box.getBoundingClientRect();
    node.rect = {
      x: round(x + this.#dx),
      y: round(y + this.#dy),
      width: round(width),
      height: round(height),
    };
    if (this.#framePath.length > 0) node.framePath = this.#framePath;
  }

  /** Once a page is large, what lies far from the viewport is left out, with all it holds. */
  #isFar(element: Element): boolean {
    if (this.#count < this.#args.maxNodes) return false;
    const { top, bottom, width, height } = element.getBoundingClientRect();
    if (width === 0 && height === 0) return false;
    const margin = NEAR * innerHeight;
    return bottom + this.#dy < -margin || top + this.#dy > innerHeight + margin;
  }

  #element(element: Element, sink: Sink): void {
    const tag = element.localName;
    if (SKIPPED.has(tag) || tag === MASK_TAG) return;
    const style = styleOf(element);
    const hidden =
      style.display === 'none' ||
      element.getAttribute('aria-hidden') === 'true' ||
      element.hasAttribute('inert');
    if (hidden) {
      this.#hidden(element, sink);
      return;
    }
    if (tag === 'br') {
      sink.text += ' ';
      return;
    }
    if (this.#isFar(element)) {
      this.#truncated = true;
      return;
    }
    const role = this.#hiddenControl(element) ?? roleOf(element);
    const isNode =
      style.visible &&
      ((role !== '' && !this.#told.has(element)) || this.#isMarked(element)) &&
      (!sink.silent || this.#countsInside(element, role));
    if (isNode) {
      if (!style.inline || role !== '') this.#flush(sink);
      this.#node(element, role, sink);
    } else {
      this.#fold(element, sink, style.inline, style.display);
    }
  }

  /** Told although its role says nothing. */
  #isMarked(element: Element): boolean {
    return (
      element === this.#focus ||
      (element.hasAttribute('tabindex') && (element as HTMLElement).tabIndex >= 0) ||
      element.hasAttribute(this.#args.testIdAttribute) ||
      (this.#keep.size > 0 && this.#keep.has(idOf(element)))
    );
  }

  /** Told inside a node whose name tells the text. */
  #countsInside(element: Element, role: string): boolean {
    return CONTROLS.has(role) || role === 'heading' || role === 'iframe' || this.#isMarked(element);
  }

  #fold(element: Element, sink: Sink, inline: boolean, display: string): void {
    const silent = sink.silent || this.#isTold(element);
    if (silent !== sink.silent) {
      // A label whose control tells its text: only what else it holds is told.
      this.#flush(sink);
      this.#into(element, { ...newSink(sink.depth, true), nodes: sink.nodes });
      return;
    }
    if (inline) {
      this.#children(element, sink);
      this.#closedRoot(element);
      return;
    }
    if (display.startsWith('inline')) {
      sink.text += ' ';
      this.#children(element, sink);
      sink.text += ' ';
      this.#closedRoot(element);
      return;
    }
    this.#flush(sink);
    const before = sink.nodes.length;
    this.#into(element, sink);
    const only = sink.nodes.length === before + 1 ? sink.nodes[before] : undefined;
    if (only !== undefined && isRun(only)) only.ref = { id: idOf(element), revision: '' };
    this.#closedRoot(element);
  }

  #into(element: Element, sink: Sink): void {
    this.#children(element, sink);
    this.#flush(sink);
  }

  /** Whether some name that was told is this element's text. */
  #isTold(element: Element): boolean {
    if (this.#told.has(element)) return true;
    if (element.localName !== 'label') return false;
    const control = (element as HTMLLabelElement).control;
    if (control === null || control.hasAttribute('aria-label')) return false;
    const style = styleOf(control);
    return style.display !== 'none' && style.visible;
  }

  /** A label that stands for a check box or radio button that is not drawn at all. */
  #hiddenControl(element: Element): string | undefined {
    if (element.localName !== 'label') return undefined;
    const control = (element as HTMLLabelElement).control;
    if (control === null || styleOf(control).display !== 'none') return undefined;
    const role = roleOf(control);
    return role === 'checkbox' || role === 'radio' || role === 'switch' ? role : undefined;
  }

  /** A custom element that draws something although nothing can be seen inside. */
  #closedRoot(element: Element): void {
    if (!element.localName.includes('-') || element.shadowRoot !== null) return;
    if (element.childNodes.length > 0) return;
    const { width, height } = element.getBoundingClientRect();
    if (width > 0 && height > 0) this.#truncated = true;
  }

  #node(element: Element, role: string, sink: Sink): void {
    if (!this.#room(sink.depth)) return;
    const stands = element.localName === 'label' && role !== '';
    const named = stands ? { name: contentOf(element), content: true } : nameOf(element, role);
    if (named.told !== undefined) this.#told.add(named.told);
    const { testIdAttribute } = this.#args;
    const node = draftOf(element, { role, name: named.name, testIdAttribute });
    this.#place(node, element);
    sink.nodes.push(node);

    const below = newSink(sink.depth + 1, this.#tellsContent(element, role, named, node.value));
    if (isFrame(element)) this.#frame(element, below);
    else if (element.localName === 'select') this.#options(element, below);
    else {
      this.#children(element, below);
      this.#flush(below);
      this.#closedRoot(element);
    }
    const [only] = below.nodes;
    if (only !== undefined && below.nodes.length === 1 && isRun(only)) {
      if (only.text !== undefined) node.text = only.text;
      this.#count -= 1;
    } else if (below.nodes.length > 0) node.children = below.nodes;
  }

  /** Whether what the element holds needs no text nodes, as its name or value tells it. */
  #tellsContent(
    element: Element,
    role: string,
    { name, content }: { readonly name: string; readonly content: boolean },
    value: string | undefined,
  ): boolean {
    if (role === 'row') return false;
    if (LEAF_ROLES.has(role)) return true;
    if (role === 'textbox') return (value ?? '').length <= OBSERVED_TEXT_LIMIT;
    if (!content || !NAMED_BY_CONTENT.has(role) || name.length > OBSERVED_NAME_LIMIT) return false;
    return element.childElementCount === 0 || element.querySelector(STRUCTURE) === null;
  }

  #options(select: Element, sink: Sink): void {
    for (const child of select.children) {
      if (child.localName === 'option') this.#option(child, sink);
      else if (child.localName === 'optgroup' && this.#room(sink.depth)) {
        const group: Draft = { ref: { id: idOf(child), revision: '' }, role: 'group' };
        const { name } = nameOf(child, 'group');
        if (name !== '') group.name = cut(name, OBSERVED_NAME_LIMIT);
        const below = newSink(sink.depth + 1, true);
        this.#options(child, below);
        if (below.nodes.length > 0) group.children = below.nodes;
        sink.nodes.push(group);
      }
    }
  }

  /** The options of a closed list have no box, so none is told. */
  #option(option: Element, sink: Sink): void {
    if (!this.#room(sink.depth)) return;
    const { name } = nameOf(option, 'option');
    const states = statesOf(option, 'option');
    const node: Draft = { ref: { id: idOf(option), revision: '' }, role: 'option' };
    if (name !== '') node.name = cut(name, OBSERVED_NAME_LIMIT);
    if (states !== undefined) node.states = states;
    sink.nodes.push(node);
  }

  #frame(frame: Element, sink: Sink): void {
    const inner = frameDocument(frame);
    if (inner?.documentElement === undefined || inner.documentElement === null) {
      this.#truncated = true;
      return;
    }
    const saved = { dx: this.#dx, dy: this.#dy, path: this.#framePath };
    const corner = contentCorner(frame);
    this.#dx += corner.x;
    this.#dy += corner.y;
    this.#framePath = [...saved.path, frameSelector(frame, this.#args.testIdAttribute)];
    this.#children(inner.documentElement, sink);
    this.#flush(sink);
    this.#dx = saved.dx;
    this.#dy = saved.dy;
    this.#framePath = saved.path;
  }

  /**
   * Of what is not drawn (or hidden from assistive technology) only what a test may mean by name is
   * told, marked as hidden: test ids and file inputs, which pages hide behind a button.
   */
  #hidden(element: Element, sink: Sink): void {
    const wanted = `input[type="file"],[${this.#args.testIdAttribute}]`;
    const found = element.matches(wanted) ? [element] : [];
    if (element.firstElementChild !== null) found.push(...element.querySelectorAll(wanted));
    for (const kept of this.#keep.size === 0 ? [] : element.querySelectorAll('*')) {
      if (this.#keep.has(idOf(kept)) && !found.includes(kept)) found.push(kept);
    }
    if (this.#keep.size > 0 && this.#keep.has(idOf(element)) && !found.includes(element)) {
      found.push(element);
    }
    for (const hidden of found) {
      if (!this.#room(sink.depth)) return;
      const role = roleOf(hidden);
      const { name } = nameOf(hidden, role);
      const node = draftOf(hidden, { role, name, testIdAttribute: this.#args.testIdAttribute });
      node.states = { ...node.states, hidden: true };
      if (this.#framePath.length > 0) node.framePath = this.#framePath;
      sink.nodes.push(node);
    }
  }
}

function newSink(depth: number, silent: boolean): Sink {
  return { nodes: [], depth, silent, text: '', first: undefined, last: undefined };
}

function round(length: number): number {
  return Math.round(length * 100) / 100;
}
