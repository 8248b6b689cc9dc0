// What happens around the pages of the Playwright engine: its conformance, options and peers, dialogs, new
// pages, history, navigations in between, limits of time, state, and the browser's death.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { playwright } from '../../adapters/engines/playwright/index.ts';
import { describeEngine } from '../../core/protocol/index.ts';
import { engineSuite, runEngineSuite } from '../../testing/index.ts';
import { assert, rejects, suite } from '../harness.ts';
import { startNode } from '../support/processes.ts';
import { chromiumPath, eachNode, lineOf, Stage, withCode } from './playwright-kit.ts';

const options = { executablePath: chromiumPath(), sandbox: false };

const plain = suite('playwright without a browser');

plain('is described without a browser, and lists what it does', () => {
  const manifest = describeEngine(playwright());
  assert.is(manifest.platform, 'web');
  assert.is(manifest.tapModifiers, true);
  assert.ok(manifest.methods.includes('engine/performAt'));
  assert.ok(manifest.methods.includes('session/reset'));
});
plain('options are checked, the nearest is named', async () => {
  const wrong = (given: unknown, text: RegExp): Promise<unknown> =>
    rejects(async () => playwright(given as never), withCode('INVALID_CONFIG', text));
  await wrong({ sandbx: false }, /did you mean "sandbox"/u);
  await wrong({ sandbox: 'no' }, /true or false/u);
  await wrong({ viewport: { width: 0, height: 5 } }, /width, height/u);
  await wrong({ executablePath: '/a', channel: 'chrome' }, /give one of them/u);
  await wrong({ dialogs: 'ignore' }, /"dismiss" or "accept"/u);
  await wrong([], /must be an object/u);
  const info = { targetName: 't' };
  await rejects(
    async () => playwright().validateApp?.({ bundleId: 'x' }, info),
    withCode('INVALID_CONFIG', /bundleId/u),
  );
});
plain('a browser that is not there is said to be missing', async () => {
  const stage = new Stage({ executablePath: '/no/such/browser' });
  await rejects(stage.init(), withCode('INVALID_CONFIG', /no file/u));
});
plain('a missing or old peer is one sentence with the install command', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'enginewright-peer-'));
  try {
    await cp(fileURLToPath(new URL('../../dist', import.meta.url)), join(folder, 'dist'), {
      recursive: true,
    });
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(
      join(folder, 'try.js'),
      `import { playwright } from './dist/adapters/engines/playwright/index.js';
       const signal = new AbortController().signal;
       await playwright().init({ app: {}, headed: false, signal, log() {} }).catch((error) => {
         process.stdout.write(JSON.stringify([error.code, error.message]));
       });`,
    );
    const run = async (): Promise<[string, string]> => {
      const { stdout, stderr } = await startNode([join(folder, 'try.js')], { stdin: '' }).finished;
      assert.is(stderr, '');
      return JSON.parse(stdout) as [string, string];
    };
    const [code, message] = await run();
    assert.is(code, 'INVALID_CONFIG');
    assert.match(message, /npm install --save-dev playwright-core@/u);
    const peer = join(folder, 'node_modules', 'playwright-core');
    await mkdir(peer, { recursive: true });
    await writeFile(
      join(peer, 'package.json'),
      '{"name":"playwright-core","version":"1.40.0","main":"index.js"}',
    );
    await writeFile(join(peer, 'index.js'), 'exports.chromium = {};');
    assert.match((await run())[1], /needs playwright-core >=1\.58 <2 and found 1\.40\.0/u);
  } finally {
    await rm(folder, { recursive: true });
  }
});
plain('the sandbox stays on unless it is switched off', async () => {
  if (process.getuid?.() !== 0) return;
  const stage = new Stage({ sandbox: true });
  await rejects(stage.init(), withCode('INVALID_CONFIG', /sandbox: false/u));
});
plain('dialogs can be accepted; permissions are granted or refused by name', async () => {
  const stage = new Stage({ dialogs: 'accept' });
  await stage.pages.start();
  try {
    await stage.init({ permissions: { geolocation: 'grant' } });
    await stage.startAttempt();
    await stage.show(`<output></output><script>
      const answer = confirm('Sure?');
      navigator.permissions.query({ name: 'geolocation' }).then(({ state }) => {
        document.querySelector('output').textContent = answer + ' ' + state;
      });</script>`);
    await stage.until(({ root }) => [...eachNode(root)].some((n) => n.text === 'true granted'));
    await stage.engine.dispose?.({ signal: AbortSignal.timeout(5000), timeoutMs: 5000 });
    await stage.init({ permissions: { teleport: 'grant' } });
    await rejects(stage.startAttempt(), withCode('INVALID_CONFIG', /teleport/u));
  } finally {
    await stage.stop();
  }
});
plain.run();

