// Which nodes of a snapshot get a line, and which of their strings. The rules, each of them to spend
// no token on what another line tells already:
// - a hidden node is left out with all below it; so is all below a secure field;
// - a node without words is folded, unless it can be operated, shows a state, or is a structure
//   (list, row, main, ...) with two or more listed children; an empty cell keeps its place;
// - a structure without words whose only child is plain text takes that text as its own;
// - words are listed once: a container whose text is its children's text gives it up to them, and a
//   plain text below a control, or below a node that shows its whole text, gives it up to that;
// - a label's text beside the field that it names is left out, and a closed choice lists its
//   options on its own line.
import type { EngineSnapshot, SemanticNode } from '../../contract/observation.ts';
import { OBSERVED_NAME_LIMIT, OBSERVED_TEXT_LIMIT } from '../../contract/observation.ts';
import { isInteractive } from '../../contract/roles.ts';
import { isEditable } from './controls.ts';
import { flattenScreen, type FlatNodes } from './flat.ts';
import {
  bare,
  hasText,
  isPlain,
  isSecure,
  LABELLED_ROLES,
  NAMED_BY_CONTENT,
  OPAQUE_ROLES,
  SPEAKING_ROLES,
  standsOut,
  STRUCTURE_ROLES,
  TABLE_CELLS,
} from './kinds.ts';

/** The visible nodes, with what was decided about each. */
export interface FlatTree extends FlatNodes {
  /** 1 where the node gets a line. */
  readonly kept: Uint8Array;
  /** 1 where a name or text is left to the children. */
  readonly silentName: Uint8Array;
  readonly silentText: Uint8Array;
  /** 1 where the children are options, listed on the node's own line. */
  readonly choice: Uint8Array;
  /** Index of the plain child whose words the node takes; -1 for none. */
  readonly lifted: Int32Array;
}

/** How many nodes a search for repeated words looks at before it gives up: keeps folding linear. */
const REPEAT_SEARCH = 400;

/** Decides for every visible node. Linear in nodes. */
export function fold(snapshot: EngineSnapshot): FlatTree {
  const flat = flattenScreen(snapshot);
  const { nodes, parents, ends } = flat;
  const count = nodes.length;
  const bytes = (): Uint8Array => new Uint8Array(count);
  const tree = {
    ...flat,
    kept: bytes(),
    silentName: bytes(),
    silentText: bytes(),
    choice: bytes(),
    lifted: new Int32Array(count).fill(-1),
  };

  // Bottom up: does anything below have a meaning of its own?
  const rich = bytes();
  for (let index = count - 1; index > 0; index -= 1) {
    const node = nodes[index] as SemanticNode;
    if (rich[index] === 1 || !isPlain(node)) rich[parents[index] as number] = 1;
  }

  // Top down: words, covers, choices. 1: gets no line itself; 2: nothing below gets one either.
  const dropped = bytes();
  const cover = new Int32Array(count).fill(-1);
  for (let index = 0; index < count; index += 1) {
    const node = nodes[index] as SemanticNode;
    const parent = parents[index] as number;
    if (index > 0 && (tree.choice[parent] === 1 || dropped[parent] === 2)) {
      dropped[index] = 2;
      continue;
    }
    if (isClosedChoice(tree, index)) tree.choice[index] = 1;
    if (rich[index] === 1 && !isInteractive(node) && !SPEAKING_ROLES.has(node.role ?? '')) {
      if (isRepeated(tree, index, 'name')) tree.silentName[index] = 1;
      if (isRepeated(tree, index, 'text')) tree.silentText[index] = 1;
    }
    const above = index === 0 ? -1 : (cover[parent] as number);
    if (above >= 0 && ends[index] === index + 1 && isPlain(node) && isTold(tree, index, above)) {
      dropped[index] = 1;
    }
    if (telling(tree, index).length > 0) cover[index] = index;
    else if (isPlain(node) && !hasWords(tree, index)) cover[index] = above;
  }

  dropFieldLabels(tree, dropped);
  keepNodes(tree, dropped);
  return tree;
}

/** Whether the node's own line would carry words. */
function hasWords(tree: FlatTree, index: number): boolean {
  const node = tree.nodes[index] as SemanticNode;
  return (
    (tree.silentName[index] === 0 && hasText(node.name)) ||
    (tree.silentText[index] === 0 && hasText(node.text) && !isSecure(node))
  );
}

/** The strings of a node's line that tell what plain text below it says. */
function telling(tree: FlatTree, index: number): readonly string[] {
  const node = tree.nodes[index] as SemanticNode;
  const told: string[] = [];
  const namedByContent =
    node.role === undefined || NAMED_BY_CONTENT.has(node.role) || isPlain(node);
  if (namedByContent && tree.silentName[index] === 0 && hasText(node.name)) told.push(node.name);
  if (tree.silentText[index] === 0 && hasText(node.text)) told.push(node.text);
  if (hasText(node.value)) told.push(node.value);
  return told;
}

