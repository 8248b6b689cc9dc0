// Sizes and points between a picture and what it shows, over a hundred thousand sizes and ratios from
// a seed: the pixel that a model names and the CSS point it stands for never part by more than half a
// pixel, and what lies outside stays outside.
import {
  PICTURE_LONG_SIDE,
  boxToPixels,
  cssPerPixel,
  cssToPoint,
  fitSize,
  pointToCss,
  type PictureFrame,
} from '../../core/agent/screen/coordinates.ts';
import { assert, suite } from '../harness.ts';

const CASES = 100_000;

/** Numbers from 0 to 1, always the same (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const RATIOS = [0.5, 0.75, 1, 1.25, 1.3125, 1.5, 2, 2.625, 3, 3.5, 4] as const;

interface Case {
  readonly frame: PictureFrame;
  readonly random: () => number;
  readonly longSide: number;
}

/** Viewports of 1 to some thousand CSS pixels, captured at a ratio and then brought to a long side. */
function* cases(seed: number): Generator<Case> {
  const random = randomFrom(seed);
  const side = (): number => Math.ceil(2 ** (random() * 12));
  for (let count = 0; count < CASES; count += 1) {
    const viewport = { width: side(), height: side() };
    const ratio = RATIOS[Math.floor(random() * RATIOS.length)] ?? 1;
    const longSide = random() < 0.5 ? PICTURE_LONG_SIDE : side();
    const captured = (length: number): number => Math.max(1, Math.round(length * ratio));
    const picture = fitSize(captured(viewport.width), captured(viewport.height), longSide);
    yield { frame: { picture, viewport }, random, longSide };
  }
}

const test = suite('coordinates', { timeoutMs: 60_000 });

test('a fitted size is whole, no larger than given, no larger than asked, and never 0', () => {
  const random = randomFrom(1);
  for (let count = 0; count < CASES; count += 1) {
    const width = Math.ceil(2 ** (random() * 16));
    const height = Math.ceil(2 ** (random() * 16));
    const longSide = Math.ceil(2 ** (random() * 12));
    const fit = fitSize(width, height, longSide);
    const said = `${width} by ${height} at ${longSide}: ${fit.width} by ${fit.height}`;
    assert.ok(Number.isInteger(fit.width) && Number.isInteger(fit.height), said);
    assert.ok(fit.width >= 1 && fit.height >= 1, said);
    assert.ok(fit.width <= width && fit.height <= height, said);
    assert.is(Math.max(fit.width, fit.height), Math.min(longSide, Math.max(width, height)), said);
    // Each side is the scaled one, rounded: the shape is kept to half a pixel.
    const scale = Math.min(1, longSide / Math.max(width, height));
    assert.ok(Math.abs(fit.width - Math.max(1, width * scale)) <= 0.5 + 1e-9, said);
    assert.ok(Math.abs(fit.height - Math.max(1, height * scale)) <= 0.5 + 1e-9, said);
  }
});

test('known sizes', () => {
  assert.equal(fitSize(2880, 1800, 768), { width: 768, height: 480 });
  assert.equal(fitSize(1080, 2400, 768), { width: 346, height: 768 });
  assert.equal(fitSize(1, 2000, 768), { width: 1, height: 768 });
  assert.equal(fitSize(2000, 1, 768), { width: 768, height: 1 });
  assert.equal(fitSize(2000, 50_000, 768), { width: 31, height: 768 });
  assert.equal(fitSize(768, 768, 768), { width: 768, height: 768 });
  assert.equal(fitSize(20, 30, 768), { width: 20, height: 30 });
});

test('a pixel goes to the middle of what it shows, and comes back as itself', () => {
  for (const { frame, random } of cases(2)) {
    const { picture, viewport } = frame;
    const pixel = {
      x: Math.floor(random() * picture.width),
      y: Math.floor(random() * picture.height),
    };
    const css = pointToCss(pixel, frame);
    assert.ok(css !== undefined);
    assert.ok(css.x > 0 && css.x < viewport.width && css.y > 0 && css.y < viewport.height);
    const per = cssPerPixel(frame);
    assert.ok(Math.abs(css.x - (pixel.x + 0.5) * per.x) < 1e-6);
    assert.ok(Math.abs(css.y - (pixel.y + 0.5) * per.y) < 1e-6);
    assert.equal(cssToPoint(css, frame), pixel);
  }
});

