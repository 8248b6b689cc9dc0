// What the protocol's engine tests share: an engine that records its calls, the contexts a harness
// would hand it, a raw end of a connection that writes and reads packets by hand (so that a mistake
// of our framing cannot hide one of our messages), and a server made of a script.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEngine } from '../../core/contract/define.ts';
import type {
  Engine,
  EngineAttemptContext,
  EngineHandle,
  EngineInitInfo,
  EnginePrepareInfo,
  OperationContext,
} from '../../core/contract/engine.ts';
import type { EngineSnapshot } from '../../core/contract/observation.ts';
import { memoryStreams } from '../../core/protocol/transports/memory.ts';
import type {
  EngineTransport,
  MessageStreams,
  TransportContext,
} from '../../core/protocol/transports/types.ts';

export type Json = Record<string, unknown>;

/** The least that has a PNG's signature and header. */
export function tinyPng(width: number, height: number): Uint8Array {
  const bytes = new Uint8Array(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}

export function snapshot(extra: Partial<EngineSnapshot> = {}): EngineSnapshot {
  return {
    root: {
      ref: { id: 'root', revision: '' },
      children: [{ ref: { id: 'pay', revision: '' }, role: 'button', name: 'Pay' }],
    },
    viewport: { width: 320, height: 240, scale: 1 },
    ...extra,
  };
}

export interface Call {
  readonly member: string;
  readonly args: readonly unknown[];
}

export interface SampleEngine {
  readonly handle: EngineHandle;
  readonly calls: Call[];
  /** The names of the members called, in order. */
  readonly names: () => string[];
}

/** An engine with every member; `extra` replaces members (undefined removes one). */
export function sampleEngine(
  extra: { readonly [Member in keyof Engine]?: Engine[Member] | undefined } = {},
): SampleEngine {
  const calls: Call[] = [];
  const record =
    (member: string, answer?: unknown) =>
    async (...args: unknown[]): Promise<never> => {
      calls.push({ member, args });
      return answer as never;
    };
  const body: Record<string, unknown> = {
    name: 'sample',
    version: '1.0.0',
    spiVersion: 1,
    platform: 'test',
    observe: record('observe', snapshot()),
    locate: record('locate', [{ ref: { id: 'pay', revision: '' }, role: 'button' }]),
    perform: record('perform'),
    actions: ['tap', 'fill', 'setInputFiles'],
    performAt: record('performAt'),
    pointerActions: ['tap'],
    tapModifiers: true,
    keyboard: {
      type: record('keyboard.type'),
      press: record('keyboard.press'),
      dismiss: record('keyboard.dismiss'),
    },
    state: {
      capture: record('state.capture', { format: 'x', version: 1, data: { a: [1] } }),
      restore: record('state.restore'),
    },
    artifacts: {
      screenshot: record('artifacts.screenshot', 'screenshots/a.png'),
      startVideo: record('artifacts.startVideo'),
      stopVideo: record('artifacts.stopVideo', [
        { url: 'http://127.0.0.1/v', mediaType: 'video/webm', startedAt: '2026-01-01T00:00:00Z' },
      ]),
    },
    session: {
      open: record('session.open'),
      back: record('session.back'),
      restart: record('session.restart'),
      reset: record('session.reset'),
    },
    prepare: record('prepare', { workers: 1, env: { A: '1' } }),
    finish: record('finish'),
    init: record('init'),
    dispose: record('dispose'),
    startAttempt: record('startAttempt'),
    settleAttempt: record('settleAttempt'),
    endAttempt: record('endAttempt'),
    ...extra,
  };
  for (const key of Object.keys(body)) if (body[key] === undefined) delete body[key];
  const handle = defineEngine(body as unknown as Engine);
  return { handle, calls, names: () => calls.map(({ member }) => member) };
}

const LIVE = new AbortController().signal;

export function initInfo(extra: Partial<EngineInitInfo> = {}): EngineInitInfo {
  return {
    runId: 'run-1',
    targetName: 'target',
    projectRoot: process.cwd(),
    app: { site: 'example.org' },
    env: { COLOR: 'red', NOTHING: undefined },
    headed: false,
    workerSlot: 0,
    signal: LIVE,
    log: () => undefined,
    ...extra,
  };
}

export function prepareInfo(extra: Partial<EnginePrepareInfo> = {}): EnginePrepareInfo {
  const { runId, targetName, projectRoot, app, env, signal, log } = initInfo();
  return { runId, targetName, projectRoot, app, env, signal, log, slots: 1, ...extra };
}

export function attemptContext(extra: Partial<EngineAttemptContext> = {}): EngineAttemptContext {
  return {
    attemptId: 'attempt-1',
    artifactsDir: tmpdir(),
    signal: LIVE,
    screens: true,
    resolveSecret: () => Promise.reject(new Error('no secrets here')),
    appLog: () => undefined,
    navigation: () => undefined,
    environment: () => undefined,
    screen: () => undefined,
    ...extra,
  };
}

export function operation(extra: Partial<OperationContext> = {}): OperationContext {
  return {
    signal: LIVE,
    timeoutMs: 5000,
    runId: 'run-1',
    attemptId: 'attempt-1',
    origin: 'test',
    ...extra,
  };
}

export function cleanup(timeoutMs = 5000): { signal: AbortSignal; timeoutMs: number } {
  return { signal: LIVE, timeoutMs };
}

/** A folder that is removed by `remove`. */
export function tempFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'enginewright-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Resolves when `condition` holds; fails with the test's own time limit, not one of its own. */
export async function until(condition: () => boolean, signal: AbortSignal): Promise<void> {
  while (!condition()) {
    signal.throwIfAborted();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** One end of a connection, by hand. */
export interface RawEnd {
  send(message: unknown): void;
  /** Bytes as they are. */
  write(text: string): void;
  /** The next message, in the order of arrival; rejects when the streams end first. */
  receive(): Promise<Json>;
  /** Sends a request and waits for its answer, which must come next. */
  ask(method: string, params?: unknown): Promise<Json>;
  end(): void;
  readonly ended: Promise<void>;
}

export function rawEnd(streams: MessageStreams): RawEnd {
  let text = Buffer.alloc(0);
  let nextId = 1;
  const messages: Json[] = [];
  const waiting: { resolve: (message: Json) => void; reject: (error: Error) => void }[] = [];
  let over = false;
  let sayEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    sayEnded = resolve;
  });
  streams.input.on('data', (chunk: Buffer) => {
    text = Buffer.concat([text, chunk]);
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/Content-Length: (\d+)/u.exec(text.toString('latin1', 0, end))?.[1]);
      if (text.length < end + 4 + length) return;
      const body = text.subarray(end + 4, end + 4 + length).toString('utf8');
      text = text.subarray(end + 4 + length);
      const message = JSON.parse(body) as Json;
      const next = waiting.shift();
      if (next === undefined) messages.push(message);
      else next.resolve(message);
    }
  });
  const finish = (): void => {
    over = true;
    sayEnded();
    for (const { reject } of waiting.splice(0)) reject(new Error('the connection ended'));
  };
  streams.input.on('end', finish);
  streams.input.on('close', finish);
  streams.input.on('error', () => undefined);
  streams.output.on('error', () => undefined);
  const end: RawEnd = {
    send(message) {
      const body = JSON.stringify(message);
      end.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    },
    write(bytes) {
      streams.output.write(bytes);
    },
    receive() {
      const message = messages.shift();
      if (message !== undefined) return Promise.resolve(message);
      if (over) return Promise.reject(new Error('the connection ended'));
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    async ask(method, params) {
      const id = nextId++;
      end.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
      const answer = await end.receive();
      if (answer['id'] !== id) throw new Error(`not the answer: ${JSON.stringify(answer)}`);
      return answer;
    },
    end() {
      streams.output.end();
    },
    ended,
  };
  return end;
}

