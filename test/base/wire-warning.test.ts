// Which addresses stay on this machine, and that a warning comes once.
import process from 'node:process';
import { pemText } from '../../core/base/pem.ts';
import {
  hostAndPort,
  isLoopbackAddress,
  plainAddress,
  warnOnce,
} from '../../core/base/wire-warning.ts';
import { assert, suite } from '../harness.ts';

const test = suite('wire warning');

test('addresses of this machine, and others', () => {
  for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1']) {
    assert.ok(isLoopbackAddress(address), address);
  }
  for (const address of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '128.0.0.1',
    '::ffff:10.0.0.1',
    'fe80::1',
    '127.example.org',
    '127.0.0.1.example.org',
    '',
  ]) {
    assert.not.ok(isLoopbackAddress(address), address);
  }
});

test('addresses as they are written', () => {
  assert.is(plainAddress('::ffff:10.0.0.7'), '10.0.0.7');
  assert.is(plainAddress('::ffff:0:1'), '::ffff:0:1');
  assert.is(hostAndPort('::1', 80), '[::1]:80');
  assert.is(hostAndPort('localhost', 80), 'localhost:80');
});

test('a warning comes once for a key', async () => {
  const heard: string[] = [];
  const listener = (warning: Error): void => void heard.push(warning.message);
  process.on('warning', listener);
  for (const key of ['a', 'b', 'a']) warnOnce('TEST_CODE', key, `about ${key}`);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listener);
  assert.equal(heard, ['about a', 'about b']);
});

test('PEM is told from a path', () => {
  const text = '-----BEGIN CERTIFICATE-----\n';
  assert.is(pemText(text), text);
  assert.is(pemText(Buffer.from(text)), text);
  assert.is(pemText('/etc/ssl/cert.pem'), undefined);
  assert.is(pemText(7), undefined);
});

test.run();
