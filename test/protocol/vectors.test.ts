// What goes wrong in the field, as a peer meets it: literal bytes in; what is dispatched, answered and
// complained of out. Each vector runs whole, in single bytes and cut in two at every place. The
// kinds are those of facts/framing.md, by their numbers there; framing.test.ts has the bytes alone.
import { Buffer } from 'node:buffer';
import { PassThrough, Writable } from 'node:stream';
import { createDecoder, isFramingError } from '../../core/protocol/framing.ts';
import { methodNotFound } from '../../core/protocol/messages.ts';
import {
  createPeer,
  isLimitError,
  isMessageError,
  type PeerCaps,
} from '../../core/protocol/peer.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { assert, suite } from '../harness.ts';

const test = suite('vectors');

interface Vector {
  /** One character is one byte where it is given in Latin-1, else the text is sent in UTF-8. */
  readonly bytes: string;
  readonly encoding?: 'latin1';
  /** Notifications `method params`, in order. */
  readonly seen?: readonly string[];
  /** Answers in order: `id result`, or `id code`. */
  readonly sent?: readonly string[];
  /** Complaints in order: the code of a framing or message error, the cap of a limit error. */
  readonly errors?: readonly (string | number)[];
  readonly caps?: PeerCaps;
  readonly strict?: boolean;
  /** How the connection ends; default `remote`. */
  readonly end?: 'remote' | 'failed';
}

/** A frame as it should be. */
const f = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const note = (name: string): string => f(`{"jsonrpc":"2.0","method":"${name}"}`);
const A = note('a');
const B = note('b');
const around = (middle: string, rest: Omit<Vector, 'bytes'> = {}): Vector => ({
  bytes: A + middle + B,
  seen: ['a', 'b'],
  ...rest,
});
/** A request with these members beside the version, and its answer. */
const asked = (members: string, ...sent: readonly string[]): Vector =>
  around(f(`{"jsonrpc":"2.0",${members}}`), { sent });
/** A body that is no message: its complaint, and the answer with the same code. */
const wrong = (body: string, code: number, id = 'null'): Vector =>
  around(f(body), { errors: [code], sent: [`${id} ${code}`] });
/** A length that is refused: the body is skipped, and the complaint is one. */
const refused = (value: string, code = 'length'): Vector =>
  around(`Content-Length: ${value}\r\n\r\n{"x":1}`, { errors: [code] });
const PARSE = -32700;
const INVALID = -32600;

