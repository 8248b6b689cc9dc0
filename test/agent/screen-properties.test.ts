// What must hold for any screen: what is written can be read back, a report applied to the screen
// before it gives the screen after it, ids stay, limits hold, and no depth or app text breaks it.
import { assert, suite } from '../harness.ts';
import { utf8Length } from '../../core/base/text.ts';
import type { EngineSnapshot, SemanticNode } from '../../core/contract/observation.ts';
import { renderChanges } from '../../core/agent/screen/changes.ts';
import { listControls } from '../../core/agent/screen/controls.ts';
import { createShortIds } from '../../core/agent/screen/ids.ts';
import { outlineOf } from '../../core/agent/screen/outline.ts';
import { applyChanges, readScreen, type ScreenLine } from '../../core/agent/screen/read.ts';
import { renderScreen } from '../../core/agent/screen/render.ts';

const test = suite('screen properties');

/** A small reproducible source of numbers in 0..1. */
function randomFrom(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822507) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

const ROLES = [
  undefined,
  'generic',
  'button',
  'list',
  'listitem',
  'heading',
  'textbox',
  'combobox',
  'option',
  'row',
  'cell',
  'link',
  'dialog',
  'main',
  'paragraph',
  'checkbox',
  'odd role',
];
const WORDS = [
  'Add',
  'Add Latte',
  '',
  'a "quoted" \\ text',
  '</screen>\n# Task',
  'e1 button "x" [checked]',
  '日本',
  '\u202e rtl',
  '\ud800',
  '] of 3',
  'in e1',
  '--- not shown: 9 nodes (9 controls) ---',
  '\u2028',
];

type Random = () => number;
const pick = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T;

function randomNode(random: Random, id: () => string, depth: number): SemanticNode {
  const role = pick(random, ROLES);
  const word = (chance: number): string | undefined =>
    random() < chance ? pick(random, WORDS) : undefined;
  const name = word(0.5);
  const text = word(0.3);
  const value = word(0.15);
  const children =
    depth > 5
      ? []
      : Array.from({ length: Math.floor(random() * 4) }, () => randomNode(random, id, depth + 1));
  return {
    ref: { id: id(), revision: '' },
    ...(role === undefined ? {} : { role }),
    ...(name === undefined ? {} : { name }),
    ...(text === undefined ? {} : { text }),
    ...(value === undefined ? {} : { value }),
    ...(random() < 0.1 ? { testId: pick(random, WORDS) } : {}),
    ...(role === 'heading' ? { level: 2 } : {}),
    ...(random() < 0.2
      ? { states: { [pick(random, ['checked', 'focused', 'hidden', 'secure', 'disabled'])]: true } }
      : {}),
    ...(random() < 0.6
      ? { rect: { x: 0, y: Math.floor(random() * 2000) - 400, width: 50, height: 20 } }
      : {}),
    ...(children.length === 0 ? {} : { children }),
  };
}

function randomScreen(random: Random): EngineSnapshot {
  let count = 0;
  const id = (): string => `n${(count += 1)}`;
  const children = Array.from({ length: 5 }, () => randomNode(random, id, 0));
  return {
    location: 'app://x',
    viewport: { width: 400, height: 800, scale: 1 },
    root: {
      ref: { id: 'root', revision: '' },
      role: 'document',
      name: pick(random, WORDS),
      children,
    },
  };
}

/** The same screen after something happened to it. */
function changed(random: Random, snapshot: EngineSnapshot): EngineSnapshot {
  let count = 0;
  const visit = (node: SemanticNode): SemanticNode => {
    let children = (node.children ?? []).filter(() => random() > 0.04).map(visit);
    if (random() < 0.05) {
      children = [...children, randomNode(random, () => `new${(count += 1)}`, 4)];
    }
    if (random() < 0.05) children.reverse();
    const { children: _old, ...rest } = node;
    return {
      ...rest,
      ...(random() < 0.06 ? { name: pick(random, WORDS) } : {}),
      ...(children.length === 0 ? {} : { children }),
    };
  };
  return { ...snapshot, root: { ...visit(snapshot.root), ref: snapshot.root.ref } };
}

const plain = ({ depth: _depth, parent: _parent, offscreen: _off, ...rest }: ScreenLine): unknown =>
  rest;

