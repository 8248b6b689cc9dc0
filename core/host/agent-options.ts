// Agent entries: every default is filled in here, so that the agent reads numbers and never
// options. Models given by name are resolved later (a registry may have to be loaded); what
// depends on the model itself (a cost limit needs a price) is therefore checked in a second pass.
import { utf8Length } from '../base/text.ts';
import type { Model } from '../agent/model.ts';
import type { AgentEntry, ModelPrices, VisionMode } from '../agent/scope.ts';
import {
  checkObject,
  invalid,
  keyPath,
  optionalObject,
  optionalString,
  positiveOr,
  unsupported,
} from './checks.ts';

/** A model by its registry name, with options for its adapter. */
export interface ModelReference {
  /** Such as `openai-chat:NAME`. */
  readonly name: string;
  readonly options?: Readonly<Record<string, unknown>>;
}
export type ModelOption = Model | string | ModelReference;

export interface AgentOptions {
  /** Who acts. Without one the agent can be configured, but not used. */
  readonly model?: ModelOption;
  /** Who judges and extracts; default: `model`. Judgments and their pictures go to it. */
  readonly judge?: ModelOption;
  /** Instructions of the project, added to the agent's rules. */
  readonly system?: string;
  /** Facts about the app, shown with every step; at most 16 KiB. */
  readonly context?: string;
  /** Default false. */
  readonly vision?: VisionMode;
  /** Engine actions per `act`; default 25. */
  readonly maxSteps?: number;
  /** Model calls per `act` and `waitFor`; default 25. */
  readonly maxModelCalls?: number;
  /** UTF-8 bytes of screen text per look; default 24000. */
  readonly maxObservationBytes?: number;
  /** Tokens per step, input and output together. */
  readonly maxTokens?: number;
  /** US dollars per step; needs `prices`, or a provider that reports cost. */
  readonly maxCost?: number;
  /** US dollars per million tokens. */
  readonly prices?: ModelPrices;
}

/** An entry whose models may still be names. */
export interface UnresolvedAgent {
  readonly path: string;
  readonly model?: ModelOption;
  readonly judge?: ModelOption;
  readonly entry: Omit<AgentEntry, 'model' | 'judge'>;
}

const CONTEXT_LIMIT = 16 * 1024;
const AGENT_KEYS = [
  'model',
  'judge',
  'executor',
  'system',
  'tools',
  'context',
  'vision',
  'maxSteps',
  'maxModelCalls',
  'maxObservationBytes',
  'maxTokens',
  'maxCost',
  'prices',
];

export function resolveAgents(value: unknown): readonly UnresolvedAgent[] {
  return Object.entries(optionalObject(value, 'agents', { example: '{ default: { model } }' })).map(
    ([name, agent]) => resolveAgent(name, agent),
  );
}

function resolveAgent(name: string, value: unknown): UnresolvedAgent {
  const path = keyPath('agents', name);
  const agent = checkObject(value, path, { known: AGENT_KEYS, example: '{ model, ... }' });
  for (const key of ['executor', 'tools']) {
    if (agent[key] !== undefined) throw unsupported(`${path}.${key}`, 'is not in this version.');
  }
  const system = optionalString(agent['system'], `${path}.system`);
  const context = optionalString(agent['context'], `${path}.context`);
  if (context !== undefined && utf8Length(context) > CONTEXT_LIMIT) {
    throw invalid(`${path}.context`, `must be at most ${CONTEXT_LIMIT} UTF-8 bytes.`);
  }
  const vision = agent['vision'] === undefined ? false : agent['vision'];
  if (typeof vision !== 'boolean' && vision !== 'only') {
    throw invalid(`${path}.vision`, 'must be true, false or "only".');
  }
  const maxTokens = positiveOr(agent['maxTokens'], `${path}.maxTokens`, undefined);
  const maxCost = amount(agent['maxCost'], `${path}.maxCost`);
  if (maxCost === 0) throw invalid(`${path}.maxCost`, 'must be above 0.');
  const prices = pricesOf(agent['prices'], `${path}.prices`);
  const model = modelOption(agent['model'], `${path}.model`);
  const judge = modelOption(agent['judge'], `${path}.judge`);
  return {
    path,
    ...(model === undefined ? {} : { model }),
    ...(judge === undefined ? {} : { judge }),
    entry: {
      name,
      ...(system === undefined ? {} : { system }),
      ...(context === undefined ? {} : { context }),
      vision,
      maxSteps: positiveOr(agent['maxSteps'], `${path}.maxSteps`, 25),
      maxModelCalls: positiveOr(agent['maxModelCalls'], `${path}.maxModelCalls`, 25),
      maxObservationBytes: positiveOr(
        agent['maxObservationBytes'],
        `${path}.maxObservationBytes`,
        24_000,
      ),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(maxCost === undefined ? {} : { maxCost }),
      ...(prices === undefined ? {} : { prices }),
    },
  };
}

