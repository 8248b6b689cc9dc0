// docs/errors.md and the table of codes say the same: every code once, under its class, with its
// owners and flags, and with words for both columns that only people can write.
import { readFileSync } from 'node:fs';
import { ERROR_CODES, EXIT_CODES, type CodeRow, type ErrorCategory } from '../../core/contract.ts';
import { assert, suite } from '../harness.ts';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

interface DocumentedCode {
  readonly code: string;
  readonly category: string;
  readonly exitCode: number;
  readonly cells: readonly string[];
}

function documented(): readonly DocumentedCode[] {
  const rows: DocumentedCode[] = [];
  let category = '';
  let exitCode = 0;
  for (const line of page.split('\n')) {
    const heading = /^## (\w+) \(exit code (\d+)\)$/u.exec(line);
    if (heading !== null) {
      category = (heading[1] ?? '').toLowerCase();
      exitCode = Number(heading[2]);
    }
    const row = /^\| `([A-Z_]+)` \|(.*)\|$/u.exec(line);
    if (row === null) continue;
    const cells = (row[2] ?? '').split('|').map((cell) => cell.trim());
    rows.push({ code: row[1] ?? '', category, exitCode, cells });
  }
  return rows;
}

function flagsOf(row: CodeRow): string {
  const flags = [
    row.blocked ? ['blocked'] : [],
    row.toModel ? ['to model'] : [],
    row.retryable ? ['retryable'] : [],
  ];
  return flags.flat().join(', ');
}

const test = suite('docs/errors.md');

test('documents every code once, and no other', () => {
  const codes = documented().map(({ code }) => code);
  assert.equal([...codes].sort(), Object.keys(ERROR_CODES).sort());
});

test('gives each code its class, exit code, owners and flags, and words', () => {
  for (const { code, category, exitCode, cells } of documented()) {
    const row = ERROR_CODES[code as keyof typeof ERROR_CODES];
    const [owners, flags, meaning, remedy, ...more] = cells;
    assert.is(category, row.category, code);
    assert.is(exitCode, EXIT_CODES[row.category], code);
    assert.is(owners, row.owners.join(', '), code);
    assert.is(flags, flagsOf(row), code);
    assert.ok((meaning ?? '').length > 10 && (remedy ?? '').length > 10, code);
    assert.equal(more, [], code);
  }
});

test('names every exit code', () => {
  for (const [category, exitCode] of Object.entries(EXIT_CODES) as [ErrorCategory, number][]) {
    assert.ok(page.includes(`\`${category}\` ${exitCode}`), category);
  }
});

test.run();
