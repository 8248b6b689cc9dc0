// defineEngine: every rule of the contract's table, each with a message that names the member; and
// what the handle is: frozen, branded, bound, its capabilities read-only.
import {
  BUILT_IN_CAPABILITIES,
  createSecret,
  defineEngine,
  isEngineHandle,
  isRunnerError,
  LOCATOR_ACTION_KINDS,
  type Engine,
  type OperationContext,
} from '../../core/contract.ts';
import { assert, suite } from '../harness.ts';

const snapshot = {
  root: { ref: { id: 'r', revision: '' } },
  viewport: { width: 1, height: 1, scale: 1 },
};
const observe = () => Promise.resolve(snapshot);
const nothing = () => Promise.resolve();
const base = { name: 'kiosk', version: '1.0.0', spiVersion: 1 } as const;
const context: OperationContext = {
  signal: new AbortController().signal,
  timeoutMs: 1000,
  runId: 'run',
  attemptId: 'attempt',
  origin: 'test',
};

function refusal(body: unknown): string {
  try {
    defineEngine(body as Engine);
  } catch (error) {
    assert.ok(isRunnerError(error), String(error));
    assert.is(error.code, 'INVALID_CONFIG');
    assert.is(error.category, 'configuration');
    return error.message;
  }
  throw new Error(`accepted: ${JSON.stringify(body)}`);
}

const rules = suite('defineEngine refuses');

const REFUSED: readonly (readonly [string, unknown, RegExp])[] = [
  ['no object', undefined, /takes the engine as an object/],
  ['a list', [], /takes the engine as an object/],
  ['a missing name', { version: '1', spiVersion: 1 }, /^Engine: name must be/],
  ['an empty name', { ...base, name: ' ' }, /name must be a non-empty string/],
  ['a missing version', { name: 'k', spiVersion: 1 }, /^Engine "k": version must be/],
  ['a version of another type', { ...base, version: 1 }, /version must be/],
  ['another contract', { ...base, spiVersion: 2 }, /spiVersion must be the number 1/],
  ['the contract as text', { ...base, spiVersion: '1' }, /spiVersion/],
  ['an empty platform', { ...base, platform: '' }, /platform must be/],
  ['no workers', { ...base, workers: 0 }, /workers must be a positive/],
  ['half a worker', { ...base, workers: 1.5 }, /workers/],
  ['unsafe workers', { ...base, workers: 2 ** 53 }, /workers/],
  ['an unknown member', { ...base, obsreve: observe }, /"obsreve"; did you mean "observe"\?/],
  ['an app', { ...base, app: {} }, /unknown member "app"/],
  ['capabilities', { ...base, capabilities: [] }, /"capabilities" is derived/],
  ['a hook that is no function', { ...base, observe: true }, /observe must be a function/],
  ['a null hook', { ...base, dispose: null }, /dispose must be a function/],
  ['locate alone', { ...base, locate: nothing }, /locate needs observe/],
  ['perform without observe', { ...base, perform: nothing, actions: ['tap'] }, /perform needs obs/],
  ['perform without actions', { ...base, observe, perform: nothing }, /perform needs actions/],
  ['actions without perform', { ...base, observe, actions: ['tap'] }, /actions needs perform/],
  ['no action', { ...base, observe, perform: nothing, actions: [] }, /actions must be a non-empty/],
  ['text for actions', { ...base, observe, perform: nothing, actions: 'tap' }, /non-empty list/],
  [
    'an unknown action',
    { ...base, observe, perform: nothing, actions: ['tap', 'doubletapp'] },
    /unknown kind "doubletapp"; did you mean "doubleTap"\?/,
  ],
  [
    'a pointer kind among actions',
    { ...base, observe, perform: nothing, actions: ['swipeTo'] },
    /actions has the unknown kind "swipeTo"/,
  ],
  ['a repeated action', { ...base, observe, perform: nothing, actions: ['tap', 'tap'] }, /repeats/],
  ['performAt alone', { ...base, performAt: nothing, pointerActions: ['tap'] }, /needs observe/],
  ['performAt without kinds', { ...base, observe, performAt: nothing }, /needs pointerActions/],
  ['kinds without performAt', { ...base, observe, pointerActions: ['tap'] }, /needs performAt/],
  [
    'a node kind among pointer actions',
    { ...base, observe, performAt: nothing, pointerActions: ['fill'] },
    /pointerActions has the unknown kind "fill"/,
  ],
  ['tapModifiers as text', { ...base, tapModifiers: 'yes' }, /tapModifiers must be true or false/],
  ['tapModifiers alone', { ...base, observe, tapModifiers: true }, /tapModifiers needs perform/],
  [
    'keyboard without observe',
    { ...base, keyboard: { type: nothing, press: nothing } },
    /keyboard needs observe/,
  ],
  ['half a keyboard', { ...base, observe, keyboard: { type: nothing } }, /keyboard needs press/],
  [
    'an unknown key',
    { ...base, observe, keyboard: { type: nothing, press: nothing, dismis: nothing } },
    /keyboard has unknown member "dismis"; did you mean "dismiss"/,
  ],
  [
    'a member that is no function',
    { ...base, observe, keyboard: { type: nothing, press: 1 } },
    /keyboard\.press must be a function/,
  ],
  ['a keyboard that is no object', { ...base, observe, keyboard: nothing }, /object of functions/],
  ['half a state', { ...base, state: { capture: nothing } }, /state needs restore/],
  ['no screenshot', { ...base, artifacts: {} }, /artifacts needs screenshot/],
  [
    'half a trace',
    { ...base, artifacts: { screenshot: nothing, startTrace: nothing } },
    /artifacts\.startTrace needs artifacts\.stopTrace/,
  ],
  [
    'half a video',
    { ...base, artifacts: { screenshot: nothing, stopVideo: nothing } },
    /artifacts\.stopVideo needs artifacts\.startVideo/,
  ],
  ['an unknown session hook', { ...base, session: { goto: nothing } }, /session has unknown/],
  ['a session hook that is none', { ...base, session: { open: 'x' } }, /session\.open must be/],
  ['fixtures as a list', { ...base, fixtures: [] }, /fixtures must be an object/],
  ['a fixture that is none', { ...base, fixtures: { device: {} } }, /fixtures\.device must be a f/],
  ['a fixture in capitals', { ...base, fixtures: { Device: nothing } }, /lower-camel/],
  [
    'a fixture named __proto__',
    { ...base, fixtures: JSON.parse('{"__proto__":1}') },
    /lower-camel/,
  ],
  ...['agent', 'app', 'screen', 'platform', 'session', 'keyboard'].map(
    (name) =>
      [
        `a fixture named ${name}`,
        { ...base, fixtures: { [name]: nothing } },
        /name is taken/,
      ] as const,
  ),
  ['secrets by name', { ...base, secrets: ['pw'] }, /secrets\[0\] is no secret handle/],
  ['one secret', { ...base, secrets: createSecret('pw') }, /secrets must be a list/],
];
for (const [what, body, message] of REFUSED) {
  rules(what, () => {
    assert.match(refusal(body), message);
  });
}

