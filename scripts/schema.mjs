// The JSON Schemas under schema/, made from the sources that the product checks with.
//
//   node scripts/schema.mjs            writes them
//   node scripts/schema.mjs --check    fails when one is not what the sources say
//
// esbuild bundles the generator in memory, because Node 20 strips no types.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './paths.mjs';

/** Where each schema goes, and the function that makes it. */
const SCHEMAS = [
  {
    file: 'schema/engine-manifest-v1.schema.json',
    source: 'core/protocol/manifest-schema.ts',
    make: 'manifestSchema',
  },
  {
    file: 'schema/engine-messages-v1.schema.json',
    source: 'core/protocol/messages-schema.ts',
    make: 'messagesSchema',
  },
  {
    file: 'schema/host-events-v1.schema.json',
    source: 'core/host/events-schema.ts',
    make: 'hostEventsSchema',
  },
];

/** A line for each member and each definition: short enough to ship, and a change shows where it is. */
function print(schema) {
  const lines = Object.entries(schema).map(([key, value]) => {
    if (key !== '$defs') return `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`;
    const definitions = Object.entries(value).map(
      ([name, definition]) => `    ${JSON.stringify(name)}: ${JSON.stringify(definition)}`,
    );
    return `  "$defs": {\n${definitions.join(',\n')}\n  }`;
  });
  return `{\n${lines.join(',\n')}\n}\n`;
}

const check = process.argv.includes('--check');
let stale = 0;
for (const { file, source, make } of SCHEMAS) {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, source)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
  });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  const module = await import(`data:text/javascript;base64,${code}`);
  const text = print(module[make]());
  const path = join(ROOT, file);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  if (check) {
    process.stderr.write(`${file} is not what ${source} says: node scripts/schema.mjs\n`);
    stale += 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    process.stderr.write(`${file} written\n`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
