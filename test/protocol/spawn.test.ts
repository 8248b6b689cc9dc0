// Real child processes: what starts, what is inherited, what dies how, and what is told of it.
import process from 'node:process';
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createPeer, type Peer } from '../../core/protocol/peer.ts';
import {
  spawnTransport,
  type TransportConnection,
  type TransportContext,
} from '../../core/protocol/transports/index.ts';
import { childEnvironment } from '../../core/protocol/transports/spawn-environment.ts';
import { assert, rejects, suite } from '../harness.ts';

const test = suite('spawn', { timeoutMs: 20_000 });

function context(overrides: Partial<TransportContext> = {}): TransportContext {
  return {
    role: 'worker',
    env: {},
    cwd: tmpdir(),
    signal: new AbortController().signal,
    ...overrides,
  };
}

function open(script: string, overrides?: Partial<TransportContext>): Promise<TransportConnection> {
  return spawnTransport({ command: process.execPath, args: ['-e', script] }).open(
    context(overrides),
  );
}

function peerOf(connection: TransportConnection, errors: Error[] = []): Peer {
  return createPeer({
    streams: connection,
    onRequest: () => null,
    onNotification: () => undefined,
    onError: (error) => errors.push(error),
  });
}

async function readAll(connection: TransportConnection): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of connection.input) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const countPipes = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
/** The runner's own. */
const PIPES_BEFORE = countPipes();

const SEND = `const send = (text) => process.stdout.write('Content-Length: ' + Buffer.byteLength(text) + '\\r\\n\\r\\n' + text);`;
const ECHO = 'process.stdin.pipe(process.stdout)';

test('speaks over stdin and stdout, and close ends both', async () => {
  const connection = await open(
    `${SEND} let n = 0; process.stdin.on('data', () => send('{"jsonrpc":"2.0","id":' + ++n + ',"result":"hi"}'))`,
  );
  const peer = peerOf(connection);
  assert.is(await peer.request('m'), 'hi');
  assert.match(connection.diagnostics?.() ?? '', /is running \(pid \d+\)/);
  await peer.close();
  await connection.close(5000);
  assert.match(connection.diagnostics?.() ?? '', /exited with code 0/);
});

test('close is idempotent, and closes a child that nobody reads', async () => {
  const connection = await open(`process.stdout.write('x'.repeat(5_000_000)); ${ECHO}`);
  await Promise.all([connection.close(10_000), connection.close(0)]);
  assert.match(connection.diagnostics?.() ?? '', /exited with code 0/);
});

test('a program that does not exist is named, with what to do', async () => {
  const transport = spawnTransport({ command: 'no-such-engine', args: ['--port', '1 2'] });
  assert.is(transport.label, 'no-such-engine --port "1 2"');
  const error = await rejects(
    transport.open(context()),
    /^Engine server "no-such-engine" could not be started: there is no such program.*ENOENT/,
  );
  assert.equal([error.code, error.cause?.code], ['ENOENT', 'ENOENT']);
});

test('a working directory that does not exist is named', async () => {
  const transport = spawnTransport({ command: process.execPath, cwd: '/no/such/folder' });
  await rejects(transport.open(context()), /working directory "\/no\/such\/folder" does not exist/);
});

test('a file that is not executable is named', async () => {
  const transport = spawnTransport({ command: tmpdir() });
  assert.is((await rejects(transport.open(context()), /is not executable/)).code, 'EACCES');
});

test('an opening that is aborted starts nothing, or stops it', async () => {
  const reason = new Error('enough');
  assert.is(await rejects(open(ECHO, { signal: AbortSignal.abort(reason) })), reason);
  const controller = new AbortController();
  const opening = open(ECHO, { signal: controller.signal });
  controller.abort(reason);
  assert.is(await rejects(opening), reason);
});

test('runs in the project root, without a shell', async () => {
  const cwd = realpathSync(tmpdir());
  const script = 'process.stdout.write(JSON.stringify([process.cwd(), ...process.argv.slice(1)]))';
  const args = ['-e', script, '--', '$HOME; echo "x"', '*'];
  const connection = await spawnTransport({ command: process.execPath, args }).open(
    context({ cwd }),
  );
  assert.equal(JSON.parse(await readAll(connection)), [cwd, '$HOME; echo "x"', '*']);
  await connection.close(1000);
});

