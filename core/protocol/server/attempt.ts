// The server's end of an attempt: the context that the engine gets, whose callbacks become messages,
// and where its artifacts go. Unless the two sides share a disk, the engine writes into a folder of
// the server's own, which lives as long as the attempt: the client's path means nothing here.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cutUtf8 } from '../../base/text.ts';
import {
  NAVIGATION_LINE_LIMIT,
  type AppLogEntry,
  type EngineAttemptContext,
  type ResolveSecretOptions,
} from '../../contract/engine.ts';
import type { EngineSnapshot } from '../../contract/observation.ts';
import type { Secret } from '../../contract/secrets.ts';
import { decodeParams, encodeParams } from '../codecs/params.ts';
import { PROTOCOL_MESSAGES, type ParamKinds, type ProtocolMessage } from '../methods.ts';

/** How the server reaches its client. */
export interface ClientPort {
  notify(method: ProtocolMessage, params: Readonly<Record<string, unknown>>): void;
  request(method: ProtocolMessage, params: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** The derivations that wait for their plaintext, over one connection. */
export interface SecretDesk {
  /** Answers the plaintext, after the derived forms were reported. */
  resolve(attemptId: string, secret: Secret, options?: ResolveSecretOptions): Promise<string>;
  /** Handles `attempt/deriveSecret`; `undefined` for a derivation that nobody waits for. */
  derive(derivation: unknown, plaintext: string): Promise<readonly string[]> | undefined;
}

export function createSecretDesk(client: ClientPort): SecretDesk {
  const waiting = new Map<unknown, NonNullable<ResolveSecretOptions['derived']>>();
  let next = 1;
  return {
    async resolve(attemptId, secret, options) {
      const derived = options?.derived;
      const derivation = derived === undefined ? undefined : `derivation-${next++}`;
      if (derivation !== undefined && derived !== undefined) waiting.set(derivation, derived);
      try {
        const { name } = secret;
        const answer = await client.request('attempt/resolveSecret', {
          attemptId,
          name,
          derivation,
        });
        const { result } = PROTOCOL_MESSAGES['attempt/resolveSecret'];
        return decodeParams(result as ParamKinds, answer, {}, 'result')['value'] as string;
      } finally {
        waiting.delete(derivation);
      }
    },
    derive(derivation, plaintext) {
      const derived = waiting.get(derivation);
      if (derived === undefined) return undefined;
      return (async () => [...(await derived(plaintext))])();
    },
  };
}

/** An attempt as long as it lasts. */
export interface ServerAttempt {
  readonly attemptId: string;
  /** Where the engine writes. */
  readonly artifactsDir: string;
  /** The functions of the engine's `EngineAttemptContext`. */
  readonly callbacks: Pick<
    EngineAttemptContext,
    'resolveSecret' | 'appLog' | 'navigation' | 'environment' | 'screen'
  >;
  /** Silences the callbacks and removes the server's own folder. */
  end(): Promise<void>;
}

export interface ServerAttemptOptions {
  readonly attemptId: string;
  /** As the client has it. */
  readonly artifactsDir: string;
  readonly screens: boolean;
  /** Both sides see the same files. */
  readonly local: boolean;
  readonly client: ClientPort;
  readonly secrets: SecretDesk;
}

export async function createServerAttempt(options: ServerAttemptOptions): Promise<ServerAttempt> {
  const { attemptId, client, secrets, local } = options;
  const artifactsDir = local
    ? options.artifactsDir
    : await mkdtemp(join(tmpdir(), 'enginewright-artifacts-'));
  let over = false;
  const notify = (method: ProtocolMessage, params: Readonly<Record<string, unknown>>): void => {
    // The client drops what comes after the end; not sending it spares the wire.
    if (!over) client.notify(method, { attemptId, ...params });
  };
  return {
    attemptId,
    artifactsDir,
    callbacks: {
      resolveSecret: (secret: Secret, derivation?: ResolveSecretOptions) =>
        secrets.resolve(attemptId, secret, derivation),
      appLog: (entry: AppLogEntry) => notify('attempt/appLog', { entry }),
      navigation: (line: string) =>
        notify('attempt/navigation', { line: cutUtf8(String(line), NAVIGATION_LINE_LIMIT) }),
      environment: (facts: Readonly<Record<string, string>>) =>
        notify('attempt/environment', { facts }),
      screen: (snapshot: EngineSnapshot) => {
        if (options.screens) notify('attempt/screen', { snapshot });
      },
    },
    async end() {
      over = true;
      if (!local) await rm(artifactsDir, { recursive: true, force: true });
    },
  };
}

/** Encodes a message's params by its row. */
export function encodeMessage(
  method: ProtocolMessage,
  params: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return encodeParams(PROTOCOL_MESSAGES[method].params, params);
}
