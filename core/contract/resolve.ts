// What a locator expression means: the reference answer over a tree, which an engine may use as its
// `locate` and must agree with when it answers natively. Every part of an expression is evaluated
// within a range of the tree in document order (a node's descendants are one range), so `has`
// sees only what lies under the node it judges, and an index in it counts there.
import { collapseWhitespace } from '../base/text.ts';
import { EngineError, TestError } from './errors.ts';
import type { LocatorExpression, SemanticQuery, TextPattern } from './locator.ts';
import type { SemanticNode } from './observation.ts';

export interface ResolveOptions {
  /**
   * Answers a platform-native selector with nodes of this tree (recognised by `ref.id`; others are
   * left out). Without it a `selector` expression is `UNSUPPORTED_CAPABILITY`.
   */
  readonly selector?: (selector: string) => readonly SemanticNode[];
}

/** Whether `actual` is there and matches; throws `INVALID_ARGUMENT` for a broken regexp. */
export function matchesText(actual: string | undefined, pattern: TextPattern): boolean {
  return actual !== undefined && compile(pattern)(actual);
}

/**
 * The nodes of `nodes` and their descendants that the expression names, in document order, each
 * once. Throws `UNSUPPORTED_CAPABILITY` for a `selector` without the hook, `FRAME_NOT_FOUND` for a
 * `frame`, `INVALID_ARGUMENT` for a pattern that cannot be used.
 */
export function resolveExpression(
  expression: LocatorExpression,
  nodes: readonly SemanticNode[],
  options: ResolveOptions = {},
): readonly SemanticNode[] {
  const tree = flatten(nodes);
  const found = evaluate(expression, { tree, options, whole: { from: 0, to: tree.nodes.length } });
  return found.map((index) => nodeAt(tree, index));
}

type TextTest = (text: string) => boolean;

/** A half-open range of document order. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A forest in document order. The descendants of node `i` are `i + 1` up to `ends[i]`. */
interface FlatTree {
  readonly nodes: readonly SemanticNode[];
  readonly ends: readonly number[];
}

interface Evaluation {
  readonly tree: FlatTree;
  readonly options: ResolveOptions;
  /** Where this expression looks. */
  readonly whole: Range;
}

function flatten(roots: readonly SemanticNode[]): FlatTree {
  const nodes: SemanticNode[] = [];
  const ends: number[] = [];
  const visit = (node: SemanticNode): void => {
    const index = nodes.push(node) - 1;
    ends.push(0);
    for (const child of node.children ?? []) visit(child);
    ends[index] = nodes.length;
  };
  for (const root of roots) visit(root);
  return { nodes, ends };
}

function nodeAt(tree: FlatTree, index: number): SemanticNode {
  return tree.nodes[index] as SemanticNode;
}

function below(tree: FlatTree, index: number): Range {
  return { from: index + 1, to: tree.ends[index] as number };
}

/** Indices in document order, each once. */
function evaluate(expression: LocatorExpression, at: Evaluation): readonly number[] {
  switch (expression.kind) {
    case 'query':
      return query(expression.query, candidates(expression.scope, at), at.tree);
    case 'filter':
      return filter(expression, at);
    case 'index': {
      const found = evaluate(expression.source, at);
      const wanted = expression.index;
      const index = wanted === 'first' ? 0 : wanted === 'last' ? found.length - 1 : wanted;
      const hit = found[index];
      return hit === undefined ? [] : [hit];
    }
    case 'selector':
      return native(expression.selector, at);
    case 'frame':
      throw new EngineError(
        'FRAME_NOT_FOUND',
        `Frame ${JSON.stringify(expression.selector)} cannot be found in an observed tree: locate what is inside it by role or text instead.`,
      );
    default:
      throw new TestError(
        'INVALID_ARGUMENT',
        `Locator has the unknown kind ${JSON.stringify((expression as { kind?: unknown }).kind)}.`,
      );
  }
}

/** The whole range, or what lies strictly under the matches of `scope`. */
function candidates(scope: LocatorExpression | undefined, at: Evaluation): readonly Range[] {
  if (scope === undefined) return [at.whole];
  const ranges: Range[] = [];
  for (const index of evaluate(scope, at)) {
    const range = below(at.tree, index);
    // In document order, one that begins inside the last one lies wholly in it.
    if (range.to > (ranges.at(-1)?.to ?? 0)) ranges.push(range);
  }
  return ranges;
}

function query(wanted: SemanticQuery, ranges: readonly Range[], tree: FlatTree): readonly number[] {
  const test = nodeTest(wanted);
  const found: number[] = [];
  for (const { from, to } of ranges) {
    for (let index = from; index < to; index += 1) {
      if (test(nodeAt(tree, index))) found.push(index);
    }
  }
  if (wanted.kind !== 'text' && wanted.kind !== 'label') return found;
  // Containers echo the text of what they hold: a match with a match below it is dropped. The next
  // match in document order is the first that can lie below.
  return found.filter((index, position) => {
    const next = found[position + 1];
    return next === undefined || next >= (tree.ends[index] as number);
  });
}

