// What an attempt sees: one browser context, the pages that it shows, and everything that happens on
// them by itself. A dialog is answered at once by policy, so that it never blocks; a page that the
// app opens becomes the one that is seen, until it closes; what happens is reported as it happens.
import type { Browser, BrowserContext, Dialog, Page } from 'playwright-core';
import {
  ConfigurationError,
  cutEnd,
  EngineError,
  InfrastructureError,
  type AppLogLevel,
  type EngineAttemptContext,
  type PermissionSetting,
} from '../../../core/contract.ts';
import { isClosed, type Operation, type Operations } from './operation.ts';
import type { Settings } from './options.ts';

export interface SurfaceOptions {
  readonly browser: Browser;
  readonly settings: Settings;
  readonly attempt: EngineAttemptContext;
  readonly operations: Operations;
  readonly permissions: Readonly<Record<string, PermissionSetting>>;
}

/** What `BrowserContext.storageState` answers, as JSON. */
export type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

const OBSERVED_TEXT_LIMIT = 2000;
/** Longest wait for a page's own `load` once its document is there, ms. */
const LOAD_WAIT = 5000;

export class Surface {
  readonly attempt: EngineAttemptContext;
  readonly #options: SurfaceOptions;
  #context: BrowserContext | undefined;
  /** The last one is shown. */
  #pages: Page[] = [];
  #making = false;
  #opened = false;
  #ended = false;

  constructor(options: SurfaceOptions) {
    this.#options = options;
    this.attempt = options.attempt;
  }

  /** The page that is shown; before the first `open` a blank one. */
  shown(): Page {
    const page = this.#pages.at(-1);
    if (page === undefined) throw new EngineError('INVALID_STATE', 'No page is there to be seen.');
    return page;
  }

  /** The page to act on. `INVALID_STATE` before the first `open`. */
  page(): Page {
    if (!this.#opened) {
      throw new EngineError('INVALID_STATE', 'No page is open: session.open comes first.');
    }
    return this.shown();
  }

  /** A fresh context with a blank page, in place of the last one. */
  async start(storageState?: StorageState): Promise<void> {
    const { browser, settings, permissions } = this.#options;
    await this.#drop();
    const context = await browser.newContext({
      viewport: { ...settings.viewport },
      deviceScaleFactor: settings.scale,
      ignoreHTTPSErrors: settings.ignoreHttpsErrors,
      ...(settings.locale === undefined ? {} : { locale: settings.locale }),
      ...(settings.timezone === undefined ? {} : { timezoneId: settings.timezone }),
      ...(storageState === undefined ? {} : { storageState }),
    });
    if (this.#ended) {
      await context.close();
      return;
    }
    this.#context = context;
    context.on('page', (page) => {
      if (!this.#making) this.#follow(page);
    });
    const granted = Object.keys(permissions).filter((name) => permissions[name] === 'grant');
    if (granted.length > 0) {
      await context.grantPermissions(granted).catch((error: unknown) => {
        if (isClosed(error)) throw error;
        throw new ConfigurationError(
          'INVALID_CONFIG',
          `app.permissions: Chromium cannot grant ${granted.join(', ')}: ${error instanceof Error ? error.message : ''}`,
          { cause: error },
        );
      });
    }
    await this.#blank(context);
  }

  /** Closes all pages but for a fresh blank one; what the context stores stays. */
  async restart(): Promise<void> {
    const context = this.context();
    const old = this.#pages;
    this.#pages = [];
    await this.#blank(context);
    await Promise.all(old.map((page) => page.close().catch(() => undefined)));
  }

  context(): BrowserContext {
    if (this.#context === undefined) {
      throw new EngineError('INVALID_STATE', 'No attempt is running: startAttempt comes first.');
    }
    return this.#context;
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#drop();
  }

  async #drop(): Promise<void> {
    const context = this.#context;
    this.#context = undefined;
    this.#pages = [];
    await context?.close().catch((error: unknown) => {
      if (!isClosed(error)) throw error;
    });
  }

