// Values by kind: there and back, and what is refused with its path.
import {
  decodeKind,
  decodeParams,
  encodeKind,
  encodeParams,
} from '../../core/protocol/codecs/params.ts';
import {
  fromBase64,
  pngSize,
  toBase64,
  WireValueError,
} from '../../core/protocol/codecs/values.ts';
import type { WireKind } from '../../core/protocol/codecs/kinds.ts';
import { assert, rejects, suite } from '../harness.ts';
import { snapshot, tinyPng } from './engine-support.ts';

const test = suite('protocol values');

const SIGNALS = {
  encode: () => ({ id: 1 }),
  decode: () => AbortSignal.abort(),
};

test('base64 is exact, and rubbish is none', () => {
  for (let length = 0; length < 20; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, index) => index * 37);
    assert.equal([...(fromBase64(toBase64(bytes)) ?? [])], [...bytes]);
  }
  const part = new Uint8Array([9, 1, 2, 3, 9]).subarray(1, 4);
  assert.is(toBase64(part), 'AQID');
  for (const text of ['A', 'AQI', 'AQ!D', 'AQI=D===', '=AQI', 'AQ=D', 'ÄQID']) {
    assert.is(fromBase64(text), undefined, text);
  }
});

test('the size of a PNG is read from its header', () => {
  assert.equal(pngSize(tinyPng(640, 480)), { width: 640, height: 480 });
  assert.is(pngSize(tinyPng(1, 1).subarray(0, 20)), undefined);
  assert.is(pngSize(new Uint8Array(100)), undefined);
  const shifted = new Uint8Array(40);
  shifted.set(tinyPng(7, 8), 5);
  assert.equal(pngSize(shifted.subarray(5)), { width: 7, height: 8 });
});

test('a snapshot with pixels goes there and back', () => {
  const screen = snapshot({
    location: 'x',
    pixels: { data: tinyPng(3, 2), mediaType: 'image/png', width: 3, height: 2, scale: 1 },
  });
  const wire = JSON.parse(JSON.stringify(encodeKind('snapshot', screen, 'result'))) as unknown;
  const back = decodeKind('snapshot', wire, 'result') as typeof screen;
  assert.equal([...(back.pixels?.data ?? [])], [...tinyPng(3, 2)]);
  assert.equal({ ...back, pixels: undefined }, { ...screen, pixels: undefined });
});

test('an operation crosses with its own members only, and budgets that JSON can hold', () => {
  const operation = {
    signal: new AbortController().signal,
    runId: 'r',
    attemptId: 'a',
    origin: 'agent',
    secretPlan: 'x',
  };
  for (const [given, sent] of [
    [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER],
    [-5, 0],
    [12.5, 12.5],
  ] as const) {
    assert.equal(encodeKind('operation', { ...operation, timeoutMs: given }, 'o', SIGNALS), {
      signal: { id: 1 },
      timeoutMs: sent,
      runId: 'r',
      attemptId: 'a',
      origin: 'agent',
    });
  }
});

test('an app crosses without its URL, in both directions', () => {
  const app = { url: 'https://secret.example/', site: 'example', permissions: { camera: 'grant' } };
  const expected = { site: 'example', permissions: { camera: 'grant' } };
  assert.equal(encodeKind('appInfo', app, 'app'), expected);
  assert.equal(decodeKind('appInfo', app, 'app'), expected);
});

test('an environment holds strings: undefined is left out, a variable may be named __proto__', () => {
  const env = JSON.parse('{"A":"1","__proto__":"x"}') as Record<string, unknown>;
  const wire = encodeKind('environment', { ...env, B: undefined }, 'env') as object;
  assert.is(JSON.stringify(wire), '{"A":"1","__proto__":"x"}');
  assert.throws(
    () => encodeKind('environment', { A: 5 }, 'params.env'),
    /params\.env\["A"\] is a number/,
  );
  assert.throws(
    () => decodeKind('environment', { A: 5 }, 'params.env'),
    /params\.env\.A must be a string/,
  );
});

