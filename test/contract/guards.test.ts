// The guards of what crosses the wire: what every implementation may send gets through, and what it
// may not is named with its path.
import {
  findObservationFault,
  LOCATOR_ACTION_KINDS,
  POINTER_ACTION_KINDS,
  validateAction,
  validateExpression,
  validatePointerAction,
  validateSnapshot,
  type LocatorActionKind,
  type PointerActionKind,
  type SemanticNode,
} from '../../core/contract.ts';
import { checkShape } from '../../core/base/shape.ts';
import {
  APP_LOG_ENTRY_SHAPE,
  ENGINE_STATE_SHAPE,
  POINT_SHAPE,
  VIDEO_SEGMENTS_SHAPE,
  WIRE_SNAPSHOT_SHAPE,
} from '../../core/contract/guards.ts';
import { assert, suite } from '../harness.ts';

const ref = { id: 'a', revision: '' };
const viewport = { width: 100, height: 50, scale: 2 };
const screen = { root: { ref }, viewport };
const pixels = { data: new Uint8Array(3), mediaType: 'image/png', width: 2, height: 2, scale: 1 };
const rooted = (parts: object) => ({ ...screen, root: { ref, ...parts } });

const snapshots = suite('snapshot guard');

snapshots('takes a full one, and members of a later version', () => {
  const full = {
    ...screen,
    location: 'app / home',
    truncated: true,
    pixels,
    maskedRegionCount: 0,
    future: { x: 1 },
    root: {
      ref: { id: 'root', revision: 'r1' },
      role: 'textbox',
      name: 'n',
      text: '',
      value: 'v',
      selection: 's',
      testId: 't',
      inputPurpose: 'one-time-code',
      states: { checked: false, secure: true, later: 'x' },
      level: 6,
      attributes: { placeholder: 'p' },
      rect: { x: -3, y: 0.5, width: 0, height: 1e6 },
      selector: '#a',
      framePath: ['#f'],
      children: [{ ref }],
      later: true,
    },
  };
  assert.is(validateSnapshot(full), undefined);
  assert.is(
    validateSnapshot({ ...screen, pixels: { ...pixels, data: Buffer.from('x') } }),
    undefined,
  );
  assert.is(validateSnapshot(rooted({ name: 'x'.repeat(5000) })), undefined, 'left whole');
  assert.is(validateSnapshot(rooted({ name: undefined })), undefined);
});

const REFUSED: readonly (readonly [unknown, string])[] = [
  [null, 'snapshot'],
  [{ viewport }, 'snapshot.root'],
  [{ root: { ref } }, 'snapshot.viewport'],
  [{ ...screen, viewport: { ...viewport, scale: 0 } }, 'snapshot.viewport.scale'],
  [{ ...screen, viewport: { ...viewport, width: Number.NaN } }, 'snapshot.viewport.width'],
  [{ ...screen, location: null }, 'snapshot.location'],
  [{ ...screen, truncated: 'no' }, 'snapshot.truncated'],
  [{ ...screen, maskedRegionCount: -1 }, 'snapshot.maskedRegionCount'],
  [{ ...screen, treeUnavailable: false }, 'snapshot.treeUnavailable'],
  [{ ...screen, treeUnavailable: true }, 'snapshot.treeUnavailable'],
  [{ ...rooted({ name: 'x' }), treeUnavailable: true, pixels }, 'snapshot.root.name'],
  [{ ...screen, pixels: { ...pixels, data: 'AAAA' } }, 'snapshot.pixels.data'],
  [{ ...screen, pixels: { ...pixels, width: 0 } }, 'snapshot.pixels.width'],
  [{ ...screen, pixels: { ...pixels, mediaType: 'image/jpeg' } }, 'snapshot.pixels.mediaType'],
  [rooted({ ref: { id: '', revision: '' } }), 'snapshot.root.ref.id'],
  [rooted({ ref: { id: 'a' } }), 'snapshot.root.ref.revision'],
  [rooted({ name: 5 }), 'snapshot.root.name'],
  [rooted({ inputPurpose: 'pin' }), 'snapshot.root.inputPurpose'],
  [rooted({ states: { checked: 'mixed' } }), 'snapshot.root.states.checked'],
  [rooted({ level: 7 }), 'snapshot.root.level'],
  [rooted({ attributes: { a: 1 } }), 'snapshot.root.attributes.a'],
  [
    rooted({ rect: { x: 0, y: 0, width: Number.POSITIVE_INFINITY, height: 1 } }),
    'snapshot.root.rect.width',
  ],
  [rooted({ rect: { x: 0, y: 0, width: -1, height: 1 } }), 'snapshot.root.rect.width'],
  [rooted({ framePath: '#f' }), 'snapshot.root.framePath'],
  [rooted({ children: [{ ref: { id: 'b', revision: '' } }, {}] }), 'snapshot.root.children[1].ref'],
  [rooted({ children: [{ ref }] }), 'snapshot.root.children[0].ref.id'],
];
snapshots('names what is wrong', () => {
  for (const [value, path] of REFUSED) assert.is(validateSnapshot(value)?.path, path);
  assert.is(validateSnapshot({ ...screen, treeUnavailable: true, pixels }), undefined);
});

