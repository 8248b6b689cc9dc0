// What a failure under a step becomes for the caller: always an AgentError whose code is ours. The
// engine's codes are read by the table of contract.md section 7, a provider's failure by its class;
// what nobody classified is a broken invariant of ours. Causes are kept, and all the way down neither
// a message nor a stack carries a secret.
import { isErrorLike, messageOf } from '../base/thrown.ts';
import { isAgentErrorCode, type AgentErrorCode, type EngineErrorCode } from '../contract/codes.ts';
import {
  AgentError,
  EXPLANATION_LIMIT,
  isAgentError,
  isEngineError,
  isRunnerError,
  type EngineError,
  type RunnerError,
} from '../contract/errors.ts';
import { isModelError, type ModelFailure } from './model.ts';
import type { Redactor } from './scope.ts';

const ENGINE_CODES: Readonly<Record<EngineErrorCode, AgentErrorCode>> = {
  NODE_STALE: 'LOCATOR_NOT_FOUND',
  FRAME_NOT_FOUND: 'LOCATOR_NOT_FOUND',
  FRAME_AMBIGUOUS: 'LOCATOR_AMBIGUOUS',
  NOT_ACTIONABLE: 'ACTION_FAILED',
  ACTION_MAY_HAVE_COMMITTED: 'ACTION_FAILED',
  OPERATION_TIMEOUT: 'ACTION_FAILED',
  INVALID_STATE: 'APP_NOT_OPEN',
  UNSUPPORTED_CAPABILITY: 'UNSUPPORTED_CAPABILITY',
  CANCELLED: 'CANCELLED',
  ENGINE_FAILURE: 'ENGINE_FAILURE',
};

const MODEL_CODES: Readonly<Record<ModelFailure, AgentErrorCode>> = {
  auth: 'MODEL_UNAVAILABLE',
  'not-found': 'MODEL_UNAVAILABLE',
  unavailable: 'MODEL_UNAVAILABLE',
  'context-overflow': 'CONTEXT_OVERFLOW',
  'request-too-large': 'CONTEXT_OVERFLOW',
  quota: 'MODEL_PROVIDER_FAILED',
  'rate-limit': 'MODEL_PROVIDER_FAILED',
  overloaded: 'MODEL_PROVIDER_FAILED',
  server: 'MODEL_PROVIDER_FAILED',
  transport: 'MODEL_PROVIDER_FAILED',
  timeout: 'MODEL_PROVIDER_FAILED',
  'bad-response': 'MODEL_PROVIDER_FAILED',
  'bad-request': 'MODEL_PROVIDER_FAILED',
};

/** Runner codes that an agent error spells differently. */
const RUNNER_CODES: Readonly<Record<string, AgentErrorCode>> = {
  TEST_TIMEOUT: 'STEP_TIMEOUT',
  APP_URL_REQUIRED: 'APP_NOT_OPEN',
  LAUNCH_TIMEOUT: 'ENGINE_FAILURE',
  CLEANUP_TIMEOUT: 'ENGINE_FAILURE',
  INVALID_STATE: 'APP_NOT_OPEN',
};

/** Turns any failure into an agent error without secrets. */
export function toAgentError(error: unknown, redactor: Redactor): AgentError {
  if (!isAgentError(error)) {
    const message = redactor.text(messageOf(error));
    return new AgentError(
      agentCodeOf(error),
      message === '' ? 'failed without a message' : message,
      { cause: cleanError(error, redactor) },
    );
  }
  const { code, explanation, blocked, screenshot } = error;
  // One as long as the limit was cut there, perhaps within a secret.
  const isCut = explanation.length >= EXPLANATION_LIMIT - 1;
  const text = isCut ? redactor.cutText(explanation) : redactor.text(explanation);
  const cause = cleanError(error.cause, redactor);
  if (text === explanation && cause === error.cause) return error;
  return new AgentError(code, text, {
    blocked,
    ...(screenshot === undefined ? {} : { screenshot }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Causes deeper than this are left out of a copy. */
const MAX_CAUSES = 8;

/** The error itself when nothing in it is secret, else a plain copy that says the same without. */
function cleanError(error: unknown, redactor: Redactor, depth = 0): unknown {
  if (redactor.size === 0) return error;
  if (!isErrorLike(error)) return redactor.value(error);
  const { name, message, stack = '' } = error;
  const cause =
    depth < MAX_CAUSES && error.cause !== undefined
      ? cleanError(error.cause, redactor, depth + 1)
      : undefined;
  const clean = redactor.value({ message, stack });
  if (clean.message === message && clean.stack === stack && cause === error.cause) return error;
  const copy = new Error(clean.message, cause === undefined ? {} : { cause });
  copy.stack = clean.stack;
  const { code } = error as { readonly code?: unknown };
  return Object.assign(copy, { name }, typeof code === 'string' ? { code } : {});
}

/** The agent's code for a failure that is no agent error yet. */
export function agentCodeOf(error: unknown): AgentErrorCode {
  if (isEngineError(error)) return ENGINE_CODES[error.code];
  if (isModelError(error)) return MODEL_CODES[error.failure];
  if (isRunnerError(error)) {
    if (isAgentErrorCode(error.code)) return error.code;
    return RUNNER_CODES[error.code] ?? 'ENGINE_FAILURE';
  }
  return 'INTERNAL';
}

/** Codes after which the engine may have done what it was asked. */
const MAY_HAVE_COMMITTED: ReadonlySet<string> = new Set<EngineErrorCode>([
  'ACTION_MAY_HAVE_COMMITTED',
  'OPERATION_TIMEOUT',
  'CANCELLED',
  'ENGINE_FAILURE',
]);

/** Whether a dispatched action that rejected so may have taken effect: then it counts. */
export function mayHaveCommitted(error: unknown): boolean {
  return MAY_HAVE_COMMITTED.has((error as Partial<EngineError | RunnerError>).code ?? '');
}