test("prepare's answer may be nothing", () => {
  for (const nothing of [undefined, null])
    assert.is(encodeKind('prepareResult', nothing, 'result'), null);
  assert.is(decodeKind('prepareResult', null, 'result'), undefined);
  assert.equal(encodeKind('prepareResult', { workers: 2, env: { A: undefined } }, 'result'), {
    workers: 2,
    env: {},
  });
  assert.throws(
    () => decodeKind('prepareResult', { workers: 0 }, 'result'),
    /result must be null or/,
  );
});

const WRONG: readonly [WireKind, unknown, RegExp][] = [
  ['string', 5, /x must be a string, not a number/],
  ['string', undefined, /x must be a string/],
  ['count', -1, /at least 0/],
  ['count', 1.5, /whole number/],
  ['milliseconds', '5', /must be a number/],
  ['role', 'boss', /must be one of/],
  ['strings', ['a', 5], /x\[1\] must be a string/],
  ['signal', { id: 1, aborted: 'yes' }, /x\.aborted/],
  ['signal', { id: [] }, /x\.id must be an integer or a string/],
  ['signal', { id: 1, reason: 'why' }, /x\.reason/],
  ['operation', { signal: { id: 1 } }, /x\.timeoutMs is missing/],
  ['observeOptions', { pixels: 1 }, /x\.pixels/],
  ['typeOptions', {}, /x\.replace is missing/],
  ['nodeRef', { id: '', revision: '' }, /x\.id/],
  ['locatorAction', { kind: 'fill', value: 's' }, /x\.sensitive is missing/],
  ['pointerAction', { kind: 'swipeTo', target: { x: 1 } }, /x\.target\.y is missing/],
  ['snapshot', { root: { ref: { id: 'a', revision: '' } } }, /x\.viewport is missing/],
  ['nodes', [{ role: 'button' }], /x\[0\]\.ref is missing/],
  ['screenshot', { data: 'x' }, /must be \{ path \} or/],
  ['videoSegments', [{ path: 'a' }], /x\[0\] must be/],
  ['state', { format: 'x', version: 1 }, /x\.data is missing/],
  ['appLogEntry', { level: 'info', text: 'x', at: 'yesterday-ish' }, /x\.at/],
  ['facts', { a: 1 }, /x\.a must be a string/],
  ['wireError', { code: 'x', message: '' }, /x\.code/],
];

test('each kind refuses what is not of it, by path', () => {
  for (const [kind, value, message] of WRONG) {
    let caught: unknown;
    try {
      decodeKind(kind, value, 'x', SIGNALS);
    } catch (error) {
      caught = error;
    }
    assert.instance(caught, WireValueError, kind);
    assert.match((caught as Error).message, message);
  }
});

test('params: named, checked, signals decoded last, strangers ignored', async () => {
  const kinds = { signal: 'signal', text: 'string', label: 'string?' } as const;
  let decoded = 0;
  const signals = { decode: () => (decoded++, AbortSignal.abort()) };
  await rejects(
    () => decodeParams(kinds, { signal: { id: 1 } }, signals),
    /params\.text is missing/,
  );
  assert.is(decoded, 0);
  const values = decodeParams(kinds, { signal: { id: 1 }, text: 'a', other: 1 }, signals);
  assert.equal(Object.keys(values).sort(), ['signal', 'text']);
  assert.equal(decodeParams({ a: 'string?' }, undefined), {});
  await rejects(
    () => decodeParams({ a: 'string' }, undefined),
    /must be an object with params by name/,
  );
  assert.equal(encodeParams({ text: 'string', label: 'string?' }, { text: 'a', other: 1 }), {
    text: 'a',
  });
  await rejects(() => encodeParams({ text: 'string' }, {}), /params\.text is missing/);
  await rejects(
    () => encodeParams(kinds, { signal: {}, text: 'a' }),
    /params\.signal must be an AbortSignal/,
  );
});

test("inherited members are nobody's params", async () => {
  const params = Object.create({ text: 'inherited' }) as object;
  await rejects(() => decodeParams({ text: 'string' }, params), /params\.text is missing/);
});

test.run();