test('a CSS point comes back within half an image pixel', () => {
  for (const { frame, random } of cases(3)) {
    const css = { x: random() * frame.viewport.width, y: random() * frame.viewport.height };
    const point = cssToPoint(css, frame);
    assert.ok(point !== undefined);
    assert.ok(point.x >= 0 && point.x < frame.picture.width);
    assert.ok(point.y >= 0 && point.y < frame.picture.height);
    const back = pointToCss(point, frame);
    const per = cssPerPixel(frame);
    assert.ok(back !== undefined);
    assert.ok(Math.abs(back.x - css.x) <= per.x / 2 + 1e-6, JSON.stringify({ frame, css, back }));
    assert.ok(Math.abs(back.y - css.y) <= per.y / 2 + 1e-6, JSON.stringify({ frame, css, back }));
  }
});

test('a point more than a pixel outside is refused, on each side, and never clamped', () => {
  for (const { frame, random } of cases(4)) {
    const { width, height } = frame.picture;
    const x = random() * (width - 1);
    const y = random() * (height - 1);
    const far = 1 + 1e-6 + random() * 1000;
    for (const point of [
      { x: -far, y },
      { x: width - 1 + far, y },
      { x, y: -far },
      { x, y: height - 1 + far },
    ]) {
      assert.is(pointToCss(point, frame), undefined, JSON.stringify({ point, frame }));
    }
    // Within a pixel it means the outermost one.
    assert.equal(pointToCss({ x: -random(), y }, frame), pointToCss({ x: 0, y }, frame));
    assert.equal(
      pointToCss({ x: width - 1 + random(), y }, frame),
      pointToCss({ x: width - 1, y }, frame),
    );
  }
});

test('what is no number is refused', () => {
  const frame = { picture: { width: 768, height: 480 }, viewport: { width: 1440, height: 900 } };
  for (const x of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    assert.is(pointToCss({ x, y: 1 }, frame), undefined);
    assert.is(pointToCss({ x: 1, y: x }, frame), undefined);
    assert.is(cssToPoint({ x, y: 1 }, frame), undefined);
  }
});

test('the factor is one for each axis', () => {
  // 1000 by 7 at 3, to 768: the short side is 5 and not 5.376.
  const picture = fitSize(3000, 21, 768);
  assert.equal(picture, { width: 768, height: 5 });
  const frame = { picture, viewport: { width: 1000, height: 7 } };
  assert.equal(pointToCss({ x: 0, y: 4 }, frame), { x: 500 / 768, y: 6.3 });
  assert.equal(pointToCss({ x: 383.5, y: 2 }, frame), { x: 500, y: 3.5 });
});

test('a box is rounded outwards', () => {
  for (const { frame, random } of cases(5)) {
    const { viewport } = frame;
    const box = {
      x: (random() * 1.4 - 0.2) * viewport.width,
      y: (random() * 1.4 - 0.2) * viewport.height,
      width: random() * viewport.width,
      height: random() * viewport.height,
    };
    const pixels = boxToPixels(box, frame);
    const per = cssPerPixel(frame);
    for (const [start, length, cssStart, cssLength, factor] of [
      [pixels.x, pixels.width, box.x, box.width, per.x],
      [pixels.y, pixels.height, box.y, box.height, per.y],
    ] as const) {
      assert.ok(Number.isInteger(start) && Number.isInteger(length));
      assert.ok(start * factor <= cssStart + 1e-6);
      assert.ok((start + length) * factor >= cssStart + cssLength - 1e-6);
      assert.ok(length * factor <= cssLength + 2 * factor + 1e-6);
    }
  }
});

test.run();
