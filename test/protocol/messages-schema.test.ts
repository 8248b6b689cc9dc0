// The schema of the wire's messages: it says what the sources say, and everything that a real
// session sends in both directions fits it, params and results included.
import { readFileSync } from 'node:fs';
import { Transform } from 'node:stream';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { assert, suite } from '../harness.ts';
import { kiosk } from '../../adapters/engines/kiosk/index.ts';
import { plainWords } from '../../adapters/models/plain-words.ts';
import { connectEngine, describeEngine, loopbackTransport } from '../../core/protocol/index.ts';
import type { EngineTransport } from '../../core/protocol/index.ts';
import { createDecoder } from '../../core/protocol/framing.ts';
import { messagesSchema } from '../../core/protocol/messages-schema.ts';
import { ENGINE_METHOD_NAMES, PROTOCOL_MESSAGES } from '../../core/protocol/methods.ts';
import { openSession } from '../../index.ts';

const test = suite('messages schema');

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const ajv = new Ajv2020({
  strict: false,
  formats: { 'date-time': (text: string) => !Number.isNaN(Date.parse(text)) },
});
const schema = messagesSchema();
const validate = ajv.compile(schema);
const methods = schema['x-methods'] as Readonly<
  Record<string, { readonly params?: { $ref: string }; readonly result?: { $ref: string } }>
>;
const part = (ref: { readonly $ref: string }): ((value: unknown) => boolean) =>
  ajv.compile({ $ref: `urn:enginewright:engine-messages-v1${ref.$ref}` });

const read = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

test('the shipped schema is the one that the sources say, and its fixtures hold', () => {
  assert.equal(read('../../schema/engine-messages-v1.schema.json'), schema);
  const valid = read('../fixtures/schema/engine-messages-v1.valid.json');
  assert.ok(validate(valid), JSON.stringify(validate.errors));
  assert.not(validate(read('../fixtures/schema/engine-messages-v1.invalid.json')));
});

test('every method has its params and its result in the index', () => {
  const names = [...Object.keys(PROTOCOL_MESSAGES), ...ENGINE_METHOD_NAMES];
  assert.equal(Object.keys(methods).sort(), names.sort());
  const missing = names.filter((name) => !name.includes('/') && methods[name] === undefined);
  assert.equal(missing, []);
  for (const name of ENGINE_METHOD_NAMES) {
    assert.ok(methods[name]?.params !== undefined && methods[name]?.result !== undefined, name);
  }
});

/** The loopback transport, with every message of either direction kept. */
function recorded(inner: EngineTransport, kept: Message[]): EngineTransport {
  const tap = (): Transform => {
    const decoder = createDecoder({
      onPacket: (bytes, start, end) => {
        kept.push(JSON.parse(bytes.toString('utf8', start, end)) as Message);
      },
      onError: (error) => {
        throw error;
      },
    });
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        // A copy: the writer may use its bytes again.
        const bytes = Buffer.from(chunk);
        decoder.write(bytes);
        done(null, bytes);
      },
    });
  };
  return {
    label: inner.label,
    async open(context) {
      const connection = await inner.open(context);
      const output = tap();
      output.pipe(connection.output);
      return { ...connection, input: connection.input.pipe(tap()), output };
    },
  };
}

test('a whole session fits it, message by message', async () => {
  const kept: Message[] = [];
  const engine = connectEngine({
    manifest: describeEngine(kiosk()),
    transport: recorded(loopbackTransport(kiosk()), kept),
  });
  const session = await openSession({
    target: { engine, app: { url: 'kiosk://order/' } },
    agents: { default: { model: plainWords() } },
  });
  await session.attempt(async ({ agent, app, perform, captureState }) => {
    await app.open('/');
    await agent.act('tap "Start order", tap "Espresso", then tap "Add to basket"');
    await agent.assert('the screen shows "Nowhere"').catch(() => undefined);
    await captureState();
    await perform(
      {
        kind: 'query',
        query: { kind: 'testId', value: { kind: 'string', value: 'no', exact: true } },
      },
      { kind: 'tap' },
      { timeout: 10 },
    ).catch(() => undefined);
  });
  await session.close();
  const called = new Map<unknown, string>();
  const seen = new Set<string>();
  for (const message of kept) {
    assert.ok(validate(message), JSON.stringify([validate.errors?.slice(0, 3), message]));
    if (message.method !== undefined) {
      seen.add(message.method);
      const row = methods[message.method];
      if (row?.params !== undefined) assert.ok(part(row.params)(message.params), message.method);
      if (message.id !== undefined) called.set(message.id, message.method);
    } else if (message.error === undefined) {
      const method = called.get(message.id) ?? '';
      const row = methods[method];
      assert.ok(row?.result !== undefined, method);
      assert.ok(part(row.result)(message.result), method);
    }
  }
  for (const method of ['initialize', 'lifecycle/init', 'engine/observe', 'engine/perform']) {
    assert.ok(seen.has(method), method);
  }
  assert.ok(seen.has('attempt/navigation') || seen.has('attempt/appLog'));
});
