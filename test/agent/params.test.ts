// Arguments are checked before a step opens: a wrong call leaves no event, no observation, no request.
import { checkCall } from '../../core/agent/params.ts';
import { createSecret } from '../../core/contract/secrets.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { assert, rejects, suite } from '../harness.ts';
import { stage, textOf, verdict, type Stage } from './stage.ts';

const test = suite('agent arguments');

const schema = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

/** A call that must be refused, and what the refusal says. */
async function refused(
  call: (agent: Stage['agent']) => Promise<unknown>,
  code: string,
  message: RegExp,
): Promise<void> {
  const it = stage({ model: scriptedModel([]) });
  const error = await rejects(() => call(it.agent), message);
  assert.is(error.code, code);
  assert.is(error.name, 'AgentError');
  assert.equal(it.events, []);
  assert.equal(it.log, []);
}

test('an instruction has 1 to 8192 bytes after NFC', async () => {
  await refused((agent) => agent.act(''), 'INVALID_ARGUMENT', /instruction is empty/u);
  await refused((agent) => agent.assert('x'.repeat(8193)), 'INVALID_ARGUMENT', /8193 bytes/u);
  await refused(
    (agent) => agent.waitFor(7 as never),
    'INVALID_ARGUMENT',
    /condition must be a string/u,
  );
  // e + combining acute: 3 bytes, 2 after NFC, so 4096 of them just fit.
  const model = scriptedModel([verdict('passed')]);
  const it = stage({ model });
  await it.play(it.agent.act('e\u0301'.repeat(4096)));
  assert.ok(textOf(model.requests[0]?.messages[1]).includes('\u00e9'.repeat(4096)));
});

test('an unknown option names the nearest', async () => {
  await refused(
    (agent) => agent.act('x', { maxStep: 1 } as never),
    'INVALID_ARGUMENT',
    /options\.maxStep .*did you mean "maxSteps"/u,
  );
  await refused(
    (agent) => agent.assert('x', { maxSteps: 1 } as never),
    'INVALID_ARGUMENT',
    /options\.maxSteps is not an option/u,
  );
  await refused(
    (agent) => agent.act('x', [] as never),
    'INVALID_ARGUMENT',
    /plain object, not an array/u,
  );
});

test('act takes neither schema nor vision', async () => {
  await refused(
    (agent) => agent.act('x', { vision: true } as never),
    'UNSUPPORTED_CAPABILITY',
    /options\.vision/u,
  );
  await refused(
    (agent) => agent.act('x', { schema } as never),
    'UNSUPPORTED_CAPABILITY',
    /agent\.extract/u,
  );
});

test('vision other than false is refused in this version, per call and per agent', async () => {
  for (const vision of [true, 'only'] as const) {
    await refused(
      (agent) => agent.assert('x', { vision }),
      'UNSUPPORTED_CAPABILITY',
      /needs an engine and a model with pixels/u,
    );
  }
  await refused(
    (agent) => agent.assert('x', { vision: 'all' as never }),
    'INVALID_ARGUMENT',
    /options\.vision/u,
  );
  const it = stage({ model: scriptedModel([]), entry: { vision: 'only' } });
  const error = await rejects(it.agent.waitFor('x'));
  assert.is(error.code, 'UNSUPPORTED_CAPABILITY');
});

test('numbers are positive whole ones, and limits can only be lowered', async () => {
  for (const timeout of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5' as never]) {
    await refused((agent) => agent.act('x', { timeout }), 'INVALID_ARGUMENT', /options\.timeout/u);
  }
  for (const key of ['maxSteps', 'maxModelCalls'] as const) {
    await refused((agent) => agent.act('x', { [key]: 26 }), 'INVALID_ARGUMENT', /allows 25/u);
    await refused(
      (agent) => agent.act('x', { [key]: 0 }),
      'INVALID_ARGUMENT',
      /positive whole number/u,
    );
  }
  for (const interval of [99, 60_001, 200.5]) {
    await refused(
      (agent) => agent.waitFor('x', { interval }),
      'INVALID_ARGUMENT',
      /from 100 to 60000/u,
    );
  }
  await refused(
    (agent) => agent.assert('x', { screenshot: 'yes' as never }),
    'INVALID_ARGUMENT',
    /screenshot must be a boolean/u,
  );
});

test('a time-out beyond the longest timer of the platform does not fire at once', async () => {
  const it = stage({ model: scriptedModel([verdict('passed')]), attemptMs: 2 ** 40 });
  await it.play(it.agent.act('x', { timeout: Number.MAX_SAFE_INTEGER }));
  assert.is(it.record.status, 'passed');
});

test('an unknown agent, and one without a model', async () => {
  await refused(
    (agent) => agent.act('x', { agent: 'defualt' }),
    'INVALID_ARGUMENT',
    /no agent "defualt"; did you mean "default"/u,
  );
  const it = stage({ judge: scriptedModel([]) });
  const error = await rejects(it.agent.act('x'));
  assert.is(error.code, 'MODEL_UNAVAILABLE');
  assert.equal(it.events, []);
});

test('creating an agent without any model is MODEL_UNAVAILABLE', () => {
  assert.throws(
    () => stage(),
    (error: { code: string }) => error.code === 'MODEL_UNAVAILABLE',
  );
});

test('params are JSON-safe, bounded in depth and size', async () => {
  const bad: [unknown, RegExp][] = [
    [{ when: new Date(0) }, /params\.when is a Date/u],
    [{ a: [1, undefined] }, /params\.a\[1\] is undefined/u],
    [{ n: Number.NaN }, /params\.n is NaN/u],
    [[1], /plain object, not an array/u],
    [{ big: 'x'.repeat(65_536) }, /bytes as JSON/u],
  ];
  for (const [params, message] of bad) {
    await refused(
      (agent) => agent.act('x', { params: params as never }),
      'INVALID_ARGUMENT',
      message,
    );
  }
  let deep: Record<string, unknown> = {};
  for (let level = 1; level < 32; level += 1) deep = { deep };
  const model = scriptedModel([verdict('passed')]);
  const it = stage({ model });
  await it.play(it.agent.act('x', { params: deep as never }));
  await refused(
    (agent) => agent.act('x', { params: { deep } as never }),
    'INVALID_ARGUMENT',
    /32 levels/u,
  );
});

test('a Secret in params is projected to its name and purpose, and refused before a step opens', async () => {
  const params = { login: { user: 'ada', password: createSecret('member.password', 'password') } };
  const { scope } = stage({ model: scriptedModel([]) });
  const checked = checkCall('act', 'sign in', { params }, scope);
  assert.equal(checked.params, {
    login: { user: 'ada', password: { secret: 'member.password', purpose: 'password' } },
  });
  assert.equal(checked.secrets, [params.login.password]);
  await refused(
    (agent) => agent.act('sign in', { params }),
    'UNSUPPORTED_CAPABILITY',
    /secret "member\.password", and this version fills no secrets/u,
  );
});

test('extract needs a Standard Schema', async () => {
  await refused(
    (agent) => agent.extract('x', undefined as never),
    'INVALID_ARGUMENT',
    /schema are required/u,
  );
  for (const wrong of [undefined, {}, { '~standard': { version: 2 } }]) {
    await refused(
      (agent) => agent.extract('x', { schema: wrong as never }),
      'INVALID_ARGUMENT',
      /Standard Schema v1/u,
    );
  }
});

test.run();
