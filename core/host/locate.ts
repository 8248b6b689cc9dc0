// The deterministic tier: find one node, act on it. Small on purpose, for set-up and for checks
// that need no judgment. It polls because screens arrive late, and says what it saw when it gives
// up; an action is sent again only when the engine says that its node was gone, so that nothing
// that may have committed happens twice.
import type { Clock } from '../base/clock.ts';
import { sleep } from '../base/deadline.ts';
import { isPlainObject, type JsonIssue } from '../base/json.ts';
import { checkClosed } from '../base/shape.ts';
import { cutEnd } from '../base/text.ts';
import type { Driver } from '../agent/driver.ts';
import type { Redactor } from '../agent/scope.ts';
import type { LocatorAction } from '../contract/actions.ts';
import { isEngineError, runnerError } from '../contract/errors.ts';
import { ACTION_SHAPE, EXPRESSION_SHAPE, NODE_REF_SHAPE } from '../contract/guards.ts';
import { parseKey } from '../contract/keys.ts';
import type { LocatorExpression } from '../contract/locator.ts';
import type { NodeRef, SemanticNode } from '../contract/observation.ts';
import { rejectUnknownKeys } from '../contract/options.ts';
import { lateError, type AttemptCalls, type CallTurn } from './calls.ts';
import { isThenable } from './checks.ts';
import { describeExpression, describeNode } from './describe.ts';

export interface CallOptions {
  /** ms, at most the rest of the attempt; default: the session's `actionTimeout`. */
  readonly timeout?: number;
}

/** A node that `locate` answered, or an expression to find one by. */
export type ActionTarget = SemanticNode | LocatorExpression;

export interface AttemptKeyboard {
  /** Types as a person would, into whatever has focus. `replace` (default false): over what is there. */
  type(text: string, options?: CallOptions & { readonly replace?: boolean }): Promise<void>;
  /** One key, such as `Enter` or `Control+a`. */
  press(key: string, options?: CallOptions): Promise<void>;
  /** Hides an on-screen keyboard. */
  dismiss(options?: CallOptions): Promise<void>;
}

export interface DeterministicTier {
  /** Polls until exactly one node matches; `LOCATOR_NOT_FOUND`, `LOCATOR_AMBIGUOUS`. */
  locate(expression: LocatorExpression, options?: CallOptions): Promise<SemanticNode>;
  /** Acts once; finds the node again once when the engine says that it is gone. */
  perform(target: ActionTarget, action: LocatorAction, options?: CallOptions): Promise<void>;
  readonly keyboard: AttemptKeyboard;
}

export interface DeterministicTierOptions {
  readonly calls: AttemptCalls;
  readonly driver: Driver;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly actionTimeout: number;
  /** Called before a value that the test marks as sensitive is filled. */
  readonly onSensitive: (value: string) => void;
}

/** Between two looks, ms: short at first, then no burden on a slow engine. */
const POLL_MS = { first: 50, most: 500, growth: 1.6 } as const;
const CALL_OPTIONS: readonly string[] = ['timeout'];
/** Candidates named in an error. */
const MAX_NAMED = 5;

