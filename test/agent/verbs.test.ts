// The verbs: what each asks of the engine, what it refuses, and the tools that offer them.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { resolveAddress } from '../../core/agent/dispatch/navigate.ts';
import { resolveUpload } from '../../core/agent/dispatch/upload.ts';
import { COMPLETE_STEP, modelTool, verbSpecs } from '../../core/agent/tools/table.ts';
import { LOCATOR_ACTION_KINDS } from '../../core/contract/actions.ts';
import { defineEngine } from '../../core/contract/define.ts';
import type { Engine } from '../../core/contract/engine.ts';
import type { JsonObject } from '../../core/base/json.ts';
import { scriptedModel, type ScriptedCall } from '../../testing/scripted-model.ts';
import { assert, rejects, suite } from '../harness.ts';
import { calls, idOf, results, stage, verdict, type Stage, type StageOptions } from './stage.ts';

const test = suite('agent verbs');

const nodes = [
  { id: 'name', role: 'textbox', name: 'Name', value: 'Ada' },
  { id: 'box', role: 'checkbox', name: 'News', states: { checked: true } },
  { id: 'size', role: 'combobox', name: 'Size' },
  { id: 'list', role: 'list', name: 'Menu' },
  { id: 'file', role: 'button', name: 'File' },
];

interface Played {
  readonly it: Stage;
  /** The text that answered the call. */
  readonly told: string;
}

/** Plays one call; `$Name` in its arguments stands for the id of the node with that name. */
async function play(call: ScriptedCall, options: StageOptions = {}): Promise<Played> {
  const model = scriptedModel([
    (request) => {
      const filled = Object.entries(call.arguments ?? {}).map(([key, value]) => [
        key,
        typeof value === 'string' && value.startsWith('$')
          ? idOf(request, `"${value.slice(1)}"`)
          : value,
      ]);
      return calls({ name: call.name, arguments: Object.fromEntries(filled) as JsonObject });
    },
    verdict('passed'),
  ]);
  const it = stage({ model, nodes, ...options });
  await it.play(it.agent.act('x'));
  return { it, told: results(model.requests[1])[0] ?? '' };
}

const whole: Partial<Engine> = {
  actions: LOCATOR_ACTION_KINDS,
  keyboard: {
    type: () => Promise.resolve(),
    press: () => Promise.resolve(),
    dismiss: () => Promise.resolve(),
  },
  session: { open: () => Promise.resolve(), back: () => Promise.resolve() },
};
const engineOf = (members: Partial<Engine>) =>
  defineEngine({
    name: 'e',
    version: '1',
    spiVersion: 1,
    observe: () => Promise.reject(new Error('not asked')),
    ...members,
  });
const perform = () => Promise.resolve();

test('one action on one node', async () => {
  for (const [tool, kind] of [
    ['tap', 'tap'],
    ['double_tap', 'doubleTap'],
    ['long_press', 'longPress'],
    ['right_click', 'secondaryTap'],
    ['hover', 'hover'],
  ] as const) {
    const { it } = await play(
      { name: tool, arguments: { target: '$News' } },
      { engine: { actions: [kind] } },
    );
    assert.equal(it.actions, [`${kind} box`]);
    assert.is(it.record.actionCount, 1);
  }
});

test('check does nothing to a control that is as wanted, and counts nothing', async () => {
  const same = await play({ name: 'check', arguments: { target: '$News', checked: null } });
  assert.equal(same.it.actions, []);
  assert.match(same.told, /^It is checked already/u);
  assert.equal(same.it.record.actions[0]?.outcome, 'unneeded');
  assert.is(same.it.record.actionCount, 0);
  const off = await play({ name: 'check', arguments: { target: '$News', checked: false } });
  assert.equal(off.it.actions, ['uncheck box']);
});

test('type fills, appends, or types where the focus is', async () => {
  const fill = await play({ name: 'type', arguments: { target: '$Name', value: 'Bob' } });
  assert.equal(fill.it.actions, ['fill name=Bob']);
  const append = await play({
    name: 'type',
    arguments: { target: '$Name', value: ' L.', replace: false },
  });
  assert.equal(append.it.actions, ['fill name=Ada L.']);
  const typed: unknown[] = [];
  await play(
    { name: 'type', arguments: { target: null, value: 'hi', replace: null } },
    {
      engine: {
        keyboard: {
          type: (text, options) => {
            typed.push([text, options]);
            return Promise.resolve();
          },
          press: () => Promise.resolve(),
        },
      },
    },
  );
  assert.equal(typed, [['hi', { replace: false }]]);
});

