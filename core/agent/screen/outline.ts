// A snapshot as the list of nodes that deserve a line, in document order: the one place that decides
// what is folded, what is repeated and what lies in the view. `render.ts` and `changes.ts` both start
// here, so that a change report speaks of the nodes that the screen listed. Every pass is a loop over
// flat arrays: linear in nodes, and safe for a tree of any depth.
import type { EngineSnapshot, SemanticNode, Viewport } from '../../contract/observation.ts';
import {
  OBSERVED_NAME_LIMIT,
  NODE_STATES,
  OBSERVED_TEXT_LIMIT,
} from '../../contract/observation.ts';
import { isInteractive } from '../../contract/roles.ts';
import { collapseWhitespace, cutEnd } from '../../base/text.ts';
import { isListedControl } from './controls.ts';
import { COLLAPSED, roleWord } from './format.ts';
import { boxOf, sideOf } from './flat.ts';
import { fold, type FlatTree } from './fold.ts';
import { bare, isSecure } from './kinds.ts';

/** Masks secrets in one string of the app; `cutText` is for text that was cut at a limit. */
export interface TextMask {
  readonly size: number;
  text(text: string): string;
  cutText(text: string): string;
}

/** One node with a line of its own. Strings are the app's, masked, not yet quoted. */
export interface OutlineItem {
  /** The engine's id. */
  readonly id: string;
  /** Index of the nearest listed ancestor; -1 at the top. */
  readonly parent: number;
  readonly role: string;
  readonly level?: number;
  /** The accessible name, or the visible text (or placeholder) of a node without one. */
  readonly name?: string;
  /** Visible text that the name does not tell. */
  readonly text?: string;
  readonly value?: string;
  readonly selection?: string;
  readonly options?: readonly string[];
  /** Path of a link without a name. */
  readonly target?: string;
  readonly testId?: string;
  readonly states: readonly string[];
  readonly inView: boolean;
  /** In every first look: focused, or part of a dialog. */
  readonly always: boolean;
  readonly control: boolean;
  readonly side: 'above' | 'below' | 'aside';
}

export interface Outline {
  readonly location?: string;
  /** The root's own name. */
  readonly title?: string;
  readonly items: readonly OutlineItem[];
  /** Ids of every visible node, listed or folded. */
  readonly present: () => ReadonlySet<string>;
  /** The engine left nodes out. */
  readonly incomplete: boolean;
  readonly treeUnavailable: boolean;
}

/** Whether a first look shows the node. */
export function isNear(item: OutlineItem): boolean {
  return item.inView || item.always;
}

const LOCATION_LIMIT = 1024;

/** Makes the outline of a snapshot. */
export function outlineOf(snapshot: EngineSnapshot, mask?: TextMask): Outline {
  const clean = (text: string | undefined, limit: number): string | undefined => {
    if (text === undefined || mask === undefined || mask.size === 0) return text;
    return text.length >= limit ? mask.cutText(text) : mask.text(text);
  };
  const tree = fold(snapshot);
  const context: ItemContext = { tree, viewport: snapshot.viewport, clean };
  const items: OutlineItem[] = [];
  const itemOf = new Int32Array(tree.nodes.length);
  for (let index = 0; index < tree.nodes.length; index += 1) {
    const parent = index === 0 ? -1 : (itemOf[tree.parents[index] as number] as number);
    if (tree.kept[index] === 1) {
      itemOf[index] = items.length;
      items.push(makeItem(context, index, parent));
    } else {
      itemOf[index] = parent;
    }
  }
  const { location } = snapshot;
  const title =
    tree.kept[0] === 1 ? undefined : words(clean(snapshot.root.name, OBSERVED_NAME_LIMIT));
  return {
    ...optional('location', location && clean(cleanLocation(location), LOCATION_LIMIT)),
    ...optional('title', title),
    items,
    present: () => new Set(tree.nodes.map((node) => node.ref.id)),
    incomplete: snapshot.truncated === true,
    treeUnavailable: snapshot.treeUnavailable === true,
  };
}

interface ItemContext {
  readonly tree: FlatTree;
  readonly viewport: Viewport;
  /** Masks a string of the app that its engine cuts at `limit`. */
  readonly clean: (text: string | undefined, limit: number) => string | undefined;
}

