// The rules under "Waiting", each with a fake clock: a surface is a function of time, and a test says
// when the wait ended and with what.
import { assert, rejects, suite } from '../harness.ts';
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts';
import { EngineError } from '../../core/contract/errors.ts';
import type { EngineSnapshot, SemanticNode } from '../../core/contract/observation.ts';
import type { Observation } from '../../core/agent/driver.ts';
import { sameScreen } from '../../core/agent/screen/equal.ts';
import { settle, type Settled, type SettleOptions } from '../../core/agent/screen/settle.ts';
import { sleep } from '../../core/base/deadline.ts';

const test = suite('settle');

interface Look {
  readonly words?: string;
  readonly clock?: string;
  readonly location?: string;
  readonly y?: number;
}

function snapshotOf(look: Look, revision: string): EngineSnapshot {
  const node = (id: string, text: string, y = 0): SemanticNode => ({
    ref: { id, revision },
    text,
    rect: { x: 0, y, width: 10, height: 10 },
  });
  return {
    location: look.location ?? 'app://start',
    viewport: { width: 100, height: 100, scale: 1 },
    root: {
      ref: { id: 'root', revision },
      children: [node('words', look.words ?? 'before', look.y), node('clock', look.clock ?? '')],
    },
  };
}

function observationOf(look: Look, durationMs: number, revision: string): Observation {
  const snapshot = snapshotOf(look, revision);
  const nodes = new Map(
    [snapshot.root, ...(snapshot.root.children ?? [])].map((node) => [node.ref.id, node]),
  );
  return { snapshot, revision, nodes, durationMs };
}

interface Play {
  readonly settled: Settled;
  /** Times at which looks began. */
  readonly looks: readonly number[];
}

/** Runs a wait on a surface that looks like `at(ms)` and takes `tookMs` to observe. */
async function play(
  at: (ms: number) => Look,
  options: {
    readonly tookMs?: number;
    readonly more?: Partial<SettleOptions>;
    readonly clock?: FakeClock;
  } = {},
): Promise<Play> {
  const { tookMs = 0, more = {}, clock = createFakeClock() } = options;
  const looks: number[] = [];
  const signal = new AbortController().signal;
  let settled: Settled | undefined;
  let failure: unknown;
  void settle({
    async observe() {
      looks.push(clock.now());
      if (tookMs > 0) await sleep(tookMs, { clock });
      return observationOf(at(clock.now()), tookMs, `r${looks.length}`);
    },
    before: observationOf({}, Math.min(tookMs, 1000), 'r0'),
    clock,
    signal,
    ...more,
  }).then(
    (value) => (settled = value),
    (error: unknown) => (failure = error),
  );
  await clock.runUntil(() => settled !== undefined || failure !== undefined, { stepMs: 10 });
  assert.is(clock.pending, 0, 'no timer is left');
  if (settled === undefined) throw failure;
  return { settled, looks };
}

test('a change that holds still for 150 ms ends the wait', async () => {
  const { settled, looks } = await play(() => ({ words: 'after' }));
  assert.is(settled.changed, true);
  assert.is(settled.still, true);
  assert.equal(looks, [0, 150]);
  assert.is(settled.durationMs, 150);
});

test('an unchanged screen is watched for the whole window, then called unchanged', async () => {
  const { settled } = await play(() => ({}));
  assert.is(settled.changed, false);
  assert.is(settled.still, true);
  assert.ok(settled.durationMs >= 1000 && settled.durationMs <= 1100, `${settled.durationMs}`);
});

test('a late change is waited for, and its end', async () => {
  const { settled } = await play((ms) => ({
    words: ms < 400 ? 'before' : ms < 700 ? `loading ${Math.floor(ms / 100)}` : 'after',
  }));
  assert.is(settled.observation.snapshot.root.children?.[0]?.text, 'after');
  assert.is(settled.changed, true);
  assert.is(settled.still, true);
  assert.ok(settled.durationMs <= 1100, `${settled.durationMs}`);
});

test('a screen that never holds still is answered when the window is over', async () => {
  const { settled } = await play((ms) => ({ y: ms }));
  assert.is(settled.changed, true);
  assert.is(settled.still, false);
  assert.ok(settled.durationMs >= 1000 && settled.durationMs <= 1200, `${settled.durationMs}`);
});

test('a ticker neither holds up the wait nor counts as a change', async () => {
  const idle = await play((ms) => ({ clock: String(ms) }));
  assert.is(idle.settled.changed, false);
  const busy = await play((ms) => ({ clock: String(ms), words: 'after' }));
  assert.is(busy.settled.changed, true);
  assert.is(busy.settled.still, true);
  assert.ok(busy.settled.durationMs < 1000, `${busy.settled.durationMs}`);
});

