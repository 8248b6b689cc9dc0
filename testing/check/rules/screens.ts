// Rules that need the author's probes: what a tap does, what is gone, what is secret, what is long, and
// where things are.
import { isPlainObject, type Rect, type SemanticNode } from '../../../core/contract.ts';
import { allNodes, lists, onStage, shown, type RuleContext, type Stage } from '../context.ts';
import { CheckFailure, NotApplicable, expect, type CheckNeeds, type CheckRule } from '../types.ts';
import { describe } from '../inspect.ts';

const REFS = 'contract, section 3 (ref)';
const TAP: CheckNeeds = { methods: ['engine/observe', 'engine/perform'], actions: ['tap'] };
const SECRET = 'hunter2-4711';

const named = ({ ref, role, testId }: SemanticNode): string =>
  `${role ?? 'node'} ${JSON.stringify(testId ?? ref.id)}`;

/** Taps the probe `stale`, which removes it; answers the node that is gone. */
async function tapAway(stage: Stage): Promise<SemanticNode> {
  const node = await stage.find('stale');
  await stage.tap(node);
  return node;
}

/** Adds what each id stands for; fails when one stands for another node than before. */
async function remember(stage: Stage, known: Map<string, string>): Promise<void> {
  for (const node of allNodes((await stage.observe()).root)) {
    const { id } = node.ref;
    const identity = JSON.stringify([node.role, node.testId]);
    const before = known.get(id);
    known.set(id, identity);
    if (before === undefined || before === identity) continue;
    throw new CheckFailure(
      `the id ${JSON.stringify(id)} stood for ${before}, and was given to ${identity}`,
    );
  }
}

/** Taps the middle of a node's box, and expects the screen to change. */
async function tapMiddle(context: RuleContext, stage: Stage, node: SemanticNode): Promise<void> {
  const { rect } = node;
  expect(rect !== undefined, `${named(node)} has no rect`);
  const before = shown(await stage.observe());
  const point = { x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 };
  await stage.result('engine/performAt', { point, action: { kind: 'tap' } });
  expect(
    shown(await stage.observe()) !== before,
    `a tap at (${point.x}, ${point.y}), the middle of ${named(node)}, changed nothing`,
  );
}

const canPoint = (context: RuleContext): boolean =>
  lists(context, 'engine/performAt') && (context.manifest?.pointerActions ?? []).includes('tap');

/** The nodes above one, the nearest first. */
function ancestors(root: SemanticNode, id: string): readonly SemanticNode[] | undefined {
  for (const child of root.children ?? []) {
    if (child.ref.id === id) return [root];
    const above = ancestors(child, id);
    if (above !== undefined) return [...above, root];
  }
  return undefined;
}

/** Boxes are rounded differently from platform to platform. */
const SLACK = 1;
const within = (inner: Rect, outer: Rect): boolean =>
  inner.x >= outer.x - SLACK &&
  inner.y >= outer.y - SLACK &&
  inner.x + inner.width <= outer.x + outer.width + SLACK &&
  inner.y + inner.height <= outer.y + outer.height + SLACK;