function makeItem(context: ItemContext, index: number, parent: number): OutlineItem {
  const { tree, viewport, clean } = context;
  const node = tree.nodes[index] as SemanticNode;
  const lifted = tree.nodes[tree.lifted[index] as number];
  const secure = isSecure(node);
  const ownName =
    tree.silentName[index] === 1 ? undefined : words(clean(node.name, OBSERVED_NAME_LIMIT));
  const ownText =
    secure || tree.silentText[index] === 1
      ? undefined
      : words(clean(node.text, OBSERVED_TEXT_LIMIT));
  const value = secure ? undefined : clean(node.value, OBSERVED_TEXT_LIMIT) || undefined;
  const name =
    ownName ??
    ownText ??
    words(clean(lifted?.name ?? lifted?.text, OBSERVED_NAME_LIMIT)) ??
    words(clean(node.attributes?.placeholder, OBSERVED_NAME_LIMIT));
  const text = ownText ?? words(clean(lifted?.text, OBSERVED_TEXT_LIMIT));
  const box = boxOf(node);
  const side = box === undefined ? 'aside' : sideOf(box, viewport);
  // Assigned one by one: this runs for every listed node, and spreading optional members is slow.
  const item: { -readonly [Key in keyof OutlineItem]: OutlineItem[Key] } = {
    id: node.ref.id,
    parent,
    role: roleWord(node.role),
    states: statesOf(node, secure),
    inView: tree.inView[index] === 1,
    always: tree.always[index] === 1,
    control: isListedControl(node),
    side: side === 'above' || side === 'below' ? side : 'aside',
  };
  if (node.level !== undefined) item.level = node.level;
  if (name !== undefined) item.name = name;
  else {
    const target = clean(targetOf(node), LOCATION_LIMIT);
    const testId = clean(node.testId, OBSERVED_NAME_LIMIT);
    if (target !== undefined) item.target = target;
    if (testId !== undefined) item.testId = testId;
  }
  if (text !== undefined && addsTo(text, name, value)) item.text = text;
  if (value !== undefined) item.value = value;
  const selection = secure ? undefined : clean(node.selection, OBSERVED_TEXT_LIMIT);
  if (selection !== undefined && selection !== '') item.selection = selection;
  if (tree.choice[index] === 1) item.options = optionsOf(context, index);
  return item;
}

/** Whether a text says more than the strings that the line has already. */
function addsTo(text: string, name: string | undefined, value: string | undefined): boolean {
  if (text === name) return false;
  const own = bare(text);
  return [name, value].every((other) => other === undefined || bare(other) !== own);
}

const NO_STATES: readonly string[] = [];

function statesOf(node: SemanticNode, secure: boolean): readonly string[] {
  if (node.states === undefined && !secure) return NO_STATES;
  const found: string[] = [];
  for (const state of NODE_STATES) {
    if (state === 'hidden') continue;
    if (state === 'secure' ? secure : node.states?.[state] === true) found.push(state);
    else if (state === 'expanded' && node.states?.expanded === false && isInteractive(node)) {
      found.push(COLLAPSED);
    }
  }
  return found;
}

function optionsOf({ tree, clean }: ItemContext, index: number): readonly string[] {
  const options: string[] = [];
  const end = tree.ends[index] as number;
  for (let below = index + 1; below < end; below += 1) {
    const node = tree.nodes[below] as SemanticNode;
    if (node.role !== 'option') continue;
    options.push(words(clean(node.name ?? node.text, OBSERVED_NAME_LIMIT)) ?? '');
  }
  return options;
}

/** The path of a link's address. The query and the fragment may carry tokens, and cost more. */
function targetOf(node: SemanticNode): string | undefined {
  const href = node.attributes?.href;
  if (href === undefined || node.role !== 'link') return undefined;
  if (/^[a-z][a-z0-9+.-]*:/iu.test(href) && !/^https?:/iu.test(href)) return undefined;
  const path = href.replace(/^(?:https?:)?\/\/[^/?#]*/iu, '').replace(/[?#].*$/su, '');
  return path === '' ? undefined : cutEnd(path, LOCATION_LIMIT);
}

function words(text: string | undefined): string | undefined {
  return text === undefined ? undefined : collapseWhitespace(text) || undefined;
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value });
}

/** An address without the user's name and password in it. */
function cleanLocation(location: string): string {
  return cutEnd(location.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/iu, '$1'), LOCATION_LIMIT);
}
