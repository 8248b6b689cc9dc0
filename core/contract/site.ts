// An approximation of a URL's registrable domain, without the public suffix list: good enough to
// name an app's site in a message or to group cookies, wrong for `github.io` and its like.
// Never used to decide who may have a secret: that compares whole origins.

/** Second labels under a two-letter domain that registries sell names below. */
const SECOND_LEVEL: ReadonlySet<string> = new Set(['co', 'com', 'net', 'org', 'gov', 'edu', 'ac']);

/**
 * The last two labels of the host, three under `co.uk` and its like; addresses and single labels
 * whole; `undefined` for what is no URL or has no host. An approximation: see the file's head.
 */
export function siteOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const host = new URL(url).hostname.toLowerCase().replace(/\.$/u, '');
  if (host === '') return undefined;
  if (host.startsWith('[') || /^\d{1,3}(?:\.\d{1,3}){3}$/u.test(host)) return host;
  const labels = host.split('.');
  const country = labels.at(-1)?.length === 2;
  const second = labels.at(-2);
  const keep = country && second !== undefined && SECOND_LEVEL.has(second) ? 3 : 2;
  return labels.slice(-keep).join('.');
}
