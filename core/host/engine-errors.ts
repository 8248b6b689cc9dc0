// How the host reads an engine's failure: contract.md section 7, for the test's own calls and for
// lifecycle hooks. The table of engine codes itself is the agent's (map-errors.ts); this file
// keeps the class (a test gets a TestError, no AgentError), the redaction and the cause.
import { toAgentError } from '../agent/map-errors.ts';
import type { Redactor } from '../agent/scope.ts';
import { findCode, type ErrorCode } from '../contract/codes.ts';
import { isEngineError, isRunnerError, runnerError } from '../contract/errors.ts';
import { redactCause } from './error-info.ts';

/** What a failed call of the test's own tier becomes. `subject` names the call. */
export function readCallError(error: unknown, subject: string, redactor: Redactor): unknown {
  if (isRunnerError(error)) return readRunnerError(error, subject, redactor);
  const { code } = isEngineError(error)
    ? toAgentError(error, (text) => text)
    : { code: 'ENGINE_FAILURE' as const };
  return wrap(code, error, subject, redactor);
}

/** The same for `app.open`, the one call that may find the app unreachable. */
export function readOpenError(error: unknown, subject: string, redactor: Redactor): unknown {
  if (isRunnerError(error) && error.code === 'APP_UNREACHABLE') return redactCause(error, redactor);
  return readCallError(error, subject, redactor);
}

/** What a failed lifecycle hook becomes: no product verdict can come from one. */
export function readHookError(error: unknown, subject: string, redactor: Redactor): unknown {
  if (isRunnerError(error)) return readRunnerError(error, subject, redactor);
  const kept =
    isEngineError(error) && (error.code === 'UNSUPPORTED_CAPABILITY' || error.code === 'CANCELLED');
  return wrap(kept ? (error.code as ErrorCode) : 'ENGINE_FAILURE', error, subject, redactor);
}

/** Whether the engine itself may be broken: it is initialised anew before its next attempt. */
export function isEngineFailure(error: unknown): boolean {
  return (isEngineError(error) || isRunnerError(error)) && error.code === 'ENGINE_FAILURE';
}

function readRunnerError(
  error: Error & { readonly code: string },
  subject: string,
  redactor: Redactor,
): unknown {
  const known = findCode(error.code)?.owners.includes('runner') === true;
  return known && error.code !== 'APP_UNREACHABLE'
    ? redactCause(error, redactor)
    : wrap('ENGINE_FAILURE', error, subject, redactor);
}

function wrap(code: ErrorCode, error: unknown, subject: string, redactor: Redactor): Error {
  const message = error instanceof Error ? error.message : String(error);
  return runnerError(code, redactor.text(`${subject}: ${message}`), {
    cause: redactCause(error, redactor),
  });
}