const VECTORS: Readonly<Record<string, Vector>> = {
  // 1: something else writes to the stream.
  '1 a warning before the first header': {
    bytes: `npm warn deprecated left-pad@1.0.0\r\n${A}`,
    seen: ['a'],
    errors: ['junk'],
  },
  '1 colours': around('\u001b[32mready\u001b[0m\n', { errors: ['junk'] }),
  '1 a log line in JSON': around('{"level":"info","msg":"up"}\n', { errors: ['junk'] }),
  '1 a byte order mark': { bytes: `\ufeff${A}`, seen: ['a'], errors: ['junk'] },
  '1 a prompt without a line end': around('ready> ', { errors: ['junk'] }),
  '1 blank lines': around('\r\n\r\n', { errors: ['junk'] }),
  '1 zeros': around('\0\0\0', { errors: ['junk'] }),
  '1 bytes that are no UTF-8': around('\xff\xfe\x80\n', { encoding: 'latin1', errors: ['junk'] }),
  '1 a sentence about the header': around('no Content-Length: header found\n', {
    errors: ['junk'],
  }),
  '1 a head of HTTP': around('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n', {
    errors: ['junk'],
  }),
  '1 twice, two complaints': {
    bytes: `one\n${A}two\n${B}`,
    seen: ['a', 'b'],
    errors: ['junk', 'junk'],
  },
  '1 a frame without its header': around('{"jsonrpc":"2.0","method":"x"}', { errors: ['junk'] }),
  '1 the beginning of a header, again': around(`Content-Length${B}`, {
    seen: ['a', 'b', 'b'],
    errors: ['junk'],
  }),
  '1 strict': {
    bytes: `${A}oops\n${B}`,
    seen: ['a'],
    errors: ['junk'],
    strict: true,
    end: 'failed',
  },
  // 2: lengths in characters, or otherwise wrong.
  '2 three accents counted as one byte each': around(
    'Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","method":"x","y":"\u00e9\u00e9\u00e9"}',
    {
      errors: [PARSE],
      sent: [`null ${PARSE}`],
    },
  ),
  '2 an emoji counted as two': around(
    'Content-Length: 39\r\n\r\n{"jsonrpc":"2.0","method":"x","y":"\u{1f600}"}',
    {
      errors: [PARSE],
      sent: [`null ${PARSE}`],
    },
  ),
  '2 cut inside a character': around('Content-Length: 12\r\n\r\n{"method":"\u4e16\u754c"}', {
    errors: [PARSE],
    sent: [`null ${PARSE}`],
  }),
  '2 a line end more than counted': around(`${f('{"jsonrpc":"2.0","method":"x"}')}\n`, {
    seen: ['a', 'x', 'b'],
    errors: ['junk'],
  }),
  '2 too long by five: the next frame is lost with it': {
    bytes: `${A}Content-Length: 35\r\n\r\n{"jsonrpc":"2.0","method":"x"}${note('lost')}${B}`,
    seen: ['a', 'b'],
    errors: [PARSE],
    sent: [`null ${PARSE}`],
  },
  '2 a length of 0 before a body': around('Content-Length: 0\r\n\r\n{"jsonrpc":"2.0"}', {
    errors: [PARSE],
    sent: [`null ${PARSE}`],
  }),
  // 6: the end.
  '6 a tail that was cut': {
    bytes: `${A}${B.slice(0, -1)}`,
    seen: ['a'],
    errors: ['truncated'],
    end: 'failed',
  },
  '6 a header that was cut': {
    bytes: `${A}Content-Length: 3`,
    seen: ['a'],
    errors: ['truncated'],
    end: 'failed',
  },
  '6 last words': { bytes: `${A}Segmentation fault\n`, seen: ['a'], errors: ['junk'] },
  // 8: spellings.
  '8 mixed case': around('cOnTeNt-lEnGtH: 30\r\n\r\n{"jsonrpc":"2.0","method":"x"}', {
    seen: ['a', 'x', 'b'],
  }),
  '8 a tab for the blank, and one after': around(
    'Content-Length:\t30\t\r\n\r\n{"jsonrpc":"2.0","method":"x"}',
    { seen: ['a', 'x', 'b'] },
  ),
  '8 zeros in front': around('Content-Length: 00030\r\n\r\n{"jsonrpc":"2.0","method":"x"}', {
    seen: ['a', 'x', 'b'],
  }),
  '8 a type of an older LSP': around(
    'Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 30\r\n\r\n{"jsonrpc":"2.0","method":"x"}',
    { seen: ['a', 'x', 'b'] },
  ),
  '8 fields that nobody knows': around(
    'Content-Length: 30\r\nX-Engine: \u00e9\r\nDate: now\r\n\r\n{"jsonrpc":"2.0","method":"x"}',
    { seen: ['a', 'x', 'b'] },
  ),
  '8 a blank before the colon is no field': around(
    'Content-Length : 30\r\n\r\n{"jsonrpc":"2.0","method":"x"}',
    { errors: ['junk'] },
  ),
  // 9: lengths.
  '9 a full-width digit': refused('\uff17'),
  '9 a separator': refused('1_000'),
  '9 a binary number': refused('0b111'),
  '9 a word that is a number': refused('Infinity'),
  '9 no number': refused('NaN'),
  '9 a parameter': refused('7; q=1'),
  '9 quotes': refused('"7"'),
  '9 a full stop': refused('7.'),
  '9 two signs': refused('--7'),
  '9 a negative zero': refused('-0'),
  '9 a tab only': refused('\t'),
  '9 a zero byte': refused('7\0'),
  '9 a carriage return more': refused('7\r'),
  '9 twenty digits': refused('99999999999999999999', 'too-large'),
  '9 one over the default cap': refused('67108865', 'too-large'),
  '9 over a cap of its own': {
    bytes: `Content-Length: 31\r\n\r\n{"jsonrpc":"2.0","method":"xx"}${A}`,
    caps: { maxMessageBytes: 30 },
    seen: ['a'],
    errors: ['too-large'],
  },
  '9 two lengths, the smaller first': around(
    'Content-Length: 6\r\ncontent-length: 7\r\n\r\n{"x":1}',
    { errors: ['length'] },
  ),
  '9 three lengths, two alike': around(
    'Content-Length: 7\r\nContent-Length: 7\r\nContent-Length: 8\r\n\r\n{"x":1}',
    { errors: ['length'] },
  ),
  '9 a good length, then a bad one': around(
    'Content-Length: 7\r\nContent-Length: seven\r\n\r\n{"x":1}',
    { errors: ['length'] },
  ),
  '9 a header without an end': around(`Content-Length: 7\r\nX: ${'y'.repeat(150)}\r\n`, {
    caps: { maxHeaderBytes: 128 },
    errors: ['too-large'],
  }),
  '9 a lie about the length': {
    bytes: `${A}Content-Length: 60000000\r\n\r\n{"x":1}`,
    seen: ['a'],
    errors: ['truncated'],
    end: 'failed',
  },
  // 10: bare line feeds.
  '10 line feeds only': around('Content-Length: 30\n\n{"jsonrpc":"2.0","method":"x"}', {
    seen: ['a', 'x', 'b'],
  }),
  '10 line feeds after a type': around(
    'Content-Type: a\nContent-Length: 30\n\n{"jsonrpc":"2.0","method":"x"}',
    { seen: ['a', 'x', 'b'] },
  ),
  '10 line feeds after junk': around('oops\nContent-Length: 30\n\n{"jsonrpc":"2.0","method":"x"}', {
    seen: ['a', 'x', 'b'],
    errors: ['junk'],
  }),
  // The line goes on to the next line feed, and what follows is of the same block.
  '10 carriage returns only: the next frame is lost with it': {
    bytes: `${A}Content-Length: 30\r\r{"jsonrpc":"2.0","method":"x"}\n${note('lost')}${B}`,
    seen: ['a', 'b'],
    errors: ['length'],
  },
  // 11: bodies.
  '11 true': wrong('true', INVALID),
  '11 a text': wrong('"text"', INVALID),
  '11 an empty batch': wrong('[]', INVALID),
  '11 a batch': wrong('[{"jsonrpc":"2.0","id":1,"method":"m"}]', INVALID),
  '11 an empty object': wrong('{}', INVALID),
  '11 another version': wrong('{"jsonrpc":"1.0","id":1,"method":"m"}', INVALID, '1'),
  '11 a version that is a number': wrong('{"jsonrpc":2.0,"id":"q","method":"m"}', INVALID, '"q"'),
  '11 no version': wrong('{"id":1,"method":"m"}', INVALID, '1'),
  '11 an id that is an object': wrong('{"jsonrpc":"2.0","id":{},"method":"m"}', INVALID),
  '11 an id that is true': wrong('{"jsonrpc":"2.0","id":true,"method":"m"}', INVALID),
  '11 an id beyond 2^53': wrong('{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}', INVALID),
  '11 a method that is a number': wrong('{"jsonrpc":"2.0","id":1,"method":7}', INVALID, '1'),
  '11 a method that is null': wrong('{"jsonrpc":"2.0","id":1,"method":null}', INVALID, '1'),
  '11 params that are a text': wrong(
    '{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}',
    INVALID,
    '1',
  ),
  '11 an empty body': wrong('', PARSE),
  '11 blanks': wrong('   ', PARSE),
  '11 a comma too much': wrong('{"jsonrpc":"2.0","method":"x",}', PARSE),
  '11 single quotes': wrong("{'jsonrpc':'2.0'}", PARSE),
  '11 a comment': wrong('{"jsonrpc":"2.0"/* */}', PARSE),
  '11 two values': wrong('{"jsonrpc":"2.0","method":"x"}{}', PARSE),
  '11 a byte that is no UTF-8': around(
    'Content-Length: 39\r\n\r\n{"jsonrpc":"2.0","method":"x","y":"\xe9 "}',
    { encoding: 'latin1', errors: [PARSE], sent: [`null ${PARSE}`] },
  ),
  '11 an unknown method': asked('"id":1,"method":"unknown"', '1 -32601'),
  '11 an unknown notification': { ...around(note('unknown')), seen: ['a', 'unknown', 'b'] },
  '11 unknown members': asked('"id":1,"method":"m","trace":{"a":[1]},"params":[2]', '1 [2]'),
  '11 params that are null': asked('"id":1,"method":"m","params":null', '1 null'),
  '11 the id null': asked('"id":null,"method":"m","params":[1]', 'null [1]'),
  '11 an empty id': asked('"id":"","method":"m","params":[1]', '"" [1]'),
  '11 a negative id': asked('"id":-1,"method":"m","params":[1]', '-1 [1]'),
  '11 a fraction for an id': asked('"id":1.5,"method":"m","params":[1]', '1.5 [1]'),
  '11 an exponent for an id': asked('"id":1e2,"method":"m","params":[1]', '100 [1]'),
  '11 __proto__ for an id and a member': asked(
    '"id":"__proto__","method":"m","params":{"__proto__":{"x":1}}',
    '"__proto__" {"__proto__":{"x":1}}',
  ),
  '11 the same id twice': around(
    f('{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}') +
      f('{"jsonrpc":"2.0","id":1,"method":"m","params":[2]}'),
    { sent: ['1 [1]', '1 [2]'] },
  ),
  '11 a lone surrogate': asked('"id":1,"method":"m","params":["\\ud800"]', '1 ["\ufffd"]'),
  '11 an answer to nothing': around(f('{"jsonrpc":"2.0","id":7,"result":1}'), {
    errors: [INVALID],
  }),
  '11 an answer with a result and an error': around(
    f('{"jsonrpc":"2.0","id":7,"result":1,"error":{"code":1,"message":""}}'),
    { errors: [INVALID] },
  ),
  '11 an error that is a text': around(f('{"jsonrpc":"2.0","id":7,"error":"no"}'), {
    errors: [INVALID],
  }),
  '11 an error for nobody': around(
    f('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}'),
    { errors: [PARSE] },
  ),
  // 12: text of a header in a body.
  '12 in a text': asked(
    '"id":1,"method":"m","params":["Content-Length: 2\\r\\n\\r\\n{}"]',
    '1 ["Content-Length: 2\\r\\n\\r\\n{}"]',
  ),
  '12 line ends between members': around(
    f('{"jsonrpc":"2.0",\r\n\r\n"method":"x",\r\n"params":["Content-Length: 9"]\r\n}'),
    { seen: ['a', 'x ["Content-Length: 9"]', 'b'] },
  ),
  '12 a whole frame in a broken body': around(f(`{${note('hidden')}`), {
    errors: [PARSE],
    sent: [`null ${PARSE}`],
  }),
  // 14: depth.
  '14 a result too deep to write': around(
    f(`{"jsonrpc":"2.0","id":1,"method":"deep","params":[${'['.repeat(40)}${']'.repeat(40)}]}`),
    { sent: ['1 -32603'] },
  ),
};

