// One served connection, whoever owns its streams: the peer, the dispatch behind it, and the order of
// its end. An end that the client caused closes the streams at once; one that the server decides on
// lets calls under way answer first, so that the client reads why.
import type { Clock } from '../../base/clock.ts';
import { decodeFailure } from '../codecs/errors.ts';
import { isRpcError } from '../messages.ts';
import { createPeer, type Peer, type PeerCaps, type PeerClosure } from '../peer.ts';
import type { MessageStreams } from '../transports/types.ts';
import { encodeMessage, type ClientPort } from './attempt.ts';
import { createDispatch, type EngineSource } from './dispatch.ts';

export interface ConnectionOptions {
  readonly source: EngineSource;
  readonly streams: MessageStreams;
  /** Both sides see the same files. */
  readonly local: boolean;
  readonly clock: Clock;
  /** What the engine gets to end when its client is gone without a word, ms. */
  readonly cleanupMs: number;
  /** Holds a connection of role `run` to the methods of that role. */
  readonly ownRoleOnly?: boolean;
  readonly caps?: PeerCaps | undefined;
  /** What is wrong with what came in, or with what cannot be sent. */
  readonly onComplaint: (error: Error) => void;
  /** What went wrong in ending the engine. */
  readonly onFailure: (error: Error) => void;
  /** A request was answered; `busy` may have changed. */
  readonly onAnswered?: () => void;
}

/** How a connection ended: by `exit`, by its streams, or by the server. */
export type ConnectionEnd =
  | { readonly by: 'exit' }
  | { readonly by: 'streams'; readonly closure: PeerClosure }
  | { readonly by: 'server' };

export interface ServedConnection {
  readonly peer: Peer;
  /** An attempt is open, or a request is being answered. */
  readonly busy: boolean;
  /** Whether `shutdown` came. */
  readonly orderly: boolean;
  /** Ends it from here; signals abort with `reason`. Only the first call counts. */
  stop(reason: Error): void;
  /** Resolves as soon as the end is known. */
  readonly ended: Promise<ConnectionEnd>;
  /** Resolves when the connection is over and its engine put away; never rejects. */
  readonly done: Promise<ConnectionEnd>;
}

export function serveConnection(options: ConnectionOptions): ServedConnection {
  const { clock, onComplaint } = options;
  let sayEnd: (end: ConnectionEnd) => void = () => undefined;
  const ended = new Promise<ConnectionEnd>((resolve) => {
    sayEnd = resolve;
  });
  let stopReason: Error | undefined;
  const dispatch = createDispatch({
    source: options.source,
    client: clientPort(() => peer, onComplaint),
    local: options.local,
    clock,
    cleanupMs: options.cleanupMs,
    ownRoleOnly: options.ownRoleOnly === true,
    onError: options.onFailure,
  });
  const answer = async (method: string, params: unknown): Promise<unknown> => {
    try {
      return await dispatch.request(method, params);
    } finally {
      // Not before the answer has been given to the peer.
      if (options.onAnswered !== undefined) setImmediate(options.onAnswered);
    }
  };
  const peer: Peer = createPeer({
    streams: options.streams,
    label: 'the client',
    clock,
    onError: onComplaint,
    ...(options.caps !== undefined && { caps: options.caps }),
    onRequest: answer,
    onNotification(method, params) {
      dispatch.notification(method, params);
      if (method === 'exit') sayEnd({ by: 'exit' });
    },
  });
  void peer.closed.then((closure) => sayEnd({ by: 'streams', closure }));
  const finish = async (): Promise<ConnectionEnd> => {
    const end = await ended;
    if (end.by === 'server') {
      await dispatch.end(stopReason);
      await peer.close(stopReason?.message);
    } else {
      await Promise.all([peer.close('the client said exit'), dispatch.end()]);
    }
    return end;
  };
  return {
    peer,
    get busy() {
      return dispatch.busy;
    },
    get orderly() {
      return dispatch.lifecycle.orderly;
    },
    stop(reason) {
      stopReason ??= reason;
      sayEnd({ by: 'server' });
    },
    ended,
    done: finish(),
  };
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
