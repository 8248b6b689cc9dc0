// The video of an attempt: started when the engine is ready, stopped after the last settle, so that
// what a teardown shows is on it. It is evidence: a failure to record is a notice.
import type { VideoSegment } from '../contract/engine.ts';
import { messageOf } from '../agent/map-errors.ts';
import type { OperationContext } from '../contract/engine.ts';
import type { AttemptArtifacts } from './artifacts.ts';
import type { SessionCore } from './session-core.ts';

type Run = <T>(
  hook: string,
  body: (context: OperationContext) => Promise<T> | undefined,
) => Promise<T | undefined>;

export interface AttemptVideo {
  start(run: Run): Promise<void>;
  /** The segments that are kept, with absolute paths. */
  stop(run: Run, passed: boolean): Promise<readonly VideoSegment[] | undefined>;
}

export interface AttemptVideoOptions {
  readonly core: SessionCore;
  readonly artifacts: AttemptArtifacts;
  readonly note: (text: string) => void;
}

export function createAttemptVideo({ core, artifacts, note }: AttemptVideoOptions): AttemptVideo {
  const { engine, options } = core;
  let recording = false;
  return {
    async start(run) {
      if (options.video === 'off' || !(await artifacts.ready())) return;
      try {
        await run('startVideo', (context) => engine.artifacts?.startVideo?.(context));
        recording = true;
      } catch (error) {
        note(`No video is kept: ${messageOf(error)}`);
      }
    },
    async stop(run, passed) {
      if (!recording) return undefined;
      recording = false;
      try {
        const segments = await run('stopVideo', (context) =>
          engine.artifacts?.stopVideo?.(context),
        );
        const kept: VideoSegment[] = [];
        for (const segment of segments ?? []) {
          const placed =
            'path' in segment ? { ...segment, path: await artifacts.file(segment.path) } : segment;
          if (passed && options.video === 'on-failure') {
            if ('path' in placed) await artifacts.discard(placed.path);
          } else {
            kept.push(placed);
          }
        }
        return kept;
      } catch (error) {
        note(`No video is kept: ${messageOf(error)}`);
        return undefined;
      }
    },
  };
}
