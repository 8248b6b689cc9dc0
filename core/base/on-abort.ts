// Hearing a signal abort. However many wait on one signal, it gets a single listener: Node prints a
// warning into the host's output at the eleventh, and a suite of parallel calls under one deadline
// is no leak. When nobody waits any more, the listener is gone.

interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls `callback` once when the signal aborts, in the order of registration; never for a signal
 * that has aborted already. Answers what stops it; stopping twice is harmless. `callback` must be
 * a function of its own and must not throw.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) return () => undefined;
  const watch = watches.get(signal) ?? startWatch(signal);
  watch.callbacks.add(callback);
  return () => {
    if (!watch.callbacks.delete(callback) || watch.callbacks.size > 0) return;
    signal.removeEventListener('abort', watch.listener);
    if (watches.get(signal) === watch) watches.delete(signal);
  };
}

function startWatch(signal: AbortSignal): Watch {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of callbacks) {
      // A callback may stop a later one: a set's iteration sees that.
      callbacks.delete(callback);
      callback();
    }
  };
  signal.addEventListener('abort', listener, { once: true });
  const watch = { callbacks, listener };
  watches.set(signal, watch);
  return watch;
}
