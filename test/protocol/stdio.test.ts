// serveEngine in a real process, over stdin and stdout, through spawnTransport and by hand.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import { fetchManifest } from '../../core/protocol/client/fetch-manifest.ts';
import { spawnTransport } from '../../core/protocol/transports/spawn.ts';
import type { EngineHandle } from '../../core/contract/engine.ts';
import type { EngineManifest } from '../../core/protocol/types.ts';
import serverPath from './served-engine.ts?file';
import { assert, rejects, suite } from '../harness.ts';
import {
  attemptContext,
  cleanup,
  initInfo,
  operation,
  rawEnd,
  tempFolder,
  type RawEnd,
} from './engine-support.ts';

const test = suite('protocol stdio', { timeoutMs: 20_000 });

const MANIFEST: EngineManifest = {
  name: 'served',
  version: '1.0.0',
  spiVersion: 1,
  methods: [
    'engine/observe',
    'engine/perform',
    'artifacts/screenshot',
    'lifecycle/startAttempt',
    'lifecycle/endAttempt',
    'lifecycle/dispose',
  ],
  actions: ['tap'],
};

function connect(mode = '', manifest = MANIFEST): EngineHandle {
  return connectEngine({
    manifest,
    transport: spawnTransport({ command: process.execPath, args: [serverPath, mode] }),
    initializationOptions: { device: 'a' },
  });
}

const tap = (engine: EngineHandle, id: string, signal?: AbortSignal): Promise<unknown> =>
  engine.perform?.(
    { id, revision: '' },
    { kind: 'tap' },
    operation(signal && { signal }),
  ) as Promise<unknown>;

test('an engine in a child process: options, environment, printing, errors, pictures', async () => {
  const folder = tempFolder();
  const engine = connect();
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext({ artifactsDir: folder.path }));
  assert.is((await engine.observe?.(operation()))?.location, '{"device":"a"} red');
  const stale = await rejects(tap(engine, 'x'));
  assert.equal([stale.code, stale.retryable, stale.message], ['NODE_STALE', true, 'x is gone']);
  const path = await engine.artifacts?.screenshot('Shot', operation());
  assert.is(path, 'screenshots/001-shot.png');
  assert.is(readFileSync(join(folder.path, path ?? '')).length, 33);
  assert.not.ok(existsSync(join(folder.path, 'shot.png')));
  await engine.endAttempt?.(cleanup());
  await engine.dispose?.(cleanup());
  folder.remove();
});

test('a child that dies in the middle ends the call at once, and the next init starts another', async () => {
  const engine = connect();
  await engine.init?.(initInfo());
  await engine.startAttempt?.(attemptContext());
  const waiting = rejects(tap(engine, 'wait'));
  const error = await rejects(tap(engine, 'die'));
  assert.is(error.code, 'ENGINE_FAILURE');
  assert.match(error.message, /lost during engine\/perform/);
  assert.match(error.message, /SIGKILL/);
  assert.is((await waiting).code, 'ENGINE_FAILURE');
  assert.is((await rejects(tap(engine, 'x'))).code, 'ENGINE_FAILURE');
  await engine.init?.(initInfo());
  assert.is((await rejects(tap(engine, 'x'))).code, 'NODE_STALE');
  await engine.dispose?.(cleanup());
});

for (const [mode, message] of [
  ['exit', /exited with code 3[^]*cannot find the device/],
  ['rubbish', /Welcome![^]*usage: thing/],
] as const) {
  test(`a program that is no engine (${mode}) is ENGINE_FAILURE with the command and its last lines`, async () => {
    const error = await rejects(() => connect(mode).init?.(initInfo()));
    assert.is(error.code, 'ENGINE_FAILURE');
    assert.match(error.message, message);
    assert.ok(error.message.includes(serverPath));
  });
}

test('no such program', async () => {
  const engine = connectEngine({
    manifest: MANIFEST,
    transport: spawnTransport({ command: 'no-such-program-at-all' }),
  });
  const error = await rejects(() => engine.init?.(initInfo()), /no-such-program-at-all.*ENOENT/);
  assert.is(error.code, 'ENGINE_FAILURE');
});

test('a program that never answers is let go when the launch budget ends', async () => {
  const launch = new AbortController();
  const engine = connect('deaf');
  const starting = engine.init?.(initInfo({ signal: launch.signal })) as Promise<void>;
  setTimeout(() => launch.abort(new Error('launch budget')), 200);
  const error = await rejects(starting, /did not answer initialize in time/);
  assert.is(error.code, 'ENGINE_FAILURE');
});

test('fetchManifest of a child', async () => {
  const transport = spawnTransport({ command: process.execPath, args: [serverPath] });
  assert.equal(await fetchManifest({ transport }), MANIFEST);
});

interface Child {
  readonly end: RawEnd;
  readonly stderr: () => string;
  readonly exited: Promise<number | null>;
}

function start(): Child {
  const child = spawn(process.execPath, [serverPath], { stdio: ['pipe', 'pipe', 'pipe'] });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return {
    end: rawEnd({ input: child.stdout, output: child.stdin }),
    stderr: () => text,
    exited,
  };
}

const HELLO = { protocolVersion: 1, clientInfo: { name: 't', version: '0' }, role: 'worker' };
const OPERATION = {
  signal: { id: 1 },
  timeoutMs: 1000,
  runId: 'r',
  attemptId: 'att',
  origin: 'test',
};

test('shutdown and exit end the process with 0, though stdin stays open; exit alone with 1', async () => {
  const good = start();
  await good.end.ask('initialize', HELLO);
  await good.end.ask('shutdown');
  good.end.send({ jsonrpc: '2.0', method: 'exit' });
  assert.is(await good.exited, 0);
  const rude = start();
  await rude.end.ask('initialize', HELLO);
  rude.end.send({ jsonrpc: '2.0', method: 'exit' });
  assert.is(await rude.exited, 1);
  assert.match(rude.stderr(), /exit code 1/);
});

test('what the engine prints goes to stderr while it serves', async () => {
  const child = start();
  await child.end.ask('initialize', HELLO);
  assert.ok((await child.end.ask('engine/observe', { operation: OPERATION }))['result']);
  child.end.end();
  await child.exited;
  assert.match(child.stderr(), /observing att\nraw\n/);
});

test('a client that vanishes: the engine is ended, and the process goes', async () => {
  const child = start();
  await child.end.ask('initialize', HELLO);
  await child.end.ask('lifecycle/startAttempt', {
    attemptId: 'a',
    artifactsDir: '/x',
    signal: { id: 2 },
    screens: false,
  });
  child.end.send({
    jsonrpc: '2.0',
    id: 'w',
    method: 'engine/perform',
    params: {
      ref: { id: 'wait', revision: '' },
      action: { kind: 'tap' },
      operation: OPERATION,
    },
  });
  child.end.end();
  assert.is(await child.exited, 0);
});

test.run();
