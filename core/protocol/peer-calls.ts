// Own calls that wait for an answer. A call that is aborted rejects at once, yet its id stays: its
// late answer is expected, while an answer to an id that was never given, or a second one, is not.
import { onAbort } from '../base/on-abort.ts';
import type { MessageId } from './messages.ts';

interface Call {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Removes the signal's listener. */
  readonly release: (() => void) | undefined;
}

export class Calls {
  /** `undefined` for an aborted call. */
  readonly #calls = new Map<number, Call | undefined>();
  #lastId = 0;
  #waiting = 0;
  /** Ids up to this may have been forgotten: their answers are no surprise. */
  #forgotten = 0;

  /** Calls that wait. */
  get waiting(): number {
    return this.#waiting;
  }
  /** Calls that wait, and aborted ones that were not answered yet. */
  get owed(): number {
    return this.#calls.size;
  }

  /** An id never used before. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  add(id: number, method: string, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let release: (() => void) | undefined;
      if (signal !== undefined) {
        release = onAbort(signal, () => {
          this.#calls.set(id, undefined);
          this.#waiting -= 1;
          reject(signal.reason as Error);
        });
      }
      this.#calls.set(id, { method, resolve, reject, release });
      this.#waiting += 1;
    });
  }

  /** True when an answer to `id` settles a call that waits. */
  isWaiting(id: MessageId): boolean {
    return typeof id === 'number' && this.#calls.get(id) !== undefined;
  }

  /** Settles a call; false when nobody asked. `settle` is not run for an aborted call. */
  settle(id: MessageId, settle: (call: Call) => void): boolean {
    if (typeof id !== 'number') return false;
    const call = this.#calls.get(id);
    if (call === undefined) {
      return this.#calls.delete(id) || (id > 0 && id <= this.#forgotten && Number.isInteger(id));
    }
    this.#calls.delete(id);
    this.#waiting -= 1;
    call.release?.();
    settle(call);
    return true;
  }

  /** No longer expects the answers of aborted calls. */
  forgetAborted(): void {
    for (const [id, call] of this.#calls) {
      if (call === undefined) {
        this.#calls.delete(id);
        this.#forgotten = Math.max(this.#forgotten, id);
      }
    }
  }

  /** Rejects every call, with an error of its own. */
  rejectAll(errorFor: (method: string) => Error): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#waiting = 0;
    for (const call of calls) {
      call?.release?.();
      call?.reject(errorFor(call.method));
    }
  }
}
