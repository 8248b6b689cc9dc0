// Pins what each door of dist exports, by name, so that the public surface grows and shrinks only on
// purpose: test/fixtures/exports.json is reviewed like code. After a wanted change:
//   npm run build && ENGINEWRIGHT_UPDATE=1 node scripts/test.mjs --no-setup exports
// Also here, as they too are about dist as a user gets it: no packages, no side effects of an import.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert, suite } from './harness.ts';
import { importsOf } from './support/imports.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PINS = fileURLToPath(new URL('./fixtures/exports.json', import.meta.url));
const UPDATE = process.env['ENGINEWRIGHT_UPDATE'] === '1';

interface Manifest {
  readonly exports: Readonly<Record<string, string | { types: string; default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { optional?: boolean }>>;
}

const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as Manifest;
const doors = Object.entries(manifest.exports).flatMap(([door, target]) =>
  typeof target === 'string' ? [] : [{ door, name: door.replace(/^\./, 'enginewright'), target }],
);

const test = suite('exports');

const found: Record<string, readonly string[]> = {};
for (const { door, name, target } of doors) {
  test(`${name} exports what is pinned`, async () => {
    const names = await namesOf(name, target.default);
    found[door] = names;
    if (UPDATE) return;
    const pinned = readPins()[door];
    assert.ok(pinned !== undefined, `${door} is not pinned in test/fixtures/exports.json`);
    assert.equal(
      names,
      pinned,
      `${name}: if this is wanted, refresh the pins (see the file's head)`,
    );
  });

  test(`${name} has declarations`, () => {
    assert.ok(existsSync(ROOT + target.types), `${target.types} is missing: npm run build`);
  });
}

test('the pins name no door that is gone', () => {
  if (UPDATE) {
    writeFileSync(PINS, `${JSON.stringify(found, null, 2)}\n`);
    return;
  }
  assert.equal(
    Object.keys(readPins()).filter((door) => doors.every((known) => known.door !== door)),
    [],
  );
});

test('nothing else can be imported', async () => {
  const hidden = ['enginewright/core/base/json.ts', 'enginewright/dist/index.js'];
  for (const name of hidden) {
    const error = await import(name).then(
      () => undefined,
      (caught: unknown) => caught as { code?: string },
    );
    assert.is(error?.code, 'ERR_PACKAGE_PATH_NOT_EXPORTED', name);
  }
});

test('the package depends on nothing, and each peer is optional', () => {
  assert.equal(manifest.dependencies, {});
  for (const peer of Object.keys(manifest.peerDependencies)) {
    assert.is(manifest.peerDependenciesMeta[peer]?.optional, true, peer);
  }
});

test('dist imports built-ins, itself, and peers only lazily', () => {
  const peers = Object.keys(manifest.peerDependencies);
  for (const file of distFiles('.js')) {
    for (const { specifier, kind, line } of importsOf(readFileSync(file, 'utf8'))) {
      if (specifier.startsWith('node:') || specifier.startsWith('.')) continue;
      const isPeer = peers.some((peer) => specifier === peer || specifier.startsWith(`${peer}/`));
      assert.ok(isPeer && kind === 'lazy', `${file.slice(ROOT.length)}:${line} ${specifier}`);
    }
  }
});

test('declarations show no package but peers', () => {
  const allowed = [...Object.keys(manifest.peerDependencies), 'node:'];
  for (const file of distFiles('.d.ts')) {
    for (const { specifier, line } of importsOf(readFileSync(file, 'utf8'))) {
      if (specifier.startsWith('.')) continue;
      const ok = allowed.some((name) => specifier.startsWith(name));
      assert.ok(ok, `${file.slice(ROOT.length)}:${line} ${specifier}`);
    }
  }
});

test('the command is a program', () => {
  for (const path of Object.values(manifest.bin)) {
    const file = ROOT + path;
    assert.ok(existsSync(file), `${path} is missing: npm run build`);
    assert.match(readFileSync(file, 'utf8'), /^#!\/usr\/bin\/env node\n/);
    if (process.platform !== 'win32') assert.ok((statSync(file).mode & 0o111) !== 0, path);
  }
});

test('importing any door changes nothing and says nothing', () => {
  // In a process of its own: no listener, no global, no output, and it ends by itself.
  const script = `
    const listeners = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
    const globals = () => Reflect.ownKeys(globalThis).map(String).sort();
    const before = JSON.stringify([listeners(), globals()]);
    for (const door of ${JSON.stringify(doors.map(({ name }) => name))}) {
      await import(door);
      const after = JSON.stringify([listeners(), globals()]);
      if (after !== before) throw new Error(door + ': ' + before + ' became ' + after);
    }
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 8000,
  });
  assert.is(output, '');
});
test.run();

async function namesOf(name: string, path: string): Promise<readonly string[]> {
  if (!existsSync(ROOT + path)) throw new Error(`${name}: ${path} is missing: npm run build`);
  return Object.keys((await import(name)) as object).sort();
}

function readPins(): Readonly<Record<string, readonly string[]>> {
  return existsSync(PINS) ? JSON.parse(readFileSync(PINS, 'utf8')) : {};
}

function distFiles(ending: string): readonly string[] {
  return readdirSync(`${ROOT}dist`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${ROOT}dist/${name}`);
}
