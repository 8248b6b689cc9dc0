// The entry of the in-page code: it is bundled to one string, run once in a page's top document, and
// leaves one object under a private symbol. Methods take and answer plain JSON; what they throw
// inside (a refusal, a node that is gone) becomes an `Answer` here, in the one place.
import type { Answer, PageApi } from './api.ts';
import { aim, find, Refusal, reveal, Stale } from './aim.ts';
import { checkState, filePlan, focusedField, focusElement, readBack, startFill } from './fields.ts';
import { controlOf } from './dom.ts';
import { release } from './guard.ts';
import { idOf } from './ids.ts';
import { customOption, isNativeOption, select, selectOptionElement } from './lists.ts';
import { mask, unmask } from './mask.ts';
import { observe } from './observe.ts';
import { planScroll, scrollEnd } from './scroll.ts';

const KEY = Symbol.for('enginewright.document');

function failed(error: unknown): Answer<never> {
  if (error instanceof Refusal) return { refused: error.message };
  if (error instanceof Stale) return { stale: true };
  throw error;
}
function answer<T>(body: () => T): Answer<T> {
  try {
    return { ok: body() };
  } catch (error) {
    return failed(error);
  }
}
async function answerLater<T>(body: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: await body() };
  } catch (error) {
    return failed(error);
  }
}

const api: PageApi = {
  observe: (args) => answer(() => observe(args)),
  aim: (args) => answerLater(() => aim(args)),
  release: () => answer(release),
  focus: ({ id }) => answer(() => focusElement(id)),
  reveal: ({ id }) =>
    answer(() => {
      reveal(find(id));
      return null;
    }),
  startFill: (args) => answer(() => startFill(args)),
  readBack: (args) => answer(() => readBack(args)),
  focusedField: ({ selectAll }) =>
    answer(() => {
      const why = focusedField(selectAll);
      if (why !== undefined) throw new Refusal(why);
      return null;
    }),
  select: (args) => answer(() => select(args)),
  customOption: (args) => answer(() => customOption(args)),
  checkState: ({ id }) => answer(() => checkState(id)),
  isNativeOption: ({ id }) => answer(() => isNativeOption(id)),
  selectOption: ({ id }) => answer(() => selectOptionElement(id)),
  files: ({ id }) => answer(() => filePlan(id)),
  planScroll: (args) => answer(() => planScroll(args)),
  scrollEnd: () => answerLater(scrollEnd),
  mask: ({ deep }) => answer(() => mask(deep)),
  unmask: () =>
    answer(() => {
      unmask();
      return null;
    }),
};

/** JSON that a page's own `toJSON` on arrays (an old library's) cannot spoil. */
function toJson(value: unknown): string {
  const prototype = Array.prototype as { toJSON?: unknown };
  const { toJSON } = prototype;
  if (toJSON === undefined) return JSON.stringify(value);
  delete prototype.toJSON;
  try {
    return JSON.stringify(value);
  } finally {
    prototype.toJSON = toJSON;
  }
}

const methods = api as unknown as Readonly<Record<string, (args: unknown) => unknown>>;
const door = {
  /** One method by name; answers JSON. */
  call: async (method: string, args: unknown): Promise<string> =>
    toJson(await methods[method]?.(args)),
  /** The id of an element that the engine found by other means. */
  idOf: (element: Element): string => idOf(element),
  /** The element of an id, a label's being its control. */
  element: (id: string): Element => controlOf(find(id)),
};

if (!(KEY in globalThis)) Object.defineProperty(globalThis, KEY, { value: Object.freeze(door) });
