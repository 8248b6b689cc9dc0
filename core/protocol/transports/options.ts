// The options check that all transports share: a slip in an option's name is an error that names
// the nearest, since an option that is silently ignored is found out much later, elsewhere.
import { suggestName } from '../../base/nearest.ts';

/** Throws a TypeError for an option that is none. */
export function checkOptionNames(subject: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new TypeError(
      `${subject} has no option ${JSON.stringify(name)}${suggestName(name, known)}`,
    );
  }
}

/** The `code` of a Node error, such as `ECONNREFUSED`. */
export function errnoOf(error: unknown): string | undefined {
  const code: unknown =
    typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** A transport's error: it keeps the cause, and its Node code if there is one. */
export function transportError(message: string, cause?: unknown): Error & { code?: string } {
  const error: Error & { code?: string } = new Error(
    message,
    cause === undefined ? undefined : { cause },
  );
  const code = errnoOf(cause);
  if (code !== undefined) error.code = code;
  return error;
}