/** A clock of seconds that ticks at 200 ms, 1200 ms and so on. */
const seconds = (ms: number): string => `12:00:${String(10 + Math.floor((ms + 800) / 1000))}`;

test('one tick of a clock is not the effect that was waited for', async () => {
  // The clock has ticked since the screen before the action, or ticks during the wait, or both.
  for (const known of ['12:00:09', '12:00:10']) {
    const { settled } = await play(
      (ms) => ({ clock: seconds(ms), words: ms < 600 ? 'before' : 'after' }),
      { more: { before: observationOf({ clock: known }, 0, 'r0') } },
    );
    assert.is(settled.observation.snapshot.root.children?.[0]?.text, 'after', known);
    assert.is(settled.changed, true);
    assert.ok(settled.durationMs < 1000, `${settled.durationMs}`);
  }
});

test('a clock that ticks again is no change; digits that stand still are one', async () => {
  const before = observationOf({ clock: '12:00:09' }, 0, 'r0');
  const ticking = await play((ms) => ({ clock: seconds(ms) }), { more: { before } });
  assert.is(ticking.settled.changed, false);
  const counted = await play(() => ({ clock: '12:00:10' }), { more: { before } });
  assert.is(counted.settled.changed, true);
  assert.is(counted.settled.still, true);
});

test('a count that was watched for a window once is believed at once the next time', async () => {
  const steady = new Set<string>();
  const count = async (from: number): Promise<number> => {
    const { settled } = await play(() => ({ words: `Total: ${from + 1}` }), {
      more: { before: observationOf({ words: `Total: ${from}` }, 0, 'r0'), steady },
    });
    assert.is(settled.changed, true);
    return settled.durationMs;
  };
  assert.ok((await count(1)) >= 1000);
  assert.is(await count(2), 150);
  const clocks = new Set<string>();
  await play((ms) => ({ clock: seconds(ms) }), {
    more: { before: observationOf({ clock: '12:00:09' }, 0, 'r0'), steady: clocks },
  });
  assert.is(clocks.size, 0);
});

test('the focus that a tap moves is not its effect, but the focus of a text field is one', async () => {
  const focused = (role: string, late: string): Promise<Play> => {
    const clock = createFakeClock();
    const look = (isFocused: boolean, text: string): Observation => {
      const { snapshot, ...rest } = observationOf({}, 0, 'r');
      const nodes: SemanticNode[] = [
        { ref: { id: 'n', revision: '' }, role, states: { focused: isFocused } },
        // The field that had it loses it.
        {
          ref: { id: 'f', revision: '' },
          role: 'searchbox',
          states: { focused: !isFocused },
        },
        { ref: { id: 't', revision: '' }, text },
      ];
      return {
        ...rest,
        snapshot: { ...snapshot, root: { ...snapshot.root, children: nodes } },
        nodes: new Map(nodes.map((node) => [node.ref.id, node])),
      };
    };
    return play(() => ({}), {
      clock,
      more: {
        before: look(false, 'before'),
        observe: () => Promise.resolve(look(true, clock.now() < 600 ? 'before' : late)),
      },
    });
  };
  const tapped = await focused('button', 'after');
  assert.is(tapped.settled.observation.nodes.get('t')?.text, 'after');
  const nothing = await focused('button', 'before');
  assert.is(nothing.settled.changed, true);
  assert.ok(nothing.settled.durationMs >= 1000);
  assert.is((await focused('textbox', 'after')).settled.durationMs, 150);
});

test('the value of a control is an effect, whatever it is made of', async () => {
  const field = (value: string): Observation => {
    const { snapshot, ...rest } = observationOf({}, 0, 'r');
    const node = { ref: { id: 'q', revision: '' }, role: 'spinbutton', name: 'Quantity', value };
    const root = { ...snapshot.root, children: [node] };
    return { ...rest, snapshot: { ...snapshot, root }, nodes: new Map([['q', node]]) };
  };
  const { settled } = await play(() => ({}), {
    more: { before: field('1'), observe: () => Promise.resolve(field('2')) },
  });
  assert.is(settled.durationMs, 150);
});

test('a text that rolls to its end is a change, not a ticker', async () => {
  const { settled } = await play((ms) => ({ words: String(Math.min(10, Math.floor(ms / 50))) }));
  assert.is(settled.changed, true);
  assert.is(settled.observation.snapshot.root.children?.[0]?.text, '10');
});

test('the window is three times the observation when that is longer', async () => {
  const { settled } = await play(() => ({}), { tookMs: 600 });
  assert.ok(settled.durationMs >= 1800 && settled.durationMs <= 2600, `${settled.durationMs}`);
});

