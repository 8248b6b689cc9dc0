// The kernels in AssemblyScript: compiled by scripts/kernels.mjs to core/pixels/kernels-wasm.ts, which
// is committed. core/pixels/kernels.ts says what each is for; kernels-js.ts is the same without SIMD,
// and has the same output to the byte. Rows have zero bytes before them and room behind them, so that
// whole vectors may be read and written; what lies behind a row may be anything.

/** Leading zero bytes. */
export function zeros(row: usize, length: i32): i32 {
  let i = 0;
  while (i + 16 <= length && !v128.any_true(v128.load(row + i))) i += 16;
  while (i < length && load<u8>(row + i) == 0) ++i;
  return i;
}

/** Whether each fourth byte is 255. */
export function opaque(row: usize, length: i32): bool {
  const end = row + length;
  const least = i32x4.splat(0xff000000);
  while (row + 16 <= end) {
    if (!i32x4.all_true(i32x4.ge_u(v128.load(row), least))) return false;
    row += 16;
  }
  while (row < end) {
    if (load<u8>(row, 3) != 255) return false;
    row += 4;
  }
  return true;
}

// @ts-ignore: decorator
@inline
function storeTwelve(at: usize, v: v128): void {
  v128.store_lane<u64>(at, v, 0);
  v128.store_lane<u32>(at, v, 2, 8);
}

