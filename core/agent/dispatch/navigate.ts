// Where the agent may go: http, https and about:blank, and of those only the target's origins. A
// path is resolved against the page the app is on, so that a model can name a route without
// knowing the host. The check is before the engine, and its answer names what is allowed.
import { quote } from '../screen/format.ts';
import type { VerbArguments } from '../tools/table.ts';
import { Refusal, type CallContext, type CallResult } from './context.ts';

const BLANK = 'about:blank';

export async function navigate(
  call: CallContext,
  { url }: VerbArguments['navigate'],
): Promise<CallResult> {
  const allowed = call.scope.allowedOrigins;
  const address = resolveAddress(url, call.screen.snapshot.location, allowed);
  call.reserve(1);
  await call.act((budget) => call.driver.open(address, budget), {
    mostMs: Number.POSITIVE_INFINITY,
  });
  return { text: `Opened ${quote(address)}.` };
}

export async function back(call: CallContext): Promise<CallResult> {
  call.reserve(1);
  await call.act((budget) => call.driver.back(budget));
  return { text: 'Went back.' };
}

/** The absolute address that may be opened; throws a Refusal for any other. */
export function resolveAddress(
  url: string,
  location: string | undefined,
  allowedOrigins: readonly string[],
): string {
  const wanted = url.trim();
  const base = [location, ...allowedOrigins].find(
    (candidate) => candidate !== undefined && isWeb(parse(candidate)),
  );
  const parsed = parse(wanted, base);
  if (wanted === '' || parsed === undefined) {
    throw new Refusal('INVALID_ARGUMENT', `navigate: ${quote(url)} is no URL`);
  }
  if (parsed.href === BLANK) return BLANK;
  const denied = (why: string): Refusal =>
    new Refusal('POLICY_DENIED', `navigate: ${quote(url)} was not opened: ${why}.`);
  if (!isWeb(parsed)) throw denied('only http, https and about:blank are');
  if (parsed.username !== '' || parsed.password !== '') {
    throw denied('an address may carry no user name or password');
  }
  if (!allowedOrigins.includes(parsed.origin)) {
    throw denied(
      allowedOrigins.length === 0
        ? 'no origin is allowed'
        : `allowed origins: ${allowedOrigins.join(', ')}`,
    );
  }
  return parsed.href;
}

function parse(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
function isWeb(url: URL | undefined): boolean {
  return url?.protocol === 'http:' || url?.protocol === 'https:';
}
