// The role of an element: the explicit one when it is a role that we know, else the one that HTML
// gives it (HTML-AAM). An answer of '' is a role that says nothing (generic, presentation): such an
// element is told only for something else, such as a test id.

const KNOWN = new Set(
  (
    'alert alertdialog application article banner blockquote button caption cell checkbox code ' +
    'columnheader combobox complementary contentinfo definition deletion dialog directory document ' +
    'emphasis feed figure form grid gridcell group heading image insertion link list listbox ' +
    'listitem log main marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter ' +
    'navigation note option paragraph progressbar radio radiogroup region row rowgroup rowheader ' +
    'scrollbar search searchbox separator slider spinbutton status strong subscript superscript ' +
    'switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid ' +
    'treeitem generic none presentation'
  ).split(' '),
);
const SILENT = new Set(['generic', 'none', 'presentation', 'document']);
/** Words in a line of text: told as part of it. */
const INLINE = new Set(
  'code emphasis strong time deletion insertion subscript superscript'.split(' '),
);

const BY_TAG: Readonly<Record<string, string>> = {
  article: 'article',
  aside: 'complementary',
  blockquote: 'blockquote',
  button: 'button',
  canvas: 'canvas',
  caption: 'caption',
  dd: 'definition',
  datalist: 'listbox',
  details: 'group',
  dialog: 'dialog',
  dt: 'term',
  fieldset: 'group',
  figure: 'figure',
  frame: 'iframe',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  hr: 'separator',
  iframe: 'iframe',
  li: 'listitem',
  main: 'main',
  math: 'math',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  search: 'search',
  textarea: 'textbox',
  ul: 'list',
  video: 'video',
  audio: 'audio',
};

const BY_INPUT: Readonly<Record<string, string>> = {
  button: 'button',
  submit: 'button',
  reset: 'button',
  image: 'button',
  file: 'button',
  checkbox: 'checkbox',
  radio: 'radio',
  range: 'slider',
  number: 'spinbutton',
  search: 'searchbox',
};

const SECTIONING = 'article,aside,main,nav,section';
const GLOBAL_ARIA = ['aria-label', 'aria-labelledby', 'aria-describedby', 'aria-live'];

export function roleOf(element: Element): string {
  const explicit = element.getAttribute('role');
  if (explicit !== null) {
    for (const token of explicit.toLowerCase().split(/\s+/u)) {
      const role = token === 'img' ? 'image' : token === 'directory' ? 'list' : token;
      if (!KNOWN.has(role)) continue;
      // Presentation is refused to what a person can still focus or what carries a name.
      if ((role === 'none' || role === 'presentation') && keepsRole(element)) break;
      return SILENT.has(role) ? '' : role;
    }
  }
  const role = nativeRole(element);
  return INLINE.has(role) ? '' : role;
}

function keepsRole(element: Element): boolean {
  return (
    (element as HTMLElement).tabIndex >= 0 || GLOBAL_ARIA.some((name) => element.hasAttribute(name))
  );
}

function nativeRole(element: Element): string {
  const tag = element.localName;
  switch (tag) {
    case 'a':
    case 'area':
      return element.hasAttribute('href') ? 'link' : '';
    case 'input': {
      const { type, list } = element as HTMLInputElement;
      const role = BY_INPUT[type] ?? 'textbox';
      const takesList = role === 'textbox' || role === 'searchbox';
      if (takesList && list !== null) return 'combobox';
      return role === 'checkbox' && element.hasAttribute('switch') ? 'switch' : role;
    }
    case 'select': {
      const { multiple, size } = element as HTMLSelectElement;
      return multiple || size > 1 ? 'listbox' : 'combobox';
    }
    case 'header':
      return element.closest(SECTIONING) === null ? 'banner' : '';
    case 'footer':
      return element.closest(SECTIONING) === null ? 'contentinfo' : '';
    case 'section':
    case 'form':
      return hasAuthorName(element) ? (tag === 'form' ? 'form' : 'region') : '';
    case 'img':
      return element.getAttribute('alt') === '' && !hasAuthorName(element) ? '' : 'image';
    case 'svg':
      return hasAuthorName(element) || element.querySelector(':scope > title') !== null
        ? 'image'
        : '';
    case 'summary':
      return element.parentElement?.localName === 'details' ? 'button' : '';
    case 'table':
    case 'thead':
    case 'tbody':
    case 'tfoot':
    case 'tr':
    case 'td':
    case 'th':
      return tableRole(element, tag);
    default:
      if (Object.hasOwn(BY_TAG, tag)) return BY_TAG[tag] ?? '';
      return isEditingHost(element) ? 'textbox' : '';
  }
}

function hasAuthorName(element: Element): boolean {
  return ['aria-label', 'aria-labelledby', 'title'].some(
    (name) => (element.getAttribute(name) ?? '').trim() !== '',
  );
}

/** The outermost element of an editable region. */
export function isEditingHost(element: Element): boolean {
  const editable = element.getAttribute('contenteditable');
  return editable !== null && editable !== 'false' && (element as HTMLElement).isContentEditable;
}

function tableRole(element: Element, tag: string): string {
  if (tag === 'table') return 'table';
  const table = element.closest('table');
  const role = table?.getAttribute('role') ?? 'table';
  if (table === null || role === 'none' || role === 'presentation') return '';
  if (tag === 'tr') return 'row';
  if (tag === 'th') {
    const scope = element.getAttribute('scope');
    if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
    const row = element.parentElement;
    const inBody = row?.parentElement?.localName !== 'thead' && row?.firstElementChild === element;
    const headsRow = scope === null && inBody && row.querySelector('td') !== null;
    return headsRow ? 'rowheader' : 'columnheader';
  }
  if (tag === 'td') return role === 'grid' || role === 'treegrid' ? 'gridcell' : 'cell';
  return 'rowgroup';
}

/** Roles whose name is what they contain. */
export const NAMED_BY_CONTENT: ReadonlySet<string> = new Set(
  (
    'button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox ' +
    'menuitemradio option radio row rowheader switch tab tooltip treeitem'
  ).split(' '),
);
/** Roles whose children are only a picture of them. */
export const LEAF_ROLES: ReadonlySet<string> = new Set(
  (
    'button checkbox image menuitemcheckbox menuitemradio meter option progressbar radio scrollbar ' +
    'separator slider switch tab math canvas video audio'
  ).split(' '),
);
/** Roles that a person operates, as far as a control inside another is still told. */
export const CONTROLS: ReadonlySet<string> = new Set(
  (
    'button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio ' +
    'searchbox slider spinbutton switch tab textbox treeitem'
  ).split(' '),
);
