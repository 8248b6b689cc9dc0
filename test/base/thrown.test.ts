// Whatever is thrown has a message, and reading it throws nothing.
import { runInNewContext } from 'node:vm';
import { assert, suite } from '../harness.ts';
import { isErrorLike, messageOf } from '../../core/base/thrown.ts';

const test = suite('thrown values');

test('a message of anything', () => {
  for (const [thrown, message] of [
    [new Error('plain'), 'plain'],
    [runInNewContext('new TypeError("of another realm")'), 'of another realm'],
    [new DOMException('gone', 'AbortError'), 'gone'],
    ['words', 'words'],
    [undefined, 'undefined'],
    [null, 'null'],
    [10n, '10'],
    [Symbol('odd'), 'Symbol(odd)'],
    [{ status: 500 }, '{"status":500}'],
    [{ message: 'as data' }, 'as data'],
    [Object.create(null), '{}'],
    [{ big: 10n }, '[object Object]'],
  ] as const) {
    assert.is(messageOf(thrown), message);
  }
});

test('an error is known by its members, and one that cannot be read is none', () => {
  assert.ok(isErrorLike(runInNewContext('new Error("x")')));
  for (const value of [{ message: 'x' }, { name: 'x', message: 5 }, 'x', null, () => 1]) {
    assert.not(isErrorLike(value));
  }
  const trap = {
    get message(): string {
      throw new Error('no');
    },
  };
  assert.not(isErrorLike(trap));
  assert.is(messageOf(trap), '[object Object]');
});

test.run();