const test = suite('playwright lives');
const stage = new Stage();
test.before(() => stage.start());
test.after(() => stage.stop());
test.before.each(() => {
  stage.reports.logs.length = 0;
  stage.reports.navigations.length = 0;
});
/** Ids of the processes that this one started and that still run. */
async function childProcesses(): Promise<number[]> {
  const list = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
  return list.split(' ').filter(Boolean).map(Number);
}
const shows = (text: string): Promise<unknown> =>
  stage.until(({ root }) =>
    [...eachNode(root)].some((node) => node.text === text || node.name === text),
  );

test(
  'keeps every rule of the engine suite',
  async ({ signal }) => {
    const artifactsDir = await mkdtemp(join(tmpdir(), 'playwright-'));
    const url = stage.pages.page(`<h1>Form</h1><label>Name <input></label>
    <label>Pass <input type="password"></label><button>Go</button><div style="height:3000px"></div>`);
    try {
      const results = await runEngineSuite({
        create: () => playwright(options),
        url,
        projectRoot: artifactsDir,
        artifactsDir,
        signal,
      });
      assert.is(results.length, engineSuite.length);
      for (const { rule, status, error } of results) {
        assert.is(status, 'passed', `${rule}: ${String(error)}`);
      }
    } finally {
      await rm(artifactsDir, { recursive: true });
    }
  },
  { timeoutMs: 60_000 },
);

test('acting before open is INVALID_STATE; looking shows a blank page', async () => {
  await stage.startAttempt();
  const { root } = await stage.observe();
  assert.is(root.children, undefined);
  const act = stage.engine.perform?.(root.ref, { kind: 'press', key: 'a' }, stage.context());
  await rejects(act as Promise<void>, withCode('INVALID_STATE', /session\.open/u));
  await rejects(
    stage.engine.session?.back?.(stage.context()) as Promise<void>,
    withCode('INVALID_STATE'),
  );
});

test('dialogs are answered at once and reported, on load and on a tap', async () => {
  await stage.show(`<output></output><button onclick="
      document.querySelector('output').textContent = confirm('Sure?') + '/' + prompt('Name?')">Ask</button>
    <script>alert('Hello'); addEventListener('beforeunload', (e) => e.preventDefault())</script>`);
  await stage.tap('button "Ask"');
  assert.is(await stage.status(), 'false/null');
  await stage.show('<p>Next</p>');
  await stage.find('"Next"');
  assert.equal(
    stage.reports.logs.filter(({ source }) => source === 'dialog').map(({ text }) => text),
    [
      'alert dialog "Hello" was dismissed',
      'confirm dialog "Sure?" was dismissed',
      'prompt dialog "Name?" was dismissed',
      'beforeunload dialog was accepted',
    ],
  );
});

