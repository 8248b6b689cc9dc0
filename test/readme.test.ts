// The README's embedding example is run as it stands, against the built package, from a folder
// that sees nothing but the package: what a newcomer pastes must work.
import { mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from './harness.ts';
import { startNode } from './support/processes.ts';

const test = suite('readme');
const root = fileURLToPath(new URL('..', import.meta.url));

test(
  'the embedding example runs, in about 20 lines',
  async () => {
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const example = /## Embed it\n\n```js\n([\s\S]*?)```/u.exec(readme)?.[1];
    assert.ok(example !== undefined);
    assert.ok(example.trimEnd().split('\n').length <= 24);
    const folder = await mkdtemp(join(tmpdir(), 'enginewright-readme-'));
    try {
      await mkdir(join(folder, 'node_modules'));
      await symlink(root, join(folder, 'node_modules', 'enginewright'), 'dir');
      await writeFile(join(folder, 'example.mjs'), example);
      const { code, stdout, stderr } = await startNode([join(folder, 'example.mjs')]).finished;
      assert.is(code, 0, stderr);
      assert.is(stdout + stderr, '');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  { timeoutMs: 30_000 },
);
