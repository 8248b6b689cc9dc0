// stdin and stdout as protocol streams. While the server serves, whatever else prints to stdout
// (console.log of an engine, of a library) goes to stderr: one stray line in the middle of a packet
// would be the client's puzzle. Child processes that inherit stdout are beyond its reach.
import { Writable } from 'node:stream';
import process from 'node:process';
import { DONE_AT_CALLBACK } from '../peer-output.ts';
import type { MessageStreams } from '../transports/types.ts';

export interface StdioStreams extends MessageStreams {
  /** Gives stdout back. Idempotent. */
  release(): void;
}

export function takeStdio(): StdioStreams {
  const { stdin, stdout, stderr } = process;
  // oxlint-disable-next-line typescript/unbound-method -- put back as it was
  const original = stdout.write;
  const write = original.bind(stdout) as (
    chunk: Uint8Array | string,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ) => boolean;
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: Buffer | string, encoding, done) => {
      write(chunk, encoding, done);
    },
  });
  // Its write is done when the callback says so: the peer may then use its buffers again.
  Object.defineProperty(output, DONE_AT_CALLBACK, { value: true });
  const onError = (error: Error): void => {
    output.destroy(error);
  };
  stdout.on('error', onError);
  stdout.write = stderr.write.bind(stderr);
  let released = false;
  return {
    input: stdin,
    output,
    release() {
      if (released) return;
      released = true;
      stdout.write = original;
      // A late EPIPE must not become an uncaught error: the listener stays until the next turn.
      setImmediate(() => stdout.off('error', onError));
    },
  };
}
