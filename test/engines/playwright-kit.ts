// What the Playwright tests share: a Chromium, a local server whose pages a test writes as it goes, and
// one attempt on one engine per file. Actions are looked up by what a person sees, as a harness does.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { playwright, type PlaywrightOptions } from '../../adapters/engines/playwright/index.ts';
import {
  resolveExpression,
  type AppLogEntry,
  type EngineAppInfo,
  type EngineHandle,
  type EngineSnapshot,
  type LocatorAction,
  type LocatorExpression,
  type OperationContext,
  type SemanticNode,
} from '../../core/contract.ts';
import { skipFile } from '../harness.ts';
import { findChromium } from '../support/chromium.ts';

/** Skips the file where there is no browser to run. */
export function chromiumPath(): string {
  return (
    findChromium() ?? skipFile('there is no Chromium here; ENGINEWRIGHT_CHROMIUM can name one')
  );
}

type Handler = (response: ServerResponse, url: URL) => void;

/** A server on loopback; `page` puts HTML at a path and answers its address. */
class Pages {
  readonly #server: Server;
  readonly #handlers = new Map<string, Handler>();
  #made = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const handler = this.#handlers.get(url.pathname);
      if (handler !== undefined) handler(response, url);
      else response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
    });
  }
  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  /** The same server under another site's name. */
  get otherOrigin(): string {
    return this.origin.replace('127.0.0.1', 'localhost');
  }
  on(path: string, handler: Handler): string {
    this.#handlers.set(path, handler);
    return this.origin + path;
  }
  page(body: string, options: { readonly path?: string; readonly headers?: object } = {}): string {
    this.#made += 1;
    const path = options.path ?? `/page-${this.#made}`;
    return this.on(path, (response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...options.headers });
      response.end(`<!doctype html><html lang="en"><title>Test</title><body>${body}`);
    });
  }
}

export interface Reports {
  readonly navigations: string[];
  readonly logs: AppLogEntry[];
  readonly facts: Record<string, string>[];
}

/** One engine with one attempt. */
export class Stage {
  readonly pages = new Pages();
  readonly engine: EngineHandle;
  readonly reports: Reports = { navigations: [], logs: [], facts: [] };
  artifactsDir = '';
  #controller = new AbortController();

  constructor(options: PlaywrightOptions = {}) {
    this.engine = playwright({ executablePath: chromiumPath(), sandbox: false, ...options });
  }

  async start(): Promise<void> {
    await this.pages.start();
    this.artifactsDir = await mkdtemp(join(tmpdir(), 'enginewright-test-'));
    await this.init();
    await this.startAttempt();
  }
  async stop(): Promise<void> {
    const cleanup = { signal: AbortSignal.timeout(10_000), timeoutMs: 10_000 };
    await this.engine.endAttempt?.(cleanup);
    await this.engine.dispose?.(cleanup);
    await this.pages.stop();
    await rm(this.artifactsDir, { recursive: true, force: true });
  }
  async init(app: EngineAppInfo = {}): Promise<void> {
    await this.engine.init?.({
      runId: 'run',
      targetName: 'web',
      projectRoot: this.artifactsDir,
      app,
      env: {},
      headed: false,
      workerSlot: 0,
      signal: AbortSignal.timeout(30_000),
      log: () => undefined,
    });
  }
  async startAttempt(screen?: (snapshot: EngineSnapshot) => void): Promise<void> {
    const { navigations, logs, facts } = this.reports;
    await this.engine.startAttempt?.({
      attemptId: 'attempt',
      artifactsDir: this.artifactsDir,
      signal: this.#controller.signal,
      screens: screen !== undefined,
      resolveSecret: () => Promise.reject(new Error('no secrets here')),
      appLog: (entry) => logs.push(entry),
      navigation: (line) => navigations.push(line),
      environment: (entry) => facts.push({ ...entry }),
      screen: screen ?? (() => undefined),
    });
  }

  context(timeoutMs = 8000, signal: AbortSignal = new AbortController().signal): OperationContext {
    return { signal, timeoutMs, runId: 'run', attemptId: 'attempt', origin: 'test' };
  }
  async open(url: string): Promise<void> {
    await this.engine.session?.open?.(url, this.context());
  }
  /** Puts up a page with this body. */
  async show(body: string): Promise<void> {
    await this.open(this.pages.page(body));
  }
  async observe(): Promise<EngineSnapshot> {
    return (await this.engine.observe?.(this.context())) as EngineSnapshot;
  }
  /** The tree as short lines: role, quoted name, and what else was asked for. */
  async lines(): Promise<string[]> {
    return [...eachNode((await this.observe()).root)].slice(1).map(lineOf);
  }
  async find(what: string | LocatorExpression): Promise<SemanticNode> {
    const { root } = await this.observe();
    const found = resolveExpression(typeof what === 'string' ? parse(what) : what, [root]);
    const [node] = found;
    if (node === undefined || found.length > 1) {
      const lines = [...eachNode(root)].map(lineOf).join('\n');
      throw new Error(`${JSON.stringify(what)} matches ${found.length} nodes of\n${lines}`);
    }
    return node;
  }
  async act(what: string, action: LocatorAction): Promise<void> {
    await this.engine.perform?.((await this.find(what)).ref, action, this.context());
  }
  tap(what: string): Promise<void> {
    return this.act(what, { kind: 'tap' });
  }
  /** The text of the first node whose role is `status`, which test pages write effects into. */
  async status(): Promise<string> {
    const { text, name } = await this.find('status');
    return text ?? name ?? '';
  }
  /** Observes until the screen fits. */
  async until(fits: (snapshot: EngineSnapshot) => boolean): Promise<EngineSnapshot> {
    for (;;) {
      const snapshot = await this.observe();
      if (fits(snapshot)) return snapshot;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** `button "Pay"`, `button`, or `"some text"`. */
function parse(what: string): LocatorExpression {
  const found = /^([\w-]*)\s*(?:"(.*)")?$/su.exec(what);
  const exact = (value: string) => ({ kind: 'string', value, exact: true }) as const;
  const [, role = '', name] = found ?? [];
  if (role === '') {
    return { kind: 'query', query: { kind: 'text', value: exact(name ?? '') } };
  }
  return {
    kind: 'query',
    query: {
      kind: 'role',
      value: exact(role),
      ...(name === undefined ? {} : { name: exact(name) }),
    },
  };
}

export function* eachNode(node: SemanticNode): Generator<SemanticNode> {
  yield node;
  for (const child of node.children ?? []) yield* eachNode(child);
}

export function lineOf(node: SemanticNode): string {
  const parts = [node.role ?? '-'];
  if (node.name !== undefined) parts.push(JSON.stringify(node.name));
  if (node.text !== undefined) parts.push(`text=${JSON.stringify(node.text)}`);
  if (node.value !== undefined) parts.push(`value=${JSON.stringify(node.value)}`);
  for (const [state, on] of Object.entries(node.states ?? {})) parts.push(on ? state : `!${state}`);
  return parts.join(' ');
}

/** Whether an error is an EngineError with this code. */
export const withCode =
  (code: string, text?: RegExp) => (error: { code?: string; message: string }) => {
    if (error.code !== code)
      throw new Error(`expected ${code}, got ${error.code}: ${error.message}`);
    if (text !== undefined && !text.test(error.message)) {
      throw new Error(`expected ${text}, got: ${error.message}`);
    }
  };
