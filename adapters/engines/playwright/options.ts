// The options of the Playwright engine and their checks. All of them are plain JSON, because they may
// come over the wire from the client of a served engine.
import { ConfigurationError, isPlainObject, rejectUnknownKeys } from '../../../core/contract.ts';

export interface PlaywrightOptions {
  /** A Chromium to run. Default: Playwright's own when it is installed, else one of the system. */
  readonly executablePath?: string;
  /** A browser that Playwright finds by itself, such as `chrome` or `msedge`. */
  readonly channel?: string;
  /** More command line flags of the browser. */
  readonly args?: readonly string[];
  /** Chromium's own sandbox. As root Chromium starts only without it. Default true. */
  readonly sandbox?: boolean;
  /** CSS pixels. Default 1280 x 720. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Device pixels per CSS pixel. Default 1. */
  readonly scale?: number;
  /** Such as `de-AT`. Default: the browser's. */
  readonly locale?: string;
  /** Such as `Europe/Vienna`. Default: the machine's. */
  readonly timezone?: string;
  /** Opens pages whose certificate does not hold. Default false. */
  readonly ignoreHttpsErrors?: boolean;
  /** How dialogs of the page (alert, confirm, prompt) are answered. Default `dismiss`. */
  readonly dialogs?: 'dismiss' | 'accept';
  /** Default `data-testid`. */
  readonly testIdAttribute?: string;
  /** Nodes of a snapshot beyond which only what is near the viewport is told. Default 4000. */
  readonly maxNodes?: number;
}

/** The options with their defaults. */
export interface Settings {
  readonly executablePath?: string;
  readonly channel?: string;
  readonly args: readonly string[];
  readonly sandbox: boolean;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly scale: number;
  readonly locale?: string;
  readonly timezone?: string;
  readonly ignoreHttpsErrors: boolean;
  readonly dialogs: 'dismiss' | 'accept';
  readonly testIdAttribute: string;
  readonly maxNodes: number;
}

type Rule = readonly [test: (value: unknown) => boolean, expected: string];
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const text = (what: string): Rule => [isText, what];
const flag: Rule = [(value) => typeof value === 'boolean', 'true or false'];

const RULES: Readonly<Record<keyof PlaywrightOptions, Rule>> = {
  executablePath: text('the path of a browser'),
  channel: text('the name of a browser channel'),
  args: [(value) => Array.isArray(value) && value.every(isText), 'a list of flags'],
  sandbox: flag,
  viewport: [
    (value) =>
      isPlainObject(value) &&
      Object.keys(value).length === 2 &&
      isCount(value['width']) &&
      isCount(value['height']),
    '{ width, height } in whole CSS pixels',
  ],
  scale: [
    (value) => typeof value === 'number' && value > 0 && value <= 8,
    'a number above 0, at most 8',
  ],
  locale: text('a language tag such as "en-GB"'),
  timezone: text('a time zone such as "Europe/Vienna"'),
  ignoreHttpsErrors: flag,
  dialogs: [(value) => value === 'dismiss' || value === 'accept', '"dismiss" or "accept"'],
  testIdAttribute: [
    (value) => typeof value === 'string' && /^[a-z][\w.-]*$/iu.test(value),
    'the name of an attribute',
  ],
  maxNodes: [isCount, 'a whole number, 1 or more'],
};

/** Throws `INVALID_CONFIG`, naming the option and, for an unknown one, the nearest known. */
export function readOptions(options: PlaywrightOptions): Settings {
  const given: unknown = options;
  if (!isPlainObject(given)) {
    throw new ConfigurationError('INVALID_CONFIG', 'Playwright options must be an object.');
  }
  rejectUnknownKeys('Playwright options', given, Object.keys(RULES));
  for (const [key, [test, expected]] of Object.entries(RULES)) {
    const value = given[key];
    if (value !== undefined && !test(value)) {
      throw new ConfigurationError(
        'INVALID_CONFIG',
        `Playwright option ${JSON.stringify(key)} must be ${expected}.`,
      );
    }
  }
  if (options.executablePath !== undefined && options.channel !== undefined) {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      'Playwright options "executablePath" and "channel" both name a browser: give one of them.',
    );
  }
  const { executablePath, channel, locale, timezone } = options;
  return {
    ...(executablePath === undefined ? {} : { executablePath }),
    ...(channel === undefined ? {} : { channel }),
    ...(locale === undefined ? {} : { locale }),
    ...(timezone === undefined ? {} : { timezone }),
    args: options.args ?? [],
    sandbox: options.sandbox ?? true,
    viewport: options.viewport ?? { width: 1280, height: 720 },
    scale: options.scale ?? 1,
    ignoreHttpsErrors: options.ignoreHttpsErrors ?? false,
    dialogs: options.dialogs ?? 'dismiss',
    testIdAttribute: options.testIdAttribute ?? 'data-testid',
    maxNodes: options.maxNodes ?? 4000,
  };
}
