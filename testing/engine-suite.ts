// What every engine must do, as rules that know no test library: a harness runs them over an engine
// in process, the same engine behind a wire, and any other engine, and expects the same. A rule that
// needs a capability the engine lacks is skipped with that reason; a rule fails by throwing an
// error that says what was seen.
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import {
  findObservationFault,
  isEngineHandle,
  resolveExpression,
  validateSnapshot,
  type EngineHandle,
  type EngineSnapshot,
  type SemanticNode,
} from '../core/contract.ts';
import {
  allNodes,
  attemptOf,
  cleanup,
  codeOf,
  ensure,
  expressionsFor,
  idsOf,
  init,
  onStage,
  pngSize,
  type EngineSuiteContext,
} from './engine-stage.ts';

/** What an engine must have for a rule: a capability, or a hook of its session. */
export type EngineNeed =
  | 'observation'
  | 'location'
  | 'actions'
  | 'pointer'
  | 'keyboard'
  | 'state'
  | 'artifacts'
  | 'session.open'
  | 'session.restart'
  | 'session.reset';

export interface EngineRule {
  readonly name: string;
  readonly needs: readonly EngineNeed[];
  /** Rejects with what is wrong. */
  run(context: EngineSuiteContext): Promise<void>;
}

export interface RuleResult {
  readonly rule: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped. */
  readonly reason?: string;
  readonly error?: unknown;
}

/** What of a rule's needs an engine lacks. */
export function missingNeeds(rule: EngineRule, engine: EngineHandle): readonly EngineNeed[] {
  return rule.needs.filter((need) => {
    switch (need) {
      case 'session.open':
        return engine.session?.open === undefined;
      case 'session.restart':
        return engine.session?.restart === undefined;
      case 'session.reset':
        return engine.session?.reset === undefined;
      default:
        return !engine.capabilities.has(need);
    }
  });
}

/** Runs every rule, one after another, and answers what came of each. */
export async function runEngineSuite(context: EngineSuiteContext): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = [];
  for (const rule of engineSuite) {
    context.signal.throwIfAborted();
    const missing = missingNeeds(rule, await context.create());
    if (missing.length > 0) {
      const reason = `the engine has no ${missing.join(', ')}`;
      results.push({ rule: rule.name, status: 'skipped', reason });
      continue;
    }
    try {
      await rule.run(context);
      results.push({ rule: rule.name, status: 'passed' });
    } catch (error) {
      results.push({ rule: rule.name, status: 'failed', error });
    }
  }
  return results;
}

