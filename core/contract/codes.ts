// The one table of error codes. A code's class, exit code, whether it reports a blocked step
// rather than a product failure, who may throw it, and whether the built-in agent hands it to the
// model as a call's result: each is a column. A new code is one row.

export const ERROR_CATEGORIES = [
  'test',
  'configuration',
  'infrastructure',
  'internal',
  'interrupted',
] as const;
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

/** Process exit code of each category. */
export const EXIT_CODES: Readonly<Record<ErrorCategory, number>> = Object.freeze({
  test: 1,
  configuration: 2,
  infrastructure: 3,
  internal: 4,
  interrupted: 130,
});

/** `engine`: EngineError; `agent`: AgentError; `runner`: TestError and its kin. */
export type ErrorOwner = 'engine' | 'agent' | 'runner';

export interface CodeRow {
  readonly category: ErrorCategory;
  readonly owners: readonly ErrorOwner[];
  /** Reports a blocked step (credentials, environment, budget), not a product failure. */
  readonly blocked: boolean;
  /** The agent answers the model's call with it instead of ending the step. */
  readonly toModel: boolean;
  /** An EngineError with this code may be retryable. */
  readonly retryable: boolean;
}

type RowFlags = Partial<Omit<CodeRow, 'category' | 'owners'>>;
const row = (
  category: ErrorCategory,
  owners: readonly ErrorOwner[],
  flags: RowFlags = {},
): CodeRow =>
  Object.freeze({
    category,
    owners: Object.freeze(owners),
    blocked: flags.blocked ?? false,
    toModel: flags.toModel ?? false,
    retryable: flags.retryable ?? false,
  });

const toModel = { toModel: true } as const;
const blocked = { blocked: true } as const;

const TABLE = {
  // Engine errors. Their category is how a harness reads them when nobody maps them first.
  NODE_STALE: row('test', ['engine'], { toModel: true, retryable: true }),
  FRAME_NOT_FOUND: row('test', ['engine'], { toModel: true, retryable: true }),
  FRAME_AMBIGUOUS: row('test', ['engine'], toModel),
  NOT_ACTIONABLE: row('test', ['engine'], toModel),
  ACTION_MAY_HAVE_COMMITTED: row('test', ['engine'], toModel),
  OPERATION_TIMEOUT: row('test', ['engine'], toModel),
  CANCELLED: row('infrastructure', ['engine', 'agent', 'runner']),
  UNSUPPORTED_CAPABILITY: row('configuration', ['engine', 'agent', 'runner'], toModel),
  INVALID_STATE: row('infrastructure', ['engine', 'runner']),
  ENGINE_FAILURE: row('infrastructure', ['engine', 'agent', 'runner']),

  // Agent errors: test.
  ACTION_FAILED: row('test', ['agent', 'runner']),
  ASSERTION_FAILED: row('test', ['agent', 'runner']),
  ASSERTION_INCONCLUSIVE: row('test', ['agent']),
  AUTHENTICATION_FAILED: row('test', ['agent']),
  AUTOMATION_UNSUPPORTED: row('test', ['agent'], blocked),
  STEP_BUDGET_EXHAUSTED: row('test', ['agent'], blocked),
  STEP_TIMEOUT: row('test', ['agent'], blocked),
  STEP_NO_CONCLUSION: row('test', ['agent']),
  CONTEXT_OVERFLOW: row('test', ['agent'], blocked),
  MODEL_OUTPUT_INVALID: row('test', ['agent']),
  APP_NOT_OPEN: row('test', ['agent', 'runner']),
  LOCATOR_NOT_FOUND: row('test', ['agent', 'runner'], toModel),
  LOCATOR_AMBIGUOUS: row('test', ['agent', 'runner'], toModel),
  INVALID_ARGUMENT: row('test', ['agent', 'runner']),

  // Agent errors: configuration.
  MODEL_UNAVAILABLE: row('configuration', ['agent', 'runner']),
  AUTH_CREDENTIAL_UNAVAILABLE: row('configuration', ['agent'], blocked),
  AUTH_CREDENTIAL_INVALID: row('configuration', ['agent'], blocked),
  SECRET_UNAVAILABLE: row('configuration', ['agent', 'runner']),
  SEED_DATA_MISSING: row('configuration', ['agent'], blocked),
  TEST_SETUP_FAILED: row('configuration', ['agent'], blocked),
  POLICY_DENIED: row('configuration', ['agent', 'runner'], toModel),

  // Agent errors: infrastructure and internal.
  ENVIRONMENT_UNAVAILABLE: row('infrastructure', ['agent'], blocked),
  APP_UNREACHABLE: row('infrastructure', ['agent', 'runner']),
  MODEL_PROVIDER_FAILED: row('infrastructure', ['agent']),
  INTERNAL: row('internal', ['agent', 'runner']),

  // Runner errors besides.
  INVALID_CONFIG: row('configuration', ['runner']),
  APP_URL_REQUIRED: row('configuration', ['runner']),
  LAUNCH_TIMEOUT: row('infrastructure', ['runner']),
  CLEANUP_TIMEOUT: row('infrastructure', ['runner']),
  TEST_TIMEOUT: row('test', ['runner']),
  REPLAY_STALE: row('test', ['runner']),
} as const satisfies Record<string, CodeRow>;

