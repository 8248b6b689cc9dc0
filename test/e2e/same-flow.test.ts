// One flow, one browser page, every way to it: in this process over loopback, in a child over
// stdio, over TCP, and once more with the model behind an HTTP server. What the steps leave behind
// must be the same, so that a person may choose the way by need and not by behaviour.
import { openSession, type Session, type StepRecord } from 'enginewright';
import type { EngineHandle } from 'enginewright/contract';
import { playwright } from 'enginewright/engines/playwright';
import { openaiChat } from 'enginewright/models/openai-chat';
import { plainWords } from 'enginewright/models/plain-words';
import {
  connectEngine,
  describeEngine,
  loopbackTransport,
  socketTransport,
  spawnTransport,
  type EngineTransport,
} from 'enginewright/protocol';
import { servePages } from '../../cli/page-server.ts';
import { assert, skipFile, suite } from '../harness.ts';
import { startChatServer } from '../support/chat-server.ts';
import { findChromium } from '../support/chromium.ts';
import { comparable, orderLunch, type LunchResult } from '../support/lunch.ts';
import { CLI, startNode } from '../support/processes.ts';

const chromium = findChromium();
if (chromium === undefined) skipFile('no Chromium on this machine');

const test = suite('the same flow over every transport');
const options = {
  executablePath: chromium,
  ...(process.getuid?.() === 0 ? { sandbox: false } : {}),
};
const pages = await servePages(new URL('../../examples/shop-page/', import.meta.url));
test.after(() => pages.close());

interface Played {
  readonly result: LunchResult;
  readonly records: readonly StepRecord[];
}

async function play(engine: EngineHandle, model = plainWords()): Promise<Played> {
  const records: StepRecord[] = [];
  const session: Session = await openSession({
    target: { engine, app: { url: pages.url } },
    agents: { default: { model } },
    onEvent: (event) => {
      if (event.type === 'step' && event.phase === 'closed') records.push(event.record);
    },
  });
  try {
    // Ready at once: how often a wait judges is a matter of time, and is tested elsewhere.
    const result = await session.attempt((context) => orderLunch(context, '/?preparationMs=0'));
    return { result, records };
  } finally {
    await session.close();
  }
}

function connect(transport: EngineTransport): EngineHandle {
  return connectEngine({
    manifest: describeEngine(playwright()),
    transport,
    initializationOptions: options,
  });
}

let reference: Played | undefined;
async function localPlay(): Promise<Played> {
  reference ??= await play(playwright(options));
  return reference;
}

function assertSame(played: Played, local: Played): void {
  assert.equal(played.result, local.result);
  assert.equal(played.records.map(comparable), local.records.map(comparable));
}

const LIMIT = { timeoutMs: 120_000 };

test(
  'in process',
  async () => {
    const { result, records } = await localPlay();
    assert.equal(result, {
      order: { number: 'K-101', total: '$14.50' },
      code: 'ASSERTION_FAILED',
    });
    assert.equal(
      records.map((record) => [record.kind, record.status, record.actionCount]),
      [
        ['act', 'passed', 5],
        ['assert', 'passed', 0],
        ['act', 'passed', 4],
        ['waitFor', 'passed', 0],
        ['extract', 'passed', 0],
        ['assert', 'failed', 0],
      ],
    );
    assert.ok(records.at(-1)?.screenshot !== undefined);
  },
  LIMIT,
);

test(
  'over loopback',
  async () => {
    assertSame(await play(connect(loopbackTransport(playwright(options)))), await localPlay());
  },
  LIMIT,
);

test(
  'in a child process over stdio',
  async () => {
    const transport = spawnTransport({
      command: process.execPath,
      args: [CLI, 'serve', 'playwright', '--stdio'],
    });
    assertSame(await play(connect(transport)), await localPlay());
  },
  LIMIT,
);

test(
  'over TCP',
  async () => {
    const server = startNode([CLI, 'serve', 'playwright', '--port', '0']);
    try {
      const [, port = ''] = await server.printed(/listening on 127\.0\.0\.1:(\d+)\n/u);
      const transport = socketTransport({ host: '127.0.0.1', port: Number(port) });
      assertSame(await play(connect(transport)), await localPlay());
    } finally {
      const ended = await server.kill('SIGTERM');
      assert.is(ended.code, 0, ended.stderr);
    }
  },
  LIMIT,
);

test(
  'with the model behind an HTTP server',
  async () => {
    const server = await startChatServer({ model: plainWords() });
    try {
      const model = openaiChat({ model: 'plain', baseUrl: server.baseUrl, apiKey: 'key-for-test' });
      const played = await play(playwright(options), model);
      const local = await localPlay();
      assert.equal(played.result, local.result);
      const facts = ({ records }: Played): unknown =>
        records.map((record) => [
          record.kind,
          record.status,
          record.code,
          record.summary,
          record.modelCalls,
          record.actions.map(({ tool, target, outcome }) => [tool, target, outcome]),
          record.observationBytes,
        ]);
      assert.equal(facts(played), facts(local));
      const calls = played.records.reduce((sum, record) => sum + record.modelCalls, 0);
      assert.is(server.requests.length, calls);
    } finally {
      await server.close();
    }
  },
  LIMIT,
);
