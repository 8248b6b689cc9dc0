// `enginewright demo`: a whole flow against an engine served by another process, told as it
// happens. It is also the shortest complete embedding of the library, so it uses nothing but the
// public doors. One step fails on purpose: a demo that only ever passes shows half the product.
import * as v from 'valibot';
import { createRegistry } from '../adapters/registry.ts';
import { isAgentError } from '../core/contract.ts';
import { connectEngine, describeEngine } from '../core/protocol/index.ts';
import { spawnTransport } from '../core/protocol/transports/index.ts';
import { openSession, type AttemptContext, type Model, type StepRecord } from '../index.ts';
import {
  commandHelp,
  parseCommand,
  usageError,
  type CommandSpec,
  type OptionValues,
} from './args.ts';
import { createAccount } from './demo-account.ts';
import { packageFile } from './package-root.ts';
import { servePages } from './page-server.ts';

const OPTIONS = {
  engine: {
    type: 'string',
    value: 'NAME',
    help: 'kiosk (default, in memory) or playwright (a real Chromium).',
  },
  model: {
    type: 'string',
    value: 'NAME',
    help: 'plain-words (default: offline, deterministic, understands plain instructions only) or openai-chat:MODEL for a real one.',
  },
  'base-url': {
    type: 'string',
    value: 'URL',
    help: 'Where an OpenAI-compatible server listens, such as http://127.0.0.1:11434/v1. Without it OPENAI_API_KEY is needed.',
  },
  'key-from': {
    type: 'string',
    value: 'VARIABLE',
    help: 'The environment variable that holds the key for --base-url; without it no key is sent there.',
  },
  json: { type: 'boolean', help: 'End with one line of JSON about the steps.' },
} as const;

export const DEMO: CommandSpec<typeof OPTIONS> = {
  name: 'demo',
  usage: '[--engine NAME] [--model NAME]',
  summary: 'Play a whole flow against a served engine.',
  about: [
    'Orders a dish: act, waitFor, extract, assert, and one assert that fails on purpose. The engine runs in a child process and is driven over the engine protocol on its stdio.',
    'Needs no key and no network with the default model. Exit code 0 means that every step ended as expected, the failing one included.',
  ],
  options: OPTIONS,
  examples: [
    'enginewright demo',
    'enginewright demo --engine playwright',
    'enginewright demo --model openai-chat:qwen3 --base-url http://127.0.0.1:11434/v1',
  ],
};

const ENGINES = ['kiosk', 'playwright'] as const;

/** What the extract step asks for. */
const ORDER = v.object({ number: v.string(), total: v.string() });

export async function demo(argv: readonly string[]): Promise<number> {
  const args = parseCommand(DEMO, argv);
  if (args.help) {
    process.stdout.write(commandHelp(DEMO));
    return 0;
  }
  if (args.positionals.length > 0 || args.rest !== undefined) {
    throw usageError(
      'demo',
      `The demo takes options only, not ${JSON.stringify(args.positionals[0] ?? '--')}.`,
    );
  }
  const engineName = args.options.engine ?? 'kiosk';
  if (!(ENGINES as readonly string[]).includes(engineName)) {
    throw usageError(
      'demo',
      `The demo knows no flow for the engine ${JSON.stringify(engineName)}; use ${ENGINES.join(' or ')}.`,
    );
  }
  const modelName = args.options.model ?? 'plain-words';
  const registry = createRegistry();
  const model = await registry.model(modelName, endpointOptions(args.options));
  return playDemo({ engineName, model, json: args.options.json === true });
}

