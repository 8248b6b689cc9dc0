// Events, records and artifacts: order, shape, and that none of them can cost a verdict.
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { assert, rejects, suite } from '../harness.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { findJsonIssue } from '../../core/base/json.ts';
import type { EngineArtifacts, EngineAttemptContext } from '../../core/contract/engine.ts';
import { runnerError } from '../../core/contract/errors.ts';
import { safeName } from '../../core/host/evidence.ts';
import { openSessionIn, type HostEvent } from '../../core/host/index.ts';
import { button, createTestEngine, node, open, settle, type TestEngine } from './support.ts';

const test = suite('host events');

let dir = '';
test.before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'enginewright-host-'));
});
test.after(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** An engine that writes a picture where it is told to. */
function pictureEngine(members: Partial<EngineArtifacts> = {}): TestEngine {
  const engine = createTestEngine({
    members: {
      artifacts: {
        screenshot: async (label) => {
          engine.log.push(`screenshot ${String(label)}`);
          const { artifactsDir } = engine.given['startAttempt'] as EngineAttemptContext;
          await mkdir(join(artifactsDir, 'screenshots'), { recursive: true });
          const path = join('screenshots', `${label ?? 'screen'}.png`);
          await writeFile(join(artifactsDir, path), 'png');
          return path;
        },
        ...members,
      },
    },
  });
  return engine;
}

test('come numbered, in order, as plain JSON', async () => {
  const engine = createTestEngine();
  const { session, events } = await open(engine, { runId: 'run-1' });
  await session.attempt(
    () => {
      const context = engine.given['startAttempt'] as EngineAttemptContext;
      context.environment({ browser: 'Chromium 140' });
      context.appLog({ level: 'error', text: 'Uncaught', at: '2026-01-01T00:00:00Z' });
    },
    { title: 'buys', id: 'a-1', retry: 1 },
  );
  await rejects(session.attempt(() => Promise.reject(new Error('no'))));
  await session.close();
  assert.equal(
    events.map(({ type }) => type),
    [
      'session-started',
      'attempt-started',
      'notice',
      'attempt-finished',
      'attempt-started',
      'attempt-finished',
      'session-finished',
    ],
  );
  assert.equal(
    events.map(({ seq }) => seq),
    [1, 2, 3, 4, 5, 6, 7],
  );
  for (const event of events) {
    assert.is(findJsonIssue(event, { name: 'event' }), undefined);
    assert.is(event.at, '2026-01-01T00:00:00.000Z');
  }
  const finished = events[3];
  assert.ok(finished?.type === 'attempt-finished');
  assert.is(finished.attemptId, 'a-1');
  assert.is(finished.retry, 1);
  assert.is(finished.status, 'passed');
  assert.equal(finished.environment, { browser: 'Chromium 140' });
  const failed = events[5];
  assert.ok(failed?.type === 'attempt-finished');
  assert.is(failed.error?.message, 'no');
  assert.is(failed.error?.category, 'test');
  const last = events[6];
  assert.ok(last?.type === 'session-finished');
  assert.is(last.attempts, 2);
  assert.is(last.usage.modelCalls, 0);
});

test('an error keeps code, message, stack, errno and causes', async () => {
  const engine = createTestEngine();
  const { session, events } = await open(engine);
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  engine.fail.set('endAttempt', new Error('cannot say goodbye', { cause: refused }));
  await rejects(session.attempt(() => undefined));
  await session.close();
  const event = events.find(({ type }) => type === 'error');
  assert.ok(event?.type === 'error');
  assert.is(event.stage, 'endAttempt');
  assert.is(event.error.code, 'ENGINE_FAILURE');
  assert.is(event.error.category, 'infrastructure');
  assert.is(event.error.name, 'InfrastructureError');
  const [thrown] = event.error.causes ?? [];
  assert.is(thrown?.message, 'cannot say goodbye');
  assert.match(thrown?.stack ?? '', /events\.test/u);
  const [root] = thrown?.causes ?? [];
  assert.is(root?.errno, 'ECONNREFUSED');
  assert.is(root?.code, undefined);
});

test('an error that is its own cause is told once', async () => {
  const { session, events } = await open(createTestEngine());
  const error: Error & { cause?: unknown } = new Error('round');
  error.cause = error;
  await rejects(session.attempt(() => Promise.reject(error)));
  const finished = events.find(({ type }) => type === 'attempt-finished');
  assert.ok(finished?.type === 'attempt-finished');
  assert.is(finished.error?.causes, undefined);
  await session.close();
});

for (const [how, sink] of [
  [
    'throws',
    () => {
      throw new Error('disk full');
    },
  ],
  ['rejects', () => Promise.reject(new Error('disk full'))],
] as const) {
  test(`a sink that ${how} is dropped with a notice`, async () => {
    let calls = 0;
    const engine = createTestEngine();
    const { session } = await open(engine, {
      onEvent: () => {
        calls += 1;
        return sink();
      },
    });
    // A rejection is noticed in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    const before = calls;
    assert.is(await session.attempt(() => 'well'), 'well');
    await session.close();
    assert.is(calls, before);
    assert.equal(session.notices.length, 1);
    assert.match(session.notices[0] ?? '', /event sink.*disk full/u);
  });
}

test('an opening that fails is told to the end', async () => {
  const engine = createTestEngine();
  const events: HostEvent[] = [];
  engine.fail.set('init', runnerError('INVALID_CONFIG', 'no browser'));
  await rejects(open(engine, { onEvent: (event) => events.push(event) }));
  assert.equal(
    events.map(({ type }) => type),
    ['session-started', 'error', 'session-finished'],
  );
});

test('app logs are bounded', async () => {
  const engine = createTestEngine();
  const { session, events } = await open(engine);
  await session.attempt(() => {
    const context = engine.given['startAttempt'] as EngineAttemptContext;
    for (let count = 0; count < 3000; count += 1) {
      context.appLog({ level: 'info', text: 'x'.repeat(9000), at: '2026-01-01T00:00:00Z' });
    }
  });
  const lines = events.filter((event) => event.type === 'notice' && event.source === 'app');
  assert.is(lines.length, 500);
  assert.ok(lines.every((event) => event.type === 'notice' && event.text.length === 4096));
  assert.equal(session.notices.length, 1);
  await session.close();
});

test('what an engine reports after the end is dropped', async () => {
  const engine = createTestEngine();
  const { session, events } = await open(engine);
  await session.attempt(() => undefined);
  const context = engine.given['startAttempt'] as EngineAttemptContext;
  const before = events.length;
  context.appLog({ level: 'info', text: 'late', at: '2026-01-01T00:00:00Z' });
  context.navigation('late');
  context.environment({ late: 'yes' });
  assert.is(events.length, before);
  await session.close();
});

test('a screenshot lands in the directory of its attempt, which is made when needed', async () => {
  const engine = pictureEngine();
  const { session } = await open(engine, { artifactsDir: dir, runId: 'pictures' });
  await session.attempt(() => undefined, { id: 'quiet' });
  const path = await session.attempt(({ app }) => app.screenshot('After: pay/../now'), {
    id: 'shot',
    retry: 2,
  });
  assert.is(
    path,
    join(dir, 'pictures', 'shot-retry2', 'screenshots', `${safeName('After: pay/../now')}.png`),
  );
  assert.equal(await readdir(join(dir, 'pictures')), ['shot-retry2']);
  await session.close();
});

test('an unwritable directory loses evidence with a note, and the verdict stands', async () => {
  const file = join(dir, 'a-file');
  await writeFile(file, '');
  const engine = pictureEngine();
  const { session } = await open(engine, { artifactsDir: join(file, 'below') });
  const answer = await session.attempt(async ({ app }) => {
    assert.is(await app.screenshot('one'), undefined);
    assert.is(await app.screenshot('two'), undefined);
    return 'passed';
  });
  assert.is(answer, 'passed');
  assert.is(session.notices.length, 1);
  assert.match(session.notices[0] ?? '', /cannot be written \((ENOTDIR|EEXIST)\)/u);
  assert.ok(!engine.log.some((line) => line.startsWith('screenshot')));
  await session.close();
});

for (const [what, path] of [
  ['absolute', '/etc/passwd'],
  ['outside', '../../other.png'],
  ['missing', 'screenshots/none.png'],
  ['no string', undefined as never],
] as const) {
  test(`an artifact path that is ${what} is the engine's failure`, async () => {
    const engine = pictureEngine({ screenshot: async () => path });
    const { session } = await open(engine, { artifactsDir: dir });
    const error = await rejects(session.attempt(({ app }) => app.screenshot()));
    assert.is(error.code, 'ENGINE_FAILURE');
    await session.close();
  });
}

test('no picture is kept once a secret was filled', async () => {
  const engine = pictureEngine();
  engine.nodes = [node('1', 'button', 'PIN')];
  const { session, clock } = await open(engine, { artifactsDir: dir });
  const attempt = session.attempt(async ({ app, perform }) => {
    await app.open();
    await perform(button('PIN'), { kind: 'fill', value: '998877', sensitive: true });
    return app.screenshot();
  });
  assert.is(await settle(clock, attempt), undefined);
  assert.match(session.notices[0] ?? '', /a secret was filled/u);
  await session.close();
});

/** An engine that records a video file. */
function videoEngine(): TestEngine {
  const engine = pictureEngine({
    startVideo: async () => void engine.log.push('startVideo'),
    stopVideo: async () => {
      engine.log.push('stopVideo');
      const { artifactsDir } = engine.given['startAttempt'] as EngineAttemptContext;
      await writeFile(join(artifactsDir, 'video.webm'), 'webm');
      return [{ path: 'video.webm', startedAt: '2026-01-01T00:00:00Z' }];
    },
  });
  return engine;
}

test('video is recorded around the test and kept as asked', async () => {
  const engine = videoEngine();
  const { session, events } = await open(engine, {
    video: 'on-failure',
    artifactsDir: dir,
    runId: 'video',
  });
  await session.attempt(() => engine.log.push('fn'), { id: 'good' });
  assert.equal(engine.log.slice(2), [
    'startAttempt',
    'startVideo',
    'fn',
    'settleAttempt',
    'settleAttempt',
    'stopVideo',
    'endAttempt',
  ]);
  await rejects(session.attempt(() => Promise.reject(new Error('no')), { id: 'bad' }));
  assert.equal(await readdir(join(dir, 'video', 'good')), []);
  assert.equal(await readdir(join(dir, 'video', 'bad')), ['video.webm']);
  const videos = events.flatMap((event) =>
    event.type === 'attempt-finished' ? [event.video] : [],
  );
  assert.equal(videos, [
    [],
    [{ path: join(dir, 'video', 'bad', 'video.webm'), startedAt: '2026-01-01T00:00:00Z' }],
  ]);
  await session.close();
});

test('a video that cannot be recorded is a notice', async () => {
  const engine = pictureEngine({
    startVideo: () => Promise.reject(new Error('no codec')),
    stopVideo: async () => [],
  });
  const { session } = await open(engine, { video: 'on', artifactsDir: dir });
  assert.is(await session.attempt(() => 'well'), 'well');
  assert.match(session.notices[0] ?? '', /no codec/u);
  await session.close();
});

test('names of files are safe, and no two names share one', () => {
  assert.is(safeName('login-1.a_b'), 'login-1.a_b');
  const names = ['..', '../x', 'a/b', 'a:b', 'CON', '.hidden', 'x'.repeat(300), 'ä', ''].map(
    safeName,
  );
  assert.is(new Set(names).size, names.length);
  for (const name of names) {
    assert.match(name, /^\w[\w.-]{0,89}$/u);
    assert.not.match(name, /^con$/iu);
  }
});

test('steps are told with their attempt, collected, and their usage is summed', async () => {
  const engine = createTestEngine();
  engine.nodes = [node('1', 'button', 'Buy')];
  const events: HostEvent[] = [];
  const session = await openSessionIn(
    {
      readEnv: () => undefined,
      registry: { engine: Promise.reject, model: Promise.reject } as never,
    },
    {
      target: { engine: engine.handle, app: { url: 'https://shop.example/' } },
      onEvent: (event) => events.push(event),
      agents: {
        default: {
          model: {
            adapter: 'm',
            modelId: 'judge-1',
            images: false,
            generate: async ({ tools }) => {
              const tool = tools[0];
              return {
                text: '',
                toolCalls: [
                  {
                    id: '1',
                    name: tool?.name ?? '',
                    arguments: { verdict: 'holds', reason: 'It is there.' },
                  },
                ],
                stopReason: 'tool-calls',
                usage: { inputTokens: 10, outputTokens: 2 },
                modelId: 'judge-1',
                requests: 1,
              };
            },
          },
        },
      },
    },
  );
  const record = await session.attempt(
    async ({ agent, app, record: own }) => {
      await app.open();
      await agent.assert('a button Buy is there');
      return own;
    },
    { id: 'a-1' },
  );
  await session.close();
  assert.equal(
    record.steps.map(({ kind, status }) => [kind, status]),
    [['assert', 'passed']],
  );
  assert.is(record.usage.inputTokens, 10);
  assert.is(session.usage.modelCalls, 1);
  const steps = events.filter((event) => event.type === 'step');
  assert.is(steps[0]?.phase, 'opened');
  assert.is(steps.at(-1)?.phase, 'closed');
  assert.ok(steps.every((event) => event.attemptId === 'a-1'));
  const finished = events.find((event) => event.type === 'attempt-finished');
  assert.is(finished?.steps, 1);
  assert.is(finished?.usage.outputTokens, 2);
});

test('what an engine logs after the last event has no place', async () => {
  let late: ((line: string) => void) | undefined;
  const engine = createTestEngine({
    members: {
      finish: async (info) => {
        late = (line) => info.log(line);
      },
    },
  });
  const { session, events } = await open(engine);
  await session.close();
  const told = events.length;
  late?.('I am still here');
  assert.is(events.length, told);
  assert.is(events.at(-1)?.type, 'session-finished');
});

test('an event that cannot be told costs a notice, never the verdict', async () => {
  const engine = createTestEngine();
  const { session, events } = await open(engine, {
    clock: {
      ...createFakeClock(),
      iso: () => {
        throw new Error('no time');
      },
    },
  });
  assert.is(await session.attempt(() => 1), 1);
  await session.close();
  assert.equal(events, []);
  assert.match(session.notices[0] ?? '', /session-started could not be told: no time/u);
});

test('a video that is not what the contract says is a notice', async () => {
  for (const [segments, message] of [
    [[{ path: 5, startedAt: '2026-01-01T00:00:00Z' }], /segments\[0\]/u],
    [[{ path: 'a.webm', startedAt: 10n }], /segments\[0\]/u],
    ['a.webm', /segments/u],
    [[{ path: 'none.webm', startedAt: '2026-01-01T00:00:00Z' }], /names no file/u],
  ] as const) {
    const engine = pictureEngine({
      startVideo: async () => undefined,
      stopVideo: async () => segments as never,
    });
    const { session } = await open(engine, { video: 'on', artifactsDir: dir });
    assert.is(await session.attempt(() => 'well'), 'well');
    assert.match(session.notices[0] ?? '', message);
    await session.close();
  }
});

test('an id that comes twice writes over nothing', async () => {
  const engine = pictureEngine();
  const { session } = await open(engine, { artifactsDir: dir, runId: 'twice' });
  const paths: unknown[] = [];
  for (let index = 0; index < 3; index += 1) {
    paths.push(await session.attempt(({ app }) => app.screenshot('a'), { id: 'same' }));
  }
  assert.equal(
    paths.map((path) => relative(join(dir, 'twice'), String(path)).split(sep)[0]),
    ['same', 'same-again2', 'same-again3'],
  );
  await session.close();
});

test('a directory that is there and cannot be written loses evidence with a note', async () => {
  const closed = join(dir, 'closed');
  await mkdir(join(closed, 'run', 'attempt'), { recursive: true });
  await chmod(join(closed, 'run', 'attempt'), 0o555);
  // Whoever may write everywhere becomes somebody who may not, for this one test.
  const root = process.geteuid?.() === 0;
  if (root) {
    await chmod(dir, 0o755);
    process.seteuid?.(65_534);
  }
  try {
    const engine = pictureEngine();
    const { session } = await open(engine, { artifactsDir: closed, runId: 'run' });
    const answer = session.attempt(({ app }) => app.screenshot(), { id: 'attempt' });
    assert.is(await answer, undefined);
    assert.match(session.notices[0] ?? '', /cannot be written \(EACCES\)/u);
    await session.close();
  } finally {
    if (root) process.seteuid?.(0);
  }
});

test.run();
