// What an engine sees: one tree of semantic nodes with its viewport, and optionally a picture.
import type { JsonValue } from '../base/json.ts';

/** A node's identity: the engine mints ids, the harness stamps revisions (an engine sends `''`). */
export interface NodeRef {
  readonly id: string;
  readonly revision: string;
}

/** Node states; an absent one is false or does not apply. */
export const NODE_STATES = [
  'checked',
  'disabled',
  'selected',
  'expanded',
  'pressed',
  'focused',
  'hidden',
  'secure',
] as const;
export type NodeState = (typeof NODE_STATES)[number];
export type NodeStates = { readonly [State in NodeState]?: boolean };

export const INPUT_PURPOSES = [
  'username',
  'password',
  'one-time-code',
  'generic-secret',
  'none',
] as const;
export type InputPurpose = (typeof INPUT_PURPOSES)[number];

/** Longest accessible name, in UTF-16 units; longer ones are cut at the end. */
export const OBSERVED_NAME_LIMIT = 256;
/** Longest text, value and selection, in UTF-16 units; longer ones are cut at the end. */
export const OBSERVED_TEXT_LIMIT = 512;

/** A box in the top viewport's CSS pixels, also inside nested documents. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface SemanticNode {
  readonly ref: NodeRef;
  /** ARIA role, or a platform type's own kebab-case name. */
  readonly role?: string;
  /** Accessible name, at most 256 UTF-16 units. */
  readonly name?: string;
  /** Visible text, at most 512 units. */
  readonly text?: string;
  /** Input value, at most 512 units; never that of a secure field. */
  readonly value?: string;
  /** Selected text, at most 512 units; never that of a secure field. */
  readonly selection?: string;
  readonly testId?: string;
  readonly inputPurpose?: InputPurpose;
  readonly states?: NodeStates;
  /** Heading level, 1 to 6. */
  readonly level?: number;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly rect?: Rect;
  /** Structural selector within the node's own document, anchored on an id-like attribute. */
  readonly selector?: string;
  /** Selectors of the enclosing documents' boundary nodes, outermost first. */
  readonly framePath?: readonly string[];
  readonly children?: readonly SemanticNode[];
}

export interface Viewport {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly scale: number;
}

export interface ObservationPixels {
  readonly data: Uint8Array;
  readonly mediaType: 'image/png';
  /** The image's true size, image pixels. */
  readonly width: number;
  readonly height: number;
  /** Image pixels per CSS pixel. */
  readonly scale: number;
}

export interface EngineSnapshot {
  /** Opaque address: a URL, `<bundle> / <screen>`, a window title. */
  readonly location?: string;
  /** The root's id is stable for the surface's life, also across `restart` and `reset`. */
  readonly root: SemanticNode;
  readonly viewport: Viewport;
  /** Nodes were left out. */
  readonly truncated?: boolean;
  /** Semantic capture failed; only with `pixels`, and then `root` holds its `ref` alone. */
  readonly treeUnavailable?: true;
  readonly pixels?: ObservationPixels;
  /** Regions masked in `pixels`; fewer than the secure nodes means masking is unproven. */
  readonly maskedRegionCount?: number;
}

export interface EngineObserveOptions {
  readonly pixels?: boolean;
  readonly pixelFallback?: boolean;
}

/** Opaque persisted state; its contents never appear in a log or an error. */
export interface EngineState {
  readonly format: string;
  readonly version: number;
  readonly data: JsonValue;
  /** ISO 8601. */
  readonly expiresAt?: string;
}
