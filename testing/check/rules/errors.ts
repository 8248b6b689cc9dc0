// Errors: their shape, so that a remote failure is classified as a local one, and what they claim. The
// rules provoke what any engine can be made to refuse; every other error of the check counts too.
import { lists, onStage, type RuleContext } from '../context.ts';
import { describe, type Json } from '../inspect.ts';
import { expect, type CheckRule } from '../types.ts';

const ERRORS = 'engine protocol, Messages: Errors';

/** Asks for what an engine cannot do; how it refuses is for those who watch. */
async function provoke(context: RuleContext): Promise<void> {
  const stage = await onStage(context);
  const root = lists(context, 'engine/observe') ? (await stage.observe()).root : undefined;
  if (root !== undefined && lists(context, 'engine/perform')) {
    const attempts: readonly Json[] = [
      { ref: root.ref, action: { kind: 'fill', value: 'x', sensitive: false } },
      { ref: root.ref, action: { kind: 'check' } },
      { ref: { id: 'check-no-such-node', revision: '' }, action: { kind: 'tap' } },
    ];
    for (const params of attempts) await stage.call('engine/perform', params);
  }
  if (lists(context, 'keyboard/type')) {
    await stage.call('keyboard/type', { text: 'x', options: { replace: false } });
  }
  if (lists(context, 'session/open')) {
    const { launchTimeoutMs } = context.limits;
    await stage.call('session/open', { url: '/check/no/such/screen' }, {}, launchTimeoutMs);
  }
}

export const ERROR_RULES: readonly CheckRule[] = [
  {
    id: 'errors/shape',
    title: 'an error of the engine is -32000 and says in data what was thrown',
    spec: ERRORS,
    watch: 'error',
    needs: {},
    run: provoke,
  },
  {
    id: 'errors/retryable',
    title: 'only NODE_STALE and FRAME_NOT_FOUND claim to be retryable',
    spec: ERRORS,
    watch: 'retryable',
    needs: {},
    run: provoke,
  },
  {
    id: 'errors/unknown-node',
    title: 'an action on an id that was never given out is NODE_STALE',
    spec: 'contract, section 7',
    needs: { methods: ['engine/perform', 'engine/observe'] },
    async run(context) {
      const stage = await onStage(context);
      const listed = context.manifest?.actions ?? [];
      const kind = listed.find((one) => one === 'tap' || one === 'focus') ?? listed[0];
      const ref = { id: 'check-no-such-node', revision: '' };
      const action = kind === 'swipe' ? { kind, direction: 'down' } : { kind: kind ?? 'tap' };
      const answer = await stage.call('engine/perform', { ref, action });
      expect('error' in answer, `${action.kind} on an unknown id was answered with a result`);
      const { data } = answer.error as { readonly data?: Json };
      expect(
        data?.['type'] === 'engine' && data['code'] === 'NODE_STALE',
        `an unknown id is NODE_STALE, not ${describe(answer.error)}`,
      );
    },
  },
];
