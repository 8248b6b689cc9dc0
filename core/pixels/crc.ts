// CRC-32 as PNG has it: native where Node offers it (20.15 and later), else by eight tables at a
// time. Every chunk that counts is checked before its content is believed, so this runs over the
// whole file and has to cost next to nothing.
import * as zlib from 'node:zlib';

type Crc = (data: Uint8Array, value?: number) => number;

const native = (zlib as { readonly crc32?: Crc }).crc32;

/** The checksum of `data`, continuing from `value`: that of the bytes before, 0 for none. */
export const crc32: Crc = (data, value = 0) =>
  native === undefined ? slicedCrc32(data, value) : native(data, value);

let tables: Uint32Array | undefined;

/** The same without help from Node. */
export function slicedCrc32(data: Uint8Array, value = 0): number {
  tables ??= makeTables();
  const t = tables;
  const at = (index: number): number => t[index] as number;
  let crc = ~value;
  let i = 0;
  for (const end = data.length - 7; i < end; i += 8) {
    const low =
      crc ^
      ((data[i] as number) |
        ((data[i + 1] as number) << 8) |
        ((data[i + 2] as number) << 16) |
        ((data[i + 3] as number) << 24));
    crc =
      at(0x700 + (low & 0xff)) ^
      at(0x600 + ((low >>> 8) & 0xff)) ^
      at(0x500 + ((low >>> 16) & 0xff)) ^
      at(0x400 + (low >>> 24)) ^
      at(0x300 + (data[i + 4] as number)) ^
      at(0x200 + (data[i + 5] as number)) ^
      at(0x100 + (data[i + 6] as number)) ^
      at(data[i + 7] as number);
  }
  for (; i < data.length; i += 1) crc = (crc >>> 8) ^ at((crc ^ (data[i] as number)) & 0xff);
  return ~crc >>> 0;
}

function makeTables(): Uint32Array {
  const made = new Uint32Array(8 * 256);
  for (let n = 0; n < 256; n += 1) {
    let crc = n;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    made[n] = crc;
  }
  for (let i = 256; i < made.length; i += 1) {
    const before = made[i - 256] as number;
    made[i] = (before >>> 8) ^ (made[before & 0xff] as number);
  }
  return made;
}
