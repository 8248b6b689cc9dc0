// What a failure under a step becomes for the caller: always an AgentError whose code is ours. The
// engine's codes are read by the table of contract.md section 7, a provider's failure by its class;
// what nobody classified is a broken invariant of ours. Messages are redacted on the way, causes kept.
import { isAgentErrorCode, type AgentErrorCode, type EngineErrorCode } from '../contract/codes.ts';
import {
  AgentError,
  isAgentError,
  isEngineError,
  isRunnerError,
  type EngineError,
  type RunnerError,
} from '../contract/errors.ts';
import { isModelError, type ModelFailure } from './model.ts';

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

/** Turns any failure into an agent error. `redact` is applied to its message. */
export function toAgentError(error: unknown, redact: (text: string) => string): AgentError {
  if (isAgentError(error)) {
    const text = redact(error.explanation);
    return text === error.explanation
      ? error
      : new AgentError(error.code, text, {
          blocked: error.blocked,
          cause: error,
          ...(error.screenshot === undefined ? {} : { screenshot: error.screenshot }),
        });
  }
  const message = redact(messageOf(error));
  return new AgentError(codeOf(error), message === '' ? 'failed without a message' : message, {
    cause: error,
  });
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): AgentErrorCode {
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
