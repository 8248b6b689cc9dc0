// A model that answers from a script, for tests of everything above the model port. It keeps every
// request it was sent, so a test can assert what a model would have seen. A script that runs out is
// an error with the turn's number: an agent that asks once too often must not pass unnoticed.
import type {
  GenerateOptions,
  Model,
  ModelAnswer,
  ModelRequest,
  ModelToolCall,
  ModelUsage,
  ProviderState,
  StopReason,
} from '../core/agent/index.ts';
import type { JsonObject } from '../core/base/json.ts';

/** One tool call of a scripted turn. Its id is minted when absent. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  /** Default `{}`. */
  readonly arguments?: JsonObject;
  /** Stands in for `arguments`: what a model sent that was no JSON object. */
  readonly malformed?: string;
}

/** One answer of the script. A bare string is an answer of text alone. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Default: `tool-calls` when there are calls, else `stop`. */
  readonly stopReason?: StopReason;
  readonly usage?: ModelUsage;
  readonly providerState?: ProviderState;
  /** Default 1. */
  readonly requests?: number;
}

/** An answer, an error to throw, or `HANG`: no answer until the call's signal aborts. */
export type ScriptedTurn = string | ScriptedAnswer | Error | typeof HANG;

/** A turn that never answers by itself. */
export const HANG: unique symbol = Symbol('scripted model: hang');

/** Decides a turn from the request and its number, from 0. */
export type ScriptedDecision = (
  request: ModelRequest,
  index: number,
) => ScriptedTurn | Promise<ScriptedTurn>;

export interface ScriptedModelOptions {
  /** Default `scripted`. */
  readonly adapter?: string;
  /** Default `scripted-1`. */
  readonly modelId?: string;
  /** Default false. */
  readonly images?: boolean;
  readonly reportsCost?: boolean;
  /** Usage of turns that state none; default: none is reported. */
  readonly usage?: ModelUsage;
}

export interface ScriptedModel extends Model {
  /** Every request so far, oldest first. */
  readonly requests: readonly ModelRequest[];
  /** Turns of the list not used yet; 0 for a function. */
  readonly remaining: number;
}

/** Makes a model that plays `script`: a list of turns (or of decisions), or one decision for all. */
export function scriptedModel(
  script: readonly (ScriptedTurn | ScriptedDecision)[] | ScriptedDecision,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  const adapter = options.adapter ?? 'scripted';
  const modelId = options.modelId ?? 'scripted-1';
  let minted = 0;

  const turnOf = async (request: ModelRequest, index: number): Promise<ScriptedTurn> => {
    if (typeof script === 'function') return script(request, index);
    const turn = script[index];
    if (turn === undefined) {
      throw new Error(
        `Scripted model has ${script.length} turns, and was asked for turn ${index + 1}.`,
      );
    }
    return typeof turn === 'function' ? turn(request, index) : turn;
  };
  const callOf = (call: ScriptedCall): ModelToolCall => {
    minted += 1;
    const head = { id: call.id ?? `call-${minted}`, name: call.name };
    return call.malformed === undefined
      ? { ...head, arguments: call.arguments ?? {} }
      : { ...head, malformed: call.malformed };
  };
  const answerOf = (turn: string | ScriptedAnswer): ModelAnswer => {
    const answer = typeof turn === 'string' ? { text: turn } : turn;
    const toolCalls = (answer.calls ?? []).map(callOf);
    const usage = answer.usage ?? options.usage;
    return {
      text: answer.text ?? '',
      toolCalls,
      stopReason: answer.stopReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop'),
      modelId,
      requests: answer.requests ?? 1,
      ...(usage === undefined ? {} : { usage }),
      ...(answer.providerState === undefined ? {} : { providerState: answer.providerState }),
    };
  };

  return {
    adapter,
    modelId,
    images: options.images ?? false,
    ...(options.reportsCost === undefined ? {} : { reportsCost: options.reportsCost }),
    requests,
    get remaining() {
      return typeof script === 'function' ? 0 : Math.max(0, script.length - requests.length);
    },
    async generate(request: ModelRequest, { signal }: GenerateOptions): Promise<ModelAnswer> {
      signal.throwIfAborted();
      const index = requests.length;
      requests.push(request);
      const turn = await turnOf(request, index);
      if (turn instanceof Error) throw turn;
      if (turn === HANG) {
        return new Promise<never>((_, reject) => {
          const onAbort = (): void => {
            reject(signal.reason as Error);
          };
          if (signal.aborted) onAbort();
          else signal.addEventListener('abort', onAbort, { once: true });
        });
      }
      signal.throwIfAborted();
      return answerOf(turn);
    },
  };
}
