// Shapes: the check and the schema say the same, and issues name the place.
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  boolean,
  checkClosed,
  checkShape,
  either,
  list,
  named,
  number,
  object,
  oneOf,
  record,
  schemaOf,
  text,
  variants,
  type Shape,
} from '../../core/base/shape.ts';
import { assert, suite } from '../harness.ts';

const test = suite('shape');

const tree: Shape = named('tree', () =>
  object({ required: { id: text({ min: 1 }) }, optional: { children: list(tree) } }),
);
const sample: Shape = object({
  required: {
    size: number({ min: 0, exclusive: true }),
    count: number({ integer: true, min: 1, max: 6 }),
    kind: oneOf(['a', 'b']),
  },
  optional: {
    flags: record(boolean),
    kinds: list(oneOf(['x', 'y']), { min: 1, unique: true }),
    tree,
    choice: either('text or a number', [text(), number()]),
    action: variants('kind', {
      tap: object({ optional: { hard: boolean } }),
      fill: object({ required: { value: text() }, closed: false }),
    }),
    closed: object({ required: { a: text() }, closed: true }),
  },
});
const base = { size: 1, count: 2, kind: 'a' };

const GOOD: readonly unknown[] = [
  base,
  { ...base, future: [1] },
  { ...base, flags: { x: true }, kinds: ['x', 'y'], choice: 3 },
  { ...base, tree: { id: 'r', children: [{ id: 'c' }] } },
  { ...base, action: { kind: 'fill', value: '' } },
  { ...base, action: { kind: 'tap' }, closed: { a: '' } },
];
const BAD: readonly (readonly [unknown, string])[] = [
  [null, 'it'],
  [[], 'it'],
  ['x', 'it'],
  [{ size: 1, count: 2 }, 'it.kind'],
  [{ ...base, size: 0 }, 'it.size'],
  [{ ...base, count: 1.5 }, 'it.count'],
  [{ ...base, count: 7 }, 'it.count'],
  [{ ...base, kind: 'c' }, 'it.kind'],
  [{ ...base, flags: { 'a-b': 1 } }, 'it.flags["a-b"]'],
  [{ ...base, flags: null }, 'it.flags'],
  [{ ...base, kinds: [] }, 'it.kinds'],
  [{ ...base, kinds: ['x', 'x'] }, 'it.kinds[1]'],
  [{ ...base, tree: { id: 'r', children: [{ id: 'c' }, { id: '' }] } }, 'it.tree.children[1].id'],
  [{ ...base, choice: true }, 'it.choice'],
  [{ ...base, action: { kind: 'fill' } }, 'it.action.value'],
  [{ ...base, action: { kind: 'nope' } }, 'it.action.kind'],
  [{ ...base, action: {} }, 'it.action.kind'],
  [{ ...base, closed: { a: '', b: 1 } }, 'it.closed.b'],
];

test('the check names the place of the first issue', () => {
  for (const value of GOOD) assert.is(checkShape(sample, value, 'it'), undefined);
  for (const [value, path] of BAD) assert.is(checkShape(sample, value, 'it')?.path, path);
});

test('the schema agrees with the check', () => {
  const validate = new Ajv2020({ strict: false }).compile(schemaOf(sample));
  for (const value of GOOD) assert.ok(validate(value), JSON.stringify(value));
  for (const [value] of BAD) assert.not(validate(value), JSON.stringify(value));
});

test('only own members count, numbers are finite, depth is bounded', () => {
  const inherited: unknown = Object.create(base);
  assert.is(checkShape(sample, inherited, 'it')?.path, 'it.size');
  const hostile: unknown = JSON.parse('{"__proto__": {"size": 1, "count": 2, "kind": "a"}}');
  assert.is(checkShape(sample, hostile, 'it')?.problem, 'is missing');
  assert.match(
    checkShape(number(), Number.POSITIVE_INFINITY, 'it')?.problem ?? '',
    /finite number, not Infinity/,
  );
  let deep: unknown = { id: 'leaf' };
  for (let level = 0; level < 50_000; level += 1) deep = { id: 'n', children: [deep] };
  assert.match(checkShape(tree, deep, 'it')?.problem ?? '', /deeper than 512/);
  assert.is(checkShape(tree, { id: 'after' }, 'it'), undefined);
});

test('a closed check finds what no shape names, at any depth, and the nearest name', () => {
  const action = { kind: 'tap', hard: true };
  const good = { size: 1, count: 1, kind: 'a', action, tree: { id: 'r', children: [{ id: 'c' }] } };
  assert.is(checkClosed(sample, good, 'it'), undefined);
  for (const [value, path, hint] of [
    [{ ...good, sise: 1 }, 'it.sise', /did you mean "size"/u],
    [{ ...good, action: { ...action, hrad: true } }, 'it.action.hrad', /"hard"/u],
    [{ ...good, tree: { id: 'r', children: [{ id: 'c', x: 1 }] } }, 'it.tree.children[0].x', /kn/u],
  ] as const) {
    assert.is(checkShape(sample, value, 'it'), undefined);
    const issue = checkClosed(sample, value, 'it');
    assert.is(issue?.path, path);
    assert.match(issue?.problem ?? '', hint);
  }
});

test.run();
