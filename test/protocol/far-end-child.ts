// A far end in a process of its own: plays the behaviour that its first argument names, and leaves its
// id in the folder that is its second.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { playFarEnd, type FarEndBehaviour } from '../../testing/index.ts';

const [behaviour, folder = '.'] = process.argv.slice(2);
writeFileSync(join(folder, String(process.pid)), '');
playFarEnd(
  behaviour as FarEndBehaviour,
  { input: process.stdin, output: process.stdout },
  { vanish: () => process.kill(process.pid, 'SIGKILL') },
);
// Nothing else would keep it up.
if (behaviour === 'deaf' || behaviour === 'stubborn') setInterval(() => undefined, 1000);
