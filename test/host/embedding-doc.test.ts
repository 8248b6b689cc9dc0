// docs/embedding.md: its examples are code that runs (or, for runners that are not installed here, that
// parses), and its table of options is the table of options.
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '../harness.ts';
import { resolveOptions } from '../../core/host/options.ts';
import { startNode } from '../support/processes.ts';

const test = suite('embedding page', { timeoutMs: 30_000 });
const root = fileURLToPath(new URL('../..', import.meta.url));

let folder = '';
let page = '';
test.before(async () => {
  page = await readFile(join(root, 'docs', 'embedding.md'), 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'enginewright-embedding-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules', 'enginewright'), 'dir');
});
test.after(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function exampleOf(heading: string): Promise<string> {
  const section = page.split(/^## /mu).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const code = /```js\n([\s\S]*?)```/u.exec(section)?.[1];
  assert.ok(code !== undefined, heading);
  const path = join(folder, `${heading.replace(/\W/gu, '-')}.mjs`);
  await writeFile(path, code);
  return path;
}

test('the plain script runs', async () => {
  const { code, stdout, stderr } = await startNode([await exampleOf('A plain script')]).finished;
  assert.is(code, 0, stderr);
  assert.is(stdout + stderr, '');
});

test('the node:test example passes', async () => {
  const path = await exampleOf('node:test');
  const { code, stdout } = await startNode(['--test-reporter=tap', path]).finished;
  assert.is(code, 0, stdout);
  assert.match(stdout, /^ok 1 - the menu opens$/mu);
});

for (const heading of ['Vitest', 'Playwright Test']) {
  test(`the example for ${heading} parses`, async () => {
    const { code, stderr } = await startNode(['--check', await exampleOf(heading)]).finished;
    assert.is(code, 0, stderr);
  });
}

test('the table lists every option, and none that is not there', () => {
  const table = page.split('## Options of openSession')[1]?.split('\n\nAn agent is')[0] ?? '';
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gmu)].map(([, name = '']) => name);
  let known: readonly string[] = [];
  try {
    resolveOptions({ xxxxxxxxxxxxxxxxxxxxxxxx: 1 } as never);
  } catch (error) {
    known = /known: (.*)\.$/u.exec((error as Error).message)?.[1]?.split(', ') ?? [];
  }
  assert.ok(known.length > 10);
  assert.equal(listed.toSorted(), [...known].toSorted());
});

test.run();
