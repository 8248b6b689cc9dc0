// What every transport must do, as rules that know no test library: for whoever writes one of their own
// (a serial line, a message queue, a tunnel), and run here over all of ours. A transport moves bytes
// and lets go of what it opened; messages are none of its business. A rule fails by throwing an
// error that says what was seen.
import { race } from '../core/contract.ts';
import { ensure } from './engine-stage.ts';
import type { RuleResult } from './engine-suite.ts';
import { patternBytes, SPOKEN_BYTES } from './far-end.ts';
import {
  CLOSE_MS,
  closes,
  contextOf,
  onConnection,
  onStage,
  open,
  pause,
  reader,
  released,
  same,
  saysSomething,
  type TransportSuiteContext,
} from './transport-stage.ts';

export interface TransportRule {
  readonly name: string;
  /** Rejects with what is wrong. */
  run(context: TransportSuiteContext): Promise<void>;
}

/** Runs every rule, one after another, and answers what came of each. */
export async function runTransportSuite(
  context: TransportSuiteContext,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = [];
  for (const rule of transportSuite) {
    context.signal.throwIfAborted();
    try {
      await rule.run(context);
      results.push({ rule: rule.name, status: 'passed' });
    } catch (error) {
      results.push({ rule: rule.name, status: 'failed', error });
    }
  }
  return results;
}

/** More than any buffer on the way holds. */
const BIG_BYTES = 8 * 1024 * 1024;