snapshots('on the wire pixels are base64', () => {
  const wire = (data: unknown) =>
    checkShape(WIRE_SNAPSHOT_SHAPE, { ...screen, pixels: { ...pixels, data } }, 'result');
  assert.is(wire('AAEC'), undefined);
  assert.is(wire('AAE='), undefined);
  for (const data of ['AAE', 'A=AA', 'AA*=', new Uint8Array(2)]) {
    assert.is(wire(data)?.path, 'result.pixels.data');
  }
});

snapshots('a tree of 100 000 nodes is checked, and a bottomless one refused', () => {
  const children = Array.from({ length: 100_000 }, (_, index) => ({
    ref: { id: `n${index}`, revision: '' },
    role: 'row',
    name: `Row ${index}`,
    rect: { x: 0, y: index, width: 1, height: 1 },
  }));
  assert.is(validateSnapshot(rooted({ children })), undefined);
  let deep: object = { ref: { id: 'leaf', revision: '' } };
  for (let level = 0; level < 20_000; level += 1) {
    deep = { ref: { id: `d${level}`, revision: '' }, children: [deep] };
  }
  assert.match(validateSnapshot({ root: deep, viewport })?.problem ?? '', /nested deeper/);
});

snapshots('faults of an engine that the wire lets through', () => {
  const fault = (parts: Partial<SemanticNode>) =>
    findObservationFault({ ref, children: [{ ref: { id: 'b', revision: '' }, ...parts }] });
  assert.is(fault({ name: 'x'.repeat(256), text: 'y'.repeat(512) }), undefined);
  assert.is(fault({ name: '😀'.repeat(256) }), undefined, 'counted in characters');
  assert.is(fault({ name: 'x'.repeat(257) })?.path, 'root.children[0].name');
  assert.is(fault({ value: 'x'.repeat(513) })?.path, 'root.children[0].value');
  assert.is(fault({ value: 'x', states: { secure: true } })?.path, 'root.children[0].value');
  assert.is(fault({ selection: '', states: { secure: true } })?.path, 'root.children[0].selection');
});

const actions = suite('action guards');

const NODE_ACTIONS: Readonly<Record<LocatorActionKind, object>> = {
  tap: { modifiers: ['Shift', 'ControlOrMeta'] },
  doubleTap: {},
  secondaryTap: {},
  longPress: { durationMs: 500 },
  fill: { value: '', sensitive: false },
  clear: {},
  press: { key: 'Shift++' },
  check: {},
  uncheck: {},
  focus: {},
  hover: {},
  scrollIntoView: {},
  selectOption: { value: 'Large' },
  setInputFiles: { paths: ['/a'] },
  dragTo: { target: ref },
  swipe: { direction: 'up', momentum: 'warp' },
};
const POINTER_ACTIONS: Readonly<Record<PointerActionKind, object>> = {
  tap: {},
  doubleTap: {},
  secondaryTap: {},
  longPress: {},
  hover: {},
  dragTo: { target: { x: 1, y: 2 } },
  swipe: { direction: 'left', momentum: 'fast' },
  swipeTo: { target: { x: 0.5, y: -1 } },
};

actions('every kind of the contract is known, in its order', () => {
  assert.equal(Object.keys(NODE_ACTIONS), [...LOCATOR_ACTION_KINDS]);
  assert.equal(Object.keys(POINTER_ACTIONS), [...POINTER_ACTION_KINDS]);
  for (const [kind, rest] of Object.entries(NODE_ACTIONS)) {
    assert.is(validateAction({ kind, ...rest }), undefined);
  }
  for (const [kind, rest] of Object.entries(POINTER_ACTIONS)) {
    assert.is(validatePointerAction({ kind, ...rest }), undefined);
  }
  for (const value of [{ label: 'L' }, { value: '' }, { index: 0 }]) {
    assert.is(validateAction({ kind: 'selectOption', value }), undefined);
  }
});

actions('names what is wrong', () => {
  const refused: readonly (readonly [object, string])[] = [
    [{}, 'action.kind'],
    [{ kind: 'click' }, 'action.kind'],
    [{ kind: 'toString' }, 'action.kind'],
    [{ kind: 'swipeTo', target: { x: 1, y: 1 } }, 'action.kind'],
    [{ kind: 'tap', modifiers: ['Ctrl'] }, 'action.modifiers[0]'],
    [{ kind: 'tap', modifiers: ['Alt', 'Alt'] }, 'action.modifiers[1]'],
    [{ kind: 'longPress', durationMs: -1 }, 'action.durationMs'],
    [{ kind: 'fill', value: 'x' }, 'action.sensitive'],
    [{ kind: 'press', key: 'Return' }, 'action.key'],
    [{ kind: 'selectOption', value: { index: -1 } }, 'action.value'],
    [{ kind: 'selectOption', value: { label: 'a', value: 'b' } }, 'action.value'],
    [{ kind: 'setInputFiles', paths: '/a' }, 'action.paths'],
    [{ kind: 'dragTo', target: { x: 1, y: 1 } }, 'action.target.id'],
    [{ kind: 'swipe', direction: 'north' }, 'action.direction'],
  ];
  for (const [value, path] of refused) assert.is(validateAction(value)?.path, path);
  assert.is(validatePointerAction({ kind: 'fill', value: 'x' })?.path, 'action.kind');
  assert.is(validatePointerAction({ kind: 'dragTo', target: ref })?.path, 'action.target.x');
  assert.is(checkShape(POINT_SHAPE, { x: 1, y: Number.NaN }, 'point')?.path, 'point.y');
});

