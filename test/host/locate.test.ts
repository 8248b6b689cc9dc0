// The deterministic tier: finding by polling, acting once, and what its errors say.
import { assert, rejects, suite } from '../harness.ts';
import { EngineError } from '../../core/contract/errors.ts';
import type { EngineErrorCode } from '../../core/contract/codes.ts';
import type { AttemptContext } from '../../core/host/index.ts';
import { button, createTestEngine, node, open, settle, type TestEngine } from './support.ts';

const test = suite('host deterministic tier');

/** Runs `fn` in an attempt with the app open. */
async function inApp<T>(
  engine: TestEngine,
  fn: (context: AttemptContext) => Promise<T>,
): Promise<T> {
  const { session, clock } = await open(engine);
  try {
    return await settle(
      clock,
      session.attempt(async (context) => {
        await context.app.open();
        return fn(context);
      }),
    );
  } finally {
    await session.close();
  }
}
const looks = (engine: TestEngine): number =>
  engine.log.filter((line) => line === 'observe').length;

test('locate polls until one node matches', async () => {
  const engine = createTestEngine({
    members: {
      observe: async () => {
        engine.log.push('observe');
        // Late, and first as two.
        const count = looks(engine) < 3 ? 0 : looks(engine) < 5 ? 2 : 1;
        return {
          root: {
            ...node('root', 'document'),
            children: Array.from({ length: count }, (_, index) =>
              node(String(index), 'button', 'Buy'),
            ),
          },
          viewport: { width: 1, height: 1, scale: 1 },
        };
      },
    },
  });
  const found = await inApp(engine, ({ locate }) => locate(button('Buy')));
  assert.is(found.ref.id, '0');
  assert.is(looks(engine), 5);
});

test('LOCATOR_NOT_FOUND says what was looked for and how long', async () => {
  const engine = createTestEngine();
  const error = await rejects(
    inApp(engine, ({ locate }) => locate(button('Buy'), { timeout: 5000 })),
  );
  assert.is(error.code, 'LOCATOR_NOT_FOUND');
  assert.is(error.category, 'test');
  assert.is(error.message, 'role "button" named "Buy" was not on the screen within 5000 ms.');
});

test('LOCATOR_AMBIGUOUS names the candidates', async () => {
  const engine = createTestEngine();
  engine.nodes = [1, 2, 3, 4, 5, 6, 7].map((id) => node(String(id), 'button', `Buy shoe ${id}`));
  const expression = {
    kind: 'query',
    query: { kind: 'text', value: { kind: 'string', value: 'shoe', exact: false } },
  } as const;
  const error = await rejects(inApp(engine, ({ locate }) => locate(expression, { timeout: 500 })));
  assert.is(error.code, 'LOCATOR_AMBIGUOUS');
  assert.match(error.message, /7 nodes: button "Buy shoe 1", button "Buy shoe 2".*and 2 more/u);
});

test('a frame that is not there yet is waited for; one that stays ambiguous is said so', async () => {
  const engine = createTestEngine({
    members: {
      locate: async () => {
        engine.log.push('locate');
        const code = engine.given['code'] as EngineErrorCode | undefined;
        if (code !== undefined) throw new EngineError(code, 'two frames');
        if (engine.log.filter((line) => line === 'locate').length < 3) {
          throw new EngineError('FRAME_NOT_FOUND', 'no frame', { retryable: true });
        }
        return [node('1', 'button', 'Pay')];
      },
    },
  });
  const frame = { kind: 'frame', selector: 'iframe', source: button('Pay') } as const;
  assert.is((await inApp(engine, ({ locate }) => locate(frame))).ref.id, '1');
  engine.given['code'] = 'FRAME_AMBIGUOUS';
  const error = await rejects(inApp(engine, ({ locate }) => locate(frame, { timeout: 300 })));
  assert.is(error.code, 'LOCATOR_AMBIGUOUS');
  assert.match(error.message, /in frame "iframe" matched more than one frame/u);
  assert.is(error.cause.code, 'FRAME_AMBIGUOUS');
  engine.given['code'] = 'FRAME_NOT_FOUND';
  const gone = await rejects(inApp(engine, ({ locate }) => locate(frame, { timeout: 300 })));
  assert.is(gone.code, 'LOCATOR_NOT_FOUND');
  assert.is(gone.cause.code, 'FRAME_NOT_FOUND');
});

test('perform takes an expression or a node, and acts once', async () => {
  const engine = createTestEngine();
  engine.nodes = [node('1', 'button', 'Buy')];
  await inApp(engine, async ({ locate, perform }) => {
    await perform(button('Buy'), { kind: 'tap' });
    await perform(await locate(button('Buy')), { kind: 'fill', value: 'x', sensitive: false });
  });
  const performed = engine.log.filter((line) => line.startsWith('perform'));
  assert.equal(performed, ['perform tap 1', 'perform fill 1']);
});

