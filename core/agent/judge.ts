// `assert` and `waitFor`: a statement, the present screen, and one forced tool to judge it with. An
// inconclusive judgment is never a pass. `waitFor` looks at every interval but asks only when the
// redacted tree is another one than it judged last, because a model that sees the same screen
// again costs the same and says the same.
import { sleep } from '../base/deadline.ts';
import { AgentError, isAgentError } from '../contract/errors.ts';
import type { EngineSnapshot } from '../contract/observation.ts';
import type { ModelAnswer } from './model.ts';
import { judgeMessage, rulesMessage } from './prompts.ts';
import type { Judgment } from './records.ts';
import { sameScreen } from './screen/equal.ts';
import type { Step, StepSuccess } from './step.ts';
import { checkArguments, choice, text, type ToolSpec } from './tools/fields.ts';
import { modelTool } from './tools/table.ts';
import { assistantMessage, correction, opening } from './transcript.ts';
import { wholeScreen } from './view.ts';

const JUDGE: ToolSpec = {
  name: 'judge',
  description: 'Give the judgment.',
  fields: {
    verdict: choice(['holds', 'fails', 'inconclusive']),
    reason: text('One sentence.'),
  },
};
const JUDGE_TOOL = modelTool(JUDGE);

/** An equal but truncated screen is judged again this often at most. */
const MAX_REPEATS = 4;

/** `agent.assert`: one observation, one judgment. */
export async function runAssert(step: Step): Promise<StepSuccess<void>> {
  const { snapshot } = await step.observe();
  const judgment = await judge(step, snapshot);
  if (judgment.verdict === 'holds') return { value: undefined, summary: judgment.reason };
  const screenshot = await evidence(step);
  throw new AgentError(
    judgment.verdict === 'fails' ? 'ASSERTION_FAILED' : 'ASSERTION_INCONCLUSIVE',
    judgment.reason,
    screenshot === undefined ? {} : { screenshot },
  );
}

/** A screenshot of what was judged. Lost evidence changes no verdict, so failures end here. */
async function evidence(step: Step): Promise<string | undefined> {
  const { scope, call, signal } = step;
  if (!call.screenshot || scope.tainted) return undefined;
  try {
    return await step.withinDeadline(scope.evidence('assert', signal));
  } catch {
    return undefined;
  }
}

/** `agent.waitFor`: one observation per interval, until a judgment holds. */
export async function runWaitFor(step: Step): Promise<StepSuccess<void>> {
  const { call, scope } = step;
  const { clock } = scope;
  const started = clock.now();
  let last: Judgment | undefined;
  let judged:
    | { readonly snapshot: EngineSnapshot; readonly at: number; readonly repeats: number }
    | undefined;
  try {
    for (;;) {
      const lookedAt = clock.now();
      const { snapshot } = await step.observe();
      // New ids with the same words are the same to a judgment, and so is what is masked alike.
      const same =
        judged !== undefined &&
        sameScreen(judged.snapshot, snapshot, { ids: false, redactor: scope.redactor });
      const due =
        judged === undefined ||
        !same ||
        (snapshot.truncated === true &&
          judged.repeats < MAX_REPEATS &&
          lookedAt - judged.at >= call.intervalMs * 2 ** judged.repeats);
      if (due) {
        judged = { snapshot, at: lookedAt, repeats: same ? (judged?.repeats ?? 0) + 1 : 0 };
        last = await judge(step, snapshot);
        if (last.verdict === 'holds') return { value: undefined, summary: last.reason };
        // Nothing can be judged any more: waiting on would only look like hope.
        if (step.budget.modelCallsLeft <= 0) {
          throw new AgentError('STEP_BUDGET_EXHAUSTED', exhaustedText(step));
        }
      }
      step.progress({
        what: 'waiting',
        elapsedMs: Math.round(clock.now() - started),
        changed: !same,
      });
      const rest = call.intervalMs - (clock.now() - lookedAt);
      await sleep(Math.max(0, rest), { clock, signal: step.signal });
    }
  } catch (error) {
    throw withJudgment(step, error, last);
  }
}

function exhaustedText(step: Step): string {
  return `The condition did not hold within ${step.call.maxModelCalls} model calls.`;
}

/** The two ways in which waiting ends without an answer say what was judged last, if anything was. */
function withJudgment(step: Step, error: unknown, last: Judgment | undefined): unknown {
  if (last === undefined) return error;
  const told = `Last judgment: ${last.verdict}. ${last.reason}`;
  if (isAgentError(error)) {
    return error.code === 'STEP_BUDGET_EXHAUSTED'
      ? new AgentError(error.code, `${error.explanation} ${told}`, { cause: error })
      : error;
  }
  if (!step.timedOut) return error;
  return new AgentError(
    'STEP_TIMEOUT',
    `The condition did not hold before the deadline. ${told}`,
    last.verdict === 'fails' ? { blocked: false, cause: error } : { cause: error },
  );
}

/** One judgment, with one repair round when the model did not judge. */
async function judge(step: Step, snapshot: EngineSnapshot): Promise<Judgment> {
  const { call } = step;
  const messages = opening(
    step.redact(rulesMessage('judge', call.entry.system)),
    judgeMessage({
      instruction: step.redact(call.instruction),
      screen: wholeScreen(step, snapshot),
    }),
  );
  for (let round = 0; ; round += 1) {
    const answer = await step.ask({
      messages: [...messages],
      tools: [JUDGE_TOOL],
      toolChoice: { tool: JUDGE.name },
    });
    const read = readJudgment(answer);
    if (typeof read !== 'string') {
      step.recordJudgment(read);
      return read;
    }
    if (round > 0) {
      throw new AgentError('STEP_NO_CONCLUSION', `The model gave no judgment: ${read}.`);
    }
    messages.push(
      assistantMessage(answer),
      ...correction(answer, `That was no judgment: ${read}. Call judge once.`),
    );
  }
}

/** The judgment of an answer, or what is wrong with it. */
function readJudgment(answer: ModelAnswer): Judgment | string {
  const [first, ...others] = answer.toolCalls;
  if (first === undefined) {
    return answer.stopReason === 'length'
      ? 'the answer was cut at its limit'
      : 'judge was not called';
  }
  if (others.length > 0) return 'more than one tool was called';
  if (first.name !== JUDGE.name) return `there is no tool ${JSON.stringify(first.name)}`;
  const checked = checkArguments(JUDGE, first.arguments);
  if ('problem' in checked) return checked.problem;
  return checked.values as unknown as Judgment;
}
