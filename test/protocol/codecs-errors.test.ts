// Errors to the wire and back: what survives, what is bounded, what cannot be claimed.
import {
  CAUSE_LIMIT,
  decodeError,
  decodeFailure,
  encodeError,
} from '../../core/protocol/codecs/errors.ts';
import {
  AgentError,
  ConfigurationError,
  EngineError,
  InfrastructureError,
  RunnerError,
  TestError,
  isEngineError,
  isRunnerError,
} from '../../core/contract/errors.ts';
import {
  ENGINE_ERROR_CODES,
  ERROR_CODES,
  type EngineErrorCode,
} from '../../core/contract/codes.ts';
import { assert, suite } from '../harness.ts';

const test = suite('protocol errors');

type Data = Record<string, unknown>;
const dataOf = (error: unknown): Data => encodeError(error).data as Data;

/** There and back through JSON, as the wire does. */
const cross = (error: unknown): Error =>
  decodeError(JSON.parse(JSON.stringify(encodeError(error))));

test('every engine code crosses, retryable only where the table allows', () => {
  for (const code of ENGINE_ERROR_CODES) {
    for (const retryable of [false, true]) {
      const there = cross(new EngineError(code, 'm', { retryable }));
      assert.ok(isEngineError(there));
      const refused = retryable && !ERROR_CODES[code].retryable;
      assert.equal(
        [there.code, there.retryable, there.message],
        [refused ? 'ENGINE_FAILURE' : code, retryable && !refused, 'm'],
      );
    }
  }
});

test('a retryable claim from the wire is enforced when it is decoded', () => {
  const claim = (code: string): Error =>
    decodeError({ code: -32000, message: 'm', data: { type: 'engine', code, retryable: true } });
  for (const code of ['ACTION_MAY_HAVE_COMMITTED', 'NOT_ACTIONABLE', 'NO_SUCH_CODE', '__proto__']) {
    const error = claim(code);
    assert.ok(isEngineError(error));
    assert.equal([error.code, error.retryable], ['ENGINE_FAILURE', false], code);
  }
});

test('runner errors keep class, code and details; agent errors cross as runner errors', () => {
  const errors = [
    new TestError('TEST_TIMEOUT', 'a', { details: { x: [1] } }),
    new ConfigurationError('INVALID_CONFIG', 'b', { retryable: true }),
    new InfrastructureError('LAUNCH_TIMEOUT', 'c'),
    new RunnerError('interrupted', 'CANCELLED', 'd'),
    new AgentError('STEP_TIMEOUT', 'e'),
  ];
  for (const error of errors) {
    const there = cross(error);
    assert.ok(isRunnerError(there));
    assert.equal(
      [there.code, there.category, there.message, there.retryable],
      [error.code, error.category, error.message, error.retryable],
    );
  }
  assert.equal((cross(errors[0]) as TestError).details, { x: [1] });
  assert.instance(cross(errors[1]), ConfigurationError);
  assert.equal(dataOf(errors[4])['type'], 'e2e');
});

test('an error of a second copy of this package is recognised by its mark', () => {
  const foreign = Object.assign(new Error('gone'), { code: 'NODE_STALE', retryable: true });
  Object.defineProperty(foreign, Symbol.for('enginewright.error'), { value: 'engine' });
  const { type, code, retryable } = dataOf(foreign);
  assert.equal([type, code, retryable], ['engine', 'NODE_STALE', true]);
  Object.assign(foreign, { code: 'CANCELLED' });
  assert.equal(dataOf(foreign)['retryable'], false, 'and held to the rule of this copy');
});

test('anything else carries its message; a decoded one is an infrastructure failure', () => {
  for (const [thrown, message] of [
    [new TypeError('bug'), 'bug'],
    ['text', 'text'],
    [undefined, 'The engine threw a value of type undefined.'],
    [null, 'The engine threw null.'],
    [{ a: 1 }, 'The engine threw a value of type object.'],
  ] as const) {
    assert.equal([encodeError(thrown).code, encodeError(thrown).message], [-32603, message]);
    const failure = decodeFailure(encodeError(thrown));
    assert.ok(isEngineError(failure));
    assert.equal(
      [failure.code, failure.retryable, failure.message],
      ['ENGINE_FAILURE', false, message],
    );
  }
});