export interface ScriptedServer {
  readonly transport: EngineTransport;
  /** Every message that the client sent, over all connections. */
  readonly received: Json[];
  readonly contexts: TransportContext[];
  /** How often a connection was closed. */
  readonly closed: () => number;
  /** The raw end of the newest connection. */
  readonly end: () => RawEnd;
}

export type Script = (message: Json, end: RawEnd) => void;

/** A transport whose server is `script`; it is called for each message from the client. */
export function scriptedServer(script: Script, diagnostics?: () => string): ScriptedServer {
  const received: Json[] = [];
  const contexts: TransportContext[] = [];
  let closed = 0;
  let current: RawEnd | undefined;
  return {
    received,
    contexts,
    closed: () => closed,
    end() {
      if (current === undefined) throw new Error('no connection was opened');
      return current;
    },
    transport: {
      label: 'scripted',
      async open(context) {
        contexts.push(context);
        const [client, server] = memoryStreams();
        const end = rawEnd(server);
        current = end;
        void (async () => {
          for (;;) {
            const message = await end.receive();
            received.push(message);
            script(message, end);
          }
        })().catch(() => undefined);
        return {
          ...client,
          async close() {
            closed += 1;
            for (const stream of [client.input, client.output, server.input, server.output]) {
              stream.destroy();
            }
          },
          ...(diagnostics && { diagnostics }),
        };
      },
    },
  };
}

/** Answers `initialize` with the manifest and everything else through `answers`, `null` by default. */
export function polite(
  manifest: unknown,
  answers: Readonly<Record<string, Script | undefined>> = {},
): Script {
  return (message, end) => {
    const { id, method } = message;
    if (id === undefined || typeof method !== 'string') return;
    const script = answers[method];
    if (script !== undefined) script(message, end);
    else if (method === 'initialize') {
      end.send({ jsonrpc: '2.0', id, result: { protocolVersion: 1, manifest } });
    } else end.send({ jsonrpc: '2.0', id, result: null });
  };
}
