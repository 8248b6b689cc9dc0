// The example engines in other languages: real processes, driven as somebody who embeds them drives
// them, and put through the whole conformance check. A language whose tool is not on this machine is
// left out in so many words, which with CI set is a failure as any skip.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { plainWords } from '../../adapters/models/plain-words.ts';
import { EngineError } from '../../core/contract/errors.ts';
import type { EngineHandle } from '../../core/contract/engine.ts';
import { openSession, type AttemptContext } from '../../index.ts';
import { connectEngine } from '../../core/protocol/client/connect.ts';
import { fetchManifest } from '../../core/protocol/client/fetch-manifest.ts';
import { socketTransport, spawnTransport } from '../../core/protocol/transports/index.ts';
import type { EngineTransport } from '../../core/protocol/transports/types.ts';
import { COMMON_PROBES, checkEngine, formatCheckReport } from '../../testing/index.ts';
import { assert, rejects, skipFile, suite } from '../harness.ts';
import { attemptContext, cleanup, initInfo, operation } from '../protocol/engine-support.ts';

const run = promisify(execFile);
const example = (path: string): string =>
  fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));
const KIOSK = example('python-engine/kiosk.py');

interface Language {
  readonly name: string;
  /** The tool without which it cannot be tried. */
  readonly tool: string;
  /** What a person does on its screens. */
  play(context: AttemptContext): Promise<void>;
}

const python: Language = {
  name: 'Python',
  tool: 'python3',
  async play({ app, agent }) {
    await app.open('/');
    await agent.assert('the screen shows "Where to?"');
    await agent.act('tap "Zürich", check "Return ticket", then tap "Buy"');
    await agent.assert('the screen shows "Who travels?" and "Return ticket" is checked');
    await agent.act('type {who} into "Passenger"', { params: { who: 'Ada' } });
    const { price } = await agent.extract('price from "Price"', {
      schema: v.object({ price: v.string() }),
    });
    assert.is(price, '€54');
    await agent.act('tap "Buy"');
    await agent.waitFor('the screen shows "Have a good trip"', { interval: 100 });
    const ticket = await agent.extract('number from "Ticket number"', {
      schema: v.object({ number: v.string() }),
    });
    assert.equal(ticket, { number: 'T-101' });
    await agent.assert('the screen shows "Ada travels to Zürich."');
    const wrong = await rejects(agent.assert('the screen shows "Oslo"'));
    assert.is(wrong.code, 'ASSERTION_FAILED');
  },
};

const rust: Language = {
  name: 'Rust',
  tool: 'rustc',
  async play({ app, agent }) {
    await app.open('/');
    await agent.assert('the screen shows "Living room" and "Heating" is on');
    await agent.act('tap "Warmer" three times, tap "Cooler", turn off "Heating"');
    await agent.assert('"Heating" is off');
    const target = await agent.extract('target from "Target"', {
      schema: v.object({ target: v.string() }),
    });
    assert.equal(target, { target: '23 °C' });
    await agent.act('tap "Settings", type {room} into "Name of the room", then tap "Back"', {
      params: { room: 'Küche 📐' },
    });
    await agent.assert('the screen shows "Küche 📐"');
    await agent.act('tap "Settings" and go back');
    const wrong = await rejects(agent.assert('the screen shows "Living room"'));
    assert.is(wrong.code, 'ASSERTION_FAILED');
  },
};

const isInstalled = ({ tool }: Language): boolean => spawnSync(tool, ['--version']).status === 0;
const missing = [python, rust].filter((language) => !isInstalled(language));
if (missing.length === 2) {
  skipFile('neither python3 nor rustc is on this machine: the example engines were not tried');
}

let folder = '';
const transports: Record<string, () => EngineTransport> = {
  Python: () => spawnTransport({ command: 'python3', args: [KIOSK] }),
  Rust: () => spawnTransport({ command: join(folder, 'room-panel') }),
};

const test = suite('engines in other languages', { timeoutMs: 120_000 });

