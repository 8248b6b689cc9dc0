// The root door: what it exports, that importing it does nothing, and that a name is resolved.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { assert, rejects, suite } from '../harness.ts';
import * as root from '../../index.ts';
import importRoot from './fixtures/import-root.ts?file';

const test = suite('root door');

test('importing it reads, writes and registers nothing', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [importRoot]);
  assert.is(stderr, '');
  const report = JSON.parse(stdout) as Record<string, unknown>;
  // The one that the fixture reads itself, to prove that it sees a read.
  assert.equal(report['read'], ['ENGINEWRIGHT_WATCH']);
  assert.equal(report['written'], []);
  assert.is(report['listeners'], 0);
  assert.is(report['globals'], 0);
  assert.ok((report['exports'] as string[]).includes('openSession'));
});

test('exports what a harness needs, by name', () => {
  assert.equal(Object.keys(root).toSorted(), [
    'credentials',
    'defineEngine',
    'exitCodeOf',
    'isAgentError',
    'openSession',
    'secrets',
  ]);
});

test('a malformed option rejects, it does not throw', async () => {
  const error = await rejects(root.openSession({} as never));
  assert.is(error.code, 'INVALID_CONFIG');
  assert.is(root.exitCodeOf(error), 2);
});

test('an unknown engine names the nearest', async () => {
  const error = await rejects(root.openSession({ target: { engine: 'kiosq' } }));
  assert.is(error.code, 'INVALID_CONFIG');
  assert.match(error.message, /did you mean "kiosk"/u);
});

test('a session by names alone, environment read at the opening', async () => {
  process.env['E2E_SECRET_HOST_TEST'] = 'of the environment';
  try {
    const session = await root.openSession({
      target: { engine: 'kiosk' },
      agents: { default: { model: 'plain-words' } },
      secrets: { HOST_TEST: undefined },
    });
    assert.is(session.secrets.get('HOST_TEST').name, 'HOST_TEST');
    assert.is(await session.attempt(({ agent }) => typeof agent.act), 'function');
    await session.close();
  } finally {
    delete process.env['E2E_SECRET_HOST_TEST'];
  }
});

test.run();
