// Messages: what a body means. Every kind of body that is no message has one row with the answer
// that JSON-RPC prescribes; outgoing values are held to what JSON can say.
import {
  isRpcError,
  JSON_RPC,
  readMessage,
  RpcError,
  writeMessage,
  type IncomingMessage,
} from '../../core/protocol/messages.ts';
import { assert, suite } from '../harness.ts';

const test = suite('messages');

function read(body: string | Buffer): IncomingMessage {
  const bytes = Buffer.concat([Buffer.from('>>'), Buffer.from(body as string), Buffer.from('<<')]);
  return readMessage(bytes, { start: 2, end: bytes.length - 2 });
}

test('requests, notifications and answers are told apart', () => {
  const cases: readonly (readonly [string, IncomingMessage])[] = [
    [
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}',
      { kind: 'request', id: 1, method: 'm', params: { a: 1 } },
    ],
    [
      '{"jsonrpc":"2.0","id":"x","method":"m","params":[1]}',
      { kind: 'request', id: 'x', method: 'm', params: [1] },
    ],
    [
      '{"jsonrpc":"2.0","id":null,"method":"m"}',
      { kind: 'request', id: null, method: 'm', params: undefined },
    ],
    [
      '{"jsonrpc":"2.0","id":1.5,"method":"m","params":null}',
      { kind: 'request', id: 1.5, method: 'm', params: undefined },
    ],
    [
      '{"jsonrpc":"2.0","id":-3,"method":""}',
      { kind: 'request', id: -3, method: '', params: undefined },
    ],
    [
      '{"method":"m","jsonrpc":"2.0","more":1}',
      { kind: 'notification', method: 'm', params: undefined },
    ],
    ['{"jsonrpc":"2.0","id":1,"result":null}', { kind: 'result', id: 1, result: null }],
    ['{"jsonrpc":"2.0","id":1,"result":0,"error":null}', { kind: 'result', id: 1, result: 0 }],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":[]}}',
      { kind: 'error', id: 1, error: { code: -1, message: 'no', data: [] } },
    ],
    [
      ' {"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}\n',
      { kind: 'error', id: null, error: { code: -1, message: 'no' } },
    ],
  ];
  for (const [body, expected] of cases) assert.equal(read(body), expected, body);
});

test('what is no message has one answer', () => {
  const { parseError, invalidRequest } = JSON_RPC;
  const cases: readonly (readonly [body: string, code: number, id: unknown, meant: string])[] = [
    ['', parseError, null, 'request'],
    ['{', parseError, null, 'request'],
    ['{"jsonrpc":"2.0","id":1,"method":"m"', parseError, null, 'request'],
    ['{"jsonrpc":"2.0","id":1,"method":"m"}}', parseError, null, 'request'],
    ['\ufeff{}', parseError, null, 'request'],
    ['NaN', parseError, null, 'request'],
    ['null', invalidRequest, null, 'request'],
    ['5', invalidRequest, null, 'request'],
    ['"text"', invalidRequest, null, 'request'],
    ['true', invalidRequest, null, 'request'],
    ['[]', invalidRequest, null, 'request'],
    ['[{"jsonrpc":"2.0","id":1,"method":"m"}]', invalidRequest, null, 'request'],
    ['{}', invalidRequest, null, 'either'],
    ['{"jsonrpc":"2.0","id":4}', invalidRequest, 4, 'either'],
    ['{"id":4,"method":"m"}', invalidRequest, 4, 'request'],
    ['{"jsonrpc":"1.0","id":4,"method":"m"}', invalidRequest, 4, 'request'],
    ['{"jsonrpc":2.0,"id":"a","method":"m"}', invalidRequest, 'a', 'request'],
    ['{"jsonrpc":"2.0","id":4,"method":1}', invalidRequest, 4, 'request'],
    ['{"jsonrpc":"2.0","method":null}', invalidRequest, null, 'request'],
    ['{"jsonrpc":"2.0","id":4,"method":"m","params":"p"}', invalidRequest, 4, 'request'],
    ['{"jsonrpc":"2.0","method":"m","params":1}', invalidRequest, null, 'request'],
    ['{"jsonrpc":"2.0","id":{},"method":"m"}', invalidRequest, null, 'request'],
    ['{"jsonrpc":"2.0","id":[],"method":"m"}', invalidRequest, null, 'request'],
    ['{"jsonrpc":"2.0","id":true,"method":"m"}', invalidRequest, null, 'request'],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}', invalidRequest, null, 'request'],
    ['{"jsonrpc":"2.0","id":1e999,"method":"m"}', invalidRequest, null, 'request'],
    ['{"jsonrpc":"2.0","result":1}', invalidRequest, null, 'answer'],
    ['{"id":4,"result":1}', invalidRequest, 4, 'answer'],
    ['{"jsonrpc":"2.0","id":{},"result":1}', invalidRequest, null, 'answer'],
    [
      '{"jsonrpc":"2.0","id":4,"result":1,"error":{"code":1,"message":""}}',
      invalidRequest,
      4,
      'answer',
    ],
    ['{"jsonrpc":"2.0","id":4,"error":"no"}', invalidRequest, 4, 'answer'],
    ['{"jsonrpc":"2.0","id":4,"error":null}', invalidRequest, 4, 'answer'],
    ['{"jsonrpc":"2.0","id":4,"error":{"code":"1","message":""}}', invalidRequest, 4, 'answer'],
    ['{"__proto__":{"method":"m","id":1},"jsonrpc":"2.0"}', invalidRequest, null, 'either'],
  ];
  for (const [body, code, id, meant] of cases) {
    const message = read(body);
    assert.is(message.kind, 'invalid', body);
    if (message.kind !== 'invalid') return;
    assert.is(message.error.code, code, body);
    assert.is(message.id, id, body);
    assert.is(message.meant, meant, body);
    assert.ok(message.error.message.length > 10, body);
    assert.ok(message.excerpt.length <= 200, body);
  }
});

