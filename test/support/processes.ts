// Child processes of the tests: the built command line, and waiting for what a process prints or
// for its end. Every process started here is ended here, by its own id.
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has printed so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Resolves with the match as soon as stdout holds it; rejects when the process ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  readonly finished: Promise<Finished>;
  kill(signal?: NodeJS.Signals): Promise<Finished>;
}

/** Starts `node args...`. */
export function startNode(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
): RunningProcess {
  const child = spawn(process.execPath, [...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', ...options.env },
  });
  const output = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
    for (const watch of watchers) watch();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  child.stdin.on('error', () => undefined);
  if (options.stdin !== undefined) child.stdin.end(options.stdin);
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({ code, signal, ...output });
      for (const watch of watchers) watch();
    });
  });
  finished.catch(() => undefined);
  return {
    child,
    pid: child.pid ?? -1,
    output,
    finished,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          const match = pattern.exec(output.stdout);
          if (match !== null) {
            watchers.delete(watch);
            resolve(match);
          } else if (child.exitCode !== null || child.signalCode !== null) {
            watchers.delete(watch);
            reject(new Error(`ended without printing ${String(pattern)}: ${output.stderr}`));
          }
        };
        watchers.add(watch);
        watch();
      }),
    kill: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return finished;
    },
  };
}

/** Runs the built command line to its end. */
export async function runCli(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Finished> {
  return startNode([CLI, ...args], { ...options, stdin: '' }).finished;
}

/** Whether a process with this id is alive (and no zombie of ours). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
