// Every example in docs/plain-words.md is understood.
import { readFileSync } from 'node:fs';
import { readCommands } from '../../adapters/models/plain-words/commands.ts';
import { judgeStatement } from '../../adapters/models/plain-words/statements.ts';
import { extractValue } from '../../adapters/models/plain-words/wants.ts';
import { readScreen } from '../../core/agent/screen/read.ts';
import { assert, suite } from '../harness.ts';

const PAGE = readFileSync(new URL('../../docs/plain-words.md', import.meta.url), 'utf8');
const SCREEN = readScreen('e1 button "Nothing of it"');
const NOT_READ = /cannot read this/u;

function examples(kind: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 'gsu'))].flatMap((block) =>
    (block[1] ?? '').trim().split('\n'),
  );
}

const test = suite('plain words: documentation');
test('every instruction', () => {
  const lines = examples('act');
  assert.ok(lines.length > 20);
  for (const line of lines) {
    const parsed = readCommands(line);
    assert.ok('commands' in parsed, 'problem' in parsed ? parsed.problem : '');
  }
});
test('every statement', () => {
  const lines = examples('judge');
  assert.ok(lines.length > 10);
  for (const line of lines) assert.not.match(judgeStatement(line, SCREEN).reason, NOT_READ);
});
test('every wanted value', () => {
  const lines = examples('extract');
  assert.ok(lines.length > 2);
  for (const line of lines) {
    assert.not.match(extractValue(line, undefined, SCREEN).reason ?? '', NOT_READ);
  }
});
test.run();