test('a new page is followed and reported; back closes it; a page that closes itself too', async () => {
  const other = stage.pages.page('<h1>Other</h1><button onclick="window.close()">Close</button>');
  await stage.show(`<h1>First</h1><a href="${other}" target="_blank">Open</a>`);
  await stage.tap('link "Open"');
  await shows('Other');
  assert.ok(stage.reports.navigations.some((line) => line.startsWith('a new page opened')));
  await stage.engine.session?.back?.(stage.context());
  await shows('First');
  assert.ok(stage.reports.navigations.some((line) => line.startsWith('the page closed')));
  await stage.tap('link "Open"');
  await shows('Other');
  await stage.tap('button "Close"');
  await shows('First');
});

test('screens go to whoever keeps a trace, after each change', async () => {
  const shots: string[] = [];
  await stage.startAttempt(({ root }) => shots.push([...eachNode(root)].map(lineOf).join(', ')));
  await stage.show('<button onclick="this.textContent = 2">1</button>');
  await stage.tap('button "1"');
  await stage.startAttempt();
  assert.equal(shots, [
    'document "Test" focused, button "1"',
    'document "Test", button "2" focused',
  ]);
});

test('history: back through pages and states of one page, and nowhere from the first', async () => {
  await stage.startAttempt();
  const second = stage.pages.page('<h1>Second</h1>');
  await stage.show(`<h1>First</h1><a href="${second}">Go</a>
    <button onclick="history.pushState(1, '', '#x'); document.querySelector('h1').textContent = 'Pushed';
      onpopstate = () => { document.querySelector('h1').textContent = 'Popped' }">Push</button>`);
  const back = (): Promise<void> => stage.engine.session?.back?.(stage.context()) as Promise<void>;
  await stage.tap('link "Go"');
  await shows('Second');
  await back();
  await shows('First');
  await stage.tap('button "Push"');
  await shows('Pushed');
  await back();
  await shows('Popped');
  await back();
  assert.is((await stage.observe()).location?.startsWith(stage.pages.origin), true);
});

test('console, page errors and navigations are reported', async () => {
  await stage.show(`<script>console.warn('careful'); console.log('fine');
    setTimeout(() => { throw new Error('broken') })</script><h1>Here</h1>`);
  await shows('Here');
  await stage.until(() => stage.reports.logs.length >= 3);
  const logs = stage.reports.logs.map(({ level, text, source }) => `${source} ${level} ${text}`);
  assert.equal(logs.sort(), ['console info fine', 'console warning careful', 'page error broken']);
  assert.equal(stage.reports.navigations, [(await stage.observe()).location]);
  assert.ok(stage.reports.facts.some(({ browser }) => browser?.startsWith('Chromium')));
});

test('an address where nothing answers is APP_UNREACHABLE with the network error', async () => {
  const error = await rejects(
    stage.open('http://127.0.0.1:1/x?token=abc'),
    withCode('APP_UNREACHABLE', /CONNECTION|UNSAFE/u),
  );
  assert.not.match(error.message, /token/u);
  const refused = await rejects(stage.open('http://127.0.0.1:9/'));
  assert.is(typeof refused.cause.code, 'string');
  await stage.open(`${stage.pages.origin}/missing`);
  await shows('not found');
});

test('a look in the middle of a navigation waits for the page that comes', async () => {
  const url = stage.pages.page('<h1>Landed</h1>');
  await stage.show(`<h1>Leaving</h1><script>
    let hops = 0; setTimeout(() => location.replace(${JSON.stringify(url)}), 30);</script>`);
  await shows('Landed');
  // A press whose page is gone the moment it lands has been made, once.
  let hits = 0;
  const counted = stage.pages.on('/counted', (response) => {
    hits += 1;
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Counted</h1>');
  });
  await stage.show(`<button onmousedown="location.href='${counted}'">Go</button>`);
  await stage.tap('button "Go"');
  await shows('Counted');
  assert.is(hits, 1);
});

