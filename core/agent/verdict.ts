// How a step's verdict becomes an outcome. The model chooses a status and, for a failure, a code
// out of a closed list; whatever else it says becomes ACTION_FAILED, so that a model can report
// a failure wrongly but never invent a code, and a status always fits its code.
import type { AgentErrorCode } from '../contract/codes.ts';
import { AgentError, sanitizeExplanation } from '../contract/errors.ts';

export const VERDICT_STATUSES = ['passed', 'failed', 'blocked'] as const;
export type VerdictStatus = (typeof VERDICT_STATUSES)[number];

const FAILED_CODES = [
  'ACTION_FAILED',
  'AUTHENTICATION_FAILED',
  'ASSERTION_INCONCLUSIVE',
] as const satisfies readonly AgentErrorCode[];
const BLOCKED_CODES = [
  'AUTH_CREDENTIAL_UNAVAILABLE',
  'AUTH_CREDENTIAL_INVALID',
  'ENVIRONMENT_UNAVAILABLE',
  'SEED_DATA_MISSING',
  'TEST_SETUP_FAILED',
  'AUTOMATION_UNSUPPORTED',
] as const satisfies readonly AgentErrorCode[];

/** The codes that `complete_step` offers. */
export const VERDICT_CODES = [...FAILED_CODES, ...BLOCKED_CODES] as const;

export interface Verdict {
  readonly status: VerdictStatus;
  readonly summary: string;
  /** Whatever the model gave. */
  readonly code: string | null;
}

/** Reads `complete_step` arguments; answers what is wrong with them as a string. */
export function readVerdict(sent: Readonly<Record<string, unknown>> | undefined): Verdict | string {
  if (sent === undefined) return 'the arguments were not a JSON object';
  const { status, summary, code = null } = sent;
  const known = VERDICT_STATUSES.find((name) => name === status);
  if (known === undefined) return `"status" must be one of ${VERDICT_STATUSES.join(', ')}`;
  if (typeof summary !== 'string') return '"summary" must be a string';
  const extra = Object.keys(sent).find((key) => !['status', 'summary', 'code'].includes(key));
  if (extra !== undefined) return `there is no argument ${JSON.stringify(extra)}`;
  return { status: known, summary, code: typeof code === 'string' ? code : null };
}

/** The error of a verdict that is no pass. */
export function verdictError(verdict: Verdict): AgentError {
  const offered: readonly AgentErrorCode[] =
    verdict.status === 'blocked' ? BLOCKED_CODES : FAILED_CODES;
  const code = offered.find((name) => name === verdict.code) ?? 'ACTION_FAILED';
  const summary = sanitizeExplanation(verdict.summary);
  return new AgentError(code, summary === '' ? `The step ended ${verdict.status}.` : summary);
}
