// A node in the making: what an element tells of itself, in the order in which a snapshot carries it,
// with every text cut at its limit and every member left out that says nothing.
import type { SemanticNode } from '../../../core/contract/observation.ts';
import { controlOf, cut } from './dom.ts';
import {
  attributesOf,
  levelOf,
  OBSERVED_NAME_LIMIT,
  purposeOf,
  selectionOf,
  statesOf,
  OBSERVED_TEXT_LIMIT,
  valueOf,
} from './facts.ts';
import { idOf } from './ids.ts';
import { nodeSelector } from './selectors.ts';

export type Draft = { -readonly [Key in keyof SemanticNode]: SemanticNode[Key] };

export interface DraftFacts {
  /** '' for none. */
  readonly role: string;
  /** Whole; '' for none. */
  readonly name: string;
  readonly testIdAttribute: string;
}

/** The node of an element, without its place and its children. */
export function draftOf(element: Element, { role, name, testIdAttribute }: DraftFacts): Draft {
  // A label is told as a control only where it stands for one.
  const control = role === '' ? element : controlOf(element);
  const value = valueOf(control, role);
  const selection = selectionOf(element);
  const testId = element.getAttribute(testIdAttribute);
  const purpose = purposeOf(element);
  const states = statesOf(control, role);
  const level = levelOf(element, role);
  const attributes = attributesOf(element, role, name);
  const selector = nodeSelector(element, testIdAttribute);
  const node: Draft = { ref: { id: idOf(element), revision: '' } };
  if (role !== '') node.role = role;
  if (name !== '') node.name = cut(name, OBSERVED_NAME_LIMIT);
  if (value !== undefined) node.value = cut(value, OBSERVED_TEXT_LIMIT);
  if (selection !== undefined) node.selection = cut(selection, OBSERVED_TEXT_LIMIT);
  if (testId !== null && testId !== '') node.testId = testId;
  if (purpose !== undefined) node.inputPurpose = purpose;
  if (states !== undefined) node.states = states;
  if (level !== undefined) node.level = level;
  if (attributes !== undefined) node.attributes = attributes;
  if (selector !== undefined) node.selector = selector;
  return node;
}

/** A node that is nothing but a line of text. */
export function isRun(node: Draft): boolean {
  return (
    node.text !== undefined &&
    node.role === undefined &&
    node.name === undefined &&
    node.testId === undefined &&
    node.states === undefined &&
    node.children === undefined
  );
}
