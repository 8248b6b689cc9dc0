// The table of a connection's life, state by state.
import { createLifecycle, type Lifecycle } from '../../core/protocol/lifecycle.ts';
import { assert, suite } from '../harness.ts';

const test = suite('protocol lifecycle');

const STEPS: Readonly<Record<string, (lifecycle: Lifecycle) => void>> = {
  new: () => undefined,
  initializing: (lifecycle) => {
    lifecycle.request('initialize');
  },
  ready: (lifecycle) => {
    lifecycle.request('initialize');
    lifecycle.initialized(true);
  },
  refused: (lifecycle) => {
    lifecycle.request('initialize');
    lifecycle.initialized(false);
  },
  shutdown: (lifecycle) => {
    lifecycle.request('initialize');
    lifecycle.initialized(true);
    lifecycle.request('shutdown');
  },
  exited: (lifecycle) => {
    lifecycle.notification('exit');
  },
};

/** The code that each request is refused with, or 0. */
const REQUESTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  new: { initialize: 0, 'engine/observe': -32002, shutdown: -32002, '$/ping': -32002 },
  initializing: { initialize: -32600, 'engine/observe': -32002, shutdown: -32002 },
  ready: { initialize: -32600, 'engine/observe': 0, shutdown: 0, '$/ping': 0 },
  refused: { initialize: -32600, 'engine/observe': -32600, shutdown: -32600 },
  shutdown: { initialize: -32600, 'engine/observe': -32600, shutdown: -32600, '$/ping': -32600 },
  exited: { initialize: -32600, shutdown: -32600 },
};

for (const [state, requests] of Object.entries(REQUESTS)) {
  test(`requests in state ${state}`, () => {
    for (const [method, code] of Object.entries(requests)) {
      const lifecycle = createLifecycle();
      STEPS[state]?.(lifecycle);
      assert.is(lifecycle.state, state);
      const refusal = lifecycle.request(method);
      assert.is(refusal?.code ?? 0, code, method);
      if (refusal !== undefined) assert.match(refusal.message, method);
    }
  });
}

test('notifications are heard only while ready, but exit always', () => {
  for (const [state, step] of Object.entries(STEPS)) {
    const lifecycle = createLifecycle();
    step(lifecycle);
    assert.is(lifecycle.notification('$/abort'), state === 'ready', state);
    assert.is(lifecycle.notification('exit'), true);
    assert.is(lifecycle.state, 'exited');
    assert.is(lifecycle.orderly, state === 'shutdown');
  }
});

test('a refused initialize cannot be repaired later', () => {
  const lifecycle = createLifecycle();
  STEPS['refused']?.(lifecycle);
  lifecycle.initialized(true);
  assert.is(lifecycle.state, 'refused');
});

test.run();
