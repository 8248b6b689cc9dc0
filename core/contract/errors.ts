// The errors of the product. A rule is enforced where an error is born: the EngineError constructor
// decides what may be retryable, and decoding from the wire goes through it too. Errors are
// recognised by a `Symbol.for` marker, because two copies of this package may meet in one process.
import type { JsonObject } from '../base/json.ts';
import { cutEnd, toWellFormed } from '../base/text.ts';
import { isErrorLike } from '../base/thrown.ts';
import {
  ERROR_CODES,
  EXIT_CODES,
  findCode,
  isEngineErrorCode,
  mayBeRetryable,
  type AgentErrorCode,
  type EngineErrorCode,
  type ErrorCategory,
  type ErrorCode,
} from './codes.ts';

const ERROR_KIND: symbol = Symbol.for('enginewright.error');
type ErrorKind = 'engine' | 'e2e' | 'agent';

function mark(error: Error, kind: ErrorKind): void {
  Object.defineProperty(error, ERROR_KIND, { value: kind });
}
function kindOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null
    ? (error as Record<symbol, unknown>)[ERROR_KIND]
    : undefined;
}

export interface EngineErrorOptions {
  /** Only `NODE_STALE` and `FRAME_NOT_FOUND` may be. Default false. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** What an engine throws. An impossible retryable claim becomes a final `ENGINE_FAILURE`. */
export class EngineError extends Error {
  override readonly name: string = 'EngineError';
  readonly code: EngineErrorCode;
  readonly retryable: boolean;
  constructor(code: EngineErrorCode, message: string, options: EngineErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    mark(this, 'engine');
    const claim = options.retryable === true;
    const known = isEngineErrorCode(code);
    const refused = !known || (claim && !mayBeRetryable(code));
    this.code = refused ? 'ENGINE_FAILURE' : code;
    this.retryable = claim && !refused;
  }
}

export interface RunnerErrorOptions {
  readonly retryable?: boolean;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/** The base of the harness's own errors: `category` decides the exit code. */
export class RunnerError extends Error {
  override readonly name: string = 'RunnerError';
  readonly category: ErrorCategory;
  readonly code: string;
  readonly retryable: boolean;
  // Declared, not defined: absent is not `undefined`, also when printed.
  declare readonly details?: JsonObject;
  constructor(
    category: ErrorCategory,
    code: string,
    message: string,
    options: RunnerErrorOptions = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    mark(this, 'e2e');
    this.category = category;
    this.code = code;
    this.retryable = options.retryable === true;
    if (options.details !== undefined) this.details = options.details;
  }
}

/** The test or the product failed. */
export class TestError extends RunnerError {
  override readonly name = 'TestError';
  constructor(code: string, message: string, options?: RunnerErrorOptions) {
    super('test', code, message, options);
  }
}
/** What was configured or asked for cannot be. */
export class ConfigurationError extends RunnerError {
  override readonly name = 'ConfigurationError';
  constructor(code: string, message: string, options?: RunnerErrorOptions) {
    super('configuration', code, message, options);
  }
}
/** Something the run depends on failed. */
export class InfrastructureError extends RunnerError {
  override readonly name = 'InfrastructureError';
  constructor(code: string, message: string, options?: RunnerErrorOptions) {
    super('infrastructure', code, message, options);
  }
}

/** Makes the runner error of a code, in the class that the table gives it. */
export function runnerError(
  code: ErrorCode,
  message: string,
  options?: RunnerErrorOptions,
): RunnerError {
  return runnerErrorOf(ERROR_CODES[code].category, code, message, options);
}

/** Makes a runner error of a category, in the class that stands for it; `code` may be foreign. */
export function runnerErrorOf(
  category: ErrorCategory,
  code: string,
  message: string,
  options?: RunnerErrorOptions,
): RunnerError {
  switch (category) {
    case 'test':
      return new TestError(code, message, options);
    case 'configuration':
      return new ConfigurationError(code, message, options);
    case 'infrastructure':
      return new InfrastructureError(code, message, options);
    default:
      return new RunnerError(category, code, message, options);
  }
}

/** Longest explanation of an agent error, in UTF-16 units. */
export const EXPLANATION_LIMIT = 2000;

export interface AgentErrorOptions {
  /** Artifact path of the evidence, when it was captured and permitted. */
  readonly screenshot?: string;
  /** Overrides the table: a time-out whose last judgment was `fails` is not blocked. */
  readonly blocked?: boolean;
  readonly cause?: unknown;
}

/** What an agent call throws. `code` is assigned by the harness, never taken from model text. */
export class AgentError extends Error {
  override readonly name: string = 'AgentError';
  readonly code: AgentErrorCode;
  /** Sanitised, bounded prose; the same as `message`. */
  readonly explanation: string;
  declare readonly screenshot?: string;
  readonly blocked: boolean;
  readonly category: ErrorCategory;
  readonly retryable: false = false;
  constructor(code: AgentErrorCode, explanation: string, options: AgentErrorOptions = {}) {
    const text = sanitizeExplanation(explanation);
    super(text, 'cause' in options ? { cause: options.cause } : undefined);
    mark(this, 'agent');
    this.code = code;
    this.explanation = text;
    if (options.screenshot !== undefined) this.screenshot = options.screenshot;
    this.blocked = options.blocked ?? ERROR_CODES[code].blocked;
    this.category = ERROR_CODES[code].category;
  }
}

/** Prose without control characters (line feeds stay), at most 2000 units. */
export function sanitizeExplanation(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  const plain = toWellFormed(text).replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]+/gu, ' ');
  return cutEnd(plain.trim(), EXPLANATION_LIMIT);
}

