// The manifest: its check, its description of an engine, the comparison, and the schema that must
// agree with the check on every case here.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { checkManifest, compareManifests, describeEngine } from '../../core/protocol/manifest.ts';
import { manifestSchema } from '../../core/protocol/manifest-schema.ts';
import { ENGINE_METHOD_NAMES } from '../../core/protocol/methods.ts';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import { assert, suite } from '../harness.ts';
import { sampleEngine, scriptedServer } from './engine-support.ts';

const test = suite('protocol manifest');

const read = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

const BASE = {
  name: 'kiosk',
  version: '1.0.0',
  spiVersion: 1,
  methods: ['engine/observe', 'engine/perform'],
  actions: ['tap'],
};

/** What is wrong, and what the message has to say. */
const WRONG: readonly (readonly [string, unknown, RegExp])[] = [
  ['no object', 'kiosk', /manifest must be an object/],
  ['a list', [], /manifest must be an object/],
  ['no name', { ...BASE, name: undefined }, /manifest\.name is missing/],
  ['an empty version', { ...BASE, version: '' }, /manifest\.version must not be empty/],
  ['another spiVersion', { ...BASE, spiVersion: 2 }, /manifest\.spiVersion must be 1/],
  ['no methods', { ...BASE, methods: undefined }, /manifest\.methods is missing/],
  ['methods as text', { ...BASE, methods: 'engine/observe' }, /manifest\.methods must be a list/],
  [
    'an unknown method',
    { ...BASE, methods: ['engine/observ'] },
    /unknown method "engine\/observ"; did you mean "engine\/observe"/,
  ],
  ['a number as method', { ...BASE, methods: [5] }, /manifest\.methods\[0\]/],
  [
    'a method twice',
    { ...BASE, methods: [...BASE.methods, 'engine/observe'] },
    /manifest\.methods\[2\] repeats "engine\/observe"/,
  ],
  ['an unknown member', { ...BASE, pointer: [] }, /unknown key "pointer"/],
  ['an unknown action', { ...BASE, actions: ['fly'] }, /manifest\.actions\[0\]/],
  ['no action', { ...BASE, actions: [] }, /manifest\.actions must not be empty/],
  ['workers 0', { ...BASE, workers: 0 }, /manifest\.workers/],
  ['workers as text', { ...BASE, workers: '2' }, /manifest\.workers/],
  ['an empty platform', { ...BASE, platform: '' }, /manifest\.platform/],
  ['tapModifiers as text', { ...BASE, tapModifiers: 'yes' }, /manifest\.tapModifiers/],
  [
    'perform without actions',
    { ...BASE, actions: undefined },
    /manifest\.actions is missing: engine\/perform needs/,
  ],
  [
    'actions without perform',
    { ...BASE, methods: ['engine/observe'] },
    /manifest\.actions needs engine\/perform/,
  ],
  [
    'perform without observe',
    { ...BASE, methods: ['engine/perform'] },
    /lists engine\/perform, which needs engine\/observe/,
  ],
  [
    'performAt without its kinds',
    { ...BASE, methods: [...BASE.methods, 'engine/performAt'] },
    /manifest\.pointerActions is missing/,
  ],
  [
    'locate without observe',
    { ...BASE, methods: ['engine/locate'], actions: undefined },
    /engine\/locate, which needs engine\/observe/,
  ],
  [
    'type without press',
    { ...BASE, methods: [...BASE.methods, 'keyboard/type'] },
    /keyboard\/type, which needs keyboard\/press/,
  ],
  [
    'capture without restore',
    { ...BASE, methods: [...BASE.methods, 'state/capture'] },
    /state\/capture, which needs state\/restore/,
  ],
  [
    'startVideo without stopVideo',
    { ...BASE, methods: [...BASE.methods, 'artifacts/screenshot', 'artifacts/startVideo'] },
    /artifacts\/startVideo, which needs artifacts\/stopVideo/,
  ],
  [
    'video without screenshot',
    { ...BASE, methods: [...BASE.methods, 'artifacts/startVideo', 'artifacts/stopVideo'] },
    /which needs artifacts\/screenshot/,
  ],
  [
    'tapModifiers without perform',
    { ...BASE, methods: [], actions: undefined, tapModifiers: true },
    /manifest\.tapModifiers needs engine\/perform/,
  ],
];

