// What counts as a listed control: the nodes that a model can act on by id. The counts of a screen
// text, the pixel rules and the hit test all mean this one set.
import { isInteractive } from '../../contract/roles.ts';
import type { EngineSnapshot, SemanticNode } from '../../contract/observation.ts';

/** Whether a person can type into the node. */
export function isEditable(node: SemanticNode): boolean {
  const editable = node.attributes?.contenteditable;
  return editable !== undefined && editable !== 'false';
}

/** An enabled, visible node with an interactive role, or focused, or editable. */
export function isListedControl(node: SemanticNode): boolean {
  const states = node.states;
  if (states?.disabled === true || states?.hidden === true) return false;
  return isInteractive(node) || states?.focused === true || isEditable(node);
}

/**
 * The listed controls of a screen, in document order. Hidden subtrees are left out, and so is a
 * root that only holds the focus because nothing else does.
 */
export function listControls(snapshot: EngineSnapshot): readonly SemanticNode[] {
  const found: SemanticNode[] = [];
  const open: SemanticNode[] = [snapshot.root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.states?.hidden === true) continue;
    const counts =
      node === snapshot.root ? isInteractive(node) || isEditable(node) : isListedControl(node);
    if (counts && node.states?.disabled !== true) found.push(node);
    const children = node.children ?? [];
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const child = children[index];
      if (child !== undefined) open.push(child);
    }
  }
  return found;
}
