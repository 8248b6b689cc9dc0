// One raw connection to the server under check. It writes what a rule tells it to, well-formed or
// not, pairs answers with ids by itself, keeps the last of what went over the wire for the report,
// and never waits without a limit. What is wrong in general goes to `onOffence`.
import { setMaxListeners } from 'node:events';
import { createDeadline, isPlainObject, race, sleep, systemClock } from '../../core/contract.ts';
import type { EngineTransport, TransportConnection } from '../../core/protocol/index.ts';
import {
  describe,
  describesResult,
  errorOffences,
  findNull,
  messageProblem,
  type Answer,
  type Json,
  type Offence,
  type RpcFault,
} from './inspect.ts';
import { createPacketReader, packet } from './packets.ts';
import { CheckFailure, type CheckLimits } from './types.ts';

export interface WireOptions {
  readonly transport: EngineTransport;
  readonly role: 'run' | 'worker';
  /** Directory a spawned server starts in. */
  readonly cwd: string;
  readonly limits: CheckLimits;
  readonly signal: AbortSignal;
  readonly onOffence: (offence: Offence, wire: Wire) => void;
}

/** Lines of the exchange that are kept, and how much of each. */
const KEPT_LINES = 24;
const KEPT_UNITS = 400;
const CLOSE_MS = 5000;

interface Pending {
  readonly method: string;
  readonly resolve: (answer: Answer) => void;
}

export class Wire {
  /** Requests and notifications of the server, in order of arrival. */
  readonly messages: Json[] = [];
  /** Errors with id null that nobody has taken yet. */
  readonly nameless: RpcFault[] = [];
  /** Attempts whose end was answered: nothing may be reported for them any more. */
  readonly endedAttempts = new Set<string>();
  /** `initialize` was answered and `shutdown` was not sent: a goodbye is due. */
  active = false;
  /** The rule sends rubbish: errors that answer nothing in particular are in order. */
  lenient = false;
  /** An answer did not come in time: the server may be stuck, so nobody says goodbye. */
  overdue = false;
  readonly #connection: TransportConnection;
  readonly #options: WireOptions;
  readonly #reader = createPacketReader();
  readonly #pending = new Map<string, Pending>();
  readonly #answered = new Set<string>();
  readonly #exchange: string[] = [];
  readonly #over = new AbortController();
  #wake: () => void = () => undefined;
  #next = 1;

