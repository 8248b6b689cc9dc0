// The common probe scene (docs/engine-conformance.md) in memory, as the faulty engine shows it: what is
// on it, what a tap does, and which ids stand for what. Its faults are those of an engine that
// counts, cuts or remembers wrongly.
import { cutName, cutText, EngineError, type SemanticNode } from '../core/contract.ts';
import type { EngineFault } from './faulty-engine.ts';

export const VIEWPORT = { width: 400, height: 300, scale: 1 } as const;
const LONG = Array.from({ length: 200 }, (_, index) => `${String(index).padStart(4, '0')} `).join(
  '',
);
const BOX = { x: 20, y: 200, width: 200, height: 60 };
const INNER = { x: 30, y: 10, width: 80, height: 24 };
const ROW = 24;
/** Where the first row of the scene begins, CSS pixels. */
const TOP = 8;

export interface Scene {
  /** Shows the probe's screen, or a blank one, as a new visit. */
  show(what: 'probe' | 'blank'): void;
  readonly root: SemanticNode;
  find(id: string): SemanticNode;
  tap(node: SemanticNode): void;
  tapAt(point: { readonly x: number; readonly y: number }): void;
  fill(node: SemanticNode, value: string): void;
}

export function createScene(has: (fault: EngineFault) => boolean): Scene {
  let screen: 'probe' | 'blank' = 'blank';
  let count = 0;
  let replaced = false;
  let pin = '';
  let roots = 0;
  const ids = new Map<string, string>();
  let minted = 0;

  const idOf = (name: string): string => {
    if (name === 'probe-fresh' && has('idReused')) return idOf('probe-stale');
    const known = ids.get(name);
    if (known !== undefined) return known;
    minted += 1;
    ids.set(name, `n${minted}`);
    return `n${minted}`;
  };
  let rows = 0;
  const node = (testId: string, extra: Omit<SemanticNode, 'ref' | 'testId'>): SemanticNode => ({
    ref: { id: idOf(testId), revision: has('revisionStamped') ? '7' : '' },
    testId,
    rect: { x: 20, y: TOP + ROW * rows++, width: 200, height: 20 },
    ...extra,
  });
  const secure = (): SemanticNode => {
    const states = { secure: true };
    const value = has('secureValueReported') ? { value: pin } : {};
    return node('probe-secure', {
      role: 'textbox',
      name: 'PIN',
      inputPurpose: 'password',
      states,
      ...value,
    });
  };
  const long = (): SemanticNode => {
    const name = has('nameTooLong') ? LONG.slice(0, 300) : cutName(LONG);
    const text = has('textCutAtFront') ? LONG.slice(-512) : cutText(LONG);
    return node('probe-long', { role: 'paragraph', name, text });
  };
  const box = (): SemanticNode => {
    const shift = has('nestedNotShifted') ? { x: 0, y: 0 } : BOX;
    const rect = { ...INNER, x: INNER.x + shift.x, y: INNER.y + shift.y };
    const inner = node('probe-inner', { role: 'button', name: 'Inner', rect });
    return node('probe-box', { role: 'group', name: 'Box', rect: BOX, children: [inner] });
  };
  const probe = (): readonly SemanticNode[] => {
    rows = 0;
    return [
      node('probe-title', { role: 'heading', level: 1, name: 'Probe' }),
      node('probe-tap', { role: 'button', name: 'Add one' }),
      node('probe-count', { role: 'status', text: `Taps: ${count}` }),
      replaced
        ? node('probe-fresh', { role: 'button', name: 'Replaced' })
        : node('probe-stale', { role: 'button', name: 'Replace me' }),
      secure(),
      node('probe-unicode', { role: 'paragraph', text: 'Größe 尺寸 📐' }),
      long(),
      box(),
    ];
  };

  const scene: Scene = {
    show(what) {
      screen = what;
      count = 0;
      replaced = false;
      pin = '';
      ids.clear();
      if (has(what === 'blank' ? 'rootIdChanges' : 'rootMovesOnOpen')) roots += 1;
    },
    get root() {
      if (has('idsChange')) ids.clear();
      return {
        ref: { id: roots === 0 ? 'root' : `root-${roots}`, revision: '' },
        role: 'application',
        rect: { x: 0, y: 0, width: VIEWPORT.width, height: VIEWPORT.height },
        ...(screen === 'probe' && { children: probe() }),
      };
    },
    find(id) {
      const { root } = scene;
      const found = every(root).find(({ ref }) => ref.id === id);
      if (found !== undefined) return found;
      const gone = /^n\d+$/u.test(id);
      if (gone ? has('staleActs') : has('unknownIdActs')) {
        return every(root).find(({ testId }) => testId === 'probe-fresh') ?? root;
      }
      throw new EngineError('NODE_STALE', `Node ${JSON.stringify(id)} is not on the screen.`, {
        retryable: true,
      });
    },
    tap({ testId }) {
      if (has('tapDoesNothing')) return;
      if (testId === 'probe-tap') count += 1;
      else if (testId === 'probe-inner') count += 10;
      else if (testId === 'probe-fresh') count += 100;
      else if (testId === 'probe-stale') replaced = true;
    },
    tapAt({ x, y }) {
      const hit = every(scene.root).findLast(
        ({ rect }) =>
          rect !== undefined &&
          x >= rect.x &&
          x < rect.x + rect.width &&
          y >= rect.y &&
          y < rect.y + rect.height,
      );
      if (hit !== undefined && !has('pointMisses')) scene.tap(hit);
    },
    fill(target, value) {
      if (target.testId !== 'probe-secure') {
        throw new EngineError('NOT_ACTIONABLE', 'Only the PIN takes text.');
      }
      pin = value;
    },
  };
  return scene;
}

function every(root: SemanticNode): readonly SemanticNode[] {
  return [root, ...(root.children ?? []).flatMap(every)];
}
