// An engine that keeps every rule of the conformance check, with a switch for each way of breaking one.
// It proves the check: healthy it passes everything, and each fault is caught by the rule that names
// it. What an engine behind `serveEngine` cannot get wrong (packets, ids, errors on the wire) is
// faulty-server.ts.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  defineEngine,
  EngineError,
  race,
  resolveExpression,
  sleep,
  systemClock,
  type EngineAttemptContext,
  type EngineHandle,
  type EngineSnapshot,
  type OperationContext,
} from '../core/contract.ts';
import { createScene, VIEWPORT } from './faulty-scene.ts';

/** Each fault, and what it does. */
export const ENGINE_FAULTS = {
  rootIdChanges: 'the root has another id after restart',
  rootMovesOnOpen: 'the root has another id after a screen was opened',
  idsChange: 'every observation mints its ids anew',
  idReused: 'the node that takes the place of a removed one gets its id',
  staleActs: 'an action on a removed node acts on what took its place',
  unknownIdActs: 'an action on an id that was never given out succeeds',
  revisionStamped: 'nodes carry a revision of the engine',
  secureValueReported: 'the secure field reports its value',
  pixelsUnmasked: 'masked regions are not counted',
  pixelSizeWrong: 'the size said of a picture is not its own',
  nameTooLong: 'a name of 300 characters is not cut',
  textCutAtFront: 'a long text loses its beginning',
  nestedNotShifted: 'the box of a nested node counts from its parent',
  tapDoesNothing: 'a tap is answered and not done',
  pointMisses: 'a tap at a point is answered and not done',
  unlistedActs: 'an action that is not listed is done',
  abortIgnored: 'signals are not looked at',
  abortPlain: 'an aborted operation throws a plain AbortError in place of the reason',
  budgetIgnored: 'timeoutMs is not looked at',
  endAgainFails: 'endAttempt fails the second time',
  initOnce: 'init fails after a dispose',
  prepareFails: 'prepare fails',
  attemptAbortSticks: 'once the signal of an attempt aborted, nothing is answered any more',
  disposeAloneFails: 'dispose fails without an init',
  locateWrong: 'locate answers nothing',
  screenshotOutside: 'a screenshot is said to lie outside the artifact directory',
  screenshotText: 'a screenshot is no picture',
  stateLost: 'state that was captured cannot be restored',
} as const;

export type EngineFault = keyof typeof ENGINE_FAULTS;

