// The kinds of value that rows are made of. Each has a shape (its check and its schema) and, where
// the value in process is not the value on the wire, a way there and back: signals, contexts with
// signals, pixels, environments. A value is checked where it arrives, because the other side may be
// in any language; that it is JSON at all is checked where messages are written.
import {
  anything,
  boolean,
  either,
  list,
  number,
  object,
  oneOf,
  record,
  text,
  type Shape,
} from '../../base/shape.ts';
import {
  ACTION_SHAPE,
  APP_LOG_ENTRY_SHAPE,
  ENGINE_STATE_SHAPE,
  EXPRESSION_SHAPE,
  NODE_REF_SHAPE,
  NODE_SHAPE,
  POINTER_ACTION_SHAPE,
  POINT_SHAPE,
  VIDEO_SEGMENTS_SHAPE,
  WIRE_SNAPSHOT_SHAPE,
} from '../../contract/guards.ts';
import type { EngineSnapshot, ObservationPixels } from '../../contract/observation.ts';
import { WIRE_ERROR_SHAPE } from './errors.ts';
import { SIGNAL_ID_SHAPE, SIGNAL_SHAPE, type WireSignal } from './signals.ts';
import { WireValueError, fromBase64, pngSize, toBase64 } from './values.ts';

/** How one end of a connection turns signals into ids or back; each end has what it needs. */
export interface SignalCodec {
  encode?(signal: AbortSignal): WireSignal;
  decode?(wire: WireSignal): AbortSignal;
}

export interface WireKindRow {
  /** The value on the wire. */
  readonly shape: Shape;
  /** From the value in process; by default it crosses as it is. */
  readonly encode?: (value: unknown, path: string, signals: SignalCodec) => unknown;
  /** From a wire value that fits the shape; by default it is taken as it is. */
  readonly decode?: (value: unknown, path: string, signals: SignalCodec) => unknown;
}

const string = text();
const milliseconds = number({ min: 0 });
const environment = record(string);

const APP_MEMBERS = {
  site: string,
  bundleId: string,
  appPath: string,
  launchArguments: list(string),
  permissions: record(oneOf(['grant', 'deny', 'reset'])),
};

const OPERATION_MEMBERS = {
  signal: SIGNAL_SHAPE,
  timeoutMs: milliseconds,
  runId: string,
  attemptId: string,
  origin: oneOf(['test', 'agent']),
};

const NOTHING: Shape = { check: () => undefined, schema: () => ({ type: 'null' }) };

const KINDS = {
  // A peer that answers "nothing" with something else, or leaves it out, is not worth a failure.
  nothing: { shape: NOTHING, encode: () => null, decode: () => undefined },
  json: { shape: anything },
  string: { shape: string },
  strings: { shape: list(string) },
  boolean: { shape: boolean },
  count: { shape: number({ integer: true, min: 0 }) },
  milliseconds: { shape: milliseconds, encode: encodeMilliseconds },
  role: { shape: oneOf(['run', 'worker']) },
  clientInfo: { shape: object({ required: { name: string }, optional: { version: string } }) },
  environment: { shape: environment, encode: encodeEnvironment },
  appInfo: {
    shape: object({ optional: APP_MEMBERS }),
    encode: (value, path) => pick(value, path, Object.keys(APP_MEMBERS)),
    decode: (value, path) => pick(value, path, Object.keys(APP_MEMBERS)),
  },
  signalId: { shape: SIGNAL_ID_SHAPE },
  signal: { shape: SIGNAL_SHAPE, encode: encodeSignal, decode: decodeSignal },
  wireError: { shape: WIRE_ERROR_SHAPE },
  operation: {
    shape: object({ required: OPERATION_MEMBERS }),
    encode: encodeOperation,
    decode: decodeOperation,
  },
  observeOptions: { shape: object({ optional: { pixels: boolean, pixelFallback: boolean } }) },
  typeOptions: { shape: object({ required: { replace: boolean } }) },
  expression: { shape: EXPRESSION_SHAPE },
  nodeRef: { shape: NODE_REF_SHAPE },
  locatorAction: { shape: ACTION_SHAPE },
  point: { shape: POINT_SHAPE },
  pointerAction: { shape: POINTER_ACTION_SHAPE },
  state: { shape: ENGINE_STATE_SHAPE },
  snapshot: { shape: WIRE_SNAPSHOT_SHAPE, encode: encodeSnapshot, decode: decodeSnapshot },
  nodes: { shape: list(NODE_SHAPE) },
  screenshot: {
    shape: either('{ path } or { data, mediaType: "image/png" }', [
      object({ required: { path: string } }),
      object({ required: { data: string, mediaType: oneOf(['image/png']) } }),
    ]),
  },
  videoSegments: { shape: VIDEO_SEGMENTS_SHAPE },
  prepareResult: {
    shape: either('null or { workers?, env? }', [
      oneNull(),
      object({ optional: { workers: number({ integer: true, min: 1 }), env: environment } }),
    ]),
    encode: encodePrepareResult,
    decode: (value) => value ?? undefined,
  },
  appLogEntry: { shape: APP_LOG_ENTRY_SHAPE },
  facts: { shape: record(string) },
} as const satisfies Record<string, WireKindRow>;

