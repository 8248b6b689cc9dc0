// Keys, sites, text limits, option keys.
import {
  cutName,
  cutText,
  isInteractive,
  isRunnerError,
  KEY_MODIFIERS,
  KEY_NAMES,
  mayBeCutName,
  mayBeCutText,
  parseKey,
  rejectUnknownKeys,
  siteOf,
} from '../../core/contract.ts';
import { assert, suite } from '../harness.ts';

const keys = suite('parseKey');

keys('reads names, characters and modifiers', () => {
  for (const name of KEY_NAMES) {
    assert.equal(parseKey(name), { modifiers: [], key: name, named: true });
  }
  assert.equal(parseKey(`${KEY_MODIFIERS.join('+')}+F12`), {
    modifiers: ['Shift', 'Control', 'Alt', 'Meta', 'ControlOrMeta'],
    key: 'F12',
    named: true,
  });
  assert.equal(parseKey('Control+a'), { modifiers: ['Control'], key: 'a', named: false });
  assert.equal(parseKey('+'), { modifiers: [], key: '+', named: false });
  assert.equal(parseKey('Shift++'), { modifiers: ['Shift'], key: '+', named: false });
  for (const character of ['$', 'é', '漢', '😀', ' ', 'A']) {
    assert.is(parseKey(character)?.key, character);
  }
});

keys('answers undefined for anything else', () => {
  const wrong = [
    '',
    'enter',
    'Return',
    'F13',
    'ab',
    'Shift',
    'Shift+',
    '++',
    '+a',
    'Shift+Shift+a',
    'a+Shift',
    'Ctrl+a',
    'Shift+Enter+a',
    'Shift+++',
    '\n',
    '\u200b',
    '\ud800',
    '\ue000',
    '\u0378',
    'e\u0301',
  ];
  for (const key of wrong) assert.is(parseKey(key), undefined, JSON.stringify(key));
  assert.is(parseKey(5 as unknown as string), undefined);
});

const rest = suite('site, limits, options');

rest('siteOf is an approximation with its rules', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['https://shop.example.com/a', 'example.com'],
    ['https://example.com:8080', 'example.com'],
    ['https://a.b.shop.co.uk/', 'shop.co.uk'],
    ['https://shop.co.uk/', 'shop.co.uk'],
    ['https://uni.ac.at', 'uni.ac.at'],
    ['https://co.uk/', 'co.uk'],
    ['https://www.example.de', 'example.de'],
    ['https://www.net.example.org', 'example.org'],
    ['https://EXAMPLE.com./', 'example.com'],
    ['http://localhost:3000', 'localhost'],
    ['http://192.168.0.1/', '192.168.0.1'],
    ['http://[::1]:80/', '[::1]'],
    ['about:blank', undefined],
    ['file:///a', undefined],
    ['kiosk / home', undefined],
    ['', undefined],
  ];
  for (const [url, site] of cases) assert.is(siteOf(url), site, url);
});

rest('limits cut exactly and at the end', () => {
  assert.is(cutName('x'.repeat(300)).length, 256);
  assert.is(cutText('x'.repeat(600)).length, 512);
  assert.is(cutName('x'.repeat(256)), 'x'.repeat(256));
  assert.is(cutName(`${'x'.repeat(255)}😀`).length, 255);
  assert.ok(mayBeCutName(cutName(`${'x'.repeat(255)}😀`)));
  assert.not(mayBeCutName('x'.repeat(254)));
  assert.ok(mayBeCutText(cutText('y'.repeat(513))));
  assert.not(mayBeCutText('y'.repeat(510)));
});

rest('an unknown option names the nearest one', () => {
  rejectUnknownKeys('kiosk()', { slow: 1 }, ['slow']);
  const caught = (code?: 'INVALID_ARGUMENT'): unknown => {
    try {
      rejectUnknownKeys('kiosk()', { slwo: 1 }, ['slow', 'menu'], code);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const config = caught();
  assert.ok(isRunnerError(config));
  assert.is(config.code, 'INVALID_CONFIG');
  assert.is(config.message, 'kiosk() has the unknown key "slwo"; did you mean "slow"?');
  const argument = caught('INVALID_ARGUMENT');
  assert.ok(isRunnerError(argument));
  assert.is(argument.category, 'test');
});

rest('cells are controls only with a selected state', () => {
  const ref = { id: 'a', revision: '' };
  assert.ok(isInteractive({ ref, role: 'button' }));
  assert.ok(isInteractive({ ref, role: 'row', states: { selected: false } }));
  assert.not(isInteractive({ ref, role: 'row', states: { expanded: true } }));
  assert.not(isInteractive({ ref, role: 'heading' }));
  assert.not(isInteractive({ ref }));
});

keys.run();
rest.run();
