// Scrolling. `scroll_to` with a text pages until the text is in the view or nothing moves any more;
// all its pages are one action, since to the model they are one. It looks at the tree that the
// engine gives, so it also finds what the screen text had no room for.
import type { SwipeDirection } from '../../contract/actions.ts';
import type { Rect, SemanticNode, Viewport } from '../../contract/observation.ts';
import { resolveExpression } from '../../contract/resolve.ts';
import type { Observation } from '../driver.ts';
import { quote } from '../screen/format.ts';
import type { VerbArguments } from '../tools/table.ts';
import { Refusal, type CallContext, type CallResult } from './context.ts';

/** Pages that one `scroll_to` turns at most. */
const MAX_PAGES = 20;

export async function scroll(
  call: CallContext,
  args: VerbArguments['scroll'],
): Promise<CallResult> {
  const { direction } = args;
  const node = scroller(call, args.target);
  const times = args.times ?? 1;
  call.reserve(times);
  for (let done = 0; done < times; done += 1) {
    await call.perform(node, { kind: 'swipe', direction });
  }
  return { text: times === 1 ? 'Scrolled.' : `Scrolled ${times} times.` };
}

export async function scrollTo(
  call: CallContext,
  args: VerbArguments['scroll_to'],
): Promise<CallResult> {
  const text = args.text ?? null;
  const target = args.target ?? null;
  if (text !== null) return pageToText(call, text, target, args.direction ?? 'down');
  if (target === null) {
    throw new Refusal('INVALID_ARGUMENT', 'scroll_to needs the argument "target" or "text"');
  }
  const node = call.node(target);
  call.reserve(1);
  await call.perform(node, { kind: 'scrollIntoView' });
  return { text: 'Scrolled.' };
}

async function pageToText(
  call: CallContext,
  text: string,
  target: string | null,
  direction: SwipeDirection,
): Promise<CallResult> {
  if (text.trim() === '') {
    throw new Refusal('INVALID_ARGUMENT', 'scroll_to: "text" is empty');
  }
  const inView = (): CallResult | undefined => {
    const found = matches(call.screen, text).find((node) => isInView(node, call.screen));
    return found === undefined ? undefined : { text: `In the view: ${call.words(found)}.` };
  };
  const already = inView();
  if (already !== undefined) return { ...already, unneeded: true };
  const from = scroller(call, target);
  call.reserve(1);
  const jumps = call.engine.actions?.includes('scrollIntoView') === true;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const counted = page === 0;
    const [hidden] = matches(call.screen, text);
    const before = placesOf(call.screen);
    if (hidden !== undefined && jumps) {
      await call.perform(hidden, { kind: 'scrollIntoView' }, { counted });
    } else {
      // The scroller may have been drawn anew; its id stays what it was while it lives.
      const live = call.screen.nodes.get(from.ref.id) ?? from;
      await call.perform(live, { kind: 'swipe', direction }, { counted });
    }
    await call.settled();
    const found = inView();
    if (found !== undefined) return found;
    if (placesOf(call.screen) === before) {
      throw new Refusal(
        'LOCATOR_NOT_FOUND',
        `Nothing with the text ${quote(text)} up to the end of what scrolls.`,
      );
    }
  }
  throw new Refusal(
    'LOCATOR_NOT_FOUND',
    `Nothing with the text ${quote(text)} in ${MAX_PAGES} pages.`,
  );
}

/** What is swiped: the node, or the root, which scrolls the whole view. */
function scroller(call: CallContext, target: string | null | undefined): SemanticNode {
  return target === null || target === undefined ? call.screen.snapshot.root : call.node(target);
}

/** The nodes with this very text, or else those that contain it in any letter case. */
function matches({ snapshot }: Observation, text: string): readonly SemanticNode[] {
  const find = (exact: boolean): readonly SemanticNode[] =>
    resolveExpression(
      {
        kind: 'query',
        query: { kind: 'text', value: { kind: 'string', value: text, exact }, visible: true },
      },
      [snapshot.root],
    );
  const same = find(true);
  return same.length > 0 ? same : find(false);
}

/** A node without a box is taken as seen: its engine lists only what is on the screen. */
function isInView({ rect }: SemanticNode, { snapshot }: Observation): boolean {
  return rect === undefined || overlaps(rect, snapshot.viewport);
}
function overlaps({ x, y, width, height }: Rect, view: Viewport): boolean {
  return x < view.width && y < view.height && x + width > 0 && y + height > 0;
}

/** Which nodes there are and where: equal before and after a page means the end was reached. */
function placesOf({ nodes }: Observation): string {
  return [...nodes]
    .map(([id, { rect }]) => `${id}@${rect === undefined ? '' : `${rect.x},${rect.y}`}`)
    .join(' ');
}
