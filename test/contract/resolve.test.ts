// What locator expressions mean, rule by rule of the contract's section on them.
import {
  isEngineError,
  isRunnerError,
  matchesText,
  resolveExpression,
  validateExpression,
  type LocatorExpression,
  type SemanticNode,
  type SemanticQuery,
  type TextPattern,
} from '../../core/contract.ts';
import { assert, suite } from '../harness.ts';

const text = (value: string, exact = false): TextPattern => ({ kind: 'string', value, exact });
const pattern = (source: string, flags = ''): TextPattern => ({ kind: 'regexp', source, flags });
const by = (
  kind: SemanticQuery['kind'],
  value: TextPattern,
  rest: Omit<SemanticQuery, 'kind' | 'value'> = {},
): LocatorExpression => ({ kind: 'query', query: { kind, value, ...rest } });
const role = (name: string, rest: Omit<SemanticQuery, 'kind' | 'value'> = {}): LocatorExpression =>
  by('role', text(name), rest);
const within = (scope: LocatorExpression, inner: LocatorExpression): LocatorExpression => {
  if (inner.kind !== 'query') throw new Error('only queries have a scope');
  return { ...inner, scope };
};

type Parts = Omit<SemanticNode, 'ref' | 'children'>;
const node = (
  id: string,
  parts: Parts = {},
  children: readonly SemanticNode[] = [],
): SemanticNode => ({
  ref: { id, revision: '' },
  ...parts,
  ...(children.length === 0 ? {} : { children }),
});

const TREE: readonly SemanticNode[] = [
  node('root', { role: 'document' }, [
    node('h1', { role: 'heading', name: 'Orders', level: 1 }),
    node('h2', { role: 'heading', name: 'Orders today', level: 2 }),
    node('list', { role: 'list', name: 'Milk Bread' }, [
      node('i1', { role: 'listitem', text: 'Milk 2' }, [
        node('t1', { text: 'Milk' }),
        node('b1', { role: 'button', name: 'Remove', states: { disabled: true } }),
      ]),
      node('i2', { role: 'listitem', text: 'Bread 1' }, [
        node('t2', { text: 'Bread' }),
        node('b2', { role: 'button', name: 'Remove  \n all' }),
      ]),
      node('i3', { role: 'listitem', states: { hidden: true }, text: 'Butter' }, [
        node('b3', { role: 'button', name: 'Remove', states: { hidden: true } }),
      ]),
    ]),
    node('form', { role: 'form' }, [
      node('f1', {
        role: 'textbox',
        name: 'Name',
        value: 'Ada',
        testId: 'name',
        attributes: { placeholder: 'Your name' },
      }),
      node('f2', { role: 'checkbox', name: 'Gift', states: { checked: true } }),
      node('f3', { role: 'checkbox', name: 'Paper bag' }),
      node('f4', { role: 'radiogroup', name: 'Size' }),
    ]),
  ]),
];

const ids = (expression: LocatorExpression, nodes = TREE): string =>
  resolveExpression(expression, nodes)
    .map(({ ref }) => ref.id)
    .join(' ');

const patterns = suite('matchesText');

patterns('a string matches anywhere, in any case, blanks collapsed', () => {
  assert.ok(matchesText('Remove  \n all', text('remove ALL')));
  assert.ok(matchesText('I remove all', text('  remove   all ')));
  assert.not(matchesText('Removed', text('remove all')));
  assert.ok(matchesText('', text('')));
  assert.not(matchesText(undefined, text('')));
});

patterns('an exact string is the whole text, case kept, blanks collapsed', () => {
  assert.ok(matchesText(' Remove \t all ', text('Remove all', true)));
  assert.not(matchesText('remove all', text('Remove all', true)));
  assert.not(matchesText('Remove all now', text('Remove all', true)));
});

patterns('a regexp keeps no state between texts, and a broken one says so', () => {
  const global = pattern('o', 'g');
  const sticky = pattern('ab', 'y');
  for (let count = 0; count < 3; count += 1) {
    assert.ok(matchesText('foo', global));
    assert.ok(matchesText('abab', sticky));
    assert.not(matchesText('cab', sticky));
  }
  const nodes = ['a', 'b', 'c'].map((id) => node(id, { testId: `row ${id}` }));
  assert.is(ids(by('testId', pattern('row', 'gy')), nodes), 'a b c');
  for (const broken of [pattern('('), pattern('a', 'zz')]) {
    assert.throws(
      () => matchesText('x', broken),
      (error: unknown) =>
        isRunnerError(error) &&
        error.code === 'INVALID_ARGUMENT' &&
        /not a regular/.test(error.message),
    );
    assert.ok(validateExpression(by('text', broken)));
  }
});

const test = suite('resolveExpression');

test('role compares the role as a whole, then name, states and level', () => {
  assert.is(ids(role('button')), 'b1 b2');
  assert.is(ids(role('radio')), '', 'never part of a role');
  assert.is(ids(by('role', text('Button'))), '');
  assert.is(ids(role('button', { name: text('remove all') })), 'b2');
  assert.is(ids(role('button', { name: text('Remove', true) })), 'b1');
  assert.is(ids(role('heading', { level: 2 })), 'h2');
  assert.is(ids(role('checkbox', { states: { checked: true } })), 'f2');
  assert.is(ids(role('checkbox', { states: { checked: false } })), 'f3', 'absent is false');
  assert.is(ids(role('button', { states: { disabled: false } })), 'b2');
  assert.is(ids(role('list', { name: pattern('^milk', 'i') })), 'list');
});

