// One connection at the server: requests to engine members by their rows, and the life that the
// rules need to know of (initialized, in an attempt, shut down). No streams here: whoever owns the
// connection hands messages in and calls `end` when it is over, which is when an engine that its
// client left behind is put away.
import type { Clock } from '../../base/clock.ts';
import { createDeadline, race } from '../../base/deadline.ts';
import { isEngineHandle } from '../../contract/define.ts';
import type { EngineCleanupContext, EngineHandle } from '../../contract/engine.ts';
import { ConfigurationError, EngineError } from '../../contract/errors.ts';
import type { LocatorAction } from '../../contract/actions.ts';
import { encodeError } from '../codecs/errors.ts';
import { decodeParams, encodeKind, memberArguments } from '../codecs/params.ts';
import { createSignalReceiver, type SignalId } from '../codecs/signals.ts';
import { WireValueError } from '../codecs/values.ts';
import { createLifecycle, type Lifecycle } from '../lifecycle.ts';
import { describeEngine, findMember } from '../manifest.ts';
import {
  JSON_RPC,
  RpcError,
  isRpcError,
  methodNotFound,
  type RpcErrorObject,
} from '../messages.ts';
import {
  ALWAYS_ANSWERED,
  ENGINE_METHODS,
  PROTOCOL_MESSAGES,
  PROTOCOL_VERSION,
  isEngineMethod,
  type EngineMethod,
  type MethodRow,
} from '../methods.ts';
import {
  createSecretDesk,
  createServerAttempt,
  type ClientPort,
  type ServerAttempt,
} from './attempt.ts';
import type { ConnectionRole } from '../transports/types.ts';
import { answerScreenshot, checkUpload, checkVideoSegments } from './files.ts';

/** Who asks for an engine, as it says itself in `initialize`: nothing of it is proven. */
export interface EngineClient {
  /** Absent in `initialize`: `worker`. */
  readonly role: ConnectionRole;
  readonly name?: string;
  readonly version?: string;
}

/** An engine, or what makes one from the client's `initializationOptions`. */
export type EngineSource =
  | EngineHandle
  | ((
      initializationOptions: unknown,
      client: EngineClient,
    ) => EngineHandle | Promise<EngineHandle>);

export interface DispatchOptions {
  readonly source: EngineSource;
  readonly client: ClientPort;
  /** Both sides see the same files. */
  readonly local: boolean;
  readonly clock: Clock;
  /** What the engine gets to end by itself when its client is gone, ms. */
  readonly cleanupMs: number;
  /** Holds a connection of role `run` to the methods of that role. Default false. */
  readonly ownRoleOnly?: boolean;
  /** Failures that nobody can be answered with. */
  readonly onError: (error: Error) => void;
}

export interface Dispatch {
  readonly lifecycle: Lifecycle;
  /** An attempt is open, or a request is being answered. */
  readonly busy: boolean;
  /** Answers a request, or rejects with an `RpcError`. */
  request(method: string, params: unknown): Promise<unknown>;
  notification(method: string, params: unknown): void;
  /**
   * The connection is over: aborts what is held with `reason` (default: that the client closed it),
   * ends the attempt, disposes. Never rejects.
   */
  end(reason?: Error): Promise<void>;
}

