// `enginewright serve` and the commands that connect to it, as somebody with a device uses them: TLS, a
// token that is never printed, a device that is taken, and an end that lets others finish. The command
// is built from source, so that it needs no dist.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import cliPath from '../../cli/main.ts?file';
import type { EngineHandle } from '../../core/contract/engine.ts';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import { fetchManifest } from '../../core/protocol/client/fetch-manifest.ts';
import { socketTransport } from '../../core/protocol/transports/socket.ts';
import { assert, rejects, skipFile, suite } from '../harness.ts';
import { attemptContext, cleanup, initInfo, operation, until } from '../protocol/engine-support.ts';
import { makeCertificates } from '../support/certificates.ts';
import { startNode, type Finished, type RunningProcess } from '../support/processes.ts';

const made = makeCertificates();
if (made === undefined) skipFile('no openssl on this machine');
const certificates = made;
const { ca, server, client, device } = certificates;

const test = suite('enginewright serve', { timeoutMs: 60_000 });
test.after(() => certificates.remove());

const TOKEN = 'correct-horse-battery-staple';
const tokenFile = join(certificates.folder, 'token');
writeFileSync(tokenFile, `${TOKEN}\n`);
const env = { DEVICE_TOKEN: TOKEN, WRONG_TOKEN: `${TOKEN}r`, EMPTY: '' };

const run = (...args: readonly string[]): Promise<Finished> =>
  startNode([cliPath, ...args], { stdin: '', env }).finished;

/** Serves the kiosk on a free port while `body` runs; answers how the server ended. */
async function serving(
  args: readonly string[],
  body: (address: string, process: RunningProcess) => Promise<void>,
): Promise<Finished> {
  const process = startNode([cliPath, 'serve', 'kiosk', '--port', '0', ...args], { env });
  try {
    const [, address = ''] = await process.printed(/^listening on (\S+:\d+)\n$/u);
    await body(address, process);
  } finally {
    process.child.kill('SIGTERM');
  }
  const ended = await process.finished;
  assert.not.match(ended.stderr + ended.stdout, TOKEN);
  return ended;
}

const TLS = ['--tls-cert', server.certFile, '--tls-key', server.keyFile];

test('over TLS with a token: from a file or the environment, and never shown', async () => {
  const ended = await serving([...TLS, '--token-file', tokenFile], async (address) => {
    const at = ['describe', '--tls', address, '--ca', ca.certFile];
    for (const token of [
      ['--token-file', tokenFile],
      ['--token-env', 'DEVICE_TOKEN'],
    ]) {
      const { code, stdout, stderr } = await run(...at, ...token);
      assert.is(code, 0, stderr);
      assert.is((JSON.parse(stdout) as { name: string }).name, 'kiosk');
    }
    for (const token of [[], ['--token-env', 'WRONG_TOKEN']]) {
      const { code, stdout, stderr } = await run(...at, ...token);
      assert.is(code, 3);
      assert.is(stdout, '');
      assert.match(stderr, /asks for a token, and the one of this client is missing or wrong/);
      assert.match(stderr, /--token-file/);
      assert.not.match(stderr, TOKEN);
    }
    const options = await run(...at, '--token-env', 'DEVICE_TOKEN', '--options', '{"colour": 1}');
    assert.is(options.code, 3);
    assert.match(options.stderr, /colour/);
    const plain = await run('describe', '--tcp', address, '--token-file', tokenFile);
    assert.is(plain.code, 3);
    assert.match(plain.stderr, /speaks TLS only/);
    const untrusted = await run('describe', '--tls', address, '--token-file', tokenFile);
    assert.match(untrusted.stderr, /no trusted CA signed/);
  });
  assert.is(ended.code, 0);
  assert.is(ended.stdout.split('\n').length, 2);
  const lines = ended.stderr.trim().split('\n');
  assert.is(lines.length, 7);
  assert.is(lines.filter((line) => line.includes('its token is missing or wrong')).length, 2);
});

test('client certificates, a pinned fingerprint, another name', async () => {
  await serving([...TLS, '--tls-ca', ca.certFile], async (address) => {
    const at = ['describe', '--tls', address, '--ca', ca.certFile];
    const mine = ['--cert', client.certFile, '--key', client.keyFile];
    assert.is((await run(...at, ...mine)).code, 0);
    assert.match((await run(...at)).stderr, /demands a client certificate/);
    assert.is((await run(...at, ...mine, '--server-name', 'localhost')).code, 0);
    const other = await run(...at, ...mine, '--server-name', 'kiosk.test');
    assert.match(other.stderr, /is not for "kiosk\.test"/);
  });
  const self = ['--tls-cert', device.certFile, '--tls-key', device.keyFile];
  await serving(self, async (address) => {
    const at = ['describe', '--tls', address];
    assert.is((await run(...at, '--fingerprint', device.fingerprint)).code, 0);
    const wrong = await run(...at, '--fingerprint', server.fingerprint);
    assert.match(wrong.stderr, /not the pinned one/);
  });
});

