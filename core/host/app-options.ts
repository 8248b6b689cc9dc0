// The app under test, as an option: its URL is brought into one form here, and the two views that
// an engine may have of it (the declaration, for validateApp; the info without URL, for
// everything else) are made in one place, so that a URL never reaches an engine but by open.
import type { EngineAppDeclaration, EngineAppInfo, PermissionSetting } from '../contract/engine.ts';
import { siteOf } from '../contract/site.ts';
import { checkObject, invalid, keyPath, oneOf, optionalObject, optionalString } from './checks.ts';

export interface AppOptions {
  /** Where the app starts. Without a scheme: `https://`, on a loopback host `http://`. */
  readonly url?: string;
  readonly bundleId?: string;
  /** A file to install; relative to the project root. */
  readonly appPath?: string;
  /** Names the build under test, for records; the engine does not see it. */
  readonly identity?: string;
  readonly launchArguments?: readonly string[];
  readonly permissions?: Readonly<Record<string, PermissionSetting>>;
}

/** The app with its URL normalised; every member is checked. */
export interface ResolvedApp {
  readonly url?: string;
  readonly identity?: string;
  /** What `validateApp` sees. */
  readonly declaration: EngineAppDeclaration;
  /** What prepare and init see. */
  readonly info: EngineAppInfo;
}

const APP_KEYS = ['url', 'bundleId', 'appPath', 'identity', 'launchArguments', 'permissions'];

export function resolveApp(value: unknown, path: string): ResolvedApp {
  const app = optionalObject(value, path, { known: APP_KEYS, example: '{ url }' });
  const url = app['url'] === undefined ? undefined : normalizeUrl(app['url'], `${path}.url`);
  const identity = optionalString(app['identity'], `${path}.identity`);
  const bundleId = optionalString(app['bundleId'], `${path}.bundleId`);
  const appPath = optionalString(app['appPath'], `${path}.appPath`);
  const launchArguments = stringList(app['launchArguments'], `${path}.launchArguments`);
  const permissions = permissionsOf(app['permissions'], `${path}.permissions`);
  const site = url === undefined ? undefined : siteOf(url);
  const info: EngineAppInfo = Object.freeze({
    ...(site === undefined ? {} : { site }),
    ...(bundleId === undefined ? {} : { bundleId }),
    ...(appPath === undefined ? {} : { appPath }),
    ...(launchArguments === undefined ? {} : { launchArguments }),
    ...(permissions === undefined ? {} : { permissions }),
  });
  return Object.freeze({
    ...(url === undefined ? {} : { url }),
    ...(identity === undefined ? {} : { identity }),
    declaration: Object.freeze({ ...info, ...(url === undefined ? {} : { url }) }),
    info,
  });
}

/** An app URL in its one form, e.g. `localhost:3000` becomes `http://localhost:3000/`. */
export function normalizeUrl(value: unknown, path: string): string {
  if (typeof value !== 'string' || value.trim() === '') {
    throw invalid(
      path,
      'must be a URL as a string, such as "https://shop.example" or "localhost:3000".',
    );
  }
  const text = value.trim();
  // With one slash the parser would take "https" for the host.
  if (/^https?:(?!\/\/)/iu.test(text)) {
    throw invalid(path, 'must have two slashes after its scheme, as in "https://shop.example".');
  }
  const full = withScheme(text);
  let url: URL;
  try {
    url = new URL(full);
  } catch {
    throw invalid(path, 'is not a URL; write it like "https://shop.example" or "localhost:3000".');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(path, 'must not carry a user or a password; put them under "credentials".');
  }
  // The text is asked too: the parser drops an empty query or fragment without a word.
  if (url.search !== '' || text.includes('?')) {
    throw invalid(path, 'must not carry a query; pass it to app.open() instead.');
  }
  if (url.hash !== '' || text.includes('#')) {
    throw invalid(path, 'must not carry a fragment; pass it to app.open() instead.');
  }
  return url.href;
}

/** The text with the scheme that a person leaves out: `localhost:3000` is `http://localhost:3000`. */
export function withScheme(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//iu.test(text) ? text : `${schemeFor(text)}://${text}`;
}

function schemeFor(text: string): 'http' | 'https' {
  const probe = URL.canParse(`http://${text}`) ? new URL(`http://${text}`).hostname : '';
  return isLoopback(probe) ? 'http' : 'https';
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/u.test(hostname)
  );
}

/** The origin of a URL, or `undefined` when it has none (`kiosk://`, `about:blank`). */
export function originOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin } = new URL(url);
  return origin === 'null' ? undefined : origin;
}

/** A list of origins; a whole URL is taken for its origin. */
export function originList(value: unknown, path: string): readonly string[] | undefined {
  const list = stringList(value, path);
  return list?.map((entry, index) => {
    const at = `${path}[${index}]`;
    if (entry.includes('*')) {
      throw invalid(at, 'must be one whole origin: there are no wildcards, list each of them.');
    }
    const origin = originOf(withScheme(entry));
    if (origin === undefined) {
      throw invalid(at, 'must be an origin such as "https://shop.example".');
    }
    return origin;
  });
}

/** A host as a person writes it: `shop.example`, `localhost:3000`. */
const HOST = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:]+\])(?::\d+)?(?:\/|$)/iu;

/**
 * Where a credential may be filled: an origin (a URL counts for its origin, a host gets its scheme),
 * or a location that is no URL, word for word.
 */
export function placeList(value: unknown, path: string): readonly string[] | undefined {
  return stringList(value, path)?.flatMap((entry, index) => {
    if (/^(?:[a-z]+:\/\/)?\*(?:\.|$)/iu.test(entry)) {
      throw invalid(
        `${path}[${index}]`,
        'must be one whole origin: there are no wildcards, list each of them.',
      );
    }
    const origin = originOf(entry);
    if (origin !== undefined) return [origin];
    // A bundle id looks like a host: it stays what it is as well.
    const host = HOST.test(entry) ? originOf(withScheme(entry)) : undefined;
    return host === undefined ? [entry] : [entry, host];
  });
}

function stringList(value: unknown, path: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw invalid(path, 'must be a list of strings.');
  }
  return Object.freeze([...(value as string[])]);
}

function permissionsOf(
  value: unknown,
  path: string,
): Readonly<Record<string, PermissionSetting>> | undefined {
  if (value === undefined) return undefined;
  const entries = Object.entries(checkObject(value, path)).map(
    ([name, setting]) =>
      [name, oneOf(setting, keyPath(path, name), ['grant', 'deny', 'reset'])] as const,
  );
  return Object.freeze(Object.fromEntries(entries));
}