/** The endpoint of a real model. A key goes only where the person said that it goes. */
function endpointOptions(options: OptionValues<typeof OPTIONS>): Readonly<Record<string, string>> {
  const { 'base-url': baseUrl, 'key-from': variable } = options;
  if (variable !== undefined && baseUrl === undefined) {
    throw usageError('demo', 'Option --key-from goes with --base-url.');
  }
  const apiKey = variable === undefined ? undefined : process.env[variable];
  if (variable !== undefined && (apiKey === undefined || apiKey === '')) {
    throw usageError('demo', `Option --key-from names ${variable}, which is not set.`);
  }
  return {
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

async function playDemo(options: {
  readonly engineName: string;
  readonly model: Model;
  readonly json: boolean;
}): Promise<number> {
  const { engineName, model } = options;
  const registry = createRegistry();
  const engineOptions = engineName === 'playwright' ? chromiumOptions() : {};
  const local = await registry.engine(engineName, engineOptions);
  await registry.checkEngine(engineName);
  const command = [process.argv[1] ?? 'enginewright', 'serve', engineName, '--stdio'];
  const engine = connectEngine({
    manifest: describeEngine(local),
    transport: spawnTransport({ command: process.execPath, args: command }),
    initializationOptions: engineOptions,
  });
  const pages =
    engineName === 'playwright' ? await servePages(packageFile('examples/shop-page/')) : undefined;
  const account = createAccount(process.stdout);
  const steps: StepRecord[] = [];
  account.opening({
    engine: `${local.name} ${local.version}`,
    command: `enginewright ${command.slice(1).join(' ')}`,
    model: `${model.adapter}${model.adapter === model.modelId ? '' : `:${model.modelId}`}`,
    ...(pages === undefined ? {} : { page: pages.url }),
  });
  let failure: unknown;
  let failedAsExpected = false;
  try {
    const session = await openSession({
      target: {
        name: engineName,
        engine,
        app: { url: pages?.url ?? 'kiosk://order/' },
      },
      agents: { default: { model } },
      onEvent: (event) => {
        if (event.type !== 'step') return;
        if (event.phase === 'closed') steps.push(event.record);
        account.step(event);
      },
    });
    try {
      failedAsExpected = await session.attempt((context) => orderLunch(context, account.say), {
        title: 'order lunch',
      });
    } finally {
      await session.close();
    }
  } catch (error) {
    failure = error;
  } finally {
    await pages?.close();
  }
  const passed = failure === undefined && failedAsExpected;
  account.closing({ steps, passed, failure, model: model.adapter });
  if (options.json) {
    const summary = {
      status: passed ? 'passed' : 'failed',
      steps: steps.map((step) => ({
        kind: step.kind,
        status: step.status,
        code: step.code ?? null,
        modelCalls: step.modelCalls,
        actions: step.actionCount,
      })),
    };
    process.stdout.write(`${JSON.stringify(summary)}\n`);
  }
  if (failure instanceof Error && !isAgentError(failure)) throw failure;
  return passed ? 0 : 1;
}

/** The flow itself; answers whether its last assert failed as it should. */
async function orderLunch(
  { agent, app }: AttemptContext,
  say: (line: string) => void,
): Promise<boolean> {
  await app.open('/');
  await agent.act(
    'tap "Start order", tap "Lasagne", choose "Large" in "Size", check "Extra cheese", then tap "Add to basket"',
  );
  await agent.assert('the screen shows "1 x Lasagne, Large, extra cheese"');
  await agent.act(
    'tap "Checkout", type {customer} into "Your name", choose "Cash at the counter" in "Pay with", then tap "Pay"',
    { params: { customer: 'Ada Lovelace' } },
  );
  await agent.waitFor('the screen shows "Order ready"', { interval: 500 });
  const order = await agent.extract('number from "Order number", total from "Total"', {
    schema: ORDER,
  });
  say(`extracted ${JSON.stringify(order)}`);
  try {
    await agent.assert('the screen shows "Order cancelled"');
    return false;
  } catch (error) {
    if (!isAgentError(error) || error.code !== 'ASSERTION_FAILED') throw error;
    say('this failure is deliberate: it shows what a false claim looks like');
    return true;
  }
}

/** Chromium as root has no sandbox to offer; everywhere else it stays on. */
function chromiumOptions(): { readonly sandbox?: false } {
  return process.getuid?.() === 0 ? { sandbox: false } : {};
}
