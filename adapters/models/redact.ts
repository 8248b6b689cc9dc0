// Keys out of everything that may be shown. Providers echo keys in errors, whole or with stars in
// the middle, and a wrapped fetch may print its headers: so not only the key as it is goes, but
// also what begins like it, and what looks like a key at all.
import { cutUtf8, toWellFormed } from '../../core/base/text.ts';

/** Most bytes of a provider's body that an error quotes. */
const BODY_LIMIT = 1024;
const MASK = '<redacted>';
/** A key's first characters that are enough to take what follows for the key. */
const PREFIX = 8;

export type Redact = (text: string) => string;

/** Makes a redactor for these keys. */
export function redactor(secrets: readonly string[]): Redact {
  const patterns: RegExp[] = [];
  for (const secret of secrets) {
    if (secret === '') continue;
    for (const form of new Set([secret, encodeURIComponent(secret), base64(secret)])) {
      patterns.push(new RegExp(escape(form), 'giu'));
      if (form.length >= PREFIX * 2) {
        patterns.push(new RegExp(`${escape(form.slice(0, PREFIX))}[^\\s"'<>,;]*`, 'giu'));
      }
    }
  }
  patterns.push(/\b(?:sk|rk|gsk|xai)-[\w*.-]{4,}/giu, /\bBearer\s+[^\s"',;]+/giu);
  return (text) => patterns.reduce((rest, pattern) => rest.replace(pattern, MASK), text);
}

/** A provider's words as an error may quote them: redacted first, then cut. */
export function quote(text: string, redact: Redact): string {
  const plain = redact(toWellFormed(text)).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return cutUtf8(plain.trim(), BODY_LIMIT);
}

/** A cause without keys: the same error when it shows none, else its redacted likeness. */
export function safeCause(cause: unknown, redact: Redact): unknown {
  const shown = show(cause);
  if (redact(shown) === shown) return cause;
  const likeness = new Error(redact(cause instanceof Error ? cause.message : String(cause)));
  likeness.stack = redact(shown);
  return likeness;
}

/** Everything that a printed error would show, causes and own members included. */
function show(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth > 4) return '';
  const own = Object.getOwnPropertyNames(value).slice(0, 50);
  return own
    .map((name) => `${name}: ${show(Reflect.get(value, name) as unknown, depth + 1)}`)
    .join('\n');
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/gu, '\\$&');
