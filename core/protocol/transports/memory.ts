// Two ends of a connection inside one process: what loopback runs on. Byte-faithful and with
// backpressure like a pipe, and without timers: a write is done once the other end has room.
import { Readable, Writable } from 'node:stream';
import type { MessageStreams } from './types.ts';

/** A pair of connected ends. Ending or destroying an output ends the other end's input. */
export function memoryStreams(): [MessageStreams, MessageStreams] {
  const forth = createPipe();
  const back = createPipe();
  return [
    { input: back.readable, output: forth.writable },
    { input: forth.readable, output: back.writable },
  ];
}

function createPipe(): { readonly readable: Readable; readonly writable: Writable } {
  // The callback of a write that waits for room.
  let blocked: (() => void) | undefined;
  const unblock = (): void => {
    const callback = blocked;
    blocked = undefined;
    callback?.();
  };
  const readable = new Readable({
    read: unblock,
    destroy(error, callback) {
      // Nobody will read again: as with a pipe, the next write fails.
      if (!writable.writableFinished) writable.destroy(closedPipe());
      callback(error);
    },
  });
  const writable = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, callback) {
      if (readable.push(chunk)) callback();
      else blocked = callback;
    },
    final(callback) {
      readable.push(null);
      callback();
    },
    destroy(error, callback) {
      blocked = undefined;
      if (!readable.destroyed && !readable.readableEnded) readable.push(null);
      callback(error);
    },
  });
  return { readable, writable };
}

function closedPipe(): Error {
  return Object.assign(new Error('The other end of the pipe is closed (EPIPE).'), {
    code: 'EPIPE',
  });
}
