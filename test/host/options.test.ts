// Every option: its check names the key path, an unknown one the nearest, and nothing runs before.
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, rejects, suite } from '../harness.ts';
import type { Model } from '../../core/agent/model.ts';
import { normalizeUrl } from '../../core/host/app-options.ts';
import { resolveOptions, type SessionOptions } from '../../core/host/options.ts';
import { createTestEngine, open } from './support.ts';

const test = suite('host options');

const { handle } = createTestEngine();
const target = { engine: handle };
const ROOT = realpathSync(tmpdir());
const model: Model = {
  adapter: 'm',
  modelId: '1',
  images: false,
  generate: () => Promise.reject(),
};

/** Options that are refused, and how the message begins. */
const REFUSED: readonly (readonly [options: unknown, message: RegExp, code?: string])[] = [
  [undefined, /^The options must be a plain object/u],
  [{}, /^Option "target" is required/u],
  [{ target, timout: 5 }, /^Option "timout" is unknown; did you mean "timeout"\?$/u],
  [{ target: { engine: handle, ap: {} } }, /^Option "target.ap" is unknown; did you mean "app"/u],
  [{ target: {} }, /^Option "target.engine" is required/u],
  [{ target, engine: handle }, /^Option "engine" is unknown here: it is "target.engine"\.$/u],
  [{ target, model }, /^Option "model" is unknown here: it is "agents.default.model"\.$/u],
  [{ target: { engine: handle, url: 'x' } }, /"target.url".* it is "target.app.url"/u],
  [{ target: 'kiosk' }, /^Option "target" must be a plain object: \{ engine, app\? \}\.$/u],
  [{ target: { engine: () => handle } }, /^Option "target.engine" is a function: pass what it/u],
  [{ target: { engine: Promise.resolve(handle) } }, /"target.engine" is a promise: await it/u],
  [{ target, retries: 2 }, /^Option "retries" is unknown; known: target.*, registry\.$/u],
  [{ target: { engine: handle, app: null } }, /"target.app" must be a plain object/u],
  [{ target: { engine: handle, app: { url: new URL('https://a.example') } } }, /as a string/u],
  [{ target: { engine: handle, app: { url: 'https:/a.example' } } }, /two slashes/u],
  [{ target, agents: null }, /"agents" must be a plain object/u],
  [{ target, agents: { main: 'x:y' } }, /"agents.main" must be a plain object: \{ model/u],
  [{ target, agents: { main: { vision: null } } }, /"agents.main.vision"/u],
  [{ target, env: null }, /"env" must be a plain object/u],
  [{ target, env: process.env }, /"env" must be a plain object: the variables that/u],
  [{ target, trace: null }, /"trace" must be one of/u],
  [{ target, video: null }, /"video" must be one of/u],
  [{ target, timeout: Number.POSITIVE_INFINITY }, /positive integer, in milliseconds\.$/u],
  [{ target, timeout: [5] }, /"timeout" must be/u],
  [{ target, timeout: 2 ** 60 }, /"timeout" must be/u],
  [{ target, signal: new AbortController() }, /AbortSignal: pass the signal of the controller/u],
  [{ target, signal: { aborted: false } }, /"signal" must be an AbortSignal\.$/u],
  [{ target, allowedOrigins: ['*'] }, /"allowedOrigins\[0\]".*no wildcards/u],
  [{ target, allowedOrigins: ['https://*.a.example'] }, /no wildcards/u],
  [JSON.parse('{"__proto__":{},"target":{}}'), /"__proto__" is unknown/u],
  [{ target: { engine: 7 } }, /^Option "target.engine" must be/u],
  [{ target: { engine: { name: 'x', version: '1', spiVersion: 1 } } }, /defineEngine\(\)/u],
  [{ target: { engine: { nam: 'x' } } }, /"target.engine.nam" is unknown; did you mean "name"/u],
  [{ target: { engine: handle, name: '' } }, /"target.name"/u],
  [{ target: { engine: handle, app: { uri: 'x' } } }, /"target.app.uri".*"url"/u],
  [{ target: { engine: handle, app: { launchArguments: 'x' } } }, /"target.app.launchArguments"/u],
  [
    { target: { engine: handle, app: { permissions: { camera: 'yes' } } } },
    /"target.app.permissions.camera" must be one of "grant", "deny", "reset"/u,
  ],
  ...['timeout', 'launchTimeout', 'cleanupTimeout', 'actionTimeout'].flatMap((key) =>
    [0, -1, 1.5, Number.NaN, '5', null].map(
      (value) =>
        [
          { target, [key]: value },
          new RegExp(`^Option "${key}" must be a positive integer`, 'u'),
        ] as const,
    ),
  ),
  [{ target, workerSlot: -1 }, /"workerSlot" must be an integer of 0 or more/u],
  [{ target, headed: 'yes' }, /"headed" must be true or false/u],
  [{ target, projectRoot: '' }, /"projectRoot"/u],
  [{ target, artifactsDir: 5 }, /"artifactsDir"/u],
  [{ target, runId: '' }, /"runId"/u],
  [{ target, env: { A: 1 } }, /"env.A" must be a string/u],
  [{ target, env: [] }, /"env" must be a plain object/u],
  [{ target, allowedOrigins: 'x' }, /"allowedOrigins" must be a list/u],
  [{ target, allowedOrigins: ['about:blank'] }, /"allowedOrigins\[0\]" must be an origin/u],
  [{ target, video: 'yes' }, /"video" must be one of/u],
  [{ target, trace: 'yes' }, /"trace" must be one of/u],
  [{ target, trace: 'on' }, /"trace" can only be "off" in this version/u, 'UNSUPPORTED_CAPABILITY'],
  [{ target, debug: 'dir' }, /"debug" is not in this version/u, 'UNSUPPORTED_CAPABILITY'],
  [{ target, dryRun: true }, /"dryRun" is not in this version/u, 'UNSUPPORTED_CAPABILITY'],
  [{ target, signal: {} }, /"signal" must be an AbortSignal/u],
  [{ target, onEvent: {} }, /"onEvent" must be a function/u],
  [{ target, clock: {} }, /"clock" must have/u],
  [{ target, registry: {} }, /"registry" must have/u],
  [{ target, agent: 'main' }, /"agent" names no agent: "main".*no agent is configured/u],
  [{ target, agents: { main: {} }, agent: 'mian' }, /"mian".*did you mean "main"/u],
  [{ target, agents: { main: { modle: model } } }, /"agents.main.modle".*"model"/u],
  [{ target, agents: { main: { model: 5 } } }, /"agents.main.model" must be a model/u],
  [{ target, agents: { main: { model: { generate() {} } } } }, /"agents.main.model" is no model/u],
  [{ target, agents: { main: { maxSteps: 0 } } }, /"agents.main.maxSteps"/u],
  [{ target, agents: { main: { maxModelCalls: 0 } } }, /"agents.main.maxModelCalls"/u],
  [{ target, agents: { main: { maxObservationBytes: -1 } } }, /maxObservationBytes/u],
  [{ target, agents: { main: { maxTokens: 0 } } }, /"agents.main.maxTokens"/u],
  [{ target, agents: { main: { maxCost: 0 } } }, /"agents.main.maxCost" must be above 0/u],
  [{ target, agents: { main: { vision: 'yes' } } }, /"agents.main.vision"/u],
  [{ target, agents: { main: { prices: { input: 1 } } } }, /"agents.main.prices.output" is req/u],
  [{ target, agents: { main: { context: 'ä'.repeat(8193) } } }, /"agents.main.context".*16384/u],
  [{ target, agents: { main: { tools: [] } } }, /main.tools/u, 'UNSUPPORTED_CAPABILITY'],
  [{ target, agents: { main: { executor: {} } } }, /main.executor/u, 'UNSUPPORTED_CAPABILITY'],
];

test('refuses what is malformed, by its key path', () => {
  for (const [options, message, code = 'INVALID_CONFIG'] of REFUSED) {
    let error: (Error & { code?: string }) | undefined;
    try {
      resolveOptions(options as SessionOptions);
    } catch (caught) {
      error = caught as Error;
    }
    assert.match(error?.message ?? `accepted ${JSON.stringify(options)}`, message);
    assert.is(error?.code, code);
  }
});

test('never prints a value', () => {
  assert.throws(
    () => resolveOptions({ target, env: { TOKEN: ['hunter2hunter2'] } } as never),
    (error: Error) => !error.message.includes('hunter2'),
  );
});

test('fills every default in', () => {
  const options = resolveOptions({ target, agents: { default: { model } }, projectRoot: ROOT });
  assert.is(options.timeout, 120_000);
  assert.is(options.launchTimeout, 60_000);
  assert.is(options.cleanupTimeout, 30_000);
  assert.is(options.actionTimeout, 30_000);
  assert.is(options.agent, 'default');
  assert.is(options.artifactsDir, join(ROOT, '.enginewright'));
  assert.is(options.headed, false);
  assert.is(options.workerSlot, 0);
  assert.match(options.runId, /^[\w-]{36}$/u);
  assert.equal(options.env, {});
  assert.equal(options.allowedOrigins, []);
  assert.is(options.video, 'off');
  const { entry } = options.agents[0] ?? {};
  assert.equal(entry, {
    name: 'default',
    vision: false,
    maxSteps: 25,
    maxModelCalls: 25,
    maxObservationBytes: 24_000,
  });
});

test('paths are relative to the project root', () => {
  const at = (artifactsDir: string): string =>
    resolveOptions({ target, projectRoot: ROOT, artifactsDir }).artifactsDir;
  assert.is(at('out'), join(ROOT, 'out'));
  assert.is(at('/elsewhere'), '/elsewhere');
});

test('brings the app URL into one form', () => {
  const at = (url: unknown): string => normalizeUrl(url, 'target.app.url');
  assert.is(at('shop.example'), 'https://shop.example/');
  assert.is(at('shop.example:8443/a'), 'https://shop.example:8443/a');
  assert.is(at('localhost:3000'), 'http://localhost:3000/');
  assert.is(at('app.localhost'), 'http://app.localhost/');
  assert.is(at('127.0.0.1:80/x'), 'http://127.0.0.1/x');
  assert.is(at('127.9.9.9'), 'http://127.9.9.9/');
  assert.is(at('[::1]:8080'), 'http://[::1]:8080/');
  assert.is(at('10.0.0.1'), 'https://10.0.0.1/');
  assert.is(at('http://shop.example'), 'http://shop.example/');
  assert.is(at('kiosk://counter/'), 'kiosk://counter/');
  for (const [url, message] of [
    ['https://u:p@shop.example', /user or a password/u],
    ['https://u@shop.example', /user or a password/u],
    ['https://shop.example/?', /query/u],
    ['shop.example/?a=b', /query/u],
    ['shop.example/#', /fragment/u],
    ['https://', /is not a URL/u],
    ['', /must be a URL/u],
    [5, /must be a URL/u],
  ] as const) {
    assert.throws(
      () => at(url),
      (error: Error & { code: string }) => {
        assert.match(error.message, message);
        return error.code === 'INVALID_CONFIG' && !error.message.includes('u:p');
      },
    );
  }
});

test('allowed origins default to the app, and a URL counts for its origin', () => {
  const at = (
    options: Partial<SessionOptions>,
    url = 'https://shop.example/a',
  ): readonly string[] =>
    resolveOptions({ target: { engine: handle, app: { url } }, ...options }).allowedOrigins;
  assert.equal(at({}), ['https://shop.example']);
  assert.equal(at({ allowedOrigins: ['https://id.example/login', 'localhost:3000'] }), [
    'https://id.example',
    'http://localhost:3000',
  ]);
  assert.equal(at({}, 'kiosk://counter/'), []);
});

test('a cost limit needs a price: from the options, or from a provider that reports cost', async () => {
  const maxCost = 0.5;
  const agents = (options: object): Partial<SessionOptions> => ({
    agents: { main: { model, maxCost, ...options } },
  });
  const refused = await rejects(open(createTestEngine(), agents({})));
  assert.is(refused.code, 'INVALID_CONFIG');
  assert.match(refused.message, /"agents.main.maxCost" needs "prices"/u);
  const reporting: Model = { ...model, reportsCost: true };
  await rejects(open(createTestEngine(), agents({ model: reporting, judge: model })), /maxCost/u);
  for (const options of [{ prices: { input: 1, output: 2 } }, { model: reporting }]) {
    await (await open(createTestEngine(), agents(options))).session.close();
  }
});

test('a root that is no directory is refused before anything runs', async () => {
  const engine = createTestEngine();
  for (const projectRoot of ['/no/such/place', process.execPath, 'a\0b']) {
    const error = await rejects(open(engine, { projectRoot }));
    assert.is(error.code, 'INVALID_CONFIG');
    assert.match(error.message, /^Option "projectRoot" is no directory: /u);
  }
  assert.equal(engine.log, []);
});

test('video needs an engine that records', async () => {
  const error = await rejects(open(createTestEngine(), { video: 'on' }));
  assert.is(error.code, 'UNSUPPORTED_CAPABILITY');
  assert.match(error.message, /"video".*fake/u);
});

test('the options of an attempt are checked before it starts', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine, { agents: { main: {} }, agent: 'main' });
  const state = { format: 'x', version: 1, data: {} };
  for (const [options, message, code = 'INVALID_CONFIG'] of [
    [{ tilte: 'x' }, /"tilte" is unknown; did you mean "title"/u],
    [{ retry: -1 }, /"retry"/u],
    [{ timeout: 0 }, /"timeout"/u],
    [{ id: '' }, /"id"/u],
    [{ agent: 'mian' }, /"agent".*did you mean "main"/u],
    [{ signal: 5 }, /"signal"/u],
    [{ state }, /"state" needs an engine/u, 'UNSUPPORTED_CAPABILITY'],
    [{ state: { ...state, version: '1' } }, /captureState/u],
  ] as const) {
    const error = await rejects(
      session.attempt(() => undefined, options as never),
      message,
    );
    assert.is(error.code, code);
  }
  await rejects(session.attempt(undefined as never), /takes the test as a function/u);
  assert.ok(!engine.log.includes('startAttempt'));
  await session.close();
});

test.run();
