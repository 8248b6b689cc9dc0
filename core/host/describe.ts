// Nodes and expressions in words, for errors: the role and the quoted name, as a person would say.
import { collapseWhitespace, cutEnd } from '../base/text.ts';
import type { LocatorExpression, TextPattern } from '../contract/locator.ts';
import type { SemanticNode } from '../contract/observation.ts';

/** Longest quoted text, in UTF-16 units. */
const QUOTE_LIMIT = 60;

/** Such as `button "Save"`, or `textbox with test id "email"`. */
export function describeNode(node: SemanticNode): string {
  const role = node.role ?? 'node';
  const label = [node.name, node.text].find((text) => text !== undefined && text.trim() !== '');
  if (label !== undefined) return `${role} ${quote(label)}`;
  return node.testId === undefined ? role : `${role} with test id ${quote(node.testId)}`;
}

/** Such as `role "button" named "Save"`. */
export function describeExpression(expression: LocatorExpression): string {
  switch (expression.kind) {
    case 'query': {
      const { query, scope } = expression;
      const name = query.name === undefined ? '' : ` named ${pattern(query.name)}`;
      const where = scope === undefined ? '' : ` in ${describeExpression(scope)}`;
      return `${query.kind} ${pattern(query.value)}${name}${where}`;
    }
    case 'filter': {
      const text =
        expression.hasText === undefined ? '' : ` with the text ${pattern(expression.hasText)}`;
      const inner =
        expression.has === undefined ? '' : ` that has ${describeExpression(expression.has)}`;
      return `${describeExpression(expression.source)}${text}${inner}`;
    }
    case 'index':
      return `${describeExpression(expression.source)}, number ${expression.index}`;
    case 'selector':
      return `selector ${quote(expression.selector)}`;
    case 'frame':
      return `${describeExpression(expression.source)} in frame ${quote(expression.selector)}`;
  }
}

function pattern(text: TextPattern): string {
  return text.kind === 'regexp' ? `/${text.source}/${text.flags}` : quote(text.value);
}

function quote(text: string): string {
  return JSON.stringify(cutEnd(collapseWhitespace(text), QUOTE_LIMIT));
}
