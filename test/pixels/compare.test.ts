// When two captures of a screen differ, and when they only shimmer or blink.
import {
  comparePictures,
  encodePngSync,
  isPixelError,
  type Picture,
} from '../../core/pixels/index.ts';
import { assert, suite } from '../harness.ts';

const WIDTH = 160;
const HEIGHT = 100;
const GREY = [200, 200, 200] as const;
const INK = [20, 20, 30] as const;

type Paint = readonly [
  x: number,
  y: number,
  width: number,
  height: number,
  colour?: readonly number[],
];

function picture(...paints: readonly Paint[]): Picture {
  const data = new Uint8Array(WIDTH * HEIGHT * 4);
  const paint = ([left, top, width, height, colour = INK]: Paint): void => {
    for (let y = top; y < top + height; y += 1) {
      for (let x = left; x < left + width; x += 1) {
        data.set([...colour, 255], (y * WIDTH + x) * 4);
      }
    }
  };
  paint([0, 0, WIDTH, HEIGHT, GREY]);
  paints.forEach(paint);
  return { width: WIDTH, height: HEIGHT, data };
}

/** Something like a line of text: strokes two pixels wide. */
function text(x: number, y: number): Paint[] {
  return [0, 7, 11, 18, 26, 31].flatMap((at): Paint[] => [
    [x + at, y, 2, 10],
    [x + at, y + 4, 5, 2],
  ]);
}

const test = suite('compare');

test('equal pictures are', () => {
  const a = picture(...text(10, 10));
  assert.equal(comparePictures(a, picture(...text(10, 10))), { changed: false, share: 0 });
});

test('a thing that appears, and one that goes, are told with their place', () => {
  const before = picture(...text(10, 10));
  const after = picture(...text(10, 10), [50, 40, 20, 10]);
  for (const [a, b] of [
    [before, after],
    [after, before],
  ] as const) {
    const { changed, share, box } = comparePictures(a, b);
    assert.ok(changed);
    assert.equal(box, { x: 50, y: 40, width: 20, height: 10 });
    assert.is(share, 200 / (WIDTH * HEIGHT));
  }
});

test('a text that moves by a pixel does not count, one that moves further does', () => {
  const before = picture(...text(10, 10));
  for (const [dx, dy] of [
    [1, 0],
    [-1, 0],
    [0, 1],
    [1, -1],
  ] as const) {
    assert.is(comparePictures(before, picture(...text(10 + dx, 10 + dy))).changed, false);
  }
  assert.ok(comparePictures(before, picture(...text(14, 10))).changed);
  assert.ok(comparePictures(before, picture(...text(10, 14))).changed);
});

test('a caret that blinks does not count', () => {
  const before = picture(...text(10, 10));
  for (const width of [1, 2, 4]) {
    const after = picture(...text(10, 10), [60, 9, width, 12]);
    assert.is(comparePictures(before, after).changed, false, `${width} wide`);
    assert.is(comparePictures(after, before).changed, false, `${width} wide`);
  }
});

test('a caret beside a change, a wide bar, a flat bar and a caret that is looked for count', () => {
  const before = picture(...text(10, 10));
  assert.ok(
    comparePictures(before, picture(...text(10, 10), [60, 9, 2, 12], [80, 50, 6, 6])).changed,
  );
  assert.ok(comparePictures(before, picture(...text(10, 10), [60, 9, 5, 14])).changed);
  assert.ok(comparePictures(before, picture(...text(10, 10), [60, 9, 12, 2])).changed);
  const caret = picture(...text(10, 10), [60, 9, 2, 12]);
  assert.ok(comparePictures(before, caret, { caret: 0 }).changed);
});

test('a difference within the tolerance does not count', () => {
  const before = picture([20, 20, 40, 30, [100, 100, 100]]);
  const after = picture([20, 20, 40, 30, [110, 95, 100]]);
  assert.is(comparePictures(before, after).changed, false);
  assert.ok(comparePictures(before, after, { tolerance: 4 }).changed);
});

test('pictures of two sizes differ', () => {
  const a = picture();
  const b: Picture = { width: HEIGHT, height: WIDTH, data: a.data };
  assert.equal(comparePictures(a, b), { changed: true, share: 1 });
});

test('takes PNG bytes, also beside a decoded picture', () => {
  const a = picture(...text(10, 10));
  const b = picture(...text(10, 10), [50, 40, 20, 10]);
  const png = (from: Picture): Uint8Array => encodePngSync({ ...from, channels: 4 });
  const found = comparePictures(a, b);
  assert.equal(comparePictures(png(a), png(b)), found);
  assert.equal(comparePictures(png(a), b), found);
  assert.equal(comparePictures(png(a), png(a)), { changed: false, share: 0 });
  assert.throws(() => comparePictures(png(a), png(b).subarray(0, 60)), isPixelError);
});

test('a picture whose bytes lie across words is read rightly', () => {
  const a = picture(...text(10, 10));
  const shifted = new Uint8Array(a.data.length + 1).subarray(1);
  shifted.set(a.data);
  assert.is(comparePictures(a, { ...a, data: shifted }).changed, false);
});

test.run();