async function run(vector: Vector, chunks: readonly Buffer[], how: string): Promise<void> {
  const seen: string[] = [];
  const sent: string[] = [];
  const errors: (string | number)[] = [];
  const input = new PassThrough();
  const written: Buffer[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      written.push(Buffer.from(chunk));
      callback();
    },
  });
  const show = (method: string, params: unknown): string =>
    params === undefined ? method : `${method} ${JSON.stringify(params)}`;
  const peer = createPeer({
    streams: { input, output },
    // It stands still: what is told after a while is not told here, and slices do not end.
    clock: createFakeClock(),
    onRequest(method, params) {
      if (method === 'unknown') throw methodNotFound(method);
      return method === 'deep' ? nested(params, 2000) : params;
    },
    onNotification: (method, params) => seen.push(show(method, params)),
    onError(error) {
      if (isFramingError(error) || isMessageError(error)) errors.push(error.code);
      else errors.push(isLimitError(error) ? error.cap : error.message);
    },
    ...(vector.caps !== undefined && { caps: vector.caps }),
    ...(vector.strict !== undefined && { strict: vector.strict }),
  });
  for (const chunk of chunks) input.write(chunk);
  input.end();
  const { reason } = await peer.closed;
  await new Promise(setImmediate);
  const decoder = createDecoder({
    onPacket(bytes, start, end) {
      const answer = JSON.parse(bytes.toString('utf8', start, end)) as {
        id: unknown;
        result?: unknown;
        error?: { code: number };
      };
      const outcome = answer.error?.code ?? JSON.stringify(answer.result);
      sent.push(`${JSON.stringify(answer.id)} ${outcome}`);
    },
    onError: (error) => assert.unreachable(error.message),
  });
  decoder.write(Buffer.concat(written));
  decoder.end();
  assert.equal(seen, vector.seen, `seen, ${how}`);
  assert.equal(sent, vector.sent ?? [], `sent, ${how}`);
  assert.equal(errors, vector.errors ?? [], `errors, ${how}`);
  assert.is(reason, vector.end ?? 'remote', how);
}

function nested(value: unknown, levels: number): unknown {
  let result = value;
  for (let level = 0; level < levels; level += 1) result = [result];
  return result;
}

for (const [name, vector] of Object.entries(VECTORS)) {
  test(name, async () => {
    const bytes = Buffer.from(vector.bytes, vector.encoding ?? 'utf8');
    await run(vector, [bytes], 'whole');
    await run(
      vector,
      [...bytes].map((byte) => Buffer.from([byte])),
      'in single bytes',
    );
    for (let cut = 1; cut < bytes.length; cut += 1) {
      await run(vector, [bytes.subarray(0, cut), bytes.subarray(cut)], `cut at ${cut}`);
    }
  });
}

test.run();
