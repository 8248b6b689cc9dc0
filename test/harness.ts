// The only way into uvu: `suite`, `assert`, `rejects`, `skipFile`. uvu alone ends with exit code 0
// when a suite is never run, a hook throws, a string is thrown or a test is registered too late,
// and it has no time limit. Here each of those is a failure: `suite` wraps every handler and hook
// and reports to the runner (test/run/child.mjs), which runs each suite of a file itself.

import { suite as uvuSuite } from 'uvu';

/**
 * uvu's assertions. Know three things: `assert.equal` is deep and takes Error('a') for Error('b')
 * and -0 for 0, but tells `{ a: undefined }` from `{}`; it tells a class instance from a plain
 * object; and `assert.throws` does not await: use `rejects`.
 */
export * as assert from 'uvu/assert';

/** What a test gets. */
export interface TestContext {
  /** Aborted when the test's time is up, so that what it started can end. */
  readonly signal: AbortSignal;
}

export interface TestOptions {
  /** Limit of one test or hook in ms. Default: the suite's, else 10 s (30 s for a hook). */
  readonly timeoutMs?: number;
}

export type TestHandler = (context: TestContext) => unknown;

export interface Hook {
  (handler: TestHandler, options?: TestOptions): void;
  /** The same around each test. */
  each(handler: TestHandler, options?: TestOptions): void;
}

export interface Suite {
  (name: string, handler: TestHandler, options?: TestOptions): void;
  /** Leaves one test out, with a reason. With CI set that is a failure. */
  skip(reason: string): (name: string, handler?: TestHandler, options?: TestOptions) => void;
  before: Hook;
  after: Hook;
  /** Closes the suite. The runner does it for a suite that does not. */
  run(): void;
}

/** What test/run/child.mjs lends; kept on globalThis, as both sides are loaded separately. */
interface Runner {
  readonly suites: { readonly name: string; run(): void }[];
  report(result: {
    readonly suite: string;
    readonly name: string;
    readonly status: 'passed' | 'failed' | 'skipped';
    readonly ms?: number;
    readonly error?: unknown;
    readonly reason?: string;
  }): void;
  started(suite: string, name: string): void;
}

const TEST_LIMIT_MS = 10_000;
const HOOK_LIMIT_MS = 30_000;
const SKIP = Symbol.for('enginewright.test.skip');

interface Entry {
  readonly handler: TestHandler;
  readonly options: TestOptions | undefined;
}

