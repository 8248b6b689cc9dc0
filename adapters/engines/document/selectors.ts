// Structural selectors, within the element's own document or shadow root. A node gets one only where an
// id-like attribute anchors it: a path of positions from the root would name another element as
// soon as the page changes. The boundary of a frame must have one, and gets a position as a last resort.

export function nodeSelector(element: Element, testIdAttribute: string): string | undefined {
  const { id } = element;
  // Read as a property, which a form's field named "id" can hide.
  if (typeof id === 'string' && id !== '') {
    const root = element.getRootNode() as Document | ShadowRoot;
    if (root.getElementById?.(id) === element) return `#${CSS.escape(id)}`;
  }
  const testId = element.getAttribute(testIdAttribute);
  if (testId === null || testId === '') return undefined;
  return unique(element, `[${testIdAttribute}=${quote(testId)}]`);
}

/** The selector of a frame element in the document that holds it. */
export function frameSelector(frame: Element, testIdAttribute: string): string {
  const anchored = nodeSelector(frame, testIdAttribute);
  if (anchored !== undefined) return anchored;
  for (const name of ['name', 'title', 'src']) {
    const value = frame.getAttribute(name);
    if (value === null || value === '' || value.length > 200) continue;
    const selector = unique(frame, `${frame.localName}[${name}=${quote(value)}]`);
    if (selector !== undefined) return selector;
  }
  const steps: string[] = [];
  for (let at: Element | null = frame; at !== null; at = at.parentElement) {
    const { localName, parentElement } = at;
    const twins = [...(parentElement?.children ?? [])].filter((one) => one.localName === localName);
    steps.unshift(
      twins.length > 1 ? `${localName}:nth-of-type(${twins.indexOf(at) + 1})` : localName,
    );
  }
  return steps.join(' > ');
}

function unique(element: Element, selector: string): string | undefined {
  const root = element.getRootNode() as Document | ShadowRoot;
  return root.querySelectorAll(selector).length === 1 ? selector : undefined;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/gu, '\\$&').replace(/\n/gu, '\\a ')}"`;
}