test('a body that is not UTF-8 is a parse error, a replacement character is not', () => {
  const bad = read(Buffer.from('7b2261223a22ff227d', 'hex'));
  assert.is(bad.kind === 'invalid' && bad.error.code, JSON_RPC.parseError);
  const good = read('{"jsonrpc":"2.0","method":"\ufffd"}');
  assert.is(good.kind === 'notification' && good.method, '\ufffd');
});

test('long bodies are read alike, ASCII or not', () => {
  for (const text of ['x'.repeat(5000), `${'x'.repeat(5000)}\u00e9\u{1f600}`]) {
    const message = read(JSON.stringify({ jsonrpc: '2.0', method: 'm', params: [text] }));
    assert.equal(message, { kind: 'notification', method: 'm', params: [text] });
  }
});

test('lone surrogates do not come in, pairs do', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['\\ud83d', '\ufffd'],
    ['\\uD83D\\uDE00', '\u{1f600}'],
    ['\\ude00\\ud83d', '\ufffd\ufffd'],
    ['\\ud83d\\ud83d\\ude00', '\ufffd\u{1f600}'],
    ['\\\\ud83d', '\\ud83d'],
    ['\\\\\\ud83dx', '\\\ufffdx'],
    ['\\u00e9\\n\\"', '\u00e9\n"'],
  ];
  for (const [escaped, expected] of cases) {
    const message = read(`{"jsonrpc":"2.0","method":"m","params":["${escaped}"]}`);
    assert.equal(message.kind === 'notification' && message.params, [expected], escaped);
  }
});

test('lone surrogates do not go out', () => {
  const params = { 'k\ud83d': '\ud83d', pair: '\u{1f600}', text: '\\ud83d', low: ['\udc00x'] };
  const { text = '' } = writeMessage({ jsonrpc: '2.0', method: 'm', params });
  assert.equal(JSON.parse(text).params, {
    'k\ufffd': '\ufffd',
    pair: '\u{1f600}',
    text: '\\ud83d',
    low: ['\ufffdx'],
  });
});

test('a member named __proto__ crosses as a member, and changes no prototype', () => {
  const params = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as object;
  const { text = '' } = writeMessage({ jsonrpc: '2.0', method: 'm', params });
  const message = read(text);
  assert.ok(message.kind === 'notification');
  const received = message.params as Record<string, unknown>;
  assert.equal(Object.keys(received), ['__proto__', 'a']);
  assert.is(Object.getPrototypeOf(received), Object.prototype);
  assert.is(({} as Record<string, unknown>)['polluted'], undefined);
});

test('undefined members are left out', () => {
  const message = {
    jsonrpc: '2.0',
    method: 'm',
    params: { a: undefined, b: [{ c: undefined }] },
  } as const;
  assert.is(writeMessage(message).text, '{"jsonrpc":"2.0","method":"m","params":{"b":[{}]}}');
});

test('a value that JSON cannot hold is refused with its path', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = { cycle };
  let deep: unknown = 1;
  for (let level = 0; level < 200_000; level += 1) deep = [deep];
  const trap = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => {
      throw new Error('trapped');
    },
  });
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ a: [1, { b: Number.NaN }] }, /^result\.a\[1\]\.b is NaN/],
    [{ a: Infinity }, /^result\.a is Infinity/],
    [[undefined], /^result\[0\] is undefined/],
    [Object.assign([], { length: 2 }), /^result\[0\] is undefined/],
    [{ f: () => 1 }, /^result\.f is a function/],
    [{ toJSON: () => 'x' }, /^result\.toJSON is a function/],
    [{ 'a b': Symbol('x') }, /^result\["a b"\] is a symbol/],
    [10n, /^result is a bigint/],
    [{ at: new Date(0) }, /^result\.at is a Date/],
    [{ m: new Map() }, /^result\.m is a Map/],
    [Buffer.from('x'), /^result is a Buffer/],
    [new (class Thing {})(), /^result is a Thing/],
    [cycle, /refers to itself|nested deeper/],
    [deep, /nested deeper/],
    [trap, /^result cannot be written as JSON: trapped/],
  ];
  for (const [result, expected] of cases) {
    const { text, problem = '' } = writeMessage({ jsonrpc: '2.0', id: 1, result });
    assert.is(text, undefined, String(expected));
    assert.match(problem, expected);
  }
  const data = writeMessage({
    jsonrpc: '2.0',
    id: 1,
    error: { code: 1, message: '', data: { x: 1n } },
  });
  assert.match(data.problem ?? '', /^error\.data\.x is a bigint/);
  assert.match(
    writeMessage({ jsonrpc: '2.0', method: 'm', params: [1n] }).problem ?? '',
    /^params\[0\]/,
  );
});

test('an object without a prototype, or of another realm, is plain', () => {
  const bare = Object.assign(Object.create(null) as object, { a: 1 });
  assert.is(
    writeMessage({ jsonrpc: '2.0', id: 1, result: bare }).text,
    '{"jsonrpc":"2.0","id":1,"result":{"a":1}}',
  );
});

test('RpcError is known by its mark', () => {
  const error = new RpcError(-32000, 'no', { type: 'engine' });
  assert.ok(isRpcError(error));
  assert.equal([error.code, error.message, error.data], [-32000, 'no', { type: 'engine' }]);
  const twin = Object.defineProperty(new Error('x'), Symbol.for('enginewright.rpc-error'), {
    value: true,
  });
  assert.ok(isRpcError(twin));
  assert.not(isRpcError(new Error('x')));
  assert.not(isRpcError(null));
});

test.run();
