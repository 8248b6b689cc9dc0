// `act`: a fresh look, the tools that the engine can do, and model turns until a verdict.
import { sanitizeExplanation } from '../contract/errors.ts';
import type { Step, StepSuccess } from './step.ts';
import { rulesMessage, taskMessage } from './prompts.ts';
import { verbSpecs } from './tools/table.ts';
import { createTranscript } from './transcript.ts';
import { runTurns } from './turns.ts';
import { createView } from './view.ts';

export async function runAct(step: Step): Promise<StepSuccess<void>> {
  const { call, scope } = step;
  const { system, context } = call.entry;
  const reportsFrom = scope.reports.mark();
  const view = await createView(step);
  const transcript = createTranscript(
    step.redact(rulesMessage('act', system)),
    taskMessage({
      kind: 'act',
      instruction: step.redact(call.instruction),
      params: call.params === undefined ? undefined : scope.redactor.value(call.params),
      context: context === undefined ? undefined : step.redact(context),
      ledger: scope.ledger,
      mask: step.redact,
      screen: view.show('first-look'),
    }),
  );
  const specs = verbSpecs(scope.driver.engine);
  const verdict = await runTurns({ step, view, transcript, specs, reportsFrom });
  return { value: undefined, summary: sanitizeExplanation(step.redact(verdict.summary)) };
}
