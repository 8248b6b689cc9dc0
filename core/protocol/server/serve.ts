// `serveEngine`: one engine on one connection, until the client says `exit` or the streams close.
// It owns the streams (stdio by default) and the promise; what a message means is dispatch.ts.
import process from 'node:process';
import { systemClock, type Clock } from '../../base/clock.ts';
import { isEngineHandle } from '../../contract/define.ts';
import { ConfigurationError } from '../../contract/errors.ts';
import { rejectUnknownKeys } from '../../contract/options.ts';
import { decodeFailure } from '../codecs/errors.ts';
import { isRpcError } from '../messages.ts';
import { createPeer, type Peer } from '../peer.ts';
import type { MessageStreams } from '../transports/types.ts';
import { encodeMessage, type ClientPort } from './attempt.ts';
import { createDispatch, type EngineSource } from './dispatch.ts';
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
  let sayExit: () => void = () => undefined;
  const exit = new Promise<'exit'>((resolve) => {
    sayExit = () => resolve('exit');
  });
  const dispatch = createDispatch({
    source: engine,
    client: clientPort(() => peer, onError),
    local: options.localArtifacts === true,
    clock,
    cleanupMs: options.cleanupTimeoutMs ?? CLEANUP_MS,
    onError,
  });
  const peer: Peer = createPeer({
    streams: stdio ?? (streams as MessageStreams),
    label: 'the client',
    clock,
    onError,
    onRequest: dispatch.request,
    onNotification(method, params) {
      dispatch.notification(method, params);
      if (method === 'exit') sayExit();
    },
  });
  try {
    const end = await Promise.race([exit, peer.closed]);
    if (stdio !== undefined && end === 'exit' && !dispatch.lifecycle.orderly) process.exitCode = 1;
    await Promise.all([peer.close('the client said exit'), dispatch.end()]);
  } finally {
    stdio?.release();
  }
}

function clientPort(peer: () => Peer, onError: (error: Error) => void): ClientPort {
  return {
    notify(method, params) {
      // A report that cannot be written must not fail the engine that made it.
      try {
        peer().notify(method, encodeMessage(method, params));
      } catch (error) {
        onError(error as Error);
      }
    },
    async request(method, params) {
      try {
        return await peer().request(method, encodeMessage(method, params));
      } catch (error) {
        throw isRpcError(error) ? decodeFailure(error) : error;
      }
    },
  };
}

function printError(error: Error): void {
  process.stderr.write(`enginewright: ${error.message}\n`);
}