/** Puts the models in, and checks what depends on them. */
export function completeAgent(
  agent: UnresolvedAgent,
  models: { readonly model: Model | undefined; readonly judge: Model | undefined },
): AgentEntry {
  const { model, judge } = models;
  const { maxCost, prices } = agent.entry;
  const silent = [model, judge].find((one) => one !== undefined && one.reportsCost !== true);
  if (maxCost !== undefined && prices === undefined && silent !== undefined) {
    throw invalid(
      `${agent.path}.maxCost`,
      `needs "prices": ${silent.adapter} does not report what a call costs.`,
    );
  }
  return Object.freeze({
    ...agent.entry,
    ...(model === undefined ? {} : { model }),
    ...(judge === undefined ? {} : { judge }),
  });
}

function modelOption(value: unknown, path: string): ModelOption | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '') return value;
  if (isModel(value)) return value;
  if (typeof value === 'object' && value !== null && 'generate' in value) {
    throw invalid(path, 'is no model: it needs "adapter", "modelId", "images" and "generate".');
  }
  if (typeof value !== 'object' || value === null) {
    throw invalid(
      path,
      'must be a model, a name such as "openai-chat:NAME", or { name, options }.',
    );
  }
  return namedReference(value, path);
}

/** `{ name, options? }`, the long form of a registry name. */
export function namedReference(
  value: unknown,
  path: string,
): { readonly name: string; readonly options?: Readonly<Record<string, unknown>> } {
  const reference = checkObject(value, path, { known: ['name', 'options'] });
  const name = optionalString(reference['name'], `${path}.name`);
  if (name === undefined) throw invalid(`${path}.name`, 'is required.');
  const { options } = reference;
  return options === undefined
    ? { name }
    : { name, options: checkObject(options, `${path}.options`) };
}

/** Whether a value answers the model port; an adapter may be of another copy of this package. */
export function isModel(value: unknown): value is Model {
  const model = value as Partial<Model> | null;
  return (
    typeof model === 'object' &&
    model !== null &&
    typeof model.generate === 'function' &&
    typeof model.adapter === 'string' &&
    typeof model.modelId === 'string' &&
    typeof model.images === 'boolean'
  );
}

function pricesOf(value: unknown, path: string): ModelPrices | undefined {
  if (value === undefined) return undefined;
  const prices = checkObject(value, path, { known: ['input', 'output', 'cachedInput'] });
  const input = amount(prices['input'], `${path}.input`);
  const output = amount(prices['output'], `${path}.output`);
  const cachedInput = amount(prices['cachedInput'], `${path}.cachedInput`);
  if (input === undefined) throw invalid(`${path}.input`, 'is required.');
  if (output === undefined) throw invalid(`${path}.output`, 'is required.');
  return Object.freeze({ input, output, ...(cachedInput === undefined ? {} : { cachedInput }) });
}

function amount(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw invalid(path, 'must be an amount in US dollars, 0 or more.');
  }
  return value;
}
