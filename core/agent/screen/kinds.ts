// What kind of thing a node is to a reader: the role lists behind the folding rules of `fold.ts`, and
// the questions asked of one node alone.
import type { SemanticNode } from '../../contract/observation.ts';
import { isInteractive, TEXT_ROLES } from '../../contract/roles.ts';
import { isEditable } from './controls.ts';

/** Roles that say nothing by themselves: such a node is only its words. */
const PLAIN_ROLES: ReadonlySet<string> = new Set([
  'text',
  'static-text',
  'text-view',
  'generic',
  'none',
  'presentation',
  'paragraph',
  'strong',
  'emphasis',
  'mark',
  'time',
  'code',
  'superscript',
  'subscript',
  'insertion',
  'deletion',
  'label',
  'legend',
  'caption',
  'term',
  'definition',
]);

/** Structure worth a line when it holds two or more listed nodes, or a plain text to lift. */
export const STRUCTURE_ROLES: ReadonlySet<string> = new Set([
  'group',
  'list',
  'listitem',
  'region',
  'main',
  'navigation',
  'banner',
  'contentinfo',
  'form',
  'complementary',
  'search',
  'article',
  'figure',
  'status',
  'alert',
  'log',
  'table',
  'grid',
  'treegrid',
  'rowgroup',
  'row',
  'cell',
  'gridcell',
  'columnheader',
  'rowheader',
  'toolbar',
  'menu',
  'menubar',
  'tablist',
  'tabpanel',
  'radiogroup',
  'tree',
  'blockquote',
  'feed',
  'note',
  'tooltip',
  'iframe',
  'dialog',
  'alertdialog',
  'timer',
  'marquee',
]);

/** Shown even when nothing is known of what they show. */
export const OPAQUE_ROLES: ReadonlySet<string> = new Set([
  'canvas',
  'video',
  'audio',
  'progressbar',
  'meter',
  'application',
  'iframe',
  'map',
  'math',
]);

/** Fields whose label often stands beside them as a text of its own. */
export const LABELLED_ROLES: ReadonlySet<string> = new Set([
  ...TEXT_ROLES,
  'checkbox',
  'radio',
  'switch',
  'slider',
  'listbox',
]);

/** Roles whose name is their content, so that text inside them is told by the name. */
export const NAMED_BY_CONTENT: ReadonlySet<string> = new Set([
  'button',
  'link',
  'heading',
  'cell',
  'gridcell',
  'columnheader',
  'rowheader',
  'option',
  'tab',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'checkbox',
  'radio',
  'switch',
  'treeitem',
  'tooltip',
]);

export const TABLE_CELLS: ReadonlySet<string> = new Set([
  'cell',
  'gridcell',
  'columnheader',
  'rowheader',
]);
/** Keep their words also when the nodes below repeat them. */
export const SPEAKING_ROLES: ReadonlySet<string> = new Set([
  'heading',
  'dialog',
  'alertdialog',
  'iframe',
]);
export const DIALOGS: ReadonlySet<string> = new Set(['dialog', 'alertdialog']);
/** Whether a secure field's content must stay unseen; also for a password shown in the clear. */
export function isSecure(node: SemanticNode): boolean {
  return node.states?.secure === true || node.inputPurpose === 'password';
}

/** Only words: no role that matters, nothing to operate, no state. */
export function isPlain(node: SemanticNode): boolean {
  return (node.role === undefined || PLAIN_ROLES.has(node.role)) && !standsOut(node);
}

/** Listed for what it is, with or without words. */
export function standsOut(node: SemanticNode): boolean {
  const states = node.states;
  return (
    isInteractive(node) ||
    isEditable(node) ||
    hasText(node.value) ||
    isSecure(node) ||
    states?.focused === true ||
    states?.checked === true ||
    states?.selected === true ||
    states?.expanded === true ||
    states?.pressed === true
  );
}

export function hasText(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}

/** Text without white space, which engines put between parts in different ways. */
export function bare(text: string): string {
  return text.replace(/\s+/gu, '');
}