for (const code of ['NODE_STALE', 'FRAME_NOT_FOUND'] as const) {
  test(`${code}: found again once, also for a node that locate gave`, async () => {
    const engine = createTestEngine();
    engine.nodes = [node('1', 'button', 'Buy')];
    await inApp(engine, async ({ locate, perform }) => {
      const found = await locate(button('Buy'));
      engine.nodes = [node('2', 'button', 'Buy')];
      engine.fail.set('perform tap 1', new EngineError(code, 'gone', { retryable: true }));
      await perform(found, { kind: 'tap' });
      assert.equal(
        engine.log.filter((line) => line.startsWith('perform')),
        ['perform tap 1', 'perform tap 2'],
      );
      engine.log.length = 0;
      engine.fail.set('perform tap 2', new EngineError(code, 'gone'));
      const other = { kind: 'index', source: button('Buy'), index: 'first' } as const;
      engine.hang.clear();
      await perform(other, { kind: 'tap' });
      assert.is(engine.log.filter((line) => line.startsWith('perform')).length, 2);
    });
  });
  test(`${code} twice is LOCATOR_NOT_FOUND`, async () => {
    const engine = createTestEngine({
      members: {
        perform: (ref) => {
          engine.log.push(`perform ${ref.id}`);
          return Promise.reject(new EngineError(code, 'gone', { retryable: true }));
        },
      },
    });
    engine.nodes = [node('1', 'button', 'Buy')];
    const error = await rejects(
      inApp(engine, ({ perform }) => perform(button('Buy'), { kind: 'tap' })),
    );
    assert.is(error.code, 'LOCATOR_NOT_FOUND');
    assert.is(engine.log.filter((line) => line === 'perform 1').length, 2);
  });
}

test('a node that nothing is known of cannot be found again', async () => {
  const engine = createTestEngine();
  engine.fail.set('perform tap 9', new EngineError('NODE_STALE', 'gone', { retryable: true }));
  const error = await rejects(
    inApp(engine, ({ perform }) => perform(node('9', 'button', 'Buy'), { kind: 'tap' })),
  );
  assert.is(error.code, 'LOCATOR_NOT_FOUND');
  assert.match(error.message, /button "Buy" was not on the screen/u);
  assert.is(error.cause.code, 'NODE_STALE');
});

const READ_AS: Readonly<Partial<Record<EngineErrorCode, string>>> = {
  FRAME_AMBIGUOUS: 'LOCATOR_AMBIGUOUS',
  NOT_ACTIONABLE: 'ACTION_FAILED',
  ACTION_MAY_HAVE_COMMITTED: 'ACTION_FAILED',
  OPERATION_TIMEOUT: 'ACTION_FAILED',
  INVALID_STATE: 'APP_NOT_OPEN',
  UNSUPPORTED_CAPABILITY: 'UNSUPPORTED_CAPABILITY',
  CANCELLED: 'CANCELLED',
  ENGINE_FAILURE: 'ENGINE_FAILURE',
};
for (const [code, expected] of Object.entries(READ_AS)) {
  test(`${code} of an action is ${expected}, and nothing is sent again`, async () => {
    const engine = createTestEngine();
    engine.nodes = [node('1', 'button', 'Buy')];
    engine.fail.set(
      'perform tap 1',
      new EngineError(code as EngineErrorCode, 'covered by a dialog'),
    );
    const error = await rejects(
      inApp(engine, ({ perform }) => perform(button('Buy'), { kind: 'tap' })),
    );
    assert.is(error.code, expected);
    assert.is(error.name.endsWith('Error'), true);
    assert.match(error.message, /covered by a dialog/u);
    assert.is(error.cause.code, code);
    assert.is(engine.log.filter((line) => line.startsWith('perform')).length, 1);
  });
}

test('an action that hangs is ACTION_FAILED at its time-out, once', async () => {
  const engine = createTestEngine();
  engine.nodes = [node('1', 'button', 'Buy')];
  engine.hang.set('perform tap 1', 'polite');
  const error = await rejects(
    inApp(engine, ({ perform }) => perform(button('Buy'), { kind: 'tap' }, { timeout: 700 })),
  );
  assert.is(error.code, 'ACTION_FAILED');
  assert.match(error.message, /perform tap on role "button" named "Buy" did not finish/u);
  assert.is(engine.log.filter((line) => line.startsWith('perform')).length, 1);
});