test('the kiosk passes the conformance check over TLS', async () => {
  await serving([...TLS, '--token-env', 'DEVICE_TOKEN'], async (address) => {
    const connect = ['--tls', address, '--ca', ca.certFile, '--token-env', 'DEVICE_TOKEN'];
    const { code, stdout, stderr } = await run('check', '--json', '--probes', 'common', ...connect);
    assert.is(code, 0, stdout + stderr);
    assert.not.match(stdout + stderr, TOKEN);
  });
});

/** A client in the middle of an attempt. */
async function holding(address: string): Promise<EngineHandle> {
  const [host = '', port = ''] = address.split(':');
  const transport = socketTransport({ host, port: Number(port) });
  const handle = connectEngine({ manifest: await fetchManifest({ transport }), transport });
  await handle.init?.(initInfo());
  await handle.startAttempt?.(attemptContext());
  return handle;
}

test('a shared device is taken by one, and the next reads by whom', async () => {
  await serving(['--shared'], async (address) => {
    const first = await holding(address);
    const second = await rejects(holding(address), /The engine is taken \(1 of 1 worker/);
    assert.match(second.message, /"enginewright [\d.]+" at 127\.0\.0\.1:\d+ holds it since/);
    await first.dispose?.(cleanup());
  });
  await serving(['--max-connections', '2'], async (address) => {
    const held = [await holding(address), await holding(address)];
    await rejects(holding(address), /2 of 2 worker connections/);
    for (const one of held) await one.dispose?.(cleanup());
  });
});

test('SIGTERM lets an attempt end; the second one does not', async ({ signal }) => {
  const gentle = await serving([], async (address, process) => {
    const busy = await holding(address);
    process.child.kill('SIGTERM');
    await until(() => process.output.stderr.includes('shutting down: 1 connected'), signal);
    await busy.observe?.(operation());
    await busy.endAttempt?.(cleanup());
    await process.finished;
    await busy.dispose?.(cleanup());
  });
  assert.is(gentle.code, 0);
  const hurried = await serving([], async (address, process) => {
    const busy = await holding(address);
    process.child.kill('SIGTERM');
    await until(() => process.output.stderr.includes('shutting down: 1 connected'), signal);
    process.child.kill('SIGTERM');
    await process.finished;
    await rejects(async () => busy.observe?.(operation()), /lost|ended/);
    await busy.dispose?.(cleanup());
  });
  assert.is(hurried.code, 0);
  assert.match(hurried.stderr, /was ended by the server, which is shutting down/);
});

const SLIPS: readonly (readonly [RegExp, ...(readonly string[])])[] = [
  [/Option --shared goes with --port/, 'serve', 'kiosk', '--shared'],
  [/Option --token-file goes with --port/, 'serve', 'kiosk', '--token-file', tokenFile],
  [/TLS needs both --tls-cert and --tls-key/, 'serve', 'kiosk', '--port', '0', '--tls-ca', 'x'],
  [
    /the file "nope" cannot be read \(ENOENT\)/,
    'serve',
    'kiosk',
    '--port',
    '0',
    '--token-file',
    'nope',
  ],
  [/names MISSING, which is not set/, 'serve', 'kiosk', '--port', '0', '--token-env', 'MISSING'],
  [/names EMPTY: a token is one word/, 'serve', 'kiosk', '--port', '0', '--token-env', 'EMPTY'],
  [
    /one of --token-file and --token-env/,
    'serve',
    'kiosk',
    '--port',
    '0',
    '--token-file',
    'a',
    '--token-env',
    'B',
  ],
  [/Unknown option --token/, 'serve', 'kiosk', '--port', '0', '--token', TOKEN],
  [/whole number from 1/, 'serve', 'kiosk', '--port', '0', '--max-connections', '0'],
  [
    /tls\.cert must be PEM/,
    'serve',
    'kiosk',
    '--port',
    '0',
    '--tls-cert',
    tokenFile,
    '--tls-key',
    tokenFile,
  ],
  [
    /do not fit together/,
    'serve',
    'kiosk',
    '--port',
    '0',
    '--tls-cert',
    server.certFile,
    '--tls-key',
    client.keyFile,
  ],
  [/Option --ca goes with --tls/, 'describe', '--tcp', '127.0.0.1:1', '--ca', 'x'],
  [/Option --tls is "nope": it takes HOST:PORT/, 'describe', '--tls', 'nope'],
  [/fingerprint must be a SHA-256 one/, 'describe', '--tls', 'a:1', '--fingerprint', 'abc'],
  [/cert and key go together/, 'describe', '--tls', 'a:1', '--cert', client.certFile],
  [/Name one thing to describe/, 'describe', '--tls', 'a:1', '--tcp', 'a:1'],
  [/goes with a server, not with an engine/, 'describe', 'kiosk', '--ca', 'x'],
  [/Name one server/, 'check', '--tls', 'a:1', '--tcp', 'a:1'],
];

for (const [says, ...args] of SLIPS) {
  test(`explains: ${says.source}`, async () => {
    const { code, stdout, stderr } = await run(...args);
    assert.match(stderr, says);
    assert.is(code, 2, stderr);
    assert.is(stdout, '');
    assert.not.match(stderr, TOKEN);
  });
}

test.run();
