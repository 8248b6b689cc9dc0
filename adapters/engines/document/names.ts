// Accessible names, after the accname specification, in the order that it gives: labelledby, label,
// what HTML says (labels, alt, legend, caption, value), content, title, placeholder. Generated
// content (::before) is left out: it is mostly glyphs of icon fonts.
import { childrenOf, collapse, controlOf, isElement, isSecure, styleOf, textKind } from './dom.ts';
import { NAMED_BY_CONTENT, roleOf } from './roles.ts';

export interface Named {
  /** Whole, not cut; '' for none. */
  readonly name: string;
  /** The name is the element's own content, so that telling the content again would repeat it. */
  readonly content: boolean;
  /** The element (a legend, a caption) whose text the name is. */
  readonly told?: Element;
}

const NONE: Named = { name: '', content: false };
const authored = (name: string): Named => ({ name, content: false });

export function nameOf(element: Element, role: string): Named {
  const labelled = referenced(element, 'aria-labelledby');
  if (labelled !== '') return authored(labelled);
  const label = attribute(element, 'aria-label');
  if (label !== '') return authored(label);
  const native = nativeName(element);
  if (native.name !== '') return native;
  if (NAMED_BY_CONTENT.has(role)) {
    const name = contentOf(element);
    if (name !== '') return { name, content: true };
  }
  const fallback = attribute(element, 'title');
  if (fallback !== '') return authored(fallback);
  const placeholder = textKind(element) === undefined ? '' : attribute(element, 'placeholder');
  if (placeholder !== '') return authored(placeholder);
  return attribute(element, 'type') === 'file' ? authored('Choose file') : NONE;
}

function attribute(element: Element, name: string): string {
  const value = element.getAttribute(name);
  return value === null ? '' : collapse(value);
}

/** The joined texts of the elements that an attribute names by id. */
export function referenced(element: Element, name: string): string {
  const ids = element.getAttribute(name);
  if (ids === null) return '';
  const root = element.getRootNode() as Document | ShadowRoot;
  const parts: string[] = [];
  for (const id of ids.split(/\s+/u)) {
    const target = id === '' ? null : (root.getElementById?.(id) ?? null);
    if (target === null) continue;
    // A hidden element may be named on purpose; then what it holds counts although hidden.
    const hidden = styleOf(target).display === 'none' || !styleOf(target).visible;
    parts.push(textOf(target, { hidden, visited: new Set([element]), top: true }));
  }
  return collapse(parts.join(' '));
}

function nativeName(element: Element): Named {
  switch (element.localName) {
    case 'input':
      return inputName(element as HTMLInputElement);
    case 'textarea':
    case 'select':
    case 'button':
    case 'meter':
    case 'progress':
    case 'output':
      return authored(labelsOf(element as HTMLInputElement));
    case 'fieldset':
      return childText(element, 'legend');
    case 'table':
      return childText(element, 'caption');
    case 'figure':
      return childText(element, 'figcaption');
    case 'img':
    case 'area':
      return authored(attribute(element, 'alt'));
    case 'svg':
      return authored(collapse(element.querySelector(':scope > title')?.textContent ?? ''));
    case 'optgroup':
      return authored(attribute(element, 'label'));
    case 'option': {
      const label = attribute(element, 'label');
      return label === ''
        ? { name: collapse(element.textContent ?? ''), content: true }
        : authored(label);
    }
    default:
      return NONE;
  }
}

function inputName(input: HTMLInputElement): Named {
  const labels = labelsOf(input);
  switch (input.type) {
    case 'submit':
      return authored(labels || collapse(input.value) || 'Submit');
    case 'reset':
      return authored(labels || collapse(input.value) || 'Reset');
    case 'button':
      return authored(labels || collapse(input.value));
    case 'image':
      return authored(labels || attribute(input, 'alt') || attribute(input, 'title') || 'Submit');
    default:
      return authored(labels);
  }
}

function labelsOf(control: HTMLInputElement): string {
  const { labels } = control;
  if (!labels || labels.length === 0) return '';
  const visited = new Set<Element>([control]);
  const parts = [...labels].map((label) => textOf(label, { hidden: false, visited, top: true }));
  return collapse(parts.join(' '));
}

function childText(element: Element, tag: string): Named {
  for (const child of element.children) {
    if (child.localName !== tag) continue;
    const name = collapse(textOf(child, { hidden: false, visited: new Set(), top: true }));
    return { name, content: false, told: child };
  }
  return NONE;
}

/** What an element contains, as a name. */
export function contentOf(element: Element): string {
  if (element.childElementCount === 0 && element.shadowRoot === null) {
    return collapse(element.textContent ?? '');
  }
  return collapse(inner(element, { hidden: false, visited: new Set([element]), top: false }));
}

interface Walk {
  /** Hidden parts count. */
  readonly hidden: boolean;
  readonly visited: Set<Element>;
  /** The element itself was named by reference: its own hiding does not matter. */
  readonly top: boolean;
}

/** The text alternative of an element inside another's name. */
function textOf(element: Element, walk: Walk): string {
  if (walk.visited.has(element)) return '';
  walk.visited.add(element);
  if (!walk.hidden && !walk.top && isHidden(element)) return '';
  const label = attribute(element, 'aria-label');
  const role = roleOf(element);
  const value = walk.top ? '' : embeddedValue(element, role);
  if (value !== '') return value;
  if (label !== '') return label;
  if (role === 'textbox' || role === 'combobox' || role === 'listbox') return '';
  const native = element.localName === 'label' ? '' : nativeName(element).name;
  if (native !== '') return native;
  const text = inner(element, { ...walk, top: false });
  return text.trim() === '' ? attribute(element, 'title') : text;
}

function isHidden(element: Element): boolean {
  const { display } = styleOf(element);
  return display === 'none' || element.getAttribute('aria-hidden') === 'true';
}

function inner(element: Element, walk: Walk): string {
  let text = '';
  for (const child of childrenOf(element)) {
    if (child.nodeType === 3) {
      if (walk.hidden || styleOf(element).visible) text += (child as Text).data;
    } else if (isElement(child)) {
      if (child.localName === 'br') text += ' ';
      else if (!UNSPOKEN.has(child.localName)) {
        const part = textOf(child, walk);
        text += part !== '' && !styleOf(child).inline ? ` ${part} ` : part;
      }
    }
  }
  return text;
}
const UNSPOKEN = new Set(['script', 'style', 'template', 'noscript']);

/** Inside a label, a control is read by what it holds. */
function embeddedValue(element: Element, role: string): string {
  const control = controlOf(element);
  if (isSecure(element)) return '';
  if (element.localName === 'select') {
    return [...(element as HTMLSelectElement).selectedOptions]
      .map((option) => collapse(option.label))
      .join(' ');
  }
  if (role === 'textbox' || role === 'spinbutton' || role === 'slider' || role === 'searchbox') {
    return (
      attribute(element, 'aria-valuetext') ||
      attribute(element, 'aria-valuenow') ||
      collapse(control.value ?? '')
    );
  }
  return '';
}
