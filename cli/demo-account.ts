// The demo's account of what happens: one block a step, one line an action, and the cost of each.
// Colour only on a terminal that wants it; waiting is told on one line that is rewritten there and
// appended elsewhere, so that a CI log stays readable.
import type { ActionRecord, StepEvent, StepRecord } from '../index.ts';

interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export interface Account {
  opening(facts: {
    readonly engine: string;
    readonly command: string;
    readonly model: string;
    readonly page?: string;
  }): void;
  step(event: StepEvent): void;
  /** A remark of the flow's own, under the step just closed. */
  say(line: string): void;
  closing(end: {
    readonly steps: readonly StepRecord[];
    readonly passed: boolean;
    readonly failure: unknown;
    readonly model: string;
  }): void;
}

const INDENT = '   ';

export function createAccount(output: Output): Account {
  const live = output.isTTY === true && process.env['TERM'] !== 'dumb';
  const colour = live && process.env['NO_COLOR'] === undefined;
  const paint = (code: number, text: string): string =>
    colour ? `\u001b[${code}m${text}\u001b[0m` : text;
  const dim = (text: string): string => paint(2, text);
  const green = (text: string): string => paint(32, text);
  const red = (text: string): string => paint(31, text);
  const bold = (text: string): string => paint(1, text);
  let rewriting = false;
  let kind: StepRecord['kind'] | undefined;
  let openedAt = 0;
  const line = (text = ''): void => {
    output.write(`${rewriting ? '\r\u001b[K' : ''}${text}\n`);
    rewriting = false;
  };
  const rewrite = (text: string): void => {
    if (!live) return;
    output.write(`\r\u001b[K${text}`);
    rewriting = true;
  };

  return {
    opening({ engine, command, model, page }) {
      line(bold('Enginewright demo: plain words, carried out on a real user interface.'));
      line();
      line(`  engine   ${engine}, in a child process: ${dim(command)}`);
      line(
        `  model    ${model}${model === 'plain-words' ? dim('  (offline and deterministic; no key, no network)') : ''}`,
      );
      if (page !== undefined) line(`  page     ${page}`);
      line();
    },
    step(event) {
      if (event.phase === 'opened') {
        kind = event.kind;
        openedAt = performance.now();
        line(`${String(event.index).padStart(2)} ${bold(event.kind)} ${event.instruction}`);
      } else if (event.phase === 'progress') {
        const { progress } = event;
        if (progress.what === 'action') {
          line(`${INDENT}${dim('·')} ${describeAction(progress.action)}`);
        } else if (progress.what === 'waiting') {
          rewrite(`${INDENT}${dim(`… waiting, ${seconds(progress.elapsedMs)}`)}`);
        } else if (progress.what === 'model-call') {
          rewrite(`${INDENT}${dim(`… model call ${progress.call}`)}`);
        } else if (
          progress.what === 'judgment' &&
          progress.judgment.verdict !== 'holds' &&
          kind === 'waitFor'
        ) {
          const elapsed = seconds(performance.now() - openedAt);
          line(`${INDENT}${dim('·')} not yet, after ${elapsed}: ${progress.judgment.reason}`);
        }
      } else {
        const { record } = event;
        const verdict =
          record.status === 'passed'
            ? green('passed')
            : red(`${record.status}${record.code === undefined ? '' : ` ${record.code}`}`);
        line(`${INDENT}${verdict} ${dim(cost(record))}`);
        if (record.status !== 'passed') line(`${INDENT}${record.summary}`);
      }
    },
    say(text) {
      line(`${INDENT}${dim(`> ${text}`)}`);
    },
    closing({ steps, passed, failure, model }) {
      line();
      const calls = steps.reduce((sum, step) => sum + step.modelCalls, 0);
      const actions = steps.reduce((sum, step) => sum + step.actionCount, 0);
      const ms = steps.reduce((sum, step) => sum + step.durationMs, 0);
      line(
        `${passed ? green('As expected') : red('Not as expected')}: ${steps.length} steps, ${actions} actions, ${calls} model calls, ${seconds(ms)}.`,
      );
      if (failure instanceof Error) line(red(failure.message));
      line();
      line('Where to go next:');
      line('  README.md                                 embed it in your own harness in 20 lines');
      line('  npm run demo -- --engine playwright       the same flow in a real Chromium');
      if (model === 'plain-words') {
        line(
          '  npm run demo -- --model openai-chat:NAME --base-url URL   the same flow with a real model',
        );
      }
      line('  npx enginewright serve --help             serve an engine to another process');
    },
  };
}

function describeAction(action: ActionRecord): string {
  const times = action.count > 1 ? ` x${action.count}` : '';
  const outcome =
    action.outcome === 'done'
      ? ''
      : ` (${action.outcome}${action.code === undefined ? '' : `: ${action.code}`})`;
  const target = action.target === undefined ? '' : ` ${action.target}`;
  return `${action.tool}${target}${times}${outcome}  ${Math.round(action.durationMs)} ms`;
}

function cost(record: StepRecord): string {
  const { usage } = record;
  const tokens = usage.inputTokens + usage.outputTokens;
  const bound = usage.tokenAccounting === 'provider' ? '' : 'at most ';
  return [
    seconds(record.durationMs),
    ...(record.kind === 'act' ? [plural(record.actionCount, 'action')] : []),
    plural(record.modelCalls, 'model call'),
    ...(record.modelCalls > 0 ? [`${bound}${tokens} tokens`] : []),
  ].join(', ');
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`;
}
