// A process for one subject and one input: it measures the memory of its first pictures, and then
// runs once whenever it is asked. Asking in turns is what makes the times of several comparable;
// a process of its own is what makes its memory its own.
import { Buffer } from 'node:buffer';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { INPUTS, readInput } from './pixel-inputs.ts';
import { SUBJECTS, type Subject } from './pixel-subjects.ts';

/** A session takes many: what one leaves for the collector is still there with the next. */
const PICTURES = 3;

/** What the first pictures took. */
interface First {
  /** Memory at the peak over what the process held before, MB. */
  readonly memory: number;
  /** Time of the last of them. */
  readonly ms: number;
  /** The result, base64. */
  readonly png: string;
}

export interface Runner {
  readonly subject: Subject;
  readonly memory: number;
  readonly firstMs: number;
  readonly png: Uint8Array;
  /** Runs once, after a full collection if `collect`; gives ms. */
  run(collect: boolean): Promise<number>;
  end(): Promise<void>;
}

/** Starts a subject on an input, given by its index. */
export async function startRunner(subject: Subject, input: number): Promise<Runner> {
  const child = fork(process.argv[1] as string, ['--serve', subject, String(input)], {
    execArgv: ['--expose-gc'],
  });
  const first = (await answer(child)) as First;
  return {
    subject,
    memory: first.memory,
    firstMs: first.ms,
    png: Uint8Array.from(Buffer.from(first.png, 'base64')),
    async run(collect) {
      child.send({ collect });
      return (await answer(child)) as number;
    },
    async end() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

async function answer(child: ChildProcess): Promise<unknown> {
  const abort = new AbortController();
  const lost = once(child, 'exit', { signal: abort.signal }).then(([code]) => {
    throw new Error(`A process of the bench ended with ${code}.`);
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', abort), lost])) as [unknown];
    return message;
  } finally {
    abort.abort();
    lost.catch(() => undefined);
  }
}

/** The other side: what follows `--serve`. */
export async function serve([subject, input]: readonly string[]): Promise<void> {
  const shrink = await SUBJECTS[subject as Subject]();
  const picked = INPUTS[Number(input)];
  if (picked === undefined) throw new Error(`There is no input ${input}.`);
  const png = readInput(picked);
  globalThis.gc?.();
  const before = resetPeak();
  for (let more = 1; more < PICTURES; more += 1) await shrink(png);
  const start = performance.now();
  const result = await shrink(png);
  const ms = performance.now() - start;
  const memory = (peak() - before) / 2 ** 20;
  process.on('message', (message) => {
    void (async () => {
      if ((message as { readonly collect: boolean }).collect) globalThis.gc?.();
      const begin = performance.now();
      await shrink(png);
      process.send?.(performance.now() - begin);
    })();
  });
  process.send?.({ memory, ms, png: Buffer.from(result).toString('base64') } satisfies First);
}

/** Sets the peak back to what is held now, where the system can; gives what is held, bytes. */
function resetPeak(): number {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
    return process.memoryUsage.rss();
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}

function peak(): number {
  try {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    if (kib !== undefined) return Number(kib) * 1024;
  } catch {
    // Not Linux: the peak of the whole life will do.
  }
  return process.resourceUsage().maxRSS * 1024;
}
