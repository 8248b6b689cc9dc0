// When a refused request is sent again, and after how long. The provider's own hints win, in a fixed
// order; a hint that makes no sense (zero, negative, a date gone by) is passed over, because
// gateways send such. A wait longer than any step would last is answered as final at once.

/** The most retries of one model call. */
export const MAX_RETRIES = 5;
/** The longest wait that a hint may ask for, ms. */
export const MAX_HINT_MS = 120_000;
const FIRST_BACKOFF_MS = 500;
const LAST_BACKOFF_MS = 8_000;

export interface HintSource {
  readonly headers: Headers;
  /** A wait that the body asks for, ms. */
  readonly bodyHintMs?: number | undefined;
  /** Wall-clock time, ms since 1970. */
  readonly wallClock: () => number;
}

/** The provider's hint in ms: the first usable one, which may exceed `MAX_HINT_MS`. */
export function waitHint({ headers, bodyHintMs, wallClock }: HintSource): number | undefined {
  const candidates = [
    () => toNumber(headers.get('retry-after-ms')),
    () => retryAfter(headers.get('retry-after'), wallClock),
    () => bodyHintMs,
    () => rateLimitReset(headers),
  ];
  for (const candidate of candidates) {
    const ms = candidate();
    if (ms !== undefined && Number.isFinite(ms) && ms > 0) return ms;
  }
  return undefined;
}

/** The provider's word on whether a retry makes sense, when it gives one. */
export function shouldRetryHint(headers: Headers): boolean | undefined {
  const hint = headers.get('x-should-retry')?.trim().toLowerCase();
  return hint === 'true' ? true : hint === 'false' ? false : undefined;
}

/** The wait before retry number `retry` (from 0) without a hint: doubling, less up to a quarter. */
export function backoff(retry: number, random: () => number): number {
  const full = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retry);
  return full * (1 - 0.25 * random());
}

/** A Go duration such as `1h2m3.5s` or `12ms`, in ms. */
export function parseDuration(text: string): number | undefined {
  const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  if (!/^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/u.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gu)) {
    total += Number(amount) * (units[unit ?? ''] ?? 0);
  }
  return total;
}

function toNumber(text: string | null): number | undefined {
  return text !== null && /^\s*-?\d+(?:\.\d+)?\s*$/u.test(text) ? Number(text) : undefined;
}

function retryAfter(text: string | null, wallClock: () => number): number | undefined {
  if (text === null) return undefined;
  const seconds = toNumber(text);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date - wallClock();
}

/** The longest reset among the limits that are used up; among all when none says so. */
function rateLimitReset(headers: Headers): number | undefined {
  const all: number[] = [];
  const usedUp: number[] = [];
  for (const kind of ['requests', 'tokens']) {
    const reset = parseDuration(headers.get(`x-ratelimit-reset-${kind}`)?.trim() ?? '');
    if (reset === undefined) continue;
    all.push(reset);
    if (headers.get(`x-ratelimit-remaining-${kind}`)?.trim() === '0') usedUp.push(reset);
  }
  const waits = usedUp.length > 0 ? usedUp : all;
  return waits.length === 0 ? undefined : Math.max(...waits);
}
