// Whether two snapshots show the same. Revisions never count, since every observation has its own;
// attributes and selectors do not either, because nobody sees them. Loops over a stack of pairs, stops
// at the first difference, and needs no text of either tree.
import type { EngineSnapshot, SemanticNode } from '../../contract/observation.ts';
import { NODE_STATES, type NodeState } from '../../contract/observation.ts';
import { TEXT_ROLES } from '../../contract/roles.ts';
import { isEditable } from './controls.ts';
import type { TextMask } from './outline.ts';

export interface SameScreenOptions {
  /**
   * Whether node ids count. Default true: a rebuilt control is another one to act on. A judgment
   * asks with false: the same words on new nodes are the same to it.
   */
  readonly ids?: boolean;
  /** Whether boxes count, to whole pixels. Default false. */
  readonly boxes?: boolean;
  /** Engine ids whose name, text and value, and the box around them, do not count: tickers. */
  readonly ignoreText?: ReadonlySet<string> | undefined;
  /** Whether the focus counts also where it did not come to a field of text. Default true. */
  readonly focus?: boolean;
  /** Compares strings as masked. */
  readonly redactor?: TextMask | undefined;
}

const STRINGS = ['name', 'text', 'value', 'selection'] as const;

/** True when both show the same location and the same tree. Linear in nodes. */
export function sameScreen(
  a: EngineSnapshot,
  b: EngineSnapshot,
  options: SameScreenOptions = {},
): boolean {
  if (a === b) return true;
  const mask = options.redactor;
  if (!sameText(a.location, b.location, mask)) return false;
  if (a.truncated !== b.truncated || a.treeUnavailable !== b.treeUnavailable) return false;
  const open: (readonly [SemanticNode, SemanticNode])[] = [[a.root, b.root]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [left, right] = pair;
    if (left === right) continue;
    if (!sameNode(left, right, options)) return false;
    const before = left.children ?? [];
    const after = right.children ?? [];
    if (before.length !== after.length) return false;
    for (let index = before.length - 1; index >= 0; index -= 1) {
      open.push([before[index] as SemanticNode, after[index] as SemanticNode]);
    }
  }
  return true;
}

function sameNode(a: SemanticNode, b: SemanticNode, options: SameScreenOptions): boolean {
  if (options.ids !== false && a.ref.id !== b.ref.id) return false;
  if (a.role !== b.role || a.level !== b.level || a.testId !== b.testId) return false;
  const focusCounts = options.focus !== false || (b.states?.focused === true && takesText(b));
  const isSame = (state: NodeState): boolean =>
    (a.states?.[state] ?? false) === (b.states?.[state] ?? false) ||
    (state === 'focused' && !focusCounts);
  if (!NODE_STATES.every(isSame)) return false;
  if (options.ignoreText?.has(a.ref.id) === true) return true;
  if (options.boxes === true && !sameBox(a, b)) return false;
  return sameWords(a, b, options.redactor);
}

function takesText(node: SemanticNode): boolean {
  return TEXT_ROLES.has(node.role ?? '') || isEditable(node);
}

/** Whether the node's own strings are the same. */
export function sameWords(a: SemanticNode, b: SemanticNode, mask?: TextMask): boolean {
  return STRINGS.every((key) => sameText(a[key], b[key], mask));
}

function sameText(a: string | undefined, b: string | undefined, mask?: TextMask): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || mask === undefined || mask.size === 0) return false;
  return mask.text(a) === mask.text(b);
}

function sameBox(a: SemanticNode, b: SemanticNode): boolean {
  const left = a.rect;
  const right = b.rect;
  if (left === undefined || right === undefined) return left === right;
  return (['x', 'y', 'width', 'height'] as const).every(
    (key) => Math.round(left[key]) === Math.round(right[key]),
  );
}
