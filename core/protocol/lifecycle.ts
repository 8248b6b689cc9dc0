// The life of one connection at the server, as a table without I/O: which message is admitted in
// which state, and with which JSON-RPC error it is refused otherwise. It is the Language Server
// Protocol's: nothing before `initialize`, nothing but `exit` after `shutdown`, and after a refused
// `initialize` the connection only waits for `exit`.
import { JSON_RPC, type RpcErrorObject } from './messages.ts';

/**
 * `new`: nothing seen. `initializing`: `initialize` is being answered. `ready`: it was answered.
 * `refused`: it failed. `shutdown`: `shutdown` was asked. `exited`: `exit` came, or the streams
 * closed.
 */
export type LifecycleState = 'new' | 'initializing' | 'ready' | 'refused' | 'shutdown' | 'exited';

export interface Lifecycle {
  readonly state: LifecycleState;
  /** Admits a request (`undefined`) or says how it is refused; moves on `initialize`, `shutdown`. */
  request(method: string): RpcErrorObject | undefined;
  /** Whether a notification is heard in this state; moves on `exit`. */
  notification(method: string): boolean;
  /** `initialize` was answered, well or not. */
  initialized(ok: boolean): void;
  /** The streams closed. */
  closed(): void;
  /** Whether `shutdown` came before the end. */
  readonly orderly: boolean;
}

export function createLifecycle(): Lifecycle {
  let state: LifecycleState = 'new';
  let orderly = false;
  return {
    get state() {
      return state;
    },
    get orderly() {
      return orderly;
    },
    request(method) {
      switch (state) {
        case 'new':
          if (method !== 'initialize') return notInitialized(method);
          state = 'initializing';
          return undefined;
        case 'initializing':
          return method === 'initialize' ? again() : notInitialized(method);
        case 'ready':
          if (method === 'initialize') return again();
          if (method === 'shutdown') {
            state = 'shutdown';
            orderly = true;
          }
          return undefined;
        case 'refused':
          return invalid(`${method}: initialize was refused, only exit may follow`);
        case 'shutdown':
          return invalid(`${method}: the server was shut down, only exit may follow`);
        case 'exited':
          return invalid(`${method}: the connection has ended`);
      }
    },
    notification(method) {
      if (method === 'exit') {
        state = 'exited';
        return true;
      }
      return state === 'ready';
    },
    initialized(ok) {
      if (state === 'initializing') state = ok ? 'ready' : 'refused';
    },
    closed() {
      state = 'exited';
    },
  };
}

function again(): RpcErrorObject {
  return invalid('initialize: the connection is initialized already');
}

function invalid(message: string): RpcErrorObject {
  return { code: JSON_RPC.invalidRequest, message: `${message}.` };
}

function notInitialized(method: string): RpcErrorObject {
  return {
    code: JSON_RPC.notInitialized,
    message: `${method}: the server is not initialized, send initialize first.`,
  };
}