  async #blank(context: BrowserContext): Promise<void> {
    this.#making = true;
    try {
      this.#add(await context.newPage());
    } finally {
      this.#making = false;
    }
  }

  #follow(page: Page): void {
    this.#add(page);
    this.#report(`a new page opened and is shown now: ${page.url()}`);
  }

  #add(page: Page): void {
    const mine = (): boolean => !this.#ended && this.#pages.includes(page);
    this.#pages.push(page);
    page.on('dialog', (dialog) => {
      void this.#answer(dialog);
    });
    page.on('framenavigated', (frame) => {
      if (mine() && frame === page.mainFrame() && frame.url() !== 'about:blank') {
        this.#report(frame.url());
      }
    });
    page.on('console', (message) => {
      const level = LEVELS[message.type()] ?? 'info';
      if (mine()) this.#log(level, message.text(), 'console');
    });
    page.on('pageerror', (error) => {
      if (mine()) this.#log('error', error.message, 'page');
    });
    page.on('download', (download) => {
      if (mine()) this.#log('info', `download: ${download.suggestedFilename()}`, 'browser');
    });
    page.on('crash', () => {
      if (!mine()) return;
      this.#options.operations.fail(
        new EngineError('ENGINE_FAILURE', 'The page crashed: the browser ended its process.'),
      );
    });
    page.on('close', () => {
      if (!mine()) return;
      this.#pages = this.#pages.filter((other) => other !== page);
      const back = this.#pages.at(-1);
      if (back === undefined) this.#reopen();
      else this.#report(`the page closed; shown again: ${back.url()}`);
    });
  }

  /** The app closed its last page: an empty one stands in, so that the surface lives on. */
  #reopen(): void {
    this.#report('the last page closed');
    const context = this.#context;
    if (context === undefined || !this.#options.browser.isConnected()) return;
    this.#blank(context).catch(() => undefined);
  }

  async #answer(dialog: Dialog): Promise<void> {
    const type = dialog.type();
    const accept = type === 'beforeunload' || this.#options.settings.dialogs === 'accept';
    try {
      await (accept ? dialog.accept() : dialog.dismiss());
    } catch {
      // Gone with its page.
      return;
    }
    const text = type === 'beforeunload' ? '' : ` ${JSON.stringify(cutEnd(dialog.message(), 500))}`;
    this.#log(
      'warning',
      `${type} dialog${text} was ${accept ? 'accepted' : 'dismissed'}`,
      'dialog',
    );
  }

  #report(line: string): void {
    if (!this.#ended) this.attempt.navigation(cutEnd(line, OBSERVED_TEXT_LIMIT));
  }
  #log(level: AppLogLevel, text: string, source: string): void {
    if (this.#ended) return;
    this.attempt.appLog({
      level,
      text: cutEnd(text, OBSERVED_TEXT_LIMIT),
      at: new Date().toISOString(),
      source,
    });
  }

  /** Goes to an address. `APP_UNREACHABLE` when nothing answers there. */
  async open(operation: Operation, url: string): Promise<void> {
    const page = this.shown();
    try {
      await operation.wait(page.goto(url, { waitUntil: 'domcontentloaded', timeout: 0 }));
    } catch (error) {
      if (!isSuperseded(error, page, url)) throw unreachable(error, url);
    }
    this.#opened = true;
    await this.settle(operation, page);
  }

  /** One page back; on a page that the app opened and that has no history, closes that page. */
  async back(operation: Operation): Promise<void> {
    const page = this.page();
    if (await operation.wait(hasHistory(page))) {
      operation.commit();
      await operation.wait(page.goBack({ waitUntil: 'commit', timeout: 0 }));
      await this.settle(operation, page);
    } else if (this.#pages.length > 1) {
      operation.commit();
      await operation.wait(page.close());
    }
  }

  /** Waits a bounded while for what a page still loads. */
  async settle(operation: Operation, page: Page): Promise<void> {
    const timeout = Math.max(1, Math.min(LOAD_WAIT, operation.remaining() / 2));
    try {
      await operation.wait(page.waitForLoadState('load', { timeout }));
    } catch (error) {
      // A page that never finishes loading can be used all the same.
      if (operation.signal.aborted) throw error;
    }
  }
}

const LEVELS: Readonly<Record<string, AppLogLevel>> = {
  debug: 'debug',
  error: 'error',
  assert: 'error',
  warning: 'warning',
};

/** Whether there is a page before this one, leaving out the blank one that every tab starts with. */
async function hasHistory(page: Page): Promise<boolean> {
  const session = await page.context().newCDPSession(page);
  try {
    const { currentIndex, entries } = await session.send('Page.getNavigationHistory');
    const before = entries[currentIndex - 1];
    return before !== undefined && (currentIndex > 1 || before.url !== 'about:blank');
  } finally {
    await session.detach().catch(() => undefined);
  }
}

/** The page itself went elsewhere before this address had loaded: that is where it is now. */
function isSuperseded(error: unknown, page: Page, url: string): boolean {
  if (!(error instanceof Error) || page.isClosed()) return false;
  return (
    /interrupted by another navigation/u.test(error.message) ||
    (/net::ERR_ABORTED/u.test(error.message) && page.url() !== 'about:blank' && page.url() !== url)
  );
}

/** Chromium's names of what Node knows by another. */
const ERRNO: Readonly<Record<string, string>> = {
  ERR_CONNECTION_REFUSED: 'ECONNREFUSED',
  ERR_CONNECTION_RESET: 'ECONNRESET',
  ERR_CONNECTION_CLOSED: 'ECONNRESET',
  ERR_EMPTY_RESPONSE: 'ECONNRESET',
  ERR_CONNECTION_TIMED_OUT: 'ETIMEDOUT',
  ERR_TIMED_OUT: 'ETIMEDOUT',
  ERR_NAME_NOT_RESOLVED: 'ENOTFOUND',
  ERR_ADDRESS_UNREACHABLE: 'EHOSTUNREACH',
  ERR_INTERNET_DISCONNECTED: 'ENETUNREACH',
};

function unreachable(error: unknown, url: string): unknown {
  const message = error instanceof Error ? error.message : '';
  const net = /net::(ERR_[A-Z_]+)/u.exec(message)?.[1];
  if (/Download is starting/u.test(message)) {
    return new EngineError('NOT_ACTIONABLE', `${shown(url)} is a download, not a page.`, {
      cause: error,
    });
  }
  if (/Cannot navigate to invalid URL/u.test(message)) {
    return new EngineError('NOT_ACTIONABLE', `${shown(url)} is no address that can be opened.`, {
      cause: error,
    });
  }
  if (net === undefined) return error;
  const cause = Object.assign(new Error(`net::${net}`, { cause: error }), {
    code: ERRNO[net] ?? net,
  });
  return new InfrastructureError('APP_UNREACHABLE', `${shown(url)} cannot be reached: ${net}.`, {
    cause,
  });
}

/** An address without its query, which may carry a token. */
function shown(url: string): string {
  return JSON.stringify(cutEnd(url.replace(/[?#].*$/su, ''), 200));
}
