// Which browser the browser tests use: the one named by ENGINEWRIGHT_CHROMIUM, else Debian's.
import { existsSync } from 'node:fs';

export function findChromium(): string | undefined {
  const named = process.env['ENGINEWRIGHT_CHROMIUM'];
  const candidates = named === undefined ? ['/usr/bin/chromium'] : [named];
  return candidates.find((path) => existsSync(path));
}
