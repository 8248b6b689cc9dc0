// The order of the engine's hooks, and that each is owed its counterpart on every way out.
import { tmpdir } from 'node:os';
import { assert, rejects, suite } from '../harness.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { runnerError } from '../../core/contract/errors.ts';
import { openSessionIn } from '../../core/host/index.ts';
import { createTestEngine, open, settle, URL, type TestEngine } from './support.ts';

const test = suite('host lifecycle');

const ATTEMPT = ['startAttempt', 'settleAttempt', 'settleAttempt', 'endAttempt'];

test('calls the hooks in order', async () => {
  const engine = createTestEngine({
    members: {
      validateApp: (app, info) => {
        engine.log.push(`validateApp ${app.url} ${info.targetName}`);
      },
    },
  });
  const { session } = await open(engine);
  assert.equal(await session.attempt(() => engine.log.push('fn') && 7), 7);
  await session.attempt(() => engine.log.push('fn'));
  await session.close();
  const attempt = ['startAttempt', 'fn', 'settleAttempt', 'settleAttempt', 'endAttempt'];
  assert.equal(engine.log, [
    `validateApp ${URL} fake`,
    'prepare',
    'init',
    ...attempt,
    ...attempt,
    'dispose',
    'finish',
  ]);
});

test('an engine without hooks needs none', async () => {
  const engine = createTestEngine({
    leaveOut: [
      'prepare',
      'init',
      'startAttempt',
      'settleAttempt',
      'endAttempt',
      'dispose',
      'finish',
    ],
  });
  const { session } = await open(engine);
  assert.equal(await session.attempt(() => 'done'), 'done');
  await session.close();
  assert.equal(engine.log, []);
});

interface Case {
  readonly stage: string;
  /** The whole log when that stage fails. */
  readonly log: readonly string[];
  /** Where the failure is expected. */
  readonly rejects: 'open' | 'attempt' | 'close';
}
const CASES: readonly Case[] = [
  { stage: 'prepare', rejects: 'open', log: ['prepare', 'finish'] },
  { stage: 'init', rejects: 'open', log: ['prepare', 'init', 'dispose', 'finish'] },
  {
    stage: 'startAttempt',
    rejects: 'attempt',
    log: ['prepare', 'init', 'startAttempt', 'endAttempt', 'dispose', 'finish'],
  },
  {
    stage: 'settleAttempt',
    rejects: 'attempt',
    log: ['prepare', 'init', ...ATTEMPT, 'dispose', 'finish'],
  },
  {
    stage: 'endAttempt',
    rejects: 'attempt',
    log: ['prepare', 'init', ...ATTEMPT, 'dispose', 'finish'],
  },
  {
    stage: 'dispose',
    rejects: 'close',
    log: ['prepare', 'init', ...ATTEMPT, 'dispose', 'finish'],
  },
  {
    stage: 'finish',
    rejects: 'close',
    log: ['prepare', 'init', ...ATTEMPT, 'dispose', 'finish'],
  },
];

/** Runs open, one attempt and close; answers what each rejected with. */
async function wholeRun(
  engine: TestEngine,
): Promise<Partial<Record<'open' | 'attempt' | 'close', Error>>> {
  const failures: Partial<Record<'open' | 'attempt' | 'close', Error>> = {};
  const clock = createFakeClock();
  const attempt = async (
    stage: keyof typeof failures,
    work: Promise<unknown>,
  ): Promise<boolean> => {
    try {
      await settle(clock, work);
      return true;
    } catch (error) {
      failures[stage] = error as Error;
      return false;
    }
  };
  const opening = open(engine, { clock });
  if (!(await attempt('open', opening))) return failures;
  const { session } = await opening;
  await attempt(
    'attempt',
    session.attempt(() => undefined),
  );
  await attempt('close', session.close());
  return failures;
}

