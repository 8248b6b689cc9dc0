// What the model knows of the screen, beside what the screen is now. A report says the difference and
// moves the knowledge forward; ids are looked up on the newest observation, never on the known one.
// Settling after an action and looking without one both end here, so that "newest" is one place.
import type { EngineSnapshot } from '../contract/observation.ts';
import type { Observation } from './driver.ts';
import { renderChanges } from './screen/changes.ts';
import { renderScreen, type ScreenView } from './screen/render.ts';
import { settle } from './screen/settle.ts';
import type { Step } from './step.ts';

/** The view part of a call's result. */
export interface Report {
  readonly kind: 'screen' | 'changes' | 'unchanged';
  readonly text: string;
}

export interface View {
  /** The newest observation. */
  readonly screen: Observation;
  /** Observes once. */
  look(): Promise<Observation>;
  /** Observes until the screen has changed and holds still, within the settling window. */
  settled(): Promise<Observation>;
  /** The whole screen, rendered; from now on the model knows it. */
  show(which: ScreenView): string;
  /** What differs from what the model knows; from now on it knows. */
  report(): Report;
}

/** All of a screen as text, up to the agent's cap: what a judgment or an extraction is shown. */
export function wholeScreen(step: Step, snapshot: EngineSnapshot): string {
  const { text, shown } = renderScreen(snapshot, {
    ids: step.ids,
    view: 'whole',
    maxBytes: step.call.entry.maxObservationBytes,
    redactor: step.scope.redactor,
  });
  step.shown(text, shown.size);
  return text;
}

/** Observes once and makes the view of a step. */
export async function createView(step: Step): Promise<View> {
  const { scope, ids, call } = step;
  const common = {
    ids,
    maxBytes: call.entry.maxObservationBytes,
    redactor: scope.redactor,
  };
  let screen = await step.observe();
  let known = screen;
  let shown: ReadonlySet<string> = new Set();
  const steady = new Set<string>();

  const settled = (): Promise<Observation> =>
    step.timed('settleMs', async () => {
      const result = await settle({
        observe: () => scope.driver.observe(step.operation()),
        before: screen,
        clock: scope.clock,
        signal: step.signal,
        steady,
      });
      screen = result.observation;
      return screen;
    });

  return {
    get screen() {
      return screen;
    },
    async look() {
      screen = await step.observe();
      return screen;
    },
    settled,
    show(which) {
      const rendered = renderScreen(screen.snapshot, { ...common, view: which });
      ({ shown } = rendered);
      known = screen;
      step.shown(rendered.text, rendered.shown.size);
      return rendered.text;
    },
    report() {
      const changes = renderChanges({
        ...common,
        before: known.snapshot,
        after: screen.snapshot,
        shown,
      });
      ({ shown } = changes);
      known = screen;
      step.shown(changes.text, changes.shown.size);
      return { kind: changes.kind, text: changes.text };
    },
  };
}
