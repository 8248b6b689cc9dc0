// The size that a PNG states, out of base64 as it crosses the wire.
import { pngSize } from '../engine-stage.ts';
import { CheckFailure } from './types.ts';

/** Fails the rule for anything that is no picture; `what` names it. */
export function picture(
  base64: unknown,
  what: string,
): { readonly width: number; readonly height: number } {
  if (typeof base64 !== 'string') throw new CheckFailure(`${what} is a text in base64`);
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/u.test(base64)) {
    throw new CheckFailure(`${what} is not base64`);
  }
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  if (bytes.length < 24) throw new CheckFailure(`${what} is no PNG`);
  try {
    return pngSize(bytes);
  } catch {
    throw new CheckFailure(`${what} is no PNG`);
  }
}
