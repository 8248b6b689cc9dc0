// The connection of one role, over its lives: opened by a hook of the harness, used by the calls in
// between, closed by the last hook; after a loss the next opening hook makes a new one. A call with
// no connection is the caller's mistake (INVALID_STATE); one on a lost connection is the server's.
import { createDeadline, race } from '../../base/deadline.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { EngineCleanupContext } from '../../contract/engine.ts';
import { EngineError, runnerError } from '../../contract/errors.ts';
import type { EngineMethod } from '../methods.ts';
import type { ClientConnection, LossListener } from './connection.ts';

export interface Link {
  /** Opens the connection with `connect`; `opener` names the hook. */
  open(opener: string, connect: () => Promise<ClientConnection>): Promise<ClientConnection>;
  /** The connection; throws `INVALID_STATE` naming the method when there is none. */
  require(method: EngineMethod): ClientConnection;
  /** Hears of the loss of the present connection, if there is one; answers the removal. */
  onLost(listener: LossListener): () => void;
  /** Runs `last` (the closing hook's own call) and closes, all within the context's budget. */
  close(
    context: EngineCleanupContext,
    last?: (connection: ClientConnection) => Promise<unknown>,
  ): Promise<void>;
}

export interface LinkOptions {
  /** Names the engine in errors. */
  readonly subject: string;
  /** The hooks between which it lives, such as `init..dispose`. */
  readonly span: string;
  readonly clock?: Clock | undefined;
}

/** How long a connection that is replaced may take to go, ms. */
const REPLACED_MS = 2000;
/** At most this much of a cleanup budget is kept for the transport, ms. */
const TRANSPORT_MS = 2000;

export function createLink(options: LinkOptions): Link {
  const { subject, span } = options;
  const clock = options.clock ?? systemClock;
  let current: ClientConnection | undefined;
  let opening = false;

  return {
    async open(opener, connect) {
      if (opening || (current !== undefined && !current.lost)) {
        throw new EngineError(
          'INVALID_STATE',
          `${subject}: ${opener} was called twice; one connection lives over ${span}.`,
        );
      }
      opening = true;
      try {
        await current?.close(REPLACED_MS).catch(() => undefined);
        current = undefined;
        current = await connect();
        return current;
      } finally {
        opening = false;
      }
    },
    require(method) {
      if (current !== undefined) return current;
      throw new EngineError('INVALID_STATE', `${subject}: ${method} was called outside ${span}.`);
    },
    onLost: (listener) => current?.onLost(listener) ?? (() => undefined),
    async close(context, last) {
      const connection = current;
      // From here on a call is outside, and the next opening hook may come.
      current = undefined;
      if (connection === undefined) return;
      const { timeoutMs, signal } = context;
      const whole = createDeadline({ clock, ms: timeoutMs });
      const forCall = createDeadline({
        clock,
        ms: timeoutMs - Math.min(TRANSPORT_MS, timeoutMs / 4),
        reason: () =>
          runnerError('CLEANUP_TIMEOUT', `${subject}: it did not end within ${timeoutMs} ms.`),
      });
      try {
        // A server that is gone has nothing to end, and has ended by itself.
        if (last !== undefined && !connection.lost) {
          await race(last(connection), forCall.signal);
        }
      } finally {
        forCall.dispose();
        // Whoever aborted a cleanup is in a hurry.
        const rest = Math.min(whole.remaining(), signal.aborted ? TRANSPORT_MS : Infinity);
        whole.dispose();
        await connection.close(rest);
      }
    },
  };
}
