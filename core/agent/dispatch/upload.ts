// Which files a model may hand to an app: those of the project, named relative to its root, with
// symbolic links resolved, and never a hidden one (keys and tokens live in those). All of it is
// decided before the engine is asked; a refusal says nothing about files outside the root.
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { race } from '../../base/deadline.ts';
import { quote } from '../screen/format.ts';
import type { VerbArguments } from '../tools/table.ts';
import { Refusal, type CallContext, type CallResult } from './context.ts';

export async function upload(
  call: CallContext,
  args: VerbArguments['upload'],
): Promise<CallResult> {
  const node = call.node(args.target);
  call.reserve(1);
  const paths: string[] = [];
  for (const file of args.files) {
    paths.push(await race(resolveUpload(file, call.scope.projectRoot), call.signal));
  }
  await call.perform(node, { kind: 'setInputFiles', paths });
  return { text: paths.length === 1 ? 'Done.' : `Done, ${paths.length} files.` };
}

/** The absolute path of a file that may be uploaded; throws a Refusal for any other. */
export async function resolveUpload(file: string, projectRoot: string): Promise<string> {
  const denied = (why: string): Refusal =>
    new Refusal('POLICY_DENIED', `upload: ${quote(file)} was not uploaded: ${why}.`);
  if (file === '' || file.includes('\0')) throw denied('it is no path');
  if (path.isAbsolute(file) || path.win32.isAbsolute(file)) {
    throw denied('paths are relative to the project');
  }
  const root = await realpath(projectRoot);
  checkWithin(root, path.resolve(root, file), denied);
  let real: string;
  try {
    real = await realpath(path.resolve(root, file));
  } catch {
    throw new Refusal(
      'INVALID_ARGUMENT',
      `upload: there is no file ${quote(file)} in the project.`,
    );
  }
  checkWithin(root, real, denied);
  if (!(await stat(real)).isFile()) throw denied('it is no file');
  return real;
}

function checkWithin(root: string, absolute: string, denied: (why: string) => Refusal): void {
  const relative = path.relative(root, absolute);
  const segments = relative.split(path.sep);
  if (relative === '' || segments[0] === '..' || path.isAbsolute(relative)) {
    throw denied('it is outside the project');
  }
  if (segments.some((segment) => segment.startsWith('.'))) throw denied('it is hidden');
}
