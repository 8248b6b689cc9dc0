// Where values of secrets live. Handles go out, values stay: one is read at the moment of its use,
// joins the redaction before anybody gets it, and is given only to who may have it (an engine, for
// the handles it declares). The environment overrides what is configured, read once per session.
import { race } from '../base/deadline.ts';
import { codePointLength } from '../base/text.ts';
import type { Redactor, SecretSource } from '../agent/scope.ts';
import type { ErrorCode } from '../contract/codes.ts';
import type { ResolveSecretOptions } from '../contract/engine.ts';
import { ConfigurationError, runnerError } from '../contract/errors.ts';
import {
  createSecret,
  isSecret,
  SECRET_PURPOSES,
  type Secret,
  type SecretPurpose,
} from '../contract/secrets.ts';
import { placeList } from './app-options.ts';
import { checkObject, invalid, keyPath, oneOf, optionalObject, unknownName } from './checks.ts';

/** Called at each use; never logged. */
export type SecretProvider = (context: {
  readonly signal: AbortSignal;
}) => string | Promise<string>;
/** At least 6 code points. `undefined` (an unset variable) fails at the first use, not before. */
export type SecretValue = string | SecretProvider | undefined;
export type SecretOption =
  | SecretValue
  | { readonly value: SecretValue; readonly purpose?: SecretPurpose };

export interface CredentialOptions {
  readonly username: string;
  readonly password: SecretValue;
  /** Where the password may be filled; default: the target's `allowedOrigins`. */
  readonly allowedOrigins?: readonly string[];
}

/** A signed-up user: the name is plain, the password is a handle. */
export interface Credential {
  readonly name: string;
  readonly username: string;
  readonly password: Secret;
}
/** A user by name alone, made before any session is open: both parts are handles. */
export interface CredentialHandles {
  readonly name: string;
  readonly username: Secret;
  readonly password: Secret;
}

/** Makes handles of a configured user by name; a session resolves them. */
export const credentials: { readonly user: (name: string) => CredentialHandles } = Object.freeze({
  user: (name: string): CredentialHandles =>
    Object.freeze({
      name,
      username: createSecret(`${name}.username`, 'username'),
      password: createSecret(`${name}.password`, 'password'),
    }),
});

/** Makes the handle of a configured secret by name; a session resolves it. */
export const secrets: { readonly get: (name: string, purpose?: SecretPurpose) => Secret } =
  Object.freeze({
    get: (name: string, purpose?: SecretPurpose): Secret => createSecret(name, purpose),
  });

/** Reads one variable of the environment. */
export type EnvironmentReader = (name: string) => string | undefined;

export interface Vault extends Required<SecretSource> {
  user(name: string): Credential;
  get(name: string): Secret;
  /** Answers an engine, for the handles it declares. */
  resolveForEngine(
    secret: Secret,
    options: ResolveSecretOptions | undefined,
    signal: AbortSignal,
  ): Promise<string>;
}

export interface VaultOptions {
  readonly credentials: unknown;
  readonly secrets: unknown;
  /** The handles that the engine declares. */
  readonly engineSecrets: readonly Secret[];
  readonly readEnv: EnvironmentReader;
  readonly redactor: Redactor;
}

interface Entry {
  readonly secret: Secret;
  readonly value: SecretValue;
  /** Its variable in the environment. */
  readonly variable: string;
  /** The code when no value can be had. */
  readonly missing: ErrorCode;
  readonly allowedOrigins?: readonly string[];
}

/** Values are replaced by `<secret:name>` wherever they occur: shorter ones would hit plain words. */
const MIN_CODE_POINTS = 6;

/** Whether a value is too short to be masked without masking plain words. */
export function tooShort(value: string): boolean {
  return codePointLength(value) < MIN_CODE_POINTS;
}

