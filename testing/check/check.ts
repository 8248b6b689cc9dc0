// `checkEngine`: every rule against a server, one after another, each on connections of its own. The
// check itself fails only when the server cannot be reached at all; everything else is an outcome. A
// rule that watches for something fails too when another rule's connection showed it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import {
  ConfigurationError,
  EngineError,
  createDeadline,
  isPlainObject,
  rejectUnknownKeys,
  suggestName,
  systemClock,
  type JsonValue,
} from '../../core/contract.ts';
import type { EngineManifest, EngineTransport } from '../../core/protocol/index.ts';
import { initializeParams, type RuleContext } from './context.ts';
import type { Offence } from './inspect.ts';
import { readProbes, type EngineProbes } from './probes.ts';
import { CHECK_RULES } from './rules/index.ts';
import {
  NotApplicable,
  type CheckLimits,
  type CheckOutcome,
  type CheckReport,
  type CheckRule,
  type CheckSetting,
} from './types.ts';
import { Wire } from './wire.ts';

export interface CheckEngineOptions {
  /** The places on the author's screens that half of the rules need. Default: none. */
  readonly probes?: EngineProbes;
  /** Also runs rules that lose what the app remembers (reset, restore). Default false. */
  readonly destructive?: boolean;
  /** Engine options that the server receives in every `initialize`. */
  readonly initializationOptions?: JsonValue;
  /** How long any answer may take, ms; default 10 000. */
  readonly timeoutMs?: number;
  /** How long a start may take (a connection, `initialize`, `init`, `session/open`), ms; default 60 000. */
  readonly launchTimeoutMs?: number;
  /** How long an operation may go on after its signal aborted or its time was up, ms; default 2000. */
  readonly abortTimeoutMs?: number;
  /** How long the check listens to what should not come, ms; default 100. */
  readonly quietMs?: number;
  /** Ids of rules, or the beginnings of ids such as `signals/`. Default: all. */
  readonly only?: readonly string[];
  /** The directory a spawned server starts in; default: that of this process. */
  readonly cwd?: string;
  /** Ends the check; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Hears of each rule as soon as it is decided. Watching rules are decided at the end. */
  readonly onRule?: (outcome: CheckOutcome) => void;
}

const OPTION_NAMES = [
  'probes',
  'destructive',
  'initializationOptions',
  'timeoutMs',
  'launchTimeoutMs',
  'abortTimeoutMs',
  'quietMs',
  'only',
  'cwd',
  'signal',
  'onRule',
] as const satisfies readonly (keyof CheckEngineOptions)[];

interface Seen extends Offence {
  readonly rule: string;
  readonly exchange: readonly string[];
}

/**
 * Checks an engine server over any transport. Answers what came of every rule; rejects with
 * `INVALID_CONFIG` for wrong options, and with `ENGINE_FAILURE` when no connection can be opened.
 */