test.before(
  async ({ signal }) => {
    folder = await mkdtemp(join(tmpdir(), 'example-engines-'));
    if (missing.includes(rust)) return;
    const source = example('rust-engine/src/main.rs');
    const output = join(folder, 'room-panel');
    await run('rustc', ['--edition', '2021', '-D', 'warnings', '-o', output, source], { signal });
  },
  { timeoutMs: 60_000 },
);
test.after(() => rm(folder, { recursive: true, force: true }));

for (const language of [python, rust]) {
  const { name, tool } = language;
  const transport = (): EngineTransport => {
    const make = transports[name];
    if (make === undefined) throw new Error(`no transport for ${name}`);
    return make();
  };
  const left = test.skip(`${tool} is not on this machine: the ${name} engine was not tried`);
  const each: (...args: Parameters<typeof test>) => void = missing.includes(language) ? left : test;

  each(`${name}: a session over stdio`, async ({ signal }) => {
    const session = await openSession({
      target: { engine: await connect(transport(), signal), app: { url: 'kiosk://example/' } },
      agents: { default: { model: plainWords() } },
    });
    try {
      await session.attempt((context) => language.play(context));
    } finally {
      await session.close();
    }
  });

  each(`${name}: the conformance check over stdio`, async ({ signal }) => {
    await check(transport(), signal);
  });

  each(
    `${name}: while a call is under way others are answered, and it can be aborted`,
    async ({ signal }) => {
      const engine = await connect(transport(), signal);
      await engine.init?.(initInfo());
      try {
        await engine.startAttempt?.(attemptContext());
        await engine.session?.open?.('/probe', operation());
        const before = await engine.observe?.(operation());
        const abort = new AbortController();
        const opening = rejects(
          engine.session?.open?.('/probe/slow', operation({ signal: abort.signal })) ??
            Promise.resolve(),
        );
        // It takes 10 s, of which the test waits for none: this is answered while it goes on.
        assert.equal(await engine.observe?.(operation()), before);
        abort.abort(new EngineError('CANCELLED', 'enough of it'));
        assert.match((await opening).message, /enough of it/u);
        assert.equal(await engine.observe?.(operation()), before);
        const late = await rejects(
          engine.session?.open?.('/probe/slow', operation({ timeoutMs: 50 })) ?? Promise.resolve(),
        );
        assert.is(late.code, 'OPERATION_TIMEOUT');
        await engine.endAttempt?.(cleanup());
      } finally {
        await engine.dispose?.(cleanup());
      }
    },
  );
}

const overTcp: (...args: Parameters<typeof test>) => void = missing.includes(python)
  ? test.skip('python3 is not on this machine: its TCP server was not tried')
  : test;

overTcp('Python: a session and the conformance check over TCP', async ({ signal }) => {
  const server = await serveTcp(signal);
  try {
    const transport = socketTransport({ host: '127.0.0.1', port: server.port });
    const session = await openSession({
      target: { engine: await connect(transport, signal), app: { url: 'kiosk://example/' } },
      agents: { default: { model: plainWords() } },
    });
    try {
      await session.attempt((context) => python.play(context));
    } finally {
      await session.close();
    }
    await check(transport, signal);
  } finally {
    await server.stop();
  }
});

async function connect(transport: EngineTransport, signal: AbortSignal): Promise<EngineHandle> {
  const manifest = await fetchManifest({ transport, signal });
  return connectEngine({ manifest, transport, resolveLocators: true });
}

async function check(transport: EngineTransport, signal: AbortSignal): Promise<void> {
  const report = await checkEngine(transport, {
    probes: COMMON_PROBES,
    destructive: true,
    // A machine that compiles and tests at the same time is slow, which is no fault of an engine.
    abortTimeoutMs: 8000,
    signal,
  });
  assert.ok(report.ok, formatCheckReport(report));
  const unprobed = report.rules.filter(({ reason = '' }) => /no probe|are off/u.test(reason));
  assert.equal(unprobed, []);
  assert.ok(report.passed >= 50, formatCheckReport(report));
}

async function serveTcp(
  signal: AbortSignal,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const child = spawn('python3', [KIOSK, '--tcp', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill();
    await closed;
  };
  let said = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const match = /listening on 127\.0\.0\.1:(\d+)\n/u.exec(said);
      if (match !== null) resolve(Number(match[1]));
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the server ended: ${said}`)));
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { port, stop };
}

test.run();
