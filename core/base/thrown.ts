// What can be thrown: anything. These two read any thrown value without ever throwing themselves, and
// know an error by its members: one of another realm (a test runner's VM context) is no `instanceof`.

/** Whether a value has what every error has; also one of another realm. */
export function isErrorLike(value: unknown): value is Error {
  try {
    const error = value as Partial<Error> | null;
    return (
      typeof value === 'object' &&
      error !== null &&
      typeof error.message === 'string' &&
      typeof error.name === 'string'
    );
  } catch {
    return false;
  }
}

/** The message of any thrown value. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    // A harness may hand an error on as plain data, without its name.
    const message: unknown = (thrown as { readonly message?: unknown } | null | undefined)?.message;
    if (typeof message === 'string') return message;
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return typeof thrown === 'bigint' ? String(thrown) : Object.prototype.toString.call(thrown);
  }
}
