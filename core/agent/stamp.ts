// What the harness does to a tree before anything reads it: every ref gets the observation's
// revision, and a secure field loses its value and selection. The second is a lock behind the
// engine's own: an engine must not report them, and this is the one place all screens pass.
import type { EngineSnapshot, SemanticNode } from '../contract/observation.ts';

export interface StampedSnapshot {
  readonly snapshot: EngineSnapshot;
  /** Nodes by engine id, in document order. */
  readonly nodes: ReadonlyMap<string, SemanticNode>;
}

/** Copies a valid snapshot with `revision` in every ref. */
export function stampSnapshot(snapshot: EngineSnapshot, revision: string): StampedSnapshot {
  const nodes = new Map<string, SemanticNode>();
  const stamp = (node: SemanticNode): SemanticNode => {
    // Reserved before the children are walked: the map is in document order.
    nodes.set(node.ref.id, node);
    const stamped = stampNode(node, revision, stamp);
    nodes.set(node.ref.id, stamped);
    return stamped;
  };
  return { snapshot: { ...snapshot, root: stamp(snapshot.root) }, nodes };
}

/** Stamps nodes that `locate` answered; they are no tree of their own and may repeat. */
export function stampNodes(
  nodes: readonly SemanticNode[],
  revision: string,
): readonly SemanticNode[] {
  const stamp = (node: SemanticNode): SemanticNode => stampNode(node, revision, stamp);
  return nodes.map(stamp);
}

function stampNode(
  node: SemanticNode,
  revision: string,
  child: (node: SemanticNode) => SemanticNode,
): SemanticNode {
  const stamped = {
    ...node,
    ref: { id: node.ref.id, revision },
    ...(node.children === undefined ? {} : { children: node.children.map(child) }),
  };
  if (node.states?.secure !== true) return stamped;
  const { value: _value, selection: _selection, ...rest } = stamped;
  return rest;
}