export const SCREEN_RULES: readonly CheckRule[] = [
  {
    id: 'tap/acts',
    title: 'a tap on a node does what it does on the screen, and answers null',
    spec: 'contract, section 5',
    needs: { ...TAP, probes: ['tap'] },
    async run(context) {
      const stage = await onStage(context);
      const node = await stage.find('tap');
      const before = shown(await stage.observe());
      const action = { kind: 'tap' };
      const result = await stage.result('engine/perform', { ref: node.ref, action });
      expect(result === null, `engine/perform answers null, not ${JSON.stringify(result)}`);
      expect(shown(await stage.observe()) !== before, `a tap on ${named(node)} changed nothing`);
    },
  },
  {
    id: 'tap/point',
    title: 'a tap at the middle of a box hits the node of that box',
    spec: 'contract, section 5',
    needs: { methods: ['engine/performAt'], pointerActions: ['tap'], probes: ['tap'] },
    async run(context) {
      const stage = await onStage(context);
      await tapMiddle(context, stage, await stage.find('tap'));
    },
  },
  {
    id: 'stale/refused',
    title: 'an action on a node that is gone is NODE_STALE',
    spec: REFS,
    needs: { ...TAP, probes: ['stale'] },
    async run(context) {
      const stage = await onStage(context);
      const { ref } = await tapAway(stage);
      const answer = await stage.call('engine/perform', { ref, action: { kind: 'tap' } });
      expect('error' in answer, `the node ${JSON.stringify(ref.id)} is gone, and was acted on`);
      const { data } = answer.error;
      expect(
        isPlainObject(data) && data['type'] === 'engine' && data['code'] === 'NODE_STALE',
        `a node that is gone is NODE_STALE, not ${describe(answer.error)}`,
      );
    },
  },
  {
    id: 'stale/does-nothing',
    title: 'an action on a node that is gone changes nothing',
    spec: REFS,
    needs: { ...TAP, probes: ['stale'] },
    async run(context) {
      const stage = await onStage(context);
      const { ref } = await tapAway(stage);
      const before = shown(await stage.observe());
      await stage.call('engine/perform', { ref, action: { kind: 'tap' } });
      const after = shown(await stage.observe());
      expect(after === before, `a tap on the node ${JSON.stringify(ref.id)}, which is gone, acted`);
    },
  },
  {
    id: 'stale/ids',
    title: 'the id of a node that is gone is never used for another',
    spec: REFS,
    needs: { ...TAP, probes: ['stale'] },
    async run(context) {
      const stage = await onStage(context);
      const known = new Map<string, string>();
      await remember(stage, known);
      const { ref } = await tapAway(stage);
      await remember(stage, known);
      const still = allNodes((await stage.observe()).root).some((node) => node.ref.id === ref.id);
      expect(!still, `the probe stale is still there after a tap (${JSON.stringify(ref.id)})`);
      const { open } = context.probes;
      if (open === undefined || !lists(context, 'session/open')) return;
      await stage.result('session/open', { url: open });
      await remember(stage, known);
    },
  },
  {
    id: 'secure/silent',
    title: 'what was filled into a secure field is nowhere in a snapshot',
    spec: 'contract, section 3 (value)',
    needs: {
      methods: ['engine/observe', 'engine/perform'],
      actions: ['fill'],
      probes: ['secure'],
    },
    async run(context) {
      const stage = await onStage(context);
      const { ref } = await stage.find('secure');
      const action = { kind: 'fill', value: SECRET, sensitive: true };
      await stage.result('engine/perform', { ref, action });
      const snapshot = await stage.observe();
      const field = allNodes(snapshot.root).find((node) => node.ref.id === ref.id);
      expect(field !== undefined, 'the secure field is another node after fill');
      expect(field.states?.secure === true, `${named(field)} does not say that it is secure`);
      for (const node of allNodes(snapshot.root)) {
        if (node.states?.secure !== true) continue;
        expect(node.value === undefined, `${named(node)} is secure, and reports its value`);
        expect(node.selection === undefined, `${named(node)} is secure, and reports a selection`);
      }
      expect(!JSON.stringify(snapshot).includes(SECRET), 'the secret is in the snapshot');
    },
  },
  {
    id: 'secure/masked',
    title: 'every secure field in sight is masked in pixels, and counted',
    spec: 'contract, section 3 (maskedRegionCount)',
    needs: { methods: ['engine/observe'], probes: ['secure'] },
    async run(context) {
      const stage = await onStage(context);
      await stage.find('secure');
      const { root, pixels, maskedRegionCount } = await stage.observe({ pixels: true });
      if (pixels === undefined) throw new NotApplicable('the engine answers no pixels');
      const secure = allNodes(root).filter((node) => node.states?.secure === true);
      const count = maskedRegionCount ?? 0;
      expect(
        count >= secure.length,
        `maskedRegionCount is ${count}, with ${secure.length} secure fields`,
      );
    },
  },
  {
    id: 'long-text/cut',
    title: 'a long name is cut after exactly 256 characters, a long text after 512, at the end',
    spec: 'contract, section 3 (text limits)',
    needs: { methods: ['engine/observe'], probes: ['longText'] },
    async run(context) {
      const stage = await onStage(context);
      const node = await stage.find('longText');
      const begins = context.probes.longText?.begins ?? '';
      for (const [member, limit] of [
        ['name', 256],
        ['text', 512],
      ] as const) {
        const text = node[member] ?? '';
        expect(
          text.startsWith(begins),
          `${member} begins with ${JSON.stringify(text.slice(0, 40))}, not with ${JSON.stringify(begins)}: cut it at its end`,
        );
        expect(
          text.length === limit,
          `${member} has ${text.length} characters; it is cut after exactly ${limit}`,
        );
      }
    },
  },
  {
    id: 'nested/box',
    title: 'the box of a nested node is in the coordinates of the viewport',
    spec: 'contract, section 3 (rect)',
    needs: { methods: ['engine/observe'], probes: ['nested'] },
    async run(context) {
      const stage = await onStage(context);
      const node = await stage.find('nested');
      const { rect } = node;
      expect(rect !== undefined, `${named(node)} has no rect`);
      const { root } = await stage.observe();
      const above = ancestors(root, node.ref.id) ?? [];
      const box = above.find((one) => one.rect !== undefined);
      expect(
        box?.rect !== undefined && box.ref.id !== root.ref.id,
        `${named(node)} is in no box but the root's: it is no nested node`,
      );
      expect(
        within(rect, box.rect),
        `${named(node)} at ${JSON.stringify(rect)} is not within ${named(box)} at ${JSON.stringify(box.rect)}`,
      );
      if (canPoint(context)) await tapMiddle(context, stage, node);
    },
  },
];