test('role never matches a hidden node; visible drops hidden nodes of any kind', () => {
  assert.is(ids(by('text', text('Butter'))), 'i3');
  assert.is(ids(by('text', text('Butter'), { visible: true })), '');
  assert.is(ids(role('button', { visible: true })), 'b1 b2');
});

test('text and label keep the innermost matches', () => {
  assert.is(ids(by('text', text('milk'))), 't1');
  assert.is(ids(by('text', text('bread'))), 't2');
  assert.is(ids(by('label', text('bread'))), 'list', 'label reads the name alone');
  assert.is(ids(by('label', text('Orders'))), 'h1 h2');
  const echo = [
    node('a', { text: 'Save' }, [node('b', { text: 'Save', states: { hidden: true } })]),
  ];
  assert.is(ids(by('text', text('Save')), echo), 'b');
  assert.is(
    ids(by('text', text('Save'), { visible: true }), echo),
    'a',
    'a hidden echo hides nobody',
  );
});

test('placeholder, displayValue and testId read their own member', () => {
  assert.is(ids(by('placeholder', text('your name'))), 'f1');
  assert.is(ids(by('displayValue', text('Ada', true))), 'f1');
  assert.is(ids(by('testId', text('name', true))), 'f1');
  assert.is(ids(by('testId', text('nam', true))), '');
  const odd = [node('x', { attributes: {} })];
  assert.is(ids(by('placeholder', text('')), odd), '', 'own attributes only');
});

test('scope looks at strict descendants, each once', () => {
  assert.is(ids(within(role('list'), role('button'))), 'b1 b2');
  assert.is(ids(within(role('list'), role('list'))), '');
  const nested = [
    node('o', { role: 'group' }, [node('i', { role: 'group' }, [node('b', { role: 'button' })])]),
  ];
  assert.is(ids(within(role('group'), role('button')), nested), 'b');
  assert.is(ids(within(role('group'), role('group')), nested), 'i');
  assert.is(ids(within(within(role('list'), role('listitem')), by('text', text('bread')))), 't2');
});

test('filter: hasText looks at the node and below, has strictly below', () => {
  const items = role('listitem');
  assert.is(ids({ kind: 'filter', source: items, hasText: text('bread') }), 'i2');
  assert.is(ids({ kind: 'filter', source: role('form'), hasText: text('Ada', true) }), 'form');
  assert.is(ids({ kind: 'filter', source: role('textbox'), hasText: text('Ada') }), 'f1');
  assert.is(
    ids({ kind: 'filter', source: items, has: role('button', { states: { disabled: true } }) }),
    'i1',
  );
  assert.is(ids({ kind: 'filter', source: items, has: items }), '');
  assert.is(
    ids({
      kind: 'filter',
      source: items,
      has: { kind: 'index', source: role('button'), index: 'first' },
    }),
    'i1 i2',
    'an index within has counts below each node',
  );
  assert.is(
    ids({ kind: 'filter', source: items, hasText: text('bread'), has: role('checkbox') }),
    '',
  );
});

test('index counts matches; out of range answers nothing', () => {
  const at = (index: number | 'first' | 'last'): string =>
    ids({ kind: 'index', source: role('heading'), index });
  assert.is(at(0), 'h1');
  assert.is(at('first'), 'h1');
  assert.is(at(1), 'h2');
  assert.is(at('last'), 'h2');
  assert.is(at(2), '');
  assert.is(at(-1), '');
  assert.is(at(0.5), '');
  assert.is(ids({ kind: 'index', source: role('tab'), index: 'last' }), '');
});

test('selector asks the hook and keeps to document order and scope', () => {
  const selector: LocatorExpression = { kind: 'selector', selector: '#f2' };
  const hook = (wanted: string) => {
    assert.is(wanted, '#f2');
    return [node('f3'), node('f2'), node('elsewhere')];
  };
  const found = resolveExpression(selector, TREE, { selector: hook });
  assert.equal(
    found.map(({ ref }) => ref.id),
    ['f2', 'f3'],
  );
  assert.is(found[0]?.name, 'Gift', 'nodes of the tree, not those of the hook');
  const has: LocatorExpression = { kind: 'filter', source: role('form'), has: selector };
  assert.is(resolveExpression(has, TREE, { selector: hook }).length, 1);
  assert.throws(
    () => resolveExpression(selector, TREE),
    (error: unknown) => isEngineError(error) && error.code === 'UNSUPPORTED_CAPABILITY',
  );
});

test('frame is FRAME_NOT_FOUND; a role by regexp and unknown kinds are INVALID_ARGUMENT', () => {
  assert.throws(
    () => ids({ kind: 'frame', selector: '#f', source: role('button') }),
    (error: unknown) => isEngineError(error) && error.code === 'FRAME_NOT_FOUND',
  );
  const wrong: readonly unknown[] = [
    by('role', pattern('button')),
    { kind: 'near' },
    by('title' as 'text', text('x')),
    by('text', { kind: 'glob' } as unknown as TextPattern),
  ];
  for (const expression of wrong) {
    assert.throws(
      () => ids(expression as LocatorExpression),
      (error: unknown) => isRunnerError(error) && error.code === 'INVALID_ARGUMENT',
    );
    assert.ok(validateExpression(expression), 'the guard refuses it as well');
  }
});

test('an empty tree answers nothing, several roots are one order', () => {
  assert.is(ids(role('button'), []), '');
  assert.is(ids(role('button'), [...TREE, node('z', { role: 'button' })]), 'b1 b2 z');
});

patterns.run();
test.run();