test('type does not write a placeholder, nor append to what it cannot see whole', async () => {
  const secret = await play({
    name: 'type',
    arguments: { target: '$Name', value: '<secret:pin>' },
  });
  assert.match(secret.told, /^POLICY_DENIED: /u);
  assert.equal(secret.it.actions, []);
  const long = await play(
    { name: 'type', arguments: { target: '$Name', value: 'x', replace: false } },
    { nodes: [{ id: 'name', role: 'textbox', name: 'Name', value: 'y'.repeat(512) }] },
  );
  assert.match(long.told, /^UNSUPPORTED_CAPABILITY: The screen does not show all/u);
  for (const field of [
    { states: { secure: true } },
    { inputPurpose: 'password', value: 'shown' },
    { attributes: { contenteditable: 'true' }, text: 'A letter' },
  ] as const) {
    const hidden = await play(
      { name: 'type', arguments: { target: '$Name', value: 'x', replace: false } },
      { nodes: [{ id: 'name', role: 'textbox', name: 'Name', ...field }] },
    );
    assert.match(hidden.told, /^UNSUPPORTED_CAPABILITY: The screen does not show all/u);
    assert.equal(hidden.it.actions, []);
  }
});

test('press takes keys of the grammar only', async () => {
  const good = await play({
    name: 'press',
    arguments: { target: '$Name', key: 'Control+a', times: 2 },
  });
  assert.equal(good.it.actions, ['press name Control+a', 'press name Control+a']);
  const bad = await play({ name: 'press', arguments: { target: '$Name', key: 'Return' } });
  assert.match(bad.told, /^INVALID_ARGUMENT: press: "key" .*; known: Enter, Escape/u);
  const near = await play({ name: 'press', arguments: { target: '$Name', key: 'Shift+Entr' } });
  assert.match(near.told, /; did you mean "Enter"\?/u);
  assert.equal(bad.it.actions, []);
});

test('select, drag and scroll', async () => {
  const select = await play({ name: 'select', arguments: { target: '$Size', value: 'Large' } });
  assert.equal(select.it.actions, ['select size="Large"']);
  const drag = await play({ name: 'drag', arguments: { target: '$News', to: '$Size' } });
  assert.equal(drag.it.actions, ['drag box to size']);
  const root = await play({
    name: 'scroll',
    arguments: { direction: 'down', target: null, times: 2 },
  });
  assert.equal(root.it.actions, ['swipe root down', 'swipe root down']);
  assert.is(root.it.record.actionCount, 2);
});

test('scroll_to pages until the text is in the view, as one action', async () => {
  let top = 0;
  const rows = () =>
    Array.from({ length: 40 }, (_, index) => ({
      id: `r${index}`,
      role: 'listitem',
      name: `Row ${index}`,
      rect: { x: 0, y: index * 100 - top, width: 100, height: 100 },
    }));
  const options: StageOptions = {
    nodes: rows(),
    onAction({ app }) {
      top = Math.min(top + 600, 3_400);
      app.nodes = rows();
    },
  };
  const found = await play(
    { name: 'scroll_to', arguments: { target: null, text: 'row 17', direction: null } },
    options,
  );
  assert.match(found.told, /^In the view: e\d+ listitem "Row 17"/u);
  assert.equal(found.it.actions, ['swipe root down', 'swipe root down']);
  assert.is(found.it.record.actionCount, 1);

  top = 0;
  const missing = await play(
    { name: 'scroll_to', arguments: { target: null, text: 'Row 99', direction: 'down' } },
    { ...options, nodes: rows() },
  );
  assert.match(missing.told, /^LOCATOR_NOT_FOUND: Nothing with the text "Row 99" up to the end/u);
  assert.is(missing.it.record.actionCount, 1);
  assert.is(missing.it.actions.length, 7);

  const there = await play({
    name: 'scroll_to',
    arguments: { target: null, text: 'news', direction: null },
  });
  assert.is(there.it.record.actions[0]?.outcome, 'unneeded');
  assert.equal(there.it.actions, []);
});

