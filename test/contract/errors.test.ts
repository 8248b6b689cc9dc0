// Codes, errors and secrets: the table against the specification's lists, rules that hold from
// birth, and recognition across two copies of the package.
import {
  AgentError,
  AGENT_ERROR_CODES,
  categoryOf,
  ConfigurationError,
  createSecret,
  EngineError,
  ENGINE_ERROR_CODES,
  ERROR_CODES,
  EXIT_CODES,
  exitCodeOf,
  findCode,
  InfrastructureError,
  isAgentError,
  isEngineError,
  isRunnerError,
  isSecret,
  RETRYABLE_ENGINE_ERROR_CODES,
  runnerError,
  sanitizeExplanation,
  TestError,
  type ErrorCode,
} from '../../core/contract.ts';
import { runInNewContext } from 'node:vm';
import { assert, suite } from '../harness.ts';

const table = suite('code table');

table('has every code of the three owners, and the owners agree with their lists', () => {
  for (const [code, row] of Object.entries(ERROR_CODES)) {
    assert.is(
      row.owners.includes('engine'),
      (ENGINE_ERROR_CODES as readonly string[]).includes(code),
    );
    assert.is(
      row.owners.includes('agent'),
      (AGENT_ERROR_CODES as readonly string[]).includes(code),
    );
    assert.ok(Object.isFrozen(row));
  }
  assert.ok(Object.isFrozen(ERROR_CODES));
  assert.equal([...RETRYABLE_ENGINE_ERROR_CODES], ['NODE_STALE', 'FRAME_NOT_FOUND']);
  assert.is(findCode('toString'), undefined);
  assert.is(findCode('nope'), undefined);
});

table('blocked codes and classes are those of the specification', () => {
  const blocked = Object.entries(ERROR_CODES)
    .filter(([, row]) => row.blocked)
    .map(([code]) => code)
    .sort();
  assert.equal(blocked, [
    'AUTH_CREDENTIAL_INVALID',
    'AUTH_CREDENTIAL_UNAVAILABLE',
    'AUTOMATION_UNSUPPORTED',
    'CONTEXT_OVERFLOW',
    'ENVIRONMENT_UNAVAILABLE',
    'SEED_DATA_MISSING',
    'STEP_BUDGET_EXHAUSTED',
    'STEP_TIMEOUT',
    'TEST_SETUP_FAILED',
  ]);
  const agentClass = (category: string): string[] =>
    AGENT_ERROR_CODES.filter((code) => ERROR_CODES[code].category === category);
  assert.is(agentClass('test').length, 14);
  assert.is(agentClass('configuration').length, 8);
  assert.is(agentClass('infrastructure').length, 5);
  assert.equal(agentClass('internal'), ['INTERNAL']);
});

const errors = suite('errors');

errors('an engine error may be retryable only where a read can be repeated', () => {
  for (const code of ENGINE_ERROR_CODES) {
    const cause = new Error('why');
    const claim = new EngineError(code, 'm', { retryable: true, cause });
    const may = code === 'NODE_STALE' || code === 'FRAME_NOT_FOUND';
    assert.is(claim.code, may ? code : 'ENGINE_FAILURE');
    assert.is(claim.retryable, may);
    assert.is(claim.cause, cause);
    const plain = new EngineError(code, 'm', { retryable: false });
    assert.is(plain.code, code);
    assert.is(plain.retryable, false);
    assert.not('cause' in plain);
  }
  const foreign = new EngineError('TEAPOT' as 'CANCELLED', 'm');
  assert.is(foreign.code, 'ENGINE_FAILURE');
});

errors('runnerError gives each code the class of its row', () => {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const error = runnerError(code, 'm', { details: { a: 1 } });
    assert.is(error.category, ERROR_CODES[code].category);
    assert.is(error.code, code);
    assert.equal(error.details, { a: 1 });
    assert.ok(isRunnerError(error));
  }
  assert.is(runnerError('INVALID_CONFIG', 'm').name, 'ConfigurationError');
  assert.is(new TestError('X', 'm').name, 'TestError');
  assert.is(new InfrastructureError('X', 'm', { retryable: true }).retryable, true);
});

errors('an agent error is bounded, clean, and blocked by its row unless told otherwise', () => {
  const error = new AgentError('STEP_TIMEOUT', `a\u0000b\u001b[1m\n${'x'.repeat(3000)}`);
  assert.is(error.explanation.length, 2000);
  assert.is(error.message, error.explanation);
  assert.ok(error.explanation.startsWith('a b [1m\n'), 'line feeds stay');
  assert.ok(error.blocked);
  assert.is(new AgentError('STEP_TIMEOUT', 'm', { blocked: false }).blocked, false);
  assert.not('screenshot' in error);
  assert.is(sanitizeExplanation(`${'x'.repeat(1999)}😀`).length, 1999);
});

