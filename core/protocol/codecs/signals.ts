// Abort signals across the wire: `{ id, aborted?, reason? }`, one id per signal, `$/abort` when it
// aborts. The sender keeps signals weakly, so that a hundred thousand operations with a signal each
// leave nothing behind; the receiver keeps its own until they abort, or until the attempt in which
// they were first seen has ended. A reason crosses only when it is an error of ours: a platform
// AbortError, a string or nothing arrive as the platform's AbortError.
import { boolean, either, number, object, text, type Shape } from '../../base/shape.ts';
import type { RpcErrorObject } from '../messages.ts';
import { WIRE_ERROR_SHAPE, decodeError, encodeError, isOwnError } from './errors.ts';

export type SignalId = number | string;

export interface WireSignal {
  readonly id: SignalId;
  readonly aborted?: boolean;
  readonly reason?: RpcErrorObject;
}

export const SIGNAL_ID_SHAPE: Shape = either('an integer or a string', [
  number({ integer: true }),
  text(),
]);
export const SIGNAL_SHAPE: Shape = object({
  required: { id: SIGNAL_ID_SHAPE },
  optional: { aborted: boolean, reason: WIRE_ERROR_SHAPE },
});

/** The sending side of one connection. */
export interface SignalSender {
  /** The wire form; listens for the signal's abort from the first time on. */
  encode(signal: AbortSignal): WireSignal;
  /** From here on, new signals belong to an attempt. */
  startAttempt(): void;
  /** Stops listening to the signals first sent during the attempt, as the server forgets them. */
  endAttempt(): void;
  /** Stops listening to all. Idempotent. */
  close(): void;
  /** How many signals are listened to. */
  readonly size: number;
}

interface Sent {
  readonly id: number;
  /** Removes the abort listener; absent while nobody listens. */
  stop?: (() => void) | undefined;
}

/** `abort` sends `$/abort`. */
export function createSignalSender(
  abort: (id: SignalId, reason: RpcErrorObject | undefined) => void,
): SignalSender {
  const known = new WeakMap<AbortSignal, Sent>();
  const live = new Map<number, WeakRef<AbortSignal>>();
  const collected = new FinalizationRegistry<number>((id) => {
    drop(id);
  });
  let ofAttempt: Set<number> | undefined;
  let nextId = 1;
  let closed = false;

  const drop = (id: number): void => {
    live.delete(id);
    ofAttempt?.delete(id);
  };
  const forget = (id: number): void => {
    const signal = live.get(id)?.deref();
    drop(id);
    if (signal !== undefined) known.get(signal)?.stop?.();
  };
  const listen = (signal: AbortSignal, sent: Sent): void => {
    const { id } = sent;
    // Closes over the id and the registry alone: the signal itself must stay collectable.
    const onAbort = (event: Event): void => {
      drop(id);
      sent.stop = undefined;
      abort(id, encodeReason((event.target as AbortSignal).reason));
    };
    const weak = new WeakRef(signal);
    sent.stop = () => {
      weak.deref()?.removeEventListener('abort', onAbort);
      sent.stop = undefined;
    };
    signal.addEventListener('abort', onAbort, { once: true });
    live.set(id, weak);
    ofAttempt?.add(id);
    collected.register(signal, id);
  };

  return {
    encode(signal) {
      let sent = known.get(signal);
      if (sent === undefined) {
        sent = { id: nextId };
        nextId += 1;
        known.set(signal, sent);
      }
      if (signal.aborted) {
        const reason = encodeReason(signal.reason);
        return { id: sent.id, aborted: true, ...(reason && { reason }) };
      }
      if (sent.stop === undefined && !closed) listen(signal, sent);
      return { id: sent.id };
    },
    startAttempt() {
      ofAttempt = new Set();
    },
    endAttempt() {
      for (const id of ofAttempt ?? []) forget(id);
      ofAttempt = undefined;
    },
    close() {
      closed = true;
      for (const id of live.keys()) forget(id);
    },
    get size() {
      return live.size;
    },
  };
}

/** The receiving side of one connection. */
export interface SignalReceiver {
  /** The local signal of an id; a new one when the id is new or was forgotten. */
  decode(wire: WireSignal): AbortSignal;
  /** Handles `$/abort`; an id that nobody knows is nothing. */
  abort(id: SignalId, reason: RpcErrorObject | undefined): void;
  startAttempt(): void;
  /** Forgets, untouched, every id first seen during the attempt. */
  endAttempt(): void;
  /** Aborts all: the connection closed without `shutdown`. */
  abortAll(reason: unknown): void;
  readonly size: number;
}

export function createSignalReceiver(): SignalReceiver {
  const held = new Map<SignalId, AbortController>();
  let ofAttempt: Set<SignalId> | undefined;
  const forget = (id: SignalId): void => {
    held.delete(id);
    ofAttempt?.delete(id);
  };
  return {
    decode(wire) {
      const existing = held.get(wire.id);
      if (wire.aborted === true) {
        forget(wire.id);
        const controller = existing ?? new AbortController();
        controller.abort(decodeReason(wire.reason));
        return controller.signal;
      }
      if (existing !== undefined) return existing.signal;
      const controller = new AbortController();
      held.set(wire.id, controller);
      ofAttempt?.add(wire.id);
      return controller.signal;
    },
    abort(id, reason) {
      const controller = held.get(id);
      // Before the listeners run: one of them may see the id again as a new signal.
      forget(id);
      controller?.abort(decodeReason(reason));
    },
    startAttempt() {
      ofAttempt = new Set();
    },
    endAttempt() {
      for (const id of ofAttempt ?? []) held.delete(id);
      ofAttempt = undefined;
    },
    abortAll(reason) {
      const controllers = [...held.values()];
      held.clear();
      ofAttempt?.clear();
      for (const controller of controllers) controller.abort(reason);
    },
    get size() {
      return held.size;
    },
  };
}

function encodeReason(reason: unknown): RpcErrorObject | undefined {
  return isOwnError(reason) ? encodeError(reason) : undefined;
}

/** `undefined` lets the controller abort with the platform's `AbortError`. */
function decodeReason(reason: RpcErrorObject | undefined): unknown {
  return reason === undefined ? undefined : decodeError(reason);
}