/** The rules, in an order in which the simplest fails first. */
export const transportSuite: readonly TransportRule[] = [
  {
    name: 'the label is one line that says where it leads',
    run: (context) =>
      onStage(context, 'echo', async ({ transport }) => {
        const { label } = transport;
        ensure(typeof label === 'string' && label.trim() !== '', 'the label is empty');
        ensure(!/[\r\n]/u.test(label), `the label has several lines: ${JSON.stringify(label)}`);
      }),
  },
  {
    name: 'bytes of every value cross as they are, both ways',
    run: (context) =>
      onConnection(context, 'echo', async ({ connection, read }) => {
        const sent = patternBytes(70_000);
        // In pieces: one byte, a few, and the rest.
        for (const [from, to] of [
          [0, 1],
          [1, 8],
          [8, sent.length],
        ] as const) {
          connection.output.write(sent.subarray(from, to));
        }
        same(await read(sent.length), sent);
      }),
  },
  {
    name: 'something big crosses both ways at once, without a deadlock',
    run: (context) =>
      onConnection(context, 'echo', async ({ connection, read }) => {
        const sent = patternBytes(BIG_BYTES);
        connection.output.write(sent);
        same(await read(sent.length), sent);
      }),
  },
  {
    name: 'connections of one transport know nothing of each other',
    run: (context) =>
      onStage(context, 'echo', async (stage) => {
        const texts = ['one', 'two', 'three'];
        const opened = await Promise.all(texts.map(() => open(stage.transport, context)));
        for (const [index, { output }] of opened.entries()) output.write(texts[index]);
        const heard = await Promise.all(
          opened.map((connection, index) => reader(connection, context)(texts[index]?.length ?? 0)),
        );
        for (const [index, bytes] of heard.entries()) same(bytes, Buffer.from(texts[index] ?? ''));
        const [first, ...others] = opened;
        await first?.close(CLOSE_MS);
        for (const { output } of others) output.write('still there');
        for (const connection of others) {
          same(await reader(connection, context)(11), Buffer.from('still there'));
        }
        for (const connection of others) await connection.close(CLOSE_MS);
        await released(stage, context);
      }),
  },
  {
    name: 'what the far end sent before it ended arrives, and then the end',
    run: (context) =>
      onConnection(context, 'speaks', async ({ connection, read, ended }) => {
        // A far end that was quick must not be lost on a near end that is slow.
        await pause();
        same(await read(SPOKEN_BYTES), patternBytes(SPOKEN_BYTES));
        await ended();
        saysSomething(connection);
      }),
  },
  {
    name: 'the end of the output is the end of the far input',
    run: (context) =>
      onConnection(context, 'echo', async ({ connection, read, ended }) => {
        connection.output.end('last words');
        same(await read(10), Buffer.from('last words'));
        await ended();
      }),
  },
  {
    name: 'a far end that vanishes ends the input, and diagnostics say something',
    run: (context) =>
      onConnection(context, 'vanishes', async ({ connection, ended }) => {
        connection.output.write('x');
        await ended();
        saysSomething(connection);
      }),
  },
  {
    name: 'an error that nobody listens to yet does not end the process',
    run: (context) =>
      onConnection(context, 'echo', async ({ connection }) => {
        const { input, output } = connection;
        ensure(input.listenerCount('error') > 0, 'input has no listener for "error" of its own');
        ensure(output.listenerCount('error') > 0, 'output has no listener for "error" of its own');
      }),
  },
  {
    name: 'open rejects under a signal that was aborted before, with its reason',
    run: (context) =>
      onStage(context, 'echo', async (stage) => {
        const reason = new Error('the suite aborted it');
        const opening = stage.transport.open(contextOf(context, AbortSignal.abort(reason)));
        const outcome = await race(
          opening.then(
            async (connection) => {
              await connection.close(CLOSE_MS);
              return 'it resolved';
            },
            (error: unknown) =>
              error === reason ? undefined : `it rejected with ${String(error)}`,
          ),
          context.signal,
        );
        ensure(outcome === undefined, `expected the reason of the signal, but ${outcome}`);
        await released(stage, context);
      }),
  },
  {
    name: 'an abort while it opens leaves nothing open',
    run: (context) =>
      onStage(context, 'echo', async (stage) => {
        const controller = new AbortController();
        const opening = stage.transport.open(contextOf(context, controller.signal));
        controller.abort(new Error('the suite aborted it'));
        // It may have been too late: then the connection is as good as any.
        const connection = await race(opening, context.signal).catch(() => undefined);
        context.signal.throwIfAborted();
        await connection?.close(CLOSE_MS);
        await released(stage, context);
      }),
  },
  {
    name: 'an abort after it opened does not touch the connection',
    run: (context) =>
      onStage(context, 'echo', async (stage) => {
        const controller = new AbortController();
        const connection = await stage.transport.open(contextOf(context, controller.signal));
        controller.abort(new Error('too late to matter'));
        connection.output.write('still here');
        same(await reader(connection, context)(10), Buffer.from('still here'));
        await connection.close(CLOSE_MS);
      }),
  },
  ...(['echo', 'deaf', 'stubborn'] as const).map(
    (behaviour): TransportRule => ({
      name: `close lets go of a far end that is ${behaviour === 'echo' ? 'polite' : behaviour}, within its time`,
      run: (context) =>
        onStage(context, behaviour, async (stage) => {
          const connection = await open(stage.transport, context);
          if (behaviour === 'deaf') connection.output.write(patternBytes(BIG_BYTES));
          await closes(connection, CLOSE_MS, context);
          await closes(connection, CLOSE_MS, context);
          await released(stage, context);
        }),
    }),
  ),
  {
    name: 'close without any time lets go too',
    run: (context) =>
      onStage(context, 'stubborn', async (stage) => {
        const connection = await open(stage.transport, context);
        await closes(connection, 0, context);
        await released(stage, context);
      }),
  },
  {
    name: 'close after the far end vanished is nothing special',
    run: (context) =>
      onStage(context, 'vanishes', async (stage) => {
        const connection = await open(stage.transport, context);
        connection.output.write('x');
        await closes(connection, CLOSE_MS, context);
        // Nobody is hurt by what comes late.
        connection.output.write('y');
        await pause();
        await released(stage, context);
      }),
  },
];
