// Cuts of text that never split a character: a lone surrogate sent to a provider or over the wire
// is refused there, so every cut in the product goes through this file.

/** Length of `text` in UTF-8 bytes. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Number of characters, a surrogate pair counting as one. */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 0; index + 1 < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) {
      length -= 1;
      index += 1;
    }
  }
  return length;
}

/** At most `limit` UTF-16 units from the front, never ending in half a surrogate pair. */
export function cutEnd(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/** At most `limit` UTF-8 bytes from the front, never ending inside a character. */
export function cutUtf8(text: string, limit: number): string {
  if (utf8Length(text) <= limit) return text;
  let bytes = 0;
  let index = 0;
  for (const character of text) {
    bytes += utf8Length(character);
    if (bytes > limit) break;
    index += character.length;
  }
  return text.slice(0, index);
}

/** Lone surrogates replaced by U+FFFD. */
export function toWellFormed(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed();
}

/** White space collapsed to single blanks, and none at the ends. */
export function collapseWhitespace(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** Prose fit for a log line or an error: no control characters but blanks, at most `limit` units. */
export function sanitizeLine(text: string, limit: number): string {
  return cutEnd(
    toWellFormed(text)
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ')
      .trim(),
    limit,
  );
}
