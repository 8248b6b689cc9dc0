// Screenshots brought to a long side of 768: decode, shrink, encode. Ours against sharp with its
// defaults (Lanczos-3), sharp with its linear kernel at our zlib level (an average is less
// arithmetic than Lanczos, so the first alone would flatter us), and three that need no native
// code. Each in a process of its own; times are medians of runs taken in turns; memory is the peak
// of three pictures in a row over what the process held before them; PSNR is against
// sharp's Lanczos-3 of exactly the same size (`inside` rounds one side and lets the scale be off by it).
import process from 'node:process';
import { median, quick } from './support/measure.ts';
import { serve, startRunner, type Runner } from './support/pixel-child.ts';
import { INPUTS, prepareInputs, readInput, type Input } from './support/pixel-inputs.ts';
import { LINEAR_LEVEL, LONG_SIDE, SUBJECTS, type Subject } from './support/pixel-subjects.ts';
import { lanczosReference, psnr } from './support/pixel-psnr.ts';

/**
 * A full collection before each timed run. It throws away part of what V8 has learnt and costs us
 * much (twice the time at 1280) and sharp nothing: without it the figures are those of a hot loop,
 * with it nearer to those of a capture now and then. State which one a figure is.
 */
const collect = process.argv.includes('--collect');
const RIVAL: Subject = 'sharp lanczos3';
/** Timed runs, and runs before them. What takes a second a picture, or is no headline, has fewer. */
const MANY = quick ? { warm: 3, timed: 9 } : { warm: 8, timed: 31 };
const SOME = quick ? { warm: 1, timed: 3 } : { warm: 4, timed: 9 };
/** None: their third picture, of those whose memory is measured, has to do. */
const FEW = quick ? { warm: 0, timed: 0 } : { warm: 1, timed: 5 };
/** With `--quick` an input's runs end after this, ms, whatever the machine is busy with. */
const QUICK_MS = 6000;
const RUNS: Readonly<Record<Subject, typeof MANY>> = {
  ours: MANY,
  'ours js': SOME,
  'ours fine': SOME,
  'sharp lanczos3': MANY,
  'sharp linear': MANY,
  'pngjs + pica': FEW,
  jimp: FEW,
  'fast-png + box': FEW,
};

interface Figures {
  readonly subject: Subject;
  readonly ms: number;
  readonly memory: number;
  readonly bytes: number;
  readonly psnr: number;
}

const served = process.argv.indexOf('--serve');
if (served < 0) await main();
else await serve(process.argv.slice(served + 1));

async function main(): Promise<void> {
  const source = await prepareInputs();
  print(
    `Screenshots (${source}) to a long side of ${LONG_SIDE}; sharp linear at level ${LINEAR_LEVEL}; ${collect ? 'a full collection before each run' : 'runs back to back (--collect: a full collection before each)'}.`,
  );
  const rows = [];
  for (const [index, input] of INPUTS.entries()) {
    const figures = await measure(index);
    table(input, figures);
    rows.push(...jsonRows(input, figures));
  }
  print(JSON.stringify({ bench: 'pixels', collect, rows }));
}

async function measure(input: number): Promise<Figures[]> {
  const runners: Runner[] = [];
  try {
    for (const subject of Object.keys(SUBJECTS) as Subject[]) {
      runners.push(await startRunner(subject, input));
    }
    const times = new Map<Subject, number[]>(runners.map(({ subject }) => [subject, []]));
    const end = quick ? performance.now() + QUICK_MS : Number.POSITIVE_INFINITY;
    for (let round = -MANY.warm; round < MANY.timed; round += 1) {
      if (round > 2 && performance.now() > end) break;
      for (const [index] of runners.entries()) {
        // Who goes first changes, so that a drift of the machine hits all alike.
        const runner = runners[(index + round + MANY.warm) % runners.length] as Runner;
        const { warm, timed } = RUNS[runner.subject];
        if (round < -warm || round >= timed) continue;
        const ms = await runner.run(collect);
        if (round >= 0) times.get(runner.subject)?.push(ms);
      }
    }
    const reference = await lanczosReference(readInput(INPUTS[input] as Input), LONG_SIDE);
    const figures: Figures[] = [];
    for (const { subject, memory, firstMs, png } of runners) {
      const all = times.get(subject) ?? [];
      const ms = all.length === 0 ? firstMs : median(all);
      figures.push({
        subject,
        ms,
        memory,
        bytes: png.length,
        psnr: await psnr(png, reference),
      });
    }
    return figures;
  } finally {
    for (const runner of runners) await runner.end();
  }
}

function table({ name, width, height }: Input, figures: readonly Figures[]): void {
  const rival = of(figures, RIVAL);
  const lines = figures.map((one) => [
    one.subject,
    `${one.ms.toFixed(1)} ms`,
    (one.ms / rival.ms).toFixed(2),
    `${one.memory.toFixed(1)} MB`,
    `${(one.bytes / 1024).toFixed(1)} KB`,
    (one.bytes / rival.bytes).toFixed(2),
    Number.isFinite(one.psnr) ? `${one.psnr.toFixed(1)} dB` : 'same',
  ]);
  const head = [
    `${name}: ${width}x${height}`,
    'time',
    'of sharp',
    'memory',
    'size',
    'of sharp',
    'PSNR',
  ];
  const all = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  print('');
  for (const line of all) {
    const cells = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    print(cells.join('  ').trimEnd());
  }
}

/** A row per input for what is the default, and one each for the fine mode and the JS twin. */
function jsonRows({ name }: Input, figures: readonly Figures[]): object[] {
  const rival = of(figures, RIVAL);
  const linear = of(figures, 'sharp linear');
  const cases = [
    ['ours', name],
    ['ours fine', `${name} fine`],
    ['ours js', `${name} js`],
  ] as const;
  return cases.map(([subject, title]) => {
    const one = of(figures, subject);
    return {
      case: title,
      ours: short(one.ms),
      rival: short(rival.ms),
      floor: null,
      vsRival: short(one.ms / rival.ms),
      vsLinear: short(one.ms / linear.ms),
      vsBytes: short(one.bytes / rival.bytes),
      memoryMB: short(one.memory),
      rivalMemoryMB: short(rival.memory),
      psnr: short(one.psnr),
    };
  });
}

function of(figures: readonly Figures[], subject: Subject): Figures {
  return figures.find((one) => one.subject === subject) as Figures;
}

/** Three figures. */
function short(value: number): number {
  return Number(value.toPrecision(3));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
