// Many needles in one pass (Aho-Corasick). A node is how far the text just read agrees with some
// needle; its `fallback` is the longest end of that which begins another one. At the end of a cut
// text the node says which needle the text may have been the beginning of.
import { fold, type Stream } from './stream.ts';

/** One needle: `head` is the beginning of `text` that gives it away at a cut. */
export interface Form {
  readonly name: string;
  readonly text: string;
  readonly head: string;
}

export interface Match {
  /** A range of the original text. */
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

export interface Matcher {
  /** The longest needle at each place where one ends, and with `cut` the beginning of one at the end. */
  find(stream: Stream, options: { readonly cut: boolean }): readonly Match[];
}

/** A value of fewer units than this, its blanks collapsed, is matched only at its full length. */
const SHORT = 4;

interface TrieNode {
  readonly depth: number;
  readonly next: Map<number, TrieNode>;
  fallback: TrieNode | undefined;
  /** The nearest node on the way back at which a needle ends, itself included. */
  output: TrieNode | undefined;
  /** The needle that ends here. */
  name: string | undefined;
  /** Units of the original that the needle must cover: it is next to nothing but for its blanks. */
  minLength: number;
  /** The needle that a text ending here is to be taken for. */
  cutName: string | undefined;
}

export function createMatcher(forms: readonly Form[]): Matcher {
  const root = createNode(0);
  for (const form of forms) insert(root, form);
  link(root);
  return {
    find(stream, { cut }) {
      const found: Match[] = [];
      const { text, starts, ends } = stream;
      let node = root;
      for (let index = 0; index < text.length; index += 1) {
        node = step(root, node, text.charCodeAt(index));
        for (let hit = node.output; hit !== undefined; hit = hit.fallback?.output) {
          const start = starts[index + 1 - hit.depth] as number;
          const end = ends[index] as number;
          if (end - start < hit.minLength) continue;
          found.push({ start, end, name: hit.name as string });
          break;
        }
      }
      if (!cut) return found;
      for (let at: TrieNode | undefined = node; at !== undefined; at = at.fallback) {
        if (at.cutName === undefined) continue;
        found.push({
          start: starts[text.length - at.depth] as number,
          end: ends[text.length - 1] as number,
          name: at.cutName,
        });
        break;
      }
      return found;
    },
  };
}

function createNode(depth: number): TrieNode {
  return {
    depth,
    next: new Map(),
    fallback: undefined,
    output: undefined,
    name: undefined,
    minLength: 0,
    cutName: undefined,
  };
}

function insert(root: TrieNode, form: Form): void {
  const folded = fold(form.text).text;
  const trimmed = folded.trim();
  const short = trimmed.length < SHORT && trimmed.length < form.text.length;
  const needle = short ? folded : trimmed;
  if (needle.trim() === '') return;
  const head = fold(form.head).text.trim().length;
  let node = root;
  for (let index = 0; index < needle.length; index += 1) {
    const unit = needle.charCodeAt(index);
    let next = node.next.get(unit);
    if (next === undefined) {
      next = createNode(node.depth + 1);
      node.next.set(unit, next);
    }
    node = next;
    if (!short && node.depth >= head) node.cutName ??= form.name;
  }
  // The first to come gives the name, the shortest to come how little will do.
  const minLength = short ? form.text.length : 0;
  node.minLength = node.name === undefined ? minLength : Math.min(node.minLength, minLength);
  node.name ??= form.name;
}

/** Breadth first, so that a node's fallback is complete before its own. */
function link(root: TrieNode): void {
  const queue: TrieNode[] = [root];
  for (const node of queue) {
    node.output = node.name === undefined ? node.fallback?.output : node;
    for (const [unit, child] of node.next) {
      child.fallback = node === root ? root : step(root, node.fallback ?? root, unit);
      queue.push(child);
    }
  }
}

function step(root: TrieNode, from: TrieNode, unit: number): TrieNode {
  let node: TrieNode | undefined = from;
  while (node !== undefined) {
    const next = node.next.get(unit);
    if (next !== undefined) return next;
    node = node.fallback;
  }
  return root;
}