function nodeTest(wanted: SemanticQuery): (node: SemanticNode) => boolean {
  const own = ownTest(wanted);
  return wanted.visible === true ? (node) => node.states?.hidden !== true && own(node) : own;
}

function ownTest(wanted: SemanticQuery): (node: SemanticNode) => boolean {
  if (wanted.kind === 'role') return roleTest(wanted);
  const test = compile(wanted.value);
  const matches = (text: string | undefined): boolean => text !== undefined && test(text);
  switch (wanted.kind) {
    case 'text':
      return (node) => matches(node.name) || matches(node.text);
    case 'label':
      return (node) => matches(node.name);
    case 'placeholder':
      return (node) => matches(attribute(node, 'placeholder'));
    case 'displayValue':
      return (node) => matches(node.value);
    case 'testId':
      return (node) => matches(node.testId);
    default:
      throw new TestError(
        'INVALID_ARGUMENT',
        `Locator query has the unknown kind ${JSON.stringify((wanted as { kind?: unknown }).kind)}.`,
      );
  }
}

function roleTest(wanted: SemanticQuery): (node: SemanticNode) => boolean {
  if (wanted.value.kind !== 'string') {
    throw new TestError(
      'INVALID_ARGUMENT',
      'Locator by role takes the role as a plain string: a role is one of a closed list.',
    );
  }
  const role = wanted.value.value;
  const name = wanted.name === undefined ? undefined : compile(wanted.name);
  const states = Object.entries(wanted.states ?? {}).filter(([, value]) => value !== undefined);
  return (node) =>
    node.role === role &&
    node.states?.hidden !== true &&
    (name === undefined || (node.name !== undefined && name(node.name))) &&
    (wanted.level === undefined || node.level === wanted.level) &&
    states.every(([state, value]) => (stateOf(node, state) ?? false) === value);
}

function filter(
  expression: Extract<LocatorExpression, { readonly kind: 'filter' }>,
  at: Evaluation,
): readonly number[] {
  const { has } = expression;
  const text = expression.hasText === undefined ? undefined : compile(expression.hasText);
  return evaluate(expression.source, at).filter((index) => {
    const inside = below(at.tree, index);
    if (text !== undefined && !someText(at.tree, { from: index, to: inside.to }, text)) {
      return false;
    }
    return has === undefined || evaluate(has, { ...at, whole: inside }).length > 0;
  });
}

function someText(tree: FlatTree, range: Range, test: TextTest): boolean {
  for (let index = range.from; index < range.to; index += 1) {
    const { name, text, value } = nodeAt(tree, index);
    if ([name, text, value].some((own) => own !== undefined && test(own))) return true;
  }
  return false;
}

function native(selector: string, at: Evaluation): readonly number[] {
  if (at.options.selector === undefined) {
    throw new EngineError(
      'UNSUPPORTED_CAPABILITY',
      `Selector ${JSON.stringify(selector)} cannot be answered from an observed tree: locate by role, label, text or test id instead.`,
    );
  }
  const ids = new Set(at.options.selector(selector).map((node) => node.ref.id));
  const found: number[] = [];
  for (let index = at.whole.from; index < at.whole.to; index += 1) {
    if (ids.has(nodeAt(at.tree, index).ref.id)) found.push(index);
  }
  return found;
}

function attribute(node: SemanticNode, name: string): string | undefined {
  const attributes = node.attributes ?? {};
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

function stateOf(node: SemanticNode, state: string): boolean | undefined {
  return (node.states as Readonly<Record<string, boolean>> | undefined)?.[state];
}

function compile(pattern: TextPattern): TextTest {
  switch (pattern.kind) {
    case 'string': {
      const wanted = collapseWhitespace(pattern.value);
      if (pattern.exact) return (text) => collapseWhitespace(text) === wanted;
      const folded = wanted.toLowerCase();
      return (text) => collapseWhitespace(text).toLowerCase().includes(folded);
    }
    case 'regexp': {
      const expression = toRegExp(pattern.source, pattern.flags);
      return (text) => {
        // A `g` or `y` expression remembers where it stopped.
        expression.lastIndex = 0;
        return expression.test(text);
      };
    }
    default:
      throw new TestError(
        'INVALID_ARGUMENT',
        `Text pattern has the unknown kind ${JSON.stringify((pattern as { kind?: unknown }).kind)}; known: string, regexp.`,
      );
  }
}

function toRegExp(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new TestError(
      'INVALID_ARGUMENT',
      `Text pattern with source ${JSON.stringify(source)} and flags ${JSON.stringify(flags)} is not a regular expression: ${(error as Error).message}`,
      { cause: error },
    );
  }
}
