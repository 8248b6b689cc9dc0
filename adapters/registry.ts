// Names to adapters, each loaded when it is first asked for: a harness that takes an engine or a
// model from its command line pays only for the one it names. A registry is an object; extending
// one makes another, so two hosts in one process cannot disturb each other.
import { nearestName, suggestName } from '../core/base/nearest.ts';
import { ConfigurationError, isRunnerError, type EngineHandle } from '../core/contract.ts';
import type { Model } from '../core/agent/model.ts';

/** Options of an adapter, as its own documentation has them. */
export type AdapterOptions = Readonly<Record<string, unknown>>;

export interface EngineEntry {
  /** The npm package that the adapter needs beside ours, if any. */
  readonly peer?: string;
  /** Rejects when that package is missing or of a wrong version; an engine loads it at `init` only. */
  checkPeer?(): Promise<void>;
  /** Loads the adapter and makes an engine. */
  create(options: AdapterOptions): Promise<EngineHandle>;
}
export interface ModelEntry {
  readonly peer?: string;
  /** True: a name is followed by `:` and a model; false: it must not be. Default: it may be. */
  readonly needsModel?: boolean;
  /** `modelId`: what followed the colon, empty when nothing did. */
  create(modelId: string, options: AdapterOptions): Promise<Model>;
}
export interface RegistryEntries {
  readonly engines?: Readonly<Record<string, EngineEntry>>;
  readonly models?: Readonly<Record<string, ModelEntry>>;
}

export interface Registry {
  readonly engineNames: readonly string[];
  readonly modelNames: readonly string[];
  /**
   * Makes the engine of that name. Rejects with `INVALID_CONFIG` for an unknown name, with the
   * nearest known one, and for a missing peer package, with the command that installs it.
   */
  engine(name: string, options?: AdapterOptions): Promise<EngineHandle>;
  /** Rejects with `INVALID_CONFIG` when the engine's peer package is missing or of a wrong version. */
  checkEngine(name: string): Promise<void>;
  /** Makes the model of `adapter` or `adapter:model`; errors as for an engine. */
  model(name: string, options?: AdapterOptions): Promise<Model>;
  /** Another registry with these entries added; an entry of the same name takes the place. */
  with(entries: RegistryEntries): Registry;
}

const ENGINES: Readonly<Record<string, EngineEntry>> = {
  kiosk: {
    create: async (options) => (await import('./engines/kiosk/index.ts')).kiosk(options),
  },
  playwright: {
    peer: 'playwright-core',
    checkPeer: async () => (await import('./engines/playwright/index.ts')).checkPeer(),
    create: async (options) => (await import('./engines/playwright/index.ts')).playwright(options),
  },
};
const MODELS: Readonly<Record<string, ModelEntry>> = {
  'openai-chat': {
    needsModel: true,
    create: async (model, options) =>
      (await import('./models/openai-chat.ts')).openaiChat({ ...options, model }),
  },
  'plain-words': {
    needsModel: false,
    create: async () => (await import('./models/plain-words.ts')).plainWords(),
  },
};

/** Makes a registry of the adapters of this package, and of more. */
export function createRegistry(entries: RegistryEntries = {}): Registry {
  return registryOf({
    engines: { ...ENGINES, ...entries.engines },
    models: { ...MODELS, ...entries.models },
  });
}

/** The adapters of this package. */
export const registry: Registry = createRegistry();

function registryOf({ engines, models }: Required<RegistryEntries>): Registry {
  return Object.freeze({
    engineNames: Object.freeze(Object.keys(engines)),
    modelNames: Object.freeze(Object.keys(models)),
    async engine(name: string, options: AdapterOptions = {}) {
      const entry = find('engine', name, engines);
      return load(name, entry, () => entry.create(options));
    },
    async checkEngine(name: string) {
      await find('engine', name, engines).checkPeer?.();
    },
    async model(name: string, options: AdapterOptions = {}) {
      const colon = typeof name === 'string' ? name.indexOf(':') : -1;
      const adapter = colon === -1 ? name : name.slice(0, colon);
      const modelId = colon === -1 ? '' : name.slice(colon + 1);
      const entry = find('model', adapter, models);
      if (entry.needsModel === true && modelId === '') {
        throw new ConfigurationError(
          'INVALID_CONFIG',
          `Model ${JSON.stringify(adapter)} needs the name of a model: write "${adapter}:NAME".`,
        );
      }
      if (entry.needsModel === false && modelId !== '') {
        throw new ConfigurationError(
          'INVALID_CONFIG',
          `Model ${JSON.stringify(adapter)} takes no name of a model: write "${adapter}" alone.`,
        );
      }
      return load(name, entry, () => entry.create(modelId, options));
    },
    with: (more: RegistryEntries) =>
      registryOf({
        engines: { ...engines, ...more.engines },
        models: { ...models, ...more.models },
      }),
  });
}

function find<Entry>(
  kind: 'engine' | 'model',
  name: unknown,
  entries: Readonly<Record<string, Entry>>,
): Entry {
  const entry =
    typeof name === 'string' && Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (entry !== undefined) return entry;
  if (typeof name !== 'string') {
    throw new ConfigurationError('INVALID_CONFIG', `There is no ${kind} of type ${typeof name}.`);
  }
  const known = Object.keys(entries);
  const form =
    kind === 'model' && nearestName(name, known) === undefined
      ? '. A model is named "ADAPTER:MODEL", such as "openai-chat:gpt-5".'
      : '';
  throw new ConfigurationError(
    'INVALID_CONFIG',
    `There is no ${kind} ${JSON.stringify(name)}${suggestName(name, known)}${form}`,
  );
}

async function load<Adapter>(
  name: string,
  { peer }: { readonly peer?: string },
  create: () => Promise<Adapter>,
): Promise<Adapter> {
  try {
    return await create();
  } catch (error) {
    if (peer === undefined || isRunnerError(error) || !isMissing(error, peer)) throw error;
    throw new ConfigurationError(
      'INVALID_CONFIG',
      `${JSON.stringify(name)} needs the package ${peer}, which is not installed: npm install ${peer}`,
      { cause: error },
    );
  }
}

/** Whether the error says that exactly this package was not found, not something inside of it. */
function isMissing(error: unknown, peer: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  return (
    missing && typeof message === 'string' && new RegExp(`['"]${peer}['"/]`, 'u').test(message)
  );
}
