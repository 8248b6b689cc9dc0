// A small engine for a process of its own, served over stdio. `mode` makes it misbehave in ways that
// only a real process can: printing where the protocol speaks, dying in the middle, ignoring its end.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { defineEngine } from '../../core/contract/define.ts';
import { EngineError } from '../../core/contract/errors.ts';
import { serveEngine } from '../../core/protocol/server/serve.ts';

const mode = process.argv[2] ?? '';
let artifacts = '';

if (mode === 'exit') {
  process.stderr.write('cannot find the device\n');
  process.exit(3);
}
if (mode === 'rubbish') {
  process.stdout.write('Welcome!\nnot a protocol\n');
  process.stderr.write('usage: thing\n');
  process.exit(0);
}
if (mode === 'deaf') setInterval(() => undefined, 1000);
else {
  await serveEngine((options) =>
    defineEngine({
      name: 'served',
      version: '1.0.0',
      spiVersion: 1,
      async observe(context) {
        // Both must not disturb the protocol.
        // oxlint-disable-next-line eslint/no-console -- that it is guarded is what is tested
        console.log('observing', context.attemptId);
        process.stdout.write('raw\n');
        return {
          location: `${JSON.stringify(options ?? null)} ${process.env['COLOR'] ?? ''}`,
          root: { ref: { id: 'root', revision: '' } },
          viewport: { width: 2, height: 2, scale: 1 },
        };
      },
      async perform(ref, _action, { signal }) {
        if (ref.id === 'die') process.kill(process.pid, 'SIGKILL');
        if (ref.id === 'wait') {
          await new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          });
        }
        throw new EngineError('NODE_STALE', `${ref.id} is gone`, { retryable: true });
      },
      actions: ['tap'],
      artifacts: {
        async screenshot() {
          const path = join(artifacts, 'shot.png');
          mkdirSync(artifacts, { recursive: true });
          const png = Buffer.alloc(33);
          png.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
          png.writeUInt32BE(2, 16);
          png.writeUInt32BE(2, 20);
          writeFileSync(path, png);
          return 'shot.png';
        },
      },
      async startAttempt({ artifactsDir }) {
        artifacts = artifactsDir;
      },
      async dispose() {
        process.stderr.write('disposed\n');
      },
    }),
  );
  process.stderr.write(`exit code ${process.exitCode ?? 0}\n`);
}
