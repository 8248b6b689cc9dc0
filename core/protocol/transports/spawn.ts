// Starts the server as a child process per connection, and speaks over its stdin and stdout. Its
// stderr is its log: the tail is kept, and told when the connection fails. The end of its output is
// passed on only when its exit is known too, so that whoever sees the connection end can say why.
// Never through a shell: arguments are arguments. Should this process die, stdin ends for the child.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { Readable } from 'node:stream';
import { systemClock } from '../../base/clock.ts';
import { sanitizeLine } from '../../base/text.ts';
import { checkOptionNames, errnoOf, transportError } from './options.ts';
import { childEnvironment } from './spawn-environment.ts';
import type { EngineTransport, TransportConnection, TransportContext } from './types.ts';

export interface SpawnTransportOptions {
  /** The program: a path, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * Added to what the child inherits: the environment of this process when the connection opens,
   * without `E2E_SECRET_*`, `E2E_USER_*` and model keys (such as `*_API_KEY`), then the run's `env`.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory; default the project root. */
  readonly cwd?: string;
}

const OPTION_NAMES = ['command', 'args', 'env', 'cwd'];
/** Kept of stderr, bytes; and of it shown, lines. */
const STDERR_BYTES = 4096;
const STDERR_LINES = 20;
/** What terminals take for colours. */
// oxlint-disable-next-line no-control-regex -- it begins with a control character
const COLOUR = /\u001b\[[\d;]*[A-Za-z]/gu;
/** How long the end of stdout waits for exit and stderr, ms: a grandchild may hold the pipe. */
const EXIT_GRACE_MS = 500;
/** How long a server may take to end by itself once its stdin ended, ms. */
const STDIN_GRACE_MS = 1000;
/** How long the system may take to report a killed process, ms. */
const KILL_GRACE_MS = 1000;

/**
 * Starts a server per connection. Throws a TypeError on malformed options; opening rejects with an
 * error that names the command, with the `code` of the system's error.
 */
export function spawnTransport(options: SpawnTransportOptions): EngineTransport {
  checkOptionNames('spawnTransport', options, OPTION_NAMES);
  const { command, args = [] } = options;
  if (typeof command !== 'string' || command === '') {
    throw new TypeError('spawnTransport: command must be the path or the name of a program.');
  }
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === 'string')) {
    throw new TypeError('spawnTransport: args must be strings.');
  }
  const label = [command, ...args].map((part) =>
    /[\s"]/u.test(part) ? JSON.stringify(part) : part,
  );
  return {
    label: sanitizeLine(label.join(' '), 200),
    open: (context) => openChild(options, context),
  };
}

async function openChild(
  options: SpawnTransportOptions,
  context: TransportContext,
): Promise<TransportConnection> {
  context.signal.throwIfAborted();
  const cwd = options.cwd ?? context.cwd;
  const child = startChild(options, cwd, context);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(startError(options.command, cwd, error));
    });
  });
  const connection = new ChildConnection(child, options.command);
  if (context.signal.aborted) {
    await connection.close(0);
    context.signal.throwIfAborted();
  }
  return connection;
}

function startChild(
  { command, args = [], env = {} }: SpawnTransportOptions,
  cwd: string,
  context: TransportContext,
): ChildProcessWithoutNullStreams {
  try {
    return spawn(command, args, {
      cwd,
      env: childEnvironment({ inherited: process.env, run: context.env, own: env }),
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      windowsHide: true,
    });
  } catch (error) {
    throw startError(command, cwd, error);
  }
}

function startError(command: string, cwd: string, error: unknown): Error {
  const code = errnoOf(error);
  const subject = `Engine server ${JSON.stringify(command)} could not be started`;
  if (code === 'ENOENT') {
    // The system says the same for both.
    const remedy = existsSync(cwd)
      ? 'there is no such program: check command, and PATH'
      : `its working directory ${JSON.stringify(cwd)} does not exist: check cwd`;
    return transportError(`${subject}: ${remedy} (ENOENT).`, error);
  }
  if (code === 'EACCES') {
    return transportError(
      `${subject}: it is not executable (EACCES): check its permissions.`,
      error,
    );
  }
  return transportError(
    `${subject}: ${error instanceof Error ? error.message : String(error)}`,
    error,
  );
}

