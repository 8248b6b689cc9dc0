// The tools of `act`: one row per verb, with what it needs of the engine, in the order in which the
// model sees them. A verb whose engine member is absent has no tool, so what a model can ask for is
// what the engine can do. Deterministic to the byte: providers cache tool definitions.
import { LOCATOR_ACTION_KINDS, SWIPE_DIRECTIONS } from '../../contract/actions.ts';
import type { LocatorActionKind, SwipeDirection } from '../../contract/actions.ts';
import type { EngineHandle } from '../../contract/engine.ts';
import type { ModelTool } from '../model.ts';
import { VERDICT_CODES, VERDICT_STATUSES } from '../verdict.ts';
import { choice, flag, integer, optional, schemaOf, text, texts } from './fields.ts';
import type { Fields, ToolSpec } from './fields.ts';

/** Most repetitions of `press` and `scroll` in one call. */
const MAX_TIMES = 20;

interface Target {
  readonly target: string;
}
/** The checked arguments of each verb. */
export interface VerbArguments {
  readonly tap: Target;
  readonly double_tap: Target;
  readonly long_press: Target;
  readonly right_click: Target;
  readonly hover: Target;
  readonly type: {
    readonly target: string | null;
    readonly value: string;
    readonly replace: boolean | null;
  };
  readonly press: {
    readonly target: string | null;
    readonly key: string;
    readonly times: number | null;
  };
  readonly select: Target & { readonly value: string };
  readonly check: Target & { readonly checked: boolean | null };
  readonly scroll: {
    readonly direction: SwipeDirection;
    readonly target: string | null;
    readonly times: number | null;
  };
  readonly scroll_to: {
    readonly target: string | null;
    readonly text: string | null;
    readonly direction: SwipeDirection | null;
  };
  readonly drag: Target & { readonly to: string };
  readonly upload: Target & { readonly files: readonly string[] };
  readonly navigate: { readonly url: string };
  readonly back: Readonly<Record<string, never>>;
  readonly dismiss_keyboard: Readonly<Record<string, never>>;
  readonly observe: Readonly<Record<string, never>>;
}
export type Verb = keyof VerbArguments;

/** What the engine can do, as the table asks it. */
interface Offer {
  can(kind: LocatorActionKind): boolean;
  readonly keyboard: boolean;
  readonly dismiss: boolean;
  readonly open: boolean;
  readonly back: boolean;
}

interface Row {
  readonly description: string;
  /** The fields on this engine; `undefined`: the verb is not offered. */
  fields(offer: Offer): Fields | undefined;
}

const node = (what = 'Node id from the screen, like "e12".') => text(what);
const DIRECTION = 'Where the view moves to.';

const tapRow = (kind: LocatorActionKind, description: string): Row => ({
  description,
  fields: ({ can }) => (can(kind) ? { target: node() } : undefined),
});

/** A field for a node where the keyboard is the way without one. */
function nodeOrFocus(withNode: boolean, keyboard: boolean): Fields {
  if (!withNode) return {};
  return keyboard
    ? { target: optional(node('Node id, or null for what has focus.')) }
    : { target: node() };
}

