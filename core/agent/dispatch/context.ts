// What a verb's handler works with, and how it says no. A Refusal is the answer to a call that must
// not run: it reaches the model as the call's result and costs nothing. Every engine action goes
// through `act`, which is where actions are counted: those that committed or may have.
import { cutEnd } from '../../base/text.ts';
import type { ErrorCode } from '../../contract/codes.ts';
import type { LocatorAction } from '../../contract/actions.ts';
import type { EngineHandle } from '../../contract/engine.ts';
import type { SemanticNode } from '../../contract/observation.ts';
import type { Driver, Observation, OperationBudget } from '../driver.ts';
import { mayHaveCommitted } from '../map-errors.ts';
import type { AttemptScope } from '../scope.ts';
import type { Step } from '../step.ts';
import { quote, roleWord } from '../screen/format.ts';

/** Longest wait for an action on one node, ms. */
const TARGETED_MS = 15_000;
/** Longest name in the words for a node. */
const NAME_IN_WORDS = 80;

/** A call that was not run, with the code that tells the model why. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** How a call went, apart from what changed on the screen. */
export interface CallResult {
  /** One or two sentences for the model. */
  readonly text: string;
  /** Nothing had to be done. */
  readonly unneeded?: true;
  /** The model asked for the whole screen. */
  readonly wholeScreen?: true;
}

/** One tool call while it runs. */
export interface CallContext {
  readonly scope: AttemptScope;
  readonly driver: Driver;
  readonly engine: EngineHandle;
  readonly signal: AbortSignal;
  /** The newest observation. */
  readonly screen: Observation;
  /** The node behind a short id; throws a Refusal (`LOCATOR_NOT_FOUND`) when it is not there. */
  node(shortId: string): SemanticNode;
  /** Throws a Refusal when fewer than `count` actions are left. */
  reserve(count: number): void;
  /** Runs one engine action. `counted: false`: it belongs to an action that counts already. */
  act(call: (budget: OperationBudget) => Promise<void>, options?: ActOptions): Promise<void>;
  /** The same for an action on a node. */
  perform(node: SemanticNode, action: LocatorAction, options?: ActOptions): Promise<void>;
  /** Waits for the screen to settle and answers it. */
  settled(): Promise<Observation>;
  /** A node in words for the model: its id, role and quoted name. */
  words(node: SemanticNode): string;
  /** Engine actions that this call counted as so far. */
  readonly count: number;
  /** An engine action was asked for, and nobody knows whether it took effect. */
  readonly uncertain: boolean;
  /** `acted`: the engine did something since the screen was last seen settled. */
  readonly state: 'idle' | 'acted' | 'settled';
}

export interface ActOptions {
  readonly counted?: boolean;
  /** ms; default: the session's action time-out. */
  readonly mostMs?: number;
}

export interface CallContextOptions {
  readonly step: Step;
  readonly screen: () => Observation;
  readonly settled: () => Promise<Observation>;
  /** Notes the first node that the call names, in words. */
  readonly onTarget: (words: string) => void;
}

export function createCallContext(options: CallContextOptions): CallContext {
  const { step, screen } = options;
  const { scope, budget, signal } = step;
  let count = 0;
  let uncertain = false;
  let state: CallContext['state'] = 'idle';
  let named = false;

  const act: CallContext['act'] = async (call, { counted = true, mostMs } = {}) => {
    const operation = step.operation(mostMs);
    // Only now: reading what is left ends a step whose time is up, and what is not asked for counts
    // for nothing.
    signal.throwIfAborted();
    state = 'acted';
    try {
      await step.timed('actMs', () => call(operation));
      if (counted) count += 1;
    } catch (error) {
      if (mayHaveCommitted(error)) {
        uncertain = true;
        if (counted) count += 1;
      }
      throw error;
    }
  };

  return {
    scope,
    driver: scope.driver,
    engine: scope.driver.engine,
    signal,
    get screen() {
      return screen();
    },
    node(shortId) {
      const id = step.ids.engine(shortId);
      const node = id === undefined ? undefined : screen().nodes.get(id);
      if (node === undefined) {
        throw new Refusal(
          'LOCATOR_NOT_FOUND',
          id === undefined
            ? `There is no node ${quote(shortId)}; use an id from the screen.`
            : `Node ${shortId} is gone; use an id from the present screen.`,
        );
      }
      if (!named) options.onTarget(nodeWords(node, step.redact));
      named = true;
      return node;
    },
    reserve(wanted) {
      const left = budget.actionsLeft - count;
      if (wanted <= left) return;
      throw new Refusal(
        'STEP_BUDGET_EXHAUSTED',
        left <= 0
          ? 'All actions of this step are used; call complete_step.'
          : `This call takes ${wanted} actions, and only ${left} are left.`,
      );
    },
    act,
    perform: (node, action, actOptions = {}) =>
      act((operation) => scope.driver.perform(node.ref, action, operation), {
        mostMs: Math.min(TARGETED_MS, scope.limits.actionTimeout),
        ...actOptions,
      }),
    async settled() {
      const observation = await options.settled();
      state = 'settled';
      return observation;
    },
    words: (node) => `${step.ids.short(node.ref.id)} ${nodeWords(node, step.redact)}`,
    get count() {
      return count;
    },
    get uncertain() {
      return uncertain;
    },
    get state() {
      return state;
    },
  };
}

/** A node in words: role and quoted name, masked before they are cut. */
function nodeWords(node: SemanticNode, redact: (text: string) => string): string {
  const role = roleWord(node.role);
  const name = redact(node.name || node.text || node.testId || '');
  if (name === '') return role;
  return `${role} ${quote(name.length > NAME_IN_WORDS ? `${cutEnd(name, NAME_IN_WORDS)}…` : name)}`;
}
