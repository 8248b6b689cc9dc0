// A box average as one writes it beside a decoder: whole source pixels, no fractions, no tables.

interface Raw {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: ArrayLike<number>;
}

export function boxAverage(from: Raw, width: number, height: number): Uint8Array {
  const { channels, data } = from;
  const out = new Uint8Array(width * height * channels);
  const sums = new Float64Array(channels);
  for (let y = 0; y < height; y += 1) {
    const top = Math.floor((y * from.height) / height);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * from.height) / height));
    for (let x = 0; x < width; x += 1) {
      const left = Math.floor((x * from.width) / width);
      const right = Math.max(left + 1, Math.floor(((x + 1) * from.width) / width));
      sums.fill(0);
      for (let row = top; row < bottom; row += 1) {
        let at = (row * from.width + left) * channels;
        for (let column = left; column < right; column += 1) {
          for (let channel = 0; channel < channels; channel += 1) {
            sums[channel] = (sums[channel] as number) + (data[at] as number);
            at += 1;
          }
        }
      }
      const count = (bottom - top) * (right - left);
      for (let channel = 0; channel < channels; channel += 1) {
        out[(y * width + x) * channels + channel] = (sums[channel] as number) / count + 0.5;
      }
    }
  }
  return out;
}