const GOOD: readonly unknown[] = [
  BASE,
  { name: 'x', version: '1', spiVersion: 1, methods: [] },
  { ...BASE, tapModifiers: false },
  { ...BASE, methods: [], actions: undefined, tapModifiers: false },
  { ...BASE, methods: [...BASE.methods, 'session/open', 'lifecycle/settleAttempt'], workers: 3 },
  { ...describeEngine(sampleEngine().handle) },
];

const validate = new Ajv2020({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
}).compile(manifestSchema());
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

for (const [what, manifest, message] of WRONG) {
  test(`refused by check, by connectEngine and by the schema: ${what}`, () => {
    const refused = (check: () => unknown): void => {
      try {
        check();
      } catch (error) {
        assert.is((error as { code?: unknown }).code, 'INVALID_CONFIG');
        assert.match((error as Error).message, message);
        return;
      }
      assert.unreachable('it was accepted');
    };
    refused(() => checkManifest(manifest));
    const { transport } = scriptedServer(() => undefined);
    refused(() => connectEngine({ manifest: manifest as never, transport }));
    assert.is(validate(json(manifest)), false, 'by the schema');
  });
}

test('good manifests pass both, and come back frozen', () => {
  for (const manifest of GOOD) {
    const checked = checkManifest(manifest);
    assert.equal(checked, json(manifest));
    assert.ok(Object.isFrozen(checked) && Object.isFrozen(checked.methods));
    assert.ok(validate(json(manifest)), JSON.stringify(validate.errors));
  }
});

test('the shipped schema is the one that the sources say, and its fixtures hold', () => {
  const shipped = read('../../schema/engine-manifest-v1.schema.json');
  assert.equal(shipped, json(manifestSchema()), 'node scripts/schema.mjs refreshes it');
  const valid = read('../fixtures/schema/engine-manifest-v1.valid.json');
  const invalid = read('../fixtures/schema/engine-manifest-v1.invalid.json');
  assert.ok(validate(valid), JSON.stringify(validate.errors));
  checkManifest(valid);
  assert.is(validate(invalid), false);
  assert.throws(() => checkManifest(invalid));
});

test('describeEngine lists what the members answer, and the two that are always answered', () => {
  assert.equal([...describeEngine(sampleEngine().handle).methods], [...ENGINE_METHOD_NAMES]);
  const { handle } = sampleEngine({
    locate: undefined,
    performAt: undefined,
    pointerActions: undefined,
    keyboard: undefined,
    state: undefined,
    artifacts: { screenshot: async () => 'a.png' },
    session: { back: async () => undefined },
    prepare: undefined,
    finish: undefined,
    init: undefined,
    dispose: undefined,
    startAttempt: undefined,
    settleAttempt: undefined,
    endAttempt: undefined,
    tapModifiers: undefined,
    platform: undefined,
  });
  assert.equal(
    { ...describeEngine(handle) },
    {
      name: 'sample',
      version: '1.0.0',
      spiVersion: 1,
      methods: [
        'engine/observe',
        'engine/perform',
        'artifacts/screenshot',
        'session/back',
        'lifecycle/startAttempt',
        'lifecycle/endAttempt',
      ],
      actions: ['tap', 'fill', 'setInputFiles'],
    },
  );
  assert.throws(
    () => describeEngine({ name: 'x' } as never),
    /describeEngine takes an engine handle/,
  );
});

test('manifests are compared member by member, lists as sets', () => {
  const declared = checkManifest({ ...BASE, platform: 'kiosk' });
  const same = {
    ...BASE,
    platform: 'kiosk',
    methods: [...BASE.methods].reverse(),
    tapModifiers: false,
  };
  assert.equal(compareManifests(declared, same), []);
  assert.equal(compareManifests(declared, { ...same, extra: 1 }), [], 'what is to come is ignored');
  assert.equal(compareManifests(declared, { ...same, name: 'other', workers: 2 }), [
    'name (declared "kiosk", announced "other")',
    'workers (declared nothing, announced 2)',
  ]);
  assert.equal(compareManifests(declared, { ...same, actions: undefined, tapModifiers: true }), [
    'actions (declared ["tap"], announced nothing)',
    'tapModifiers (declared false, announced true)',
  ]);
  assert.equal(
    compareManifests(declared, { ...same, methods: ['engine/observe', 'engine/locate'] }),
    ['methods (only declared: engine/perform; only announced: engine/locate)'],
  );
  assert.equal(compareManifests(declared, { ...same, methods: 'all' }).length, 1);
  for (const none of [undefined, null, 5, 'x', []]) {
    assert.equal(compareManifests(declared, none), ['the server announced no manifest']);
  }
});

test.run();
