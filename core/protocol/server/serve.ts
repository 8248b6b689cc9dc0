// `serveEngine`: one engine on one connection, until the client says `exit` or the streams close.
// It owns the streams (stdio by default) and the promise; connection.ts has the order of the end, and
// what a message means is dispatch.ts.
import process from 'node:process';
import { systemClock, type Clock } from '../../base/clock.ts';
import { isEngineHandle } from '../../contract/define.ts';
import { ConfigurationError } from '../../contract/errors.ts';
import { rejectUnknownKeys } from '../../contract/options.ts';
import type { MessageStreams } from '../transports/types.ts';
import { serveConnection } from './connection.ts';
import type { EngineSource } from './dispatch.ts';
import { takeStdio } from './stdio.ts';

export interface ServeEngineOptions {
  /**
   * The client sees the same files: artifacts are written where it says, screenshots and videos
   * answered as paths. Default false: screenshots are sent as data.
   */
  readonly localArtifacts?: boolean;
  /**
   * What the engine gets to end its attempt and dispose when the client is gone without a word, in
   * ms; default 30000.
   */
  readonly cleanupTimeoutMs?: number;
  /** Hears of malformed messages and failed cleanups. Default: lines on stderr when on stdio. */
  readonly onError?: (error: Error) => void;
  readonly clock?: Clock;
}

const OPTION_NAMES = ['localArtifacts', 'cleanupTimeoutMs', 'onError', 'clock'];
const CLEANUP_MS = 30_000;

/**
 * Serves an engine built with `defineEngine` over one connection, until the client sends `exit` or
 * the streams close. A factory gets the client's `initializationOptions`; its failure is the answer
 * to `initialize`. Without `streams` it speaks over stdin and stdout: what else prints to stdout
 * then goes to stderr, and `exit` without `shutdown` sets the process's exit code to 1.
 * Rejects with `INVALID_CONFIG` for a wrong argument, and for nothing else.
 */
export async function serveEngine(
  engine: EngineSource,
  streams?: MessageStreams,
  options: ServeEngineOptions = {},
): Promise<void> {
  if (!isEngineHandle(engine) && typeof engine !== 'function') {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      'serveEngine takes an engine handle, what defineEngine returns, or a function that answers one.',
    );
  }
  rejectUnknownKeys('serveEngine options', options, OPTION_NAMES);
  const clock = options.clock ?? systemClock;
  const stdio = streams === undefined ? takeStdio() : undefined;
  const onError = options.onError ?? (stdio === undefined ? () => undefined : printError);
  const connection = serveConnection({
    source: engine,
    streams: stdio ?? (streams as MessageStreams),
    local: options.localArtifacts === true,
    clock,
    cleanupMs: options.cleanupTimeoutMs ?? CLEANUP_MS,
    onComplaint: onError,
    onFailure: onError,
  });
  try {
    const end = await connection.ended;
    if (stdio !== undefined && end.by === 'exit' && !connection.orderly) process.exitCode = 1;
    await connection.done;
  } finally {
    stdio?.release();
  }
}

function printError(error: Error): void {
  process.stderr.write(`enginewright: ${error.message}\n`);
}
