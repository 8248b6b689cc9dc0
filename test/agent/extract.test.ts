// `extract`: validation, the one repair round, the answer that the data is not there, and the JSON
// Schema that travels when the validator offers one.
import * as v from 'valibot';
import { z } from 'zod';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { assert, rejects, suite } from '../harness.ts';
import { stage, textOf } from './stage.ts';

const test = suite('agent.extract');

const found = (value: unknown): string => JSON.stringify({ found: true, reason: null, value });
const order = v.object({ total: v.number(), items: v.array(v.object({ name: v.string() })) });

test('answers the validated value, typed by the schema', async () => {
  const model = scriptedModel([found({ total: 5, items: [{ name: 'Latte' }] })]);
  const it = stage({ model });
  const value = await it.play(it.agent.extract('the order', { schema: order }));
  const total: number = value.total;
  assert.is(total, 5);
  assert.equal(value, { total: 5, items: [{ name: 'Latte' }] });
  const [request] = model.requests;
  assert.equal(request?.tools, []);
  assert.is(request?.responseSchema, undefined);
  assert.match(textOf(request?.messages[1]), /^# Wanted data\n"the order"\n/u);
  assert.equal(it.log, ['observe']);
  assert.is(it.record.actionCount, 0);
});

test('a transforming, asynchronous schema gives its output', async () => {
  const schema = v.pipeAsync(
    v.string(),
    v.transformAsync((text) => Promise.resolve(Number(text))),
  );
  const it = stage({ model: scriptedModel([found('41')]) });
  assert.is(await it.play(it.agent.extract('n', { schema })), 41);
});

test('the repair round quotes the issues by path', async () => {
  const model = scriptedModel([
    found({ total: '5', items: [{ name: 'a' }, { name: 7 }] }),
    '```json\n' + found({ total: 5, items: [] }) + '\n```',
  ]);
  const it = stage({ model });
  await it.play(it.agent.extract('the order', { schema: order }));
  const said = textOf(model.requests[1]?.messages.at(-1));
  assert.match(said, /- value\.total: ".*number/iu);
  assert.match(said, /- value\.items\[1\]\.name: ".*string/iu);
  assert.is(it.record.modelCalls, 2);
});

test('what still does not fit is MODEL_OUTPUT_INVALID, after exactly two calls', async () => {
  for (const wrong of [found({ total: 'x' }), 'The total is 5.', '', '[]', '{"found": "yes"}']) {
    const it = stage({ model: scriptedModel([wrong, wrong]) });
    const error = await rejects(
      it.play(it.agent.extract('x', { schema: order })),
      /after one repair/u,
    );
    assert.is(error.code, 'MODEL_OUTPUT_INVALID');
    assert.is(it.record.modelCalls, 2);
  }
});

test('data that is not on the screen is ASSERTION_INCONCLUSIVE', async () => {
  const answer = JSON.stringify({ found: false, reason: 'There is no order.', value: null });
  const it = stage({ model: scriptedModel([answer]) });
  const error = await rejects(
    it.play(it.agent.extract('x', { schema: order })),
    /There is no order/u,
  );
  assert.is(error.code, 'ASSERTION_INCONCLUSIVE');
  assert.is(it.record.modelCalls, 1);
});

test('a schema with JSON Schema conversion travels as the response schema', async () => {
  const model = scriptedModel([found({ name: 'Ada' })]);
  const it = stage({ model });
  await it.play(it.agent.extract('x', { schema: z.object({ name: z.string() }) }));
  const { responseSchema } = model.requests[0] ?? {};
  assert.is(responseSchema?.name, 'extraction');
  const sent = responseSchema?.schema as { required: string[]; additionalProperties: boolean };
  assert.equal(sent.required, ['found', 'reason', 'value']);
  assert.is(sent.additionalProperties, false);
  assert.match(JSON.stringify(sent), /"name":\{"type":"string"\}/u);
  assert.not.match(JSON.stringify(sent), /\$schema/u);
});

test('a schema that refers to its own root is told in words instead', async () => {
  const tree: z.ZodType = z.object({
    name: z.string(),
    get children() {
      return z.array(tree);
    },
  });
  const model = scriptedModel([found({ name: 'a', children: [] })]);
  const it = stage({ model });
  await it.play(it.agent.extract('x', { schema: tree }));
  const [request] = model.requests;
  assert.is(request?.responseSchema, undefined);
  assert.match(textOf(request?.messages[1]), /# JSON Schema of value\n\{/u);
});

test('a validator that throws or hangs does not', async () => {
  const throwing = stage({ model: scriptedModel([found(1)]) });
  const schema = (validate: () => never | Promise<never>) =>
    ({ '~standard': { version: 1, vendor: 'test', validate } }) as const;
  const error = await rejects(
    throwing.play(
      throwing.agent.extract('x', {
        schema: schema(() => {
          throw new Error('bad validator');
        }),
      }),
    ),
    /validator threw: bad validator/u,
  );
  assert.is(error.code, 'MODEL_OUTPUT_INVALID');
  const hanging = stage({ model: scriptedModel([found(1)]) });
  const late = await rejects(
    hanging.play(
      hanging.agent.extract('x', {
        schema: schema(() => new Promise(() => undefined)),
        timeout: 3_000,
      }),
    ),
  );
  assert.is(late.code, 'STEP_TIMEOUT');
});

test.run();
