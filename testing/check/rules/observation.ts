// What the engine sees: snapshots, ids and pictures, as far as they can be judged on a screen that
// nobody described. With the probe `open` that is the author's screen, else the one at the start.
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import {
  findObservationFault,
  isPlainObject,
  resolveExpression,
  validateSnapshot,
  type LocatorExpression,
} from '../../../core/contract.ts';
import type { EngineMethod } from '../../../core/protocol/index.ts';
import { allNodes, onStage, type RuleContext, type Stage, type WireSnapshot } from '../context.ts';
import { picture } from '../picture.ts';
import { expressionsFor } from '../../engine-stage.ts';
import { NotApplicable, expect, type CheckRule } from '../types.ts';

const OBSERVATION = 'contract, section 3';
const LOOK: { readonly methods: readonly EngineMethod[] } = { methods: ['engine/observe'] };

/** The snapshot as the contract's own check takes it, its picture as bytes. */
function inProcess(snapshot: WireSnapshot): unknown {
  const { pixels } = snapshot;
  if (!isPlainObject(pixels) || typeof pixels.data !== 'string') return snapshot;
  return {
    ...snapshot,
    pixels: { ...pixels, data: new Uint8Array(Buffer.from(pixels.data, 'base64')) },
  };
}

/** Calls a session method, and expects the root to keep its id. */
async function keepsRoot(context: RuleContext, method: EngineMethod): Promise<void> {
  const stage = await onStage(context);
  const before = (await stage.observe()).root.ref.id;
  const look = async (after: string): Promise<void> => {
    const now = (await stage.observe()).root.ref.id;
    expect(
      now === before,
      `the root was ${JSON.stringify(before)}, and is ${JSON.stringify(now)} after ${after}`,
    );
  };
  const { launchTimeoutMs } = context.limits;
  const call = async (name: EngineMethod, params?: Record<string, unknown>): Promise<void> => {
    const answer = await stage.call(name, params, {}, launchTimeoutMs);
    expect('result' in answer, `${name} was answered with an error`);
    await look(name);
  };
  const { open } = context.probes;
  if (method !== 'session/open') await call(method);
  if (open !== undefined && context.manifest?.methods.includes('session/open') === true) {
    await call('session/open', { url: open });
  }
}

async function eachAgrees(stage: Stage, expressions: readonly LocatorExpression[]): Promise<void> {
  const { root } = await stage.observe();
  for (const expression of expressions) {
    const expected = resolveExpression(expression, [root]).map(({ ref }) => ref.id);
    const result = await stage.result('engine/locate', { expression });
    expect(Array.isArray(result), 'engine/locate answers a list of nodes');
    const ids = result.map((node) => (node as { ref?: { id?: unknown } } | null)?.ref?.id);
    expect(
      ids.join() === expected.join(),
      `engine/locate found [${ids.join()}] for ${JSON.stringify(expression)}; by the tree it is [${expected.join()}]`,
    );
  }
}