export function sub(row: usize, length: i32, step: i32): void {
  const end = row + length;
  let carry = i8x16.splat(0);
  if (step == 3) {
    while (row < end) {
      let v = v128.load(row);
      v = i8x16.add(v, i8x16.shuffle(v, i8x16.splat(0), 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
      v = i8x16.add(v, i8x16.shuffle(v, i8x16.splat(0), 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
      v = i8x16.add(v, carry);
      carry = i8x16.shuffle(v, v, 9, 10, 11, 9, 10, 11, 9, 10, 11, 9, 10, 11, 9, 10, 11, 9);
      storeTwelve(row, v);
      row += 12;
    }
    return;
  }
  if (step == 4) {
    while (row < end) {
      let v = v128.load(row);
      v = i8x16.add(v, i8x16.shuffle(v, i8x16.splat(0), 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
      v = i8x16.add(v, i8x16.shuffle(v, i8x16.splat(0), 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7));
      v = i8x16.add(v, carry);
      carry = i8x16.shuffle(v, v, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15);
      v128.store(row, v);
      row += 16;
    }
    return;
  }
  while (row < end) {
    store<u8>(row, load<u8>(row) + load<u8>(row - step));
    ++row;
  }
}

export function up(row: usize, above: usize, length: i32): void {
  const end = row + length;
  while (row < end) {
    v128.store(row, i8x16.add(v128.load(row), v128.load(above)));
    row += 16;
    above += 16;
  }
}

/** May run into the pixel to the right, which has been read by then, and never into the one after. */
// @ts-ignore: decorator
@inline
function storePixel(at: usize, pixel: v128, step: i32): void {
  if (step == 1) v128.store_lane<u8>(at, pixel, 0);
  else if (step <= 4) v128.store_lane<u32>(at, pixel, 0);
  else v128.store_lane<u64>(at, pixel, 0);
}

/** A pixel of up to 8 bytes at a time. */
export function average(row: usize, above: usize, length: i32, step: i32): void {
  const end = row + length;
  const one = i8x16.splat(1);
  let a = i8x16.splat(0);
  let raw = v128.load_zero<u64>(row);
  while (row < end) {
    const b = v128.load_zero<u64>(above);
    const next = v128.load_zero<u64>(row + step);
    const half = i8x16.sub(i8x16.avgr_u(a, b), v128.and(v128.xor(a, b), one));
    a = i8x16.add(raw, half);
    storePixel(row, a, step);
    raw = next;
    row += step;
    above += step;
  }
}

/**
 * The better guess of three, without a branch and with the shortest chain from `a` on (the left
 * pixel, which the one before has just made): with t = 3c - a - b, it is the larger of a and b where
 * that t is not above the smaller, the smaller where it is not below the larger, else c.
 */
// @ts-ignore: decorator
@inline
function guess(a: v128, b: v128, c: v128, upper: v128): v128 {
  const t = i16x8.sub(upper, a);
  const low = i16x8.min_s(a, b);
  const high = i16x8.max_s(a, b);
  const notHigh = i16x8.gt_s(t, low);
  const notLow = i16x8.gt_s(high, t);
  return v128.or(
    v128.or(v128.andnot(high, notHigh), v128.andnot(low, notLow)),
    v128.and(c, v128.and(notHigh, notLow)),
  );
}

// @ts-ignore: decorator
@inline
function upperOf(b: v128, c: v128): v128 {
  return i16x8.sub(i16x8.add(i16x8.add(c, c), c), b);
}

/** A pixel of up to 8 bytes at a time. */
export function paeth(row: usize, above: usize, length: i32, step: i32): void {
  const end = row + length;
  let a = i16x8.splat(0);
  let c = i16x8.splat(0);
  let raw = v128.load_ext<u8>(row);
  while (row < end) {
    const b = v128.load_ext<u8>(above);
    const next = v128.load_ext<u8>(row + step);
    // Bytes in halves of 16 bits: adding bytes wraps as it should and leaves the rest 0.
    a = i8x16.add(raw, guess(a, b, c, upperOf(b, c)));
    c = b;
    storePixel(row, i8x16.narrow_i16x8_u(a, a), step);
    raw = next;
    row += step;
    above += step;
  }
}

// @ts-ignore: decorator
@inline
function pairAt(row: usize, next: usize): v128 {
  return i16x8.extend_low_i8x16_u(v128.load_lane<u32>(next, v128.load_zero<u32>(row), 1));
}

/**
 * Two rows at once, the second a pixel behind the first, so that all that it refers to is there: the
 * lower half of a vector is the first row's pixel, the upper half the second row's one before. What
 * is above is then the last result's lower half, and what is above left is what was above. Pixels of
 * 3 or 4 bytes. Where nothing is stored for four pixels, and what is left equals what is above left,
 * both rows repeat what is above.
 */
export function paethPair(row: usize, next: usize, above: usize, length: i32, step: i32): void {
  // One pixel more: the second row's last.
  const end = row + length + step;
  const four = step * 4;
  // Three pixels: the first one's bytes in memory may be overrun already.
  const rest =
    step == 3
      ? i8x16(0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0)
      : i32x4(0, -1, -1, -1);
  const lanes = step == 3 ? i64x2.splat(0x0000ffffffffffff) : i64x2.splat(-1);
  next -= step;
  let a = i16x8.splat(0);
  let c = i16x8.splat(0);
  let raw = pairAt(row, next);
  while (row < end) {
    const more = v128.and(v128.or(v128.load(row), v128.load(next)), rest);
    const odd = v128.and(v128.or(raw, v128.xor(a, c)), lanes);
    if (!v128.any_true(v128.or(more, odd))) {
      const v = v128.load(above);
      const left = i8x16.narrow_i16x8_u(a, a);
      // From registers, not from what has just been stored: loads across stores wait for them.
      if (step == 3) {
        storeTwelve(row, v);
        storeTwelve(next, i8x16.shuffle(left, v, 0, 1, 2, 16, 17, 18, 19, 20, 21, 22, 23, 24, 0, 0, 0, 0));
        a = i8x16.shuffle(v, i8x16.splat(0), 9, 16, 10, 16, 11, 16, 16, 16, 6, 16, 7, 16, 8, 16, 16, 16);
      } else {
        v128.store(row, v);
        v128.store(next, i8x16.shuffle(left, v, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27));
        a = i8x16.shuffle(v, i8x16.splat(0), 12, 16, 13, 16, 14, 16, 15, 16, 8, 16, 9, 16, 10, 16, 11, 16);
      }
      c = a;
      row += four;
      next += four;
      above += four;
      raw = pairAt(row, next);
      continue;
    }
    for (let n = 0; n < 4; ++n) {
      const fresh = i16x8.extend_low_i8x16_u(v128.load_zero<u32>(above));
      const b = i8x16.shuffle(fresh, a, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      const following = pairAt(row + step, next + step);
      a = i8x16.add(raw, guess(a, b, c, upperOf(b, c)));
      c = b;
      const packed = i8x16.narrow_i16x8_u(a, a);
      v128.store_lane<u32>(row, packed, 0);
      v128.store_lane<u32>(next, packed, 1);
      raw = following;
      row += step;
      next += step;
      above += step;
    }
  }
}

export function add(row: usize, sums: usize, length: i32, weight: i32, fresh: bool): void {
  const end = row + length;
  const w = i16x8.splat(<i16>weight);
  if (fresh) {
    while (row < end) {
      v128.store(sums, i16x8.mul(v128.load_ext<u8>(row), w));
      v128.store(sums, i16x8.mul(v128.load_ext<u8>(row, 8), w), 16);
      row += 16;
      sums += 32;
    }
    return;
  }
  while (row < end) {
    v128.store(sums, i16x8.add(v128.load(sums), i16x8.mul(v128.load_ext<u8>(row), w)));
    v128.store(sums, i16x8.add(v128.load(sums, 16), i16x8.mul(v128.load_ext<u8>(row, 8), w)), 16);
    row += 16;
    sums += 32;
  }
}

export function addWide(row: usize, sums: usize, length: i32, weight: i32, fresh: bool): void {
  const end = row + length;
  const w = i32x4.splat(weight);
  const kept = i32x4.splat(fresh ? 0 : -1);
  while (row < end) {
    const v = v128.load_ext<u8>(row);
    const low = i32x4.mul(i32x4.extend_low_i16x8_u(v), w);
    const high = i32x4.mul(i32x4.extend_high_i16x8_u(v), w);
    v128.store(sums, i32x4.add(v128.and(v128.load(sums), kept), low));
    v128.store(sums, i32x4.add(v128.and(v128.load(sums, 16), kept), high), 16);
    row += 8;
    sums += 32;
  }
}

/** Sums of 32 bits to sums of 16, in place. */
export function narrow(sums: usize, length: i32): void {
  const half = i32x4.splat(128);
  let from = sums;
  for (const end = sums + length * 2; sums < end; sums += 16) {
    const low = i32x4.shr_u(i32x4.add(v128.load(from), half), 8);
    const high = i32x4.shr_u(i32x4.add(v128.load(from, 16), half), 8);
    v128.store(sums, i16x8.narrow_i32x4_u(low, high));
    from += 32;
  }
}

export function reduce(sums: usize, out: usize, table: usize, count: i32, full: i32, step: i32, outStep: i32): void {
  const stride = <usize>step * 2;
  const half = i32x4.splat(1 << 23);
  const w = i32x4.splat(full);
  for (const end = table + count * 16; table < end; table += 16) {
    let from = sums + load<i32>(table);
    let sum = i32x4.add(half, i32x4.mul(v128.load_ext<u16>(from), v128.load_splat<u32>(table, 8)));
    let within = i32x4.splat(0);
    for (let n = load<i32>(table, 4); n > 0; --n) {
      from += stride;
      within = i32x4.add(within, v128.load_ext<u16>(from));
    }
    from += stride;
    sum = i32x4.add(sum, i32x4.mul(within, w));
    sum = i32x4.add(sum, i32x4.mul(v128.load_ext<u16>(from), v128.load_splat<u32>(table, 12)));
    sum = i32x4.shr_u(sum, 24);
    sum = i16x8.narrow_i32x4_u(sum, sum);
    v128.store_lane<u32>(out, i8x16.narrow_i16x8_u(sum, sum), 0);
    out += outStep;
  }
}

/** What is left of a row when another, or itself a pixel further left, is taken off. */
export function subtract(row: usize, other: usize, out: usize, length: i32): void {
  const end = row + length;
  while (row < end) {
    v128.store(out, i8x16.sub(v128.load(row), v128.load(other)));
    row += 16;
    other += 16;
    out += 16;
  }
}