/** Throws `INVALID_CONFIG` for a malformed or too short entry, without showing it. */
export function createVault(options: VaultOptions): Vault {
  const { redactor, readEnv } = options;
  const entries = new Map<string, Entry>();
  const users = new Map<string, Credential>();
  const declared = new Set(options.engineSecrets.map((secret) => secret.name));

  /** A variable that is set but empty is what a pipeline makes of a secret that it does not have. */
  const fromEnv = (variable: string, mayBeShort = false): string | undefined => {
    const value = readEnv(variable);
    if (value === undefined || value === '') return undefined;
    if (!mayBeShort && tooShort(value)) {
      throw new ConfigurationError(
        'INVALID_CONFIG',
        `Variable ${variable} must have at least ${MIN_CODE_POINTS} characters.`,
      );
    }
    return value;
  };
  const add = (path: string, entry: Entry): void => {
    const { name } = entry.secret;
    if (entries.has(name)) throw invalid(path, `gives ${JSON.stringify(name)} a second value.`);
    if (typeof entry.value === 'string' && entry.secret.purpose !== 'username') {
      if (tooShort(entry.value)) {
        throw invalid(path, `must have at least ${MIN_CODE_POINTS} characters.`);
      }
    }
    entries.set(name, entry);
  };

  for (const [name, value] of Object.entries(optionalObject(options.credentials, 'credentials'))) {
    const path = keyPath('credentials', name);
    const given = checkObject(value, path, {
      known: ['username', 'password', 'allowedOrigins'],
      elsewhere: { user: `${path}.username`, pass: `${path}.password` },
      example: '{ username, password }',
    });
    const variable = `E2E_USER_${variableName(name)}`;
    const username = fromEnv(`${variable}_USERNAME`, true) ?? given['username'];
    if (typeof username !== 'string' || username === '') {
      throw invalid(`${path}.username`, 'must be a non-empty string.');
    }
    const password =
      fromEnv(`${variable}_PASSWORD`) ?? secretValue(given['password'], `${path}.password`);
    const allowedOrigins = placeList(given['allowedOrigins'], `${path}.allowedOrigins`);
    const handles = handlesOf(name, path);
    const common = {
      missing: 'AUTH_CREDENTIAL_UNAVAILABLE',
      ...(allowedOrigins === undefined ? {} : { allowedOrigins }),
    } as const;
    add(`${path}.username`, {
      ...common,
      secret: handles.username,
      value: username,
      variable: `${variable}_USERNAME`,
    });
    add(`${path}.password`, {
      ...common,
      secret: handles.password,
      value: password,
      variable: `${variable}_PASSWORD`,
    });
    users.set(name, Object.freeze({ name, username, password: handles.password }));
  }

  for (const [name, value] of Object.entries(optionalObject(options.secrets, 'secrets'))) {
    const path = keyPath('secrets', name);
    const { purpose, value: given } = secretOption(value, path);
    const variable = secretVariable(name);
    add(path, {
      secret: handleOf(name, purpose, path),
      value: fromEnv(variable, purpose === 'username') ?? given,
      variable,
      missing: 'SECRET_UNAVAILABLE',
    });
  }

  // What an engine declares may come from the environment alone.
  for (const secret of options.engineSecrets) {
    if (entries.has(secret.name)) continue;
    const variable = secretVariable(secret.name);
    const value = fromEnv(variable, secret.purpose === 'username');
    if (value !== undefined) {
      add(keyPath('secrets', secret.name), {
        secret,
        value,
        variable,
        missing: 'SECRET_UNAVAILABLE',
      });
    }
  }

  const resolve = async (secret: Secret, signal: AbortSignal): Promise<string> => {
    if (!isSecret(secret)) {
      throw runnerError('SECRET_UNAVAILABLE', 'The secret asked for is no handle of this package.');
    }
    const { name } = secret;
    const entry = entries.get(name);
    if (entry === undefined) {
      throw runnerError(
        'SECRET_UNAVAILABLE',
        `Secret ${unknownName(name, 'secret', entries.keys())}`,
      );
    }
    const value = await valueOf(entry, signal);
    if (entry.secret.purpose !== 'username') redactor.add(name, value);
    return value;
  };

  return {
    resolve,
    has: (name) => entries.has(name),
    allowedOrigins: (name) => entries.get(name)?.allowedOrigins,
    user(name) {
      const user = users.get(name);
      if (user !== undefined) return user;
      throw runnerError(
        'AUTH_CREDENTIAL_UNAVAILABLE',
        `User ${unknownName(name, 'user', users.keys())}`,
      );
    },
    get(name) {
      const entry = entries.get(name);
      if (entry !== undefined) return entry.secret;
      throw runnerError(
        'SECRET_UNAVAILABLE',
        `Secret ${unknownName(name, 'secret', entries.keys())}`,
      );
    },
    async resolveForEngine(secret, { derived } = {}, signal) {
      if (!isSecret(secret) || !declared.has(secret.name)) {
        throw runnerError(
          'POLICY_DENIED',
          `Secret ${isSecret(secret) ? JSON.stringify(secret.name) : 'without a handle'} is not declared by the engine: list it in the engine's "secrets".`,
        );
      }
      const value = await resolve(secret, signal);
      if (derived !== undefined) {
        const forms: unknown = await race(Promise.resolve(derived(value)), signal);
        if (!Array.isArray(forms) || !forms.every((form) => typeof form === 'string')) {
          throw runnerError(
            'ENGINE_FAILURE',
            `The engine's derived forms of secret ${JSON.stringify(secret.name)} are no list of strings.`,
          );
        }
        for (const form of forms) redactor.add(secret.name, form);
      }
      return value;
    },
  };
}

