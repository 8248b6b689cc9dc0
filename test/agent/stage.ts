// A stage for agent tests: a small app in memory, a scripted model, a fake clock, and the scope that a
// host would lend. Everything the engine was asked is in `log`, so a test can say what never ran.
import { createAgent } from '../../core/agent/agent.ts';
import type { Agent } from '../../core/agent/api.ts';
import { createDriver, type Driver } from '../../core/agent/driver.ts';
import type { Model, ModelMessage, ModelRequest } from '../../core/agent/model.ts';
import type { StepEvent, StepRecord } from '../../core/agent/records.ts';
import { createRedactor } from '../../core/agent/redaction.ts';
import type {
  AgentEntry,
  AttemptLimits,
  AttemptScope,
  EngineReport,
  LedgerEntry,
} from '../../core/agent/scope.ts';
import { createDeadline } from '../../core/base/deadline.ts';
import type { LocatorAction } from '../../core/contract/actions.ts';
import { defineEngine } from '../../core/contract/define.ts';
import type { Engine, OperationContext } from '../../core/contract/engine.ts';
import { EngineError } from '../../core/contract/errors.ts';
import type { SemanticNode } from '../../core/contract/observation.ts';
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts';
import type { ScriptedAnswer, ScriptedCall } from '../../testing/scripted-model.ts';

export type TestNode = Omit<SemanticNode, 'ref' | 'children'> & {
  readonly id: string;
  readonly children?: readonly TestNode[];
};

/** The app's state: what is on the screen, and where it is. A test changes it in `onAction`. */
export interface TestApp {
  nodes: readonly TestNode[];
  location: string | undefined;
  truncated: boolean;
}

export interface StageOptions {
  readonly model?: Model;
  readonly judge?: Model;
  readonly nodes?: readonly TestNode[];
  readonly location?: string;
  /** What an action does to the app. Throwing is the engine's answer. */
  readonly onAction?: (call: ActionCall) => void | Promise<void>;
  /** Runs before every observation. */
  readonly onObserve?: (context: OperationContext, count: number) => void | Promise<void>;
  /** Members of the engine that replace or extend the stage's. */
  readonly engine?: Partial<Engine>;
  readonly entry?: Partial<AgentEntry>;
  readonly limits?: Partial<AttemptLimits>;
  readonly scope?: Partial<AttemptScope>;
  /** ms of the attempt. Default: 1 000 000. */
  readonly attemptMs?: number;
}

export interface ActionCall {
  readonly app: TestApp;
  readonly id: string;
  readonly action: LocatorAction;
  readonly context: OperationContext;
}

export interface Stage {
  readonly agent: Agent;
  readonly clock: FakeClock;
  readonly app: TestApp;
  readonly driver: Driver;
  readonly scope: AttemptScope;
  /** Engine calls in order: `observe`, `tap save`, `fill name=Ada`, `press Enter`, `open URL`. */
  readonly log: string[];
  /** The same without the observations. */
  readonly actions: readonly string[];
  readonly events: StepEvent[];
  readonly records: readonly StepRecord[];
  readonly record: StepRecord;
  report(report: EngineReport): void;
  abort(reason: unknown): void;
  /** Moves the clock until the promise settles; gives its value or throws its error. */
  play<T>(promise: Promise<T>): Promise<T>;
}

