// What an engine contributes to a test: each fixture is made when it is first read, so that a test
// pays only for what it uses, and torn down at the attempt's end, last made first. The teardown
// stands between the two settles: what it sets off is still looked at.
import type { EngineFixture, FixtureContext } from '../contract/engine.ts';

export interface AttemptFixtures {
  /** One getter per fixture. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Runs every teardown, one after the other, through `run`; none is left out when one fails. */
  teardown(run: (name: string, body: () => unknown) => Promise<void>): Promise<void>;
}

export interface AttemptFixturesOptions {
  readonly factories: Readonly<Record<string, EngineFixture>>;
  readonly attemptId: string;
  readonly signal: AbortSignal;
  /** Throws once the attempt has ended. */
  readonly refuseAfterEnd: () => void;
}

interface Teardown {
  readonly name: string;
  readonly run: () => unknown;
}

export function createAttemptFixtures(options: AttemptFixturesOptions): AttemptFixtures {
  const { factories, attemptId, signal, refuseAfterEnd } = options;
  const made = new Map<string, unknown>();
  const teardowns: Teardown[] = [];

  const make = (name: string, factory: EngineFixture): unknown => {
    if (made.has(name)) return made.get(name);
    refuseAfterEnd();
    const context: FixtureContext = {
      attemptId,
      signal,
      onTeardown: (run) => {
        teardowns.push({ name, run });
      },
    };
    const value = factory(context);
    made.set(name, value);
    teardowns.push({ name, run: () => disposeOf(value) });
    return value;
  };

  const values: Record<string, unknown> = {};
  for (const [name, factory] of Object.entries(factories)) {
    Object.defineProperty(values, name, { enumerable: true, get: () => make(name, factory) });
  }

  return {
    values: Object.freeze(values),
    async teardown(run) {
      for (let next = teardowns.pop(); next !== undefined; next = teardowns.pop()) {
        await run(next.name, next.run);
      }
    },
  };
}

/** Disposes a fixture (or what it resolves to) that says how. */
async function disposeOf(value: unknown): Promise<void> {
  let fixture: unknown;
  try {
    fixture = await value;
  } catch {
    // A factory that failed told the test so; there is nothing to tear down.
    return;
  }
  if (typeof fixture !== 'object' || fixture === null) return;
  const dispose = (fixture as { readonly dispose?: unknown }).dispose;
  if (typeof dispose === 'function') await dispose.call(fixture);
}
