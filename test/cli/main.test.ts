// The command line as a newcomer meets it: help, slips, and what each says. Runs the built file.
import { assert, suite } from '../harness.ts';
import { runCli, startNode, CLI } from '../support/processes.ts';

const test = suite('cli');

test('prints help and version on stdout, and fails without a command', async () => {
  const help = await runCli(['--help']);
  assert.is(help.code, 0);
  assert.match(help.stdout, /Usage: enginewright <command>/u);
  for (const command of ['demo', 'serve', 'describe']) assert.match(help.stdout, command);
  const version = await runCli(['--version']);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/u);
  const none = await runCli([]);
  assert.is(none.code, 2);
  assert.is(none.stdout, '');
});

test('every command has help that fits a terminal', async () => {
  for (const command of ['demo', 'serve', 'describe']) {
    const { code, stdout, stderr } = await runCli([command, '--help']);
    assert.is(code, 0);
    assert.is(stderr, '');
    assert.match(stdout, `Usage: enginewright ${command}`);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line);
  }
});

const SLIPS: readonly { readonly args: readonly string[]; readonly says: RegExp }[] = [
  { args: ['serv'], says: /unknown command "serv"; did you mean "serve"\?/u },
  { args: ['serve'], says: /Name an engine: kiosk, playwright/u },
  { args: ['serve', 'kiosc'], says: /no engine "kiosc"; did you mean "kiosk"\?/u },
  {
    args: ['serve', 'kiosk', '--prot', '1'],
    says: /Unknown option --prot; did you mean "port"\?/u,
  },
  { args: ['serve', 'kiosk', '--port'], says: /Option --port needs a value: --port N/u },
  { args: ['serve', 'kiosk', '--port', '70000'], says: /whole number from 0 to 65535/u },
  { args: ['serve', 'kiosk', '--host', 'x'], says: /--host goes with --port/u },
  { args: ['serve', 'kiosk', '--stdio', '--port', '1'], says: /one of --stdio and --port/u },
  { args: ['serve', 'kiosk', 'kiosk'], says: /One engine at a time/u },
  { args: ['serve', 'kiosk', '--options', '{'], says: /Option --options is not JSON/u },
  { args: ['serve', 'kiosk', '--options', '[]'], says: /takes a JSON object/u },
  {
    args: ['serve', 'kiosk', '--options', '{"preparatonMs": 1}'],
    says: /did you mean "preparationMs"/u,
  },
  { args: ['describe'], says: /Name one thing to describe/u },
  { args: ['describe', 'kiosk', '--tcp', 'x:1'], says: /Name one thing to describe/u },
  { args: ['describe', '--tcp', '4723'], says: /it takes HOST:PORT/u },
  { args: ['describe', '--'], says: /Write the command after "--"/u },
  { args: ['demo', '--engine', 'web'], says: /use kiosk or playwright/u },
  {
    args: ['demo', '--model', 'plain-word'],
    says: /no model "plain-word"; did you mean "plain-words"/u,
  },
  { args: ['demo', '--model', 'openai-chat'], says: /needs the name of a model/u },
  { args: ['demo', '--key-from', 'KEY'], says: /--key-from goes with --base-url/u },
  {
    args: ['demo', '--base-url', 'http://127.0.0.1:1', '--key-from', 'NOT_SET_ANYWHERE'],
    says: /NOT_SET_ANYWHERE, which is not set/u,
  },
  { args: ['demo', 'kiosk'], says: /takes options only/u },
];

for (const { args, says } of SLIPS) {
  test(`explains: enginewright ${args.join(' ')}`, async () => {
    const { code, stdout, stderr } = await runCli(args);
    assert.match(stderr, says);
    assert.is(code, 2);
    assert.is(stdout, '');
    assert.not.match(stderr, /\n\s+at /u);
  });
}

test('a real model without a key is refused by name, before anything is played', async () => {
  const { code, stderr } = await runCli(['demo', '--model', 'openai-chat:some'], {
    env: { OPENAI_API_KEY: '' },
  });
  assert.is(code, 2);
  assert.match(stderr, /OPENAI_API_KEY/u);
  assert.match(stderr, /MODEL_UNAVAILABLE/u);
});

test('describe prints the same manifest in process, from a child and over TCP', async () => {
  const local = await runCli(['describe', 'kiosk']);
  assert.is(local.code, 0, local.stderr);
  const manifest = JSON.parse(local.stdout) as { name: string; methods: string[] };
  assert.is(manifest.name, 'kiosk');
  assert.ok(manifest.methods.includes('engine/observe'));
  const child = await runCli(['describe', '--', process.execPath, CLI, 'serve', 'kiosk']);
  assert.is(child.stdout, local.stdout, child.stderr);
  const server = startNode([CLI, 'serve', 'kiosk', '--port', '0']);
  const [, address = ''] = await server.printed(/listening on (\S+)\n/u);
  const tcp = await runCli(['describe', '--tcp', address]);
  const ended = await server.kill('SIGTERM');
  assert.is(tcp.stdout, local.stdout, tcp.stderr);
  assert.is(ended.code, 0, ended.stderr);
});

test('a command that is no engine is shown with what it printed', async () => {
  const script = 'console.error("I am no engine"); process.exit(7)';
  const { code, stderr } = await runCli(['describe', '--', process.execPath, '-e', script]);
  assert.is(code, 3);
  assert.match(stderr, /ENGINE_FAILURE/u);
  assert.match(stderr, /I am no engine/u);
  const missing = await runCli(['describe', '--', 'no-such-command-at-all']);
  assert.is(missing.code, 3);
  assert.match(missing.stderr, /no-such-command-at-all/u);
});

test('a served engine that is told to exit without shutdown ends with 1', async () => {
  const packet = (message: object): string => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  const params = {
    protocolVersion: 1,
    clientInfo: { name: 'test', version: '1' },
    role: 'worker',
  };
  const hello = packet({ id: 1, method: 'initialize', params });
  const bare = startNode([CLI, 'serve', 'kiosk'], { stdin: hello + packet({ method: 'exit' }) });
  assert.is((await bare.finished).code, 1);
  const polite = startNode([CLI, 'serve', 'kiosk']);
  polite.child.stdin?.write(hello);
  await polite.printed(/"id":1/u);
  polite.child.stdin?.end(packet({ id: 2, method: 'shutdown' }) + packet({ method: 'exit' }));
  assert.is((await polite.finished).code, 0);
});

test('a reader that closes the pipe early ends the command quietly', async () => {
  const demo = startNode([CLI, 'demo']);
  await demo.printed(/Enginewright demo/u);
  demo.child.stdout?.destroy();
  const { stderr } = await demo.finished;
  assert.is(stderr, '');
});
