// What an attempt leaves as files: one directory per attempt, made when the first file is due, with
// the test's pictures, a failure's evidence and the video. Evidence that cannot be kept costs one
// note, never a verdict; and once a secret was filled no picture is taken any more.
import { createHash } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { checkShape } from '../base/shape.ts';
import { messageOf } from '../base/thrown.ts';
import type { Driver } from '../agent/driver.ts';
import type { Redactor } from '../agent/scope.ts';
import type {
  EngineArtifacts,
  OperationContext,
  OperationOrigin,
  VideoSegment,
} from '../contract/engine.ts';
import { runnerError } from '../contract/errors.ts';
import { VIDEO_SEGMENTS_SHAPE } from '../contract/guards.ts';
import type { RecordingMode } from './options.ts';

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
  /** Directories that earlier attempts of the session have. */
  readonly taken: Set<string>;
  readonly redactor: Redactor;
  readonly note: (text: string) => void;
}

export function createAttemptArtifacts(options: AttemptArtifactsOptions): AttemptArtifacts {
  const { root, runId, retry, taken, redactor, note } = options;
  const attempt = safeName(redactor.text(options.attemptId));
  const plain = join(root, safeName(runId), `${attempt}${retry === 0 ? '' : `-retry${retry}`}`);
  // A harness may give an id twice; the second attempt must not write over the first one's files.
  let dir = plain;
  for (let count = 2; taken.has(dir); count += 1) dir = `${plain}-again${count}`;
  taken.add(dir);
  let made: Promise<boolean> | undefined;

  const make = async (): Promise<boolean> => {
    try {
      await mkdir(dir, { recursive: true });
      // Only a file that was written tells that one can be.
      const probe = join(dir, '.probe');
      await writeFile(probe, '');
      await rm(probe);
      return true;
    } catch (error) {
      const code = (error as { readonly code?: unknown }).code;
      note(`Evidence is lost: the directory ${dir} cannot be written (${String(code)}).`);
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
    .slice(0, 80)
    .replace(/[.-]+$/u, '');
  // Windows reserves device names, with any extension.
  const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/iu.test(safe);
  if (safe === name && safe !== '' && !reserved) return safe;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return safe === '' ? hash : `${safe}-${hash}`;
}

export interface PictureRequest {
  readonly label: string | undefined;
  readonly signal: AbortSignal;
  readonly origin: OperationOrigin;
}

export interface Pictures {
  /** The absolute path, or `undefined` (with a note) when it may or can not be kept; throws what the engine throws. */
  take(request: PictureRequest): Promise<string | undefined>;
  /** The same for a failure's evidence: what the engine throws is a note as well. */
  proof(request: PictureRequest): Promise<string | undefined>;
}

export interface PicturesOptions {
  readonly driver: Driver;
  readonly artifacts: AttemptArtifacts;
  readonly redactor: Redactor;
  readonly actionTimeout: number;
  readonly tainted: () => boolean;
  readonly note: (text: string) => void;
}

export function createPictures(options: PicturesOptions): Pictures {
  const { driver, artifacts, redactor, actionTimeout, tainted, note } = options;

  const take: Pictures['take'] = async ({ label, signal, origin }) => {
    if (tainted()) {
      note('No picture is kept: a secret was filled in this attempt.');
      return undefined;
    }
    // An engine without pictures says so itself, whatever the directory is like.
    if (driver.engine.artifacts !== undefined && !(await artifacts.ready())) return undefined;
    const name = label === undefined ? undefined : safeName(redactor.text(label));
    const path = await driver.screenshot(name, { signal, timeoutMs: actionTimeout, origin });
    return artifacts.file(path);
  };

  return {
    take,
    async proof(request) {
      if (driver.engine.artifacts === undefined) return undefined;
      try {
        return await take(request);
      } catch (error) {
        note(`No picture is kept: ${messageOf(error)}`);
        return undefined;
      }
    },
  };
}

/** Runs one hook of the engine's video under its limit. */
type RunVideoHook = <T>(
  hook: string,
  body: (context: OperationContext) => Promise<T> | undefined,
) => Promise<T | undefined>;

/** Started when the engine is ready, stopped after the last settle: a teardown is still on it. */
export interface AttemptVideo {
  start(run: RunVideoHook): Promise<void>;
  /** The segments that are kept, with absolute paths. */
  stop(run: RunVideoHook, passed: boolean): Promise<readonly VideoSegment[] | undefined>;
}

export interface AttemptVideoOptions {
  readonly mode: RecordingMode;
  readonly engine: EngineArtifacts | undefined;
  readonly artifacts: AttemptArtifacts;
  readonly note: (text: string) => void;
}

export function createAttemptVideo(options: AttemptVideoOptions): AttemptVideo {
  const { mode, engine, artifacts, note } = options;
  let recording = false;

  const place = async (segment: VideoSegment): Promise<VideoSegment> =>
    'path' in segment ? { ...segment, path: await artifacts.file(segment.path) } : segment;

  return {
    async start(run) {
      if (mode === 'off' || !(await artifacts.ready())) return;
      try {
        await run('startVideo', (context) => engine?.startVideo?.(context));
        recording = true;
      } catch (error) {
        note(`No video is kept: ${messageOf(error)}`);
      }
    },
    async stop(run, passed) {
      if (!recording) return undefined;
      recording = false;
      try {
        const segments = await run('stopVideo', (context) => engine?.stopVideo?.(context));
        const issue = checkShape(VIDEO_SEGMENTS_SHAPE, segments ?? [], 'segments');
        if (issue !== undefined) {
          note(`No video is kept: the engine answered ${issue.path}, which ${issue.problem}.`);
          return undefined;
        }
        const placed = await Promise.all((segments ?? []).map(place));
        if (!passed || mode === 'on') return placed;
        for (const segment of placed) if ('path' in segment) await artifacts.discard(segment.path);
        return [];
      } catch (error) {
        note(`No video is kept: ${messageOf(error)}`);
        return undefined;
      }
    },
  };
}
