// The memory that one big message takes at its peak, in messages. The peak of a process cannot be
// lowered again, so each measurement has a process of its own.
import { PassThrough, Writable } from 'node:stream';
import process from 'node:process';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { createPeer } from '../../core/protocol/peer.ts';

export type Direction = 'in' | 'out';
export type Subject = 'ours' | 'rival' | 'floor';

const CHUNK = 64 * 1024;
const SMALL = { text: 'small' };

/** Prints the extra peak, in messages of `bytes` bytes. */
export async function measureMemory(
  subject: Subject,
  { direction, bytes }: { readonly direction: Direction; readonly bytes: number },
): Promise<void> {
  const extra = await (direction === 'in' ? receive : send)(subject, bytes);
  process.stdout.write(`${JSON.stringify(extra / bytes)}\n`);
  process.exit(0);
}

async function receive(subject: Subject, bytes: number): Promise<number> {
  const input = new PassThrough();
  let arrived: (() => void) | undefined;
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      arrived = resolve;
    });
  listen(subject, input, bytes, () => arrived?.());
  const frame = '{"jsonrpc":"2.0","method":"n","params":{"text":""}}';
  if (subject !== 'floor') {
    const warm = next();
    input.write(`Content-Length: ${frame.length}\r\n\r\n${frame}`);
    await warm;
  }
  const extra = watchPeak();
  const done = next();
  const [head, tail] = [frame.slice(0, -3), frame.slice(-3)];
  input.write(`Content-Length: ${bytes}\r\n\r\n${head}`);
  for (let left = bytes - frame.length; left > 0; left -= CHUNK) {
    // New memory for each chunk, as a socket gives.
    input.write(Buffer.alloc(Math.min(left, CHUNK), 0x78));
    if (input.writableNeedDrain) await new Promise(setImmediate);
  }
  input.write(tail);
  await done;
  return extra();
}

async function send(subject: Subject, bytes: number): Promise<number> {
  const text = Buffer.alloc(bytes - 200, 0x78).toString('latin1');
  let taken = 0;
  let onTaken: () => void = () => undefined;
  const output = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      taken += chunk.length;
      setImmediate(callback);
      onTaken();
    },
  });
  const notify = speak(subject, output);
  notify(SMALL);
  await new Promise(setImmediate);
  taken = 0;
  const extra = watchPeak();
  const done = new Promise<void>((resolve) => {
    onTaken = () => {
      if (taken > bytes - 200) resolve();
    };
  });
  notify({ text });
  await done;
  return extra();
}

function listen(subject: Subject, input: PassThrough, bytes: number, onMessage: () => void): void {
  const output = new Writable({ write: (_chunk, _encoding, callback) => callback() });
  if (subject === 'ours') {
    createPeer({
      streams: { input, output },
      onRequest: () => undefined,
      onNotification: onMessage,
    });
    return;
  }
  if (subject === 'rival') {
    const connection = createMessageConnection(
      new StreamMessageReader(input),
      new StreamMessageWriter(output),
    );
    connection.onNotification('n', onMessage);
    connection.listen();
    return;
  }
  // Somebody who knows the length beforehand and has one buffer of it.
  const body = Buffer.allocUnsafe(bytes);
  let filled = -1;
  input.on('data', (chunk: Buffer) => {
    const from = filled < 0 ? chunk.indexOf(0x7b) : 0;
    filled = Math.max(filled, 0) + chunk.copy(body, Math.max(filled, 0), from);
    if (filled < bytes) return;
    JSON.parse(body.toString('utf8'));
    onMessage();
  });
}

function speak(subject: Subject, output: Writable): (params: object) => void {
  if (subject === 'ours') {
    const peer = createPeer({
      streams: { input: new PassThrough(), output },
      onRequest: () => undefined,
      onNotification: () => undefined,
    });
    return (params) => peer.notify('n', params);
  }
  if (subject === 'rival') {
    const connection = createMessageConnection(
      new StreamMessageReader(new PassThrough()),
      new StreamMessageWriter(output),
    );
    connection.listen();
    return (params) => void connection.sendNotification('n', params);
  }
  return (params) => {
    output.write(Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'n', params })));
  };
}

/** Gives how far the peak of the process rises above what it holds now, in bytes. */
function watchPeak(): () => number {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  return () => process.resourceUsage().maxRSS * 1024 - before;
}
