// Which engines are in use. One handle serves one session, unless it says that it serves more; a
// remote one gives each further session a handle of its own. The count is kept on globalThis,
// because two copies of this package may hold the same handle; the table is made by the first
// claim, never by the import.
import type { EngineHandle } from '../contract/engine.ts';
import { runnerError } from '../contract/errors.ts';

const CLAIMS: symbol = Symbol.for('enginewright.engine-claims');

export interface EngineClaim {
  /** The handle that the session drives. */
  readonly engine: EngineHandle;
  release(): void;
}

/** Takes the engine for a session, or throws `INVALID_STATE`. */
export function claimEngine(engine: EngineHandle): EngineClaim {
  const claims = claimTable();
  const open = claims.get(engine) ?? 0;
  const most = engine.remote === true ? Number.POSITIVE_INFINITY : (engine.workers ?? 1);
  if (open >= most) {
    throw runnerError(
      'INVALID_STATE',
      `Engine ${JSON.stringify(engine.name)} serves ${most} open session${most === 1 ? '' : 's'} already: close one first, or define another engine.`,
    );
  }
  if (engine.remote === true && open > 0 && engine.fork !== undefined) {
    return { engine: engine.fork(), release: () => undefined };
  }
  claims.set(engine, open + 1);
  return {
    engine,
    release() {
      claims.set(engine, Math.max(0, (claims.get(engine) ?? 1) - 1));
    },
  };
}

function claimTable(): WeakMap<object, number> {
  const holder = globalThis as unknown as Record<symbol, WeakMap<object, number> | undefined>;
  const table = holder[CLAIMS];
  if (table !== undefined) return table;
  const made = new WeakMap<object, number>();
  Object.defineProperty(holder, CLAIMS, { value: made });
  return made;
}
