// The loop of `act`: ask, run what was called, ask again, until a verdict. Its rules are about ends:
// a model that only talks, a budget or a deadline that runs out, and a turn of several calls of
// which one changed what the next was meant for. The tool list stays the same to the last request,
// because its bytes are cached; only the choice is forced.
import { AgentError } from '../contract/errors.ts';
import type { WindDown } from './budget.ts';
import { lostItsTarget, notRun, refuse, runCall, type CallTools } from './calls.ts';
import type { ModelAnswer, ModelToolCall } from './model.ts';
import type { Step } from './step.ts';
import type { ToolSpec } from './tools/fields.ts';
import { COMPLETE_STEP, modelTool, type Verb } from './tools/table.ts';
import type { Transcript } from './transcript.ts';
import { readVerdict, verdictError, type Verdict } from './verdict.ts';
import type { View } from './view.ts';

/** Turns without a call, or forced turns without a verdict, that end the step. */
const PATIENCE = 2;

const LAST_WORDS: Readonly<Record<WindDown, string>> = {
  'model-calls': 'This is the last model call of the step.',
  time: "The step's time is almost over.",
  actions: 'All actions of the step are used.',
};
const FORCED = 'Call complete_step now, and be honest about what is left.';

export interface TurnsOptions {
  readonly step: Step;
  readonly view: View;
  readonly transcript: Transcript;
  readonly specs: ReadonlyMap<string, ToolSpec & { readonly name: Verb }>;
  readonly reportsFrom: number;
}

/** Runs turns until a passing verdict; anything else is thrown as an AgentError. */
export async function runTurns(options: TurnsOptions): Promise<Verdict> {
  const { step, transcript, specs } = options;
  const { budget } = step;
  const calls: CallTools = {
    step,
    view: options.view,
    specs,
    reportsFrom: options.reportsFrom,
    wasCut: false,
  };
  const tools = [...[...specs.values()].map(modelTool), modelTool(COMPLETE_STEP)];
  let silentTurns = 0;
  let forcedTurns = 0;
  for (;;) {
    const windDown = budget.windDown();
    if (windDown !== undefined && forcedTurns === 0) {
      transcript.user(`${LAST_WORDS[windDown]} ${FORCED}`);
    }
    const answer = await step.ask({
      messages: transcript.messages(),
      tools,
      toolChoice: windDown === undefined ? 'required' : { tool: COMPLETE_STEP.name },
    });
    transcript.answer(answer);
    calls.wasCut = answer.stopReason === 'length';
    const verdict =
      windDown === undefined
        ? await playTurn(calls, transcript, answer)
        : forcedVerdict(calls, transcript, answer);
    if (verdict?.status === 'passed') return verdict;
    if (verdict !== undefined) throw verdictError(verdict);

    silentTurns = answer.toolCalls.length === 0 ? silentTurns + 1 : 0;
    if (silentTurns >= PATIENCE) {
      throw new AgentError(
        'STEP_NO_CONCLUSION',
        `The model called no tool ${PATIENCE} times in a row: ${silence(answer)}.`,
      );
    }
    if (budget.modelCallsLeft <= 0) throw exhausted(step, 'model-calls');
    if (windDown !== undefined) {
      forcedTurns += 1;
      if (forcedTurns >= PATIENCE) {
        throw windDown === 'actions'
          ? exhausted(step, windDown)
          : new AgentError(
              'STEP_NO_CONCLUSION',
              `The model was asked ${PATIENCE} times to conclude the step and did not.`,
            );
      }
    }
    if (answer.toolCalls.length === 0) {
      transcript.user(
        `That was no tool call: ${silence(answer)}. Call a tool; ${COMPLETE_STEP.name} ends the step.`,
      );
    }
  }
}

/** Runs the calls of one turn in order; answers the verdict when the turn gave one. */
async function playTurn(
  tools: CallTools,
  transcript: Transcript,
  answer: ModelAnswer,
): Promise<Verdict | undefined> {
  let stopped: string | undefined;
  let ran = 0;
  for (const call of answer.toolCalls) {
    const lost = stopped === undefined && ran > 0 && lostItsTarget(tools, call);
    if (stopped !== undefined || lost) {
      const why = stopped ?? 'the screen changed, and its node is gone.';
      transcript.result(call, notRun(tools, call, why));
      stopped ??= 'an earlier call of this turn was not run.';
      continue;
    }
    if (call.name === COMPLETE_STEP.name) {
      const verdict = readVerdict(call.arguments);
      if (typeof verdict !== 'string') return verdict;
      const { result } = await refuse(tools, call, `${COMPLETE_STEP.name}: ${verdict}`);
      transcript.result(call, result);
      stopped = 'an earlier call of this turn was refused.';
      continue;
    }
    const { result, ok } = await runCall(tools, call);
    transcript.result(call, result);
    ran += 1;
    if (!ok) stopped = 'an earlier call of this turn failed.';
  }
  return undefined;
}

/** The verdict of a forced turn, wherever it stands; every other call is refused. */
function forcedVerdict(
  tools: CallTools,
  transcript: Transcript,
  answer: ModelAnswer,
): Verdict | undefined {
  let found: Verdict | undefined;
  const answered: [ModelToolCall, string][] = [];
  for (const call of answer.toolCalls) {
    if (call.name !== COMPLETE_STEP.name) {
      answered.push([call, `only ${COMPLETE_STEP.name} can be called now.`]);
      continue;
    }
    const verdict = readVerdict(call.arguments);
    if (typeof verdict === 'string') answered.push([call, `${verdict}.`]);
    else found ??= verdict;
  }
  for (const [call, why] of answered) {
    const result = notRun(tools, call, why);
    if (found === undefined) transcript.result(call, result);
  }
  return found;
}

/** Why a turn had no call, in words for the model and the error. */
function silence(answer: ModelAnswer): string {
  switch (answer.stopReason) {
    case 'length':
      return 'the answer was cut at its limit';
    case 'refusal':
      return 'the model refused';
    case 'content-filter':
      return "the provider's filter stopped the answer";
    default:
      return answer.text.trim() === '' ? 'the answer was empty' : 'the answer was only text';
  }
}

function exhausted(step: Step, what: 'model-calls' | 'actions'): AgentError {
  const { maxModelCalls, maxSteps } = step.call;
  return new AgentError(
    'STEP_BUDGET_EXHAUSTED',
    what === 'actions'
      ? `All ${maxSteps} actions of the step are used, and the model gave no verdict.`
      : `All ${maxModelCalls} model calls of the step are used, and the model gave no verdict.`,
  );
}
