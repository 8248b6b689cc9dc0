// How near two pictures are: the peak signal-to-noise ratio over red, green and blue of 8 bits, in
// dB. Both are read by sharp, which is no subject here.

/** `Infinity` for equal pictures. Throws when the sizes differ. */
export async function psnr(png: Uint8Array, reference: Uint8Array): Promise<number> {
  const [one, other] = await Promise.all([read(png), read(reference)]);
  if (one.info.width !== other.info.width || one.info.height !== other.info.height) {
    throw new Error(
      `The pictures differ in size: ${one.info.width}x${one.info.height} and ${other.info.width}x${other.info.height}.`,
    );
  }
  let sum = 0;
  for (const [index, value] of one.data.entries()) {
    sum += (value - (other.data[index] as number)) ** 2;
  }
  return 10 * Math.log10((255 * 255 * one.data.length) / sum);
}

/** What all are held against: sharp's Lanczos-3, both sides brought to whole pixels exactly. */
export async function lanczosReference(png: Uint8Array, longSide: number): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp');
  const { width, height } = await sharp(png).metadata();
  const scale = longSide / Math.max(width, height);
  const side = (length: number): number => Math.max(1, Math.round(length * scale));
  return await sharp(png)
    .resize({ width: side(width), height: side(height), fit: 'fill', kernel: 'lanczos3' })
    .png()
    .toBuffer();
}

async function read(png: Uint8Array) {
  const { default: sharp } = await import('sharp');
  const flat = sharp(png).toColourspace('srgb').flatten({ background: '#fff' });
  return await flat.raw().toBuffer({ resolveWithObject: true });
}