export async function checkEngine(
  transport: EngineTransport,
  options: CheckEngineOptions = {},
): Promise<CheckReport> {
  const rules = readOptions(options);
  // A signal of our own: any number of calls may wait under it.
  const run = createDeadline({
    clock: systemClock,
    ms: Number.MAX_SAFE_INTEGER,
    parent: options.signal,
  });
  const { signal } = run;
  const artifactsDir = await mkdtemp(join(tmpdir(), 'enginewright-check-'));
  const seen: Seen[] = [];
  const limits: CheckLimits = {
    timeoutMs: options.timeoutMs ?? 10_000,
    launchTimeoutMs: options.launchTimeoutMs ?? 60_000,
    abortTimeoutMs: options.abortTimeoutMs ?? 2000,
    quietMs: options.quietMs ?? 100,
  };
  const cwd = options.cwd ?? process.cwd();
  const { initializationOptions } = options;
  const base = {
    probes: options.probes ?? {},
    destructive: options.destructive === true,
    limits,
    initializationOptions,
    artifactsDir,
    cwd,
  };

  /** Runs `act` with connections that are put away after it. */
  async function withWires<T>(
    rule: string,
    manifest: EngineManifest | undefined,
    act: (context: RuleContext, wires: readonly Wire[]) => Promise<T>,
  ): Promise<T> {
    const wires: Wire[] = [];
    const onOffence = (offence: Offence, wire: Wire): void => {
      seen.push({ ...offence, rule, exchange: wire.exchange() });
    };
    const context: RuleContext = {
      ...base,
      ...(manifest && { manifest }),
      async connect(role = 'worker') {
        const wire = await Wire.open({ transport, role, cwd, limits, signal, onOffence });
        wires.push(wire);
        return wire;
      },
    };
    try {
      return await act(context, wires);
    } finally {
      for (const wire of wires) await wire.close();
    }
  }

  try {
    const manifest = await withWires('handshake/initialize', undefined, fetchManifest).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        throw new EngineError(
          'ENGINE_FAILURE',
          `The engine server (${transport.label}) cannot be reached: ${(error as Error).message}`,
          { cause: error },
        );
      },
    );
    const outcomes = new Map<string, CheckOutcome>();
    for (const rule of rules) {
      signal.throwIfAborted();
      const outcome = await withWires(rule.id, manifest, (context, wires) =>
        runRule(rule, context, wires),
      );
      signal.throwIfAborted();
      outcomes.set(rule.id, outcome);
      if (rule.watch === undefined) options.onRule?.(outcome);
    }
    for (const rule of rules) {
      if (rule.watch === undefined) continue;
      const outcome = judgeWatch(rule, outcomes.get(rule.id), seen);
      outcomes.set(rule.id, outcome);
      options.onRule?.(outcome);
    }
    return summarize(transport.label, manifest, [...outcomes.values()]);
  } finally {
    run.dispose();
    await rm(artifactsDir, { recursive: true, force: true });
  }
}

/** The manifest as far as it can be read; what is wrong with it is for the rules to say. */
async function fetchManifest(context: RuleContext): Promise<EngineManifest | undefined> {
  const wire = await context.connect();
  wire.lenient = true;
  try {
    const { launchTimeoutMs } = context.limits;
    const result = await wire.result('initialize', initializeParams(context), launchTimeoutMs);
    const manifest = isPlainObject(result) ? result['manifest'] : undefined;
    await wire.request('shutdown').catch(() => undefined);
    wire.notify('exit');
    if (!isPlainObject(manifest) || !Array.isArray(manifest['methods'])) return undefined;
    const lists = ['actions', 'pointerActions'].filter((name) => !Array.isArray(manifest[name]));
    const kept = Object.entries(manifest).filter(([name]) => !lists.includes(name));
    return Object.fromEntries(kept) as unknown as EngineManifest;
  } catch {
    return undefined;
  }
}

async function runRule(
  rule: CheckRule,
  context: RuleContext,
  wires: readonly Wire[],
): Promise<CheckOutcome> {
  const { id, title, spec } = rule;
  const missing = missingFor(rule, context);
  if (missing !== undefined) return { id, title, spec, status: 'not-applicable', reason: missing };
  try {
    await rule.run(context);
    return { id, title, spec, status: 'passed' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof NotApplicable) {
      return { id, title, spec, status: 'not-applicable', reason };
    }
    const exchange = wires.at(-1)?.exchange() ?? [];
    return { id, title, spec, status: 'failed', reason, exchange };
  } finally {
    for (const wire of wires) await sayGoodbye(wire, context);
  }
}

/** Ends what a rule left: an engine that is switched off properly can be started again by the next. */
async function sayGoodbye(wire: Wire, context: RuleContext): Promise<void> {
  if (!wire.active || wire.closed || wire.overdue || wire.lenient) return;
  const cleanup = (): Record<string, unknown> => ({
    signal: { id: wire.mintId() },
    timeoutMs: context.limits.timeoutMs,
  });
  try {
    for (const method of ['lifecycle/endAttempt', 'lifecycle/dispose'] as const) {
      if (context.manifest?.methods.includes(method) === true) {
        await wire.request(method, cleanup());
      }
    }
    await wire.request('shutdown');
    wire.notify('exit');
  } catch {
    // The rule has its outcome; a server that cannot end is what the rules about ending are for.
  }
}

