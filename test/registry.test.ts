// The registry: names, what is said about a wrong one, and that extending it makes another.
import { createRegistry, registry } from '../adapters/registry.ts';
import { kiosk } from '../adapters/engines/kiosk/index.ts';
import { plainWords } from '../adapters/models/plain-words.ts';
import { assert, rejects, suite } from './harness.ts';

const test = suite('registry');
const notFound = (name: string): Error =>
  Object.assign(new Error(`Cannot find package '${name}' imported from somewhere`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });

test('makes what it names, with the options', async () => {
  assert.equal(registry.engineNames, ['kiosk', 'playwright']);
  assert.equal(registry.modelNames, ['openai-chat', 'plain-words']);
  assert.is((await registry.engine('kiosk', { preparationMs: 5 })).name, 'kiosk');
  await rejects(registry.engine('kiosk', { preparation: 5 }), /did you mean "preparationMs"/u);
  const words = await registry.model('plain-words');
  assert.is(words.adapter, 'plain-words');
  const chat = await registry.model('openai-chat:org/model:tag', { baseUrl: 'http://localhost:1' });
  assert.equal([chat.adapter, chat.modelId], ['openai-chat', 'org/model:tag']);
});

test('names the nearest for an unknown one', async () => {
  const error = await rejects(
    registry.engine('kiosc'),
    /no engine "kiosc"; did you mean "kiosk"\?/u,
  );
  assert.is(error.code, 'INVALID_CONFIG');
  await rejects(
    registry.model('openai_chat:x'),
    /no model "openai_chat"; did you mean "openai-chat"/u,
  );
  await rejects(registry.model('zzzzzzzzzzzz'), /known: openai-chat, plain-words/u);
  await rejects(registry.model('openai-chat'), /write "openai-chat:NAME"/u);
  await rejects(registry.model('plain-words:x'), /takes no name of a model/u);
  await rejects(registry.engine('toString'), /no engine "toString"/u);
  await rejects(registry.engine(7 as never), /of type number/u);
});

test('a missing peer package is one sentence with the command', async () => {
  const entries = {
    engines: {
      own: { peer: 'some-driver', create: () => Promise.reject(notFound('some-driver')) },
      deep: { peer: 'some-driver', create: () => Promise.reject(notFound('other')) },
    },
  };
  const own = createRegistry(entries);
  const error = await rejects(
    own.engine('own'),
    /^"own" needs the package some-driver, which is not installed: npm install some-driver$/u,
  );
  assert.is(error.code, 'INVALID_CONFIG');
  assert.ok(error.cause instanceof Error);
  await rejects(own.engine('deep'), /Cannot find package 'other'/u);
});

test('a bare model name is shown how models are named', async () => {
  await rejects(
    registry.model('gpt-5'),
    /^There is no model "gpt-5"; known: openai-chat, plain-words\. A model is named "ADAPTER:MODEL", such as "openai-chat:gpt-5"\.$/u,
  );
});

test('the peer of an engine is checked by name', async () => {
  await registry.checkEngine('kiosk');
  await registry.checkEngine('playwright');
  await rejects(registry.checkEngine('kiosc'), /did you mean "kiosk"/u);
});

test('extending makes another, and leaves this one', async () => {
  const mine = registry.with({
    engines: { mine: { create: async () => kiosk() } },
    models: { 'plain-words': { create: async () => ({ ...plainWords(), adapter: 'replaced' }) } },
  });
  assert.equal(mine.engineNames, ['kiosk', 'playwright', 'mine']);
  assert.is((await mine.engine('mine')).name, 'kiosk');
  assert.is((await mine.model('plain-words')).adapter, 'replaced');
  await rejects(registry.engine('mine'), /no engine "mine"/u);
  assert.is((await registry.model('plain-words')).adapter, 'plain-words');
});
test.run();