class ChildConnection implements TransportConnection {
  readonly input: Readable;
  readonly output: TransportConnection['output'];
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #command: string;
  readonly #exited: Promise<void>;
  #stderr: Buffer = Buffer.alloc(0);
  #closing: Promise<void> | undefined;
  #killed = false;

  constructor(child: ChildProcessWithoutNullStreams, command: string) {
    this.#child = child;
    this.#command = command;
    this.output = child.stdin;
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => {
        resolve();
      });
    });
    // The peer hears of these too; here they must not bring the process down before there is one.
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.on('error', () => undefined);
    }
    // After the start, `error` says that a signal could not be sent.
    child.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => {
      const all = Buffer.concat([this.#stderr, chunk]);
      this.#stderr = all.subarray(Math.max(0, all.length - STDERR_BYTES));
    });
    const stderrEnded = new Promise<void>((resolve) => {
      child.stderr.once('close', () => {
        resolve();
      });
    });
    this.input = childOutput(child.stdout, () =>
      within(EXIT_GRACE_MS, Promise.all([this.#exited, stderrEnded])),
    );
  }

  close(timeoutMs: number): Promise<void> {
    this.#closing ??= this.#close(Math.max(0, timeoutMs));
    return this.#closing;
  }

  diagnostics(): string {
    const { exitCode, signalCode, pid } = this.#child;
    const name = JSON.stringify(this.#command);
    let state = `engine server ${name} is running (pid ${pid})`;
    if (exitCode !== null) state = `engine server ${name} exited with code ${exitCode}`;
    else if (signalCode !== null) {
      const whose = this.#killed ? ', sent by the client' : '';
      state = `engine server ${name} was ended by ${signalCode}${whose}`;
    }
    const lines = this.#stderr
      .toString('utf8')
      .split(/\r?\n/u)
      .map((line) => sanitizeLine(line.replace(COLOUR, ''), STDERR_BYTES))
      .filter((line) => line !== '')
      .slice(-STDERR_LINES);
    return lines.length === 0
      ? `${state}, without a word on stderr`
      : `${state}; its last lines on stderr:\n${lines.join('\n')}`;
  }

  async #close(timeoutMs: number): Promise<void> {
    const child = this.#child;
    const start = systemClock.now();
    const left = (): number => Math.max(0, timeoutMs - (systemClock.now() - start));
    child.stdin.end();
    // A child that still writes must not be stopped from ending by a full pipe.
    if (this.input.listenerCount('data') === 0) this.input.resume();
    await within(Math.min(STDIN_GRACE_MS, timeoutMs / 3), this.#exited);
    if (!this.#hasExited() && timeoutMs > 0) {
      this.#kill('SIGTERM');
      await within(left(), this.#exited);
    }
    if (!this.#hasExited()) {
      this.#kill('SIGKILL');
      await within(KILL_GRACE_MS, this.#exited);
    }
    // Grandchildren may hold the pipes, and a process that cannot be killed itself: let go of both.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.input.destroy();
    child.unref();
  }

  #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #kill(signal: NodeJS.Signals): void {
    this.#killed = true;
    this.#child.kill(signal);
  }
}

/** The child's stdout; its end waits for `settled`. */
function childOutput(stdout: Readable, settled: () => Promise<void>): Readable {
  const output = new Readable({
    read() {
      stdout.resume();
    },
  });
  stdout.pause();
  stdout.on('data', (chunk: Buffer) => {
    if (!output.push(chunk)) stdout.pause();
  });
  stdout.once('close', () => {
    void settled().then(() => {
      if (!output.destroyed) output.push(null);
    });
  });
  return output;
}

/** Waits for `work`, but no longer than `ms`; leaves no timer behind. */
function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = systemClock.setTimer(ms, resolve);
    void work.then(() => {
      cancel();
      resolve();
    });
  });
}
