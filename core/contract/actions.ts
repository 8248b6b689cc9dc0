// What can be done to a surface: the closed lists of action kinds, in contract order, and the
// shape of each action. The lists are the constants; the types are derived from them.
import type { NodeRef } from './observation.ts';

/** Node action kinds, in contract order. */
export const LOCATOR_ACTION_KINDS = [
  'tap',
  'doubleTap',
  'secondaryTap',
  'longPress',
  'fill',
  'clear',
  'press',
  'check',
  'uncheck',
  'focus',
  'hover',
  'scrollIntoView',
  'selectOption',
  'setInputFiles',
  'dragTo',
  'swipe',
] as const;
export type LocatorActionKind = (typeof LOCATOR_ACTION_KINDS)[number];

/** Pointer action kinds, in contract order. */
export const POINTER_ACTION_KINDS = [
  'tap',
  'doubleTap',
  'secondaryTap',
  'longPress',
  'hover',
  'dragTo',
  'swipe',
  'swipeTo',
] as const;
export type PointerActionKind = (typeof POINTER_ACTION_KINDS)[number];

/** Modifiers of a tap. */
export const TAP_MODIFIERS = ['Shift', 'Control', 'Alt', 'Meta', 'ControlOrMeta'] as const;
export type TapModifier = (typeof TAP_MODIFIERS)[number];

/** Where the view moves to. */
export const SWIPE_DIRECTIONS = ['up', 'down', 'left', 'right'] as const;
export type SwipeDirection = (typeof SWIPE_DIRECTIONS)[number];

/** The fling's strength; an engine reads a value it does not know as `none`. */
export const SWIPE_MOMENTA = ['none', 'slow', 'fast'] as const;
export type SwipeMomentum = (typeof SWIPE_MOMENTA)[number];

/** A point in viewport CSS pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface TapAction {
  readonly kind: 'tap' | 'doubleTap' | 'secondaryTap';
  readonly modifiers?: readonly TapModifier[];
}
export interface LongPressAction {
  readonly kind: 'longPress';
  /** Milliseconds; the engine's default when absent. */
  readonly durationMs?: number;
}
export interface FillAction {
  readonly kind: 'fill';
  readonly value: string;
  /** The value is a secret: it never appears in a log, a trace or an error. */
  readonly sensitive: boolean;
}
export interface PressAction {
  readonly kind: 'press';
  readonly key: string;
}
export interface SimpleAction {
  readonly kind: 'clear' | 'check' | 'uncheck' | 'focus' | 'hover' | 'scrollIntoView';
}
/** Which option: by label, by value or by index from 0. A bare string is a label. */
export type OptionChoice =
  | string
  | { readonly label: string }
  | { readonly value: string }
  | { readonly index: number };
export interface SelectOptionAction {
  readonly kind: 'selectOption';
  readonly value: OptionChoice;
}
export interface SetInputFilesAction {
  readonly kind: 'setInputFiles';
  /** Absolute paths on the engine's machine. */
  readonly paths: readonly string[];
}
export interface DragToAction {
  readonly kind: 'dragTo';
  readonly target: NodeRef;
}
export interface SwipeAction {
  readonly kind: 'swipe';
  readonly direction: SwipeDirection;
  readonly momentum?: SwipeMomentum;
}

/** One action on a node. */
export type LocatorAction =
  | TapAction
  | LongPressAction
  | FillAction
  | PressAction
  | SimpleAction
  | SelectOptionAction
  | SetInputFilesAction
  | DragToAction
  | SwipeAction;

/** One action at a point. */
export type PointerAction =
  | TapAction
  | LongPressAction
  | { readonly kind: 'hover' }
  | { readonly kind: 'dragTo'; readonly target: Point }
  | SwipeAction
  | { readonly kind: 'swipeTo'; readonly target: Point };