test('scroll_to takes a node of this very text before one that only contains it', async () => {
  const { told, it } = await play(
    { name: 'scroll_to', arguments: { target: null, text: 'Basket', direction: null } },
    {
      nodes: [
        { id: 'count', text: 'In the basket: 0' },
        { id: 'open', role: 'button', name: 'Basket' },
      ],
    },
  );
  assert.match(told, /^In the view: e2 button "Basket"\./u);
  assert.equal(it.actions, []);
});

test('scroll_to goes straight to a listed node where the engine can', async () => {
  let seen = false;
  const far = () => [
    {
      id: 'end',
      role: 'link',
      name: 'Imprint',
      rect: { x: 0, y: seen ? 10 : 9_000, width: 10, height: 10 },
    },
  ];
  const { it } = await play(
    { name: 'scroll_to', arguments: { target: null, text: 'Imprint', direction: null } },
    {
      nodes: far(),
      engine: { actions: ['swipe', 'scrollIntoView'] },
      onAction({ app }) {
        seen = true;
        app.nodes = far();
      },
    },
  );
  assert.equal(it.actions, ['scrollIntoView end']);
});

test('navigate and back are actions; dismiss_keyboard too', async () => {
  const opened: string[] = [];
  const scope = { allowedOrigins: ['https://shop.test'] };
  const engine: Partial<Engine> = {
    ...whole,
    session: {
      open: (url, context) => {
        // The step's whole rest, not the action time-out.
        assert.ok(context.timeoutMs > 100_000);
        opened.push(url);
        return Promise.resolve();
      },
      back: () => Promise.resolve(),
    },
  };
  const go = await play(
    { name: 'navigate', arguments: { url: '/cart?x=1' } },
    { engine, scope, location: 'https://shop.test/menu' },
  );
  assert.equal(opened, ['https://shop.test/cart?x=1']);
  assert.is(go.it.record.actionCount, 1);
  const denied = await play(
    { name: 'navigate', arguments: { url: 'https://evil.test/' } },
    { engine, scope, location: 'https://shop.test/menu' },
  );
  assert.match(denied.told, /^POLICY_DENIED: .*allowed origins: https:\/\/shop\.test/u);
  assert.is(opened.length, 1);
  for (const name of ['back', 'dismiss_keyboard']) {
    const { it } = await play({ name }, { engine });
    assert.is(it.record.actionCount, 1);
  }
});

test('addresses: http, https and about:blank, of allowed origins, without user info', () => {
  const allowed = ['https://shop.test', 'http://localhost:3000'];
  const ok = (url: string, location?: string) => resolveAddress(url, location, allowed);
  assert.is(ok('https://shop.test/a'), 'https://shop.test/a');
  assert.is(ok('about:blank'), 'about:blank');
  assert.is(ok('b', 'http://localhost:3000/x/y'), 'http://localhost:3000/x/b');
  // A location that is no address: the first allowed origin stands in.
  assert.is(ok('/start', 'kiosk / menu'), 'https://shop.test/start');
  for (const bad of [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'about:config',
    'https://shop.test@evil.test/',
    'https://u:p@shop.test/',
    'https://shop.test:8443/',
    'http://shop.test/',
    '//evil.test/x',
    '\\\\evil.test/x',
  ]) {
    assert.throws(
      () => ok(bad, 'https://shop.test/'),
      (error: { code: string }) => error.code === 'POLICY_DENIED',
      bad,
    );
  }
  assert.throws(
    () => ok(' ', 'https://shop.test/'),
    (error: { code: string }) => error.code === 'INVALID_ARGUMENT',
  );
  assert.throws(() => resolveAddress('https://a.test/', undefined, []), /no origin is allowed/u);
});

