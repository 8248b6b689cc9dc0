// Every message of the protocol, one row each, as data. A row is the only place where a method's
// params are written: the codec, the guard, the manifest's check, its JSON Schema, the client's
// member and the server's dispatch all read it. A new engine member is one row here, and a new kind
// of value one entry in codecs/kinds.ts.
import type { WireKind } from './codecs/kinds.ts';
import type { ConnectionRole } from './transports/types.ts';

/** The protocol version that both sides speak; any other is refused. */
export const PROTOCOL_VERSION = 1;

/** A value's kind, with `?` when the member may be left out. */
export type ParamKind = WireKind | `${WireKind}?`;

/** Params by name, in the order of the member's arguments. */
export type ParamKinds = Readonly<Record<string, ParamKind>>;

/**
 * Which budget bounds a call: `operation` carries its own `timeoutMs`; `launch` ends with its
 * signal; `cleanup` carries `timeoutMs` and may outlive the attempt's signal; `run` has no limit
 * but its signal.
 */
export type TimeClass = 'operation' | 'launch' | 'cleanup' | 'run';

export interface MethodRow {
  /** The engine member that the method answers: `observe`, or `keyboard.type`. */
  readonly member: string;
  readonly params: ParamKinds;
  /** `positional`: one argument per param; `whole`: one object that holds them all. */
  readonly style: 'positional' | 'whole';
  readonly result: WireKind;
  readonly time: TimeClass;
  /** The connection that carries it. */
  readonly role: ConnectionRole;
  /** The call belongs to an attempt, and so do the signals first seen in it. */
  readonly attempt: boolean;
  /** The capability that the member's presence declares. */
  readonly capability?: string;
  /** Methods that a manifest with this one must list too. */
  readonly needs?: readonly string[];
  /** The manifest member that lists the action kinds, required with this method. */
  readonly kinds?: 'actions' | 'pointerActions';
}

type Operation = Pick<MethodRow, 'member' | 'params'> & Partial<MethodRow>;

const operation = (row: Operation): MethodRow =>
  Object.freeze({
    style: 'positional',
    result: 'nothing',
    time: 'operation',
    role: 'worker',
    attempt: true,
    ...row,
    params: Object.freeze(row.params),
  });

const hook = (row: Operation & Pick<MethodRow, 'time' | 'role' | 'attempt'>): MethodRow =>
  operation({ style: 'whole', ...row });

const TABLE = {
  'engine/observe': operation({
    member: 'observe',
    params: { operation: 'operation', options: 'observeOptions?' },
    result: 'snapshot',
    capability: 'observation',
  }),
  'engine/locate': operation({
    member: 'locate',
    params: { expression: 'expression', operation: 'operation' },
    result: 'nodes',
    capability: 'location',
    needs: ['engine/observe'],
  }),
  'engine/perform': operation({
    member: 'perform',
    params: { ref: 'nodeRef', action: 'locatorAction', operation: 'operation' },
    capability: 'actions',
    needs: ['engine/observe'],
    kinds: 'actions',
  }),
  'engine/performAt': operation({
    member: 'performAt',
    params: { point: 'point', action: 'pointerAction', operation: 'operation' },
    capability: 'pointer',
    needs: ['engine/observe'],
    kinds: 'pointerActions',
  }),
  'keyboard/type': operation({
    member: 'keyboard.type',
    params: { text: 'string', options: 'typeOptions', operation: 'operation' },
    capability: 'keyboard',
    needs: ['keyboard/press', 'engine/observe'],
  }),
  'keyboard/press': operation({
    member: 'keyboard.press',
    params: { key: 'string', operation: 'operation' },
    capability: 'keyboard',
    needs: ['keyboard/type', 'engine/observe'],
  }),
  'keyboard/dismiss': operation({
    member: 'keyboard.dismiss',
    params: { operation: 'operation' },
    capability: 'keyboard',
    needs: ['keyboard/type', 'keyboard/press'],
  }),
  'state/capture': operation({
    member: 'state.capture',
    params: { operation: 'operation' },
    result: 'state',
    capability: 'state',
    needs: ['state/restore'],
  }),
  'state/restore': operation({
    member: 'state.restore',
    params: { state: 'state', operation: 'operation' },
    capability: 'state',
    needs: ['state/capture'],
  }),
  'artifacts/screenshot': operation({
    member: 'artifacts.screenshot',
    params: { label: 'string?', operation: 'operation' },
    result: 'screenshot',
    capability: 'artifacts',
  }),
  'artifacts/startVideo': operation({
    member: 'artifacts.startVideo',
    params: { operation: 'operation' },
    capability: 'artifacts',
    needs: ['artifacts/stopVideo', 'artifacts/screenshot'],
  }),
  'artifacts/stopVideo': operation({
    member: 'artifacts.stopVideo',
    params: { operation: 'operation' },
    result: 'videoSegments',
    capability: 'artifacts',
    needs: ['artifacts/startVideo', 'artifacts/screenshot'],
  }),
  'session/open': operation({
    member: 'session.open',
    params: { url: 'string', operation: 'operation' },
  }),
  'session/back': operation({ member: 'session.back', params: { operation: 'operation' } }),
  'session/restart': operation({ member: 'session.restart', params: { operation: 'operation' } }),
  'session/reset': operation({ member: 'session.reset', params: { operation: 'operation' } }),
  'lifecycle/prepare': hook({
    member: 'prepare',
    params: {
      runId: 'string',
      targetName: 'string',
      projectRoot: 'string',
      app: 'appInfo',
      slots: 'count',
      env: 'environment',
      signal: 'signal',
    },
    result: 'prepareResult',
    time: 'run',
    role: 'run',
    attempt: false,
  }),
  'lifecycle/finish': hook({
    member: 'finish',
    params: {
      signal: 'signal',
      timeoutMs: 'milliseconds',
      runId: 'string',
      targetName: 'string',
      env: 'environment',
    },
    time: 'cleanup',
    role: 'run',
    attempt: false,
  }),
  'lifecycle/init': hook({
    member: 'init',
    params: {
      runId: 'string',
      targetName: 'string',
      projectRoot: 'string',
      app: 'appInfo',
      env: 'environment',
      headed: 'boolean',
      workerSlot: 'count',
      signal: 'signal',
    },
    time: 'launch',
    role: 'worker',
    attempt: false,
  }),
  'lifecycle/startAttempt': hook({
    member: 'startAttempt',
    params: { attemptId: 'string', artifactsDir: 'string', signal: 'signal', screens: 'boolean' },
    time: 'launch',
    role: 'worker',
    attempt: true,
  }),
  'lifecycle/settleAttempt': hook({
    member: 'settleAttempt',
    params: { signal: 'signal', timeoutMs: 'milliseconds' },
    time: 'cleanup',
    role: 'worker',
    attempt: true,
  }),
  'lifecycle/endAttempt': hook({
    member: 'endAttempt',
    params: { signal: 'signal', timeoutMs: 'milliseconds' },
    time: 'cleanup',
    role: 'worker',
    attempt: true,
  }),
  'lifecycle/dispose': hook({
    member: 'dispose',
    params: { signal: 'signal', timeoutMs: 'milliseconds', reuseSignal: 'signal?' },
    time: 'cleanup',
    role: 'worker',
    attempt: false,
  }),
} as const satisfies Record<string, MethodRow>;

