// An engine's life over the wire: init, attempts, dispose, each also in the order that happens after
// something went wrong.
import { cleanupParams, initParams, launched, lists, onStage, ready, stageOn } from '../context.ts';
import type { Json } from '../inspect.ts';
import { NotApplicable, expect, type CheckRule } from '../types.ts';

const METHODS = 'engine protocol, Messages: Engine methods';
const ENGINE = 'contract, section 1';

const nothing = (method: string, result: unknown): void => {
  expect(result === null, `${method} answers null, not ${JSON.stringify(result)}`);
};

export const LIFECYCLE_RULES: readonly CheckRule[] = [
  {
    id: 'lifecycle/order',
    title: 'init, two attempts in turn and dispose work, and each answers null',
    spec: METHODS,
    needs: {},
    async run(context) {
      const wire = await ready(context);
      const { launchTimeoutMs } = context.limits;
      if (lists(context, 'lifecycle/init')) {
        const result = await wire.result(
          'lifecycle/init',
          initParams(context, wire),
          launchTimeoutMs,
        );
        nothing('lifecycle/init', result);
      }
      const stage = stageOn(context, wire);
      for (const attemptId of ['check-1', 'check-2']) {
        await stage.startAttempt(attemptId);
        if (lists(context, 'engine/observe')) await stage.observe();
        for (const method of ['lifecycle/settleAttempt', 'lifecycle/endAttempt'] as const) {
          if (!lists(context, method)) continue;
          nothing(method, await wire.result(method, cleanupParams(context, wire)));
        }
      }
      if (!lists(context, 'lifecycle/dispose')) return;
      nothing(
        'lifecycle/dispose',
        await wire.result('lifecycle/dispose', cleanupParams(context, wire)),
      );
    },
  },
  {
    id: 'lifecycle/end-again',
    title: 'endAttempt answers a second time, and without an attempt',
    spec: ENGINE,
    needs: { methods: ['lifecycle/endAttempt'] },
    async run(context) {
      const stage = stageOn(context, await launched(context));
      await stage.endAttempt();
      await stage.startAttempt('check-1');
      await stage.endAttempt();
      await stage.endAttempt();
    },
  },
  {
    id: 'lifecycle/dispose-alone',
    title: 'dispose answers without an init, and a second time',
    spec: ENGINE,
    needs: { methods: ['lifecycle/dispose'] },
    async run(context) {
      const wire = await ready(context);
      for (let turn = 0; turn < 2; turn += 1) {
        await wire.result('lifecycle/dispose', cleanupParams(context, wire));
      }
    },
  },
  {
    id: 'lifecycle/init-again',
    title: 'init may follow dispose',
    spec: ENGINE,
    needs: { methods: ['lifecycle/init', 'lifecycle/dispose'] },
    async run(context) {
      const wire = await launched(context);
      await wire.result('lifecycle/dispose', cleanupParams(context, wire));
      await wire.result(
        'lifecycle/init',
        initParams(context, wire),
        context.limits.launchTimeoutMs,
      );
      const stage = stageOn(context, wire);
      await stage.startAttempt('check-1');
      if (lists(context, 'engine/observe')) await stage.observe();
      await stage.endAttempt();
    },
  },
  {
    id: 'lifecycle/silence',
    title: 'no attempt/* message leaves once endAttempt was answered',
    spec: 'engine protocol, Messages: Server to client',
    watch: 'late',
    needs: { methods: ['lifecycle/startAttempt', 'lifecycle/endAttempt'] },
    async run(context) {
      const stage = await onStage(context);
      await stage.endAttempt();
      await stage.wire.quiet();
    },
  },
  {
    id: 'lifecycle/run',
    title: 'prepare and finish are answered on a connection with the role "run"',
    spec: METHODS,
    needs: {},
    async run(context) {
      if (!lists(context, 'lifecycle/prepare') && !lists(context, 'lifecycle/finish')) {
        throw new NotApplicable(
          'the manifest lists neither lifecycle/prepare nor lifecycle/finish',
        );
      }
      const wire = await ready(context, 'run');
      const { launchTimeoutMs } = context.limits;
      const run: Json = { runId: 'check', targetName: 'check', env: {} };
      if (lists(context, 'lifecycle/prepare')) {
        const { projectRoot, app, signal } = initParams(context, wire);
        const params = { ...run, projectRoot, app, slots: 1, signal };
        await wire.result('lifecycle/prepare', params, launchTimeoutMs);
      }
      if (!lists(context, 'lifecycle/finish')) return;
      const params = { ...run, ...cleanupParams(context, wire) };
      nothing('lifecycle/finish', await wire.result('lifecycle/finish', params));
    },
  },
];