  private constructor(connection: TransportConnection, options: WireOptions) {
    this.#connection = connection;
    this.#options = options;
    // Every call in flight listens to the end of the connection.
    setMaxListeners(0, this.#over.signal);
    const { input, output } = connection;
    input.on('data', (chunk: Buffer) => {
      this.#take(this.#reader.feed(chunk));
    });
    const end = (): void => {
      // An answer in the last bytes comes before the end.
      queueMicrotask(() => {
        this.#over.abort(new CheckFailure(`the connection closed${this.#why()}`));
      });
    };
    input.on('end', () => {
      this.#take(this.#reader.flush());
      end();
    });
    // A connection that was cut off may end anywhere: what is left over says nothing.
    input.on('close', end).on('error', end);
    output.on('error', () => undefined);
  }

  static async open(options: WireOptions): Promise<Wire> {
    const { transport, role, cwd, signal, limits } = options;
    const deadline = createDeadline({
      clock: systemClock,
      ms: limits.launchTimeoutMs,
      parent: signal,
    });
    try {
      const context = { role, env: {}, cwd, signal: deadline.signal };
      return new Wire(await race(transport.open(context), deadline.signal), options);
    } finally {
      deadline.dispose();
    }
  }

  get closed(): boolean {
    return this.#over.signal.aborted;
  }
  get diagnostics(): string {
    return this.#connection.diagnostics?.() ?? '';
  }

  /** The last lines that went over the wire. */
  exchange(): readonly string[] {
    return [...this.#exchange];
  }

  /** An id that was not used on this connection. */
  mintId(): number {
    return this.#next++;
  }

  /** Writes bytes as they are. */
  write(bytes: string | Uint8Array): void {
    this.#note(`-> ${typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')}`);
    this.#connection.output.write(bytes);
  }

  /** Writes a message as a proper packet. */
  send(message: Json): void {
    const body = JSON.stringify(message);
    this.#note(`-> ${JSON.stringify(message, withoutOptions)}`);
    this.#connection.output.write(packet(body));
  }

  /** Ends what is sent, without a word. */
  end(): void {
    this.#note('-> (end of the stream)');
    this.#connection.output.end();
  }

  notify(method: string, params?: Json): void {
    this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /** Sends a request; answers how it was answered. Fails the rule when it is not, in time. */
  request(method: string, params?: Json, timeoutMs?: number): Promise<Answer> {
    const id = this.mintId();
    const answer = this.answerTo(id, method, timeoutMs);
    this.send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
    return answer;
  }

  /** The result of a request; an error fails the rule. */
  async result(method: string, params?: Json, timeoutMs?: number): Promise<unknown> {
    const answer = await this.request(method, params, timeoutMs);
    if ('result' in answer) return answer.result;
    throw new CheckFailure(`${method} was answered with an error: ${describe(answer.error)}`);
  }

  /** The error of a request; a result fails the rule. */
  async error(method: string, params?: Json, timeoutMs?: number): Promise<RpcFault> {
    const answer = await this.request(method, params, timeoutMs);
    if ('error' in answer) return answer.error;
    throw new CheckFailure(`${method} was answered with a result where an error is due`);
  }

  /** Waits for the answer to an id that is about to be sent. */
  answerTo(id: number | string, method: string, timeoutMs?: number): Promise<Answer> {
    const key = JSON.stringify(id);
    let resolve: (answer: Answer) => void = () => undefined;
    const promise = new Promise<Answer>((settle) => {
      resolve = settle;
    });
    this.#pending.set(key, { method, resolve });
    this.#answered.delete(key);
    const ms = timeoutMs ?? this.#options.limits.timeoutMs;
    const answer = this.#within(promise, ms, `${method} (id ${key}) was not answered`).finally(
      () => {
        // What comes late after all is no second answer.
        if (this.#pending.delete(key)) this.#answered.add(`late ${key}`);
      },
    );
    // A rule may fail before it comes to wait for this one.
    answer.catch(() => undefined);
    return answer;
  }

  /** The next error with id null. */
  async namelessError(): Promise<RpcFault> {
    for (;;) {
      const error = this.nameless.shift();
      if (error !== undefined) return error;
      const arrival = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const { timeoutMs } = this.#options.limits;
      await this.#within(arrival, timeoutMs, 'no error with id null came');
    }
  }

  /** Whether the server closes the connection within the time. */
  async waitClosed(timeoutMs = this.#options.limits.timeoutMs): Promise<boolean> {
    if (this.closed) return true;
    const never = new Promise<never>(() => undefined);
    await this.#within(never, timeoutMs, '').catch(() => undefined);
    return this.closed;
  }

  /** Listens for a while to what should not come. */
  async quiet(): Promise<void> {
    const { limits, signal } = this.#options;
    await sleep(limits.quietMs, { clock: systemClock, signal });
  }

  /** Lets go of the connection. Never fails. */
  async close(): Promise<void> {
    await this.#connection.close(CLOSE_MS).catch(() => undefined);
    if (!this.lenient && this.nameless.length > 0) {
      this.#offend({
        kind: 'answer',
        problem: 'an error with id null answers nothing that was sent',
      });
    }
  }

  async #within<T>(work: Promise<T>, ms: number, problem: string): Promise<T> {
    const deadline = createDeadline({ clock: systemClock, ms, parent: this.#options.signal });
    const over = new AbortController();
    const stop = (): void => {
      over.abort(this.#over.signal.reason);
    };
    const late = (): void => {
      // Bytes that wait for more may be the answer after all.
      this.#take(this.#reader.flush());
      queueMicrotask(() => {
        over.abort(deadline.signal.reason);
      });
    };
    if (this.closed) stop();
    this.#over.signal.addEventListener('abort', stop, { once: true });
    deadline.signal.addEventListener('abort', late, { once: true });
    try {
      return await race(work, over.signal);
    } catch (error) {
      if (this.#options.signal.aborted) throw this.#options.signal.reason as Error;
      if (this.closed) throw new CheckFailure(`${problem}: ${(error as Error).message}`);
      this.overdue = true;
      throw new CheckFailure(`${problem} within ${ms} ms`);
    } finally {
      this.#over.signal.removeEventListener('abort', stop);
      deadline.signal.removeEventListener('abort', late);
      deadline.dispose();
    }
  }

  #take(events: ReturnType<ReturnType<typeof createPacketReader>['feed']>): void {
    for (const event of events) {
      if (event.kind !== 'body') {
        this.#note(`<- (${event.problem})`);
        this.#offend(event);
        continue;
      }
      this.#note(`<- ${event.text}`);
      const problem = messageProblem(event.value);
      if (problem === undefined) this.#receive(event.value as Json);
      else this.#offend({ kind: 'message', problem: `${problem}: ${event.text.slice(0, 200)}` });
    }
  }

  #receive(message: Json): void {
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      this.#settle(id as number | string | null, message as unknown as Answer);
      return;
    }
    this.messages.push(message);
    if (id !== undefined) {
      const error = { code: -32_601, message: `${method}: the check does not answer this.` };
      this.send({ jsonrpc: '2.0', id, error });
    }
    const attemptId = isPlainObject(params) ? params['attemptId'] : undefined;
    if (method.startsWith('attempt/')) {
      if (typeof attemptId !== 'string') {
        this.#offend({ kind: 'message', problem: `${method} has no attemptId` });
      } else if (this.endedAttempts.has(attemptId)) {
        this.#offend({ kind: 'late', problem: `${method} came after the end of ${attemptId}` });
      }
    }
    this.#lookForNull(method, params);
  }

  #settle(id: number | string | null, answer: Answer): void {
    if ('error' in answer) for (const offence of errorOffences(answer.error)) this.#offend(offence);
    if (id === null) {
      if ('error' in answer) this.nameless.push(answer.error);
      this.#wake();
      return;
    }
    const key = JSON.stringify(id);
    const pending = this.#pending.get(key);
    if (pending === undefined) {
      if (this.#answered.delete(`late ${key}`)) return;
      const again = this.#answered.has(key) ? 'was answered a second time' : 'was never sent';
      this.#offend({ kind: 'answer', problem: `the id ${key} ${again}` });
      return;
    }
    this.#pending.delete(key);
    this.#answered.add(key);
    if ('result' in answer && describesResult(pending.method)) {
      this.#lookForNull(pending.method, answer.result);
    }
    pending.resolve(answer);
  }

  #lookForNull(method: string, value: unknown): void {
    const path = findNull(value);
    if (path === undefined) return;
    this.#offend({ kind: 'null', problem: `${method}: ${path} is null; leave it out` });
  }

  #offend(offence: Offence): void {
    this.#options.onOffence(offence, this);
  }

  #note(line: string): void {
    const text = line
      // A report is passed on; the server's token is not.
      .replace(/("enginewright\/token":)"(?:[^"\\]|\\.)*"/gu, '$1"(hidden)"')
      .replaceAll('\r', '\\r')
      .replaceAll('\n', '\\n');
    const cut = text.length > KEPT_UNITS;
    this.#exchange.push(cut ? `${text.slice(0, KEPT_UNITS)}... (${text.length} characters)` : text);
    if (this.#exchange.length > KEPT_LINES) this.#exchange.shift();
  }

  #why(): string {
    const { diagnostics } = this;
    return diagnostics === '' ? '' : ` (${diagnostics})`;
  }
}

/** Engine options may hold a token or a password: they are sent, and not shown. */
function withoutOptions(key: string, value: unknown): unknown {
  return key === 'initializationOptions' ? '(not shown)' : value;
}
