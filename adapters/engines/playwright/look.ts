// Observation from the engine's side: the tree, pictures with secure fields painted over by the page
// itself, and locators over the tree. A read that a navigation cuts off is asked again; that is the
// only thing here that is ever repeated.
import type { Frame, Page } from 'playwright-core';
import {
  EngineError,
  isEngineError,
  resolveExpression,
  TestError,
  type EngineObserveOptions,
  type EngineSnapshot,
  type LocatorExpression,
  type ObservationPixels,
  type SemanticNode,
} from '../../../core/contract.ts';
import { readPngInfo } from '../../../core/pixels/index.ts';
import type { PageObservation } from '../document/api.ts';
import { ask, idOfHandle, inject } from './in-page.ts';
import { isPageGone, type Operation } from './operation.ts';
import type { Settings } from './options.ts';

/** The surface's root, the same on every page of every attempt. */
export const ROOT_ID = 'page';
/** How often a read that navigations cut off is asked again. */
const READS = 5;

export interface Look {
  readonly operation: Operation;
  /** Asked at each try: a new page may have come up. */
  page(): Page;
  readonly settings: Settings;
}

export async function observe(look: Look, wanted: EngineObserveOptions): Promise<EngineSnapshot> {
  const { operation } = look;
  let tree: PageObservation | undefined;
  try {
    tree = await readTree(look, []);
  } catch (error) {
    if (wanted.pixels !== true || wanted.pixelFallback !== true || operation.signal.aborted) {
      throw error;
    }
  }
  if (wanted.pixels !== true) return tree as PageObservation;
  const page = look.page();
  const { pixels, masked } = await picture(operation, page);
  const shown = { pixels, maskedRegionCount: masked };
  if (tree !== undefined) return { ...tree, ...shown };
  const size = page.viewportSize() ?? { width: pixels.width, height: pixels.height };
  return {
    location: page.url(),
    root: { ref: { id: ROOT_ID, revision: '' } },
    viewport: { ...size, scale: pixels.scale },
    treeUnavailable: true,
    ...shown,
  };
}

async function readTree(look: Look, keep: readonly string[]): Promise<PageObservation> {
  const { operation, settings } = look;
  const { testIdAttribute, maxNodes } = settings;
  const args = { rootId: ROOT_ID, testIdAttribute, maxNodes, keep };
  return reread(look, (page) => ask(operation, page.mainFrame(), 'observe', args));
}

/** Reads, and reads again when the page is exchanged under it. */
async function reread<T>(look: Look, read: (page: Page) => Promise<T>): Promise<T> {
  const { operation } = look;
  for (let reads = 1; ; reads += 1) {
    const page = look.page();
    try {
      return await read(page);
    } catch (error) {
      const again = isPageGone(error) || (page.isClosed() && look.page() !== page);
      if (!again || reads >= READS || operation.signal.aborted) throw error;
    }
    const next = look.page();
    const timeout = Math.max(1, operation.remaining());
    await operation.wait(next.waitForLoadState('domcontentloaded', { timeout }));
  }
}

export interface Picture {
  readonly pixels: ObservationPixels;
  /** Boxes painted over secure fields. */
  readonly masked: number;
}

/** A picture of the viewport. Every document masks its own secure fields while it is taken. */
export async function picture(operation: Operation, page: Page): Promise<Picture> {
  const frames = await maskableFrames(operation, page);
  let data: Uint8Array;
  let masked = 0;
  try {
    for (const frame of frames) {
      masked += await ask(operation, frame, 'mask', { deep: true });
    }
    data = await operation.wait(page.screenshot({ type: 'png', timeout: 0 }));
  } finally {
    await Promise.all(
      frames.map((frame) => ask(operation, frame, 'unmask', null).catch(() => undefined)),
    );
  }
  const { width, height } = readPngInfo(data);
  const size = page.viewportSize();
  const scale = size === null ? 1 : width / size.width;
  return { pixels: { data, mediaType: 'image/png', width, height, scale }, masked };
}

/** The main frame, and those that no document of its origin can reach into. */
async function maskableFrames(operation: Operation, page: Page): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  for (const frame of page.frames()) {
    const isTop =
      frame === page.mainFrame() ||
      (await operation.wait(
        frame.evaluate(() => {
          const view = globalThis as unknown as { readonly frameElement: unknown };
          return view.frameElement === null;
        }),
      ));
    if (isTop) frames.push(frame);
  }
  return frames;
}

