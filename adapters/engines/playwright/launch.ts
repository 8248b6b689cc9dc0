// The peer package and the browser: loaded at init and never before, so that the engine can be
// described on a machine that has neither. Playwright's own signal handlers stay off, because they
// end the host's process; the browser ends with ours all the same, as it is driven over a pipe that
// closes with us.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { kill, platform } from 'node:process';
import type { Browser, BrowserType } from 'playwright-core';
import {
  ConfigurationError,
  EngineError,
  race,
  type EngineCleanupContext,
} from '../../../core/contract.ts';
import type { Settings } from './options.ts';

const INSTALL = 'npm install --save-dev playwright-core@1.65.1';
/** The range of package.json's peerDependencies. */
const OLDEST_MINOR = 58;

const SYSTEM_BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

export interface RunningBrowser {
  readonly browser: Browser;
  /** Such as `Chromium 156.0`. */
  readonly title: string;
  /** Version of playwright-core. */
  readonly playwright: string;
  /** Closes the browser; ends its process when that takes longer than the context allows. */
  close(context: EngineCleanupContext): Promise<void>;
}

interface Peer {
  readonly chromium: BrowserType;
  readonly version: string;
}

/** Rejects with `INVALID_CONFIG` when playwright-core is missing or of a wrong version. */
export async function checkPeer(): Promise<void> {
  await loadPeer();
}

async function loadPeer(): Promise<Peer> {
  let version: string;
  let chromium: BrowserType;
  try {
    const require = createRequire(import.meta.url);
    ({ version } = require('playwright-core/package.json') as { readonly version: string });
    ({ chromium } = await import('playwright-core'));
  } catch (error) {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `The playwright engine needs the package playwright-core, which cannot be loaded: ${INSTALL}`,
      { cause: error },
    );
  }
  const [major, minor] = version.split('.').map(Number);
  if (major !== 1 || (minor ?? 0) < OLDEST_MINOR) {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `The playwright engine needs playwright-core >=1.${OLDEST_MINOR} <2 and found ${version}: ${INSTALL}`,
    );
  }
  return { chromium, version };
}

export interface LaunchOptions {
  readonly settings: Settings;
  readonly headed: boolean;
  readonly signal: AbortSignal;
}

/** Starts a browser. When `signal` aborts, one that still comes up is closed again. */
export async function launch({ settings, headed, signal }: LaunchOptions): Promise<RunningBrowser> {
  signal.throwIfAborted();
  const { chromium, version } = await race(loadPeer(), signal);
  const starting = chromium.launch({
    ...chooseBrowser(settings, chromium),
    headless: !headed,
    chromiumSandbox: settings.sandbox,
    args: [...settings.args],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: 0,
  });
  let browser: Browser;
  try {
    browser = await race(starting, signal);
  } catch (error) {
    if (signal.aborted) {
      starting.then(
        (late) => late.close(),
        () => undefined,
      );
      throw error;
    }
    throw launchError(error);
  }
  const pid = await race(
    processOf(browser).catch(() => undefined),
    signal,
  ).catch(async (error: unknown) => {
    await browser.close();
    throw error;
  });
  return {
    browser,
    title: `Chromium ${browser.version()}`,
    playwright: version,
    async close(context) {
      try {
        await race(browser.close(), context.signal);
      } catch (error) {
        if (pid === undefined || !browser.isConnected()) throw error;
        kill(pid, 'SIGKILL');
      }
    },
  };
}

function chooseBrowser(
  settings: Settings,
  chromium: BrowserType,
): { executablePath: string } | { channel: string } {
  const { executablePath, channel } = settings;
  if (channel !== undefined) return { channel };
  if (executablePath !== undefined) {
    if (existsSync(executablePath)) return { executablePath };
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `Playwright option "executablePath": there is no file ${JSON.stringify(executablePath)}.`,
    );
  }
  const known = [chromium.executablePath(), ...SYSTEM_BROWSERS];
  const found = known.find((path) => path !== '' && existsSync(path));
  if (found !== undefined) return { executablePath: found };
  // Elsewhere Chrome has no fixed place; Playwright knows where to look for it.
  if (platform !== 'linux') return { channel: 'chrome' };
  throw new ConfigurationError(
    'INVALID_CONFIG',
    'The playwright engine found no browser: run `npx playwright-core install chromium`, install Chromium with the system, or name one with the option "executablePath".',
  );
}

function launchError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  if (/no-sandbox|sandbox is not|No usable sandbox/iu.test(message)) {
    return new ConfigurationError(
      'INVALID_CONFIG',
      'Chromium cannot start with its sandbox here (as root it never can): give the playwright engine the option sandbox: false if you trust the pages it opens.',
      { cause: error },
    );
  }
  const [line = message] = message.split('\n');
  return new EngineError('ENGINE_FAILURE', `The browser does not start: ${line}`, { cause: error });
}

/** The browser's process id, to end it when it does not close. */
async function processOf(browser: Browser): Promise<number | undefined> {
  const session = await browser.newBrowserCDPSession();
  try {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    return processInfo.find(({ type }) => type === 'browser')?.id;
  } finally {
    await session.detach().catch(() => undefined);
  }
}
