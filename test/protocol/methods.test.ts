// The rows against the specification: the table below is the page's, copied by hand, so that a slip
// in a row is a difference between two texts.
import { WIRE_KINDS } from '../../core/protocol/codecs/kinds.ts';
import {
  ALWAYS_ANSWERED,
  ENGINE_METHODS,
  ENGINE_METHOD_NAMES,
  PROTOCOL_MESSAGES,
  isEngineMethod,
} from '../../core/protocol/methods.ts';
import { findMember } from '../../core/protocol/manifest.ts';
import { assert, suite } from '../harness.ts';
import { sampleEngine } from './engine-support.ts';

const test = suite('protocol methods');

const PARAMS: Readonly<Record<string, string>> = {
  'engine/observe': 'operation options?',
  'engine/locate': 'expression operation',
  'engine/perform': 'ref action operation',
  'engine/performAt': 'point action operation',
  'keyboard/type': 'text options operation',
  'keyboard/press': 'key operation',
  'keyboard/dismiss': 'operation',
  'state/capture': 'operation',
  'state/restore': 'state operation',
  'artifacts/screenshot': 'label? operation',
  'artifacts/startVideo': 'operation',
  'artifacts/stopVideo': 'operation',
  'session/open': 'url operation',
  'session/back': 'operation',
  'session/restart': 'operation',
  'session/reset': 'operation',
  'lifecycle/prepare': 'runId targetName projectRoot app slots env signal',
  'lifecycle/finish': 'signal timeoutMs runId targetName env',
  'lifecycle/init': 'runId targetName projectRoot app env headed workerSlot signal',
  'lifecycle/startAttempt': 'attemptId artifactsDir signal screens',
  'lifecycle/settleAttempt': 'signal timeoutMs',
  'lifecycle/endAttempt': 'signal timeoutMs',
  'lifecycle/dispose': 'signal timeoutMs reuseSignal?',
};

const names = (params: Readonly<Record<string, string>>): string =>
  Object.entries(params)
    .map(([name, kind]) => (kind.endsWith('?') ? `${name}?` : name))
    .join(' ');

test('every method of the specification has its row, in its order, with its params', () => {
  assert.equal(
    Object.fromEntries(
      ENGINE_METHOD_NAMES.map((name) => [name, names(ENGINE_METHODS[name].params)]),
    ),
    PARAMS,
  );
  assert.equal([...ENGINE_METHOD_NAMES], Object.keys(PARAMS));
});

test('every row answers a member of a full engine, and every member has a row', () => {
  const { handle } = sampleEngine();
  for (const name of ENGINE_METHOD_NAMES) {
    assert.type(findMember(handle, ENGINE_METHODS[name].member), 'function', name);
  }
  const answered = new Set(ENGINE_METHOD_NAMES.map((name) => ENGINE_METHODS[name].member));
  for (const [member, value] of Object.entries(handle)) {
    if (typeof value === 'function') assert.ok(answered.has(member), member);
    if (['keyboard', 'state', 'artifacts', 'session'].includes(member)) {
      for (const key of Object.keys(value as object)) assert.ok(answered.has(`${member}.${key}`));
    }
  }
});

test('operations are budgeted by their context, hooks by their own', () => {
  for (const name of ENGINE_METHOD_NAMES) {
    const { params, time, style, role, attempt } = ENGINE_METHODS[name];
    const isHook = name.startsWith('lifecycle/');
    assert.is(style, isHook ? 'whole' : 'positional', name);
    assert.is(time === 'operation', 'operation' in params, name);
    assert.is(time === 'cleanup', 'timeoutMs' in params, name);
    assert.is(role === 'run', ['lifecycle/prepare', 'lifecycle/finish'].includes(name), name);
    assert.is(attempt, !isHook || name.endsWith('Attempt'), name);
  }
});

test('what a row needs are methods, and every kind that rows name exists', () => {
  for (const name of ENGINE_METHOD_NAMES) {
    const { needs = [], params, result } = ENGINE_METHODS[name];
    for (const needed of needs) assert.ok(isEngineMethod(needed), needed);
    assert.ok(result in WIRE_KINDS);
    for (const kind of Object.values(params)) assert.ok(kind.replace('?', '') in WIRE_KINDS, kind);
  }
  for (const [name, { params, result, kind }] of Object.entries(PROTOCOL_MESSAGES)) {
    for (const one of Object.values(params)) assert.ok(one.replace('?', '') in WIRE_KINDS, one);
    assert.is(kind === 'request', result !== undefined, name);
  }
  assert.equal([...ALWAYS_ANSWERED], ['lifecycle/startAttempt', 'lifecycle/endAttempt']);
});

test('the messages beside the methods are those of the specification', () => {
  assert.equal(
    Object.entries(PROTOCOL_MESSAGES).map(([name, { direction, kind, params }]) =>
      `${direction === 'client-to-server' ? '>' : '<'} ${kind} ${name}: ${names(params)}`.trim(),
    ),
    [
      '> request initialize: protocolVersion clientInfo? role? initializationOptions?',
      '> notification initialized:',
      '> request shutdown:',
      '> notification exit:',
      '> notification $/abort: id reason?',
      '> request $/ping:',
      '> request attempt/deriveSecret: derivation plaintext',
      '< notification engine/log: line',
      '< notification attempt/appLog: attemptId entry',
      '< notification attempt/navigation: attemptId line',
      '< notification attempt/environment: attemptId facts',
      '< notification attempt/screen: attemptId snapshot',
      '< request attempt/resolveSecret: attemptId name derivation?',
    ],
  );
});

test('names that are no methods, also those of Object.prototype', () => {
  for (const name of ['engine/Observe', '', 'toString', '__proto__', 5, undefined, null]) {
    assert.not.ok(isEngineMethod(name));
  }
});

test('the table cannot be changed by a caller', () => {
  assert.throws(() => {
    (ENGINE_METHODS['engine/observe'].params as Record<string, string>)['x'] = 'string';
  });
  assert.throws(() => {
    (ENGINE_METHODS as Record<string, unknown>)['x'] = {};
  });
});

test.run();
