// What a model reads, held as files: `golden/NAME.json` goes in, `golden/NAME.txt` must come out.
// UPDATE_GOLDEN=1 writes the text files anew, for a person to read and judge; never with CI set.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, suite } from '../harness.ts';
import type { EngineSnapshot } from '../../core/contract/observation.ts';
import { renderChanges } from '../../core/agent/screen/changes.ts';
import { createShortIds } from '../../core/agent/screen/ids.ts';
import { applyChanges, readScreen } from '../../core/agent/screen/read.ts';
import { renderScreen, type ScreenView } from '../../core/agent/screen/render.ts';
import { utf8Length } from '../../core/base/text.ts';

const FOLDER = 'test/agent/golden';
const UPDATE = process.env.UPDATE_GOLDEN === '1' && process.env.CI === undefined;

interface ScreenCase {
  readonly view: ScreenView;
  readonly maxBytes: number;
  readonly snapshot: EngineSnapshot;
}
interface ChangeCase {
  readonly maxBytes: number;
  readonly before: EngineSnapshot;
  readonly after: EngineSnapshot;
}

function compareGolden(name: string, text: string): void {
  const file = join(FOLDER, `${name}.txt`);
  if (UPDATE) writeFileSync(file, `${text}\n`);
  assert.is(`${text}\n`, readFileSync(file, 'utf8'));
}

const test = suite('golden screens');
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length))
  .sort();

for (const name of names) {
  const data: unknown = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
  if (name.startsWith('change-')) {
    test(name, () => {
      changeTest(name, data as ChangeCase);
    });
  } else {
    test(name, () => {
      screenTest(name, data as ScreenCase);
    });
  }
}

function screenTest(name: string, { view, maxBytes, snapshot }: ScreenCase): void {
  const ids = createShortIds();
  const screen = renderScreen(snapshot, { ids, view, maxBytes });
  compareGolden(name, screen.text);
  assert.is(screen.bytes, utf8Length(screen.text));
  assert.ok(screen.bytes <= maxBytes, `${screen.bytes} bytes`);
  const reading = readScreen(screen.text);
  assert.equal(reading.unreadable, []);
  assert.equal(new Set(reading.lines.map((line) => ids.engine(line.id))), screen.shown);
  assert.is(reading.omitted.nodes, screen.omitted.nodes);
}

function changeTest(name: string, { maxBytes, before, after }: ChangeCase): void {
  const ids = createShortIds();
  const first = renderScreen(before, { ids, view: 'first-look', maxBytes });
  const report = renderChanges({ before, after, shown: first.shown, ids, maxBytes });
  compareGolden(name, `${report.kind}\n${report.text}`);
  assert.is(report.bytes, utf8Length(report.text));
  if (report.kind !== 'changes') return;
  const reading = applyChanges(readScreen(first.text), report.text);
  assert.equal(reading.unreadable, []);
  assert.equal(new Set(reading.lines.map((line) => ids.engine(line.id))), report.shown);
}

test.run();
