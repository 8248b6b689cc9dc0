// The kiosk: its own conformance, and what it does beyond the rules that hold for every engine.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kiosk, type KioskOptions } from '../../adapters/engines/kiosk/index.ts';
import type {
  EngineAttemptContext,
  EngineHandle,
  EngineSnapshot,
  LocatorAction,
  OperationContext,
  SemanticNode,
} from '../../core/contract.ts';
import { createFakeClock, engineSuite, runEngineSuite } from '../../testing/index.ts';
import { assert, rejects, suite } from '../harness.ts';

const conformance = suite('kiosk conformance');
conformance('keeps every rule of the engine suite', async ({ signal }) => {
  const artifactsDir = await mkdtemp(join(tmpdir(), 'kiosk-'));
  try {
    for (const url of ['/menu', 'http://127.0.0.1:3000/checkout', 'kiosk://app/menu/margherita']) {
      const results = await runEngineSuite({
        create: () => kiosk(),
        url,
        projectRoot: artifactsDir,
        artifactsDir,
        signal,
      });
      assert.is(results.length, engineSuite.length);
      for (const { rule, status, error } of results) {
        assert.is(status, 'passed', `${url}: ${rule}: ${String(error)}`);
      }
    }
  } finally {
    await rm(artifactsDir, { recursive: true });
  }
});
conformance('the suite fails an engine that breaks a rule', async ({ signal }) => {
  const good = kiosk();
  let calls = 0;
  const bad = Object.freeze({
    ...good,
    observe: async (...args: Parameters<NonNullable<EngineHandle['observe']>>) => {
      const snapshot = (await good.observe?.(...args)) as EngineSnapshot;
      calls += 1;
      return { ...snapshot, root: { ...snapshot.root, ref: { id: `r${calls}`, revision: '' } } };
    },
  });
  const results = await runEngineSuite({
    create: () => bad,
    url: '/menu',
    projectRoot: tmpdir(),
    artifactsDir: tmpdir(),
    signal,
  });
  const failed = results.filter(({ status }) => status === 'failed').map(({ rule }) => rule);
  assert.ok(failed.includes('ids stay while the screen does'), failed.join('; '));
  assert.ok(failed.includes('the root keeps its id over restart'), failed.join('; '));
});
conformance.run();

interface Stage {
  readonly engine: EngineHandle;
  readonly navigations: string[];
  readonly logs: string[];
  context(signal?: AbortSignal): OperationContext;
  observe(): Promise<EngineSnapshot>;
  open(url: string): Promise<void>;
  node(name: string, role?: string): Promise<SemanticNode>;
  does(name: string, action: LocatorAction, role?: string): Promise<void>;
}

async function onStage(
  options: KioskOptions,
  act: (stage: Stage) => Promise<void>,
  attempt: Partial<EngineAttemptContext> = {},
): Promise<void> {
  const engine = kiosk(options);
  const { signal } = new AbortController();
  const navigations: string[] = [];
  const logs: string[] = [];
  const context = (own: AbortSignal = signal): OperationContext => ({
    signal: own,
    timeoutMs: 1000,
    runId: 'r',
    attemptId: 'a',
    origin: 'test',
  });
  await engine.init?.({
    runId: 'r',
    targetName: 'kiosk',
    projectRoot: '/',
    app: {},
    env: {},
    headed: false,
    workerSlot: 0,
    signal,
    log: () => undefined,
  });
  await engine.startAttempt?.({
    attemptId: 'a',
    artifactsDir: '/nowhere',
    signal,
    screens: false,
    resolveSecret: () => Promise.reject(new Error('none')),
    appLog: (entry) => logs.push(entry.text),
    navigation: (line) => navigations.push(line),
    environment: () => undefined,
    screen: () => undefined,
    ...attempt,
  });
  const observe = async (): Promise<EngineSnapshot> =>
    (await engine.observe?.(context())) as EngineSnapshot;
  const node = async (name: string, role?: string): Promise<SemanticNode> => {
    const found = flat((await observe()).root).find(
      (one) => (one.name ?? one.text) === name && (role === undefined || one.role === role),
    );
    assert.ok(found !== undefined, `no ${name} on the screen`);
    return found as SemanticNode;
  };
  try {
    await act({
      engine,
      navigations,
      logs,
      context,
      observe,
      node,
      open: async (url) => engine.session?.open?.(url, context()),
      does: async (name, action, role) =>
        engine.perform?.((await node(name, role)).ref, action, context()),
    });
  } finally {
    await engine.endAttempt?.({ signal, timeoutMs: 1000 });
    await engine.dispose?.({ signal, timeoutMs: 1000 });
  }
}
const flat = (node: SemanticNode): readonly SemanticNode[] => [
  node,
  ...(node.children ?? []).flatMap(flat),
];
const tap = { kind: 'tap' } as const;
const fill = (value: string, sensitive = false) => ({ kind: 'fill', value, sensitive }) as const;

async function orderOne({ open, does }: Stage): Promise<void> {
  await open('/menu/margherita');
  await does('Size', { kind: 'selectOption', value: 'Large' });
  await does('Extra cheese', { kind: 'check' });
  await does('Add to basket', tap);
  await does('Checkout', tap);
  await does('Your name', fill('Ada'));
  await does('Card PIN', fill('482913', true));
}

