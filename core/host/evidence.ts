// Pictures as files: the test's own screenshots and a failure's evidence go the same way. Once a
// secret was filled nothing leaves any more, and what cannot be kept costs a notice, never a verdict.
import type { Driver } from '../agent/driver.ts';
import type { OperationOrigin } from '../contract/engine.ts';
import { messageOf } from '../agent/map-errors.ts';
import { safeName, type AttemptArtifacts } from './artifacts.ts';

export interface PictureRequest {
  readonly label: string | undefined;
  readonly signal: AbortSignal;
  readonly origin: OperationOrigin;
}

export interface EvidenceOptions {
  readonly driver: Driver;
  readonly artifacts: AttemptArtifacts;
  readonly actionTimeout: number;
  readonly tainted: () => boolean;
  readonly note: (text: string) => void;
}

export interface Evidence {
  /** The absolute path, or `undefined` (with a note) when it may or can not be kept; throws what the engine throws. */
  picture(request: PictureRequest): Promise<string | undefined>;
  /** The same, but the engine's failure is a note as well. */
  proof(request: PictureRequest): Promise<string | undefined>;
}

export function createEvidence(options: EvidenceOptions): Evidence {
  const { driver, artifacts, actionTimeout, tainted, note } = options;

  const picture: Evidence['picture'] = async ({ label, signal, origin }) => {
    if (tainted()) {
      note('No picture is kept: a secret was filled in this attempt.');
      return undefined;
    }
    if (!(await artifacts.ready())) return undefined;
    const name = label === undefined ? undefined : safeName(label);
    const path = await driver.screenshot(name, { signal, timeoutMs: actionTimeout, origin });
    return artifacts.file(path);
  };

  return {
    picture,
    async proof(request) {
      if (driver.engine.artifacts === undefined) return undefined;
      try {
        return await picture(request);
      } catch (error) {
        note(`No picture is kept: ${messageOf(error)}`);
        return undefined;
      }
    },
  };
}