export function createDeterministicTier(options: DeterministicTierOptions): DeterministicTier {
  const { calls, driver, clock, redactor, actionTimeout } = options;
  // What a node was found by, so that one that has gone can be found again.
  const foundBy = new WeakMap<object, LocatorExpression>();

  const timeoutOf = (call: string, value: unknown = {}, known = CALL_OPTIONS): number => {
    if (!isPlainObject(value)) {
      throw badArgument(`${call} takes its options as an object, such as { timeout: 5000 }.`);
    }
    rejectUnknownKeys(`${call}'s options`, value, known, 'INVALID_ARGUMENT');
    const { timeout = actionTimeout } = value as CallOptions;
    if (!Number.isSafeInteger(timeout) || timeout < 1) {
      throw badArgument(`${call}: "timeout" must be a positive integer, in milliseconds.`);
    }
    return timeout;
  };

  const poll = async (
    expression: LocatorExpression,
    turn: CallTurn,
    search: Search,
  ): Promise<SemanticNode> => {
    search.searching = true;
    for (let wait: number = POLL_MS.first; ; wait = Math.min(POLL_MS.most, wait * POLL_MS.growth)) {
      try {
        search.see(await driver.locate(expression, turn.budget()));
      } catch (error) {
        if (!search.takes(error)) throw error;
      }
      const found = search.only;
      if (found !== undefined) {
        foundBy.set(found, expression);
        search.searching = false;
        return found;
      }
      await sleep(wait, { clock, signal: turn.deadline.signal });
    }
  };

  const performOn = async (
    target: ActionTarget,
    action: LocatorAction,
    turn: CallTurn,
    search: Search,
  ): Promise<void> => {
    const expression = isNode(target) ? foundBy.get(target) : target;
    const resolve = async (): Promise<NodeRef> => {
      if (expression === undefined) throw search.failure();
      return (await poll(expression, turn, search)).ref;
    };
    const ref = isNode(target) ? target.ref : await resolve();
    try {
      await driver.perform(ref, action, turn.budget());
    } catch (error) {
      if (!isGone(error)) throw error;
      search.lost(error);
      await driver.perform(await resolve(), action, turn.budget());
    }
  };

  return {
    async locate(expression, given) {
      checkExpression('locate', expression);
      const search = createSearch(describeExpression(expression), redactor);
      const timeoutMs = timeoutOf('locate', given);
      return calls.run({
        subject: 'locate',
        timeoutMs,
        expired: () => search.failure(timeoutMs),
        body: (turn) => poll(expression, turn, search),
      });
    },
    async perform(target, action, given) {
      if (isNode(target))
        checkArgument('perform', checkClosed(NODE_REF_SHAPE, target.ref, 'target.ref'));
      else checkExpression('perform', target);
      checkAction(action);
      const what = isNode(target) ? describeNode(target) : describeExpression(target);
      const search = createSearch(what, redactor);
      const timeoutMs = timeoutOf('perform', given);
      if (action.kind === 'fill' && action.sensitive) options.onSensitive(action.value);
      const subject = redactor.text(`perform ${action.kind} on ${what}`);
      return calls.run({
        subject,
        timeoutMs,
        expired: () =>
          search.searching ? search.failure(timeoutMs) : lateError(subject, timeoutMs),
        body: (turn) => performOn(target, action, turn, search),
      });
    },
    keyboard: Object.freeze({
      async type(text: string, given: CallOptions & { readonly replace?: boolean } = {}) {
        if (typeof text !== 'string') throw badArgument('keyboard.type takes a string.');
        const timeoutMs = timeoutOf('keyboard.type', given, [...CALL_OPTIONS, 'replace']);
        await calls.run({
          subject: 'keyboard.type',
          timeoutMs,
          body: (turn) => driver.type(text, { replace: given.replace === true }, turn.budget()),
        });
      },
      async press(key: string, given?: CallOptions) {
        if (parseKey(key) === undefined) {
          throw badArgument(
            `keyboard.press does not know the key ${JSON.stringify(key)}: write one character, or a name such as "Enter" or "Control+a".`,
          );
        }
        await calls.run({
          subject: `keyboard.press ${key}`,
          timeoutMs: timeoutOf('keyboard.press', given),
          body: (turn) => driver.press(key, turn.budget()),
        });
      },
      async dismiss(given?: CallOptions) {
        await calls.run({
          subject: 'keyboard.dismiss',
          timeoutMs: timeoutOf('keyboard.dismiss', given),
          body: (turn) => driver.dismissKeyboard(turn.budget()),
        });
      },
    }),
  };
}