export function stage(options: StageOptions = {}): Stage {
  const clock = createFakeClock();
  const log: string[] = [];
  const app: TestApp = {
    nodes: options.nodes ?? [{ id: 'save', role: 'button', name: 'Save' }],
    location: options.location,
    truncated: false,
  };
  let observations = 0;
  const body: Engine = {
    name: 'stage',
    version: '1',
    spiVersion: 1,
    async observe(context) {
      log.push('observe');
      observations += 1;
      await options.onObserve?.(context, observations);
      return {
        ...(app.location === undefined ? {} : { location: app.location }),
        root: { ref: { id: 'root', revision: '' }, children: app.nodes.map(toNode) },
        viewport: { width: 800, height: 600, scale: 1 },
        ...(app.truncated ? { truncated: true } : {}),
      };
    },
    actions: ['tap', 'fill', 'press', 'check', 'uncheck', 'selectOption', 'swipe', 'dragTo'],
    async perform(ref, action, context) {
      log.push(describe(action, ref.id));
      if (ref.id !== 'root' && find(app.nodes, ref.id) === undefined) {
        throw new EngineError('NODE_STALE', `node ${ref.id} is gone`, { retryable: true });
      }
      await options.onAction?.({ app, id: ref.id, action, context });
    },
    ...options.engine,
  };
  const engine = defineEngine(body);
  const driver = createDriver({ engine, clock, runId: 'run', attemptId: 'attempt' });
  const deadline = createDeadline({ clock, ms: options.attemptMs ?? 1_000_000 });
  const events: StepEvent[] = [];
  const reports: EngineReport[] = [];
  const ledger: LedgerEntry[] = [];
  const redactor = createRedactor();
  const entry: AgentEntry = {
    name: 'default',
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.judge === undefined ? {} : { judge: options.judge }),
    vision: false,
    maxSteps: 25,
    maxModelCalls: 25,
    maxObservationBytes: 24_000,
    ...options.entry,
  };
  let steps = 0;
  let minted = 0;
  let tail: Promise<unknown> = Promise.resolve();
  const scope: AttemptScope = {
    clock,
    runId: 'run',
    attemptId: 'attempt',
    retry: 0,
    projectRoot: '.',
    agentName: entry.name,
    agents: new Map([[entry.name, entry]]),
    limits: { timeout: 120_000, actionTimeout: 30_000, cleanupTimeout: 30_000, ...options.limits },
    deadline,
    driver,
    allowedOrigins: [],
    redactor,
    secrets: { resolve: () => Promise.reject(new Error('no secrets')), has: () => false },
    reports: { mark: () => reports.length, since: (mark) => reports.slice(mark) },
    tainted: false,
    taint: () => undefined,
    ledger,
    addToLedger: (item) => void ledger.push(item),
    nextStepIndex: () => (steps += 1),
    newId: () => `id-${(minted += 1)}`,
    exclusive: (work) => {
      const turn = tail.then(work);
      tail = turn.catch(() => undefined);
      return turn;
    },
    emit: (event) => void events.push(event),
    evidence: () => Promise.resolve(undefined),
    ...options.scope,
  };
  const records = (): readonly StepRecord[] =>
    events.flatMap((event) => (event.phase === 'closed' ? [event.record] : []));
  return {
    agent: createAgent(scope),
    clock,
    app,
    driver,
    scope,
    log,
    get actions() {
      return log.filter((line) => line !== 'observe');
    },
    events,
    get records() {
      return records();
    },
    get record() {
      const last = records().at(-1);
      if (last === undefined) throw new Error('no step has closed');
      return last;
    },
    report: (report) => void reports.push(report),
    abort: (reason) => {
      deadline.abort(reason);
    },
    async play(promise) {
      let settled = false;
      const mark = (): void => {
        settled = true;
      };
      promise.then(mark, mark);
      await clock.runUntil(() => settled, { limitMs: 2_000_000 });
      return promise;
    },
  };
}

function toNode({ id, children, ...rest }: TestNode): SemanticNode {
  return {
    ...rest,
    ref: { id, revision: '' },
    ...(children === undefined ? {} : { children: children.map(toNode) }),
  };
}

function find(nodes: readonly TestNode[], id: string): TestNode | undefined {
  for (const node of nodes) {
    const found = node.id === id ? node : find(node.children ?? [], id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describe(action: LocatorAction, id: string): string {
  switch (action.kind) {
    case 'fill':
      return `fill ${id}=${action.value}`;
    case 'press':
      return `press ${id} ${action.key}`;
    case 'swipe':
      return `swipe ${id} ${action.direction}`;
    case 'selectOption':
      return `select ${id}=${JSON.stringify(action.value)}`;
    case 'setInputFiles':
      return `upload ${id} ${action.paths.length}`;
    case 'dragTo':
      return `drag ${id} to ${action.target.id}`;
    default:
      return `${action.kind} ${id}`;
  }
}

/** One turn of tool calls. */
export function calls(...list: readonly ScriptedCall[]): ScriptedAnswer {
  return { calls: list };
}
export function tap(target: string): ScriptedCall {
  return { name: 'tap', arguments: { target } };
}
/** A turn that ends the step. */
export function verdict(
  status: string,
  summary = 'ok',
  code: string | null = null,
): ScriptedAnswer {
  return calls({ name: 'complete_step', arguments: { status, summary, code } });
}
export function judged(name: string, reason = 'because'): ScriptedAnswer {
  return calls({ name: 'judge', arguments: { verdict: name, reason } });
}

/** All text of a message. */
export function textOf(message: ModelMessage | undefined): string {
  if (message === undefined) throw new Error('no such message');
  if (message.role === 'system' || message.role === 'assistant') return message.text;
  return message.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n');
}
/** The texts of the tool results of a request, oldest first. */
export function results(request: ModelRequest | undefined): readonly string[] {
  if (request === undefined) throw new Error('no such request');
  return request.messages.filter((message) => message.role === 'tool').map(textOf);
}
/** The short id that a request gives to the node whose line contains `words`. */
export function idOf(request: ModelRequest, words: string): string {
  for (const message of request.messages.toReversed()) {
    for (const line of textOf(message).split('\n')) {
      const id = /^[\s~+]*(e\d+) /u.exec(line)?.[1];
      if (id !== undefined && line.includes(words)) return id;
    }
  }
  throw new Error(`no node with ${words}`);
}