for (const { stage, log, rejects: where } of CASES) {
  test(`${stage} fails: its counterparts still run`, async () => {
    const engine = createTestEngine();
    engine.fail.set(stage, new Error('the disk is full'));
    const failures = await wholeRun(engine);
    assert.equal(engine.log, log);
    assert.equal(Object.keys(failures), [where]);
    const error = failures[where] as Error & { code: string };
    assert.is(error.code, 'ENGINE_FAILURE');
    assert.match(error.message, new RegExp(`"fake": ${stage}: the disk is full`, 'u'));
    assert.is((error.cause as Error).message, 'the disk is full');
  });
  // prepare has no limit: see below.
  if (stage === 'prepare') continue;
  test(`${stage} hangs: it is abandoned at its limit`, async () => {
    const engine = createTestEngine();
    engine.hang.set(stage, 'for ever');
    const failures = await wholeRun(engine);
    assert.equal(engine.log, log);
    assert.equal(Object.keys(failures), [where]);
    const launch = stage === 'init' || stage === 'startAttempt';
    const found = failures[where] as AggregateError & { code?: string };
    // Both settles hang: two failures, collected.
    const error = (found.errors?.[0] ?? found) as Error & { code: string };
    assert.is(error.code, launch ? 'LAUNCH_TIMEOUT' : 'CLEANUP_TIMEOUT');
    assert.match(error.message, launch ? /60000 ms/u : /30000 ms/u);
  });
}

test('prepare has no limit but the signal', async () => {
  const engine = createTestEngine();
  engine.hang.set('prepare', 'polite');
  const clock = createFakeClock();
  const abort = new AbortController();
  const opening = open(engine, { clock, signal: abort.signal });
  let settled = false;
  opening.then(
    () => (settled = true),
    () => (settled = true),
  );
  await clock.advance(24 * 3_600_000);
  assert.is(settled, false);
  const reason = new Error('stop');
  abort.abort(reason);
  assert.is(await rejects(opening), reason);
  assert.equal(engine.log, ['prepare', 'finish']);
});

test('a runner error of a hook passes, an unknown one is the engine that failed', async () => {
  const engine = createTestEngine();
  engine.fail.set('init', runnerError('APP_URL_REQUIRED', 'give a URL'));
  assert.is((await rejects(open(engine))).code, 'APP_URL_REQUIRED');
  const odd = Object.assign(runnerError('INTERNAL', 'odd'), { code: 'SOMETHING_ODD' });
  engine.fail.set('init', odd);
  const error = await rejects(open(engine));
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.is(error.cause, odd);
});

test('validateApp: its INVALID_CONFIG passes and nothing was begun; a promise is refused', async () => {
  const refusing = createTestEngine({
    members: {
      validateApp: () => {
        throw runnerError('INVALID_CONFIG', 'app.bundleId is needed');
      },
    },
  });
  assert.is((await rejects(open(refusing))).code, 'INVALID_CONFIG');
  assert.equal(refusing.log, []);
  const late = createTestEngine({
    members: { validateApp: (async () => Promise.reject(new Error('late'))) as () => void },
  });
  await rejects(open(late), /validateApp must be synchronous/u);
});

