// Identity: an id lives exactly as long as its element (or piece of text) does. Ids are kept on the
// side in a WeakMap, so the page sees no attribute of ours, and carry a random prefix per document,
// so that an id of a page that was left can never name something on the next one.
import { isElement } from './dom.ts';

const idOfNode = new WeakMap<Node, string>();
const nodeOfId = new Map<string, WeakRef<Node>>();
const dead = new FinalizationRegistry<string>((id) => nodeOfId.delete(id));

// Not Math.random: pages under test seed it, and then every document would get the same prefix.
const prefix = [...crypto.getRandomValues(new Uint32Array(2))]
  .map((part) => part.toString(36))
  .join('');
let minted = 0;
let rootId: string | undefined;

/** The surface's root keeps the id that its engine minted. */
export function setRootId(id: string): void {
  rootId = id;
}

export function idOf(node: Node): string {
  const known = idOfNode.get(node);
  if (known !== undefined) return known;
  minted += 1;
  const id = `${prefix}-${minted.toString(36)}`;
  idOfNode.set(node, id);
  nodeOfId.set(id, new WeakRef(node));
  dead.register(node, id);
  return id;
}

/** The element or text of an id; nothing once it left the document. */
export function nodeOf(id: string): Node | undefined {
  if (id === rootId) return document.scrollingElement ?? document.documentElement;
  const node = nodeOfId.get(id)?.deref();
  return node !== undefined && isLive(node) ? node : undefined;
}

/** The element of an id, a text's being the one that holds it. */
export function elementOf(id: string): Element | undefined {
  const node = nodeOf(id);
  if (node === undefined) return undefined;
  return isElement(node) ? node : (node.parentElement ?? undefined);
}

/** Connected, in a document that is still shown: a frame that navigated leaves a whole one behind. */
function isLive(node: Node): boolean {
  if (!node.isConnected) return false;
  const view = node.ownerDocument?.defaultView;
  if (view === null || view === undefined) return false;
  return view === window || (view.frameElement !== null && isLive(view.frameElement));
}
