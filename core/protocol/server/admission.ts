// Who is let in to an engine: those with the token, as long as there is room. A refusal is one clear
// error to `initialize`; when the engine is taken, it says by whom and since when, because whoever
// waits for a device wants to know whom to ask. Nobody without the token learns that.
import type { Clock } from '../../base/clock.ts';
import { sanitizeLine } from '../../base/text.ts';
import { JSON_RPC, RpcError } from '../messages.ts';
import { takeToken, tokenCheck } from '../token.ts';
import type { ConnectionRole } from '../transports/types.ts';
import type { EngineClient } from './dispatch.ts';

/** A connection that was let in. */
export interface EngineConnection {
  /** `host:port` of the client. */
  readonly address: string;
  readonly role: ConnectionRole;
  /** What the client calls itself, such as `enginewright 1.2.3`; nothing of it is proven. */
  readonly client: string;
  /** The common name of its certificate, where certificates are asked for. */
  readonly certificate?: string;
  /** When it was let in, ISO 8601. */
  readonly since: string;
}

/** Why somebody was not let in, for the log. */
export type RefusalReason = 'token' | 'options' | 'full' | 'closing';

export class Refusal extends RpcError {
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason, code: number, message: string, data?: object) {
    super(code, message, { reason, ...data });
    this.reason = reason;
  }
}

export interface AdmissionOptions {
  /** Connections of role `worker` at once. */
  readonly maxConnections: number;
  readonly token?: string | undefined;
  readonly clock: Clock;
}

export interface Applicant {
  readonly address: string;
  readonly certificate?: string | undefined;
  readonly client: EngineClient;
  readonly initializationOptions: unknown;
}

/** Let in, with what is the engine's of the `initializationOptions`. */
export interface Admitted {
  readonly connection: EngineConnection;
  readonly engineOptions: unknown;
}

/** Connections of role `run` at once: they hold no engine for long, but they are not for free. */
const MAX_RUN_CONNECTIONS = 64;
/** Longest name of a client, UTF-16 units; and how many holders a refusal lists. */
const NAME_LENGTH = 80;
const SHOWN_HOLDERS = 3;

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #checkToken: ((token: unknown) => boolean) | undefined;
  readonly #held = new Map<EngineConnection, number>();
  #closing = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#checkToken = options.token === undefined ? undefined : tokenCheck(options.token);
  }

  /** Those who are in, in the order in which they came. */
  get connections(): readonly EngineConnection[] {
    return [...this.#held.keys()];
  }

  /** Lets nobody in any more. */
  close(): void {
    this.#closing = true;
  }

  /** Lets somebody in, or throws the refusal. */
  admit(applicant: Applicant): Admitted {
    const { token, options: engineOptions, stray } = takeToken(applicant.initializationOptions);
    if (this.#checkToken?.(token) === false) {
      throw new Refusal(
        'token',
        JSON_RPC.unauthorized,
        'This engine server asks for a token, and the one of this client is missing or wrong: pass withToken(token, options) as initializationOptions, or --token-file on the command line.',
      );
    }
    if (stray !== undefined) {
      throw new Refusal(
        'options',
        JSON_RPC.invalidParams,
        `initialize: initializationOptions has ${JSON.stringify(sanitizeLine(stray, NAME_LENGTH))} beside the token: put the engine's options under "options".`,
      );
    }
    if (this.#closing) {
      throw new Refusal('closing', JSON_RPC.limitExceeded, 'This engine server is shutting down.');
    }
    const { role } = applicant.client;
    this.#requireRoom(role);
    const { clock } = this.#options;
    const connection: EngineConnection = {
      address: applicant.address,
      role,
      client: nameOf(applicant.client),
      ...(applicant.certificate !== undefined && {
        certificate: sanitizeLine(applicant.certificate, NAME_LENGTH),
      }),
      since: clock.iso(),
    };
    this.#held.set(connection, clock.now());
    return { connection, engineOptions };
  }

  /** Its engine is free again. Idempotent. */
  release(connection: EngineConnection): void {
    this.#held.delete(connection);
  }

  #requireRoom(role: ConnectionRole): void {
    const holders = this.connections.filter((held) => held.role === role);
    const limit = role === 'worker' ? this.#options.maxConnections : MAX_RUN_CONNECTIONS;
    if (holders.length < limit) return;
    const shown = holders.slice(0, SHOWN_HOLDERS).map((held) => this.#describe(held));
    const rest = holders.length - shown.length;
    if (rest > 0) shown.push(`and ${rest} more`);
    throw new Refusal(
      'full',
      JSON_RPC.limitExceeded,
      `The engine is taken (${holders.length} of ${limit} ${role} connections): ${shown.join('; ')}. Try again when it is free.`,
      { maxConnections: limit, holders },
    );
  }

  #describe(held: EngineConnection): string {
    const seconds = Math.round((this.#options.clock.now() - (this.#held.get(held) ?? 0)) / 1000);
    return `${describeClient(held)} holds it since ${held.since} (${seconds} s)`;
  }
}

/** Who a connection is from, for a person: `"enginewright 1.2.3" at 10.0.0.7:50112`. */
export function describeClient(connection: EngineConnection): string {
  const { client, address, certificate } = connection;
  const proven = certificate === undefined ? '' : ` (certificate ${JSON.stringify(certificate)})`;
  return `${JSON.stringify(client)}${proven} at ${address}`;
}

function nameOf({ name, version }: EngineClient): string {
  const words = [name ?? 'a client without a name', ...(version === undefined ? [] : [version])];
  return sanitizeLine(words.join(' '), NAME_LENGTH);
}
