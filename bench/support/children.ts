// The other process of a bench: this very program, started again with `--serve WHAT`.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { answerer, WAYS, type Streams, type Way } from './ends.ts';

const PROGRAM = process.argv[1] as string;
type Child = ChildProcessByStdio<Writable, Readable, null>;
const started = new Set<Child>();

/** What this process is to serve, when it is the other one: the words after `--serve`. */
export function servedHere(): readonly string[] | undefined {
  const at = process.argv.indexOf('--serve');
  return at < 0 ? undefined : process.argv.slice(at + 1);
}

/** Serves over stdio (`stdio WAY BYTES`) or TCP (`tcp BYTES`: one port per way, in order). */
export function serve([what, ...words]: readonly string[]): void {
  if (what === 'stdio') {
    const streams = { input: process.stdin, output: process.stdout };
    answerer(words[0] as Way, streams, Number(words[1]));
    process.stdin.once('end', () => process.exit(0));
    return;
  }
  const ports = WAYS.map(
    (way) =>
      new Promise<number>((resolve) => {
        const server = createServer({ noDelay: true }, (socket) => {
          socket.on('error', () => undefined);
          answerer(way, { input: socket, output: socket }, Number(words[0]));
        });
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
      }),
  );
  void Promise.all(ports).then((all) => process.stdout.write(`${JSON.stringify(all)}\n`));
  process.stdin.resume();
  process.stdin.once('end', () => process.exit(0));
}

/** A process of its own for each way. */
export function stdioStreams(way: Way, packetBytes: number): Streams {
  const child = start(['stdio', way, String(packetBytes)]);
  return { input: child.stdout, output: child.stdin };
}

/** One process for all ways, so that they meet alike. */
export async function tcpStreams(packetBytes: number): Promise<Record<Way, Streams>> {
  const child = start(['tcp', String(packetBytes)]);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const ports = JSON.parse(line.toString()) as number[];
  const sockets = await Promise.all(ports.map(open));
  return Object.fromEntries(
    WAYS.map((way, index) => [way, { input: sockets[index], output: sockets[index] }]),
  ) as unknown as Record<Way, Streams>;
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  socket.unref();
  return socket;
}

/** This program once more, as the other process. */
export function start(words: readonly string[]): Child {
  const child = spawn(process.execPath, ['--expose-gc', PROGRAM, '--serve', ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.add(child);
  child.once('exit', () => started.delete(child));
  return child;
}

/** Ends every process that was started here. */
export async function stopAll(): Promise<void> {
  const ends = [...started].map((child) => once(child, 'exit'));
  for (const child of started) {
    child.stdin.destroy();
    child.kill();
  }
  await Promise.all(ends);
}