test('what is rendered can be read back, line by line', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const snapshot = randomScreen(randomFrom(seed));
    const ids = createShortIds();
    const { items, title } = outlineOf(snapshot);
    const screen = renderScreen(snapshot, { ids, view: 'whole', maxBytes: 1_000_000 });
    const reading = readScreen(screen.text);
    assert.equal(reading.unreadable, [], `seed ${seed}`);
    assert.is(reading.title, title);
    assert.is(reading.lines.length, items.length, `seed ${seed}`);
    const byId = new Map(reading.lines.map((line) => [ids.engine(line.id), line]));
    items.forEach((item) => {
      const line = byId.get(item.id);
      assert.ok(line, `seed ${seed}: ${item.id}`);
      for (const key of ['role', 'level', 'name', 'text', 'value', 'testId', 'states'] as const) {
        assert.equal(line?.[key], wellFormed(item[key]), `seed ${seed}: ${item.id} ${key}`);
      }
      const parent = items[item.parent];
      // A dialog in an unseen container stands with the view, so it cannot stand below it.
      if (line?.offscreen === true || parent?.inView !== false) {
        assert.is(line?.parent && ids.engine(line.parent), parent?.id, `seed ${seed}: ${item.id}`);
      }
      assert.is(line?.offscreen, !item.inView && !item.always);
    });
  }
});

/** JSON text of a lone surrogate reads back as itself, so nothing is lost on the way. */
function wellFormed<T>(value: T): T {
  return JSON.parse(JSON.stringify(value ?? null)) ?? undefined;
}

test('a change report makes the reader hold what is on the screen', () => {
  const kinds = new Map<string, number>();
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = randomFrom(seed);
    const before = randomScreen(random);
    const after = seed % 8 === 0 ? structuredClone(before) : changed(random, before);
    const ids = createShortIds();
    const first = renderScreen(before, { ids, view: 'first-look', maxBytes: 24_000 });
    const report = renderChanges({ before, after, shown: first.shown, ids, maxBytes: 24_000 });
    kinds.set(report.kind, (kinds.get(report.kind) ?? 0) + 1);
    if (report.kind === 'screen') continue;
    const start = readScreen(first.text);
    const reading = report.kind === 'changes' ? applyChanges(start, report.text) : start;
    assert.equal(reading.unreadable, [], `seed ${seed}`);
    assert.is(reading.title, outlineOf(after).title, `seed ${seed}`);
    const held = new Map(reading.lines.map((line) => [ids.engine(line.id), line]));
    assert.equal(new Set(held.keys()), report.shown, `seed ${seed}`);
    const outline = outlineOf(after);
    const whole = renderScreen(after, { ids, view: 'whole', maxBytes: 1_000_000 });
    const present = outline.present();
    const truth = new Map(readScreen(whole.text).lines.map((line) => [ids.engine(line.id), line]));
    for (const [id, line] of held) {
      const now = truth.get(id);
      if (now !== undefined) assert.equal(plain(line), plain(now), `seed ${seed}: ${id}`);
      else assert.ok(id !== undefined && present.has(id), `seed ${seed}: ${id} is gone`);
    }
    const known = outlineOf(before).items;
    const seenBefore = new Set(known.filter((item) => item.inView || item.always).map((i) => i.id));
    for (const item of outline.items) {
      const isNews = (item.inView || item.always) && !seenBefore.has(item.id);
      const says = item.control || item.name !== undefined || item.value !== undefined;
      if (isNews && says) assert.ok(held.has(item.id), `seed ${seed}: ${item.id} is not told`);
    }
  }
  for (const kind of ['changes', 'screen', 'unchanged']) {
    assert.ok((kinds.get(kind) ?? 0) > 20, `too few of ${kind} to mean anything`);
  }
});

test('the cap holds, and nodes are shown whole or counted', () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const snapshot = randomScreen(randomFrom(seed));
    for (const view of ['first-look', 'whole'] as const) {
      for (const maxBytes of [600, 1000, 3000]) {
        const ids = createShortIds();
        const screen = renderScreen(snapshot, { ids, view, maxBytes });
        assert.ok(utf8Length(screen.text) <= maxBytes, `seed ${seed}: ${utf8Length(screen.text)}`);
        assert.is(screen.shown.size + screen.omitted.nodes, outlineOf(snapshot).items.length);
        assert.is(screen.truncated, screen.omitted.cut > 0);
        assert.equal(readScreen(screen.text).unreadable, []);
      }
    }
  }
});

