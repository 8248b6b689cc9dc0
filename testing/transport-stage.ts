// The stage of the transport rules: a far end per behaviour, connections that are closed again, reading
// with patience. Nothing here knows a test library; what goes wrong is an error that says what was seen.
import process from 'node:process';
import { createDeadline, race, systemClock } from '../core/contract.ts';
import type {
  EngineTransport,
  TransportConnection,
  TransportContext,
} from '../core/protocol/index.ts';
import { ensure } from './engine-stage.ts';
import type { FarEndBehaviour } from './far-end.ts';

/** What a connection gets to close, ms. */
export const CLOSE_MS = 5000;

/** Where the rules play. */
export interface TransportSuiteContext {
  /**
   * A transport whose every connection reaches a far end of its own that plays `behaviour`
   * (`playFarEnd`), and the release of what stands behind it.
   */
  readonly create: (behaviour: FarEndBehaviour) => Promise<TransportStage>;
  /** Ends a rule that waits. */
  readonly signal: AbortSignal;
  /** How long nothing may come before what is missing counts as lost, ms; default 10000. */
  readonly patienceMs?: number;
  /** Handed to `open`; default: that of this process. */
  readonly cwd?: string;
}

export interface TransportStage {
  readonly transport: EngineTransport;
  /**
   * How many far ends live at the moment. Where it is given, the rules look whether what was opened
   * has been let go of.
   */
  readonly alive?: () => number;
  readonly release: () => Promise<void>;
}

/** A rule on a stage that is released afterwards. */
export async function onStage(
  context: TransportSuiteContext,
  behaviour: FarEndBehaviour,
  body: (stage: TransportStage) => Promise<void>,
): Promise<void> {
  const stage = await context.create(behaviour);
  try {
    await body(stage);
  } finally {
    await stage.release();
  }
}

interface OpenStage {
  readonly connection: TransportConnection;
  /** The next so many bytes. */
  readonly read: (length: number) => Promise<Buffer>;
  /** Resolves when the input has ended, failed or closed. */
  readonly ended: () => Promise<void>;
}

/** A rule on one connection, closed afterwards. */
export async function onConnection(
  context: TransportSuiteContext,
  behaviour: FarEndBehaviour,
  body: (stage: OpenStage) => Promise<void>,
): Promise<void> {
  await onStage(context, behaviour, async (stage) => {
    const connection = await open(stage.transport, context);
    const over = new Promise<void>((resolve) => {
      for (const event of ['end', 'close', 'error']) connection.input.once(event, () => resolve());
    });
    const ended = async (): Promise<void> => {
      connection.input.resume();
      await patiently(context, over, () => 'the input did not end');
    };
    try {
      await body({ connection, read: reader(connection, context), ended });
    } finally {
      await connection.close(CLOSE_MS);
    }
    await released(stage, context);
  });
}

export function open(
  transport: EngineTransport,
  context: TransportSuiteContext,
): Promise<TransportConnection> {
  return race(transport.open(contextOf(context, context.signal)), context.signal);
}

export function contextOf(context: TransportSuiteContext, signal: AbortSignal): TransportContext {
  return { role: 'worker', env: {}, cwd: context.cwd ?? process.cwd(), signal };
}

/** Reads from the input, so many bytes at a time. */
export function reader(
  { input }: TransportConnection,
  context: TransportSuiteContext,
): (length: number) => Promise<Buffer> {
  return async (length) => {
    const chunks: Buffer[] = [];
    let missing = length;
    const state = (): string => `${length - missing} of ${length} bytes came`;
    while (missing > 0) {
      const size = Math.min(missing, input.readableLength);
      const chunk = size === 0 ? undefined : (input.read(size) as Buffer | null);
      if (chunk === undefined || chunk === null) {
        ensure(!input.readableEnded && !input.destroyed, `${state()}, then the input ended`);
        await patiently(context, change(input), () => `${state()}, then nothing`);
      } else {
        chunks.push(chunk);
        missing -= chunk.length;
      }
    }
    return Buffer.concat(chunks);
  };
}

const PATIENCE_MS = 10_000;

/** Waits for something, but not for ever. */
async function patiently(
  { signal, patienceMs = PATIENCE_MS }: TransportSuiteContext,
  work: Promise<unknown>,
  problem: () => string,
): Promise<void> {
  const deadline = createDeadline({
    clock: systemClock,
    ms: patienceMs,
    parent: signal,
    reason: () => new Error(`${problem()} for ${patienceMs} ms`),
  });
  try {
    await race(work, deadline.signal);
  } finally {
    deadline.dispose();
  }
}

/** Resolves when there is more to read, or nothing any more. */
function change(input: TransportConnection['input']): Promise<void> {
  const events = ['readable', 'end', 'close', 'error'];
  return new Promise((resolve) => {
    const settle = (): void => {
      for (const event of events) input.off(event, settle);
      resolve();
    };
    for (const event of events) input.on(event, settle);
  });
}

export function same(received: Uint8Array, sent: Uint8Array): void {
  const length = `${received.length} bytes came back for ${sent.length}`;
  ensure(received.length === sent.length, length);
  const at = received.findIndex((byte, index) => byte !== sent[index]);
  ensure(at === -1, `byte ${at} of ${sent.length} is not the one that was sent`);
}

export function saysSomething(connection: TransportConnection): void {
  if (connection.diagnostics === undefined) return;
  const words: unknown = connection.diagnostics();
  ensure(typeof words === 'string' && words.trim() !== '', 'diagnostics() has nothing to say');
}

export async function closes(
  connection: TransportConnection,
  ms: number,
  context: TransportSuiteContext,
): Promise<void> {
  const closing = connection.close(ms);
  const { patienceMs = PATIENCE_MS } = context;
  // On top of its time: the system has to be told, too.
  await patiently(
    { ...context, patienceMs: ms + patienceMs },
    closing,
    () => `close(${ms}) did not resolve`,
  );
  const { input, output } = connection;
  ensure(output.destroyed || output.writableEnded, 'the output is open after close');
  ensure(input.destroyed || input.readableEnded, 'the input is open after close');
}

/** Waits until every far end is gone, where the stage can tell. */
export async function released(
  { alive }: TransportStage,
  context: TransportSuiteContext,
): Promise<void> {
  if (alive === undefined) return;
  let waiting = true;
  const gone = (async () => {
    while (waiting && alive() > 0) await pause();
  })();
  try {
    await patiently(context, gone, () => `${alive()} far ends lived on after close`);
  } finally {
    waiting = false;
  }
}

/** A moment in which the system moves. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.setTimer(20, resolve);
  });
}
