// A picture of the glass in plain code: boxes in the colours of their roles, without letters. It
// is a true PNG of the viewport's size, so that pictures can cross wires and be compared without a
// browser. Secure fields are drawn as one flat mask, whatever they hold.
import { deflateSync } from 'node:zlib';
import { eachLive, VIEWPORT, type Live } from './surface.ts';

type Colour = readonly [red: number, green: number, blue: number];
const PAPER: Colour = [250, 248, 244];
const LINE: Colour = [90, 84, 76];
const MASK: Colour = [0, 0, 0];
const DISABLED: Colour = [214, 210, 204];
const FOCUS: Colour = [28, 98, 214];
const INK: Colour = [60, 58, 54];
const ON: Colour = [38, 140, 78];
const FILLS: Readonly<Record<string, Colour>> = {
  heading: [226, 214, 190],
  button: [242, 178, 92],
  textbox: [255, 255, 255],
  searchbox: [255, 255, 255],
  spinbutton: [255, 255, 255],
  combobox: [232, 240, 252],
  checkbox: [255, 255, 255],
  switch: [255, 255, 255],
  alert: [236, 130, 118],
  status: [176, 222, 186],
  progressbar: [255, 255, 255],
};

export interface Picture {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly masked: number;
}

/** Draws the elements as they are laid out; `focus` is the id of the focused one. */
export function drawPicture(root: Live, focus: string | undefined): Picture {
  const { width, height } = VIEWPORT;
  const pixels = Buffer.alloc(width * height * 3);
  const fill = (x: number, y: number, w: number, h: number, [r, g, b]: Colour): void => {
    const left = Math.max(0, Math.round(x));
    const right = Math.min(width, Math.round(x + w));
    const bottom = Math.min(height, Math.round(y + h));
    for (let row = Math.max(0, Math.round(y)); row < bottom; row += 1) {
      for (let column = left; column < right; column += 1) {
        const at = (row * width + column) * 3;
        pixels[at] = r;
        pixels[at + 1] = g;
        pixels[at + 2] = b;
      }
    }
  };
  fill(0, 0, width, height, PAPER);
  let masked = 0;
  for (const live of eachLive(root)) {
    const { view, rect } = live;
    if (rect === undefined || live === root) continue;
    const colour = FILLS[view.role ?? ''];
    const box = { x: rect.x + 2, y: rect.y + 2, w: rect.width - 4, h: rect.height - 4 };
    if (view.states?.secure === true) {
      masked += 1;
      fill(box.x, box.y, box.w, box.h, MASK);
      continue;
    }
    if (colour === undefined) {
      // Text: a bar as long as its letters would be.
      const words = view.text ?? (live.children.length === 0 ? view.name : undefined);
      if (words !== undefined) fill(box.x, box.y + 14, Math.min(box.w, words.length * 7), 12, INK);
      continue;
    }
    fill(box.x, box.y, box.w, box.h, live.id === focus ? FOCUS : LINE);
    const inner = view.states?.disabled === true ? DISABLED : colour;
    fill(box.x + 2, box.y + 2, box.w - 4, box.h - 4, inner);
    const label = `${view.name ?? ''}${view.value ?? ''}`;
    fill(box.x + 12, box.y + 14, Math.min(box.w - 60, label.length * 7), 12, INK);
    if (view.states?.checked === true) fill(box.x + box.w - 36, box.y + 8, 24, box.h - 16, ON);
  }
  return { data: encode(pixels), width, height, masked };
}

/** An 8-bit RGB PNG without filters. */
function encode(pixels: Buffer): Uint8Array {
  const { width, height } = VIEWPORT;
  const stride = width * 3;
  const raw = Buffer.alloc((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    pixels.copy(raw, row * (stride + 1) + 1, row * stride, (row + 1) * stride);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const png = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(raw)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
  return new Uint8Array(png.buffer, png.byteOffset, png.byteLength);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** zlib's own crc32 came only with Node 20.15. */
function crc32(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
