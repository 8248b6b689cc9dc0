// The check of an options object that every factory makes: a key that it does not know is refused
// with the nearest one that it does, because an option that is silently ignored is a test that
// silently tests something else.
import { suggestName } from '../base/nearest.ts';
import { ConfigurationError, TestError } from './errors.ts';

/**
 * Throws for the first own key of `value` that is not among `known`: `INVALID_CONFIG`, or with
 * `code` the `INVALID_ARGUMENT` of a call that a test makes. `label` names the object.
 */
export function rejectUnknownKeys(
  label: string,
  value: object,
  known: readonly string[],
  code: 'INVALID_CONFIG' | 'INVALID_ARGUMENT' = 'INVALID_CONFIG',
): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const message = `${label} has the unknown key ${JSON.stringify(unknown)}${suggestName(unknown, known)}`;
  throw code === 'INVALID_CONFIG'
    ? new ConfigurationError(code, message)
    : new TestError(code, message);
}