/** The name of an engine method. */
export type EngineMethod = keyof typeof TABLE;

/** Every engine method with its row, in the specification's order. */
export const ENGINE_METHODS: Readonly<Record<EngineMethod, MethodRow>> = Object.freeze(TABLE);

/** The names of all engine methods, in the specification's order. */
export const ENGINE_METHOD_NAMES: readonly EngineMethod[] = Object.freeze(
  Object.keys(TABLE) as EngineMethod[],
);

export function isEngineMethod(name: unknown): name is EngineMethod {
  return typeof name === 'string' && Object.hasOwn(TABLE, name);
}

/** Methods that `serveEngine` always answers, so that every manifest of ours lists them. */
export const ALWAYS_ANSWERED: readonly EngineMethod[] = Object.freeze([
  'lifecycle/startAttempt',
  'lifecycle/endAttempt',
]);

/** A message beside the engine methods. */
export interface MessageRow {
  readonly direction: 'client-to-server' | 'server-to-client';
  readonly kind: 'request' | 'notification';
  readonly params: ParamKinds;
  /** Requests only; its kind, or the members of the object that answers. */
  readonly result?: WireKind | ParamKinds;
}

const message = (
  direction: MessageRow['direction'],
  kind: MessageRow['kind'],
  params: ParamKinds = {},
  result?: WireKind | ParamKinds,
): MessageRow =>
  Object.freeze({ direction, kind, params: Object.freeze(params), ...(result && { result }) });

const MESSAGES = {
  initialize: message(
    'client-to-server',
    'request',
    {
      protocolVersion: 'json',
      clientInfo: 'clientInfo?',
      role: 'role?',
      initializationOptions: 'json?',
    },
    { protocolVersion: 'json', manifest: 'json' },
  ),
  initialized: message('client-to-server', 'notification'),
  shutdown: message('client-to-server', 'request', {}, 'nothing'),
  exit: message('client-to-server', 'notification'),
  '$/abort': message('client-to-server', 'notification', {
    id: 'signalId',
    reason: 'wireError?',
  }),
  '$/ping': message('client-to-server', 'request', {}, 'nothing'),
  'attempt/deriveSecret': message(
    'client-to-server',
    'request',
    { derivation: 'json', plaintext: 'string' },
    { values: 'strings' },
  ),
  'engine/log': message('server-to-client', 'notification', { line: 'string' }),
  'attempt/appLog': message('server-to-client', 'notification', {
    attemptId: 'string',
    entry: 'appLogEntry',
  }),
  'attempt/navigation': message('server-to-client', 'notification', {
    attemptId: 'string',
    line: 'string',
  }),
  'attempt/environment': message('server-to-client', 'notification', {
    attemptId: 'string',
    facts: 'facts',
  }),
  'attempt/screen': message('server-to-client', 'notification', {
    attemptId: 'string',
    snapshot: 'snapshot',
  }),
  'attempt/resolveSecret': message(
    'server-to-client',
    'request',
    { attemptId: 'string', name: 'string', derivation: 'json?' },
    { value: 'string' },
  ),
} as const satisfies Record<string, MessageRow>;

/** The name of a message beside the engine methods. */
export type ProtocolMessage = keyof typeof MESSAGES;

/** Lifecycle, signals, liveness, and everything that the server sends. */
export const PROTOCOL_MESSAGES: Readonly<Record<ProtocolMessage, MessageRow>> =
  Object.freeze(MESSAGES);
