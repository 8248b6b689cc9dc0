// A screenshot's two forms. A path is believed only when it is a file under the attempt's artifact
// directory; data is written there under a name of ours. A label is text from a test: it decorates
// the name, reduced to letters, digits and hyphens, and never decides where a file goes.
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, win32 } from 'node:path';
import { EngineError, isEngineError } from '../../contract/errors.ts';
import { fromBase64, pngSize } from '../codecs/values.ts';

/** The folder of screenshots, under the artifact directory. */
const FOLDER = 'screenshots';
const LABEL_LENGTH = 40;

export interface ScreenshotOptions {
  readonly artifactsDir: string;
  readonly label: string | undefined;
  /** Counts up over the attempt; the names follow it. */
  readonly next: () => number;
}

/** The path of a screenshot, relative to the artifact directory, with forward slashes. */
export async function acceptScreenshot(
  answer: { readonly path: string } | { readonly data: string },
  options: ScreenshotOptions,
): Promise<string> {
  return 'path' in answer
    ? checkPath(answer.path, options.artifactsDir)
    : writeData(answer.data, options);
}

async function checkPath(path: string, artifactsDir: string): Promise<string> {
  const parts = path.split(/[\\/]/u);
  if (path === '' || isAbsolute(path) || win32.isAbsolute(path) || parts.includes('..')) {
    throw refused(`the path ${JSON.stringify(path)} is not relative to the artifact directory`);
  }
  let inside: string;
  try {
    const file = await realpath(join(artifactsDir, path));
    inside = relative(await realpath(artifactsDir), file);
    if (!(await stat(file)).isFile()) throw refused(`${JSON.stringify(path)} is not a file`);
  } catch (error) {
    if (isEngineError(error)) throw error;
    throw refused(`there is no ${JSON.stringify(path)} under the artifact directory`, error);
  }
  // Over a symbolic link it may still lead out.
  if (inside.startsWith('..') || isAbsolute(inside)) {
    throw refused(`${JSON.stringify(path)} leads out of the artifact directory`);
  }
  return parts.join('/');
}

async function writeData(data: string, options: ScreenshotOptions): Promise<string> {
  const bytes = fromBase64(data);
  if (bytes === undefined) throw refused('data is not base64');
  if (pngSize(bytes) === undefined) throw refused('data is not a PNG');
  const folder = join(options.artifactsDir, FOLDER);
  await mkdir(folder, { recursive: true });
  for (;;) {
    const name = fileName(options.next(), options.label);
    try {
      // Never over a file that is there: an earlier try may have written into the same directory.
      await writeFile(join(folder, name), bytes, { flag: 'wx' });
      return [FOLDER, name].join('/');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function fileName(count: number, label: string | undefined): string {
  const words = (label ?? '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .slice(0, LABEL_LENGTH)
    .replace(/^-+|-+$/gu, '');
  return `${String(count).padStart(3, '0')}${words === '' ? '' : `-${words}`}.png`;
}

function refused(problem: string, cause?: unknown): EngineError {
  return new EngineError(
    'ENGINE_FAILURE',
    `artifacts/screenshot was answered wrongly: ${problem}.`,
    cause === undefined ? {} : { cause },
  );
}