/** Answers a locator, from one observation. */
export async function locate(
  look: Look,
  expression: LocatorExpression,
): Promise<readonly SemanticNode[]> {
  const { frames, inner } = splitFrames(expression);
  if (frames.length === 0 && selectorsIn(inner).size === 0) {
    const { root } = await readTree(look, []);
    return resolveExpression(inner, [root]);
  }
  return reread(look, async (page) => {
    const { operation } = look;
    const top = page.mainFrame();
    // Ids are minted by the code in the page: it must be there before an element is asked for one.
    await inject(operation, top);
    const found = new Map<string, readonly string[]>();
    let frame = top;
    let boundary: string | undefined;
    for (const selector of frames) {
      const entered = await enterFrame(operation, frame, selector);
      ({ frame } = entered);
      boundary = entered.id;
    }
    for (const selector of selectorsIn(inner)) {
      found.set(selector, await idsOf(operation, frame, selector));
    }
    const { testIdAttribute, maxNodes } = look.settings;
    const keep = [...found.values()].flat();
    const tree = await ask(operation, top, 'observe', {
      rootId: ROOT_ID,
      testIdAttribute,
      maxNodes,
      keep,
    });
    const nodes = new Map<string, SemanticNode>();
    for (const node of eachNode(tree.root)) nodes.set(node.ref.id, node);
    const within = boundary === undefined ? tree.root : nodes.get(boundary);
    return resolveExpression(
      inner,
      boundary === undefined ? [tree.root] : (within?.children ?? []),
      {
        selector: (selector) => (found.get(selector) ?? []).flatMap((id) => nodes.get(id) ?? []),
      },
    );
  });
}

function* eachNode(node: SemanticNode): Generator<SemanticNode> {
  yield node;
  for (const child of node.children ?? []) yield* eachNode(child);
}

/** Moves frames outward: an index or a filter of what lies in a frame is one inside that frame. */
function splitFrames(expression: LocatorExpression): {
  readonly frames: readonly string[];
  readonly inner: LocatorExpression;
} {
  switch (expression.kind) {
    case 'frame': {
      const { frames, inner } = splitFrames(expression.source);
      return { frames: [expression.selector, ...frames], inner };
    }
    case 'index':
    case 'filter': {
      const { frames, inner } = splitFrames(expression.source);
      return { frames, inner: { ...expression, source: inner } };
    }
    case 'query': {
      if (expression.scope === undefined) return { frames: [], inner: expression };
      const { frames, inner } = splitFrames(expression.scope);
      return { frames, inner: { ...expression, scope: inner } };
    }
    default:
      return { frames: [], inner: expression };
  }
}

function selectorsIn(expression: LocatorExpression): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (part: LocatorExpression | undefined): void => {
    if (part === undefined) return;
    if (part.kind === 'selector') found.add(part.selector);
    else if (part.kind === 'query') visit(part.scope);
    else visit(part.source);
    if (part.kind === 'filter') visit(part.has);
  };
  visit(expression);
  return found;
}

async function enterFrame(
  operation: Operation,
  frame: Frame,
  selector: string,
): Promise<{ readonly frame: Frame; readonly id: string }> {
  const handles = await elements(operation, frame, selector);
  const [handle] = handles;
  const named = JSON.stringify(selector);
  if (handles.length > 1) {
    throw new EngineError(
      'FRAME_AMBIGUOUS',
      `Frame ${named} names ${handles.length} elements: write a selector for one of them.`,
    );
  }
  const inner = handle === undefined ? null : await operation.wait(handle.contentFrame());
  const id = handle === undefined ? undefined : await idOfHandle(operation, handle);
  if (inner === null || id === undefined) {
    throw new EngineError('FRAME_NOT_FOUND', `Frame ${named} is not on the page.`, {
      retryable: true,
    });
  }
  const isOpen = await operation.wait(
    inner.evaluate(() => {
      const view = globalThis as unknown as { readonly frameElement: unknown };
      return view.frameElement !== null;
    }),
  );
  if (!isOpen) {
    throw new EngineError(
      'FRAME_NOT_FOUND',
      `Frame ${named} shows another site, which cannot be entered.`,
    );
  }
  return { frame: inner, id };
}

async function idsOf(
  operation: Operation,
  frame: Frame,
  selector: string,
): Promise<readonly string[]> {
  const handles = await elements(operation, frame, selector);
  const ids = await Promise.all(handles.map((handle) => idOfHandle(operation, handle)));
  return ids.filter((id) => id !== undefined);
}

async function elements(operation: Operation, frame: Frame, selector: string) {
  try {
    return await operation.wait(frame.locator(selector).elementHandles());
  } catch (error) {
    if (isEngineError(error) || isPageGone(error) || operation.signal.aborted) throw error;
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    if (!/selector|Unexpected token|parsing/iu.test(message)) throw error;
    throw new TestError(
      'INVALID_ARGUMENT',
      `Selector ${JSON.stringify(selector)} cannot be used: ${message}`,
      { cause: error },
    );
  }
}