/** The rules, in an order in which the simplest fails first. */
export const engineSuite: readonly EngineRule[] = [
  {
    name: 'is what defineEngine returns',
    needs: [],
    async run(context) {
      ensure(isEngineHandle(await context.create()), 'the handle is not one of defineEngine');
    },
  },
  {
    name: 'dispose tolerates an engine that was never initialised',
    needs: [],
    async run(context) {
      const engine = await context.create();
      await engine.dispose?.(cleanup(context));
      await engine.dispose?.(cleanup(context));
    },
  },
  {
    name: 'init may follow dispose',
    needs: ['observation'],
    async run(context) {
      const engine = await context.create();
      try {
        await init(engine, context);
        await engine.dispose?.(cleanup(context));
        await init(engine, context);
        await engine.startAttempt?.(attemptOf(context, 'again'));
        const operation = { timeoutMs: 30_000, runId: 'suite', attemptId: 'again' } as const;
        await engine.observe?.({ ...operation, signal: context.signal, origin: 'test' });
        await engine.endAttempt?.(cleanup(context));
      } finally {
        await engine.dispose?.(cleanup(context));
      }
    },
  },
  {
    name: 'endAttempt is idempotent, and safe without a startAttempt',
    needs: [],
    async run(context) {
      const engine = await context.create();
      try {
        await init(engine, context);
        await engine.endAttempt?.(cleanup(context));
        await engine.startAttempt?.(attemptOf(context, 'once'));
        await engine.endAttempt?.(cleanup(context));
        await engine.endAttempt?.(cleanup(context));
      } finally {
        await engine.dispose?.(cleanup(context));
      }
    },
  },
  {
    name: 'observations keep the contract: shapes, unique ids, no revisions, text limits',
    needs: ['observation'],
    run: (context) =>
      onStage(context, async ({ observe }) => {
        const snapshot = await observe();
        const fault = validateSnapshot(snapshot) ?? findObservationFault(snapshot.root);
        ensure(fault === undefined, `${fault?.path ?? ''} ${fault?.problem ?? ''}`);
        const nodes = allNodes(snapshot.root);
        ensure(new Set(idsOf(nodes)).size === nodes.length, 'two nodes have the same id');
        for (const { ref } of nodes) {
          ensure(ref.id !== '', 'a node has an empty id');
          ensure(ref.revision === '', `node ${ref.id} has a revision; the harness stamps those`);
        }
      }),
  },
  {
    name: 'secure nodes never report a value or a selection',
    needs: ['observation', 'actions'],
    run: (context) =>
      onStage(context, async ({ engine, observe, operation }) => {
        const secure = (snapshot: EngineSnapshot): readonly SemanticNode[] =>
          allNodes(snapshot.root).filter((node) => node.states?.secure === true);
        const secret = 'hunter2-4711';
        const [field] = secure(await observe());
        if (field !== undefined && engine.actions?.includes('fill') === true) {
          const action = { kind: 'fill', value: secret, sensitive: true } as const;
          await engine.perform?.(field.ref, action, operation());
        }
        const after = await observe();
        for (const node of secure(after)) {
          ensure(node.value === undefined, `secure node ${node.ref.id} reports its value`);
          ensure(node.selection === undefined, `secure node ${node.ref.id} reports a selection`);
        }
        ensure(!JSON.stringify(after).includes(secret), 'the secret is in the snapshot');
      }),
  },
  {
    name: 'ids stay while the screen does',
    needs: ['observation'],
    run: (context) =>
      onStage(context, async ({ observe }) => {
        const before = idsOf(allNodes((await observe()).root));
        const after = idsOf(allNodes((await observe()).root));
        ensure(before.join() === after.join(), 'the same screen has other ids when observed again');
      }),
  },
  {
    name: 'the root keeps its id over restart',
    needs: ['observation', 'session.restart'],
    run: (context) =>
      onStage(context, async ({ engine, observe, operation }) => {
        const before = (await observe()).root.ref.id;
        await engine.session?.restart?.(operation());
        ensure((await observe()).root.ref.id === before, 'the root has another id after restart');
      }),
  },
  {
    name: 'the root keeps its id over reset, and the app opens again',
    needs: ['observation', 'session.reset'],
    run: (context) =>
      onStage(context, async ({ engine, observe, operation }) => {
        const before = (await observe()).root.ref.id;
        await engine.session?.reset?.(operation());
        ensure((await observe()).root.ref.id === before, 'the root has another id after reset');
        if (context.url === undefined) return;
        await engine.session?.open?.(context.url, operation());
        ensure((await observe()).root.ref.id === before, 'the root has another id after open');
      }),
  },
  {
    name: 'an id that was never given out is NODE_STALE',
    needs: ['actions'],
    run: (context) =>
      onStage(context, async ({ engine, operation }) => {
        const kind = engine.actions?.find((one) => one === 'tap' || one === 'focus') ?? 'swipe';
        const action = kind === 'swipe' ? ({ kind, direction: 'down' } as const) : { kind };
        const ref = { id: 'no-such-node', revision: '' };
        const code = await codeOf(engine.perform?.(ref, action, operation()));
        ensure(code === 'NODE_STALE', `expected NODE_STALE, got ${code}`);
      }),
  },
  {
    name: 'the root can be swiped',
    needs: ['actions', 'observation'],
    run: (context) =>
      onStage(context, async ({ engine, observe, operation }) => {
        if (engine.actions?.includes('swipe') !== true) return;
        const { root } = await observe();
        await engine.perform?.(root.ref, { kind: 'swipe', direction: 'down' }, operation());
        await engine.perform?.(root.ref, { kind: 'swipe', direction: 'up' }, operation());
      }),
  },
  {
    name: 'an aborted signal ends an operation, and the engine lives on',
    needs: ['observation'],
    run: (context) =>
      onStage(context, async ({ engine, observe, operation }) => {
        const reason = new Error('the suite aborted it');
        const aborted = AbortSignal.abort(reason);
        let failed = false;
        await engine.observe?.(operation(aborted)).catch(() => {
          failed = true;
        });
        ensure(failed, 'observe resolved under a signal that was aborted before');
        await observe();
      }),
  },
  {
    name: 'locate answers what resolveExpression does',
    needs: ['location', 'observation'],
    run: (context) =>
      onStage(context, async ({ engine, observe, operation }) => {
        const { root } = await observe();
        for (const expression of expressionsFor(allNodes(root))) {
          const expected = idsOf(resolveExpression(expression, [root])).join();
          const found = (await engine.locate?.(expression, operation())) ?? [];
          ensure(
            idsOf(found).join() === expected,
            `locate answers ${idsOf(found).join()} for ${JSON.stringify(expression)}, not ${expected}`,
          );
        }
      }),
  },
  {
    name: 'captured state is JSON and can be restored',
    needs: ['state'],
    run: (context) =>
      onStage(context, async ({ engine, operation }) => {
        const state = await engine.state?.capture(operation());
        ensure(state !== undefined && state.format !== '', 'the state has no format');
        ensure(Number.isSafeInteger(state.version), 'the version is no whole number');
        const copy = JSON.parse(JSON.stringify(state)) as typeof state;
        await engine.state?.restore(copy, operation());
        const again = await engine.state?.capture(operation());
        ensure(again?.format === state.format, 'the format changed by restoring');
      }),
  },
  {
    name: 'a screenshot is a PNG under the artifact directory',
    needs: ['artifacts'],
    run: (context) =>
      onStage(context, async ({ engine, operation }) => {
        const path = (await engine.artifacts?.screenshot('../suite label', operation())) ?? '';
        const inside = path !== '' && !isAbsolute(path) && !path.split(/[\\/]/u).includes('..');
        ensure(inside, `the path ${JSON.stringify(path)} is not inside the directory`);
        const { width, height } = pngSize(await readFile(join(context.artifactsDir, path)));
        ensure(width > 0 && height > 0, 'the picture is empty');
      }),
  },
  {
    name: 'pixels, where there are any, have the size that they state',
    needs: ['observation'],
    run: (context) =>
      onStage(context, async ({ engine, operation }) => {
        const snapshot = await engine.observe?.(operation(), { pixels: true });
        const pixels = snapshot?.pixels;
        if (pixels === undefined) return;
        const { width, height } = pngSize(pixels.data);
        ensure(
          width === pixels.width && height === pixels.height,
          `the PNG is ${width} by ${height}, and is said to be ${pixels.width} by ${pixels.height}`,
        );
      }),
  },
];
