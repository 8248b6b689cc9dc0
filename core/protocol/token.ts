// The token that a server for many asks of its clients. It travels with `initialize`, in front of the
// engine's options, so that the protocol needs no message for it. It is compared in constant time, by
// hashes of equal length, and it is in no message, no error and no log.
import { createHash, timingSafeEqual } from 'node:crypto';
import { isPlainObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { ConfigurationError } from '../contract/errors.ts';

/** The member of `initializationOptions` that holds the token. */
const TOKEN_KEY = 'enginewright/token';

/**
 * The `initializationOptions` for a server that asks for a token: `connectEngine({ ...,
 * initializationOptions: withToken(token, options) })`. Throws `INVALID_CONFIG` for a token that is
 * no text, is empty, or holds white space.
 */
export function withToken(token: string, options?: JsonValue): JsonObject {
  checkToken('withToken', token);
  return { [TOKEN_KEY]: token, ...(options !== undefined && { options }) };
}

export function checkToken(subject: string, token: unknown): void {
  // Never shown, not even in part.
  if (typeof token === 'string' && /^\S+$/u.test(token)) return;
  throw new ConfigurationError(
    'INVALID_CONFIG',
    `${subject}: the token must be text without white space, such as "openssl rand -hex 32" prints.`,
  );
}

/** What `initializationOptions` hold once the token is taken out. */
export interface TakenToken {
  /** As it was sent, of any type. */
  readonly token: unknown;
  /** The engine's options. */
  readonly options: unknown;
  /** A member that belongs neither to the token nor to the engine. */
  readonly stray?: string;
}

/** Takes the token out of `initializationOptions`, if there is one. */
export function takeToken(initializationOptions: unknown): TakenToken {
  if (!isPlainObject(initializationOptions) || !Object.hasOwn(initializationOptions, TOKEN_KEY)) {
    return { token: undefined, options: initializationOptions };
  }
  const { [TOKEN_KEY]: token, options, ...rest } = initializationOptions;
  const [stray] = Object.keys(rest);
  return { token, options, ...(stray !== undefined && { stray }) };
}

/** Answers whether a token is the expected one, in a time that does not depend on where they differ. */
export function tokenCheck(expected: string): (token: unknown) => boolean {
  const wanted = digest(expected);
  return (token) => {
    const same = timingSafeEqual(wanted, digest(typeof token === 'string' ? token : ''));
    return same && typeof token === 'string';
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
