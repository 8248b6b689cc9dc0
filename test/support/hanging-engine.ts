// A served engine with one button, whose tap never ends: the test kills the process meanwhile, once
// the tap has written this process's id into the marker file. Arguments: MARKER [tcp]; with `tcp`
// it listens on a free loopback port and prints it.
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { defineEngine, type EngineHandle } from 'enginewright/contract';
import { serveEngine } from 'enginewright/protocol';

const [, , marker = '', mode] = process.argv;

function hangingEngine(): EngineHandle {
  return defineEngine({
    name: 'hanging',
    version: '1.0.0',
    spiVersion: 1,
    actions: ['tap'],
    async observe() {
      return {
        root: {
          ref: { id: 'root', revision: '' },
          children: [
            {
              ref: { id: 'button', revision: '' },
              role: 'button',
              name: `Process ${process.pid}`,
              rect: { x: 0, y: 0, width: 10, height: 10 },
            },
          ],
        },
        viewport: { width: 100, height: 100, scale: 1 },
      };
    },
    async perform() {
      process.stderr.write('last words of the engine\n');
      writeFileSync(marker, String(process.pid));
      // Held open by a timer: nothing ends this process but its end of input or a signal.
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    },
  });
}

if (mode === 'tcp') {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    void serveEngine(hangingEngine(), { input: socket, output: socket });
  });
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`);
  });
} else {
  await serveEngine(hangingEngine());
  process.exit(0);
}
