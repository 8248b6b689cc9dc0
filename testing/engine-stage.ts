// What the engine rules share: an engine in a running attempt, a look at its tree, and the few
// helpers that say what was wrong. Kept apart so that the rules read as a list.
import {
  isEngineError,
  type EngineAttemptContext,
  type EngineHandle,
  type EngineSnapshot,
  type LocatorExpression,
  type OperationContext,
  type SemanticNode,
} from '../core/contract.ts';

export interface EngineSuiteContext {
  /** Makes an engine that no rule has used. */
  create(): EngineHandle | Promise<EngineHandle>;
  /** What `session.open` gets: a screen that stays as it is by itself, with a control on it. */
  readonly url?: string;
  /** Absolute. */
  readonly projectRoot: string;
  /** Absolute; the screenshots of the suite go here. */
  readonly artifactsDir: string;
  readonly signal: AbortSignal;
  /** Limit of one operation, ms. Default 30 000. */
  readonly timeoutMs?: number;
}

/** An engine in a running attempt, as a rule uses it. */
export interface Stage {
  readonly engine: EngineHandle;
  readonly attempt: EngineAttemptContext;
  readonly operation: (signal?: AbortSignal) => OperationContext;
  observe(): Promise<EngineSnapshot>;
}

export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

export function cleanup(context: EngineSuiteContext): { signal: AbortSignal; timeoutMs: number } {
  return { signal: context.signal, timeoutMs: context.timeoutMs ?? 30_000 };
}

export async function init(engine: EngineHandle, context: EngineSuiteContext): Promise<void> {
  await engine.init?.({
    runId: 'suite',
    targetName: engine.name,
    projectRoot: context.projectRoot,
    app: {},
    env: {},
    headed: false,
    workerSlot: 0,
    signal: context.signal,
    log: () => undefined,
  });
}

export function attemptOf(context: EngineSuiteContext, attemptId: string): EngineAttemptContext {
  return {
    attemptId,
    artifactsDir: context.artifactsDir,
    signal: context.signal,
    screens: false,
    resolveSecret: () => Promise.reject(new Error('the suite has no secrets')),
    appLog: () => undefined,
    navigation: () => undefined,
    environment: () => undefined,
    screen: () => undefined,
  };
}

/** Runs a rule on a fresh engine within an attempt, with the screen open where there is one. */
export async function onStage(
  context: EngineSuiteContext,
  act: (stage: Stage) => Promise<void>,
): Promise<void> {
  const engine = await context.create();
  const operation = (signal = context.signal): OperationContext => ({
    signal,
    timeoutMs: context.timeoutMs ?? 30_000,
    runId: 'suite',
    attemptId: 'suite-1',
    origin: 'test',
  });
  const observe = async (): Promise<EngineSnapshot> => {
    const snapshot = await engine.observe?.(operation());
    ensure(snapshot !== undefined, 'observe answered nothing');
    return snapshot;
  };
  try {
    await init(engine, context);
    const attempt = attemptOf(context, 'suite-1');
    await engine.startAttempt?.(attempt);
    if (context.url !== undefined) await engine.session?.open?.(context.url, operation());
    await act({ engine, attempt, operation, observe });
  } finally {
    await engine.endAttempt?.(cleanup(context));
    await engine.dispose?.(cleanup(context));
  }
}

export function allNodes(root: SemanticNode): readonly SemanticNode[] {
  return [root, ...(root.children ?? []).flatMap(allNodes)];
}
export const idsOf = (nodes: readonly SemanticNode[]): readonly string[] =>
  nodes.map(({ ref }) => ref.id);

/** The code of the engine error that a call rejects with. */
export async function codeOf(call: Promise<unknown> | undefined): Promise<string> {
  try {
    await call;
    return 'no error';
  } catch (error) {
    return isEngineError(error) ? error.code : `no EngineError, but ${String(error)}`;
  }
}

/** Expressions of every kind that can be said about an unknown screen. */
export function expressionsFor(nodes: readonly SemanticNode[]): readonly LocatorExpression[] {
  const named = nodes.find((node) => node.role !== undefined && (node.name ?? '') !== '');
  const role = named?.role ?? 'button';
  const byRole: LocatorExpression = {
    kind: 'query',
    query: { kind: 'role', value: { kind: 'string', value: role, exact: true } },
  };
  const text = (value: string, exact: boolean): LocatorExpression => ({
    kind: 'query',
    query: { kind: 'text', value: { kind: 'string', value, exact } },
  });
  const name = named?.name ?? 'nothing has this name';
  return [
    byRole,
    text(name, true),
    text(name.slice(0, 3), false),
    {
      kind: 'query',
      query: { kind: 'label', value: { kind: 'string', value: name, exact: true } },
    },
    { kind: 'query', query: { kind: 'text', value: { kind: 'regexp', source: '.', flags: 'u' } } },
    { kind: 'index', source: byRole, index: 'last' },
    { kind: 'index', source: byRole, index: 99_999 },
    { kind: 'filter', source: byRole, hasText: { kind: 'string', value: name, exact: false } },
    {
      kind: 'query',
      query: { kind: 'testId', value: { kind: 'string', value: 'none-such', exact: true } },
    },
  ];
}

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The size that a PNG states; throws for anything else. */
export function pngSize(data: Uint8Array): { readonly width: number; readonly height: number } {
  ensure(
    PNG_SIGNATURE.every((byte, index) => data[index] === byte),
    'the picture is no PNG',
  );
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
