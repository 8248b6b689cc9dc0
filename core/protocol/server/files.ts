// Files that do not cross machines. A screenshot leaves as data unless both sides share a disk;
// a video file cannot, and a file to upload must be on the engine's machine. What cannot be is
// refused with the reason, because "file not found" on the other machine explains nothing.
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { LocatorAction } from '../../contract/actions.ts';
import type { VideoSegment } from '../../contract/engine.ts';
import { EngineError } from '../../contract/errors.ts';
import { toBase64 } from '../codecs/values.ts';

/** The answer to `artifacts/screenshot`, for the path that the engine gave. */
export async function answerScreenshot(
  path: unknown,
  options: { readonly artifactsDir: string; readonly local: boolean },
): Promise<object> {
  if (typeof path !== 'string') {
    throw new EngineError(
      'ENGINE_FAILURE',
      'artifacts.screenshot answered no path: it answers one, relative to the artifact directory.',
    );
  }
  if (options.local) return { path };
  const file = isAbsolute(path) ? path : resolve(options.artifactsDir, path);
  return { data: toBase64(await readFile(file)), mediaType: 'image/png' };
}

/** Refuses video files where only addresses can reach the client. */
export function checkVideoSegments(segments: unknown, local: boolean): void {
  if (local || !Array.isArray(segments)) return;
  const file = (segments as readonly VideoSegment[]).find((segment) => 'path' in segment);
  if (file === undefined) return;
  throw new EngineError(
    'UNSUPPORTED_CAPABILITY',
    'artifacts.stopVideo answered a file, but files do not cross machines: answer a url, or serve with localArtifacts when both sides share a disk.',
  );
}

/** Refuses an upload of a file that is not on this machine. */
export async function checkUpload(action: LocatorAction, local: boolean): Promise<void> {
  if (action.kind !== 'setInputFiles' || local) return;
  for (const path of action.paths) {
    const found = await stat(path).then(
      (stats) => stats.isFile() || stats.isDirectory(),
      () => false,
    );
    if (found) continue;
    throw new EngineError(
      'UNSUPPORTED_CAPABILITY',
      `setInputFiles: ${JSON.stringify(path)} is not on the engine's machine, and files do not cross machines: put it there first.`,
    );
  }
}