test('only -32000 carries one of our errors', () => {
  const data = { type: 'engine', code: 'NODE_STALE' satisfies EngineErrorCode, retryable: true };
  const failure = decodeFailure({ code: -32001, message: 'm', data });
  assert.equal(
    [(failure as EngineError).code, (failure as EngineError).retryable],
    ['ENGINE_FAILURE', false],
  );
});

test('an unknown runner code is a failure of the engine, with what came as its cause', () => {
  const wire = encodeError(new TestError('MADE_UP', 'm'));
  const failure = decodeFailure(wire) as EngineError;
  assert.is(failure.code, 'ENGINE_FAILURE');
  assert.is((failure.cause as TestError).code, 'MADE_UP');
  assert.is((decodeError(wire) as TestError).code, 'MADE_UP', 'as a reason it stays what it was');
});

test('stack, errno and causes cross', () => {
  const root = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const error = new EngineError('ENGINE_FAILURE', 'no device', {
    cause: new Error('adb', { cause: root }),
  });
  const there = cross(error);
  assert.match(there.stack ?? '', /codecs-errors\.test/);
  const middle = there.cause as Error;
  const bottom = middle.cause as Error & { code: string; errno: string };
  assert.equal(
    [middle.message, bottom.message, bottom.code, bottom.errno],
    ['adb', root.message, 'ECONNREFUSED', 'ECONNREFUSED'],
  );
  assert.equal(cross(bottom).message, root.message);
  const own = Object.assign(new EngineError('NODE_STALE', 'm'), { errno: 'EPIPE' });
  assert.is((cross(own) as EngineError & { errno: string }).errno, 'EPIPE');
  assert.is((cross(own) as EngineError).code, 'NODE_STALE');
});

test('causes are bounded, also cycles; messages and stacks too', () => {
  let chain: Error = new Error('bottom');
  for (let index = 0; index < 1000; index += 1) chain = new Error(`${index}`, { cause: chain });
  let depth = 0;
  for (let data = dataOf(chain); data['cause'] !== undefined; depth += 1) {
    data = (data['cause'] as { data: Data }).data;
  }
  assert.is(depth, CAUSE_LIMIT);
  const cycle: Error & { cause?: unknown } = new Error('a');
  cycle.cause = new Error('b', { cause: cycle });
  const there = cross(cycle);
  assert.is((there.cause as Error).message, 'b');
  assert.is((there.cause as Error).cause, undefined);
  const long = new Error('ä'.repeat(1_000_000));
  assert.ok(JSON.stringify(encodeError(long)).length < 120_000);
  assert.ok(decodeError({ code: 1, message: 'x'.repeat(1_000_000) }).message.length <= 65_536);
});

test('hostile errors: getters that throw, odd members, lone surrogates', () => {
  const trap = new Proxy(new Error('x'), {
    get(target, key) {
      if (typeof key === 'string') throw new Error('trap');
      return Reflect.get(target, key) as unknown;
    },
  });
  assert.is(encodeError(trap).code, -32603);
  const { message, data } = encodeError(
    Object.assign(new Error('half \ud83d'), { stack: 5, errno: {}, code: 'lower case' }),
  );
  assert.is(message, 'half \ufffd');
  assert.equal(data, undefined);
  const details = { f: () => 1 } as never;
  assert.not.ok(Object.hasOwn(dataOf(new TestError('TEST_TIMEOUT', 'm', { details })), 'details'));
});

test('decoding never throws, whatever came', () => {
  for (const wire of [
    undefined,
    null,
    5,
    'x',
    [],
    {},
    { code: -32000 },
    { code: -32000, message: 5, data: [] },
    { code: -32000, message: 'm', data: { type: 'engine' } },
    { code: -32000, message: 'm', data: { type: 'engine', code: 5 } },
    { code: -32000, message: 'm', data: { type: 'e2e', code: 'X', category: 'nope' } },
    {
      code: -32000,
      message: 'm',
      data: {
        type: 'e2e',
        code: 'X',
        category: 'test',
        details: 5,
        stack: 7,
        errno: 'ä',
        cause: 'why',
      },
    },
  ]) {
    const error = decodeFailure(wire);
    assert.is((error as EngineError).code, 'ENGINE_FAILURE', JSON.stringify(wire));
  }
});

test.run();
