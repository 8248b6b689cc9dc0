// What a rule works with: connections in the state that it needs (raw, initialized, in an attempt with
// the probe's screen open), each of its own, and put away after it however it ends. Signals are ids
// here, as on the wire; nothing of the product's client takes part.
import { resolveExpression, type EngineSnapshot, type SemanticNode } from '../../core/contract.ts';
import { PROTOCOL_VERSION, type EngineMethod } from '../../core/protocol/index.ts';
import type { Answer, Json } from './inspect.ts';
import { nodeExpression, type ProbeName } from './probes.ts';
import { CheckFailure, expect, type CheckSetting } from './types.ts';
import type { Wire } from './wire.ts';

/** A snapshot as it crosses: `pixels.data` is base64. */
export type WireSnapshot = Omit<EngineSnapshot, 'pixels'> & {
  readonly pixels?: {
    readonly data: string;
    readonly mediaType: string;
    readonly width: number;
    readonly height: number;
    readonly scale: number;
  };
};

export interface RuleContext extends CheckSetting {
  readonly initializationOptions: unknown;
  /** Absolute; removed after the check. */
  readonly artifactsDir: string;
  /** Absolute. */
  readonly cwd: string;
  /** A connection on which nothing was said yet. */
  connect(role?: 'run' | 'worker'): Promise<Wire>;
}

/** What an operation has left when it starts, ms: no rule but the one about time runs out of it. */
const BUDGET_MS = 60_000;

export function lists(context: CheckSetting, method: EngineMethod): boolean {
  return context.manifest?.methods.includes(method) === true;
}

export function initializeParams(context: RuleContext, role: 'run' | 'worker' = 'worker'): Json {
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'enginewright', version: 'check' },
    role,
    ...(context.initializationOptions !== undefined && {
      initializationOptions: context.initializationOptions,
    }),
  };
}

/** A connection on which `initialize` was answered and `initialized` said. */
export async function ready(
  context: RuleContext,
  role: 'run' | 'worker' = 'worker',
): Promise<Wire> {
  const wire = await context.connect(role);
  const { launchTimeoutMs } = context.limits;
  await wire.result('initialize', initializeParams(context, role), launchTimeoutMs);
  wire.active = true;
  wire.notify('initialized', {});
  return wire;
}

/** A fresh signal. */
const signalOf = (wire: Wire): Json => ({ id: wire.mintId() });

export function initParams(context: RuleContext, wire: Wire): Json {
  return {
    runId: 'check',
    targetName: 'check',
    projectRoot: context.cwd,
    app: {},
    env: {},
    headed: false,
    workerSlot: 0,
    signal: signalOf(wire),
  };
}

export function attemptParams(context: RuleContext, wire: Wire, attemptId: string): Json {
  const { artifactsDir } = context;
  return { attemptId, artifactsDir, signal: signalOf(wire), screens: false };
}

export function cleanupParams(context: RuleContext, wire: Wire): Json {
  return { signal: signalOf(wire), timeoutMs: context.limits.timeoutMs };
}

export interface Stage {
  readonly wire: Wire;
  /** The params' `operation`, under a fresh signal unless `over` brings another. */
  operation(over?: Json): Json;
  /** Calls an engine method with an `operation` beside its other params. */
  call(method: EngineMethod, params?: Json, over?: Json, timeoutMs?: number): Promise<Answer>;
  /** The same where anything but a result fails the rule. */
  result(method: EngineMethod, params?: Json): Promise<unknown>;
  observe(options?: Json): Promise<WireSnapshot>;
  /** The node of a probe on the present screen. */
  find(name: ProbeName): Promise<SemanticNode>;
  /** Taps a node; anything but a result fails the rule. */
  tap(node: SemanticNode): Promise<void>;
  startAttempt(attemptId: string): Promise<void>;
  endAttempt(): Promise<void>;
}

/** An initialized engine that is on, without an attempt. */
export async function launched(context: RuleContext): Promise<Wire> {
  const wire = await ready(context);
  if (lists(context, 'lifecycle/init')) {
    const { launchTimeoutMs } = context.limits;
    await wire.result('lifecycle/init', initParams(context, wire), launchTimeoutMs);
  }
  return wire;
}

/** An engine in a running attempt, with the probe's screen open where there is one. */
export async function onStage(context: RuleContext): Promise<Stage> {
  const stage = stageOn(context, await launched(context));
  await stage.startAttempt('check-1');
  const { open } = context.probes;
  if (open !== undefined && lists(context, 'session/open')) {
    const { launchTimeoutMs } = context.limits;
    const answer = await stage.call('session/open', { url: open }, {}, launchTimeoutMs);
    if ('error' in answer) {
      throw new CheckFailure(
        `session/open failed for the probe ${JSON.stringify(open)}: ${answer.error.message}`,
      );
    }
  }
  return stage;
}

export function stageOn(context: RuleContext, wire: Wire): Stage {
  const { limits } = context;
  let attemptId = 'check-0';
  const stage: Stage = {
    wire,
    operation: (over = {}) => ({
      signal: signalOf(wire),
      timeoutMs: BUDGET_MS,
      runId: 'check',
      attemptId,
      origin: 'test',
      ...over,
    }),
    call: (method, params = {}, over = {}, timeoutMs = limits.timeoutMs) =>
      wire.request(method, { ...params, operation: stage.operation(over) }, timeoutMs),
    result: (method, params = {}) =>
      wire.result(method, { ...params, operation: stage.operation() }),
    async observe(options) {
      const result = await stage.result('engine/observe', options && { options });
      const root = (result as Partial<WireSnapshot> | null)?.root as unknown;
      expect(typeof root === 'object' && root !== null, 'engine/observe answered no root');
      return result as WireSnapshot;
    },
    async find(name) {
      const probe = context.probes[name];
      const target = typeof probe === 'object' && 'node' in probe ? probe.node : probe;
      const { root } = await stage.observe();
      const [node] = resolveExpression(nodeExpression(name, target), [root]);
      expect(node !== undefined, `the probe ${name} finds nothing: ${JSON.stringify(target)}`);
      return node;
    },
    async tap({ ref }) {
      await stage.result('engine/perform', { ref, action: { kind: 'tap' } });
    },
    async startAttempt(id) {
      attemptId = id;
      wire.endedAttempts.delete(id);
      if (!lists(context, 'lifecycle/startAttempt')) return;
      const params = attemptParams(context, wire, id);
      await wire.result('lifecycle/startAttempt', params, limits.launchTimeoutMs);
    },
    async endAttempt() {
      if (!lists(context, 'lifecycle/endAttempt')) return;
      await wire.result('lifecycle/endAttempt', cleanupParams(context, wire));
      wire.endedAttempts.add(attemptId);
    },
  };
  return stage;
}

export function allNodes(root: SemanticNode): readonly SemanticNode[] {
  return [root, ...(root.children ?? []).flatMap(allNodes)];
}

/** What a screen shows, to compare two of them. */
export const shown = ({ root, location }: WireSnapshot): string => JSON.stringify([location, root]);