const ROWS: { readonly [Name in Verb]: Row } = {
  tap: tapRow('tap', 'Tap or click a node.'),
  double_tap: tapRow('doubleTap', 'Double tap a node.'),
  long_press: tapRow('longPress', 'Press and hold a node.'),
  right_click: tapRow('secondaryTap', 'Click a node with the secondary button.'),
  hover: tapRow('hover', 'Move the pointer over a node.'),
  type: {
    description:
      'Enter text. In a node it takes the place of what is there, unless replace is false.',
    fields: ({ can, keyboard }) =>
      can('fill') || keyboard
        ? {
            ...nodeOrFocus(can('fill'), keyboard),
            value: text(),
            replace: optional(flag('false appends. Default: true with a node, else false.')),
          }
        : undefined,
  },
  press: {
    description: 'Press a key.',
    fields: ({ can, keyboard }) =>
      can('press') || keyboard
        ? {
            ...nodeOrFocus(can('press'), keyboard),
            key: text('A character or a name such as Enter, Escape, Tab, ArrowDown; Control+a.'),
            times: optional(integer(1, MAX_TIMES, `1 to ${MAX_TIMES}. Default 1.`)),
          }
        : undefined,
  },
  select: {
    description: 'Choose an option of a list or combobox.',
    fields: ({ can }) =>
      can('selectOption') ? { target: node(), value: text("The option's label.") } : undefined,
  },
  check: {
    description: 'Set a checkbox, switch or radio to a state. Does nothing when it has it already.',
    fields: ({ can }) =>
      can('check') && can('uncheck')
        ? { target: node(), checked: optional(flag('Default true.')) }
        : undefined,
  },
  scroll: {
    description: 'Scroll the view, or a node that scrolls, by about one page.',
    fields: ({ can }) =>
      can('swipe')
        ? {
            direction: choice(SWIPE_DIRECTIONS, DIRECTION),
            target: optional(node('Node id, or null for the whole view.')),
            times: optional(integer(1, MAX_TIMES, `1 to ${MAX_TIMES}. Default 1.`)),
          }
        : undefined,
  },
  scroll_to: {
    description: 'Bring a node, or the first node with a text, into the view.',
    fields: ({ can }) => {
      const byNode = can('scrollIntoView');
      const byText = can('swipe');
      if (!byNode && !byText) return undefined;
      if (!byText) return { target: node() };
      return {
        target: optional(
          node(
            byNode ? 'The node; with text: where to scroll, or null.' : 'Where to scroll, or null.',
          ),
        ),
        text: byNode ? optional(text('Text to look for.')) : text('Text to look for.'),
        direction: optional(choice(SWIPE_DIRECTIONS, 'With text. Default down.')),
      };
    },
  },
  drag: {
    description: 'Drag a node onto another.',
    fields: ({ can }) =>
      can('dragTo') ? { target: node(), to: node('Node id to drop on.') } : undefined,
  },
  upload: {
    description: 'Choose files in a file input.',
    fields: ({ can }) =>
      can('setInputFiles')
        ? { target: node(), files: texts('Paths relative to the project.') }
        : undefined,
  },
  navigate: {
    description: 'Open a URL of the app, or a path on it.',
    fields: ({ open }) => (open ? { url: text() } : undefined),
  },
  back: {
    description: 'Go back one page or screen.',
    fields: ({ back }) => (back ? {} : undefined),
  },
  dismiss_keyboard: {
    description: 'Close the on-screen keyboard.',
    fields: ({ dismiss }) => (dismiss ? {} : undefined),
  },
  observe: {
    description: 'Look at the whole screen again.',
    fields: () => ({}),
  },
};

/** Ends the step. Always offered, always last. */
export const COMPLETE_STEP: ToolSpec = {
  name: 'complete_step',
  description:
    'End the step. passed: done, and the screen shows it. failed: the app did not do it. blocked: it could not be tried.',
  fields: {
    status: choice(VERDICT_STATUSES),
    summary: text('What was done and what the screen shows, in one or two sentences.'),
    code: optional(choice(VERDICT_CODES, 'Only for failed or blocked.')),
  },
};

/** The verbs that `engine` can do, in the order of the table. */
export function verbSpecs(engine: EngineHandle): ReadonlyMap<string, ToolSpec & { name: Verb }> {
  const kinds = new Set<LocatorActionKind>(
    engine.perform === undefined
      ? []
      : LOCATOR_ACTION_KINDS.filter((kind) => engine.actions?.includes(kind) === true),
  );
  const offer: Offer = {
    can: (kind) => kinds.has(kind),
    keyboard: engine.keyboard !== undefined,
    dismiss: engine.keyboard?.dismiss !== undefined,
    open: engine.session?.open !== undefined,
    back: engine.session?.back !== undefined,
  };
  const specs = new Map<string, ToolSpec & { name: Verb }>();
  for (const name of Object.keys(ROWS) as Verb[]) {
    const { description } = ROWS[name];
    const fields = ROWS[name].fields(offer);
    if (fields !== undefined) specs.set(name, { name, description, fields });
  }
  return specs;
}

/** A tool as the model sees it. */
export function modelTool(spec: ToolSpec): ModelTool {
  return {
    name: spec.name,
    description: spec.description,
    parameters: schemaOf(spec.fields),
  };
}
