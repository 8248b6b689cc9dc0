// The small leaves: JSON checks with their paths, cuts that keep characters whole, nearest names.
import { runInNewContext } from 'node:vm';
import { findJsonIssue, isPlainObject } from '../../core/base/json.ts';
import { nearestName, suggestName } from '../../core/base/nearest.ts';
import {
  codePointLength,
  collapseWhitespace,
  cutEnd,
  cutUtf8,
  sanitizeLine,
  utf8Length,
} from '../../core/base/text.ts';
import { assert, suite } from '../harness.ts';

const json = suite('findJsonIssue');
const issue = (value: unknown, extra = {}) => findJsonIssue(value, { name: 'params', ...extra });

json('accepts plain JSON, also of another realm and without a prototype', () => {
  const shared = { a: 1 };
  for (const value of [
    null,
    '',
    0,
    false,
    [],
    {},
    { list: [shared, shared] },
    Object.assign(Object.create(null), { x: 'y' }),
    runInNewContext('({ list: [1, { a: null }] })'),
    JSON.parse('{"__proto__": {"a": 1}}'),
  ]) {
    assert.is(issue(value), undefined);
  }
});

json('names what is wrong and where', () => {
  const circle: unknown[] = [];
  circle.push({ back: circle });
  const cases: readonly (readonly [unknown, string, RegExp])[] = [
    [undefined, 'params', /undefined/],
    [{ a: [1, Number.NaN] }, 'params.a[1]', /NaN/],
    [{ 'a b': { c: 1n } }, 'params["a b"].c', /bigint/],
    [[() => 1], 'params[0]', /function/],
    [{ at: new Date(0) }, 'params.at', /a Date, not a plain object/],
    [{ map: new Map() }, 'params.map', /a Map/],
    [{ a: undefined }, 'params.a', /undefined/],
    [{ s: Symbol('x') }, 'params.s', /symbol/],
    [circle, 'params[0].back', /refers to itself/],
  ];
  for (const [value, path, problem] of cases) {
    const found = issue(value);
    assert.is(found?.path, path);
    assert.match(found?.problem ?? '', problem);
  }
});

json('bounds the depth, and takes what its caller accepts', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 33; level += 1) deep = [deep];
  assert.match(issue(deep, { maxDepth: 32 })?.problem ?? '', /deeper than 32/);
  assert.is(issue(deep, { maxDepth: 33 }), undefined);
  const handle = new Date(0);
  assert.is(issue({ a: handle }, { accept: (value: unknown) => value === handle }), undefined);
  assert.is(issue({ a: undefined }, { allowUndefined: true }), undefined);
  assert.not(isPlainObject([]));
  assert.not(isPlainObject(new (class A {})()));
});

const cuts = suite('cuts');

cuts('never end in half a character', () => {
  assert.is(cutEnd('ab', 2), 'ab');
  assert.is(cutEnd('a😀b', 2), 'a');
  assert.is(cutEnd('a😀b', 3), 'a😀');
  assert.is(cutEnd('abc', 0), '');
  assert.is(cutUtf8('aé', 2), 'a');
  assert.is(cutUtf8('a😀', 4), 'a');
  assert.is(cutUtf8('a😀', 5), 'a😀');
  for (let limit = 0; limit <= 12; limit += 1) {
    const cut = cutUtf8('é😀x漢字', limit);
    assert.ok(utf8Length(cut) <= limit);
    assert.ok('é😀x漢字'.startsWith(cut));
  }
});

cuts('counts characters, collapses blanks, cleans lines', () => {
  assert.is(codePointLength('a😀é'), 3);
  assert.is(codePointLength('\ud83d'), 1);
  assert.is(collapseWhitespace('  a\n\t b\u00a0c '), 'a b c');
  assert.is(sanitizeLine('a\u0000\u001b[31m\nb\u202e c', 100), 'a [31m b  c');
  assert.is(sanitizeLine('\ud800x', 10), '\ufffdx');
});

const nearest = suite('nearest name');

nearest('finds slips and leaves strangers alone', () => {
  const known = ['observe', 'perform', 'performAt', 'keyboard'];
  assert.is(nearestName('obserev', known), 'observe');
  assert.is(nearestName('PERFORM', known), 'perform');
  assert.is(nearestName('keybord', known), 'keyboard');
  assert.is(nearestName('zzzzzz', known), undefined);
  assert.is(nearestName('a'.repeat(100), known), undefined);
  assert.is(nearestName('x', []), undefined);
  assert.is(suggestName('obserev', known), '; did you mean "observe"?');
  assert.is(suggestName('zzzzzz', ['a', 'b']), '; known: a, b');
  assert.is(suggestName('zzzzzz', []), '');
});

json.run();
cuts.run();
nearest.run();
