// Values that are not themselves on the wire: bytes as base64, and the size that a picture really
// has, which no claim beside it may contradict. That the rest is JSON is checked where messages are
// written (messages.ts), and what arrives is checked by its shape.
import type { JsonIssue } from '../../base/json.ts';

/** A value that cannot cross, or that came in wrong: which one, and why. */
export class WireValueError extends Error {
  override readonly name = 'WireValueError';
  /** Written like `params.items[2].name`. */
  readonly path: string;
  constructor({ path, problem }: JsonIssue) {
    super(`${path} ${problem}.`);
    this.path = path;
  }
}

/** Bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Bytes of a base64 text, or `undefined` when it is none: Node's decoder would skip over rubbish. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== (text.length / 4) * 3 - padding) return undefined;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The size that a PNG's header states, or `undefined` when the bytes are no PNG. */
export function pngSize(
  bytes: Uint8Array,
): { readonly width: number; readonly height: number } | undefined {
  if (bytes.length < 24 || PNG_SIGNATURE.some((byte, index) => bytes[index] !== byte)) {
    return undefined;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
