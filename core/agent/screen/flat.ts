// The visible nodes of a snapshot as flat arrays in document order, and which of them lie in the view.
// Loops instead of recursion: a tree may be deeper than the call stack.
import type { EngineSnapshot, Rect, SemanticNode, Viewport } from '../../contract/observation.ts';
import { DIALOGS, isSecure } from './kinds.ts';

/** The visible nodes in document order. */
export interface FlatNodes {
  readonly nodes: readonly SemanticNode[];
  /** Index of the parent node; -1 for the root. */
  readonly parents: Int32Array;
  /** Index after the node's last descendant. */
  readonly ends: Int32Array;
  /** 1 where the node, or a node below it, is in the view. */
  readonly inView: Uint8Array;
  /** 1 for the focused node and all of a dialog. */
  readonly always: Uint8Array;
}

/** Flattens a snapshot; hidden nodes and what lies below a secure field are left out. */
export function flattenScreen(snapshot: EngineSnapshot): FlatNodes {
  const flat = flatten(snapshot.root);
  const count = flat.nodes.length;
  const tree = { ...flat, inView: new Uint8Array(count), always: new Uint8Array(count) };
  placeInView(tree, snapshot.viewport);
  return tree;
}

function flatten(root: SemanticNode): Pick<FlatNodes, 'nodes' | 'parents' | 'ends'> {
  const nodes: SemanticNode[] = [];
  const parents: number[] = [];
  const open: { readonly node: SemanticNode; readonly parent: number }[] = [
    { node: root, parent: -1 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, parent } = next;
    // A root that calls itself hidden would hide the whole screen: believe its children instead.
    if (node.states?.hidden === true && parent >= 0) continue;
    const index = nodes.length;
    nodes.push(node);
    parents.push(parent);
    if (isSecure(node)) continue;
    const children = node.children ?? [];
    for (let child = children.length - 1; child >= 0; child -= 1) {
      open.push({ node: children[child] as SemanticNode, parent: index });
    }
  }
  const ends = new Int32Array(nodes.length);
  for (let index = nodes.length - 1; index >= 0; index -= 1) {
    if (ends[index] === 0) ends[index] = index + 1;
    const parent = parents[index] as number;
    if (parent >= 0 && (ends[parent] as number) < (ends[index] as number)) {
      ends[parent] = ends[index] as number;
    }
  }
  return { nodes, parents: Int32Array.from(parents), ends };
}

/** A node is in the view when its box or a descendant's is; without any box, when its parent is. */
function placeInView(tree: FlatNodes, viewport: Viewport): void {
  const { nodes, parents, inView, always } = tree;
  const boxBelow = new Uint8Array(nodes.length);
  const inDialog = new Uint8Array(nodes.length);
  for (let index = nodes.length - 1; index >= 0; index -= 1) {
    const box = boxOf(nodes[index] as SemanticNode);
    if (box !== undefined && sideOf(box, viewport) === 'in') inView[index] = 1;
    const parent = parents[index] as number;
    if (parent < 0) continue;
    if (inView[index] === 1) inView[parent] = 1;
    if (box !== undefined || boxBelow[index] === 1) boxBelow[parent] = 1;
  }
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[index] as SemanticNode;
    const parent = parents[index] as number;
    if (parent < 0) {
      inView[index] = 1;
      continue;
    }
    if (inView[index] === 0 && boxOf(node) === undefined && boxBelow[index] === 0) {
      inView[index] = inView[parent] as number;
    }
    if (DIALOGS.has(node.role ?? '') || inDialog[parent] === 1) inDialog[index] = 1;
    if (inDialog[index] === 1 || node.states?.focused === true) always[index] = 1;
  }
}

/** The node's box, if it has an area. */
export function boxOf(node: SemanticNode): Rect | undefined {
  const rect = node.rect;
  return rect !== undefined && rect.width > 0 && rect.height > 0 ? rect : undefined;
}

/** Where a box lies, seen from the viewport. */
export function sideOf(box: Rect, viewport: Viewport): 'in' | 'above' | 'below' | 'aside' {
  if (box.y + box.height <= 0) return 'above';
  if (box.y >= viewport.height) return 'below';
  return box.x + box.width <= 0 || box.x >= viewport.width ? 'aside' : 'in';
}
