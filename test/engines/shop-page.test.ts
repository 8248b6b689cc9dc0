// The demo's page keeps to the kiosk: the same actions leave the same words on both, so that a flow
// written for one plays on the other.
import { kiosk } from '../../adapters/engines/kiosk/index.ts';
import {
  resolveExpression,
  type EngineHandle,
  type EngineSnapshot,
  type LocatorAction,
} from '../../core/contract.ts';
import { assert, suite } from '../harness.ts';
import { servePages, type PageServer } from '../../cli/page-server.ts';
import { eachNode, Stage } from './playwright-kit.ts';

const stage = new Stage();
const test = suite('shop page');
let server: PageServer;
test.before(async () => {
  await stage.start();
  server = await servePages(new URL('../../examples/shop-page/', import.meta.url));
});
test.after(async () => {
  await stage.stop();
  await server.close();
});

type Step = readonly [role: string, name: string, action: LocatorAction];
const tap = (name: string): Step => ['button', name, { kind: 'tap' }];
const fill = (role: string, name: string, value: string): Step => [
  role,
  name,
  { kind: 'fill', value, sensitive: false },
];

const STEPS: readonly Step[] = [
  tap('Start order'),
  fill('searchbox', 'Search dishes', 'lasagne'),
  tap('Lasagne'),
  ['combobox', 'Size', { kind: 'selectOption', value: 'Large' }],
  ['checkbox', 'Extra cheese', { kind: 'check' }],
  fill('textbox', 'Note to the kitchen', 'well done'),
  fill('spinbutton', 'Quantity', '0'),
  tap('Add to basket'),
  tap('More'),
  tap('Add to basket'),
  tap('Checkout'),
  tap('Pay'),
  fill('textbox', 'Your name', 'Ada Lovelace'),
  fill('textbox', 'Card PIN', '000000'),
  tap('Pay'),
  ['combobox', 'Pay with', { kind: 'selectOption', value: 'Cash at the counter' }],
  ['switch', 'Eat here', { kind: 'check' }],
  tap('Pay'),
];

/** Everything on the screen that a person reads or operates, whichever way it is told. */
function words({ root }: EngineSnapshot): readonly string[] {
  const silent = new Set(['main', 'document', 'application', 'listitem', 'paragraph']);
  return [...eachNode(root)].slice(1).flatMap(({ role, name, text, value, states, attributes }) => {
    const said = name ?? text;
    if (said === undefined) return [];
    const kind = role === undefined || silent.has(role) ? '' : `${role} `;
    const on = states?.checked === true ? ' on' : states?.disabled === true ? ' off' : '';
    const held = value === undefined || states?.secure === true ? '' : ` = ${value}`;
    const hint = attributes?.['placeholder'] === undefined ? '' : ` (${attributes['placeholder']})`;
    return [`${kind}${said}${held}${on}${hint}`];
  });
}

async function play(engine: EngineHandle, url: string): Promise<readonly (readonly string[])[]> {
  const screens: (readonly string[])[] = [];
  const look = async (): Promise<EngineSnapshot> =>
    (await engine.observe?.(stage.context())) as EngineSnapshot;
  await engine.session?.open?.(url, stage.context());
  screens.push(words(await look()));
  for (const [role, name, action] of STEPS) {
    const exact = (value: string) => ({ kind: 'string', value, exact: true }) as const;
    const query = { kind: 'role', value: exact(role), name: exact(name) } as const;
    // A tap may put the next screen up a moment later.
    let node;
    while (node === undefined) {
      [node] = resolveExpression({ kind: 'query', query }, [(await look()).root]);
    }
    const before = words(await look()).join('\n');
    await engine.perform?.(node.ref, action, stage.context());
    let after = words(await look());
    while (after.join('\n') === before && name !== 'Card PIN') after = words(await look());
    screens.push(after);
  }
  return screens;
}

test(
  'shows the words of the kiosk, screen by screen',
  async () => {
    const shop = kiosk({ preparationMs: 600_000 });
    const { signal } = new AbortController();
    await shop.init?.({
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
    const expected = await play(shop, '/');
    const seen = await play(stage.engine, `${server.url}?preparationMs=600000`);
    assert.is(seen.length, STEPS.length + 1);
    for (const [index, screen] of seen.entries()) {
      // The kiosk puts the switch of its first screen after the button, where a web form has it before.
      assert.equal(
        [...screen].sort(),
        [...(expected[index] ?? [])].sort(),
        `after ${STEPS[index - 1]?.[1] ?? 'opening'}`,
      );
    }
  },
  { timeoutMs: 30_000 },
);

test('an order is ready after the time that the address gives', async () => {
  await stage.open(`${server.url}?preparationMs=0`);
  await stage.tap('button "Start order"');
  const next = async (what: string): Promise<void> => {
    const [, role, name] = /^(\w+) "(.*)"$/u.exec(what) ?? [];
    await stage.until(({ root }) =>
      [...eachNode(root)].some((n) => n.role === role && n.name === name),
    );
    await stage.tap(what);
  };
  await next('button "Espresso"');
  await next('button "Add to basket"');
  await next('button "Checkout"');
  await stage.until(({ root }) => [...eachNode(root)].some(({ name }) => name === 'Your name'));
  await stage.act('textbox "Your name"', { kind: 'fill', value: 'Bo', sensitive: false });
  await stage.act('textbox "Card PIN"', { kind: 'fill', value: '1234', sensitive: true });
  await next('button "Pay"');
  await stage.until(({ root }) => [...eachNode(root)].some(({ text }) => text === 'Order ready'));
});

test.run();
