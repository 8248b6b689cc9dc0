// Gives a buffer's memory back at once. Inflating a large picture leaves a buffer behind for every
// few hundred KiB, and the collector, to which they look small, comes only after tens of them.
// A message that is sent into a closed channel takes what it carries out of the world with it.
import { MessageChannel, type MessagePort } from 'node:worker_threads';

let exit: MessagePort | undefined;

/** Only for a buffer that nobody else has a view of: it is empty afterwards. */
export function freeBuffer(buffer: Uint8Array): void {
  const { buffer: memory } = buffer;
  // Part of something larger: another view may be alive.
  if (!(memory instanceof ArrayBuffer) || memory.byteLength !== buffer.byteLength) return;
  exit ??= closedPort();
  exit.postMessage(undefined, [memory]);
}

function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
