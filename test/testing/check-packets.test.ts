// The check's own reader of packets, on literal bytes: what it takes, what it says of what it does not,
// and that neither depends on where the bytes are cut.
import { createPacketReader, type PacketEvent } from '../../testing/check/packets.ts';
import { assert, suite } from '../harness.ts';

const test = suite('check packets');

/** The events of bytes that come in pieces of `size`. */
function read(text: string, size: number): readonly PacketEvent[] {
  const bytes = Buffer.from(text);
  const reader = createPacketReader();
  const events: PacketEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    events.push(...reader.feed(bytes.subarray(at, at + size)));
  }
  return [...events, ...reader.flush()];
}

const kinds = (events: readonly PacketEvent[]): readonly string[] =>
  events.map((event) => (event.kind === 'body' ? event.text : event.kind));

const WIDE = '{"a":"ö📐"}';

/** Bytes, and what is found in them. */
const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  ['a packet', 'Content-Length: 2\r\n\r\n{}', ['{}']],
  ['two packets', 'Content-Length: 2\r\n\r\n{}Content-Length: 2\r\n\r\n[]', ['{}', '[]']],
  ['another field', 'Content-Type: x\r\ncontent-length:2\r\n\r\n{}', ['{}']],
  ['bytes of UTF-8', `Content-Length: 14\r\n\r\n${WIDE}`, [WIDE]],
  [
    'a header in a body',
    'Content-Length: 26\r\n\r\n{"a":"Content-Length: 5"} ',
    ['{"a":"Content-Length: 5"} '],
  ],
  ['a line before', 'ready\nContent-Length: 2\r\n\r\n{}', ['packet', '{}']],
  [
    'a line between',
    'Content-Length: 2\r\n\r\n{}log\r\nContent-Length: 2\r\n\r\n[]',
    ['{}', 'packet', '[]'],
  ],
  ['a line after', 'Content-Length: 2\r\n\r\n{}bye\n', ['{}', 'packet']],
  [
    'characters counted',
    `Content-Length: 10\r\n\r\n${WIDE}Content-Length: 2\r\n\r\n[]`,
    ['length', WIDE, '[]'],
  ],
  [
    'too much counted',
    'Content-Length: 9\r\n\r\n{}Content-Length: 2\r\n\r\n[]',
    ['length', '{}', '[]'],
  ],
  ['bare line feeds', 'Content-Length: 2\n\n{}', ['packet', '{}']],
  ['no number', 'Content-Length: two\r\n\r\n', ['packet']],
  ['no JSON', 'Content-Length: 3\r\n\r\n{a}Content-Length: 2\r\n\r\n[]', ['packet', '[]']],
  ['a torn end', 'Content-Length: 9\r\n\r\n{"a', ['packet']],
];

for (const [name, text, expected] of CASES) {
  test(name, () => {
    for (let size = 1; size <= Buffer.byteLength(text); size += 1) {
      assert.equal(kinds(read(text, size)), expected, `in pieces of ${size}`);
    }
  });
}
test.run();
