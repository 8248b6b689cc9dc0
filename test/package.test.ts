// The package and its build: the gate that keeps run-time dependencies out, the one list of doors,
// and that nothing committed says on which machine, or from which registry, it was made.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert, rejects, suite } from './harness.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Entry {
  readonly door: string | undefined;
  readonly name: string;
  readonly source: string;
}

interface Scripts {
  readonly entries: (pkg?: unknown) => readonly Entry[];
  readonly externalGate: (
    pkg: unknown,
    options?: { base?: string; mayBundle?: boolean },
  ) => (id: string, importer?: string) => boolean;
}

/** Plain JavaScript without declarations, so loaded instead of imported. */
async function scripts(): Promise<Scripts> {
  const load = (name: string): Promise<object> => import(`${ROOT}scripts/${name}.mjs`);
  return { ...(await load('paths')), ...(await load('rollup-plugins')) } as Scripts;
}

const PACKAGE = { peerDependencies: { 'playwright-core': '*' } };

const test = suite('package');

test('the gate lets pass what may stay an import', async () => {
  const gate = (await scripts()).externalGate(PACKAGE);
  assert.is(gate('node:fs/promises', `${ROOT}core/a.ts`), true);
  assert.is(gate('playwright-core', `${ROOT}adapters/engines/playwright/index.ts`), true);
  assert.is(gate('playwright-core/lib/x', `${ROOT}adapters/engines/playwright/index.ts`), true);
  assert.is(gate('./a.ts', `${ROOT}core/b.ts`), false);
  assert.is(gate('valibot', `${ROOT}adapters/models/openai-chat.ts`), false);
});

test('the gate stops everything else', async () => {
  const { externalGate } = await scripts();
  const gate = externalGate(PACKAGE);
  const refused = (id: string, from: string): Promise<Error> =>
    rejects(() => gate(id, ROOT + from)) as Promise<Error>;
  assert.match(
    (await refused('zod', 'core/a.ts')).message,
    /core\/a\.ts imports zod: .*no run-time/,
  );
  assert.match((await refused('zod', 'adapters/models/a.ts')).message, /no run-time dependencies/);
  assert.match((await refused('playwright-core-x', 'core/a.ts')).message, /no run-time/);
  assert.match((await refused('playwright-core', 'core/a.ts')).message, /only in adapters/);
  assert.match((await refused('valibot', 'cli/a.ts')).message, /only in adapters/);
  assert.match((await refused('fs', 'core/a.ts')).message, /write node:fs/);
  const declarations = externalGate(PACKAGE, { base: ROOT, mayBundle: false });
  const error = await rejects(() => declarations('valibot', `${ROOT}adapters/models/a.d.ts`));
  assert.match(error.message, /shows types of valibot/);
});

test('the doors follow the sources', async () => {
  const { entries } = await scripts();
  for (const { name, source } of entries()) {
    assert.is(source, `${name}.ts`);
    assert.ok(existsSync(ROOT + source), `${source} is missing, though package.json has its door`);
  }
  const wrong = { exports: { './a': { types: './dist/b.d.ts', default: './dist/a.js' } } };
  assert.throws(() => entries(wrong), /exports\[\.\/a\]\.types should be \.\/dist\/a\.d\.ts/);
});

test('the lock names no address', () => {
  const lock = readFileSync(`${ROOT}package-lock.json`, 'utf8');
  assert.not.match(lock, /"resolved"|https?:\/\/[^"]*\.tgz/);
  assert.match(readFileSync(`${ROOT}.npmrc`, 'utf8'), 'omit-lockfile-registry-resolved=true');
});
test.run();
