// Framing, byte by byte. Every vector is literal bytes with what must come out of them, and runs
// whole, in single bytes and cut in two at every place: the outcome may not depend on the chunks.
import { createDecoder, isFramingError, type FramingError } from '../../core/protocol/framing.ts';
import { encodePacket, PacketWriter } from '../../core/protocol/framing-writer.ts';
import { Writable } from 'node:stream';
import { assert, suite } from '../harness.ts';

const test = suite('framing');

interface Vector {
  readonly bytes: string;
  readonly bodies: readonly string[];
  /** Code of each error, in order; with the bytes it must show after a blank. */
  readonly errors?: readonly string[];
  readonly maxHeaderBytes?: number;
  readonly maxMessageBytes?: number;
  readonly strict?: boolean;
}

const A = 'Content-Length: 2\r\n\r\n{}';
const B = 'Content-Length: 7\r\n\r\n{"b":1}';
const DIGITS = '9'.repeat(400);

/** Accepted without a word. */
const LEGAL: Readonly<Record<string, Vector>> = {
  'one packet': { bytes: A, bodies: ['{}'] },
  'two packets': { bytes: A + B, bodies: ['{}', '{"b":1}'] },
  'an empty body': { bytes: `Content-Length: 0\r\n\r\n${A}`, bodies: ['', '{}'] },
  'an empty body at the end': { bytes: 'Content-Length: 0\r\n\r\n', bodies: [''] },
  'lower case': { bytes: `content-length: 2\r\n\r\n{}${A}`, bodies: ['{}', '{}'] },
  'upper case': { bytes: 'CONTENT-LENGTH: 2\r\n\r\n{}', bodies: ['{}'] },
  'no blank': { bytes: `Content-Length:2\r\n\r\n{}${A}`, bodies: ['{}', '{}'] },
  'blanks and tabs': { bytes: `Content-Length: \t 2 \t\r\n\r\n{}${A}`, bodies: ['{}', '{}'] },
  'leading zeros': { bytes: 'Content-Length: 0002\r\n\r\n{}', bodies: ['{}'] },
  'many zeros': { bytes: `Content-Length: ${'0'.repeat(40)}2\r\n\r\n{}`, bodies: ['{}'] },
  'bare line feeds': { bytes: `Content-Length: 2\n\n{}${A}`, bodies: ['{}', '{}'] },
  'mixed line ends': {
    bytes: `Content-Length: 2\n\r\n{}Content-Length: 2\r\n\n[]`,
    bodies: ['{}', '[]'],
  },
  'a type after the length': {
    bytes: `Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}${A}`,
    bodies: ['{}', '{}'],
  },
  'a type before the length': {
    bytes: `Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}${A}`,
    bodies: ['{}', '{}'],
  },
  'another field': { bytes: `Content-Length: 2\r\nX-Trace: 1\r\n\r\n{}${A}`, bodies: ['{}', '{}'] },
  'the same length twice': {
    bytes: `Content-Length: 2\r\ncontent-length: 2\r\n\r\n{}${A}`,
    bodies: ['{}', '{}'],
  },
  'characters of several bytes': {
    bytes: `Content-Length: 13\r\n\r\n"\u00e9\u4e16\u{1f600}\u00e9"${A}`,
    bodies: ['"\u00e9\u4e16\u{1f600}\u00e9"', '{}'],
  },
  'a body with a header in it': {
    bytes: `Content-Length: 27\r\n\r\n"Content-Length: 5\r\n\r\nhello${A}`,
    bodies: ['"Content-Length: 5\r\n\r\nhello', '{}'],
  },
  'a body of line ends': {
    bytes: `Content-Length: 4\r\n\r\n\r\n\r\n${A}`,
    bodies: ['\r\n\r\n', '{}'],
  },
};

