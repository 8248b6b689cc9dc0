// Secret handles: a name and a purpose, and no way from them to the value. Values live with the
// host; this file only makes handles and refuses every attempt to print one.
import { ConfigurationError } from './errors.ts';

export const SECRET_PURPOSES = ['username', 'password', 'one-time-code', 'generic-secret'] as const;
export type SecretPurpose = (typeof SECRET_PURPOSES)[number];

const SECRET_BRAND: symbol = Symbol.for('enginewright.secret');

/** An opaque handle to a secret. Turning one into a string or JSON throws. */
export interface Secret {
  readonly name: string;
  readonly purpose: SecretPurpose;
}

class SecretHandle implements Secret {
  readonly name: string;
  readonly purpose: SecretPurpose;
  constructor(name: string, purpose: SecretPurpose) {
    this.name = name;
    this.purpose = purpose;
    Object.defineProperty(this, SECRET_BRAND, { value: true });
    Object.freeze(this);
  }
  toString(): string {
    return this.#refuse('a string');
  }
  toJSON(): string {
    return this.#refuse('JSON');
  }
  [Symbol.toPrimitive](): string {
    return this.#refuse('a primitive');
  }
  #refuse(what: string): never {
    throw new ConfigurationError(
      'SECRET_UNAVAILABLE',
      `Secret ${JSON.stringify(this.name)} cannot become ${what}: it is a handle without its value. Pass it in params, or fill it into a secure field.`,
    );
  }
}

/** Makes a handle. Names are 1 to 64 characters of `A-Z a-z 0-9 _ . -`. */
export function createSecret(name: string, purpose: SecretPurpose = 'generic-secret'): Secret {
  if (typeof name !== 'string' || !/^[\w.-]{1,64}$/u.test(name)) {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `Secret name ${typeof name === 'string' ? JSON.stringify(name) : String(typeof name)} is invalid: use 1 to 64 letters, digits, "_", "." or "-".`,
    );
  }
  if (!SECRET_PURPOSES.includes(purpose)) {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `Secret ${JSON.stringify(name)} has the unknown purpose ${JSON.stringify(purpose)}; known: ${SECRET_PURPOSES.join(', ')}.`,
    );
  }
  return new SecretHandle(name, purpose);
}

/** Recognises a handle, also one made by another copy of this package. */
export function isSecret(value: unknown): value is Secret {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as Record<symbol, unknown>)[SECRET_BRAND] === true
  );
}