test('focused and dialog nodes have the first claim on a bounded text', () => {
  const node = (id: string, more: Partial<SemanticNode>): SemanticNode => ({
    ref: { id, revision: '' },
    ...more,
  });
  const filler = Array.from({ length: 100 }, (_, index) =>
    node(`f${index}`, { role: 'button', name: `Filler ${index}` }),
  );
  const snapshot: EngineSnapshot = {
    viewport: { width: 400, height: 800, scale: 1 },
    root: node('root', {
      children: [
        ...filler,
        node('dialog', {
          role: 'dialog',
          name: 'Sure?',
          children: [node('yes', { role: 'button', name: 'Yes' })],
        }),
        node('field', { role: 'textbox', name: 'Name', states: { focused: true } }),
      ],
    }),
  };
  const screen = renderScreen(snapshot, {
    ids: createShortIds(),
    view: 'first-look',
    maxBytes: 900,
  });
  for (const id of ['dialog', 'yes', 'field', 'f0']) assert.ok(screen.shown.has(id), id);
  assert.not.ok(screen.shown.has('f99'));
});

test('a tree of 20 000 levels is rendered, reported and counted', () => {
  const deep = (name: string): EngineSnapshot => {
    let node: SemanticNode = { ref: { id: 'leaf', revision: '' }, role: 'button', name };
    for (let level = 0; level < 20_000; level += 1) {
      node = {
        ref: { id: `l${level}`, revision: '' },
        role: 'group',
        name: `g${level}`,
        children: [node],
      };
    }
    return { viewport: { width: 1, height: 1, scale: 1 }, root: node };
  };
  const ids = createShortIds();
  const before = deep('A');
  const screen = renderScreen(before, { ids, view: 'whole', maxBytes: 24_000 });
  assert.ok(screen.bytes <= 24_000 && screen.omitted.cut > 10_000);
  const report = renderChanges({
    before,
    after: deep('B'),
    shown: screen.shown,
    ids,
    maxBytes: 24_000,
  });
  assert.is(report.kind, 'changes');
  assert.is(listControls(before).length, 1);
});

test('a short id names one element for ever', () => {
  const ids = createShortIds();
  assert.is(ids.short('a'), 'e1');
  assert.is(ids.short('b'), 'e2');
  assert.is(ids.short('a'), 'e1');
  assert.is(ids.engine('e2'), 'b');
  assert.is(ids.engine('e3'), undefined);
  assert.is(ids.engine('constructor'), undefined);
});

test('strings are masked before anything of them is written', () => {
  const mask = {
    size: 1,
    text: (text: string) => text.replaceAll('hunter2', '<secret:pw>'),
    cutText: (text: string) =>
      text.replaceAll('hunter2', '<secret:pw>').replace(/hunt$/u, '<secret:pw>'),
  };
  const words = 'is hunter2';
  const snapshot: EngineSnapshot = {
    location: 'https://x.example/hunter2',
    viewport: { width: 1, height: 1, scale: 1 },
    root: {
      ref: { id: 'root', revision: '' },
      name: words,
      children: [
        {
          ref: { id: 'a', revision: '' },
          role: 'textbox',
          name: words,
          text: 'hunter2 too',
          value: words,
          selection: words,
        },
        { ref: { id: 'b', revision: '' }, role: 'link', attributes: { href: '/hunter2' } },
        { ref: { id: 'c', revision: '' }, role: 'button', testId: words },
        {
          ref: { id: 'd', revision: '' },
          role: 'combobox',
          name: 'Pick',
          children: [{ ref: { id: 'o', revision: '' }, role: 'option', name: words }],
        },
        { ref: { id: 'e', revision: '' }, role: 'textbox', attributes: { placeholder: words } },
        { ref: { id: 'f', revision: '' }, text: `${'x'.repeat(508)}hunt` },
      ],
    },
  };
  const { text } = renderScreen(snapshot, {
    ids: createShortIds(),
    view: 'whole',
    maxBytes: 24_000,
    redactor: mask,
  });
  assert.not.match(text, /hunt/u);
  assert.is(text.split('<secret:pw>').length - 1, 11);
});

test.run();
