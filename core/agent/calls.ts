// One tool call of a turn, from what the model sent to the text that answers it: refused, run, or
// failed. Whatever an engine says about one node goes back to the model together with the screen as
// it is now; what breaks the engine or the app ends the step, and is thrown on.
import { suggestName } from '../base/nearest.ts';
import { cutEnd } from '../base/text.ts';
import { messageOf } from '../base/thrown.ts';
import { findCode } from '../contract/codes.ts';
import { isEngineError, isRunnerError } from '../contract/errors.ts';
import {
  createCallContext,
  Refusal,
  type CallContext,
  type CallResult,
} from './dispatch/context.ts';
import { dispatch } from './dispatch/index.ts';
import type { ModelToolCall } from './model.ts';
import { resultMessage } from './prompts.ts';
import type { ActionOutcome } from './records.ts';
import type { EngineReport } from './scope.ts';
import type { Step } from './step.ts';
import { checkArguments, type ToolSpec } from './tools/fields.ts';
import type { Verb } from './tools/table.ts';
import type { ResultText } from './transcript.ts';
import type { View } from './view.ts';

/** What the engine reported, in one result: so many lines, each so long. */
const MAX_REPORTS = 8;
const REPORT_LENGTH = 300;

export interface CallTools {
  readonly step: Step;
  readonly view: View;
  readonly specs: ReadonlyMap<string, ToolSpec & { readonly name: Verb }>;
  /** Position in the report log up to which the model was told. */
  reportsFrom: number;
  /** Whether the answer with the calls that run now was cut at its limit. */
  wasCut: boolean;
}

export interface AnsweredCall {
  readonly result: ResultText;
  /** Whether the calls after it in the same turn may still run. */
  readonly ok: boolean;
}

/** Runs one call of `act` (any but `complete_step`) and answers it. */
export async function runCall(tools: CallTools, call: ModelToolCall): Promise<AnsweredCall> {
  const { step, view, specs } = tools;
  const spec = specs.get(call.name);
  if (spec === undefined) {
    return refuse(tools, call, unknownTool(call.name, [...specs.keys(), 'complete_step']));
  }
  const checked = checkArguments(spec, call.arguments);
  if ('problem' in checked) return refuse(tools, call, checked.problem);
  let target: string | undefined;
  const context = createCallContext({
    step,
    screen: () => view.screen,
    settled: () => view.settled(),
    onTarget: (words) => {
      target = words;
    },
  });
  const { clock } = step.scope;
  const startedAt = clock.now();
  step.doing(`running ${spec.name}`);
  const book = (outcome: ActionOutcome, code?: string): void => {
    step.recordAction({
      tool: call.name,
      ...(target === undefined ? {} : { target }),
      outcome,
      ...(code === undefined ? {} : { code }),
      count: context.count,
      durationMs: clock.now() - startedAt,
    });
  };
  let done: CallResult;
  try {
    done = await dispatch(spec.name, checked.values, context);
  } catch (error) {
    return failed(tools, { error, context, book });
  }
  book(done.unneeded === true ? 'unneeded' : 'done');
  await refresh(tools, context);
  return { ok: true, result: answer(tools, done.text, { wholeScreen: done.wholeScreen === true }) };
}

/** Tools of the agent's specification that this version does not have. */
const NOT_YET: ReadonlySet<string> = new Set(['type_secret', 'screenshot', 'tap_at']);

function unknownTool(name: string, known: readonly string[]): string {
  return NOT_YET.has(name)
    ? `${name} is not offered; when the task cannot be done without it, end the step as blocked (AUTOMATION_UNSUPPORTED)`
    : `There is no tool ${JSON.stringify(cutEnd(name, 64))}${suggestName(name, known)}`;
}

interface Failure {
  readonly error: unknown;
  readonly context: CallContext;
  readonly book: (outcome: ActionOutcome, code?: string) => void;
}

