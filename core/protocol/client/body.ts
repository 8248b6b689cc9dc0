// The engine that a connected handle is made of: the members that the manifest lists, each a call on
// its role's connection; the hooks that open and close connections; and what the client does itself
// (locators, screenshots, session hooks, secrets).
import { resolveExpression } from '../../contract/resolve.ts';
import type {
  Engine,
  EngineAttemptContext,
  EngineCleanupContext,
  EngineFinishInfo,
  EngineInitInfo,
  EnginePrepareInfo,
  EngineSession,
  OperationContext,
} from '../../contract/engine.ts';
import { EngineError } from '../../contract/errors.ts';
import type { LocatorExpression } from '../../contract/locator.ts';
import type { EngineSnapshot } from '../../contract/observation.ts';
import { compareManifests, printManifest } from '../manifest.ts';
import { ENGINE_METHODS, type EngineMethod } from '../methods.ts';
import type { ConnectionRole } from '../transports/types.ts';
import type { EngineManifest } from '../types.ts';
import { createAttempts, type Attempts } from './attempts.ts';
import { openConnection, type ClientConnection, type ServerMessages } from './connection.ts';
import { createLink, type Link } from './link.ts';
import type { ConnectEngineOptions } from './options.ts';
import { acceptScreenshot } from './screenshots.ts';

type Call = (...args: unknown[]) => Promise<unknown>;

/** The body that `defineEngine` makes the handle of. */
export function createBody(
  manifest: EngineManifest,
  options: ConnectEngineOptions,
): { readonly body: Engine; readonly onLost: Link['onLost'] } {
  const { name, version, spiVersion, platform, workers, actions, pointerActions } = manifest;
  const subject = `Engine ${JSON.stringify(name)}`;
  const { clock, secrets = [] } = options;
  const attempts = createAttempts(secrets);
  const worker = createLink({ subject, span: 'init..dispose', clock });
  const run = createLink({ subject, span: 'prepare..finish', clock });
  const lists = (method: EngineMethod): boolean => manifest.methods.includes(method);

  const connect = (
    role: ConnectionRole,
    info: EnginePrepareInfo | EngineInitInfo,
  ): Promise<ClientConnection> => {
    const { env, projectRoot, signal, app } = info;
    return openConnection({
      transport: options.transport,
      context: { role, env, cwd: projectRoot, signal, app },
      initializationOptions: options.initializationOptions,
      messages: serverMessages((line) => info.log(line), role === 'worker' ? attempts : undefined),
      checkManifest: (announced) => refuseOther(subject, options, manifest, announced),
      subject,
      clock,
      liveness: options.liveness,
    });
  };

  const members = listedMembers(manifest, { worker, run });
  const hooks: Engine = {
    name,
    version,
    spiVersion,
    async init(info) {
      const connection = await worker.open('init', () => connect('worker', info));
      if (lists('lifecycle/init')) await connection.call('lifecycle/init', [info]);
    },
    async dispose(context) {
      attempts.end();
      await worker.close(
        context,
        lists('lifecycle/dispose')
          ? (connection) => connection.call('lifecycle/dispose', [context])
          : undefined,
      );
    },
    async startAttempt(context: EngineAttemptContext) {
      const connection = worker.require('lifecycle/startAttempt');
      // Known before it is asked for: the server may report during the call.
      attempts.start(context);
      connection.signals.startAttempt();
      if (lists('lifecycle/startAttempt')) {
        await connection.call('lifecycle/startAttempt', [context]);
      }
    },
    async endAttempt(context: EngineCleanupContext) {
      const connection = worker.require('lifecycle/endAttempt');
      try {
        if (lists('lifecycle/endAttempt')) {
          await connection.call('lifecycle/endAttempt', [context]);
        }
      } finally {
        attempts.end();
        connection.signals.endAttempt();
        connection.forgetAborted();
      }
    },
  };
  const runHooks: Partial<Engine> = {
    async prepare(info) {
      const connection = await run.open('prepare', () => connect('run', info));
      if (!lists('lifecycle/prepare')) return;
      return (await connection.call('lifecycle/prepare', [info])) as undefined;
    },
    async finish(info: EngineFinishInfo) {
      await run.close(
        info,
        lists('lifecycle/finish')
          ? (connection) => connection.call('lifecycle/finish', [info])
          : undefined,
      );
    },
  };

  const body: Engine = {
    ...members,
    ...hooks,
    ...(platform !== undefined && { platform }),
    ...(workers !== undefined && { workers }),
    ...(actions !== undefined && { actions }),
    ...(pointerActions !== undefined && { pointerActions }),
    ...(manifest.tapModifiers !== undefined && { tapModifiers: manifest.tapModifiers }),
    ...((lists('lifecycle/prepare') || lists('lifecycle/finish')) && runHooks),
    ...artifactMembers(members, attempts),
    ...(options.resolveLocators === true && { locate: locateByObserving(members) }),
    ...sessionMembers(members, options.session),
    ...(options.secrets !== undefined && { secrets: options.secrets }),
    ...(options.fixtures !== undefined && { fixtures: options.fixtures }),
    ...(options.validateApp !== undefined && { validateApp: options.validateApp }),
  };
  return { body, onLost: worker.onLost };
}

