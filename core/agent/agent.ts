// `createAgent`: the four calls over one attempt. Each checks its arguments, then runs as a step; what
// the calls of an attempt share is its scope and the table of short node ids.
import { AgentError } from '../contract/errors.ts';
import { runAct } from './act.ts';
import type { ActResult, Agent } from './api.ts';
import { runExtract } from './extract.ts';
import { runAssert, runWaitFor } from './judge.ts';
import { checkCall, type CheckedCall } from './params.ts';
import type { StepKind } from './records.ts';
import type { AttemptScope } from './scope.ts';
import { createShortIds } from './screen/ids.ts';
import { runStep, type Step, type StepSuccess } from './step.ts';

/** Makes the agent of one attempt. Throws `MODEL_UNAVAILABLE` when its agent has no model. */
export function createAgent(scope: AttemptScope): Agent {
  const entry = scope.agents.get(scope.agentName);
  if (entry?.model === undefined && entry?.judge === undefined) {
    throw new AgentError(
      'MODEL_UNAVAILABLE',
      `Agent ${JSON.stringify(scope.agentName)} has no model; give it one in the session's agents.`,
    );
  }
  const ids = createShortIds();
  // Asynchronous from its first line on: also a wrong argument is a rejection, never a throw.
  const run = async <T>(
    kind: StepKind,
    instruction: unknown,
    options: unknown,
    body: (step: Step) => Promise<StepSuccess<T>>,
  ): Promise<T> => {
    const call = checkCall(kind, instruction, options, scope);
    refuseSecrets(call);
    return runStep({ call, scope, ids }, body);
  };
  return Object.freeze({
    act: (instruction, options) =>
      run('act', instruction, options, async (step): Promise<StepSuccess<ActResult>> => {
        const { summary } = await runAct(step);
        const { modelCalls, actions } = step.budget;
        return { summary, value: { summary, modelCalls, actions } };
      }),
    waitFor: (condition, options) => run('waitFor', condition, options, runWaitFor),
    extract: (instruction, options) =>
      // Validated by the caller's own schema: its output type is what came out.
      run('extract', instruction, options, runExtract) as Promise<never>,
    assert: (assertion, options) => run('assert', assertion, options, runAssert),
  } satisfies Agent);
}

/** A model told of a value that no tool can enter would only spend calls on finding out. */
function refuseSecrets({ kind, secrets: [first] }: CheckedCall): void {
  if (first === undefined) return;
  throw new AgentError(
    'UNSUPPORTED_CAPABILITY',
    `agent.${kind}: params hold the secret ${JSON.stringify(first.name)}, and this version fills no secrets; leave it out, and sign in outside of the agent.`,
  );
}
