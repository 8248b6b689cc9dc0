// Whether dist/ is what the sources say: a hash over every source and build file, kept beside the
// build (not in dist/, which is published as it is). Node built-ins only: set-up asks this first.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { BUILD_FILES, entries, ROOT, SOURCES } from './paths.mjs';

const STAMP = join(ROOT, '.build', 'dist.stamp');

/** `'current'`, `'missing'` or `'older than the sources'`. */
export function distState() {
  if (entries().some(({ name }) => !existsSync(join(ROOT, 'dist', `${name}.js`)))) {
    return 'missing';
  }
  if (!existsSync(STAMP)) return 'older than the sources';
  return readFileSync(STAMP, 'utf8') === sourceHash() ? 'current' : 'older than the sources';
}

export function sourceHash() {
  const hash = createHash('sha256');
  for (const file of [...SOURCES.flatMap(filesOf), ...BUILD_FILES].sort()) {
    const path = join(ROOT, file);
    if (!existsSync(path)) continue;
    hash.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

/** To be written with the hash taken before the build: a change meanwhile makes it stale again. */
export function writeStamp(hash) {
  mkdirSync(join(ROOT, '.build'), { recursive: true });
  writeFileSync(STAMP, hash);
}

function filesOf(name) {
  const path = join(ROOT, name);
  if (!existsSync(path)) return [];
  if (name.endsWith('.ts')) return [name];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath ?? entry.path, entry.name)
        .slice(ROOT.length + 1)
        .split(sep)
        .join('/'),
    );
}