/** Every code. */
export type ErrorCode = keyof typeof TABLE;

/** Codes of EngineError, closed. */
export const ENGINE_ERROR_CODES = [
  'NODE_STALE',
  'FRAME_NOT_FOUND',
  'FRAME_AMBIGUOUS',
  'NOT_ACTIONABLE',
  'ACTION_MAY_HAVE_COMMITTED',
  'OPERATION_TIMEOUT',
  'CANCELLED',
  'UNSUPPORTED_CAPABILITY',
  'INVALID_STATE',
  'ENGINE_FAILURE',
] as const satisfies readonly ErrorCode[];
export type EngineErrorCode = (typeof ENGINE_ERROR_CODES)[number];

/** Codes of AgentError, closed; a model never chooses one outside its verdict tool's list. */
export const AGENT_ERROR_CODES = [
  'ACTION_FAILED',
  'ASSERTION_FAILED',
  'ASSERTION_INCONCLUSIVE',
  'AUTHENTICATION_FAILED',
  'AUTOMATION_UNSUPPORTED',
  'STEP_BUDGET_EXHAUSTED',
  'STEP_TIMEOUT',
  'STEP_NO_CONCLUSION',
  'CONTEXT_OVERFLOW',
  'MODEL_OUTPUT_INVALID',
  'APP_NOT_OPEN',
  'LOCATOR_NOT_FOUND',
  'LOCATOR_AMBIGUOUS',
  'INVALID_ARGUMENT',
  'MODEL_UNAVAILABLE',
  'AUTH_CREDENTIAL_UNAVAILABLE',
  'AUTH_CREDENTIAL_INVALID',
  'SECRET_UNAVAILABLE',
  'SEED_DATA_MISSING',
  'TEST_SETUP_FAILED',
  'POLICY_DENIED',
  'UNSUPPORTED_CAPABILITY',
  'ENVIRONMENT_UNAVAILABLE',
  'APP_UNREACHABLE',
  'MODEL_PROVIDER_FAILED',
  'ENGINE_FAILURE',
  'CANCELLED',
  'INTERNAL',
] as const satisfies readonly ErrorCode[];
export type AgentErrorCode = (typeof AGENT_ERROR_CODES)[number];

/** Every code with its columns. */
export const ERROR_CODES: Readonly<Record<ErrorCode, CodeRow>> = Object.freeze(TABLE);

/** The row of a code that may be unknown. */
export function findCode(code: string): CodeRow | undefined {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : undefined;
}

/** Whether an EngineError with this code may be retryable at all. */
export function mayBeRetryable(code: EngineErrorCode): boolean {
  return ERROR_CODES[code].retryable;
}

/** The only codes that may be retryable: both describe a read that can be repeated. */
export const RETRYABLE_ENGINE_ERROR_CODES: readonly EngineErrorCode[] =
  ENGINE_ERROR_CODES.filter(mayBeRetryable);

export function isEngineErrorCode(code: unknown): code is EngineErrorCode {
  return (ENGINE_ERROR_CODES as readonly unknown[]).includes(code);
}
export function isAgentErrorCode(code: unknown): code is AgentErrorCode {
  return (AGENT_ERROR_CODES as readonly unknown[]).includes(code);
}
