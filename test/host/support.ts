// An in-memory engine whose every hook is logged and can be made to fail or to hang, and a session
// on it with a fake clock. Everything the host's tests need, and nothing that knows the host's inside.
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts';
import { defineEngine, type DefineEngineOptions } from '../../core/contract/define.ts';
import type { Engine, EngineHandle } from '../../core/contract/engine.ts';
import type { SemanticNode } from '../../core/contract/observation.ts';
import {
  openSessionIn,
  type EngineRegistry,
  type HostEvent,
  type Session,
  type SessionOptions,
} from '../../core/host/index.ts';

export interface TestEngine {
  readonly handle: EngineHandle;
  /** Every call in order: `init`, `perform tap`, ... */
  readonly log: string[];
  /** What each hook was last called with. */
  readonly given: Record<string, unknown>;
  /** Makes a hook throw, once per entry. */
  readonly fail: Map<string, unknown>;
  /** Makes a hook hang until its signal aborts (`polite`) or for ever. */
  readonly hang: Map<string, 'polite' | 'for ever'>;
  /** The nodes of the screen. */
  nodes: SemanticNode[];
  /** Hears of every call as it begins. */
  onCall: (name: string) => void;
  /** One logged call, for members that a test adds. */
  step(name: string, context?: { readonly signal?: AbortSignal }): Promise<void>;
}

export function node(id: string, role: string, name?: string): SemanticNode {
  return { ref: { id, revision: '' }, role, ...(name === undefined ? {} : { name }) };
}

export interface TestEngineOptions extends DefineEngineOptions {
  readonly members?: Partial<Engine>;
  readonly leaveOut?: readonly (keyof Engine)[];
}

export function createTestEngine(options: TestEngineOptions = {}): TestEngine {
  const log: string[] = [];
  const given: Record<string, unknown> = {};
  const fail = new Map<string, unknown>();
  const hang = new Map<string, 'polite' | 'for ever'>();

  const step = async (name: string, context?: { readonly signal?: AbortSignal }): Promise<void> => {
    log.push(name);
    given[name] = context;
    engine.onCall(name);
    if (fail.has(name)) {
      const error = fail.get(name);
      fail.delete(name);
      throw error;
    }
    const manner = hang.get(name);
    if (manner === undefined) return;
    await new Promise<void>((_, reject) => {
      if (manner !== 'polite') return;
      const stop = (): void => reject(context?.signal?.reason as Error);
      if (context?.signal?.aborted === true) stop();
      else context?.signal?.addEventListener('abort', stop, { once: true });
    });
  };

  const body: Engine = {
    name: 'fake',
    version: '1.0.0',
    spiVersion: 1,
    observe: async (context) => {
      await step('observe', context);
      return {
        root: { ...node('root', 'document'), children: engine.nodes },
        viewport: { width: 800, height: 600, scale: 1 },
      };
    },
    perform: (ref, action, context) => step(`perform ${action.kind} ${ref.id}`, context),
    actions: ['tap', 'fill'],
    keyboard: {
      type: (text, { replace }, context) => step(`type ${text}${replace ? ' over' : ''}`, context),
      press: (key, context) => step(`press ${key}`, context),
    },
    session: {
      open: (url, context) => step(`open ${url}`, context),
      back: (context) => step('back', context),
      restart: (context) => step('restart', context),
      reset: (context) => step('reset', context),
    },
    prepare: (info) => step('prepare', info),
    init: (info) => step('init', info),
    startAttempt: (context) => step('startAttempt', context),
    settleAttempt: (context) => step('settleAttempt', context),
    endAttempt: (context) => step('endAttempt', context),
    dispose: (context) => step('dispose', context),
    finish: (info) => step('finish', info),
    ...options.members,
  };
  for (const member of options.leaveOut ?? []) delete (body as Partial<Engine>)[member];
  const engine: TestEngine = {
    handle: defineEngine(body, options),
    log,
    given,
    fail,
    hang,
    nodes: [],
    onCall: () => undefined,
    step,
  };
  return engine;
}

export const URL = 'https://shop.example/';

export interface TestSession {
  readonly session: Session;
  readonly clock: FakeClock;
  readonly events: HostEvent[];
}

const NO_REGISTRY: EngineRegistry = {
  engine: () => Promise.reject(new Error('no registry in this test')),
  model: () => Promise.reject(new Error('no registry in this test')),
};

export interface OpenOptions extends Partial<SessionOptions> {
  readonly environment?: Readonly<Record<string, string>>;
}

/** Opens a session on the engine, with a fake clock and a list of events. */
export async function open(engine: TestEngine, options: OpenOptions = {}): Promise<TestSession> {
  const { environment = {}, ...rest } = options;
  const clock = (rest.clock as FakeClock | undefined) ?? createFakeClock();
  const events: HostEvent[] = [];
  const session = await openSessionIn(
    { readEnv: (name) => environment[name], registry: NO_REGISTRY },
    {
      target: { engine: engine.handle, app: { url: URL } },
      clock,
      onEvent: (event) => {
        events.push(event);
      },
      ...rest,
    },
  );
  return { session, clock, events };
}

/** Moves the clock until the work has settled. */
export async function settle<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let settled = false;
  const done = work.finally(() => {
    settled = true;
  });
  done.catch(() => undefined);
  await clock.runUntil(() => settled, { stepMs: 500 });
  return done;
}

/** A query by role and name. */
export const button = (name: string) =>
  ({
    kind: 'query',
    query: {
      kind: 'role',
      value: { kind: 'string', value: 'button', exact: true },
      name: { kind: 'string', value: name, exact: true },
    },
  }) as const;