test('an abort ends an operation with its reason, and the engine lives on', async () => {
  stage.pages.on('/never', () => undefined);
  const controller = new AbortController();
  const opening = stage.engine.session?.open?.(
    `${stage.pages.origin}/never`,
    stage.context(60_000, controller.signal),
  ) as Promise<void>;
  const reason = new Error('enough');
  setTimeout(() => controller.abort(reason), 50);
  assert.is(await rejects(opening), reason);
  await stage.show('<button>Still here</button>');
  const held = new AbortController();
  const ref = (await stage.find('button')).ref;
  const pressing = stage.engine.perform?.(
    ref,
    { kind: 'longPress', durationMs: 60_000 },
    stage.context(60_000, held.signal),
  ) as Promise<void>;
  setTimeout(() => held.abort(reason), 200);
  assert.is(await rejects(pressing), reason);
  await stage.tap('button "Still here"');
});

test('time runs out: before the input it is a time-out, after it the action may have committed', async () => {
  const context = (): ReturnType<Stage['context']> => stage.context(400);
  const never = stage.pages.on('/never-either', () => undefined);
  await rejects(
    stage.engine.session?.open?.(never, context()) as Promise<void>,
    withCode('OPERATION_TIMEOUT'),
  );
  await stage.show(
    `<button onclick="const end = Date.now() + 1500; while (Date.now() < end);">Hang</button>`,
  );
  const { ref } = await stage.find('button');
  await rejects(
    stage.engine.perform?.(ref, { kind: 'tap' }, context()) as Promise<void>,
    withCode('ACTION_MAY_HAVE_COMMITTED'),
  );
});

test('restart keeps what is stored, reset does not, and state can be carried over', async () => {
  const url = stage.pages.page(`<output></output><script>
    document.querySelector('output').textContent = (localStorage.n ?? 'none') + document.cookie;
    localStorage.n = 'stored'; document.cookie = 'c=1';</script>`);
  const status = async (): Promise<string> => {
    await stage.open(url);
    return stage.status();
  };
  await stage.engine.session?.reset?.(stage.context());
  assert.is(await status(), 'none');
  await stage.engine.session?.restart?.(stage.context());
  assert.is((await stage.observe()).root.children, undefined);
  assert.is(await status(), 'storedc=1');
  const state = await stage.engine.state?.capture(stage.context());
  await stage.engine.session?.reset?.(stage.context());
  assert.is(await status(), 'none');
  await stage.engine.session?.reset?.(stage.context());
  await stage.engine.state?.restore(JSON.parse(JSON.stringify(state)), stage.context());
  assert.is(await status(), 'storedc=1');
  const wrong = { format: 'kiosk', version: 1, data: {} };
  await rejects(
    stage.engine.state?.restore(wrong, stage.context()) as Promise<void>,
    withCode('INVALID_CONFIG'),
  );
});

test(
  'a browser that dies ends what runs at once, with ENGINE_FAILURE; init starts another',
  async () => {
    const before = await childProcesses();
    const own = new Stage();
    await own.start();
    try {
      await own.show('<button>Hold</button>');
      const { ref } = await own.find('button');
      const pressing = own.engine.perform?.(
        ref,
        { kind: 'longPress', durationMs: 60_000 },
        own.context(60_000),
      ) as Promise<void>;
      const failed = rejects(pressing, withCode('ENGINE_FAILURE', /browser is gone/u));
      const [pid, ...more] = (await childProcesses()).filter((child) => !before.includes(child));
      assert.is(more.length, 0);
      process.kill(pid as number, 'SIGKILL');
      await failed;
      await rejects(own.observe(), withCode('ENGINE_FAILURE'));
      await own.engine.endAttempt?.({ signal: AbortSignal.timeout(5000), timeoutMs: 5000 });
      await own.engine.dispose?.({ signal: AbortSignal.timeout(5000), timeoutMs: 5000 });
      await own.init();
      await own.startAttempt();
      await own.show('<h1>Again</h1>');
      await own.find('heading "Again"');
    } finally {
      await own.stop();
    }
  },
  { timeoutMs: 30_000 },
);

test.run();
