// The schema of the events: it says what the sources say, and every event that a session tells fits it.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { assert, rejects, suite } from '../harness.ts';
import type { Model } from '../../core/agent/model.ts';
import { EngineError, TestError } from '../../core/contract/errors.ts';
import type { EngineAttemptContext } from '../../core/contract/engine.ts';
import { findEventIssue, hostEventsSchema } from '../../core/host/events-schema.ts';
import type { HostEvent } from '../../core/host/index.ts';
import { createTestEngine, node, open } from './support.ts';

const test = suite('host events schema');

const read = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const validate = new Ajv2020({
  strictTypes: false,
  formats: { 'date-time': (text: string) => !Number.isNaN(Date.parse(text)) },
}).compile(hostEventsSchema());

function assertFits(event: HostEvent): void {
  assert.is(findEventIssue(event), undefined, JSON.stringify(event));
  assert.ok(validate(event), JSON.stringify([validate.errors, event]));
}

test('the shipped schema is the one that the sources say, and its fixtures hold', () => {
  assert.equal(read('../../schema/host-events-v1.schema.json'), hostEventsSchema());
  const valid = read('../fixtures/schema/host-events-v1.valid.json');
  const invalid = read('../fixtures/schema/host-events-v1.invalid.json');
  assert.ok(validate(valid), JSON.stringify(validate.errors));
  assert.is(findEventIssue(valid), undefined);
  assert.is(validate(invalid), false);
  assert.is(findEventIssue(invalid)?.path, 'event.status');
});

/** A model that answers each request with the first of the tools, as it is told to. */
function scripted(answers: readonly (readonly [tool: string, args: object])[]): Model {
  const left = [...answers];
  return {
    adapter: 'scripted',
    modelId: 'judge-1',
    images: false,
    generate: async ({ tools }) => {
      const [wanted, args] = left.shift() ?? ['', {}];
      const name = tools.find((tool) => tool.name === wanted)?.name ?? tools[0]?.name ?? '';
      return {
        text: '',
        toolCalls: [{ id: '1', name, arguments: args as never }],
        stopReason: 'tool-calls',
        usage: { inputTokens: 10, outputTokens: 2, cost: 0.001 },
        modelId: 'judge-1',
        requests: 1,
      };
    },
  };
}

test('what a session tells fits, whatever happens in it', async () => {
  const engine = createTestEngine();
  engine.nodes = [node('1', 'button', 'Buy')];
  const model = scripted([
    ['', { verdict: 'holds', reason: 'It is there.' }],
    ['', { verdict: 'fails', reason: 'It is not.' }],
    ['tap', { id: 'n1' }],
    ['complete_step', { status: 'blocked', code: 'SEED_DATA_MISSING', summary: 'No shoe.' }],
  ]);
  const { session, events } = await open(engine, { agents: { default: { model } } });
  await rejects(
    session.attempt(async ({ agent, app }) => {
      const context = engine.given['startAttempt'] as EngineAttemptContext;
      context.appLog({ level: 'warning', text: 'slow', at: '2026-01-01T00:00:00Z' });
      context.environment({ browser: 'none' });
      await app.open();
      await agent.assert('a button is there');
      await rejects(agent.assert('a shoe is there'));
      await agent.act('buy it', { maxModelCalls: 2 });
    }),
  );
  engine.fail.set(
    'endAttempt',
    new EngineError('INVALID_STATE', 'over', { cause: new Error('x') }),
  );
  await rejects(session.attempt(() => undefined));
  await rejects(
    session.attempt(() => {
      throw new TestError('ACTION_FAILED', 'no', { details: { tried: [1, 'two'] } });
    }),
  );
  engine.fail.set('dispose', new Error('stuck'));
  await rejects(session.close());
  for (const event of events) assertFits(event);
  const told = new Set(
    events.map((event) => (event.type === 'step' ? `step ${event.phase}` : event.type)),
  );
  assert.equal([...told].toSorted(), [
    'attempt-finished',
    'attempt-started',
    'error',
    'notice',
    'session-finished',
    'session-started',
    'step closed',
    'step opened',
    'step progress',
  ]);
  const kinds = events.flatMap((event) =>
    event.type === 'step' && event.phase === 'progress' ? [event.progress.what] : [],
  );
  for (const what of ['observed', 'model-call', 'action', 'judgment'] as const) {
    assert.ok(kinds.includes(what), what);
  }
  const statuses = events.flatMap((event) =>
    event.type === 'step' && event.phase === 'closed' ? [event.record.status] : [],
  );
  assert.equal(statuses, ['passed', 'failed', 'blocked']);
});

test.run();