const rest = suite('expression and other guards');

rest('expressions', () => {
  const value = { kind: 'string', value: 'x', exact: false };
  const button = { kind: 'query', query: { kind: 'role', value, level: 2, states: {} } };
  const good: readonly object[] = [
    button,
    { kind: 'query', query: { kind: 'text', value, visible: true }, scope: button },
    { kind: 'filter', source: button, hasText: value, has: button },
    { kind: 'index', source: button, index: -3 },
    { kind: 'index', source: button, index: 'last' },
    { kind: 'selector', selector: '#a' },
    { kind: 'frame', selector: '#f', source: button },
  ];
  for (const expression of good) assert.is(validateExpression(expression), undefined);
  const bad: readonly (readonly [unknown, string])[] = [
    ['button', 'expression'],
    [{ kind: 'query' }, 'expression.query'],
    [{ kind: 'query', query: { kind: 'text' } }, 'expression.query.value'],
    [{ kind: 'query', query: { kind: 'text', value, states: {} } }, 'expression.query.states'],
    [{ kind: 'query', query: { kind: 'testId', value, name: value } }, 'expression.query.name'],
    [
      { kind: 'query', query: { kind: 'role', value, states: { hidden: 1, checked: 1 } } },
      'expression.query.states.checked',
    ],
    [
      { kind: 'query', query: { kind: 'role', value: { kind: 'regexp', source: 'a', flags: '' } } },
      'expression.query.value.kind',
    ],
    [{ kind: 'filter', source: button, has: { kind: 'x' } }, 'expression.has.kind'],
    [{ kind: 'index', source: button, index: 'second' }, 'expression.index'],
    [{ kind: 'index', source: button, index: 0.5 }, 'expression.index'],
    [{ kind: 'selector', selector: '' }, 'expression.selector'],
  ];
  for (const [expression, path] of bad) assert.is(validateExpression(expression)?.path, path);
  let deep: object = button;
  for (let level = 0; level < 5000; level += 1) deep = { kind: 'index', source: deep, index: 0 };
  assert.match(validateExpression(deep)?.problem ?? '', /nested deeper than 64/);
});

rest('state, video and log', () => {
  const at = '2026-01-02T03:04:05.000Z';
  const state = { format: 'f', version: 1, data: { a: [1] } };
  assert.is(checkShape(ENGINE_STATE_SHAPE, { ...state, expiresAt: at }, 'state'), undefined);
  assert.is(checkShape(ENGINE_STATE_SHAPE, { ...state, data: null }, 'state'), undefined);
  const date = { ...state, data: { a: new Date(0) } };
  assert.is(checkShape(ENGINE_STATE_SHAPE, date, 'state')?.path, 'state.data.a');
  assert.is(
    checkShape(ENGINE_STATE_SHAPE, { format: 'f', version: 1 }, 'state')?.path,
    'state.data',
  );
  const segments = [
    { path: 'a.webm', startedAt: at },
    { url: 'https://x', mediaType: 'text/html', startedAt: at },
  ];
  assert.is(checkShape(VIDEO_SEGMENTS_SHAPE, segments, 'result'), undefined);
  assert.is(checkShape(VIDEO_SEGMENTS_SHAPE, [{ path: 'a' }], 'result')?.path, 'result[0]');
  const entry = { level: 'warning', text: '', at };
  assert.is(checkShape(APP_LOG_ENTRY_SHAPE, entry, 'entry'), undefined);
  assert.is(
    checkShape(APP_LOG_ENTRY_SHAPE, { ...entry, level: 'warn' }, 'entry')?.path,
    'entry.level',
  );
  assert.is(checkShape(APP_LOG_ENTRY_SHAPE, { ...entry, at: 'now' }, 'entry')?.path, 'entry.at');
  for (const wrong of ['2026', 'Jan 2 2026', '2026-13-02T03:04:05Z', '2026-01-02T03:04:05']) {
    assert.is(checkShape(APP_LOG_ENTRY_SHAPE, { ...entry, at: wrong }, 'entry')?.path, 'entry.at');
  }
  assert.is(
    checkShape(APP_LOG_ENTRY_SHAPE, { ...entry, at: '2026-01-02T03:04:05.1+02:00' }, 'entry'),
    undefined,
  );
});

snapshots.run();
actions.run();
rest.run();
