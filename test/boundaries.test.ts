// Holds the sources against the import table of the design (test/support/boundaries.ts), and the
// table and its import reader against made-up sources: a rule that never fires protects nothing.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert, suite } from './harness.ts';
import { TABLE, violations } from './support/boundaries.ts';
import { importsOf } from './support/imports.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const boundaries = suite('boundaries');

boundaries('the sources keep the table', () => {
  const sources = readSources();
  assert.ok(sources.size > 0, 'there are sources');
  assert.is(violations(sources).join('\n'), '');
});

/** One breach of each rule: the importing file, its text, and what the finding has to say. */
const BREACHES: readonly (readonly [file: string, text: string, says: RegExp])[] = [
  ['core/base/a.ts', "import { x } from '../contract/codes.ts';", /core\/base may not/],
  ['core/base/a.ts', "import type { x } from '../contract/codes.ts';", /core\/base may not/],
  ['core/contract.ts', "export * from './agent/index.ts';", /contract\.ts may not/],
  ['core/contract/a.ts', "import { x } from '../agent/model.ts';", /contract\/\* may not/],
  ['core/contract/a.ts', "import { x } from '../contract.ts';", /contract\/\* may not/],
  ['core/protocol/framing.ts', "import { x } from './messages.ts';", /framing may not/],
  ['core/protocol/messages.ts', "import { x } from './framing.ts';", /messages may not/],
  ['core/protocol/peer.ts', "import { x } from './methods.ts';", /peer may not/],
  ['core/protocol/methods.ts', "import { x } from './client/a.ts';", /rest of core\/protocol may/],
  ['core/protocol/methods.ts', "import { x } from '../agent/model.ts';", /rest of core\/protocol/],
  ['core/protocol/client/a.ts', "import { x } from '../server/a.ts';", /client\/\* may not/],
  ['core/protocol/server/a.ts', "import { x } from '../client/a.ts';", /server\/\* may not/],
  ['core/protocol/loopback.ts', "import { x } from './transports/spawn.ts';", /loopback\.ts may/],
  ['core/protocol/transports/a.ts', "import { x } from '../peer.ts';", /transports\/\* may not/],
  ['core/protocol/index.ts', "import { x } from '../agent/index.ts';", /index\.ts may not/],
  ['core/pixels/a.ts', "import { x } from '../contract.ts';", /pixels\/\* may not/],
  ['core/agent/a.ts', "import { x } from '../protocol/index.ts';", /agent\/\* may not/],
  ['core/agent/a.ts', "import { x } from '../host/index.ts';", /agent\/\* may not/],
  ['core/host/a.ts', "import { x } from '../protocol/index.ts';", /host\/\* may not/],
  ['core/host/a.ts', "import { x } from '../../adapters/registry.ts';", /host\/\* may not/],
  ['core/host/a.ts', "const x = await import('../../cli/main.ts');", /host\/\* may not/],
  ['core/agent/a.ts', "import { x } from 'valibot';", /no npm package/],
  ['core/agent/a.ts', "import type { x } from 'zod';", /no npm package/],
  [
    'adapters/engines/document/page.ts',
    "import { x } from '../../../core/contract.ts';",
    /document\/\* may import that as types only/,
  ],
  ['adapters/engines/document/page.ts', "import { x } from 'node:fs';", /no built-ins/],
  ['adapters/engines/kiosk/a.ts', "import { x } from '../../../core/agent/index.ts';", /may not/],
  [
    'adapters/engines/kiosk/a.ts',
    "import { x } from '../../../core/contract/codes.ts';",
    /may not/,
  ],
  ['adapters/engines/kiosk/a.ts', "import { x } from '../playwright/index.ts';", /engines\/\* may/],
  ['adapters/engines/playwright/a.ts', "import { x } from 'playwright-core';", /no static import/],
  [
    'adapters/models/openai-chat.ts',
    "import { x } from '../../core/agent/index.ts';",
    /models\/\*/,
  ],
  ['adapters/models/openai-chat.ts', "import { x } from './plain-words.ts';", /models\/\* may not/],
  ['adapters/models/plain-words.ts', "import { x } from './http.ts';", /plain-words may not/],
  ['adapters/registry.ts', "import { x } from './models/openai-chat.ts';", /lazily only/],
  ['testing/a.ts', "import { x } from '../core/host/index.ts';", /testing\/ may not/],
  ['testing/a.ts', "import { x } from 'uvu';", /no npm package/],
  ['cli/a.ts', "import { x } from '../core/agent/model.ts';", /cli\/ may not/],
  ['cli/a.ts', "import { x } from 'valibot';", /no npm package/],
  ['cli/demo.ts', "import { x } from '../core/agent/model.ts';", /cli\/demo may not/],
  ['cli/demo.ts', "import { x } from 'playwright-core';", /but what the build bundles/],
  ['index.ts', "export { x } from './core/host/session.ts';", /index\.ts may not/],
  ['core/agent/a.ts', "import { x } from './b.js';", /with its \.ts/],
  ['core/new/a.ts', 'export {};', /no row/],
];

