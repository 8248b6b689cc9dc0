// One test file in one process. uvu's own exec() is not used: it ends with 0 when a hook throws or
// nothing was registered. This walks uvu's queue itself and demands that every suite had tests
// and that all of them ran. Results go to fd 3 as JSON lines, written synchronously, so that no
// channel keeps the process up: it has to end by itself, or what it left open is a failure.

import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

const LINGER_MS = Number(process.env.ENGINEWRIGHT_TEST_LINGER_MS ?? 2000);
const SKIP = Symbol.for('enginewright.test.skip');

const file = process.argv[2];
const suites = [];
let reported = 0;
let current;

const send = (record) => writeSync(3, `${JSON.stringify(record)}\n`);
const fail = (name, error) => {
  reported += 1;
  send({ type: 'test', suite: current?.suite ?? '', name, status: 'failed', error: plain(error) });
};

// uvu reads these when it is first imported, which the test file does: so before that import.
globalThis.UVU_DEFER = 1;
globalThis.UVU_QUEUE = [[]];
globalThis.UVU_INDEX = 0;
globalThis[Symbol.for('enginewright.test.runner')] = {
  suites,
  started(suite, name) {
    current = { suite, name };
  },
  report({ suite, name, status, ms, error, reason }) {
    if (status === 'failed') reported += 1;
    send({
      type: 'test',
      suite,
      name,
      status,
      ms,
      reason,
      error: status === 'failed' ? plain(error) : undefined,
    });
  },
};

process.on('unhandledRejection', (error) => fail(`${place()}: unhandled rejection`, error));
process.on('uncaughtException', (error) => fail(`${place()}: uncaught exception`, error));

await main();

async function main() {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    const reason = error?.[SKIP];
    if (typeof reason === 'string') return finish({ skipped: reason });
    fail('import of the file', error);
    return finish({});
  }
  for (const suite of suites) suite.run();
  const queue = globalThis.UVU_QUEUE[0];
  if (queue.length === 0) fail('the file', new Error('it has no suite'));
  for (const [index, run] of queue.entries()) {
    const before = reported;
    const [, ran, , total] = await run();
    current = { suite: suites[index]?.name ?? '', name: 'end of the suite' };
    if (total === 0) fail('the suite', new Error('it has no test'));
    // Each test that did not pass has been reported by the harness; if not, the count is wrong.
    else if (ran !== total && reported === before) {
      fail('the suite', new Error(`${ran} of ${total} tests ran`));
    }
  }
  current = undefined;
  return finish({});
}

function finish(result) {
  send({ type: 'done', ...result });
  // Unref'ed: fires only while something else keeps the process up.
  setTimeout(() => {
    send({ type: 'open', resources: process.getActiveResourcesInfo() });
    process.exit(1);
  }, LINGER_MS).unref();
}

function place() {
  return current === undefined ? 'the file' : current.name;
}

/** An error as plain data; whatever was thrown, this does not throw. */
function plain(error, depth = 0) {
  try {
    if (!(error instanceof Error)) return { message: `thrown: ${inspect(error)}` };
    const { message, stack, code, details } = error;
    return {
      message: `${String(error.name)}: ${String(message)}`,
      stack: typeof stack === 'string' ? stack : undefined,
      code: code === undefined ? undefined : String(code),
      details: typeof details === 'string' ? details : undefined,
      cause: error.cause === undefined || depth > 4 ? undefined : plain(error.cause, depth + 1),
      errors:
        Array.isArray(error.errors) && depth < 4
          ? error.errors.slice(0, 5).map((inner) => plain(inner, depth + 1))
          : undefined,
    };
  } catch (inner) {
    return { message: `an error that cannot be shown (${inner})` };
  }
}
