// Where an attempt's evidence lives: one directory per attempt, made when the first file is due.
// A directory that cannot be written loses evidence, with one note; it never costs a verdict.
import { createHash } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { runnerError } from '../contract/errors.ts';

export interface AttemptArtifacts {
  /** Absolute; may not exist yet. */
  readonly dir: string;
  /** Makes the directory; answers false, with a note the first time, when it cannot be written. */
  ready(): Promise<boolean>;
  /** The absolute path of a file that the engine says it wrote; `ENGINE_FAILURE` when it is not there. */
  file(path: unknown): Promise<string>;
  /** Deletes a file of the attempt. */
  discard(path: string): Promise<void>;
}

export interface AttemptArtifactsOptions {
  readonly root: string;
  readonly runId: string;
  readonly attemptId: string;
  readonly retry: number;
  readonly note: (text: string) => void;
}

export function createAttemptArtifacts(options: AttemptArtifactsOptions): AttemptArtifacts {
  const { root, runId, attemptId, retry, note } = options;
  const leaf = `${safeName(attemptId)}${retry === 0 ? '' : `-retry${retry}`}`;
  const dir = join(root, safeName(runId), leaf);
  let made: Promise<boolean> | undefined;

  const make = async (): Promise<boolean> => {
    try {
      await mkdir(dir, { recursive: true });
      return true;
    } catch (error) {
      const code = (error as { readonly code?: unknown }).code;
      note(`Evidence is lost: the artifacts directory cannot be written (${String(code)}).`);
      return false;
    }
  };

  return {
    dir,
    ready: () => (made ??= make()),
    async file(path) {
      const problem = (what: string): Error =>
        runnerError('ENGINE_FAILURE', `The engine's artifact path ${what}.`);
      if (typeof path !== 'string' || path === '') throw problem('is no string');
      const absolute = resolve(dir, path);
      const inside = relative(dir, absolute);
      if (isAbsolute(path) || inside === '..' || inside.startsWith(`..${sep}`) || inside === '') {
        throw problem("is not relative to the attempt's directory");
      }
      const found = await stat(absolute).catch(() => undefined);
      if (found?.isFile() !== true) throw problem('names no file');
      return absolute;
    },
    async discard(path) {
      await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

/** A name that every file system takes; one that had to change gets a hash, so that none collide. */
export function safeName(name: string): string {
  const safe = name
    .replace(/[^\w.-]+/gu, '-')
    .replace(/^[.-]+/u, '')
    .replace(/[.-]+$/u, '')
    .slice(0, 80);
  // Windows reserves device names, with any extension.
  const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/iu.test(safe);
  if (safe === name && safe !== '' && !reserved) return safe;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return safe === '' ? hash : `${safe}-${hash}`;
}
