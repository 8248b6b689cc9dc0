// `enginewright check` as an engine author meets it: the kiosk over stdio and TCP, a server with a
// fault, and slips. The command is built from source, so that it needs no dist.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import cliPath from '../../cli/main.ts?file';
import type { CheckReport } from '../../testing/index.ts';
import { assert, suite } from '../harness.ts';
import { tempFolder } from '../protocol/engine-support.ts';
import { startNode, type Finished } from '../support/processes.ts';
import brokenPath from '../support/broken-server.ts?file';

const KIOSK = [process.execPath, cliPath, 'serve', 'kiosk'];
const run = (...args: readonly string[]): Promise<Finished> =>
  startNode([cliPath, 'check', ...args], { stdin: '' }).finished;

const test = suite('enginewright check', { timeoutMs: 120_000 });

function assertWhole(report: CheckReport, left: readonly string[]): void {
  const failed = report.rules.filter(({ status }) => status === 'failed');
  assert.equal(failed, []);
  assert.ok(report.ok);
  assert.is(report.manifest?.name, 'kiosk');
  const absent = report.rules.filter(({ status }) => status === 'not-applicable');
  assert.equal(
    absent.map(({ id }) => id),
    left,
  );
}

test('the kiosk passes over stdio, and the report can be read', async () => {
  const { code, stdout, stderr } = await run('--probes', 'common', '--destructive', '--', ...KIOSK);
  assert.is(code, 0, stdout + stderr);
  assert.match(stdout, /^ok {3}handshake\/version: any protocolVersion/mu);
  assert.match(stdout, /^ok {3}signals\/under-way: /mu);
  assert.match(stdout, /^- {4}lifecycle\/run: .*\n {7}not applicable: the manifest lists/mu);
  assert.match(stdout, /\nkiosk 1\.0\.0 \(.*\): \d+ passed, 0 failed, 1 not applicable\n$/u);
});

test('the kiosk passes over TCP, as JSON', async () => {
  const server = startNode([cliPath, 'serve', 'kiosk', '--port', '0']);
  try {
    const [, address = ''] = await server.printed(/listening on (\S+:\d+)/u);
    const { code, stdout, stderr } = await run(
      '--json',
      '--probes',
      'common',
      '--destructive',
      '--tcp',
      address,
    );
    assert.is(code, 0, stdout + stderr);
    assertWhole(JSON.parse(stdout) as CheckReport, ['handshake/exit-code', 'lifecycle/run']);
  } finally {
    await server.kill();
  }
});

test('a server with a fault: exit code 1, and what was sent and received', async () => {
  const folder = tempFolder();
  try {
    const probes = join(folder.path, 'probes.json');
    writeFileSync(probes, JSON.stringify({ open: '/probe' }));
    const { code, stdout } = await run(
      '--probes',
      probes,
      '--only',
      'wire/ids,wire/packets-only,handshake/exit',
      '--timeout',
      '2000',
      '--',
      process.execPath,
      brokenPath,
    );
    assert.is(code, 1);
    assert.match(
      stdout,
      /FAIL wire\/packets-only: .*\n {7}bytes that belong to no packet: "ready/u,
    );
    assert.match(stdout, / {9}-> \{"jsonrpc":"2\.0",.*\n/u);
    assert.match(stdout, / {9}<- \(bytes that belong to no packet: "ready\\n"\)\n/u);
    assert.match(stdout, /ok {3}wire\/ids: /u);
  } finally {
    folder.remove();
  }
});

test('a server that cannot be reached: exit code 3, and one sentence', async () => {
  const { code, stdout, stderr } = await run('--', 'no-such-engine-anywhere');
  assert.is(code, 3);
  assert.is(stdout, '');
  assert.match(stderr, /no-such-engine-anywhere.* cannot be reached: .*ENOENT/u);
  assert.not.match(stderr, /\n\s+at /u);
});

test('slips are explained with exit code 2', async () => {
  const slips: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /Name one server: --tcp HOST:PORT/u],
    [['--tcp', '127.0.0.1:1', '--', 'x'], /Name one server/u],
    [['kiosk'], /Name one server/u],
    [['--probes', 'comon', '--', 'x'], /"comon" is no JSON file .*nor "common"/u],
    [['--only', 'wires/', '--', 'x'], /no rule "wires\/"/u],
    [['--timeout', 'soon', '--', 'x'], /whole number/u],
    [['--destuctive', '--', 'x'], /did you mean "destructive"/u],
  ];
  for (const [args, says] of slips) {
    const { code, stdout, stderr } = await run(...args);
    assert.match(stderr, says);
    assert.is(code, 2, stderr);
    assert.is(stdout, '');
  }
});

test('the rules can be listed', async () => {
  const { code, stdout } = await run('--list');
  assert.is(code, 0);
  assert.match(stdout, /^stale\/ids: the id of a node that is gone/mu);
});
test.run();