test('the keyboard types, replaces and presses', async () => {
  const engine = createTestEngine();
  await inApp(engine, async ({ keyboard }) => {
    await keyboard.type('ada');
    await keyboard.type('grace', { replace: true });
    await keyboard.press('Control+a');
    assert.is((await rejects(keyboard.dismiss())).code, 'UNSUPPORTED_CAPABILITY');
    const error = await rejects(keyboard.press('Entr'));
    assert.is(error.code, 'INVALID_ARGUMENT');
    assert.is((await rejects(keyboard.type(5 as never))).code, 'INVALID_ARGUMENT');
  });
  assert.equal(
    engine.log.filter((line) => /^(type|press)/u.test(line)),
    ['type ada', 'type grace over', 'press Control+a'],
  );
});

const TEXT = { kind: 'string', value: 'Buy', exact: true };
const named = (more: object): never =>
  ({ kind: 'query', query: { ...button('Buy').query, ...more } }) as never;

test('malformed expressions, actions and options never reach the engine', async () => {
  const engine = createTestEngine();
  await inApp(engine, async ({ locate, perform, keyboard }) => {
    engine.log.length = 0;
    for (const [work, message] of [
      [() => locate({ kind: 'qurey' } as never), /^locate: expression\.kind must be one of/u],
      [() => locate(undefined as never), /not undefined; write it like \{ kind: "query"/u],
      [() => locate({ role: 'button' } as never), /kind is missing; write it like/u],
      [() => locate(named({ nmae: TEXT })), /query\.nmae is not a known member.*"name"\?/u],
      [() => locate({ ...button('Buy'), hasTxt: TEXT } as never), /expression\.hasTxt is not/u],
      [() => perform(Promise.resolve() as never, { kind: 'tap' }), /is a promise: await it/u],
      [() => perform({ ref: 5 } as never, { kind: 'tap' }), /target\.ref must be an object/u],
      [() => perform(button('Buy'), { kind: 'tapp' } as never), /action\.kind must be one of/u],
      [() => perform(button('Buy'), { kind: 'fill' } as never), /action\.value is missing/u],
      [() => perform(button('Buy'), { kind: 'tap', modifers: [] } as never), /"modifiers"/u],
      [
        () => perform(button('Buy'), 'tap' as never),
        /not a string; write it like \{ kind: "tap" \}/u,
      ],
      [
        () => perform(button('Buy'), { kind: 'fill', value: 'x' } as never),
        /action\.sensitive is missing: say whether/u,
      ],
      [() => locate(named({ value: 'Buy' })), /value must be an object.*write it like/u],
      [() => perform('Buy' as never, { kind: 'tap' }), /^perform: expression must be an object/u],
      [() => locate(button('Buy'), { timeout: 0 }), /positive integer/u],
      [() => locate(button('Buy'), { timeout: Number.NaN }), /positive integer/u],
      [() => locate(button('Buy'), { timout: 5 } as never), /"timout"; did you mean "timeout"/u],
      [() => locate(button('Buy'), 5 as never), /takes its options as an object/u],
      [() => keyboard.type('x', { replaces: true } as never), /did you mean "replace"/u],
      [() => keyboard.press('a', { replace: true } as never), /unknown key "replace"/u],
    ] as const) {
      const error = await rejects(work, message);
      assert.is(error.code, 'INVALID_ARGUMENT');
    }
    assert.equal(engine.log, []);
  });
});

test('an action that the engine does not declare is refused before it is called', async () => {
  const engine = createTestEngine();
  engine.nodes = [node('1', 'button', 'Buy')];
  const error = await rejects(
    inApp(engine, ({ perform }) => perform(button('Buy'), { kind: 'hover' })),
  );
  assert.is(error.code, 'UNSUPPORTED_CAPABILITY');
  assert.ok(!engine.log.some((line) => line.startsWith('perform')));
});

test('a sensitive value is masked from then on', async () => {
  const engine = createTestEngine();
  engine.nodes = [node('1', 'textbox', 'PIN')];
  await inApp(engine, async ({ perform, locate }) => {
    const box = {
      kind: 'query',
      query: { kind: 'role', value: { kind: 'string', value: 'textbox', exact: true } },
    } as const;
    await perform(box, { kind: 'fill', value: '998877', sensitive: true });
    engine.nodes = [node('1', 'button', 'Paid with 998877'), node('2', 'button', 'Paid')];
    const paid = {
      kind: 'query',
      query: { kind: 'text', value: { kind: 'string', value: 'paid', exact: false } },
    } as const;
    const error = await rejects(locate(paid, { timeout: 200 }));
    assert.not.match(error.message, /998877/u);
    assert.match(error.message, /<secret:/u);
  });
});

test.run();