/** One clear error, and the good packets around it. */
const ILLEGAL: Readonly<Record<string, Vector>> = {
  'a line before the first header': {
    bytes: `Listening on 4000\n${A}`,
    bodies: ['{}'],
    errors: ['junk Listening on 4000\n'],
  },
  'several lines between packets': {
    bytes: `${A}DEBUG one\r\nDEBUG two\r\n${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['junk DEBUG one\r\nDEBUG two\r\n'],
  },
  'text without a line end': {
    bytes: `${A}...${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['junk ...'],
  },
  'a line end after a packet': {
    bytes: `${A}\n${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['junk \n'],
  },
  'a lot of text': {
    bytes: `${'x'.repeat(300)}\n${A}`,
    bodies: ['{}'],
    errors: [`junk ${'x'.repeat(200)}`],
  },
  'text to the end': { bytes: `${A}bye\n`, bodies: ['{}'], errors: ['junk bye\n'] },
  'text that begins like the field': {
    bytes: `contContent-lenContent-Length: 2\r\n\r\n{}`,
    bodies: ['{}'],
    errors: ['junk contContent-len'],
  },
  'text that mentions the field': {
    bytes: `the content-length: of it, Content-Length: 12 and\nContent-Length is 5\n${A}`,
    bodies: ['{}'],
    errors: ['junk the content-length: of it, Content-Length: 12 and\nContent-Length is 5\n'],
  },
  'text that ends like a header': {
    bytes: `saw Content-Length: 99\nagain\n${A}`,
    bodies: ['{}'],
    errors: ['junk saw Content-Length: 99\nagain\n'],
  },
  'text with a header line and another line': {
    bytes: `saw Content-Length: 99\r\nnothing\n${A}`,
    bodies: ['{}'],
    errors: ['junk saw Content-Length: 99\r\nnothing\n'],
  },
  'a type without a length': {
    bytes: `Content-Type: x\r\n\r\n${A}`,
    bodies: ['{}'],
    errors: ['junk Content-Type: x\r\n\r\n'],
  },
  'a carriage return for a hyphen': {
    bytes: `Content\rLength: 2\r\n\r\n{}${A}`,
    bodies: ['{}'],
    errors: ['junk Content\rLength: 2\r\n\r\n{}'],
  },
  'a negative length': refusedLength('-1'),
  'a word': refusedLength('abc'),
  'digits and letters': refusedLength('10abc'),
  'an exponent': refusedLength('1e2'),
  'a hexadecimal number': refusedLength('0x10'),
  'a plus sign': refusedLength('+5'),
  'a fraction': refusedLength('2.0'),
  'two numbers': refusedLength('2 2'),
  'a list': refusedLength('2, 2'),
  nothing: refusedLength(''),
  'blanks only': refusedLength('   '),
  'other digits': refusedLength('\u0662'),
  'four hundred digits': { ...refusedLength(DIGITS), errors: ['too-large'] },
  'a length beyond the cap': {
    bytes: `${A}Content-Length: 101\r\n\r\n${'x'.repeat(101)}${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['too-large Content-Length: 101\r\n'],
    maxMessageBytes: 100,
  },
  'a length beyond the cap that is a lie': {
    bytes: `${A}Content-Length: 999999999999\r\n\r\n${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['too-large'],
  },
  'two different lengths': {
    bytes: `${A}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}!${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['length Content-Length: 2\r\nContent-Length: 3\r\n'],
  },
  'a header with a line that is no field': {
    bytes: `${A}Content-Length: 2\r\nhello\r\n\r\n{}${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['header Content-Length: 2\r\nhello\r\n'],
  },
  'a folded line': {
    bytes: `${A}Content-Length: 2\r\n 3\r\n\r\n{}${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['header'],
  },
  'a header cut off by the next one': {
    bytes: `${A}Content-Length: 1${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['length'],
  },
  'a header cut off before its blank line': {
    bytes: `${A}Content-Length: 12\r\n{"x":${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['header'],
  },
  'an endless line': {
    bytes: `${A}Content-Length: 2${' '.repeat(100)}${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['too-large'],
    maxHeaderBytes: 64,
  },
  'endless fields': {
    bytes: `${A}Content-Length: 2\r\n${'X-A: 1\r\n'.repeat(20)}\r\n${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['too-large'],
    maxHeaderBytes: 64,
  },
  'endless fields of a refused header': {
    bytes: `${A}Content-Length: x\r\n${'X-A: 1\r\n'.repeat(20)}\r\n${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['length'],
    maxHeaderBytes: 64,
  },
  'the stream ends in a body': {
    bytes: `${A}Content-Length: 7\r\n\r\n{"b"`,
    bodies: ['{}'],
    errors: ['truncated {"b"'],
  },
  'the stream ends before a body': {
    bytes: `${A}Content-Length: 7\r\n\r\n`,
    bodies: ['{}'],
    errors: ['truncated'],
  },
  'the stream ends in a header': {
    bytes: `${A}Content-Length: 7\r\n`,
    bodies: ['{}'],
    errors: ['truncated Content-Length: 7\r\n'],
  },
  'the stream ends in the name of the field': {
    bytes: `${A}Content-Len`,
    bodies: ['{}'],
    errors: ['junk Content-Len'],
  },
  'strict: text before the first header': {
    bytes: `hello\n${A}`,
    bodies: [],
    errors: ['junk hello\n'],
    strict: true,
  },
  'strict: a refused length': {
    bytes: `${A}Content-Length: x\r\n\r\n${B}`,
    bodies: ['{}'],
    errors: ['length'],
    strict: true,
  },
};

function refusedLength(value: string): Vector {
  return {
    bytes: `${A}Content-Length: ${value}\r\n\r\nhello${B}`,
    bodies: ['{}', '{"b":1}'],
    errors: ['length'],
  };
}

interface Outcome {
  readonly bodies: string[];
  readonly errors: FramingError[];
}

function decode(chunks: readonly Buffer[], vector: Omit<Vector, 'bytes' | 'bodies'>): Outcome {
  const outcome: Outcome = { bodies: [], errors: [] };
  const { maxHeaderBytes, maxMessageBytes, strict } = vector;
  const decoder = createDecoder({
    onPacket: (bytes, start, end) => {
      outcome.bodies.push(bytes.toString('utf8', start, end));
    },
    onError: (error) => outcome.errors.push(error),
    ...(maxHeaderBytes !== undefined && { maxHeaderBytes }),
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    ...(strict !== undefined && { strict }),
  });
  for (const chunk of chunks) {
    // A chunk's memory may be used again once it has been taken: nothing may point into it.
    const copy = Buffer.from(chunk);
    assert.is(decoder.write(copy), copy.length);
    copy.fill(0x21);
  }
  decoder.end();
  return outcome;
}

function check(chunks: readonly Buffer[], vector: Vector, how: string): void {
  const { bodies, errors } = decode(chunks, vector);
  assert.equal(bodies, vector.bodies, `bodies, ${how}`);
  const expected = vector.errors ?? [];
  const found = errors.map((error) => `${error.code}: ${error.message}`).join('; ');
  assert.is(errors.length, expected.length, `errors, ${how}: ${found}`);
  for (const [index, text] of expected.entries()) {
    const error = errors[index]!;
    const blank = text.indexOf(' ');
    assert.ok(isFramingError(error));
    assert.is(error.code, blank < 0 ? text : text.slice(0, blank), how);
    if (blank >= 0)
      assert.is(
        error.bytes.toString('latin1').toLowerCase(),
        text.slice(blank + 1).toLowerCase(),
        how,
      );
  }
}

for (const [kind, vectors] of Object.entries({ legal: LEGAL, illegal: ILLEGAL })) {
  for (const [name, vector] of Object.entries(vectors)) {
    test(`${kind}: ${name}`, () => {
      const bytes = Buffer.from(vector.bytes);
      check([bytes], vector, 'whole');
      check(
        [...bytes].map((byte) => Buffer.from([byte])),
        vector,
        'in single bytes',
      );
      for (let cut = 1; cut < bytes.length; cut += 1) {
        check([bytes.subarray(0, cut), bytes.subarray(cut)], vector, `cut at ${cut}`);
      }
    });
  }
}

test('any two vectors after one another come out as each alone', () => {
  const usable = [...Object.values(LEGAL), ...Object.values(ILLEGAL)].filter(
    ({ strict, maxHeaderBytes, maxMessageBytes, errors = [], bytes }) =>
      strict === undefined &&
      maxHeaderBytes === undefined &&
      maxMessageBytes === undefined &&
      !errors.some((error) => error.startsWith('truncated')) &&
      !bytes.endsWith('Content-Len'),
  );
  for (const first of usable) {
    for (const second of usable) {
      const { bodies } = decode([Buffer.from(first.bytes + second.bytes)], {});
      assert.equal(
        bodies,
        [...first.bodies, ...second.bodies],
        `${first.bytes} and ${second.bytes}`,
      );
    }
  }
});

test('the junk that follows a broken body belongs to the same complaint', () => {
  const seen: string[] = [];
  const decoder = createDecoder({
    onPacket: (bytes, start, end) => {
      const body = bytes.toString('utf8', start, end);
      seen.push(body);
      if (body.length < 7) decoder.forgiveRest();
    },
    onError: (error) => seen.push(error.code),
  });
  decoder.write(Buffer.from(`Content-Length: 4\r\n\r\n{"\u00e9":1}${B}`));
  decoder.write(Buffer.from(`junk\n${B}`));
  assert.equal(seen, ['{"\u00e9', '{"b":1}', 'junk', '{"b":1}']);
});

test('write stops where onPacket says so, and goes on from there', () => {
  const bytes = Buffer.from(A + B + A);
  const bodies: string[] = [];
  const decoder = createDecoder({
    onPacket: (chunk, start, end) => {
      bodies.push(chunk.toString('utf8', start, end));
      return false;
    },
    onError: (error) => {
      throw error;
    },
  });
  const first = decoder.write(bytes);
  assert.is(first, A.length);
  const second = decoder.write(bytes, first);
  assert.is(second, A.length + B.length);
  assert.is(decoder.write(bytes, second), bytes.length);
  assert.equal(bodies, ['{}', '{"b":1}', '{}']);
});

test('a body inside one chunk is handed on without a copy', () => {
  const bytes = Buffer.from(A);
  let same = false;
  const decoder = createDecoder({
    onPacket: (chunk) => {
      same = chunk === bytes;
    },
    onError: (error) => {
      throw error;
    },
  });
  decoder.write(bytes);
  assert.ok(same);
});

test('junk is told early on demand, once, and a header in progress is not junk', () => {
  const errors: string[] = [];
  const decoder = createDecoder({
    onPacket: () => undefined,
    onError: (error) => errors.push(error.bytes.toString()),
  });
  decoder.write(Buffer.from('Content-Type: a; charset=utf-8\r\nConten'));
  assert.not(decoder.hasJunk);
  decoder.write(Buffer.from('t-Length: 2\r\n\r\n{}oops\nCont'));
  assert.ok(decoder.hasJunk);
  decoder.flushJunk();
  decoder.flushJunk();
  assert.equal(errors, ['oops\n']);
  decoder.write(Buffer.from('ent-Length: 2\r\n\r\n{}'));
  decoder.end();
  assert.equal(errors, ['oops\n']);
});

test('a claimed length reserves nothing', () => {
  const decoder = createDecoder({
    onPacket: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  const before = process.memoryUsage().arrayBuffers;
  const others = Array.from({ length: 50 }, () => {
    const one = createDecoder({ onPacket: () => undefined, onError: () => undefined });
    one.write(Buffer.from('Content-Length: 67108864\r\n\r\nx'));
    return one;
  });
  decoder.write(Buffer.from('Content-Length: 67108864\r\n\r\nx'));
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(others.length === 50 && grown < 16 * 1024 * 1024, `grew by ${grown}`);
});

test('assembling a body is linear in its size, whatever the chunks', () => {
  // Counted in bytes copied, not in time: growing by doubling copies less than twice the body.
  const size = 1024 * 1024;
  const body = Buffer.alloc(size, 0x61);
  let copied = 0;
  const original = Buffer.prototype.copy;
  Buffer.prototype.copy = function copy(this: Buffer, ...args: Parameters<Buffer['copy']>) {
    const count = original.apply(this, args);
    copied += count;
    return count;
  } as typeof original;
  let received = 0;
  try {
    const decoder = createDecoder({
      onPacket: (_bytes, start, end) => {
        received = end - start;
      },
      onError: (error) => {
        throw error;
      },
    });
    decoder.write(Buffer.from(`Content-Length: ${size}\r\n\r\n`));
    for (let at = 0; at < size; at += 17) decoder.write(body.subarray(at, at + 17));
  } finally {
    Buffer.prototype.copy = original;
  }
  assert.is(received, size);
  assert.ok(copied < 2 * size, `copied ${copied}`);
});

test('a long run of hostile text is scanned once', () => {
  // Each line is a candidate that fails at its end; rescanning it from the start would not end.
  const line = `x Content-Length: 5\r\nContent-Length: 7\r\n`;
  const outcome = decode([Buffer.from(`${line.repeat(20_000)}end\n${A}`)], {});
  assert.is(outcome.bodies.at(-1), '{}');
});

test('packets are encoded with their length in bytes', () => {
  for (const body of [
    '',
    '{}',
    '"\u00e9"',
    '"\u4e16\u{1f600}"',
    'x'.repeat(9),
    'x'.repeat(10),
    'y'.repeat(100_000),
  ]) {
    const expected = `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    assert.is(encodePacket(body).toString('utf8'), expected);
  }
});

test('a writer sends what one turn queues as one write, in order', async () => {
  const writes: string[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      writes.push(chunk.toString('utf8'));
      callback();
    },
  });
  const writer = new PacketWriter({
    output,
    onProgress: () => undefined,
    onFailure: (error) => assert.unreachable(error.message),
  });
  // 4 characters of 3 bytes: the guessed header is a digit short.
  const bodies = [
    '{}',
    '\u4e16'.repeat(4),
    'a'.repeat(20_000),
    '"\u00e9"',
    'x'.repeat(99),
    '\u00e9'.repeat(50),
  ];
  for (const body of bodies) writer.write(body);
  assert.ok(writer.queuedBytes > 0);
  await new Promise(setImmediate);
  assert.is(writes.join(''), bodies.map((body) => encodePacket(body).toString('utf8')).join(''));
  // The long one leaves alone: what was before it, itself, what came after it.
  assert.is(writes.length, 3);
  assert.is(writer.queuedBytes, 0);
});

test('a writer never writes over what it has handed on', async () => {
  const chunks: Buffer[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      chunks.push(chunk);
      callback();
    },
  });
  const writer = new PacketWriter({
    output,
    onProgress: () => undefined,
    onFailure: (error) => assert.unreachable(error.message),
  });
  const bodies = Array.from(
    { length: 2000 },
    (_, index) => `{"n":${index},"text":"${'\u00e9'.repeat(index % 60)}"}`,
  );
  for (const body of bodies) {
    writer.write(body);
    if (body.length % 7 === 0) await new Promise(setImmediate);
  }
  await new Promise(setImmediate);
  assert.equal(decode([Buffer.concat(chunks)], {}), { bodies, errors: [] });
});

test.run();