/** Whether all words of a plain node stand in the line of the node at `above`. */
function isTold(tree: FlatTree, index: number, above: number): boolean {
  const node = tree.nodes[index] as SemanticNode;
  const told = telling(tree, above).map(bare);
  return [node.name, node.text].every(
    (words) => words === undefined || told.some((text) => text.includes(bare(words))),
  );
}

/** Whether a node's name or text is nothing but the words of the nodes below, in their order. */
function isRepeated(tree: FlatTree, index: number, kind: 'name' | 'text'): boolean {
  const own = (tree.nodes[index] as SemanticNode)[kind];
  if (own === undefined) return false;
  const target = bare(own);
  const isCut = own.length >= (kind === 'name' ? OBSERVED_NAME_LIMIT : OBSERVED_TEXT_LIMIT);
  const end = Math.min(tree.ends[index] as number, index + REPEAT_SEARCH);
  let position = 0;
  for (let below = index + 1; below < end && position < target.length; ) {
    const node = tree.nodes[below] as SemanticNode;
    const words = bare((kind === 'name' ? node.name || node.text : node.text || node.name) ?? '');
    if (words === '') {
      below += 1;
      continue;
    }
    if (!target.startsWith(words, position)) {
      return isCut && words.startsWith(target.slice(position));
    }
    position += words.length;
    below = tree.ends[below] as number;
  }
  return position >= target.length;
}

/** A choice whose options are not on screen by themselves: they fit on its own line. */
function isClosedChoice(tree: FlatTree, index: number): boolean {
  const node = tree.nodes[index] as SemanticNode;
  const end = tree.ends[index] as number;
  if (node.role !== 'combobox' || node.states?.expanded === true || end === index + 1) return false;
  for (let below = index + 1; below < end; below += 1) {
    const option = tree.nodes[below] as SemanticNode;
    if (option.role === 'option') {
      if (option.states?.disabled === true) return false;
    } else if (!isPlain(option) || tree.parents[below] === index) {
      return false;
    }
  }
  return true;
}

/** Bottom up: a node is kept for its words, for what it is, or for the listed nodes it holds. */
function keepNodes(tree: FlatTree, dropped: Uint8Array): void {
  const { nodes, parents, kept, lifted } = tree;
  const kids = new Int32Array(nodes.length);
  const onlyKid = new Int32Array(nodes.length).fill(-1);
  for (let index = nodes.length - 1; index >= 0; index -= 1) {
    if (dropped[index] === 2) continue;
    const node = nodes[index] as SemanticNode;
    const role = node.role ?? '';
    const count = kids[index] as number;
    const kid = onlyKid[index] as number;
    let keep = standsOut(node) || hasWords(tree, index);
    if (index === 0) {
      // The root is the screen itself: its name is in the header.
      keep = isInteractive(node) || isEditable(node) || (count === 0 && keep);
    } else if (dropped[index] === 1) {
      keep = false;
    } else if (!keep) {
      if (count === 0) {
        keep = OPAQUE_ROLES.has(role) || TABLE_CELLS.has(role) || isLeafWithTestId(tree, index);
      } else if (STRUCTURE_ROLES.has(role)) {
        keep = count > 1;
        if (!keep && isPlainText(tree, kid)) {
          keep = true;
          lifted[index] = kid;
          kept[kid] = 0;
        }
      }
    }
    if (keep) kept[index] = 1;
    const parent = parents[index] as number;
    if (parent < 0) continue;
    const passed = keep ? 1 : count;
    kids[parent] = (kids[parent] as number) + passed;
    if (passed === 1) onlyKid[parent] = keep ? index : kid;
  }
}

function isLeafWithTestId(tree: FlatTree, index: number): boolean {
  const node = tree.nodes[index] as SemanticNode;
  return node.testId !== undefined && tree.ends[index] === index + 1;
}

function isPlainText(tree: FlatTree, index: number): boolean {
  return index >= 0 && isPlain(tree.nodes[index] as SemanticNode) && hasWords(tree, index);
}

/** Leaves out the text of a label that stands next to the field which carries it as its name. */
function dropFieldLabels(tree: FlatTree, dropped: Uint8Array): void {
  const { nodes } = tree;
  let previous = -1;
  for (let index = 1; index < nodes.length; index += 1) {
    const says = standsOut(nodes[index] as SemanticNode) || hasWords(tree, index);
    if (dropped[index] !== 0 || !says) continue;
    if (previous >= 0) {
      if (isLabelOf(tree, previous, index)) dropped[previous] = 1;
      else if (isLabelOf(tree, index, previous)) {
        dropped[index] = 1;
        continue;
      }
    }
    previous = index;
  }
}

function isLabelOf(tree: FlatTree, label: number, field: number): boolean {
  const control = tree.nodes[field] as SemanticNode;
  if (!LABELLED_ROLES.has(control.role ?? '') || !hasText(control.name)) return false;
  if (!isPlainText(tree, label)) return false;
  const node = tree.nodes[label] as SemanticNode;
  const name = bare(control.name);
  return [node.name, node.text].every(
    (words) =>
      words === undefined || bare(words).replace(/[:*]+$/u, '') === name.replace(/[:*]+$/u, ''),
  );
}