const test = suite('kiosk');

test('plays a whole order; the slow part follows the clock', async () => {
  const clock = createFakeClock();
  await onStage({ clock, preparationMs: 3000 }, async (stage) => {
    const { observe, node, does } = stage;
    await orderOne(stage);
    await does('Pay', tap);
    assert.is((await observe()).location, 'kiosk / order');
    const status = async (): Promise<string | undefined> =>
      flat((await observe()).root).find(({ role }) => role === 'status')?.name;
    assert.is(await status(), 'Order received');
    assert.equal((await node('New order')).states, { disabled: true });
    await clock.advance(1500);
    assert.is(await status(), 'In the kitchen');
    await clock.advance(1499);
    assert.is(await status(), 'Almost ready');
    await clock.advance(1);
    assert.is(await status(), 'Order ready');
    assert.is((await node('K-101')).role, 'definition');
    assert.is((await node('$12.50')).role, 'definition');
    await does('New order', tap);
    assert.is((await observe()).location, 'kiosk / welcome');
  });
});

test('reports where it goes, and a refused payment', async () => {
  await onStage({}, async (stage) => {
    const { navigations, logs, does, node } = stage;
    await orderOne(stage);
    await does('Card PIN', fill('000000', true));
    await does('Pay', tap);
    assert.is((await node('The card was declined.')).role, 'alert');
    assert.equal(navigations, ['kiosk / options', 'kiosk / basket', 'kiosk / checkout']);
    assert.equal(logs, ['payment refused: The card was declined.']);
  });
});

test('never tells the PIN, in the tree, the picture or an error', async () => {
  await onStage({}, async (stage) => {
    const { engine, context, does, node } = stage;
    await orderOne(stage);
    const one = await engine.observe?.(context(), { pixels: true });
    assert.not.match(JSON.stringify(one?.root), /482913/u);
    assert.is(one?.maskedRegionCount, 1);
    assert.is((await node('Card PIN')).states?.secure, true);
    await does('Card PIN', fill('1', true));
    const other = await engine.observe?.(context(), { pixels: true });
    assert.equal(other?.pixels?.data, one?.pixels?.data, 'the picture shows how long the PIN is');
    const known = await node('Card PIN');
    const error = await rejects(
      engine.perform?.(
        known.ref,
        { kind: 'selectOption', value: '482913' },
        context(),
      ) as Promise<void>,
    );
    assert.is(error.code, 'NOT_ACTIONABLE');
  });
});

test('refuses what cannot be done, and says what could', async () => {
  await onStage({}, async ({ engine, context, open, does, node }) => {
    await open('/menu');
    assert.is(
      (await rejects(does('Calzone', tap), /button "Calzone" is disabled/u)).code,
      'NOT_ACTIONABLE',
    );
    await rejects(does('Basket', fill('x')), /takes no text/u);
    await rejects(does('Basket', { kind: 'check' }), /cannot be checked/u);
    await open('/menu/lasagne');
    await rejects(
      does('Size', { kind: 'selectOption', value: 'Huge' }),
      /no option "Huge"; its options are "Small", "Medium", "Large"/u,
    );
    await rejects(
      does('Size', { kind: 'hover' }),
      (error) => error.code === 'UNSUPPORTED_CAPABILITY',
    );
    await does('Size', { kind: 'selectOption', value: { index: 0 } });
    assert.is((await node('Size')).value, 'Small');
    await rejects(
      engine.keyboard?.type('x', { replace: false }, context()) as Promise<void>,
      /has focus/u,
    );
  });
});

test('ids end with the visit of a screen', async () => {
  await onStage({}, async ({ engine, context, open, node, does }) => {
    await open('/menu');
    const old = await node('Lasagne');
    await does('Basket', tap);
    const gone = await rejects(engine.perform?.(old.ref, tap, context()) as Promise<void>);
    assert.is(gone.code, 'NODE_STALE');
    assert.is(gone.retryable, true);
    await engine.session?.back?.(context());
    const fresh = await node('Lasagne');
    await open('/menu');
    assert.is.not((await node('Lasagne')).ref.id, fresh.ref.id, 'opening again is a new visit');
    assert.is.not(fresh.ref.id, old.ref.id);
    await rejects(
      engine.perform?.(old.ref, tap, context()) as Promise<void>,
      (error) => error.code === 'NODE_STALE',
    );
  });
});

test('the keyboard types into what has focus', async () => {
  await onStage({}, async ({ engine, context, open, does, node, observe }) => {
    await open('/menu/salad');
    await does('Note to the kitchen', tap);
    await engine.keyboard?.type('no onions', { replace: false }, context());
    await engine.keyboard?.type('!', { replace: false }, context());
    assert.is((await node('Note to the kitchen')).value, 'no onions!');
    await engine.keyboard?.press('Backspace', context());
    await engine.keyboard?.type('?', { replace: false }, context());
    assert.is((await node('Note to the kitchen')).value, 'no onions?');
    await engine.keyboard?.press('Shift+Tab', context());
    await engine.keyboard?.press('Space', context());
    assert.is((await node('Extra cheese')).states?.checked, true);
    await does('Note to the kitchen', { kind: 'press', key: 'Enter' });
    assert.is((await observe()).location, 'kiosk / basket');
    await rejects(engine.keyboard?.press('NoSuchKey', context()) as Promise<void>, /is no key/u);
  });
});