test('a surface slower than a second is observed once', async () => {
  const { settled, looks } = await play(() => ({ words: 'after' }), { tookMs: 1500 });
  assert.equal(looks, [0]);
  assert.is(settled.changed, true);
  assert.is(settled.still, false);
});

test('a changing location renews the window, within bounds', async () => {
  const hops = await play((ms) => ({
    location: `app://${Math.min(5, Math.floor(ms / 400))}`,
    y: ms,
  }));
  assert.ok(hops.settled.durationMs > 2000, `${hops.settled.durationMs}`);
  assert.ok(hops.settled.durationMs <= 3300, `${hops.settled.durationMs}`);
  const endless = await play((ms) => ({ location: `app://${ms}` }));
  assert.ok(endless.settled.durationMs <= 3300, `${endless.settled.durationMs}`);
});

test('a document that is being replaced is looked at again; any other failure is passed on', async () => {
  let calls = 0;
  const clock = createFakeClock();
  const observe = async (): Promise<Observation> => {
    calls += 1;
    if (calls < 3) throw new EngineError('FRAME_NOT_FOUND', 'gone', { retryable: true });
    return observationOf({ words: 'after' }, 0, 'r');
  };
  const { settled } = await play(() => ({}), { clock, more: { observe } });
  assert.is(settled.observations, 2);
  await rejects(
    play(() => ({}), {
      more: { observe: () => Promise.reject(new EngineError('ENGINE_FAILURE', 'died')) },
    }),
    /died/u,
  );
  const stuck = (): Promise<Observation> =>
    Promise.reject(new EngineError('NODE_STALE', 'still gone', { retryable: true }));
  await rejects(
    play(() => ({}), { more: { observe: stuck } }),
    /still gone/u,
  );
});

test('an abort ends the wait at once, with its reason', async () => {
  const controller = new AbortController();
  const clock = createFakeClock();
  const waiting = settle({
    observe: () => Promise.resolve(observationOf({}, 0, 'r')),
    before: observationOf({}, 0, 'r0'),
    clock,
    signal: controller.signal,
  });
  await clock.advance(120);
  controller.abort(new Error('out of time'));
  await rejects(waiting, /out of time/u);
  assert.is(clock.pending, 0);
});

test('the picture is compared too where it is asked for', async () => {
  const { settled } = await play(() => ({}), {
    more: { samePicture: (a, b) => a.revision !== 'r0' || b.revision === 'r0' },
  });
  assert.is(settled.changed, true);
  assert.ok(settled.durationMs < 1000);
});

const same = suite('sameScreen');

same('revisions do not count; words, states, ids and structure do', () => {
  const base = snapshotOf({}, 'a');
  assert.ok(sameScreen(base, snapshotOf({}, 'b')));
  assert.not.ok(sameScreen(base, snapshotOf({ words: 'x' }, 'a')));
  assert.not.ok(sameScreen(base, snapshotOf({ location: 'x' }, 'a')));
  assert.not.ok(sameScreen(base, { ...base, truncated: true }));
  assert.ok(sameScreen(base, snapshotOf({ words: 'x' }, 'a'), { ignoreText: new Set(['words']) }));
  const withStates = (checked: boolean): EngineSnapshot => ({
    ...base,
    root: { ...base.root, states: { checked } },
  });
  assert.ok(sameScreen(base, withStates(false)), 'an absent state is false');
  assert.not.ok(sameScreen(base, withStates(true)));
  const renamed = { ...base, root: { ...base.root, ref: { id: 'other', revision: '' } } };
  assert.not.ok(sameScreen(base, renamed));
  assert.ok(sameScreen(base, renamed, { ids: false }));
  const fewer = { ...base, root: { ...base.root, children: [] } };
  assert.not.ok(sameScreen(base, fewer));
});

same('boxes count only where they are asked for, to whole pixels', () => {
  const base = snapshotOf({ y: 1 }, 'a');
  assert.ok(sameScreen(base, snapshotOf({ y: 9 }, 'a')));
  assert.not.ok(sameScreen(base, snapshotOf({ y: 9 }, 'a'), { boxes: true }));
  assert.ok(sameScreen(base, snapshotOf({ y: 1.2 }, 'a'), { boxes: true }));
});

same('strings are compared as masked', () => {
  const redactor = {
    size: 1,
    text: (text: string) => text.replace(/\d+/u, '#'),
    cutText: (text: string) => text,
  };
  const a = snapshotOf({ words: 'code 1234' }, 'a');
  const b = snapshotOf({ words: 'code 9' }, 'a');
  assert.ok(sameScreen(a, b, { redactor }));
  assert.not.ok(sameScreen(a, b));
});

test.run();
same.run();