/** Recognises an engine error, also one of another copy of this package. */
export function isEngineError(error: unknown): error is EngineError {
  return kindOf(error) === 'engine';
}
/** Recognises a runner error, also one of another copy of this package. */
export function isRunnerError(error: unknown): error is RunnerError {
  return kindOf(error) === 'e2e';
}
/** Recognises an agent error, also one of another copy of this package. */
export function isAgentError(error: unknown): error is AgentError {
  return kindOf(error) === 'agent';
}

/** The errors that an error collects; none for one that is no `AggregateError`. */
export function collectedErrors(error: unknown): readonly unknown[] {
  if (!isErrorLike(error) || error.name !== 'AggregateError') return [];
  const { errors } = error as Partial<AggregateError>;
  return Array.isArray(errors) ? errors : [];
}

/** From the one that wins over all to the one that wins over none. */
const PRECEDENCE: readonly ErrorCategory[] = [
  'interrupted',
  'internal',
  'infrastructure',
  'configuration',
  'test',
];

/**
 * The category of any thrown value: the highest of those that an `AggregateError` collects, however
 * deep. One that is none of ours (an assertion) is the test's own.
 */
export function categoryOf(error: unknown): ErrorCategory {
  const present = new Set<ErrorCategory>();
  const seen = new Set<unknown>();
  const visit = (one: unknown): void => {
    if (seen.has(one)) return;
    seen.add(one);
    const collected = collectedErrors(one);
    if (collected.length === 0) present.add(ownCategory(one));
    for (const each of collected) visit(each);
  };
  visit(error);
  return PRECEDENCE.find((category) => present.has(category)) ?? 'internal';
}

function ownCategory(error: unknown): ErrorCategory {
  if (isRunnerError(error) || isAgentError(error)) return error.category;
  if (isEngineError(error)) return findCode(error.code)?.category ?? 'infrastructure';
  return isErrorLike(error) && error.name === 'AbortError' ? 'interrupted' : 'test';
}

/** The exit code for one thrown value, or for several: the highest category present wins. */
export function exitCodeOf(error: unknown): number {
  return EXIT_CODES[categoryOf(error)];
}
