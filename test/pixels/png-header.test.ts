// The head of a PNG, byte by byte: what is read, and what is refused under which name.
import { isPixelError, readPngInfo, type PixelFault } from '../../core/pixels/index.ts';
import { assert, suite } from '../harness.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** The CRC as the PNG specification writes it, from a table: not the code under test. */
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});
function crc(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) c = (TABLE[(c ^ byte) & 0xff] as number) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

interface Head {
  readonly width?: number;
  readonly height?: number;
  readonly bitDepth?: number;
  readonly colorType?: number;
  readonly compression?: number;
  readonly filter?: number;
  readonly interlace?: number;
  readonly type?: string;
}
function png(head: Head = {}): Buffer {
  const body = Buffer.alloc(17);
  body.write(head.type ?? 'IHDR', 'latin1');
  body.writeUInt32BE(head.width ?? 640, 4);
  body.writeUInt32BE(head.height ?? 480, 8);
  body[12] = head.bitDepth ?? 8;
  body[13] = head.colorType ?? 6;
  body[14] = head.compression ?? 0;
  body[15] = head.filter ?? 0;
  body[16] = head.interlace ?? 0;
  const length = Buffer.from([0, 0, 0, 13]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc(body));
  return Buffer.concat([SIGNATURE, length, body, sum]);
}
function refused(bytes: Uint8Array, fault: PixelFault): void {
  let caught: unknown;
  try {
    readPngInfo(bytes);
  } catch (error) {
    caught = error;
  }
  assert.ok(isPixelError(caught), `not refused as ${fault}`);
  assert.is(caught.fault, fault);
}

const test = suite('readPngInfo');

test('reads a real image', () => {
  // 1x1, grey and alpha, as a well-known tool writes it.
  const real = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
    'base64',
  );
  assert.equal(readPngInfo(real), {
    width: 1,
    height: 1,
    bitDepth: 8,
    colorType: 4,
    interlaced: false,
    offset: 0,
  });
});

test('reads every colour type and depth, and Adam7', () => {
  const depths: Readonly<Record<number, readonly number[]>> = {
    0: [1, 2, 4, 8, 16],
    2: [8, 16],
    3: [1, 2, 4, 8],
    4: [8, 16],
    6: [8, 16],
  };
  for (let colorType = 0; colorType <= 7; colorType += 1) {
    for (let bitDepth = 0; bitDepth <= 32; bitDepth += 1) {
      const bytes = png({ colorType, bitDepth });
      if (depths[colorType]?.includes(bitDepth) === true) {
        const info = readPngInfo(bytes);
        assert.is(info.colorType, colorType);
        assert.is(info.bitDepth, bitDepth);
      } else refused(bytes, 'bad-header');
    }
  }
  assert.ok(readPngInfo(png({ interlace: 1 })).interlaced);
});

test('looks past a text banner, but not for ever', () => {
  const bytes = png({ width: 3 });
  const after = (count: number): Buffer => Buffer.concat([Buffer.alloc(count, 'x'), bytes]);
  assert.is(readPngInfo(Buffer.concat([Buffer.from('[Warning] displays\n'), bytes])).offset, 19);
  assert.is(readPngInfo(after(4096)).width, 3);
  refused(after(4097), 'not-png');
  const view = new Uint8Array(after(5).buffer.slice(0));
  assert.is(readPngInfo(after(5).subarray(5)).offset, 0, 'a view into a larger buffer');
  assert.ok(view.length > 0);
});

test('every truncation is refused by name, none reads beyond the end', () => {
  const bytes = png();
  for (let length = 0; length < bytes.length; length += 1) {
    refused(Uint8Array.from(bytes.subarray(0, length)), length < 8 ? 'not-png' : 'truncated');
  }
  readPngInfo(bytes);
});

test('one wrong bit anywhere in the head is noticed', () => {
  const bytes = png();
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const broken = Uint8Array.from(bytes);
    broken[bit >> 3] = (broken[bit >> 3] as number) ^ (1 << (bit & 7));
    assert.throws(() => readPngInfo(broken), isPixelError);
  }
});

test('refuses what no PNG can be', () => {
  refused(png({ width: 0 }), 'bad-header');
  refused(png({ height: 0 }), 'bad-header');
  refused(png({ width: 2 ** 31 }), 'bad-header');
  assert.is(readPngInfo(png({ width: 2 ** 31 - 1 })).width, 2 ** 31 - 1);
  refused(png({ compression: 1 }), 'bad-header');
  refused(png({ filter: 1 }), 'bad-header');
  refused(png({ interlace: 2 }), 'bad-header');
  refused(png({ type: 'IDAT' }), 'bad-header');
  refused(png({ type: 'CgBI' }), 'apple');
  refused(Buffer.from('GIF89a, and then some more bytes'), 'not-png');
});

test('a fault of another copy of the package is recognised', () => {
  assert.ok(isPixelError({ [Symbol.for('enginewright.pixel-error')]: true }));
  assert.not(isPixelError(new Error('x')));
  assert.not(isPixelError(undefined));
});

test.run();
