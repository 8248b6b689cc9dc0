// Two copies of the contract in one process, as when an engine package brings its own: what one
// makes, the other recognises. The second copy is a build of its own, not a second name.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import * as first from '../../core/contract.ts';
import { assert, suite } from '../harness.ts';

const test = suite('two copies');
const folder = mkdtempSync(join(tmpdir(), 'enginewright-copy-'));
let second: typeof first;

test.before(async () => {
  const outfile = join(folder, 'contract.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('../../core/contract.ts', import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  second = (await import(pathToFileURL(outfile).href)) as typeof first;
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

test('recognise what the other made', () => {
  assert.is.not(second.EngineError, first.EngineError);
  const made = [
    [second.isEngineError, new first.EngineError('CANCELLED', 'm')],
    [first.isEngineError, new second.EngineError('CANCELLED', 'm')],
    [first.isRunnerError, new second.TestError('X', 'm')],
    [first.isAgentError, new second.AgentError('INTERNAL', 'm')],
    [second.isSecret, first.createSecret('a')],
    [second.isEngineHandle, first.defineEngine({ name: 'k', version: '1', spiVersion: 1 })],
  ] as const;
  for (const [recognise, value] of made) assert.ok(recognise(value));
  const engine = first.defineEngine({
    name: 'k',
    version: '1',
    spiVersion: 1,
    secrets: [second.createSecret('pw')],
  });
  assert.is(engine.secrets?.length, 1);
  assert.is(first.exitCodeOf(new second.InfrastructureError('X', 'm')), 3);
});

test.run();
