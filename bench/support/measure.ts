// How benches measure. The machine is shared and its clock rate moves, so only ratios within one
// process mean anything: what is compared takes turns, sample by sample, and the medians are
// reported. Each variant runs as often per sample as fills a few ms; garbage is collected between
// samples, so that nobody pays for what another left.
import process from 'node:process';

/** Does its work `count` times. */
export type Work = (count: number) => void | Promise<void>;

/** What is compared in one row. The rival is vscode-jsonrpc, the floor the least anybody could do. */
export interface Comparison {
  readonly ours: Work;
  readonly rival?: Work | undefined;
  readonly floor?: Work | undefined;
}

/** One row of the result, in the unit of its case; `null` where there is nothing to compare. */
export interface Row {
  readonly case: string;
  readonly ours: number;
  readonly rival: number | null;
  readonly floor: number | null;
  /** How many times faster (or smaller) than the rival we are. */
  readonly vsRival: number | null;
  /** How many floors we cost. */
  readonly vsFloor: number | null;
}

export interface MeasureOptions {
  /** Samples per variant. */
  readonly samples: number;
  /** What one sample takes about, ms. */
  readonly sampleMs: number;
  /** A variant is run until it has been compiled, for about this long, ms. */
  readonly warmUpMs: number;
  /** The rival takes seconds: it runs a few times only, and cold. */
  readonly slowRival?: boolean;
}

/** `--quick` on the command line. */
export const quick: boolean = process.argv.includes('--quick');

export const defaults: MeasureOptions = quick
  ? { samples: 9, sampleMs: 8, warmUpMs: 120 }
  : { samples: 25, sampleMs: 25, warmUpMs: 500 };

const SLOW_SAMPLES = quick ? 2 : 3;
const KINDS = ['ours', 'rival', 'floor'] as const;

/** Compares; gives microseconds per piece of work. */
export async function compare(
  name: string,
  work: Comparison,
  { samples, sampleMs, warmUpMs, slowRival = false }: MeasureOptions = defaults,
): Promise<Row> {
  const isCold = (kind: string): boolean => slowRival && kind === 'rival';
  // Once each before anything is timed: another process may still be starting.
  for (const kind of KINDS) if (!isCold(kind)) await work[kind]?.(1);
  const variants = [];
  for (const kind of KINDS) {
    const run = work[kind];
    if (run === undefined) continue;
    variants.push({
      kind,
      run,
      count: isCold(kind) ? 1 : await calibrate(run, { sampleMs, warmUpMs }),
    });
  }
  const times: Record<(typeof KINDS)[number], number[]> = { ours: [], rival: [], floor: [] };
  for (let sample = 0; sample < samples; sample += 1) {
    // Whoever goes first changes, so that a drift of the machine hits all alike.
    const order = [...variants.slice(sample % variants.length), ...variants].slice(
      0,
      variants.length,
    );
    for (const { kind, run, count } of order) {
      if (isCold(kind) && sample >= SLOW_SAMPLES) continue;
      globalThis.gc?.();
      const start = performance.now();
      await run(count);
      times[kind].push(((performance.now() - start) / count) * 1000);
    }
  }
  return row(name, median(times.ours), median(times.rival), median(times.floor));
}

export function row(name: string, ours: number, rival: number, floor: number): Row {
  const ratio = (a: number, b: number): number | null => (a > 0 && b > 0 ? round(a / b) : null);
  return {
    case: name,
    ours: round(ours),
    rival: rival > 0 ? round(rival) : null,
    floor: floor > 0 ? round(floor) : null,
    vsRival: ratio(rival, ours),
    vsFloor: ratio(ours, floor),
  };
}

/** NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Three figures. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}

async function calibrate(
  run: Work,
  { sampleMs, warmUpMs }: Pick<MeasureOptions, 'sampleMs' | 'warmUpMs'>,
): Promise<number> {
  let count = 1;
  const begin = performance.now();
  for (;;) {
    const start = performance.now();
    await run(count);
    const now = performance.now();
    const took = Math.max(now - start, 0.001);
    if (now - begin > warmUpMs) return Math.max(1, Math.round((count * sampleMs) / took));
    count = Math.max(1, Math.min(count * 4, Math.ceil((count * sampleMs) / took)));
  }
}

/** Prints the rows for people, then as one line of JSON. */
export function report(bench: string, unit: (name: string) => string, rows: readonly Row[]): void {
  const cells = (item: Row): string[] => [
    item.case,
    ...[item.ours, item.rival, item.floor].map((value) =>
      value === null ? '-' : `${value} ${unit(item.case)}`,
    ),
    item.vsRival === null ? '-' : `${item.vsRival} x`,
    item.vsFloor === null ? '-' : `${item.vsFloor} floors`,
  ];
  const lines = [['case', 'ours', 'rival', 'floor', 'vs rival', 'vs floor'], ...rows.map(cells)];
  const widths = (lines[0] as string[]).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of lines) {
    const padded = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    process.stdout.write(`${padded.join('  ').trimEnd()}\n`);
  }
  process.stdout.write(`${JSON.stringify({ bench, rows })}\n`);
}
