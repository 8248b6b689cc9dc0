// Redaction: every form of a value is masked, nothing else is, and no end of a value is left over.
import { createRedactor } from '../../core/agent/redaction.ts';
import { createSecret } from '../../core/contract.ts';
import { assert, suite } from '../harness.ts';

const redactor = (values: Readonly<Record<string, string>>) => {
  const made = createRedactor();
  for (const [name, value] of Object.entries(values)) made.add(name, value);
  return made;
};
const html = (text: string, quote: string, apostrophe: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', quote)
    .replaceAll("'", apostrophe);
const lowerHex = (text: string): string =>
  text.replace(/%[0-9A-F]{2}/gu, (escape) => escape.toLowerCase());

const forms = suite('redaction forms');

const VALUES = [
  'hunter22',
  'correct horse battery',
  'p@ss "w\\rd" <&> \'q\'',
  'tab\tand\nline',
  'C:\\new\\table',
  'pässwörtß',
  'пароль-12',
  '密码密码密码',
  'key😀🔑tail',
  'a+b c%41&amp;d',
  '%41%42%43xyz',
  '100%2525',
  '\\u0041\\n',
  '((((((',
  'AbCdEf~!*()',
];
const ENCODERS: Readonly<Record<string, (value: string) => string>> = {
  'as written': (value) => value,
  'upper case': (value) => value.toUpperCase(),
  'lower case': (value) => value.toLowerCase(),
  'JSON-escaped': (value) => JSON.stringify(value).slice(1, -1),
  'JSON in JSON': (value) => JSON.stringify(JSON.stringify(value)).slice(3, -3),
  'JSON in ASCII': (value) =>
    JSON.stringify(value)
      .slice(1, -1)
      .replace(/[^ -~]/gu, (found) =>
        found
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
      ),
  'JSON with escaped slashes and angles': (value) =>
    JSON.stringify(value).slice(1, -1).replaceAll('<', '\\u003C').replaceAll('&', '\\u0026'),
  'HTML with &#39;': (value) => html(value, '&quot;', '&#39;'),
  'HTML with &#x27;': (value) => html(value, '&#34;', '&#x27;'),
  'HTML with &apos;': (value) => html(value, '&quot;', '&apos;'),
  'HTML text': (value) => html(value, '"', "'"),
  'HTML in numbers': (value) =>
    [...value].map((character) => `&#${character.codePointAt(0)};`).join(''),
  percent: encodeURIComponent,
  'percent in lower hex': (value) => lowerHex(encodeURIComponent(value)),
  'a whole URL': encodeURI,
  form: (value) => new URLSearchParams({ q: value }).toString().slice(2),
  'percent for all': (value) =>
    [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  'percent twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'percent in JSON': (value) => JSON.stringify(encodeURIComponent(value)).slice(1, -1),
  'JSON in percent': (value) => encodeURIComponent(JSON.stringify(value).slice(1, -1)),
  'blanks collapsed': (value) => value.replace(/\s+/gu, ' '),
  'blanks widened': (value) => value.replace(/\s+/gu, ' \n\t\u00a0'),
  decomposed: (value) => value.normalize('NFD'),
};
for (const [what, encode] of Object.entries(ENCODERS)) {
  forms(what, () => {
    for (const value of VALUES) {
      const { text } = redactor({ pw: value });
      const encoded = encode(value);
      assert.is(text(`[${encoded}]`), '[<secret:pw>]', JSON.stringify([value, encoded]));
      assert.is(text(`before ${encoded} after`), 'before <secret:pw> after');
      assert.is(text(encoded), '<secret:pw>');
    }
  });
}

const rules = suite('redaction');

rules('leaves text without a value as it is', () => {
  const { text } = redactor({ pw: 'hunter22', key: 'a b c d e' });
  for (const plain of [
    '',
    'hunter2',
    'hunter2 2',
    '100% & more\\n',
    'abcde',
    'a+b+c',
    '%zz &#x;',
  ]) {
    assert.is(text(plain), plain);
  }
  assert.is(createRedactor().text('hunter22'), 'hunter22');
});

rules('the longest of several values wins, and overlapping ones leave no end', () => {
  const { text } = redactor({ short: 'secret', long: 'secretive', other: 'tive-agent' });
  assert.is(text('a secret b'), 'a <secret:short> b');
  assert.is(text('a secretive b'), 'a <secret:long> b');
  assert.is(text('a secretive-agent b'), 'a <secret:long><secret:other> b');
  assert.is(redactor({ a: 'aaaaaa' }).text(`x${'a'.repeat(50)}y`), 'x<secret:a>y');
  assert.is(redactor({ a: 'abcdef', b: 'bcde' }).text('abcdef'), '<secret:a>');
  assert.is(redactor({ a: 'hunter22' }).text('hunter22hunter22'), '<secret:a><secret:a>');
});

rules('two names of one value, and several values of one name', () => {
  const made = redactor({ first: 'hunter22', second: 'hunter22' });
  assert.is(made.text('hunter22'), '<secret:first>');
  assert.is(made.size, 1);
  made.add('first', 'aHVudGVyMjI=');
  assert.is(made.text('Basic aHVudGVyMjI='), 'Basic <secret:first>');
  assert.is(made.size, 2);
});

rules('a value that comes later is masked from then on', () => {
  const made = redactor({ a: 'hunter22' });
  assert.is(made.text('hunter22 tiger-99'), '<secret:a> tiger-99');
  made.add('b', 'tiger-99');
  assert.is(made.text('hunter22 tiger-99'), '<secret:a> <secret:b>');
});

rules('masked text stays as it is, also when a value looks like a marker', () => {
  const values = { x: 'secret', 'user.name': '<secret', y: 'user.name', z: 'ret:x>' };
  const { text } = redactor({ pw: 'hunter22', ...values });
  const once = text('my secret is hunter22, user.name');
  assert.is(once, 'my <secret:x> is <secret:pw>, <secret:y>');
  assert.is(text(once), once);
  assert.is(text(text(once)), once);
});

rules('a page cannot hide a value in a marker of its own', () => {
  const { text } = redactor({ pw: 'hunter22' });
  assert.is(text('<secret:hunter22>'), '<secret:<secret:pw>>');
});

rules('special characters of names and values have no power', () => {
  const { text } = redactor({ 'a.b-c_d': '$&$1.*+?^${}()|[]\\' });
  assert.is(text('x $&$1.*+?^${}()|[]\\ y'), 'x <secret:a.b-c_d> y');
});

rules('an encoded value is cut out whole, its neighbours stay encoded', () => {
  const { text } = redactor({ pw: 'a b&c=d é' });
  assert.is(
    text('/login?user=%C3%A9va&pw=a+b%26c%3Dd+%C3%A9&next=%2Fhome'),
    '/login?user=%C3%A9va&pw=<secret:pw>&next=%2Fhome',
  );
  assert.is(text('%E9 %FF%C3 a%20b%26c%3Dd%20%c3%a9!'), '%E9 %FF%C3 <secret:pw>!');
});

rules('blank values are no values; a value of little but blanks is not seen everywhere', () => {
  const made = redactor({ none: '', blank: '      ' });
  assert.is(made.size, 0);
  made.add('thin', 'a     ');
  assert.is(made.text('a b a c'), 'a b a c');
  assert.is(made.text('[a     ]'), '[<secret:thin>]');
});

const cut = suite('redaction of cut text');

cut('masks the beginning of a value at the end, from 8 characters on', () => {
  const { text, cutText } = redactor({ pw: 'correct-horse-battery' });
  const at = (length: number): string => cutText(`pw: ${'correct-horse-battery'.slice(0, length)}`);
  assert.is(at(7), 'pw: correct');
  for (let length = 8; length <= 21; length += 1) assert.is(at(length), 'pw: <secret:pw>');
  assert.is(text('pw: correct-horse'), 'pw: correct-horse', 'only where the text was cut');
  assert.is(cutText('correct-horse and more'), 'correct-horse and more');
});

cut('half of a value shorter than 16', () => {
  const { cutText } = redactor({ six: 'abcdef', fifteen: '123456789012345' });
  assert.is(cutText('x ab'), 'x ab');
  assert.is(cutText('x abc'), 'x <secret:six>');
  assert.is(cutText('x 123456'), 'x 123456');
  assert.is(cutText('x 1234567'), 'x <secret:fifteen>');
});

cut('in every form, any case, and beside whole values', () => {
  const { cutText } = redactor({ pw: '<b> & "horse" battery' });
  for (const tail of [
    '<B> & "H',
    '&lt;b&gt; &amp; &quot;h',
    '%3Cb%3E%20%26%20%22h',
    '<b> & \\"h',
  ]) {
    assert.is(cutText(`see ${tail}`), 'see <secret:pw>', tail);
  }
  assert.is(cutText('<b> & "horse" battery, <b> & "hors'), '<secret:pw>, <secret:pw>');
  const two = redactor({ a: 'abcdefghijkl', b: 'ghijklmnopqr' });
  assert.is(two.cutText('abcdefghijklmn'), '<secret:a><secret:b>');
});

const values = suite('redaction of values');

values('covers keys and strings at every depth, and makes a new value', () => {
  const { value } = redactor({ pw: 'hunter22' });
  const given = { a: ['hunter22', { 'k-HUNTER22': 'x hunter22 y' }], n: 1, t: true, z: null };
  const masked = value(given);
  assert.equal(masked, {
    a: ['<secret:pw>', { 'k-<secret:pw>': 'x <secret:pw> y' }],
    n: 1,
    t: true,
    z: null,
  } as unknown as typeof given);
  assert.is.not(masked, given);
  assert.is(given.a[0], 'hunter22');
});

values('__proto__ is a key like any other, equal keys do not swallow each other', () => {
  const { value } = redactor({ pw: 'hunter22' });
  const given = JSON.parse('{"__proto__": {"x": "hunter22"}, "a": 1}') as object;
  const masked = value(given);
  assert.is(JSON.stringify(masked), '{"__proto__":{"x":"<secret:pw>"},"a":1}');
  assert.is(Object.getPrototypeOf(masked), Object.prototype);
  assert.not('x' in {});
  assert.is(
    JSON.stringify(value({ hunter22: 1, HUNTER22: 2 })),
    '{"<secret:pw>":1,"<secret:pw> (2)":2}',
  );
});

values('a number that is the value, and objects that are no JSON', () => {
  const { value } = redactor({ pin: '123456' });
  const handle = createSecret('pin');
  const bytes = new Uint8Array([1]);
  const masked = value({ pin: 123456 as unknown, other: 1234567, handle, bytes });
  assert.is(masked.pin, '<secret:pin>');
  assert.is(masked.other, 1234567);
  assert.is(masked.handle, handle);
  assert.is(masked.bytes, bytes);
});

const speed = suite('redaction speed');

speed(
  'a hostile text of a megabyte and 200 values is one pass',
  () => {
    const many = createRedactor();
    for (let index = 0; index < 200; index += 1) many.add(`s${index}`, `value-${index}-of-many`);
    // Long near-misses and escapes: a matcher that started over at each place would not come to
    // an end within the limit of a test.
    const line = `${'value-1'.repeat(20)} a%20b &amp; ${'aaaa'.repeat(20)} <secret:s1>\n`;
    const text = line.repeat(5000);
    assert.ok(text.length > 1_000_000);
    assert.ok(many.text(text) === text);
    assert.ok(many.text('value-7-of-many '.repeat(50_000)) === '<secret:s7> '.repeat(50_000));
  },
  { timeoutMs: 20_000 },
);

forms.run();
rules.run();
cut.run();
values.run();
speed.run();
