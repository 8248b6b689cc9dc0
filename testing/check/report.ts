// The report as a person reads it: one line a rule, and under a failed one why, where it is written,
// and the last that went over the wire.
import type { CheckOutcome, CheckReport } from './types.ts';

const MARKS = { passed: 'ok  ', failed: 'FAIL', 'not-applicable': '-   ' } as const;

export interface FormatOptions {
  /** Also says of each rule where it is written. Default: of failed ones. */
  readonly verbose?: boolean;
}

/** One rule's lines, without a line feed at the end. */
export function formatOutcome(outcome: CheckOutcome, options: FormatOptions = {}): string {
  const { id, title, spec, status, reason, exchange = [] } = outcome;
  const lines = [`${MARKS[status]} ${id}: ${title}`];
  if (status === 'not-applicable') lines.push(`       not applicable: ${reason ?? ''}`);
  if (status === 'failed') lines.push(`       ${reason ?? ''}`);
  if (status === 'failed' || options.verbose === true) lines.push(`       (${spec})`);
  for (const line of exchange) lines.push(`         ${line}`);
  return lines.join('\n');
}

/** The last line: what the server is, and how many rules it keeps. */
export function formatSummary(report: CheckReport): string {
  const { manifest, server, passed, failed, notApplicable } = report;
  const who =
    manifest === undefined ? 'a server without a manifest' : `${manifest.name} ${manifest.version}`;
  return `${who} (${server}): ${passed} passed, ${failed} failed, ${notApplicable} not applicable`;
}

/** The whole report. */
export function formatCheckReport(report: CheckReport, options: FormatOptions = {}): string {
  return [
    ...report.rules.map((outcome) => formatOutcome(outcome, options)),
    '',
    formatSummary(report),
    '',
  ].join('\n');
}