for (const [file, text, says] of BREACHES) {
  boundaries(`finds ${file}: ${text}`, () => {
    const found = violations(new Map([[file, `// Head.\n${text}\n`]]));
    assert.is(found.length, 1, found.join('\n'));
    assert.match(found[0] ?? '', says);
    assert.ok(found[0]?.startsWith(file), 'the file is named first');
  });
}

boundaries('each row has a breach', () => {
  for (const row of TABLE) {
    const tested = BREACHES.some(([file]) => TABLE.find(({ files }) => files.test(file)) === row);
    assert.ok(tested, row.module);
  }
});

boundaries('finds circles, in the contract also of types', () => {
  const circle = (folder: string, keyword: string): readonly string[] =>
    violations(
      new Map([
        [`${folder}/a.ts`, `${keyword} { b } from './b.ts';`],
        [`${folder}/b.ts`, `${keyword} { a } from './a.ts';`],
      ]),
    );
  assert.equal(circle('core/agent', 'import'), [
    'imports in a circle: core/agent/a.ts -> core/agent/b.ts -> core/agent/a.ts',
  ]);
  assert.is(circle('core/contract', 'import type').length, 1);
  assert.is(circle('core/agent', 'import type').length, 0);
});

boundaries('lets pass what the table allows', () => {
  const allowed: readonly (readonly [string, string])[] = [
    ['core/agent/a.ts', "import { x } from '../contract/codes.ts';"],
    ['core/host/a.ts', "import { readFile } from 'node:fs/promises';"],
    ['core/protocol/client/a.ts', "import type { x } from '../transports/types.ts';"],
    ['core/protocol/loopback.ts', "import { x } from './server/a.ts';"],
    ['adapters/engines/kiosk/index.ts', "import { x } from './shop/list.ts';"],
    ['adapters/engines/playwright/index.ts', "import page from '../document/page.ts?inline';"],
    ['adapters/engines/playwright/index.ts', "import type { Page } from 'playwright-core';"],
    ['adapters/engines/playwright/index.ts', "const x = await import('playwright-core');"],
    ['adapters/models/openai-chat.ts', "import * as v from 'valibot';"],
    ['adapters/registry.ts', "const x = () => import('./engines/kiosk/index.ts');"],
    ['cli/a.ts', "import { x } from '../core/base/nearest.ts';"],
    ['cli/demo.ts', "import * as v from 'valibot';"],
    ['adapters/models/http.ts', "import { x } from './retry.ts';"],
    ['index.ts', "export { x } from './core/host/index.ts';"],
  ];
  for (const [file, text] of allowed) {
    assert.is(violations(new Map([[file, text]])).join('\n'), '', text);
  }
});
boundaries.run();

const reader = suite('import reader');

reader('reads every form', () => {
  const source = [
    "import 'a';",
    "import b from 'b';",
    "import * as c from 'c';",
    'import {',
    '  d1, // a remark',
    '  type d2,',
    "} from 'd';",
    "import type { e } from 'e';",
    "import { type f1, type f2 } from 'f';",
    "import type from 'g';",
    "import type, { h } from 'h';",
    "export * from 'i';",
    "export type { j } from 'j';",
    "export { k } from './k.ts?inline';",
    "export * as l from 'l';",
    "const m = await import('m');",
    "type N = typeof import('n');",
    "type O = import('o').O;",
    "import('p').then((p) => p);",
    "import q from './q.json' with { type: 'json' };",
  ].join('\n');
  const found = importsOf(source).map(({ specifier, kind }) => `${specifier} ${kind}`);
  assert.equal(found, [
    'a value',
    'b value',
    'c value',
    'd value',
    'e type',
    'f type',
    'g value',
    'h value',
    'i value',
    'j type',
    './k.ts value',
    'l value',
    'm lazy',
    'n type',
    'o type',
    'p lazy',
    './q.json value',
  ]);
});

reader('passes over what only looks like one', () => {
  const source = [
    "// import 'a';",
    "/* import 'b'; */",
    "/**\n * import c from 'c';\n */",
    "const d = `\nimport d from 'd';\n${`import 'e';`} ${{ f: '}' }.f}\nimport 'f';`;",
    'const g = "import \'g\';";',
    "export const h = 'h';",
    'const i = /[/"`]import/.test(x) ? 1 : 2;',
    "const j = a / b; const text = 'not from'; /* ' */",
    "export function k() { return 'k'; }",
    "import { real } from 'real';",
  ].join('\n');
  assert.equal(importsOf(source), [{ specifier: 'real', kind: 'value', line: 15 }]);
});
reader.run();

function readSources(): ReadonlyMap<string, string> {
  const files = ['index.ts', 'core', 'adapters', 'testing', 'cli'].flatMap((name) => {
    if (!existsSync(ROOT + name)) return [];
    if (name.endsWith('.ts')) return [name];
    return readdirSync(ROOT + name, { recursive: true, encoding: 'utf8' })
      .map((part) => `${name}/${part.replaceAll('\\', '/')}`)
      .filter((file) => file.endsWith('.ts'));
  });
  return new Map(files.sort().map((file) => [file, readFileSync(ROOT + file, 'utf8')]));
}
