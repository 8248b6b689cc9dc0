// What the in-page code and the engines that inject it say to each other: plain JSON both ways, so
// that Playwright and WebDriver can carry it alike. Types only: this file is seen by code with and
// without a DOM. Every method answers an `Answer`; a refusal is a sentence for the reader of an
// error, because the page alone knows what a target is called and what covers it.
import type { OptionChoice, SwipeDirection } from '../../../core/contract/actions.ts';
import type { SemanticNode, Viewport } from '../../../core/contract/observation.ts';

/** What a method of the page answers. */
export type Answer<T> =
  | { readonly ok: T }
  /** The node is not in the document any more. */
  | { readonly stale: true }
  /** The element is there and cannot take the action; a whole sentence. */
  | { readonly refused: string };

export interface ObserveArgs {
  readonly rootId: string;
  readonly testIdAttribute: string;
  /** Nodes beyond which only what is near the viewport is told; twice as many end the tree. */
  readonly maxNodes: number;
  /** Ids of nodes to tell even when they mean nothing by themselves. */
  readonly keep: readonly string[];
}
export interface PageObservation {
  readonly location: string;
  readonly root: SemanticNode;
  readonly viewport: Viewport;
  readonly truncated?: true;
}

/** Viewport CSS pixels. */
export interface PagePoint {
  readonly x: number;
  readonly y: number;
}

export interface AimArgs {
  readonly id: string;
  /** Watch that the next press of a button lands on the target, and stop it elsewhere. */
  readonly guard: boolean;
  /** A cover that is part of the same component does not matter: the target gets focus only. */
  readonly loose: boolean;
}
/** Where a guarded press landed; `none`: no press was seen. */
export type GuardVerdict =
  | { readonly landed: 'hit' | 'none' }
  | { readonly landed: 'missed'; readonly on: string };

export interface FillArgs {
  readonly id: string;
  readonly value: string;
}
/** `insert`: the text is selected and focused, and waits for input; `done`: the value is set. */
export interface FillPlan {
  readonly how: 'insert' | 'done';
}
export interface ReadBack {
  readonly state: 'same' | 'unchanged' | 'different';
  /** What the field holds instead; never that of a secure field. */
  readonly holds?: string;
  readonly title: string;
}

export interface SelectArgs {
  readonly id: string;
  readonly choice: OptionChoice;
}
/** `custom`: a list drawn by the page, to be opened and tapped. */
export interface SelectPlan {
  readonly how: 'done' | 'custom';
}

export interface CheckState {
  readonly checked: boolean;
  /** Can be switched on only. */
  readonly isRadio: boolean;
  readonly title: string;
}

export interface ScrollArgs {
  /** Absent: the viewport. */
  readonly id?: string;
  readonly direction: SwipeDirection;
  /** Viewport or box heights (widths) to move by. */
  readonly share: number;
}
export interface ScrollPlan {
  readonly at: PagePoint;
  readonly dx: number;
  readonly dy: number;
}

export interface FilePlan {
  /** Whether the target is a file input, or stands for one. */
  readonly isInput: boolean;
  readonly multiple: boolean;
  readonly title: string;
}

/** The methods, by name. */
export interface PageApi {
  observe(args: ObserveArgs): Answer<PageObservation>;
  aim(args: AimArgs): Promise<Answer<PagePoint>>;
  release(args: null): Answer<GuardVerdict>;
  focus(args: { readonly id: string }): Answer<null>;
  reveal(args: { readonly id: string }): Answer<null>;
  startFill(args: FillArgs): Answer<FillPlan>;
  readBack(args: FillArgs): Answer<ReadBack>;
  /** Selects what the focused field holds; refused when nothing that takes text has focus. */
  focusedField(args: { readonly selectAll: boolean }): Answer<null>;
  select(args: SelectArgs): Answer<SelectPlan>;
  /** The options of a custom list, open now; the chosen one's id. */
  customOption(args: SelectArgs): Answer<{ readonly id?: string; readonly known: string[] }>;
  checkState(args: { readonly id: string }): Answer<CheckState>;
  /** Whether the node is an option of a native list, which has no box to tap. */
  isNativeOption(args: { readonly id: string }): Answer<boolean>;
  selectOption(args: { readonly id: string }): Answer<null>;
  files(args: { readonly id: string }): Answer<FilePlan>;
  planScroll(args: ScrollArgs): Answer<ScrollPlan>;
  /** Resolves when no scroll offset has changed for two frames. */
  scrollEnd(args: null): Promise<Answer<null>>;
  /** Draws boxes over secure fields of this document; answers how many. */
  mask(args: { readonly deep: boolean }): Answer<number>;
  unmask(args: null): Answer<null>;
}
export type PageMethod = keyof PageApi;
export type PageArgs<M extends PageMethod> = Parameters<PageApi[M]>[0];
export type PageResult<M extends PageMethod> =
  Awaited<ReturnType<PageApi[M]>> extends Answer<infer T> ? T : never;

/** Description under which the page keeps the API: `window[Symbol.for(PAGE_KEY)]`. */
export type PageKey = 'enginewright.document';
