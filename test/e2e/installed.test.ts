// The package as somebody installs it: packed, unpacked into an empty project with nothing beside
// it, and used. Catches what the repository hides: a file left out of the package, a peer that is
// taken for granted, an import that works only from here.
import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { assert, suite } from '../harness.ts';
import { startNode, type Finished } from '../support/processes.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const test = suite('the installed package');

let project = '';
let installed = '';

test.before(async () => {
  project = await mkdtemp(join(tmpdir(), 'enginewright-installed-'));
  installed = join(project, 'node_modules', 'enginewright');
  await mkdir(join(project, 'node_modules'));
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', project];
  await run('npm', pack, { cwd: root });
  const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz'));
  assert.ok(tarball !== undefined);
  await run('tar', ['xzf', tarball], { cwd: project });
  await rename(join(project, 'package'), installed);
});
test.after(() => rm(project, { recursive: true, force: true }));

async function script(source: string): Promise<Finished> {
  const file = join(project, 'script.mjs');
  await writeFile(file, source);
  return startNode([file]).finished;
}
const cli = (...args: string[]): Promise<Finished> =>
  startNode([join(installed, 'dist', 'cli', 'main.js'), ...args], { stdin: '' }).finished;

test('every door opens without anything beside the package', async () => {
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>;
    dependencies: Record<string, string>;
  };
  assert.equal(manifest.dependencies, {});
  const doors = Object.keys(manifest.exports).filter(
    (door) => !door.includes('*') && !door.endsWith('.json'),
  );
  assert.ok(doors.length >= 12);
  const imports = doors.map((door) => `await import('enginewright${door.slice(1)}');`);
  const { code, stdout, stderr } = await script(imports.join('\n'));
  assert.is(code, 0, stderr);
  assert.is(stdout + stderr, '');
});

test('the schemas are there', async () => {
  const { code, stdout, stderr } = await script(
    `import { readFileSync } from 'node:fs';
     import { createRequire } from 'node:module';
     const path = createRequire(import.meta.url).resolve('enginewright/schema/engine-manifest-v1.schema.json');
     console.log(JSON.parse(readFileSync(path, 'utf8')).type);`,
  );
  assert.is(code, 0, stderr);
  assert.is(stdout, 'object\n');
});

test(
  'the demo runs from it',
  async () => {
    const { code, stdout, stderr } = await cli('demo');
    assert.is(code, 0, stderr);
    assert.match(stdout, /As expected: 6 steps/u);
  },
  { timeoutMs: 60_000 },
);

test('a missing peer is one sentence with the install command', async () => {
  for (const args of [
    ['serve', 'playwright'],
    ['demo', '--engine', 'playwright'],
  ]) {
    const { code, stderr } = await cli(...args);
    assert.is(code, 2, stderr);
    assert.match(stderr, /npm install .*playwright-core/u);
    assert.ok(stderr.trimEnd().split('\n').length <= 3, stderr);
  }
});

test('a peer of a wrong version is named with the one that works', async () => {
  const peer = join(project, 'node_modules', 'playwright-core');
  await mkdir(peer);
  try {
    await writeFile(
      join(peer, 'package.json'),
      JSON.stringify({
        name: 'playwright-core',
        version: '0.9.0',
        type: 'module',
        exports: './i.js',
      }),
    );
    await writeFile(join(peer, 'i.js'), 'export default {};\n');
    const { code, stderr } = await cli('serve', 'playwright');
    assert.is(code, 2, stderr);
    assert.match(stderr, /playwright-core/u);
    assert.match(stderr, /npm install/u);
  } finally {
    await rm(peer, { recursive: true });
  }
});
