// Locator expressions: plain JSON that names nodes by what a person sees. `resolve.ts` holds what
// they mean; an engine may answer them natively, but must answer the same.
import type { NodeState } from './observation.ts';

/** A text to compare with. A non-exact string matches anywhere, case-insensitively. */
export type TextPattern =
  | { readonly kind: 'string'; readonly value: string; readonly exact: boolean }
  | { readonly kind: 'regexp'; readonly source: string; readonly flags: string };

export const QUERY_KINDS = [
  'role',
  'label',
  'placeholder',
  'text',
  'displayValue',
  'testId',
] as const;
export type QueryKind = (typeof QUERY_KINDS)[number];

/** States that a role query may ask for; an absent state is false. */
export const QUERY_STATES = ['checked', 'disabled', 'selected', 'expanded', 'pressed'] as const;
export type QueryState = Extract<NodeState, (typeof QUERY_STATES)[number]>;

export interface SemanticQuery {
  readonly kind: QueryKind;
  readonly value: TextPattern;
  /** Role queries only. */
  readonly name?: TextPattern;
  readonly level?: number;
  readonly states?: { readonly [State in QueryState]?: boolean };
  readonly visible?: boolean;
}

export type LocatorExpression =
  | { readonly kind: 'query'; readonly query: SemanticQuery; readonly scope?: LocatorExpression }
  | {
      readonly kind: 'filter';
      readonly source: LocatorExpression;
      readonly hasText?: TextPattern;
      readonly has?: LocatorExpression;
    }
  | {
      readonly kind: 'index';
      readonly source: LocatorExpression;
      readonly index: number | 'first' | 'last';
    }
  | { readonly kind: 'selector'; readonly selector: string }
  | { readonly kind: 'frame'; readonly selector: string; readonly source: LocatorExpression };
