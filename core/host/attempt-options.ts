// The options of one attempt, checked before anything of it runs.
import { checkShape } from '../base/shape.ts';
import { ENGINE_STATE_SHAPE } from '../contract/guards.ts';
import type { EngineState } from '../contract/observation.ts';
import {
  checkObject,
  countOr,
  invalid,
  millisecondsOr,
  optionalSignal,
  optionalString,
  unknownName,
  unsupported,
} from './checks.ts';
import type { SessionCore } from './session-core.ts';

export interface AttemptOptions {
  /** For records; default: the id. */
  readonly title?: string;
  /** Names the attempt in events and its directory; default: made up, unique. */
  readonly id?: string;
  /** 0 (the default) for the first try. A retry never replays a recording. */
  readonly retry?: number;
  /** The attempt's deadline, ms, from when the engine is ready; default: the session's. */
  readonly timeout?: number;
  /** A name in `agents`; default: the session's. */
  readonly agent?: string;
  readonly signal?: AbortSignal;
  /** A sign-in saved by `captureState`, restored before the function runs. */
  readonly state?: EngineState;
}

export interface ResolvedAttempt {
  readonly title: string;
  readonly id: string;
  readonly retry: number;
  readonly timeout: number;
  readonly agentName: string;
  readonly signal: AbortSignal | undefined;
  readonly state: EngineState | undefined;
}

const KEYS: Readonly<Record<keyof AttemptOptions, true>> = {
  title: true,
  id: true,
  retry: true,
  timeout: true,
  agent: true,
  signal: true,
  state: true,
};

/** Throws `INVALID_CONFIG`; for a state that the engine cannot restore `UNSUPPORTED_CAPABILITY`. */
export function resolveAttempt(
  value: AttemptOptions,
  core: SessionCore,
  newId: () => string,
): ResolvedAttempt {
  const options = checkObject(value, '', { known: Object.keys(KEYS) }) as AttemptOptions;
  const id = optionalString(options.id, 'id') ?? newId();
  const agent = optionalString(options.agent, 'agent');
  if (agent !== undefined && !core.agents.has(agent)) {
    throw invalid('agent', `names no agent: ${unknownName(agent, 'agent', core.agents.keys())}`);
  }
  return {
    title: optionalString(options.title, 'title') ?? id,
    id,
    retry: countOr(options.retry, 'retry', 0),
    timeout: millisecondsOr(options.timeout, 'timeout', core.options.timeout),
    agentName: agent ?? core.options.agent,
    signal: optionalSignal(options.signal, 'signal'),
    state: stateOf(options.state, core),
  };
}

function stateOf(state: EngineState | undefined, core: SessionCore): EngineState | undefined {
  if (state === undefined) return undefined;
  const issue = checkShape(ENGINE_STATE_SHAPE, state, 'state');
  if (issue !== undefined) {
    throw invalid(issue.path, `${issue.problem}: pass what captureState() answered.`);
  }
  if (core.engine.state === undefined) {
    throw unsupported('state', `needs an engine with "state"; ${core.engine.name} has none.`);
  }
  const now = Date.parse(core.options.clock.iso());
  if (state.expiresAt !== undefined && Date.parse(state.expiresAt) <= now) {
    throw invalid('state', `expired at ${state.expiresAt}: capture it again.`);
  }
  return state;
}
