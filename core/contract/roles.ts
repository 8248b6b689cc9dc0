// The closed facts about roles: which ones a person can operate, and which take text. Everything
// that asks "is this a control?" asks here.
import type { SemanticNode } from './observation.ts';

/** Roles that a person operates. `gridcell` and `row` count only with a `selected` state. */
export const INTERACTIVE_ROLES: ReadonlySet<string> = new Set([
  'button',
  'link',
  'textbox',
  'searchbox',
  'combobox',
  'listbox',
  'option',
  'checkbox',
  'radio',
  'switch',
  'slider',
  'spinbutton',
  'tab',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'treeitem',
]);

/** Roles that take text. */
export const TEXT_ROLES: ReadonlySet<string> = new Set([
  'textbox',
  'searchbox',
  'combobox',
  'spinbutton',
]);

/** Whether the node's role (and for cells its `selected` state) makes it a control. */
export function isInteractive(node: SemanticNode): boolean {
  if (node.role === undefined) return false;
  if (INTERACTIVE_ROLES.has(node.role)) return true;
  return (node.role === 'gridcell' || node.role === 'row') && node.states?.selected !== undefined;
}
