// A host whose first attempt loses its engine in the middle of a tap, and whose second observes
// once more. It prints what it saw as JSON and must then exit by itself.
import { openSession, type Session } from 'enginewright';
import { connectEngine, socketTransport, spawnTransport } from 'enginewright/protocol';
import { scriptedModel } from 'enginewright/testing';

const [, , enginePath = '', marker = '', port = ''] = process.argv;
const events: {
  readonly code: string | undefined;
  readonly summary: string;
  readonly outcome: string | undefined;
}[] = [];
const pids = new Set<number>();
const LONG = 600_000;

const engine = connectEngine({
  manifest: {
    name: 'hanging',
    version: '1.0.0',
    spiVersion: 1,
    methods: ['engine/observe', 'engine/perform', 'lifecycle/startAttempt', 'lifecycle/endAttempt'],
    actions: ['tap'],
  },
  transport:
    port === ''
      ? spawnTransport({ command: process.execPath, args: [enginePath, marker] })
      : socketTransport({ host: '127.0.0.1', port: Number(port) }),
  resolveLocators: true,
});

const session = await openSession({
  target: { engine },
  timeout: LONG,
  actionTimeout: LONG,
  agents: {
    default: {
      model: scriptedModel([{ calls: [{ name: 'tap', arguments: { target: 'e1' } }] }]),
    },
  },
  onEvent: (event) => {
    if (event.type === 'step' && event.phase === 'closed') {
      events.push({
        code: event.record.code,
        summary: event.record.summary,
        outcome: event.record.actions[0]?.outcome,
      });
    }
  },
});
const failure = await attemptOnce(session, true);
const second = await attemptOnce(session, false);
await session.close();
process.stdout.write(
  `${JSON.stringify({
    code: codeOf(failure),
    message: failure instanceof Error ? failure.message : '',
    step: events[0]?.code,
    summary: events[0]?.summary,
    action: events[0]?.outcome,
    second: second === undefined ? 'passed' : codeOf(second),
    pids: [...pids],
  })}\n`,
);

async function attemptOnce(open: Session, act: boolean): Promise<unknown> {
  return open
    .attempt(async ({ agent, locate }) => {
      const button = await locate({
        kind: 'query',
        query: {
          kind: 'role',
          value: { kind: 'string', value: 'button', exact: true },
        },
      });
      const pid = Number(/\d+/u.exec(button.name ?? '')?.[0]);
      pids.add(pid);
      if (!act) return;
      await agent.act('tap the button');
    })
    .then(
      () => undefined,
      (error: unknown) => error,
    );
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? error);
}