/** A group of tests, run in order. `options` are the defaults of its tests. */
export function suite(name: string, options: TestOptions = {}): Suite {
  const runner = theRunner();
  const inner = uvuSuite(name);
  const beforeEach: Entry[] = [];
  const afterEach: Entry[] = [];
  let closed = false;
  // The first error of a `before`: uvu would swallow it, so each test of the suite fails with it.
  let broken: { readonly error: unknown } | undefined;

  const open = (what: string): void => {
    if (closed) throw new Error(`${name}: ${what} after run(): it would never be executed`);
  };
  const limit = (own: TestOptions | undefined, fallback: number): number =>
    own?.timeoutMs ?? options.timeoutMs ?? fallback;
  const hook = ({ handler, options: own }: Entry, what: string): Promise<void> =>
    timed(handler, limit(own, HOOK_LIMIT_MS), `the ${what} hook of ${name}`);

  const test = ((title, handler, own) => {
    open(`test "${title}"`);
    inner(title, async () => {
      runner.started(name, title);
      const start = performance.now();
      const errors: unknown[] = [];
      const attempt = async (step: () => Promise<void>): Promise<void> => {
        try {
          await step();
        } catch (error) {
          errors.push(error);
        }
      };
      if (broken !== undefined) {
        errors.push(broken.error);
      } else {
        for (const entry of beforeEach) {
          if (errors.length === 0) await attempt(() => hook(entry, 'before.each'));
        }
        if (errors.length === 0) {
          await attempt(() => timed(handler, limit(own, TEST_LIMIT_MS), `"${title}"`));
        }
        for (const entry of afterEach) await attempt(() => hook(entry, 'after.each'));
      }
      const ms = performance.now() - start;
      if (errors.length === 0) {
        runner.report({ suite: name, name: title, status: 'passed', ms });
        return;
      }
      for (const [index, error] of errors.entries()) {
        const label = index === 0 ? title : `${title} (and then)`;
        runner.report({ suite: name, name: label, status: 'failed', ms, error });
      }
      // For uvu's count only; its formatter is not to meet what the test really threw.
      throw new Error('reported by the harness');
    });
  }) as Suite;

  const hooks = (
    kind: 'before' | 'after',
    register: (handler: () => Promise<void>) => void,
    each: Entry[],
  ): Hook => {
    const add = (handler: TestHandler, own?: TestOptions): void => {
      open(kind);
      register(async () => {
        if (kind === 'before' && broken !== undefined) return;
        runner.started(name, kind);
        try {
          await hook({ handler, options: own }, kind);
        } catch (error) {
          if (kind === 'before') broken = { error };
          else runner.report({ suite: name, name: 'after hook', status: 'failed', error });
        }
      });
    };
    return Object.assign(add, {
      each(handler: TestHandler, own?: TestOptions): void {
        open(`${kind}.each`);
        each.push({ handler, options: own });
      },
    });
  };

  test.before = hooks('before', (handler) => inner.before(handler), beforeEach);
  test.after = hooks('after', (handler) => inner.after(handler), afterEach);
  test.skip = (reason) => {
    if (reason.trim() === '') throw new Error(`${name}: skip needs a reason`);
    return (title) => {
      open(`test "${title}"`);
      runner.report({ suite: name, name: title, status: 'skipped', reason });
    };
  };
  test.run = () => {
    if (closed) return;
    closed = true;
    inner.run();
  };
  runner.suites.push({ name, run: test.run });
  return test;
}

/** Leaves the whole file out. Call it at the file's top; what comes after it is not reached. */
export function skipFile(reason: string): never {
  if (reason.trim() === '') throw new Error('skipFile needs a reason');
  // A plain marked object: the runner knows it by its mark, nobody takes it for a failure.
  throw Object.assign(new Error(`skipped: ${reason}`), { [SKIP]: reason });
}

/** Tests look into errors of many shapes. */
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

/**
 * Waits for a rejection and gives its error. `check`: a pattern for the message, or a function that
 * looks closer (by asserting, or by returning false).
 */
export async function rejects(
  subject: PromiseLike<unknown> | (() => unknown),
  check?: RegExp | ((error: Loose) => unknown),
): Promise<Loose> {
  let outcome: { readonly value: unknown } | { readonly error: unknown };
  try {
    outcome = { value: await (typeof subject === 'function' ? subject() : subject) };
  } catch (caught) {
    outcome = { error: caught };
  }
  if ('value' in outcome) {
    throw new Error(`expected a rejection, but it resolved with ${show(outcome.value)}`);
  }
  const { error } = outcome;
  if (check instanceof RegExp) {
    const message = error instanceof Error ? error.message : String(error);
    if (!check.test(message)) {
      throw new Error(`expected a message that matches ${check}, got: ${message}`, {
        cause: error,
      });
    }
  } else if (check !== undefined && (await check(error)) === false) {
    throw new Error(`the rejection is not the expected one: ${show(error)}`, { cause: error });
  }
  return error;
}

function show(value: unknown): string {
  try {
    return value instanceof Error ? String(value) : (JSON.stringify(value) ?? String(value));
  } catch {
    return String(value);
  }
}

async function timed(handler: TestHandler, ms: number, what: string): Promise<void> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // Not unref'ed: it also keeps the process up for a promise that nothing will ever settle.
    timer = setTimeout(() => {
      const error = new Error(`${what} took longer than ${ms} ms`);
      reject(error);
      abort.abort(error);
    }, ms);
  });
  try {
    await Promise.race([(async () => await handler({ signal: abort.signal }))(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function theRunner(): Runner {
  const runner = (globalThis as Record<symbol, unknown>)[Symbol.for('enginewright.test.runner')];
  if (runner === undefined) {
    throw new Error('tests run under the runner only: node scripts/test.mjs [part of a path]');
  }
  return runner as Runner;
}
