// What a transport is: it opens one connection's byte streams, and can say what went wrong.
import type { Readable, Writable } from 'node:stream';

/** Two byte streams: what comes in, what goes out. */
export interface MessageStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** A connection's part in the run: `run` is prepare and finish, `worker` is everything else. */
export type ConnectionRole = 'run' | 'worker';

/** The app that a transport may install, since a server elsewhere cannot read the project's files. */
export interface TransportApp {
  readonly site?: string;
  readonly bundleId?: string;
  readonly appPath?: string;
  readonly launchArguments?: readonly string[];
  readonly permissions?: Readonly<Record<string, 'grant' | 'deny' | 'reset'>>;
}

export interface TransportContext {
  readonly role: ConnectionRole;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project root. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** The target's app, from `prepare` or `init`. */
  readonly app?: TransportApp;
}

export interface TransportConnection extends MessageStreams {
  /** Releases the process or socket, within `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
  /** What went wrong, for an error message. */
  diagnostics?(): string;
}

export interface EngineTransport {
  /** For error messages: the command, or the address. */
  readonly label: string;
  open(context: TransportContext): Promise<TransportConnection>;
}