/** What a search has seen so far, and the error that it is worth when it ends without a node. */
interface Search {
  see(nodes: readonly SemanticNode[]): void;
  /** Takes an error that another look may cure; answers false for any other. */
  takes(error: unknown): boolean;
  /** The node acted on was gone. */
  lost(error: unknown): void;
  readonly only: SemanticNode | undefined;
  /** Whether a node is being looked for right now. */
  searching: boolean;
  failure(afterMs?: number): Error;
}

function createSearch(what: string, redactor: Redactor): Search {
  let nodes: readonly SemanticNode[] = [];
  let cause: unknown;
  let looks = 0;
  let ambiguous = false;
  return {
    see(seen) {
      looks += 1;
      nodes = seen;
      ambiguous = seen.length > 1;
      cause = undefined;
    },
    takes(error) {
      const frames = isEngineError(error) && error.code === 'FRAME_AMBIGUOUS';
      if (!frames && !isGone(error)) return false;
      looks += 1;
      nodes = [];
      ambiguous = frames;
      cause = error;
      return true;
    },
    lost(error) {
      nodes = [];
      ambiguous = false;
      cause = error;
    },
    get only() {
      return nodes.length === 1 ? nodes[0] : undefined;
    },
    searching: false,
    failure(afterMs) {
      const within = afterMs === undefined ? '' : ` within ${afterMs} ms`;
      const options = cause === undefined ? {} : { cause };
      if (ambiguous) {
        const named = nodes.slice(0, MAX_NAMED).map(describeNode);
        const more = nodes.length > MAX_NAMED ? `, and ${nodes.length - MAX_NAMED} more` : '';
        const found =
          nodes.length === 0
            ? 'more than one frame'
            : `${nodes.length} nodes: ${named.join(', ')}${more}`;
        return runnerError(
          'LOCATOR_AMBIGUOUS',
          redactor.text(`${what} matched ${found}${within}; name one of them more closely.`),
          options,
        );
      }
      const why =
        looks === 0 && afterMs !== undefined ? 'could not be looked for' : 'was not on the screen';
      return runnerError('LOCATOR_NOT_FOUND', redactor.text(`${what} ${why}${within}.`), options);
    },
  };
}

/** The codes that say the node or its document was gone before anything was done. */
function isGone(error: unknown): boolean {
  return isEngineError(error) && (error.code === 'NODE_STALE' || error.code === 'FRAME_NOT_FOUND');
}

function isNode(target: ActionTarget): target is SemanticNode {
  return typeof target === 'object' && target !== null && 'ref' in target;
}

function checkArgument(call: string, issue: JsonIssue | undefined, hint = ''): void {
  if (issue === undefined) return;
  throw badArgument(`${call}: ${cutEnd(`${issue.path} ${issue.problem}`, 500)}${hint}.`);
}

/** An expression is written by hand: who has not got its form yet is shown one. */
function checkExpression(call: string, value: unknown): void {
  if (isThenable(value)) throw badArgument(`${call}: the target is a promise: await it first.`);
  const issue = checkClosed(EXPRESSION_SHAPE, value, 'expression');
  const formless = issue !== undefined && /^(?:is missing$|must be an object)/u.test(issue.problem);
  checkArgument(call, issue, formless ? `; write it like ${EXAMPLE}` : '');
}

function checkAction(value: unknown): void {
  const issue = checkClosed(ACTION_SHAPE, value, 'action');
  const hints: Readonly<Record<string, string>> = {
    action: '; write it like { kind: "tap" }',
    'action.sensitive': ': say whether the value is a secret',
  };
  checkArgument('perform', issue, hints[issue?.path ?? '']);
}

const EXAMPLE =
  '{ kind: "query", query: { kind: "role", value: { kind: "string", value: "button", exact: true }, name: { kind: "string", value: "Save", exact: false } } }';

function badArgument(message: string): Error {
  return runnerError('INVALID_ARGUMENT', message);
}