/** Why a rule says nothing about this server; undefined when it applies. */
function missingFor({ needs }: CheckRule, setting: CheckSetting): string | undefined {
  if (needs === undefined) return undefined;
  const { manifest, probes, destructive } = setting;
  const listed = (method: string): boolean =>
    (manifest?.methods as readonly string[] | undefined)?.includes(method) === true;
  if (manifest === undefined) return 'the server announced no manifest';
  const methods = needs.methods?.filter((method) => !listed(method)) ?? [];
  if (methods.length > 0) return `the manifest does not list ${methods.join(', ')}`;
  const actions = needs.actions?.filter((kind) => !(manifest.actions ?? []).includes(kind)) ?? [];
  if (actions.length > 0) return `the manifest's actions lack ${actions.join(', ')}`;
  const pointer =
    needs.pointerActions?.filter((kind) => !(manifest.pointerActions ?? []).includes(kind)) ?? [];
  if (pointer.length > 0) return `the manifest's pointerActions lack ${pointer.join(', ')}`;
  const absent = needs.probes?.filter((name) => probes[name] === undefined) ?? [];
  if (absent.length > 0) return `no probe (${absent.join(', ')})`;
  if (needs.destructive === true && !destructive) return 'destructive rules are off';
  return undefined;
}

function judgeWatch(
  rule: CheckRule,
  own: CheckOutcome | undefined,
  seen: readonly Seen[],
): CheckOutcome {
  const found = seen.filter(({ kind }) => kind === rule.watch);
  const [first] = found;
  const { id, title, spec } = rule;
  if (first === undefined) return own ?? { id, title, spec, status: 'passed' };
  const more = found.length > 1 ? ` (and ${found.length - 1} more of the kind)` : '';
  const where = first.rule === id ? '' : `, seen in ${first.rule}`;
  const reason = `${first.problem}${where}${more}`;
  return { id, title, spec, status: 'failed', reason, exchange: first.exchange };
}

function summarize(
  server: string,
  manifest: EngineManifest | undefined,
  rules: readonly CheckOutcome[],
): CheckReport {
  const count = (status: CheckOutcome['status']): number =>
    rules.filter((rule) => rule.status === status).length;
  const failed = count('failed');
  return {
    server,
    ...(manifest && { manifest }),
    ok: failed === 0,
    passed: count('passed'),
    failed,
    notApplicable: count('not-applicable'),
    rules,
  };
}

function readOptions(options: CheckEngineOptions): readonly CheckRule[] {
  rejectUnknownKeys('checkEngine options', options, OPTION_NAMES);
  if (options.probes !== undefined) readProbes(options.probes);
  for (const name of ['timeoutMs', 'launchTimeoutMs', 'abortTimeoutMs', 'quietMs'] as const) {
    const value: unknown = options[name];
    if (value === undefined || (typeof value === 'number' && value > 0)) continue;
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `checkEngine option ${JSON.stringify(name)} must be a number of milliseconds above 0.`,
    );
  }
  const { only } = options;
  if (only === undefined) return CHECK_RULES;
  const matches = (part: string, id: string): boolean =>
    id === part || (part.endsWith('/') && id.startsWith(part));
  for (const part of only) {
    if (CHECK_RULES.some(({ id }) => matches(part, id))) continue;
    const ids = CHECK_RULES.map(({ id }) => id);
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `checkEngine has no rule ${JSON.stringify(part)}${suggestName(part, ids)}`,
    );
  }
  return CHECK_RULES.filter(({ id }) => only.some((part) => matches(part, id)));
}
