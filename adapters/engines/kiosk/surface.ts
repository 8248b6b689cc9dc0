// The kiosk's glass: which screen is up, where it is scrolled, what has focus, and which node id
// stands for what. Ids live as long as their element: leaving a screen ends them, and coming back
// mints new ones, so that a stale id is told from a fresh one. The root alone keeps its id for ever.
import {
  cutName,
  cutText,
  EngineError,
  type EngineSnapshot,
  type Rect,
  type SemanticNode,
} from '../../../core/contract.ts';
import { Probe } from './probe.ts';
import { SCREENS, type ScreenName } from './screens.ts';
import type { Shop } from './shop.ts';
import type { View } from './views.ts';

export const VIEWPORT = { width: 800, height: 600, scale: 1 } as const;
const ROW = 44;
const MARGIN = 20;
const ROOT_ID = 'kiosk';

/** One element on the glass. */
export interface Live {
  readonly id: string;
  readonly view: View;
  /** Viewport CSS pixels; absent for the choices of a closed list. */
  readonly rect?: Rect;
  readonly children: readonly Live[];
}

export interface SurfaceOptions {
  readonly shop: Shop;
  readonly preparationMs: number;
  now(): number;
  onLocation(location: string): void;
  onLog(text: string): void;
}

export class Surface {
  readonly #options: SurfaceOptions;
  #screen: ScreenName | undefined;
  #history: ScreenName[] = [];
  #scroll = 0;
  #height = 0;
  #ids = new Map<string, string>();
  #minted = 0;
  #probe = new Probe();
  /** Id of the focused element. */
  focus: string | undefined;

  constructor(options: SurfaceOptions) {
    this.#options = options;
  }

  get location(): string {
    return `kiosk / ${this.#screen ?? 'blank'}`;
  }
  get screen(): ScreenName | undefined {
    return this.#screen;
  }

  /** Shows a screen as a new visit: no id of the last one survives. */
  show(screen: ScreenName | undefined): void {
    const { shop } = this.#options;
    this.#screen = screen;
    this.#scroll = 0;
    this.#ids = new Map();
    this.#probe = new Probe();
    this.focus = undefined;
    shop.problem = undefined;
    shop.search = '';
    this.#options.onLocation(this.location);
  }
  go(screen: ScreenName): void {
    if (this.#screen !== undefined) this.#history.push(this.#screen);
    this.show(screen);
  }
  /** Goes back one screen; answers false where there is none. */
  back(): boolean {
    const before = this.#history.pop();
    if (before === undefined) return false;
    this.show(before);
    return true;
  }
  /** Ends at a blank glass, as a kiosk that was just switched on. */
  blank(): void {
    this.#history = [];
    this.show(undefined);
  }

  /** The present elements, laid out; the first is the root. */
  render(): Live {
    const { shop, preparationMs } = this.#options;
    const views =
      this.#screen === undefined
        ? []
        : SCREENS[this.#screen]({
            shop,
            probe: this.#probe,
            preparationMs,
            now: this.#options.now(),
            go: (screen) => {
              this.go(screen);
            },
            back: () => {
              this.back();
            },
            log: this.#options.onLog,
          });
    const ids = new Map<string, string>();
    const row = shop.largeText ? ROW * 1.5 : ROW;
    let y = MARGIN;
    const place = (view: View, path: string, box: { x: number; width: number }): Live => {
      const key = `${path}/${view.key}`;
      const id = this.#ids.get(key) ?? this.#mint();
      ids.set(key, id);
      const top = y;
      const inRow = view.role === 'listitem';
      const items = view.children ?? [];
      const children = items.map((child, index) => {
        if (child.role === 'option') return placeOption(child, key);
        if (!inRow) return place(child, key, box);
        const width = box.width / items.length;
        y = top;
        return place(child, key, { x: box.x + index * width, width });
      });
      if (items.length === 0 || view.options !== undefined) y = top + row;
      const rect = { x: box.x, y: top - this.#scroll, width: box.width, height: y - top };
      return { id, view, rect, children };
    };
    const placeOption = (view: View, path: string): Live => {
      const key = `${path}/${view.key}`;
      const id = this.#ids.get(key) ?? this.#mint();
      ids.set(key, id);
      return { id, view, children: [] };
    };
    const box = { x: MARGIN, width: VIEWPORT.width - 2 * MARGIN };
    const children = views.map((view) => place(view, '', box));
    this.#ids = ids;
    this.#height = y + MARGIN;
    const root: Live = {
      id: ROOT_ID,
      view: { key: 'root', role: 'application', name: 'Order kiosk' },
      rect: { x: 0, y: 0, width: VIEWPORT.width, height: VIEWPORT.height },
      children,
    };
    if (this.focus !== undefined && findLive(root, this.focus) === undefined) {
      this.focus = undefined;
    }
    return root;
  }

  /** The element of an id, or `NODE_STALE`. */
  find(id: string): Live {
    const live = findLive(this.render(), id);
    if (live !== undefined) return live;
    throw new EngineError(
      'NODE_STALE',
      `Node ${JSON.stringify(id.slice(0, 64))} is not on ${this.location} any more: observe again.`,
      { retryable: true },
    );
  }

  /** Scrolls by a share of the viewport; answers whether anything moved. */
  scrollBy(pixels: number): boolean {
    this.render();
    const limit = Math.max(0, this.#height - VIEWPORT.height);
    const next = Math.min(limit, Math.max(0, this.#scroll + pixels));
    const moved = next !== this.#scroll;
    this.#scroll = next;
    return moved;
  }
  /** Scrolls as little as shows the whole element. */
  reveal(live: Live): void {
    const { rect } = live;
    if (rect === undefined) return;
    if (rect.y < 0) this.scrollBy(rect.y - MARGIN);
    else if (rect.y + rect.height > VIEWPORT.height) {
      this.scrollBy(rect.y + rect.height - VIEWPORT.height + MARGIN);
    }
  }

  snapshot(): EngineSnapshot {
    const root = this.render();
    return { location: this.location, root: this.#node(root), viewport: VIEWPORT };
  }

  #node({ id, view, rect, children }: Live): SemanticNode {
    const secure = view.states?.secure === true;
    const states = { ...view.states, ...(this.focus === id ? { focused: true } : {}) };
    const { role, name, text, value, testId, inputPurpose, attributes, level } = view;
    return {
      ref: { id, revision: '' },
      ...(role === undefined ? {} : { role }),
      ...(name === undefined ? {} : { name: cutName(name) }),
      ...(text === undefined ? {} : { text: cutText(text) }),
      ...(value === undefined || secure ? {} : { value: cutText(value) }),
      ...(testId === undefined ? {} : { testId }),
      ...(inputPurpose === undefined ? {} : { inputPurpose }),
      ...(Object.keys(states).length === 0 ? {} : { states }),
      ...(level === undefined ? {} : { level }),
      ...(attributes === undefined ? {} : { attributes }),
      ...(rect === undefined ? {} : { rect }),
      ...(children.length === 0 ? {} : { children: children.map((child) => this.#node(child)) }),
    };
  }

  #mint(): string {
    this.#minted += 1;
    return `k${this.#minted}`;
  }
}

/** Every element, in document order. */
export function* eachLive(root: Live): Generator<Live> {
  yield root;
  for (const child of root.children) yield* eachLive(child);
}
function findLive(root: Live, id: string): Live | undefined {
  for (const live of eachLive(root)) if (live.id === id) return live;
  return undefined;
}