/** Books a call that did not come to its end; answers it when the model may go on. */
async function failed(tools: CallTools, { error, context, book }: Failure): Promise<AnsweredCall> {
  if (error instanceof Refusal) {
    book(context.count === 0 ? 'refused' : 'failed', error.code);
    await refresh(tools, context);
    return {
      ok: false,
      result: answer(tools, `${error.code}: ${error.message}`, { isError: true }),
    };
  }
  const { step } = tools;
  const known = isEngineError(error) || isRunnerError(error);
  // The end of the step may look like a time-out of the operation: it is asked for first.
  const over = step.timedOut || step.signal.aborted;
  const code = step.timedOut
    ? 'STEP_TIMEOUT'
    : known
      ? error.code
      : over
        ? 'CANCELLED'
        : 'INTERNAL';
  const begun = context.state !== 'idle';
  book(context.uncertain ? 'uncertain' : over && !begun ? 'not-run' : 'failed', code);
  if (over || !known || findCode(code)?.toModel !== true) throw error;
  await refresh(tools, context);
  const warning = context.uncertain
    ? ' It may have taken effect all the same: check before repeating.'
    : '';
  return {
    ok: false,
    result: answer(tools, `${code}: ${sentence(messageOf(error))}${warning}`, { isError: true }),
  };
}

/** A call that never ran, for its own fault. */
export async function refuse(
  tools: CallTools,
  call: ModelToolCall,
  wrong: string,
): Promise<AnsweredCall> {
  const wasCut = tools.wasCut && call.arguments === undefined;
  const problem = wasCut ? `${wrong}: the answer was cut at its limit; make it shorter` : wrong;
  tools.step.recordAction({
    tool: cutEnd(call.name, 64),
    outcome: 'refused',
    code: 'INVALID_ARGUMENT',
    count: 0,
    durationMs: 0,
  });
  await tools.view.look();
  return {
    ok: false,
    result: answer(tools, `INVALID_ARGUMENT: ${sentence(problem)}`, { isError: true }),
  };
}

/** A call that is answered without being looked at. */
export function notRun(tools: CallTools, call: ModelToolCall, why: string): ResultText {
  tools.step.recordAction({
    tool: cutEnd(call.name, 64),
    outcome: 'not-run',
    count: 0,
    durationMs: 0,
  });
  return { text: resultMessage({ note: `Not run: ${why}` }), isError: true, whole: false };
}

/** Whether a call names a node that was on the screen and is there no more. */
export function lostItsTarget({ step, view }: CallTools, call: ModelToolCall): boolean {
  return ['target', 'to'].some((key) => {
    const shortId = call.arguments?.[key];
    const id = typeof shortId === 'string' ? step.ids.engine(shortId) : undefined;
    return id !== undefined && !view.screen.nodes.has(id);
  });
}

/** Brings the view up to the present: settled after an engine action, else with one look. */
async function refresh({ step, view }: CallTools, context: CallContext): Promise<void> {
  step.doing('waiting for the screen after an action');
  if (context.state === 'acted') await view.settled();
  else if (context.state === 'idle') await view.look();
}

function answer(
  tools: CallTools,
  note: string,
  options: { readonly isError?: boolean; readonly wholeScreen?: boolean } = {},
): ResultText {
  const { step, view } = tools;
  const shown =
    options.wholeScreen === true
      ? ({ kind: 'screen', text: view.show('whole') } as const)
      : view.report();
  return {
    text: resultMessage({
      note: step.redact(note),
      reports: newReports(tools, shown.kind === 'screen'),
      view: shown,
    }),
    isError: options.isError ?? false,
    whole: shown.kind === 'screen',
  };
}

/** What the engine reported since the model was told last, but for what the whole screen says too. */
function newReports(tools: CallTools, withScreen: boolean): readonly string[] {
  const { step, view } = tools;
  const { location } = view.screen.snapshot;
  const { reports } = step.scope;
  const lines = reports
    .since(tools.reportsFrom)
    .filter((report) =>
      report.kind === 'navigation'
        ? !withScreen || report.line !== location
        : report.entry.level !== 'debug',
    )
    .map((report) => cutEnd(step.redact(reportLine(report)), REPORT_LENGTH));
  tools.reportsFrom = reports.mark();
  return lines.length <= MAX_REPORTS
    ? lines
    : [...lines.slice(0, MAX_REPORTS), `and ${lines.length - MAX_REPORTS} more reports`];
}

function reportLine(report: EngineReport): string {
  return report.kind === 'navigation' ? report.line : `${report.entry.level}: ${report.entry.text}`;
}

function sentence(text: string): string {
  return /[.?!]$/u.test(text) ? text : `${text}.`;
}