test('scrolls: what is below comes into the view', async () => {
  await onStage({}, async ({ engine, context, open, does, node, observe }) => {
    await open('/menu');
    const below = await node('Espresso');
    assert.ok((below.rect?.y ?? 0) + (below.rect?.height ?? 0) > 600);
    await does('Espresso', { kind: 'scrollIntoView' });
    const shown = await node('Espresso');
    assert.is(shown.ref.id, below.ref.id);
    assert.ok((shown.rect?.y ?? 0) + (shown.rect?.height ?? 0) <= 600);
    const { root } = await observe();
    await engine.perform?.(root.ref, { kind: 'swipe', direction: 'up' }, context());
    assert.is((await node('Menu', 'heading')).rect?.y, 20);
  });
});

test('a finger at a point hits what is drawn there', async () => {
  await onStage({}, async ({ engine, context, open, node, observe }) => {
    await open('/');
    const { rect } = await node('Start order');
    await engine.performAt?.({ x: (rect?.x ?? 0) + 5, y: (rect?.y ?? 0) + 5 }, tap, context());
    assert.is((await observe()).location, 'kiosk / menu');
  });
});

test('restart keeps the basket, reset forgets it, state brings it back', async () => {
  await onStage({}, async (stage) => {
    const { engine, context, open, node } = stage;
    await orderOne(stage);
    const saved = await engine.state?.capture(context());
    await engine.session?.restart?.(context());
    assert.is(flat((await stage.observe()).root).length, 1, 'a blank surface after restart');
    await open('/basket');
    await node('1 x Margherita pizza, Large, extra cheese: $12.50');
    await engine.session?.reset?.(context());
    await open('/basket');
    await node('Your basket is empty.');
    const copy = JSON.parse(JSON.stringify(saved));
    await engine.state?.restore(copy, context());
    await node('1 x Margherita pizza, Large, extra cheese: $12.50');
    const broken = { ...copy, data: { ...copy.data, basket: [{ dish: 'secret-ingredient' }] } };
    const error = await rejects(engine.state?.restore(broken, context()) as Promise<void>);
    assert.is(error.code, 'INVALID_CONFIG');
    assert.not.match(error.message, /secret-ingredient/u);
  });
});

test('takes paths in any form, and names the nearest for a wrong one', async () => {
  await onStage({}, async ({ open, observe }) => {
    for (const url of [
      'basket',
      '/basket',
      '/basket/',
      'kiosk://app/basket',
      'http://localhost:1/basket?x#y',
    ]) {
      await open('/');
      await open(url);
      assert.is((await observe()).location, 'kiosk / basket', url);
    }
    const error = await rejects(open('/baskt'), /no screen at "\/baskt"; did you mean "\/basket"/u);
    assert.is(error.code, 'APP_UNREACHABLE');
  });
});

test('an abort ends an operation that takes time', async () => {
  const clock = createFakeClock();
  await onStage({ clock, latencyMs: 60_000 }, async ({ engine, context }) => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const call = engine.observe?.(context(abort.signal)) as Promise<unknown>;
    abort.abort(reason);
    assert.is(await rejects(call), reason);
    assert.is(clock.pending, 0);
  });
});

test('two kiosks share nothing', async () => {
  await onStage({}, async (one) => {
    await orderOne(one);
    await onStage({}, async (other) => {
      await other.open('/basket');
      await other.node('Your basket is empty.');
    });
  });
});

test('works only between init and dispose', async () => {
  const context = {
    signal: new AbortController().signal,
    timeoutMs: 1,
    runId: 'r',
    attemptId: 'a',
    origin: 'test',
  } as const;
  const error = await rejects(kiosk().observe?.(context) as Promise<unknown>);
  assert.is(error.code, 'INVALID_STATE');
});

test('writes screenshots where the attempt keeps them', async () => {
  const artifactsDir = await mkdtemp(join(tmpdir(), 'kiosk-'));
  try {
    await onStage(
      {},
      async ({ engine, context, open }) => {
        await open('/menu');
        const path = await engine.artifacts?.screenshot('the menu', context());
        assert.is(path, 'screenshots/kiosk-1-the-menu.png');
        const data = await readFile(join(artifactsDir, path ?? ''));
        assert.equal([data.readUInt32BE(16), data.readUInt32BE(20)], [800, 600]);
      },
      { artifactsDir },
    );
  } finally {
    await rm(artifactsDir, { recursive: true });
  }
});

test('checks its options', () => {
  assert.throws(() => kiosk({ preparationMS: 1 } as KioskOptions), /did you mean "preparationMs"/u);
  assert.throws(() => kiosk({ latencyMs: -1 }), /"latencyMs" must be a number of milliseconds/u);
});
test.run();