/** 8 by 6 pixels. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAAAAADbboAnAAAADElEQVR4nGNgIAcAAAA2AAG2dLktAAAAAElFTkSuQmCC';
const SIZE = { width: 8, height: 6 };
const SLOW_MS = 10_000;

/** Makes the engine; without faults it keeps every rule. */
export function faultyEngine(faults: readonly EngineFault[] = []): EngineHandle {
  const has = (fault: EngineFault): boolean => faults.includes(fault);
  const scene = createScene(has);
  let on = false;
  let attempt: EngineAttemptContext | undefined;
  let ended = 0;
  let disposed = false;
  let stuck = false;
  let pictures = 0;

  const enter = ({ signal }: OperationContext): void => {
    if (stuck) throw new EngineError('CANCELLED', 'The attempt was aborted.');
    if (!signal.aborted || has('abortIgnored')) return;
    if (has('abortPlain')) throw new DOMException('This operation was aborted', 'AbortError');
    throw signal.reason as Error;
  };
  const snapshot = (pixels: boolean): EngineSnapshot => ({
    location: 'probe',
    root: scene.root,
    viewport: VIEWPORT,
    ...(pixels && {
      pixels: {
        data: Buffer.from(PNG, 'base64'),
        mediaType: 'image/png',
        ...SIZE,
        ...(has('pixelSizeWrong') && { width: VIEWPORT.width }),
        scale: SIZE.width / VIEWPORT.width,
      },
      ...(!has('pixelsUnmasked') && { maskedRegionCount: 1 }),
    }),
  });
  /** Opens the slow screen: as long as it takes, its budget lasts, and its signal is live. */
  const openSlowly = async (context: OperationContext): Promise<void> => {
    const { signal, timeoutMs } = context;
    const budget = has('budgetIgnored') ? SLOW_MS : Math.min(timeoutMs, SLOW_MS);
    const end = attempt?.signal;
    const wait = sleep(budget, {
      clock: systemClock,
      signal: has('abortIgnored') ? end : signal,
    });
    await (end === undefined ? wait : race(wait, end)).catch((error: unknown) => {
      enter(context);
      throw error;
    });
    if (budget < SLOW_MS) {
      throw new EngineError('OPERATION_TIMEOUT', 'The screen did not open in time.');
    }
    scene.show('probe');
  };

  return defineEngine({
    name: 'faulty',
    version: '1.0.0',
    spiVersion: 1,
    actions: ['tap', 'fill'],
    pointerActions: ['tap'],
    async prepare() {
      if (has('prepareFails')) throw new Error('There is nothing to prepare.');
    },
    async finish() {},
    async init() {
      if (disposed && has('initOnce')) throw new Error('The engine cannot be started again.');
      on = true;
    },
    async dispose() {
      if (!on && has('disposeAloneFails')) throw new Error('The engine is not on.');
      on = false;
      disposed = true;
    },
    async startAttempt(context) {
      attempt = context;
      ended = 0;
      if (has('attemptAbortSticks')) {
        const stick = (): void => {
          stuck = true;
        };
        context.signal.addEventListener('abort', stick, { once: true });
      }
      scene.show('blank');
    },
    async endAttempt() {
      attempt?.navigation('the attempt ends');
      attempt = undefined;
      ended += 1;
      if (ended > 1 && has('endAgainFails')) throw new Error('The attempt has ended already.');
    },
    async observe(context, options) {
      enter(context);
      return snapshot(options?.pixels === true);
    },
    async locate(expression, context) {
      enter(context);
      return has('locateWrong') ? [] : resolveExpression(expression, [scene.root]);
    },
    async perform(ref, action, context) {
      enter(context);
      const node = scene.find(ref.id);
      if (action.kind === 'tap') scene.tap(node);
      else if (action.kind === 'fill') scene.fill(node, action.value);
      else if (!has('unlistedActs')) {
        throw new EngineError('UNSUPPORTED_CAPABILITY', `There is no ${action.kind} here.`);
      }
    },
    async performAt(point, _action, context) {
      enter(context);
      scene.tapAt(point);
    },
    state: {
      async capture(context) {
        enter(context);
        return { format: 'faulty', version: 1, data: { nothing: null } };
      },
      async restore(_state, context) {
        enter(context);
        if (has('stateLost')) throw new EngineError('INVALID_STATE', 'This state is unknown.');
      },
    },
    artifacts: {
      async screenshot(_label, context) {
        enter(context);
        if (has('screenshotOutside')) return '../probe.png';
        const folder = join(attempt?.artifactsDir ?? '', 'screenshots');
        pictures += 1;
        const path = `screenshots/probe-${pictures}.png`;
        await mkdir(folder, { recursive: true });
        const bytes = has('screenshotText') ? 'not a picture' : Buffer.from(PNG, 'base64');
        await writeFile(join(folder, `probe-${pictures}.png`), bytes);
        return path;
      },
    },
    session: {
      async open(url, context) {
        enter(context);
        attempt?.navigation(url);
        if (url.endsWith('/probe/slow')) return openSlowly(context);
        if (!url.endsWith('/probe')) {
          throw new EngineError('NOT_ACTIONABLE', `There is no screen at ${url}.`);
        }
        scene.show('probe');
        return undefined;
      },
      async restart(context) {
        enter(context);
        scene.show('blank');
      },
      async reset(context) {
        enter(context);
        scene.show('blank');
      },
    },
  });
}
