// Certificates and keys as callers hand them in: PEM text, or the bytes of a PEM file. A path is the
// usual slip, and TLS would only say that there is "no start line".

export type Pem = string | Uint8Array;

/** The text of PEM, or `undefined` for what is none (such as a path). */
export function pemText(value: unknown): string | undefined {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
  return typeof text === 'string' && text.includes('-----BEGIN ') ? text : undefined;
}
