// Names for engines and models. The core imports no adapter, so whoever embeds it lends a registry;
// the package's root door lends the built-in one, loaded only when a name is used.
import type { Model } from '../agent/model.ts';
import type { EngineHandle } from '../contract/engine.ts';

type AdapterOptions = Readonly<Record<string, unknown>>;

/** Resolves names; rejects with `INVALID_CONFIG` naming the nearest known one. */
export interface EngineRegistry {
  engine(name: string, options?: AdapterOptions): Promise<EngineHandle>;
  /** `spec` is such as `openai-chat:NAME`. */
  model(spec: string, options?: AdapterOptions): Promise<Model>;
}
