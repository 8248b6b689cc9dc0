// The WebAssembly of the pixels, compiled from core/pixels/kernels/ to a committed source file, so that
// neither a build nor a user needs the compiler.
//
//   node scripts/kernels.mjs            writes it
//   node scripts/kernels.mjs --check    fails when it is not what the compiler makes
//
// The compiler gets the text under a fixed name and writes no names: the same bytes on every machine.
// Its exact version is in the file's head, so that a new one says why the bytes are new.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import asc from 'assemblyscript/asc';
import { ROOT } from './paths.mjs';

const SOURCE = 'core/pixels/kernels/rows.as';
const FILE = 'core/pixels/kernels-wasm.ts';
const FLAGS = [
  '-O3',
  '--noAssert',
  '--runtime',
  'stub',
  '--enable',
  'simd',
  '--use',
  'abort=',
  '--importMemory',
  '--initialMemory',
  '1',
];
/** What they may add to the package, as they stand in it. */
const MOST_BYTES = 4096;

const source = readFileSync(join(ROOT, SOURCE), 'utf8').replaceAll('\r\n', '\n');
const wasm = await compile(source);
const base64 = Buffer.from(wasm).toString('base64');
if (base64.length > MOST_BYTES) {
  process.stderr.write(`${SOURCE}: ${base64.length} bytes as base64, at most ${MOST_BYTES}\n`);
  process.exit(1);
}
const lines = base64.match(/.{1,88}/g) ?? [];
const text = `// Generated from ${SOURCE} by \`node scripts/kernels.mjs\` with assemblyscript ${asc.version}:
// ${wasm.length} bytes of WebAssembly, base64. Do not edit.
export const KERNELS_WASM: string = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('');
`;
const path = join(ROOT, FILE);
const current = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
if (process.argv.includes('--check')) {
  if (current !== text) {
    process.stderr.write(`${FILE} is not what ${SOURCE} says: node scripts/kernels.mjs\n`);
    process.exitCode = 1;
  }
} else if (current !== text) {
  writeFileSync(path, text);
  process.stderr.write(`${FILE} written: ${wasm.length} bytes\n`);
}

async function compile(code) {
  let binary;
  const stderr = asc.createMemoryStream();
  const { error } = await asc.main(['mod.ts', '--outFile', 'mod.wasm', ...FLAGS], {
    readFile: (name) => (name === 'mod.ts' ? code : null),
    writeFile(name, contents) {
      if (name === 'mod.wasm') binary = contents;
    },
    listFiles: () => [],
    stderr,
  });
  if (error === null && binary !== undefined) return binary;
  throw new Error(`${SOURCE} does not compile.\n${stderr.toString()}`, { cause: error });
}