errors('errors of another copy of the package are recognised by their marker', () => {
  const marker = Symbol.for('enginewright.error');
  const other = (kind: string, members: object): Error =>
    Object.defineProperty(Object.assign(new Error('m'), members), marker, { value: kind });
  const engine = other('engine', { code: 'CANCELLED', retryable: false });
  const runner = other('e2e', { code: 'X', category: 'configuration', retryable: false });
  const agent = other('agent', { code: 'INTERNAL', category: 'internal' });
  assert.ok(isEngineError(engine) && !isRunnerError(engine) && !isAgentError(engine));
  assert.ok(isRunnerError(runner) && !isEngineError(runner));
  assert.ok(isAgentError(agent));
  assert.is(exitCodeOf(engine), 3);
  assert.is(exitCodeOf(runner), 2);
  assert.is(exitCodeOf(agent), 4);
  for (const value of [null, undefined, 'x', 5, new Error('plain'), { code: 'CANCELLED' }]) {
    assert.not(isEngineError(value) || isRunnerError(value) || isAgentError(value));
  }
  const own = new EngineError('CANCELLED', 'm');
  assert.not(Object.keys(own).some((key) => key.includes('enginewright')));
});

errors('exit codes: the highest category present wins', () => {
  const of = (...list: unknown[]): number => exitCodeOf(new AggregateError(list));
  const test = new TestError('ACTION_FAILED', 'm');
  const configuration = new ConfigurationError('INVALID_CONFIG', 'm');
  const infrastructure = new InfrastructureError('ENGINE_FAILURE', 'm');
  const internal = runnerError('INTERNAL', 'm');
  const interrupted = new DOMException('m', 'AbortError');
  assert.is(exitCodeOf(test), 1);
  assert.is(exitCodeOf(new Error('an assertion of the test')), 1);
  assert.is(of(test, configuration), 2);
  assert.is(of(configuration, infrastructure, test), 3);
  assert.is(of(infrastructure, internal), 4);
  assert.is(of(internal, interrupted, test), 130);
  assert.is(categoryOf(interrupted), 'interrupted');
  assert.equal(EXIT_CODES, {
    test: 1,
    configuration: 2,
    infrastructure: 3,
    internal: 4,
    interrupted: 130,
  });
});

errors('exit codes: collected errors count however deep, and from another realm', () => {
  const deep = new AggregateError([
    new Error('a'),
    new AggregateError([new ConfigurationError('INVALID_CONFIG', 'm')]),
  ]);
  assert.is(exitCodeOf(deep), 2);
  assert.is(categoryOf(deep), 'configuration');
  const other = runInNewContext('new AggregateError([])') as AggregateError;
  other.errors.push(new InfrastructureError('ENGINE_FAILURE', 'm'));
  assert.is(exitCodeOf(other), 3);
  const circle = new AggregateError([]);
  circle.errors.push(circle, new TestError('ACTION_FAILED', 'm'));
  assert.is(exitCodeOf(circle), 1);
  const stopped = runInNewContext('Object.assign(new Error("m"), { name: "AbortError" })') as Error;
  assert.is(exitCodeOf(stopped), 130);
});

const secrets = suite('secret handles');

secrets('cannot be printed in any way', () => {
  const secret = createSecret('admin.password', 'password');
  const tries: readonly (() => unknown)[] = [
    () => String(secret as unknown as string),
    () => `${secret as unknown as string}`,
    () => (secret as unknown as string) + '',
    () => JSON.stringify({ secret }),
    () => Number(secret),
  ];
  for (const print of tries) {
    assert.throws(
      print,
      (error: unknown) => isRunnerError(error) && error.code === 'SECRET_UNAVAILABLE',
    );
  }
  assert.equal(Object.keys(secret), ['name', 'purpose']);
  assert.ok(Object.isFrozen(secret));
});

secrets('are recognised across copies, and only they', () => {
  assert.ok(isSecret(createSecret('a')));
  assert.ok(isSecret({ name: 'a', [Symbol.for('enginewright.secret')]: true }));
  for (const value of [null, 'a', { name: 'a', purpose: 'password' }]) assert.not(isSecret(value));
  assert.is(createSecret('a').purpose, 'generic-secret');
});

secrets('have a name and a purpose of the closed list', () => {
  for (const name of ['', 'a b', 'x'.repeat(65), '<a>', 5]) {
    assert.throws(() => createSecret(name as string), /is invalid/);
  }
  assert.throws(() => createSecret('a', 'pin' as 'password'), /unknown purpose "pin"/);
});

table.run();
errors.run();
secrets.run();