async function valueOf(entry: Entry, signal: AbortSignal): Promise<string> {
  const { name, purpose } = entry.secret;
  const unavailable = (why: string, cause?: unknown): Error =>
    runnerError(
      entry.missing,
      `Secret ${JSON.stringify(name)} ${why}.`,
      cause === undefined ? {} : { cause },
    );
  let value: unknown = entry.value;
  if (typeof entry.value === 'function') {
    try {
      value = await race(Promise.resolve(entry.value({ signal })), signal);
    } catch (cause) {
      if (signal.aborted) throw signal.reason as Error;
      throw unavailable('has a provider that failed', cause);
    }
  }
  if (value === undefined) {
    throw unavailable(`has no value: configure it, or set ${entry.variable}`);
  }
  if (typeof value !== 'string') throw unavailable('has a provider that gave no string');
  if (purpose !== 'username' && tooShort(value)) {
    throw unavailable(`has a value of fewer than ${MIN_CODE_POINTS} characters`);
  }
  return value;
}

function secretVariable(name: string): string {
  return `E2E_SECRET_${variableName(name)}`;
}

/** `team-lead` is `TEAM_LEAD` in the name of a variable. */
function variableName(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/gu, '_');
}

function handlesOf(name: string, path: string): CredentialHandles {
  try {
    return credentials.user(name);
  } catch (cause) {
    throw invalid(
      path,
      'has a name that is too long or has other characters than A-Z a-z 0-9 _ . -',
      cause,
    );
  }
}

function handleOf(name: string, purpose: SecretPurpose, path: string): Secret {
  try {
    return createSecret(name, purpose);
  } catch (cause) {
    throw invalid(path, 'must have a name of 1 to 64 characters out of A-Z a-z 0-9 _ . -', cause);
  }
}

function secretOption(
  value: unknown,
  path: string,
): { readonly value: SecretValue; readonly purpose: SecretPurpose } {
  if (typeof value !== 'object' || value === null) {
    return { value: secretValue(value, path), purpose: 'generic-secret' };
  }
  const option = checkObject(value, path, { known: ['value', 'purpose'] });
  return {
    value: secretValue(option['value'], `${path}.value`),
    purpose: oneOf(option['purpose'] ?? 'generic-secret', `${path}.purpose`, SECRET_PURPOSES),
  };
}

function secretValue(value: unknown, path: string): SecretValue {
  if (value === undefined || typeof value === 'string' || typeof value === 'function') {
    return value as SecretValue;
  }
  throw invalid(path, 'must be a string, a function that answers one, or { value, purpose }.');
}