test('inherits the environment when it opens, without secrets, and what is put in', async () => {
  const names = [
    'EW_TEST_PLAIN',
    'EW_TEST_GONE',
    'E2E_SECRET_PIN',
    'E2E_USER_MEMBER_PASSWORD',
    'OPENAI_API_KEY',
    'EW_TEST_RUN',
    'EW_TEST_OWN',
    'E2E_SECRET_RUN',
  ];
  const script = `process.stdout.write(JSON.stringify(${JSON.stringify(names)}.map((name) => process.env[name] ?? null)))`;
  const transport = spawnTransport({
    command: process.execPath,
    args: ['-e', script],
    env: { EW_TEST_OWN: 'own', OPENAI_API_KEY: 'put in' },
  });
  const set = {
    EW_TEST_PLAIN: 'plain',
    EW_TEST_GONE: 'x',
    E2E_SECRET_PIN: 'x',
    E2E_USER_MEMBER_PASSWORD: 'x',
    OPENAI_API_KEY: 'x',
  };
  const before = { ...process.env };
  Object.assign(process.env, set);
  try {
    const connection = await transport.open(
      context({
        env: {
          EW_TEST_RUN: 'run',
          EW_TEST_OWN: 'run',
          EW_TEST_GONE: undefined,
          E2E_SECRET_RUN: 'run',
        },
      }),
    );
    assert.equal(JSON.parse(await readAll(connection)), [
      'plain',
      null,
      null,
      null,
      'put in',
      'run',
      'own',
      'run',
    ]);
    await connection.close(1000);
  } finally {
    for (const name of Object.keys(set)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test('withholds what looks like a secret of ours or a key of a model', () => {
  const withheld = [
    'E2E_SECRET_A',
    'E2E_USER_A_USERNAME',
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'OPENROUTER_API_KEY',
    'HF_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_BEARER_TOKEN_BEDROCK',
    'ENGINEWRIGHT_TOKEN',
    'e2e_secret_b',
  ];
  const kept = [
    'PATH',
    'HOME',
    'DISPLAY',
    'E2E_BASE_URL',
    'HTTPS_PROXY',
    'ANDROID_HOME',
    'AWS_REGION',
    'OPENAI_BASE_URL',
    'SSH_AUTH_SOCK',
  ];
  const inherited = Object.fromEntries([...withheld, ...kept].map((name) => [name, 'x']));
  assert.equal(Object.keys(childEnvironment({ inherited, run: {}, own: {} })), kept);
});

test('a child that exits at once fails the call and is quoted', async () => {
  const connection = await open(
    `process.stderr.write('first\\nno \\u001b[31mdisplay\\n\\n'); process.exit(3)`,
  );
  const peer = peerOf(connection);
  await rejects(peer.request('initialize'), /^initialize has no answer/);
  assert.is((await peer.closed).reason, 'remote');
  // Whoever sees the connection end can say why.
  assert.match(
    connection.diagnostics?.() ?? '',
    /exited with code 3; its last lines on stderr:\nfirst\nno display$/,
  );
  await connection.close(1000);
});

test('only the tail of stderr is kept', async () => {
  const connection = await open(
    `for (let n = 0; n < 5000; n += 1) process.stderr.write('line ' + n + '\\n')`,
  );
  await readAll(connection);
  const text = connection.diagnostics?.() ?? '';
  assert.ok(text.endsWith('line 4999') && text.length < 5000, text);
  assert.ok(!text.includes('line 4000'));
  await connection.close(1000);
});

test('a child that prints rubbish first is heard all the same', async () => {
  const connection = await open(
    `console.log('Debugger attached'); ${SEND} send('{"jsonrpc":"2.0","id":1,"result":1}'); ${ECHO}`,
  );
  const errors: Error[] = [];
  const peer = peerOf(connection, errors);
  assert.is(await peer.request('m'), 1);
  assert.match(errors[0]?.message ?? '', /Debugger attached/);
  await peer.close();
  await connection.close(5000);
});

test('unread output of a child that is gone is delivered before its end', async ({ signal }) => {
  // Fits into the pipe, so that the child is gone before anything is read.
  const connection = await open(
    `${SEND} for (let n = 0; n < 500; n += 1) send('{"jsonrpc":"2.0","method":"n","params":[' + n + ']}')`,
  );
  const exited = (): boolean => (connection.diagnostics?.() ?? '').includes('exited');
  while (!exited()) {
    signal.throwIfAborted();
    await new Promise(setImmediate);
  }
  let seen = 0;
  const peer = createPeer({
    streams: connection,
    onRequest: () => null,
    onNotification: () => {
      seen += 1;
    },
  });
  const late = rejects(peer.request('m'));
  assert.is((await peer.closed).reason === 'local', false);
  await late;
  assert.is(seen, 500);
  await connection.close(1000);
});

test('a child that dies in the middle of a packet', async () => {
  const connection = await open(
    `process.stdin.once('data', () => { process.stdout.write('Content-Length: 9\\r\\n\\r\\n{"a"'); process.exitCode = 1; process.stdin.destroy(); })`,
  );
  const peer = peerOf(connection);
  await rejects(
    peer.request('engine/observe'),
    /engine\/observe has no answer: .*4 of the 9 bytes/,
  );
  await connection.close(1000);
});

test('a child that is killed mid-call fails every call once', async () => {
  const connection = await open(
    `process.stdin.once('data', () => process.kill(process.pid, 'SIGKILL'))`,
  );
  const peer = peerOf(connection);
  const settled = await Promise.allSettled([peer.request('a'), peer.request('b')]);
  assert.equal(
    settled.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await peer.closed;
  assert.match(connection.diagnostics?.() ?? '', /ended by SIGKILL, without a word on stderr/);
  await connection.close(1000);
});

test('a child that ignores the end of stdin gets SIGTERM', async () => {
  const connection = await open(`setInterval(() => {}, 1000); console.error('up')`);
  await connection.close(900);
  assert.match(connection.diagnostics?.() ?? '', /ended by SIGTERM, sent by the client/);
});

test('a child that ignores SIGTERM too is killed when the budget runs out', async ({ signal }) => {
  const connection = await open(
    `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.stderr.write('deaf')`,
  );
  while (!(connection.diagnostics?.() ?? '').includes('deaf')) {
    signal.throwIfAborted();
    await new Promise(setImmediate);
  }
  const pid = Number(/pid (\d+)/.exec(connection.diagnostics?.() ?? '')?.[1]);
  assert.ok(isAlive(pid));
  await connection.close(300);
  assert.match(connection.diagnostics?.() ?? '', /ended by SIGKILL, sent by the client/);
  assert.not(isAlive(pid));
});

test('close does not wait for a grandchild that holds the pipes', async ({ signal }) => {
  const connection = await open(
    `const { spawn } = require('node:child_process');
     const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: ['ignore', 'inherit', 'inherit'] });
     process.stderr.write('child ' + child.pid); child.unref(); process.exit(0)`,
  );
  await connection.close(3000);
  const text = connection.diagnostics?.() ?? '';
  const pid = Number(/child (\d+)/.exec(text)?.[1]);
  assert.match(text, /exited with code 0/);
  assert.ok(isAlive(pid));
  while (countPipes() > PIPES_BEFORE) {
    signal.throwIfAborted();
    await new Promise(setImmediate);
  }
  process.kill(pid, 'SIGKILL');
});

test('malformed options are refused, by name', () => {
  assert.throws(() => spawnTransport({ command: '' }), /command must be/);
  assert.throws(
    () => spawnTransport({ command: 'x', args: [1] as unknown as string[] }),
    /args must be/,
  );
  assert.throws(
    () => spawnTransport({ command: 'x', arg: [] } as unknown as { command: string }),
    /no option "arg"; did you mean "args"\?/,
  );
});

test.run();