test('uploads: files of the project only, links resolved, none hidden', async () => {
  const base = await mkdtemp(path.join(tmpdir(), 'upload-'));
  try {
    const root = path.join(base, 'project');
    await mkdir(path.join(root, 'data'), { recursive: true });
    await mkdir(path.join(root, '.secret'));
    await writeFile(path.join(root, 'data', 'a.txt'), 'a');
    await writeFile(path.join(root, '.env'), 'KEY=1');
    await writeFile(path.join(root, '.secret', 'k.txt'), 'k');
    await writeFile(path.join(base, 'outside.txt'), 'o');
    await symlink(path.join(base, 'outside.txt'), path.join(root, 'link.txt'));
    await symlink(path.join(root, '.env'), path.join(root, 'env-link.txt'));
    assert.match(await resolveUpload('data/a.txt', root), /data.a\.txt$/u);
    assert.match(await resolveUpload('data/../data/a.txt', root), /data.a\.txt$/u);
    for (const denied of [
      '../outside.txt',
      path.join(base, 'outside.txt'),
      'C:\\x.txt',
      'link.txt',
      'env-link.txt',
      '.env',
      '.secret/k.txt',
      'data/.hidden',
      'data',
      '',
      'a\0b',
    ]) {
      const error = await rejects(resolveUpload(denied, root));
      assert.is(error.code, 'POLICY_DENIED', denied);
    }
    const missing = await rejects(resolveUpload('nothing.txt', root));
    assert.is(missing.code, 'INVALID_ARGUMENT');

    const upload = (files: readonly string[]) =>
      play(
        { name: 'upload', arguments: { target: '$File', files } },
        { engine: { actions: ['setInputFiles'] }, scope: { projectRoot: root } },
      );
    assert.equal((await upload(['data/a.txt'])).it.actions, ['upload file 1']);
    const refused = await upload(['data/a.txt', '../outside.txt']);
    assert.equal(refused.it.actions, []);
    assert.match(refused.told, /^POLICY_DENIED: /u);
  } finally {
    await rm(base, { recursive: true });
  }
});

test('a verb is offered exactly when the engine has its member', () => {
  const names = (members: Partial<Engine>) => [...verbSpecs(engineOf(members)).keys()];
  assert.equal(names({}), ['observe']);
  assert.equal(names({ perform, actions: ['tap', 'check'] }), ['tap', 'observe']);
  assert.equal(names({ perform, actions: ['check', 'uncheck'] }), ['check', 'observe']);
  assert.equal(names({ perform, actions: ['swipe'] }), ['scroll', 'scroll_to', 'observe']);
  assert.equal(names({ keyboard: { type: perform, press: perform } }), [
    'type',
    'press',
    'observe',
  ]);
  assert.equal(names({ session: { open: perform } }), ['navigate', 'observe']);
  assert.equal(names({ ...whole, perform }), [
    'tap',
    'double_tap',
    'long_press',
    'right_click',
    'hover',
    'type',
    'press',
    'select',
    'check',
    'scroll',
    'scroll_to',
    'drag',
    'upload',
    'navigate',
    'back',
    'dismiss_keyboard',
    'observe',
  ]);
  const typeFields = (members: Partial<Engine>) =>
    Object.keys(verbSpecs(engineOf(members)).get('type')?.fields ?? {});
  assert.equal(typeFields({ keyboard: { type: perform, press: perform } }), ['value', 'replace']);
});

/** Every object of a schema: closed, and all of its properties required. */
function checkClosed(schema: JsonObject, depth = 0): void {
  assert.ok(depth <= 3);
  const allowed = [
    'type',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'enum',
    'anyOf',
    'description',
  ];
  for (const key of Object.keys(schema))
    assert.ok(allowed.includes(key), `${key} is not understood by every provider`);
  if (schema['type'] === 'object') {
    assert.is(schema['additionalProperties'], false);
    assert.equal(schema['required'], Object.keys(schema['properties'] as JsonObject));
    for (const member of Object.values(schema['properties'] as JsonObject))
      checkClosed(member as JsonObject, depth + 1);
  }
  for (const member of (schema['anyOf'] ?? []) as JsonObject[]) checkClosed(member, depth + 1);
  if (schema['items'] !== undefined) checkClosed(schema['items'] as JsonObject, depth + 1);
  const values = (schema['enum'] ?? []) as unknown[];
  assert.ok(values.every((value) => typeof value === 'string'));
}

test('tool schemas are closed, stable to the byte, and small', () => {
  const engine = engineOf({ ...whole, perform });
  const tools = () => [...[...verbSpecs(engine).values()].map(modelTool), modelTool(COMPLETE_STEP)];
  for (const { name, parameters } of tools()) {
    assert.match(name, /^[a-z_]{1,64}$/u);
    assert.is(parameters['type'], 'object');
    checkClosed(parameters);
  }
  const bytes = JSON.stringify(tools());
  assert.is(JSON.stringify(tools()), bytes);
  assert.ok(bytes.length / 4 <= 2_500, `about ${Math.round(bytes.length / 4)} tokens`);
});

test.run();
