// The client's end of an attempt: what the server sends back is handed to the context of the attempt
// it belongs to, and dropped once that attempt has ended. Secrets are answered by name, and only
// those the handle was connected with: a server cannot ask for one that nobody lent it.
import { cutUtf8 } from '../../base/text.ts';
import {
  NAVIGATION_LINE_LIMIT,
  type AppLogEntry,
  type EngineAttemptContext,
} from '../../contract/engine.ts';
import { EngineError, runnerError } from '../../contract/errors.ts';
import type { EngineSnapshot } from '../../contract/observation.ts';
import type { Secret } from '../../contract/secrets.ts';
import { encodeError } from '../codecs/errors.ts';
import { decodeParams } from '../codecs/params.ts';
import { WireValueError } from '../codecs/values.ts';
import { JSON_RPC, RpcError, methodNotFound } from '../messages.ts';
import { PROTOCOL_MESSAGES, type ProtocolMessage } from '../methods.ts';

/** Asks the server for the forms that its engine derives from a secret. */
export type DeriveSecret = (derivation: unknown, plaintext: string) => Promise<readonly string[]>;

export interface Attempts {
  start(context: EngineAttemptContext): void;
  end(): void;
  readonly current: EngineAttemptContext | undefined;
  /** Counts the screenshots of the attempt. */
  nextScreenshot(): number;
  /** An `attempt/*` notification; true when it was one. */
  notification(method: string, params: unknown): boolean;
  /** An `attempt/*` request. */
  request(method: string, params: unknown, derive: DeriveSecret): Promise<unknown>;
}

/** What the rows of the reports decode to. */
interface ReportValues {
  readonly entry: AppLogEntry;
  readonly line: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly snapshot: EngineSnapshot;
}
type Report = (context: EngineAttemptContext, values: ReportValues) => void;

const REPORTS: Readonly<Partial<Record<ProtocolMessage, Report>>> = {
  'attempt/appLog': (context, { entry }) => context.appLog(entry),
  'attempt/navigation': (context, { line }) =>
    context.navigation(cutUtf8(line, NAVIGATION_LINE_LIMIT)),
  'attempt/environment': (context, { facts }) => context.environment(facts),
  'attempt/screen': (context, { snapshot }) => {
    if (context.screens) context.screen(snapshot);
  },
};

export function createAttempts(secrets: readonly Secret[]): Attempts {
  let current: EngineAttemptContext | undefined;
  let screenshots = 0;

  const find = (attemptId: unknown): EngineAttemptContext | undefined =>
    current?.attemptId === attemptId ? current : undefined;

  async function resolveSecret(params: unknown, derive: DeriveSecret): Promise<unknown> {
    const row = PROTOCOL_MESSAGES['attempt/resolveSecret'];
    const { attemptId, name, derivation } = decodeParams(row.params, params);
    const context = find(attemptId);
    if (context === undefined) {
      throw new EngineError('CANCELLED', 'attempt/resolveSecret: the attempt has ended.');
    }
    const secret = secrets.find((candidate) => candidate.name === name);
    if (secret === undefined) {
      throw runnerError(
        'SECRET_UNAVAILABLE',
        `Secret ${JSON.stringify(name)} was not given to this engine: list it in connectEngine's secrets.`,
      );
    }
    const options =
      derivation === undefined
        ? undefined
        : { derived: (plaintext: string) => derive(derivation, plaintext) };
    return { value: await context.resolveSecret(secret, options) };
  }

  return {
    get current() {
      return current;
    },
    start(context) {
      current = context;
      screenshots = 0;
    },
    end() {
      current = undefined;
    },
    nextScreenshot() {
      screenshots += 1;
      return screenshots;
    },
    notification(method, params) {
      const report = Object.hasOwn(REPORTS, method)
        ? REPORTS[method as ProtocolMessage]
        : undefined;
      if (report === undefined) return false;
      const attemptId = (params as { readonly attemptId?: unknown } | undefined)?.attemptId;
      const context = find(attemptId);
      if (context === undefined) return true;
      const { params: kinds } = PROTOCOL_MESSAGES[method as ProtocolMessage];
      report(context, decodeParams(kinds, params) as unknown as ReportValues);
      return true;
    },
    async request(method, params, derive) {
      if (method !== 'attempt/resolveSecret') throw methodNotFound(method);
      try {
        return await resolveSecret(params, derive);
      } catch (error) {
        if (error instanceof WireValueError) {
          throw new RpcError(JSON_RPC.invalidParams, `${method}: ${error.message}`);
        }
        const { code, message, data } = encodeError(error);
        throw new RpcError(code, message, data);
      }
    },
  };
}