const LIFECYCLE = 'lifecycle/';

/** The members that the manifest lists, each a call on its role's connection. */
function listedMembers(
  manifest: EngineManifest,
  links: Readonly<Record<ConnectionRole, Link>>,
): Partial<Engine> {
  const members: Record<string, Call | Record<string, Call>> = {};
  for (const method of manifest.methods) {
    if (method.startsWith(LIFECYCLE) && method !== 'lifecycle/settleAttempt') continue;
    const { member, role } = ENGINE_METHODS[method];
    const call: Call = async (...args) => links[role].require(method).call(method, args);
    const [group, name] = member.split('.') as [string, string?];
    if (name === undefined) members[group] = call;
    else members[group] = { ...(members[group] as Record<string, Call> | undefined), [name]: call };
  }
  return members as Partial<Engine>;
}

function artifactMembers(members: Partial<Engine>, attempts: Attempts): Partial<Engine> {
  const { artifacts } = members;
  if (artifacts?.screenshot === undefined) return {};
  const screenshot = async (
    label: string | undefined,
    context: OperationContext,
  ): Promise<string> => {
    const attempt = attempts.current;
    const answer: unknown = await artifacts.screenshot(label, context);
    if (attempt === undefined) {
      throw new EngineError('INVALID_STATE', 'artifacts/screenshot was called outside an attempt.');
    }
    return acceptScreenshot(answer as { readonly path: string }, {
      artifactsDir: attempt.artifactsDir,
      label,
      next: attempts.nextScreenshot,
    });
  };
  return { artifacts: { ...artifacts, screenshot } };
}

function locateByObserving(members: Partial<Engine>): NonNullable<Engine['locate']> {
  return async (expression: LocatorExpression, context: OperationContext) => {
    const snapshot = (await members.observe?.(context)) as EngineSnapshot;
    return resolveExpression(expression, [snapshot.root]);
  };
}

function sessionMembers(
  members: Partial<Engine>,
  session: EngineSession | undefined,
): Partial<Engine> {
  if (session === undefined) return {};
  const own: Record<string, unknown> = {};
  // Bound to what they came from: the session may be an instance of a class.
  for (const hook of ['open', 'back', 'restart', 'reset'] as const) {
    const member = session[hook];
    if (member !== undefined) own[hook] = member.bind(session);
  }
  return { session: { ...members.session, ...own } };
}

function serverMessages(
  log: (line: string) => void,
  attempts: Attempts | undefined,
): ServerMessages {
  return {
    async request(method, params, connection) {
      return (attempts ?? createAttempts([])).request(method, params, connection.deriveSecret);
    },
    notification(method, params) {
      if (method === 'engine/log') {
        const line = (params as { readonly line?: unknown } | undefined)?.line;
        if (typeof line === 'string') log(line);
        return;
      }
      attempts?.notification(method, params);
    },
  };
}

function refuseOther(
  subject: string,
  options: ConnectEngineOptions,
  declared: EngineManifest,
  announced: unknown,
): void {
  const differences = compareManifests(declared, announced);
  if (differences.length === 0) return;
  throw new EngineError(
    'ENGINE_FAILURE',
    `${subject} (${options.transport.label}) is not what its manifest declares; it differs in ${differences.join(', ')}. The server's own:\n${printManifest(announced)}`,
  );
}