export const OBSERVATION_RULES: readonly CheckRule[] = [
  {
    id: 'observe/shape',
    title: 'a snapshot has the shape of the contract, every id once, and no revisions',
    spec: OBSERVATION,
    needs: LOOK,
    async run(context) {
      const stage = await onStage(context);
      const snapshot = await stage.observe();
      const issue = validateSnapshot(inProcess(snapshot));
      expect(issue === undefined, `${issue?.path ?? ''} ${issue?.problem ?? ''}`);
      const stamped = allNodes(snapshot.root).find(({ ref }) => ref.revision !== '');
      expect(
        stamped === undefined,
        `the node ${JSON.stringify(stamped?.ref.id)} has a revision; an engine sends ''`,
      );
    },
  },
  {
    id: 'observe/limits',
    title: 'names are cut at 256 characters, texts, values and selections at 512',
    spec: OBSERVATION,
    needs: LOOK,
    async run(context) {
      const stage = await onStage(context);
      const fault = findObservationFault((await stage.observe()).root);
      const tooLong = fault !== undefined && !fault.problem.includes('secure');
      expect(!tooLong, `${fault?.path ?? ''} ${fault?.problem ?? ''}`);
    },
  },
  {
    id: 'observe/ids-stay',
    title: 'the same screen has the same ids when it is observed again',
    spec: OBSERVATION,
    needs: LOOK,
    async run(context) {
      const stage = await onStage(context);
      const ids = async (): Promise<string> =>
        allNodes((await stage.observe()).root)
          .map(({ ref }) => ref.id)
          .join();
      const before = await ids();
      const after = await ids();
      expect(before === after, `the ids were [${before}], and then [${after}]`);
    },
  },
  {
    id: 'observe/root-open',
    title: 'the root keeps its id when a screen is opened',
    spec: OBSERVATION,
    needs: { methods: ['engine/observe', 'session/open'], probes: ['open'] },
    run: (context) => keepsRoot(context, 'session/open'),
  },
  {
    id: 'observe/root-restart',
    title: 'the root keeps its id over restart',
    spec: OBSERVATION,
    needs: { methods: ['engine/observe', 'session/restart'] },
    run: (context) => keepsRoot(context, 'session/restart'),
  },
  {
    id: 'observe/root-reset',
    title: 'the root keeps its id over reset',
    spec: OBSERVATION,
    needs: { methods: ['engine/observe', 'session/reset'], destructive: true },
    run: (context) => keepsRoot(context, 'session/reset'),
  },
  {
    id: 'observe/pixels',
    title: 'pixels are a PNG in base64 of the size that is stated',
    spec: OBSERVATION,
    needs: LOOK,
    async run(context) {
      const stage = await onStage(context);
      const { pixels } = await stage.observe({ pixels: true });
      if (pixels === undefined) throw new NotApplicable('the engine answers no pixels');
      expect(pixels.mediaType === 'image/png', 'pixels.mediaType is "image/png"');
      const { width, height } = picture(pixels.data, 'pixels.data');
      expect(
        width === pixels.width && height === pixels.height,
        `the picture is ${width} by ${height}; it is said to be ${pixels.width} by ${pixels.height}`,
      );
    },
  },
  {
    id: 'locate/agrees',
    title: 'engine/locate finds what the tree says',
    spec: 'contract, section 4',
    needs: { methods: ['engine/observe', 'engine/locate'] },
    async run(context) {
      const stage = await onStage(context);
      const { root } = await stage.observe();
      await eachAgrees(stage, expressionsFor(allNodes(root)));
    },
  },
  {
    id: 'state/capture',
    title: 'captured state has a format, a version and data, and can be restored',
    spec: 'contract, section 6',
    needs: { methods: ['state/capture', 'state/restore'], destructive: true },
    async run(context) {
      const stage = await onStage(context);
      const state = await stage.result('state/capture');
      expect(isPlainObject(state), 'state/capture answers an object');
      const { format, version, data } = state;
      expect(typeof format === 'string' && format !== '', 'state.format is a text');
      expect(typeof version === 'number', 'state.version is a number');
      expect(data !== undefined, 'state.data is there');
      await stage.result('state/restore', { state });
    },
  },
  {
    id: 'artifacts/screenshot',
    title: 'a screenshot is a PNG: { data, mediaType }, or { path } inside the artifact directory',
    spec: 'engine protocol, Messages: Engine methods',
    needs: { methods: ['artifacts/screenshot'] },
    async run(context) {
      const stage = await onStage(context);
      for (const params of [{}, { label: '../check label' }]) {
        const shot = await stage.result('artifacts/screenshot', params);
        expect(isPlainObject(shot), 'a screenshot is an object');
        const { path, data, mediaType } = shot;
        if (path === undefined) {
          expect(mediaType === 'image/png', 'the screenshot\'s mediaType is "image/png"');
          picture(data, 'data of the screenshot');
          continue;
        }
        const inside =
          typeof path === 'string' && !isAbsolute(path) && !path.split(/[\\/]/u).includes('..');
        expect(inside, `the path ${JSON.stringify(path)} leads out of the artifact directory`);
        const bytes = await readFile(join(context.artifactsDir, path)).catch(() => undefined);
        expect(
          bytes !== undefined,
          `there is no ${JSON.stringify(path)} in the artifact directory: a server elsewhere answers { data }`,
        );
        picture(bytes.toString('base64'), `the file ${JSON.stringify(path)}`);
      }
    },
  },
];
