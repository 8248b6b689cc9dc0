// One flow that plays on the kiosk and on the shop page alike: every kind of step, actions of
// every common kind, and an assert that fails. The end-to-end tests compare what it leaves behind
// over different transports, engines and models.
import { isAgentError, type AttemptContext, type StepRecord } from 'enginewright';
import * as v from 'valibot';

export interface LunchResult {
  readonly order: { readonly number: string; readonly total: string };
  /** Code of the assert that fails on purpose. */
  readonly code: string | undefined;
}

/** Orders lunch. `path` is what `app.open` gets. */
export async function orderLunch(context: AttemptContext, path: string): Promise<LunchResult> {
  const { agent, app } = context;
  await app.open(path);
  await agent.act(
    'tap "Start order", tap "Lasagne", choose "Large" in "Size", check "Extra cheese", then tap "Add to basket"',
  );
  await agent.assert('the screen shows "1 x Lasagne, Large, extra cheese"');
  await agent.act(
    'tap "Checkout", type {customer} into "Your name", choose "Cash at the counter" in "Pay with", then tap "Pay"',
    { params: { customer: 'Ada Lovelace' } },
  );
  await agent.waitFor('the screen shows "Order ready"', { interval: 100 });
  const order = await agent.extract('number from "Order number", total from "Total"', {
    schema: v.object({ number: v.string(), total: v.string() }),
  });
  const code = await agent.assert('the screen shows "Order cancelled"').then(
    () => undefined,
    (error: unknown) => (isAgentError(error) ? error.code : 'FOREIGN'),
  );
  return { order, code };
}

/** A record without what differs from run to run: ids and times. */
export function comparable(record: StepRecord): unknown {
  const { id, startedAt, durationMs, timings, screenshot, actions, ...rest } = record;
  return {
    ...rest,
    actions: actions.map(({ durationMs: _took, ...action }) => action),
    hasTimes: [id, startedAt].every((text) => text !== '') && durationMs >= 0 && timings.actMs >= 0,
    hasScreenshot: screenshot !== undefined,
  };
}
