// The manifest against what the server really answers. Methods are called under a signal that is
// aborted already, so that an engine that keeps the rules does nothing; what would lose data if
// it did not is called only where that is allowed.
import { LOCATOR_ACTION_KINDS, type LocatorAction } from '../../../core/contract.ts';
import {
  ENGINE_METHODS,
  ENGINE_METHOD_NAMES,
  type EngineMethod,
} from '../../../core/protocol/index.ts';
import {
  attemptParams,
  cleanupParams,
  initParams,
  launched,
  lists,
  onStage,
  ready,
  stageOn,
  type RuleContext,
} from '../context.ts';
import { describe, type Json } from '../inspect.ts';
import { CheckFailure, NotApplicable, expect, type CheckRule } from '../types.ts';
import type { Wire } from '../wire.ts';

const MANIFEST = 'engine protocol, Messages: Manifest';
const DESTRUCTIVE: readonly EngineMethod[] = ['session/reset', 'state/restore'];
const TAP = { kind: 'tap' };

/** Params of operations, without their `operation`. */
const SAMPLES: { readonly [Method in EngineMethod]?: Json } = {
  'engine/locate': { expression: { kind: 'index', source: byRole('button'), index: 0 } },
  'engine/perform': { ref: { id: 'check-no-such-node', revision: '' }, action: TAP },
  'engine/performAt': { point: { x: 0, y: 0 }, action: TAP },
  'keyboard/type': { text: '', options: { replace: false } },
  'keyboard/press': { key: 'Escape' },
  'state/restore': { state: { format: 'check', version: 1, data: {} } },
  'session/open': { url: '/' },
};

function byRole(role: string): Json {
  return {
    kind: 'query',
    query: { kind: 'role', value: { kind: 'string', value: role, exact: true } },
  };
}

/** An operation's params under a signal that was aborted before. */
function abortedParams(context: RuleContext, wire: Wire, method: EngineMethod): Json {
  const signal = { id: wire.mintId(), aborted: true };
  return { ...SAMPLES[method], operation: stageOn(context, wire).operation({ signal }) };
}

/** A hook's params, its signal aborted before. */
function hookParams(context: RuleContext, wire: Wire, method: EngineMethod): Json {
  const signal = { id: wire.mintId(), aborted: true };
  const run = { runId: 'check', targetName: 'check', env: {} };
  switch (method) {
    case 'lifecycle/prepare':
      return { ...run, projectRoot: context.cwd, app: {}, slots: 1, signal };
    case 'lifecycle/finish':
      return { ...run, ...cleanupParams(context, wire), signal };
    case 'lifecycle/init':
      return { ...initParams(context, wire), signal };
    case 'lifecycle/startAttempt':
      return { ...attemptParams(context, wire, 'check-1'), signal };
    default:
      return { ...cleanupParams(context, wire), signal };
  }
}

const isOperation = (method: EngineMethod): boolean => ENGINE_METHODS[method].time === 'operation';

export const MANIFEST_RULES: readonly CheckRule[] = [
  {
    id: 'manifest/listed',
    title: 'every method that the manifest lists is answered',
    spec: MANIFEST,
    needs: {},
    async run(context) {
      const stage = stageOn(context, await launched(context));
      const { wire } = stage;
      await stage.startAttempt('check-1');
      for (const method of ENGINE_METHOD_NAMES) {
        if (!lists(context, method) || !isOperation(method)) continue;
        if (DESTRUCTIVE.includes(method) && !context.destructive) continue;
        const params = abortedParams(context, wire, method);
        const answer = await wire.request(method, params, context.limits.launchTimeoutMs);
        refuseUnknown(method, answer);
      }
      for (const method of [
        'lifecycle/settleAttempt',
        'lifecycle/endAttempt',
        'lifecycle/dispose',
      ] as const) {
        if (!lists(context, method)) continue;
        refuseUnknown(method, await wire.request(method, cleanupParams(context, wire)));
      }
    },
  },
  {
    id: 'manifest/unlisted',
    title: 'a method that the manifest does not list is answered with -32601',
    spec: MANIFEST,
    needs: {},
    async run(context) {
      const wire = await ready(context);
      for (const method of ENGINE_METHOD_NAMES) {
        if (lists(context, method)) continue;
        const params = isOperation(method)
          ? abortedParams(context, wire, method)
          : hookParams(context, wire, method);
        const answer = await wire.request(method, params);
        if ('error' in answer && answer.error.code === -32_601) continue;
        throw new CheckFailure(
          `${method} is not listed, and was answered with ${'error' in answer ? describe(answer.error) : 'a result'} instead of -32601`,
        );
      }
    },
  },
  {
    id: 'manifest/actions',
    title: 'an action that the manifest does not list is refused',
    spec: MANIFEST,
    needs: { methods: ['engine/perform', 'engine/observe'] },
    async run(context) {
      const stage = await onStage(context);
      const { root } = await stage.observe();
      const listed = context.manifest?.actions ?? [];
      // The first that could do the least harm.
      const tame: readonly LocatorAction['kind'][] = ['hover', 'scrollIntoView', 'focus'];
      const kinds = [...tame, ...LOCATOR_ACTION_KINDS.filter((kind) => !tame.includes(kind))];
      const action = kinds
        .filter((kind) => !listed.includes(kind))
        .map(actionOf)
        .find((one) => one !== undefined);
      if (action === undefined) throw new NotApplicable('the manifest lists every action');
      const answer = await stage.call('engine/perform', { ref: root.ref, action });
      expect('error' in answer, `${String(action['kind'])} is not listed, and was done`);
    },
  },
];

function refuseUnknown(method: string, answer: Awaited<ReturnType<Wire['request']>>): void {
  if (!('error' in answer) || answer.error.code !== -32_601) return;
  throw new CheckFailure(`${method} is listed, and was answered with ${describe(answer.error)}`);
}

/** An action of a kind whose members can be made up without harm. */
function actionOf(kind: LocatorAction['kind']): Json | undefined {
  switch (kind) {
    case 'dragTo':
    case 'setInputFiles':
    case 'fill':
    case 'press':
    case 'selectOption':
      return undefined;
    case 'swipe':
      return { kind, direction: 'down' };
    default:
      return { kind };
  }
}
