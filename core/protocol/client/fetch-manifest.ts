// The manifest of a running server, for tools that print or check it: a connection that says hello
// and goodbye, and runs no hook of the engine.
import { systemClock, type Clock } from '../../base/clock.ts';
import { createDeadline } from '../../base/deadline.ts';
import type { JsonValue } from '../../base/json.ts';
import { EngineError } from '../../contract/errors.ts';
import { methodNotFound } from '../messages.ts';
import { checkManifest, printManifest } from '../manifest.ts';
import type { EngineTransport } from '../transports/types.ts';
import type { EngineManifest } from '../types.ts';
import { openConnection } from './connection.ts';

export interface FetchManifestOptions {
  readonly transport: EngineTransport;
  /** Time for everything, ms; default 60000. */
  readonly timeoutMs?: number;
  /** Engine options the server receives in `initialize`. */
  readonly initializationOptions?: JsonValue;
  /** The directory a spawned server starts in; default: that of this process. */
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

const TIMEOUT_MS = 60_000;
const CLOSE_MS = 5000;

/** Asks a server for its manifest. Rejects with `ENGINE_FAILURE` when it is not an engine's. */
export async function fetchManifest(options: FetchManifestOptions): Promise<EngineManifest> {
  const { transport, timeoutMs = TIMEOUT_MS, clock = systemClock } = options;
  const deadline = createDeadline({ clock, ms: timeoutMs, parent: options.signal });
  let manifest: EngineManifest | undefined;
  try {
    const connection = await openConnection({
      transport,
      context: { role: 'worker', env: {}, cwd: options.cwd ?? '.', signal: deadline.signal },
      initializationOptions: options.initializationOptions,
      messages: {
        request: (method) => Promise.reject(methodNotFound(method)),
        notification: () => undefined,
      },
      checkManifest: (announced) => {
        manifest = readManifest(transport.label, announced);
      },
      subject: 'The engine server',
      clock,
    });
    await connection.close(CLOSE_MS);
  } finally {
    deadline.dispose();
  }
  return manifest as EngineManifest;
}

function readManifest(label: string, announced: unknown): EngineManifest {
  try {
    return checkManifest(announced);
  } catch (error) {
    throw new EngineError(
      'ENGINE_FAILURE',
      `The engine server (${label}) announced a malformed manifest: ${(error as Error).message}\n${printManifest(announced)}`,
      { cause: error },
    );
  }
}