/** How long calls under way may take to hear their abort before the engine is ended anyway, ms. */
const SETTLE_MS = 5000;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { client, local, clock } = options;
  const lifecycle = createLifecycle();
  const signals = createSignalReceiver();
  const secrets = createSecretDesk(client);
  const underway = new Set<Promise<unknown>>();
  let engine: EngineHandle | undefined;
  let attempt: ServerAttempt | undefined;
  let attemptOpen = false;
  let initialized = false;
  let role: ConnectionRole = 'worker';

  async function initialize(params: unknown): Promise<unknown> {
    let ok = false;
    try {
      const values = decodeParams(PROTOCOL_MESSAGES.initialize.params, params);
      if (values['protocolVersion'] !== PROTOCOL_VERSION) {
        throw new RpcError(
          JSON_RPC.invalidParams,
          `initialize: this server speaks protocol version ${PROTOCOL_VERSION} only.`,
          { supported: PROTOCOL_VERSION },
        );
      }
      const client = readClient(values);
      role = client.role;
      engine = await createEngine(options.source, values['initializationOptions'], client);
      ok = true;
      return { protocolVersion: PROTOCOL_VERSION, manifest: describeEngine(engine) };
    } finally {
      lifecycle.initialized(ok);
    }
  }

  async function deriveSecret(params: unknown): Promise<unknown> {
    const values = decodeParams(PROTOCOL_MESSAGES['attempt/deriveSecret'].params, params);
    const derived = secrets.derive(values['derivation'], values['plaintext'] as string);
    if (derived === undefined) {
      throw new RpcError(
        JSON_RPC.invalidParams,
        'attempt/deriveSecret: nobody waits for this derivation.',
      );
    }
    return { values: await derived };
  }

  async function callEngine(method: EngineMethod, params: unknown): Promise<unknown> {
    const row = ENGINE_METHODS[method];
    const member = engine && findMember(engine, row.member);
    if (engine === undefined || (member === undefined && !ALWAYS_ANSWERED.includes(method))) {
      throw methodNotFound(method);
    }
    if (options.ownRoleOnly === true && role === 'run' && row.role !== 'run') {
      throw new RpcError(
        JSON_RPC.invalidRequest,
        `${method}: a connection of role "run" is for lifecycle/prepare and lifecycle/finish; open one of role "worker".`,
      );
    }
    const decode = (): Record<string, unknown> =>
      decodeParams(row.params, params, { decode: signals.decode });
    switch (method) {
      case 'lifecycle/startAttempt':
        return startAttempt(member, row, decode);
      case 'lifecycle/endAttempt':
        return endAttempt(member, row, decode);
      default:
    }
    const values = decode();
    if (method === 'engine/perform') await checkUpload(values['action'] as LocatorAction, local);
    if (method === 'lifecycle/init') initialized = true;
    if (method === 'lifecycle/dispose') initialized = false;
    const log = (line: string): void => client.notify('engine/log', { line: String(line) });
    const result = await member?.(...memberArguments(row, values, row.attempt ? {} : { log }));
    if (method === 'artifacts/screenshot') {
      return answerScreenshot(result, { artifactsDir: attempt?.artifactsDir ?? '', local });
    }
    if (method === 'artifacts/stopVideo') checkVideoSegments(result, local);
    return encodeKind(row.result, result, 'result');
  }

  type Member = ReturnType<typeof findMember>;

  async function startAttempt(
    member: Member,
    row: MethodRow,
    decode: () => Record<string, unknown>,
  ): Promise<unknown> {
    if (attemptOpen) {
      throw new EngineError(
        'INVALID_STATE',
        'lifecycle/startAttempt: the attempt before has not ended; send lifecycle/endAttempt first.',
      );
    }
    attemptOpen = true;
    // Before the params: the signal in them is the first that belongs to the attempt.
    signals.startAttempt();
    const values = decode();
    const created = await createServerAttempt({
      attemptId: values['attemptId'] as string,
      artifactsDir: values['artifactsDir'] as string,
      screens: values['screens'] as boolean,
      local,
      client,
      secrets,
    });
    attempt = created;
    const { artifactsDir, callbacks } = created;
    await member?.(...memberArguments(row, { ...values, artifactsDir }, { ...callbacks }));
    return null;
  }

  async function endAttempt(
    member: Member,
    row: MethodRow,
    decode: () => Record<string, unknown>,
  ): Promise<unknown> {
    try {
      await member?.(...memberArguments(row, decode()));
      return null;
    } finally {
      await closeAttempt();
    }
  }

  async function closeAttempt(): Promise<void> {
    const ending = attempt;
    attempt = undefined;
    attemptOpen = false;
    signals.endAttempt();
    await ending?.end().catch(options.onError);
  }

  async function route(method: string, params: unknown): Promise<unknown> {
    const refusal = lifecycle.request(method);
    if (refusal !== undefined) throw new RpcError(refusal.code, refusal.message);
    switch (method) {
      case 'initialize':
        return initialize(params);
      case 'shutdown':
        return null;
      case '$/ping':
        return null;
      case 'attempt/deriveSecret':
        return deriveSecret(params);
      default:
        if (!isEngineMethod(method)) throw methodNotFound(method);
        return callEngine(method, params);
    }
  }

  async function putAway(): Promise<void> {
    if (engine === undefined) return;
    const deadline = createDeadline({ clock, ms: options.cleanupMs });
    const run = async (member: 'endAttempt' | 'dispose'): Promise<void> => {
      const context: EngineCleanupContext = {
        signal: deadline.signal,
        timeoutMs: deadline.remaining(),
      };
      await race(Promise.resolve(engine?.[member]?.(context)), deadline.signal);
    };
    try {
      const patience = createDeadline({ clock, ms: SETTLE_MS, parent: deadline.signal });
      await race(Promise.allSettled(underway), patience.signal).catch(() => undefined);
      patience.dispose();
      if (attemptOpen) {
        await run('endAttempt').catch(options.onError);
        await closeAttempt();
      }
      if (initialized) {
        initialized = false;
        await run('dispose').catch(options.onError);
      }
    } finally {
      deadline.dispose();
    }
  }

  return {
    lifecycle,
    get busy() {
      return attemptOpen || underway.size > 0;
    },
    async request(method, params) {
      const work = route(method, params);
      underway.add(work);
      try {
        return await work;
      } catch (error) {
        throw toRpcError(method, error);
      } finally {
        underway.delete(work);
      }
    },
    notification(method, params) {
      if (!lifecycle.notification(method) || method !== '$/abort') return;
      try {
        const { id, reason } = decodeParams(PROTOCOL_MESSAGES['$/abort'].params, params);
        signals.abort(id as SignalId, reason as RpcErrorObject | undefined);
      } catch (error) {
        options.onError(error as Error);
      }
    },
    async end(reason = new DOMException('The client closed the connection.', 'AbortError')) {
      lifecycle.closed();
      // After shutdown signals stay as they are.
      if (!lifecycle.orderly) signals.abortAll(reason);
      await putAway();
    },
  };
}

function readClient(values: Readonly<Record<string, unknown>>): EngineClient {
  const { role = 'worker', clientInfo } = values;
  return {
    role: role as ConnectionRole,
    ...(clientInfo as Pick<EngineClient, 'name'> | undefined),
  };
}

async function createEngine(
  source: EngineSource,
  options: unknown,
  client: EngineClient,
): Promise<EngineHandle> {
  const engine = typeof source === 'function' ? await source(options, client) : source;
  if (isEngineHandle(engine)) return engine;
  throw new ConfigurationError(
    'INVALID_CONFIG',
    'serveEngine: the factory answered no engine handle; answer what defineEngine returns.',
  );
}

function toRpcError(method: string, error: unknown): RpcError {
  if (isRpcError(error)) return error;
  if (error instanceof WireValueError && error.path.startsWith('params')) {
    return new RpcError(JSON_RPC.invalidParams, `${method}: ${error.message}`);
  }
  const { code, message, data } = encodeError(error);
  return new RpcError(code, message, data);
}
