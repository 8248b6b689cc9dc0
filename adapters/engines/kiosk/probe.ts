// The common probe scene of the conformance check, as docs/engine-conformance.md describes it: one
// small screen with something of everything, and an address that opens slowly. Each visit begins
// with a scene of its own.
import { EngineError, sleep, type Clock, type OperationContext } from '../../../core/contract.ts';
import { button, field, heading, type View } from './views.ts';

/** How long the slow address takes to open, ms. */
const SLOW_MS = 10_000;
export const SLOW_PATH = '/probe/slow';

/** 1000 characters, more than a name or a text may carry. */
const LONG_LINE = Array.from(
  { length: 200 },
  (_, index) => `${String(index).padStart(4, '0')} `,
).join('');

/** What one visit of the scene remembers. */
export class Probe {
  taps = 0;
  replaced = false;
  pin = '';
}

export function probeViews(probe: Probe): readonly View[] {
  const tap = (name: string, testId: string, by: number): View =>
    button(
      name,
      () => {
        probe.taps += by;
      },
      { testId },
    );
  const stale = (): View =>
    button(
      'Replace me',
      () => {
        probe.replaced = true;
      },
      { testId: 'probe-stale' },
    );
  return [
    { ...heading('Probe'), testId: 'probe-title' },
    tap('Add one', 'probe-tap', 1),
    { key: 'count', role: 'status', text: `Taps: ${probe.taps}`, testId: 'probe-count' },
    probe.replaced ? tap('Replaced', 'probe-fresh', 100) : stale(),
    field(
      'PIN',
      probe.pin,
      (value) => {
        probe.pin = value;
      },
      { testId: 'probe-secure', states: { secure: true }, inputPurpose: 'password' },
    ),
    { key: 'wide', role: 'paragraph', text: 'Größe 尺寸 📐', testId: 'probe-unicode' },
    { key: 'long', role: 'paragraph', name: LONG_LINE, text: LONG_LINE, testId: 'probe-long' },
    {
      key: 'box',
      role: 'group',
      name: 'Box',
      testId: 'probe-box',
      children: [tap('Inner', 'probe-inner', 10)],
    },
  ];
}

/** Waits as long as the slow address takes; ends sooner with the signal or the time that is left. */
export async function openSlowly(
  { signal, timeoutMs }: OperationContext,
  clock: Clock,
): Promise<void> {
  await sleep(Math.min(SLOW_MS, timeoutMs), { clock, signal });
  if (timeoutMs < SLOW_MS) {
    throw new EngineError(
      'OPERATION_TIMEOUT',
      `The kiosk did not open ${SLOW_PATH} within the ${timeoutMs} ms that were left.`,
    );
  }
}