export type WireKind = keyof typeof KINDS;

export const WIRE_KINDS: Readonly<Record<WireKind, WireKindRow>> = Object.freeze(KINDS);

function oneNull(): Shape {
  return {
    check: (value) => (value === null ? undefined : { path: '', problem: 'must be null' }),
    schema: () => ({ type: 'null' }),
  };
}

function encodeMilliseconds(value: unknown): unknown {
  // An endless budget is a number that JSON cannot hold; a spent one must not arrive negative.
  if (typeof value !== 'number' || Number.isNaN(value)) return value;
  return Math.min(Math.max(0, value), Number.MAX_SAFE_INTEGER);
}

function encodeEnvironment(value: unknown, path: string): unknown {
  const env: [string, string][] = [];
  for (const [name, item] of Object.entries(objectAt(value, path))) {
    if (item === undefined) continue;
    if (typeof item !== 'string') {
      const problem = `is a ${typeof item}: an environment holds only strings`;
      throw new WireValueError({ path: `${path}[${JSON.stringify(name)}]`, problem });
    }
    env.push([name, item]);
  }
  // fromEntries defines members, so that a variable named `__proto__` stays one.
  return Object.fromEntries(env);
}

function encodeSignal(value: unknown, path: string, signals: SignalCodec): unknown {
  if (!isAbortSignal(value) || signals.encode === undefined) {
    throw new WireValueError({ path, problem: 'must be an AbortSignal' });
  }
  return signals.encode(value);
}

function decodeSignal(value: unknown, path: string, signals: SignalCodec): unknown {
  if (signals.decode === undefined) {
    throw new WireValueError({ path, problem: 'is a signal where none is expected' });
  }
  return signals.decode(value as WireSignal);
}

function encodeOperation(value: unknown, path: string, signals: SignalCodec): unknown {
  const { signal, timeoutMs, ...rest } = pick(value, path, Object.keys(OPERATION_MEMBERS));
  return {
    signal: encodeSignal(signal, `${path}.signal`, signals),
    timeoutMs: encodeMilliseconds(timeoutMs),
    ...rest,
  };
}

function decodeOperation(value: unknown, path: string, signals: SignalCodec): unknown {
  const operation = pick(value, path, Object.keys(OPERATION_MEMBERS));
  const signal = decodeSignal(operation['signal'], `${path}.signal`, signals);
  return { ...operation, signal };
}

function encodeSnapshot(value: unknown, path: string): unknown {
  const snapshot = objectAt(value, path) as unknown as EngineSnapshot;
  const { pixels } = snapshot;
  if (pixels === undefined) return snapshot;
  if (!ArrayBuffer.isView(pixels.data)) {
    throw new WireValueError({ path: `${path}.pixels.data`, problem: 'must be a Uint8Array' });
  }
  return { ...snapshot, pixels: { ...pixels, data: toBase64(pixels.data) } };
}

function decodeSnapshot(value: unknown, path: string): unknown {
  const snapshot = value as Omit<EngineSnapshot, 'pixels'> & {
    readonly pixels?: Omit<ObservationPixels, 'data'> & { readonly data: string };
  };
  const { pixels } = snapshot;
  if (pixels === undefined) return snapshot;
  const at = `${path}.pixels`;
  const data = fromBase64(pixels.data);
  if (data === undefined) {
    throw new WireValueError({ path: `${at}.data`, problem: 'must be base64' });
  }
  const size = pngSize(data);
  if (size === undefined)
    throw new WireValueError({ path: `${at}.data`, problem: 'must be a PNG' });
  if (size.width !== pixels.width || size.height !== pixels.height) {
    throw new WireValueError({
      path: at,
      problem: `claims ${pixels.width} x ${pixels.height}, but the image is ${size.width} x ${size.height}`,
    });
  }
  return { ...snapshot, pixels: { ...pixels, data } };
}

function encodePrepareResult(value: unknown, path: string): unknown {
  if (value === undefined || value === null) return null;
  const { workers, env } = objectAt(value, path);
  return {
    ...(workers !== undefined && { workers }),
    ...(env !== undefined && { env: encodeEnvironment(env, `${path}.env`) }),
  };
}

function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new WireValueError({ path, problem: 'must be an object' });
}

/** Only what the row names: an app's URL, say, must never slip through. */
function pick(value: unknown, path: string, keys: readonly string[]): Record<string, unknown> {
  const source = objectAt(value, path);
  const picked: Record<string, unknown> = {};
  for (const key of keys) if (source[key] !== undefined) picked[key] = source[key];
  return picked;
}

/** By shape: a signal may come from another realm. */
function isAbortSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as AbortSignal).aborted === 'boolean' &&
    typeof (value as AbortSignal).addEventListener === 'function'
  );
}
