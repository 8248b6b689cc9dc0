// Params and results by their rows: positional arguments or one whole object to params by name, and
// back. Every failure is a WireValueError that names the path, such as `params.action.kind`; who
// calls decides whether that is -32602, a caller's mistake or a server's.
import { checkShape } from '../../base/shape.ts';
import type { MethodRow, ParamKind, ParamKinds } from '../methods.ts';
import { type SignalCodec, WIRE_KINDS, type WireKind } from './kinds.ts';
import { WireValueError } from './values.ts';

/** One value to the wire. */
export function encodeKind(
  kind: WireKind,
  value: unknown,
  path: string,
  signals: SignalCodec = {},
): unknown {
  const { encode } = WIRE_KINDS[kind];
  return encode === undefined ? value : encode(value, path, signals);
}

/** One value from the wire, checked. */
export function decodeKind(
  kind: WireKind,
  value: unknown,
  path: string,
  signals: SignalCodec = {},
): unknown {
  const { shape, decode } = WIRE_KINDS[kind];
  const issue = checkShape(shape, value, path);
  if (issue !== undefined) throw new WireValueError(issue);
  return decode === undefined ? value : decode(value, path, signals);
}

/** Named values to params; members that are undefined or that no row names are left out. */
export function encodeParams(
  kinds: ParamKinds,
  values: Readonly<Record<string, unknown>>,
  signals: SignalCodec = {},
  path = 'params',
): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(kinds)) {
    const { kind, optional } = parseKind(declared);
    const value = values[name];
    if (value === undefined) {
      if (optional) continue;
      throw new WireValueError({ path: `${path}.${name}`, problem: 'is missing' });
    }
    params[name] = encodeKind(kind, value, `${path}.${name}`, signals);
  }
  return params;
}

/** Params to named values, checked; members that no row names are ignored. */
export function decodeParams(
  kinds: ParamKinds,
  params: unknown,
  signals: SignalCodec = {},
  path = 'params',
): Record<string, unknown> {
  const names = Object.keys(kinds);
  if (params === undefined && names.every((name) => kinds[name]?.endsWith('?'))) return {};
  if (typeof params !== 'object' || params === null || Array.isArray(params)) {
    throw new WireValueError({ path, problem: 'must be an object with params by name' });
  }
  const members = params as Readonly<Record<string, unknown>>;
  const values: Record<string, unknown> = {};
  // Signals last: one that is decoded for a call that is then refused would be held for nothing.
  for (const name of names.sort((a, b) => weight(kinds[a]) - weight(kinds[b]))) {
    const { kind, optional } = parseKind(kinds[name] ?? 'json');
    const value = Object.hasOwn(members, name) ? members[name] : undefined;
    if (value === undefined) {
      if (optional) continue;
      throw new WireValueError({ path: `${path}.${name}`, problem: 'is missing' });
    }
    values[name] = decodeKind(kind, value, `${path}.${name}`, signals);
  }
  return values;
}

/** A member's arguments by param name, as its row has them. */
export function namedArguments(
  row: MethodRow,
  args: readonly unknown[],
): Readonly<Record<string, unknown>> {
  if (row.style === 'whole') return (args[0] ?? {}) as Record<string, unknown>;
  return Object.fromEntries(Object.keys(row.params).map((name, index) => [name, args[index]]));
}

/** Decoded params as the member's arguments; `extra` joins a whole object (its functions). */
export function memberArguments(
  row: MethodRow,
  values: Readonly<Record<string, unknown>>,
  extra: Readonly<Record<string, unknown>> = {},
): unknown[] {
  if (row.style === 'whole') return [{ ...values, ...extra }];
  return Object.keys(row.params).map((name) => values[name]);
}

/** A declared kind without its `?`, and whether it had one. */
export function parseKind(declared: ParamKind): {
  readonly kind: WireKind;
  readonly optional: boolean;
} {
  const optional = declared.endsWith('?');
  return { kind: (optional ? declared.slice(0, -1) : declared) as WireKind, optional };
}

function weight(declared: ParamKind | undefined): number {
  return declared?.startsWith('signal') === true || declared === 'operation' ? 1 : 0;
}