const handles = suite('engine handle');

handles('binds a class instance with private state, and copies what it was given', async () => {
  class Kiosk {
    readonly name = 'kiosk';
    readonly version = '1';
    readonly spiVersion = 1;
    readonly actions: ('tap' | 'fill')[] = ['tap', 'fill'];
    readonly helper = 'own fields of a class are its own business';
    readonly keyboard = new Keyboard();
    #calls = 0;
    observe() {
      this.#calls += 1;
      return Promise.resolve({ ...snapshot, location: String(this.#calls) });
    }
    perform() {
      this.#calls += 10;
      return Promise.resolve();
    }
  }
  class Keyboard {
    #typed: string[] = [];
    type(text: string) {
      this.#typed.push(text);
      return Promise.resolve();
    }
    press() {
      return Promise.reject(new Error(this.#typed.join()));
    }
  }
  const body = new Kiosk();
  const handle = defineEngine(body);
  body.actions.push('tap');
  assert.equal(handle.actions, ['tap', 'fill']);
  const { observe: look, perform } = handle;
  await perform?.({ ref: 1 } as never, { kind: 'tap' }, context);
  assert.is((await look?.(context))?.location, '11');
  const type = handle.keyboard?.type;
  await type?.('abc', { replace: false }, context);
  await handle.keyboard?.press('Enter', context).catch((error: Error) => {
    assert.is(error.message, 'abc');
  });
  assert.not('helper' in handle);
});

handles('is frozen all the way down, and branded for other copies of the package', () => {
  const handle = defineEngine({
    ...base,
    observe,
    perform: nothing,
    actions: LOCATOR_ACTION_KINDS,
    session: { open: nothing },
    fixtures: { device: () => ({}) },
    secrets: [createSecret('pw')],
  });
  for (const part of [handle, handle.actions, handle.session, handle.fixtures, handle.secrets]) {
    assert.ok(Object.isFrozen(part));
  }
  assert.ok(isEngineHandle(handle));
  assert.ok(isEngineHandle({ [Symbol.for('enginewright.engine')]: true }));
  assert.not(isEngineHandle({ ...handle }), 'a copy is no handle');
  for (const value of [null, undefined, 'x', base, () => handle]) assert.not(isEngineHandle(value));
  assert.match(refusal(handle), /is a handle already/);
});

handles('derives its capabilities, and nobody can change them', () => {
  const full = defineEngine({
    ...base,
    observe,
    locate: () => Promise.resolve([]),
    perform: nothing,
    actions: ['tap'],
    performAt: nothing,
    pointerActions: ['tap'],
    tapModifiers: true,
    keyboard: { type: nothing, press: nothing },
    state: {
      capture: () => Promise.resolve({ format: 'f', version: 1, data: 1 }),
      restore: nothing,
    },
    artifacts: { screenshot: () => Promise.resolve('a.png') },
    fixtures: { device: () => ({}), browser: () => ({}) },
  });
  assert.equal([...full.capabilities], [...BUILT_IN_CAPABILITIES, 'device', 'browser']);
  const bare = defineEngine(base);
  assert.is(bare.capabilities.size, 0);
  const set = bare.capabilities as Set<string>;
  for (const change of [() => set.add('x'), () => set.delete('x'), () => set.clear()]) {
    assert.throws(change, /cannot be changed/);
  }
  assert.is(bare.capabilities.size, 0);
});

handles('leaves absent members out, undefined ones too', () => {
  const handle = defineEngine({ ...base, platform: undefined, observe: undefined } as never);
  assert.equal(Object.keys(handle).sort(), ['capabilities', 'name', 'spiVersion', 'version']);
  assert.is(defineEngine(base, { remote: true }).remote, true);
  assert.not('remote' in handle);
});

handles('reads a member once', () => {
  let reads = 0;
  const body = {
    ...base,
    get observe() {
      reads += 1;
      return observe;
    },
  };
  const handle = defineEngine(body);
  void handle.observe;
  assert.is(reads, 1);
});

rules.run();
handles.run();