test('hooks get what the contract names, and no URL but to validateApp', async () => {
  const engine = createTestEngine({
    members: {
      prepare: async (info) => {
        engine.given['prepare'] = info;
        info.log('preparing\u0007');
        return { workers: 1, env: { FROM_PREPARE: 'yes' } };
      },
    },
  });
  const { session, events } = await open(engine, {
    runId: 'run-1',
    workerSlot: 3,
    headed: true,
    projectRoot: tmpdir(),
    env: { A: 'b' },
    target: {
      name: 'shop',
      engine: engine.handle,
      app: { url: URL, bundleId: 'x.y', launchArguments: ['-v'] },
    },
  });
  await session.close();
  const common = {
    runId: 'run-1',
    targetName: 'shop',
    projectRoot: tmpdir(),
    app: { site: 'shop.example', bundleId: 'x.y', launchArguments: ['-v'] },
  };
  const without = (value: unknown): unknown => {
    const { signal, log, timeoutMs, ...rest } = value as Record<string, unknown>;
    assert.ok(signal);
    assert.ok(typeof log === 'function');
    assert.ok(timeoutMs === undefined || timeoutMs === 30_000);
    return rest;
  };
  assert.equal(without(engine.given['prepare']), { ...common, slots: 1, env: { A: 'b' } });
  assert.equal(without(engine.given['init']), {
    ...common,
    headed: true,
    workerSlot: 3,
    env: { A: 'b', FROM_PREPARE: 'yes' },
  });
  assert.equal(without(engine.given['finish']), {
    runId: 'run-1',
    targetName: 'shop',
    env: { A: 'b', FROM_PREPARE: 'yes' },
  });
  const notice = events.find((event) => event.type === 'notice');
  assert.is(notice?.type === 'notice' ? notice.text : '', 'preparing');
});

test('nothing of the environment crosses that was not given', async () => {
  const engine = createTestEngine();
  const { session } = await open(engine, { environment: { E2E_SECRET_TOKEN: 'abcdefgh' } });
  await session.close();
  assert.equal((engine.given['init'] as { env: unknown }).env, {});
});

test('prepare cannot ask for more workers than there are slots', async () => {
  const engine = createTestEngine({ members: { prepare: async () => ({ workers: 2 }) } });
  await rejects(open(engine), /2 workers for 1 slot/u);
  assert.equal(engine.log, ['finish']);
});

test('an abort while init runs rejects with its reason and cleans up', async () => {
  const engine = createTestEngine();
  engine.hang.set('init', 'for ever');
  const abort = new AbortController();
  const opening = open(engine, { signal: abort.signal });
  opening.catch(() => undefined);
  while (!engine.log.includes('init')) await new Promise((resolve) => setImmediate(resolve));
  const reason = new DOMException('Ctrl-C', 'AbortError');
  abort.abort(reason);
  assert.is(await rejects(opening), reason);
  assert.equal(engine.log, ['prepare', 'init', 'dispose', 'finish']);
});

test('an abort before anything runs begins nothing', async () => {
  const engine = createTestEngine();
  const reason = new Error('no');
  assert.is(await rejects(open(engine, { signal: AbortSignal.abort(reason) })), reason);
  assert.equal(engine.log, []);
});

test('engines and models by name come from the registry', async () => {
  const engine = createTestEngine();
  const asked: unknown[] = [];
  const session = await openSessionIn(
    {
      readEnv: () => undefined,
      registry: {
        engine: async (name, options) => {
          asked.push(name, options);
          return engine.handle;
        },
        model: async (name) => {
          asked.push(name);
          return { adapter: 'x', modelId: name, images: false, generate: () => Promise.reject() };
        },
      },
    },
    {
      target: { engine: { name: 'kiosk', options: { fast: true } } },
      agents: { default: { model: 'words:v1' } },
    },
  );
  assert.equal(asked, ['kiosk', { fast: true }, 'words:v1']);
  assert.is(await session.attempt(({ agent }) => typeof agent.act), 'function');
  await session.close();
});

test('a registry that gives no engine is named', async () => {
  const registry = { engine: async () => ({}) as never, model: async () => ({}) as never };
  const surroundings = { readEnv: () => undefined, registry };
  await rejects(openSessionIn(surroundings, { target: { engine: 'x' } }), /"x".*no engine/u);
});

test('prepare cannot answer an environment that is none', async () => {
  for (const env of ['A=b', ['A'], { A: 5 }]) {
    const engine = createTestEngine({ members: { prepare: async () => ({ env }) as never } });
    const error = await rejects(open(engine));
    assert.is(error.code, 'ENGINE_FAILURE');
    assert.match(error.message, /prepare answered an env/u);
  }
});

test.run();
