// What the tests of listeners share: an engine that counts itself, a listener that is closed with its
// test, and clients of every kind: ours, and raw ones that misbehave.
import { connect, type Socket } from 'node:net';
import { defineEngine } from '../../core/contract/define.ts';
import type { Engine, EngineHandle } from '../../core/contract/engine.ts';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import { describeEngine } from '../../core/protocol/manifest.ts';
import { listenEngine, type EngineListener } from '../../core/protocol/server/listen.ts';
import type { ListenEngineOptions } from '../../core/protocol/server/listen-options.ts';
import { socketTransport } from '../../core/protocol/transports/socket.ts';
import type { EngineTransport } from '../../core/protocol/transports/types.ts';
import {
  attemptContext,
  initInfo,
  rawEnd,
  snapshot,
  until,
  type Json,
  type RawEnd,
} from './engine-support.ts';

/** What the engines of a listener went through, all together. */
export interface Counts {
  made: number;
  initialised: number;
  disposed: number;
  attempts: number;
  endedAttempts: number;
  /** Calls of `perform` that hang until their signal aborts. */
  hanging: number;
  /** The options that the factory got, in order. */
  readonly options: unknown[];
}

export function counts(): Counts {
  return {
    made: 0,
    initialised: 0,
    disposed: 0,
    attempts: 0,
    endedAttempts: 0,
    hanging: 0,
    options: [],
  };
}

/** An engine whose `perform` hangs until it is aborted. */
export function countedEngine(seen: Counts, extra: Partial<Engine> = {}): EngineHandle {
  return defineEngine({
    name: 'counted',
    version: '1.0.0',
    spiVersion: 1,
    observe: async () => snapshot(),
    actions: ['tap'],
    perform: (_ref, _action, { signal }) =>
      new Promise((_, reject) => {
        seen.hanging += 1;
        const end = (): void => {
          seen.hanging -= 1;
          reject(signal.reason as Error);
        };
        // A connection may end between the call's arrival and this.
        if (signal.aborted) end();
        else signal.addEventListener('abort', end);
      }),
    prepare: async () => undefined,
    async init() {
      seen.initialised += 1;
    },
    async startAttempt() {
      seen.attempts += 1;
    },
    async endAttempt() {
      seen.endedAttempts += 1;
    },
    async dispose() {
      seen.disposed += 1;
    },
    ...extra,
  });
}

export interface TestListener {
  readonly listener: EngineListener;
  readonly port: number;
  readonly seen: Counts;
  readonly lines: string[];
  readonly errors: Error[];
}

/** A listener on 127.0.0.1 with an engine per connection. */
export async function listen(options: Partial<ListenEngineOptions> = {}): Promise<TestListener> {
  const seen = counts();
  const lines: string[] = [];
  const errors: Error[] = [];
  const listener = await listenEngine({
    engine: (engineOptions) => {
      seen.made += 1;
      seen.options.push(engineOptions);
      return countedEngine(seen);
    },
    port: 0,
    log: (line) => lines.push(line),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { listener, port: listener.address.port, seen, lines, errors };
}

/** A handle of ours. */
export function clientOf(
  port: number,
  extra: { readonly transport?: EngineTransport; readonly initializationOptions?: Json } = {},
): EngineHandle {
  return connectEngine({
    manifest: describeEngine(countedEngine(counts())),
    transport: socketTransport({ host: '127.0.0.1', port }),
    ...(extra as object),
  });
}

/** A client of ours, in the middle of an attempt. */
export async function startClient(...args: Parameters<typeof clientOf>): Promise<EngineHandle> {
  const client = clientOf(...args);
  await client.init?.(initInfo());
  await client.startAttempt?.(attemptContext());
  return client;
}

/** A transport whose newest socket can be broken. */
export function breakable(port: number): { transport: EngineTransport; socket: () => Socket } {
  const inner = socketTransport({ host: '127.0.0.1', port });
  let socket: Socket | undefined;
  return {
    transport: {
      label: inner.label,
      async open(context) {
        const connection = await inner.open(context);
        socket = connection.input as Socket;
        return connection;
      },
    },
    socket() {
      if (socket === undefined) throw new Error('not opened');
      return socket;
    },
  };
}

export interface RawClient extends RawEnd {
  readonly socket: Socket;
}

/** A client by hand over plain TCP, on any loopback address. */
export async function rawClient(port: number, host = '127.0.0.1'): Promise<RawClient> {
  const socket = connect({ host, port });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('close', () => reject(new Error('not connected')));
  });
  return { ...rawEnd({ input: socket, output: socket }), socket };
}

/** The params of `initialize`. */
export function hello(extra: Json = {}): Json {
  return {
    protocolVersion: 1,
    clientInfo: { name: 'raw', version: '1' },
    role: 'worker',
    ...extra,
  };
}

/** Waits for a line of the log. */
export async function lineThat(
  lines: readonly string[],
  pattern: RegExp,
  signal: AbortSignal,
): Promise<string> {
  await until(() => lines.some((line) => pattern.test(line)), signal);
  return lines.find((line) => pattern.test(line)) ?? '';
}
