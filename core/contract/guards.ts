// The shapes of everything that crosses between harness and engine, each written once: it guards
// what comes in and describes itself as JSON Schema. A failure is a value, the first issue with
// its path; whoever stands at the door decides what to throw. Over-long texts are let through:
// the wire allows an engine to leave a text whole, and `findObservationFault` is for those who
// test engines.
import { findJsonIssue, type JsonIssue } from '../base/json.ts';
import { codePointLength } from '../base/text.ts';
import {
  anything,
  boolean,
  checkShape,
  either,
  list,
  named,
  number,
  object,
  oneOf,
  record,
  text,
  variants,
  type Shape,
} from '../base/shape.ts';
import {
  LOCATOR_ACTION_KINDS,
  POINTER_ACTION_KINDS,
  SWIPE_DIRECTIONS,
  TAP_MODIFIERS,
  type LocatorActionKind,
  type PointerActionKind,
} from './actions.ts';
import { APP_LOG_LEVELS } from './engine.ts';
import { parseKey } from './keys.ts';
import { QUERY_KINDS, QUERY_STATES } from './locator.ts';
import {
  INPUT_PURPOSES,
  OBSERVED_NAME_LIMIT,
  NODE_STATES,
  OBSERVED_TEXT_LIMIT,
  type SemanticNode,
} from './observation.ts';

const string = text();
const filled = text({ min: 1 });
const finite = number();
const size = number({ min: 0 });
const pixelCount = number({ integer: true, min: 1 });

/** Date, time and zone, as ISO 8601 and RFC 3339 agree on. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/u;
export const TIME_SHAPE: Shape = text({
  refine: (value) =>
    TIME.test(value) && !Number.isNaN(Date.parse(value))
      ? undefined
      : 'must be a time in ISO 8601, such as 2026-01-02T03:04:05Z',
  schema: { format: 'date-time' },
});

export const POINT_SHAPE: Shape = object({ required: { x: finite, y: finite } });
export const NODE_REF_SHAPE: Shape = object({ required: { id: filled, revision: string } });

const optionalBooleans = (names: readonly string[]): Shape =>
  object({ optional: Object.fromEntries(names.map((name) => [name, boolean])) });

// Observation.

const rect = object({ required: { x: finite, y: finite, width: size, height: size } });

export const NODE_SHAPE: Shape = named('node', () =>
  object({
    required: { ref: NODE_REF_SHAPE },
    optional: {
      role: string,
      name: string,
      text: string,
      value: string,
      selection: string,
      testId: string,
      inputPurpose: oneOf(INPUT_PURPOSES),
      states: optionalBooleans(NODE_STATES),
      level: number({ integer: true, min: 1, max: 6 }),
      attributes: record(string),
      rect,
      selector: string,
      framePath: list(string),
      children: list(NODE_SHAPE),
    },
  }),
);

const viewport = object({
  required: { width: size, height: size, scale: number({ min: 0, exclusive: true }) },
});

const imageBytes: Shape = {
  check: (value) =>
    Object.prototype.toString.call(value) === '[object Uint8Array]'
      ? undefined
      : { path: '', problem: 'must be the bytes of a PNG, a Uint8Array' },
  schema: () => ({}),
};
/** Base64, as bytes cross the wire. */
const base64: Shape = text({
  refine: (value) =>
    value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/u.test(value) ? undefined : 'must be base64',
  schema: { contentEncoding: 'base64' },
});

function snapshotShape(data: Shape): Shape {
  return object({
    required: { root: NODE_SHAPE, viewport },
    optional: {
      location: string,
      truncated: boolean,
      treeUnavailable: oneOf([true]),
      pixels: object({
        required: {
          data,
          mediaType: oneOf(['image/png']),
          width: pixelCount,
          height: pixelCount,
          scale: number({ min: 0, exclusive: true }),
        },
      }),
      maskedRegionCount: number({ integer: true, min: 0 }),
    },
    refine: (value) => {
      const root = value['root'] as SemanticNode;
      if (value['treeUnavailable'] === true) {
        if (value['pixels'] === undefined) {
          return {
            path: '.treeUnavailable',
            problem: 'needs pixels: without a tree they are all there is',
          };
        }
        const extra = Object.keys(root).find((key) => key !== 'ref');
        if (extra !== undefined) {
          return {
            path: `.root.${extra}`,
            problem: 'must be left out when the tree is unavailable',
          };
        }
      }
      return repeatedId(root);
    },
  });
}

/** A snapshot in process: `pixels.data` is bytes. */
const snapshot: Shape = snapshotShape(imageBytes);
/** A snapshot on the wire: `pixels.data` is base64. */
export const WIRE_SNAPSHOT_SHAPE: Shape = snapshotShape(base64);

/** An id names one node: with two of them an action could hit the wrong one. */
function repeatedId(root: SemanticNode): JsonIssue | undefined {
  const seen = new Set<string>();
  const visit = (node: SemanticNode, path: string): JsonIssue | undefined => {
    if (seen.has(node.ref.id)) {
      return { path: `${path}.ref.id`, problem: `repeats ${JSON.stringify(node.ref.id)}` };
    }
    seen.add(node.ref.id);
    return first(node.children ?? [], (child, index) => visit(child, `${path}.children[${index}]`));
  };
  return visit(root, '.root');
}

function first<T>(
  items: readonly T[],
  find: (item: T, index: number) => JsonIssue | undefined,
): JsonIssue | undefined {
  for (const [index, item] of items.entries()) {
    const issue = find(item, index);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

// Locators.

const textPattern: Shape = variants('kind', {
  string: object({ required: { value: string, exact: boolean } }),
  regexp: object({
    required: { source: string, flags: string },
    refine: (value) => {
      try {
        new RegExp(value['source'] as string, value['flags'] as string);
        return undefined;
      } catch (error) {
        return { path: '', problem: `must be a regular expression: ${(error as Error).message}` };
      }
    },
  }),
});

const roleOnly = {
  name: textPattern,
  level: number({ integer: true }),
  states: optionalBooleans(QUERY_STATES),
};
const queryOf = (kind: string): Shape =>
  object({
    required: {
      value:
        kind === 'role'
          ? variants('kind', { string: object({ required: { value: filled, exact: boolean } }) })
          : textPattern,
    },
    optional: { visible: boolean, ...(kind === 'role' ? roleOnly : {}) },
    refine: (value) => {
      if (kind === 'role') return undefined;
      const extra = Object.keys(roleOnly).find((key) => value[key] !== undefined);
      return extra === undefined
        ? undefined
        : { path: `.${extra}`, problem: `belongs to role queries, not to one by ${kind}` };
    },
  });

const query: Shape = variants(
  'kind',
  Object.fromEntries(QUERY_KINDS.map((kind) => [kind, queryOf(kind)])),
);

export const EXPRESSION_SHAPE: Shape = named(
  'expression',
  () =>
    variants('kind', {
      query: object({ required: { query }, optional: { scope: EXPRESSION_SHAPE } }),
      filter: object({
        required: { source: EXPRESSION_SHAPE },
        optional: { hasText: textPattern, has: EXPRESSION_SHAPE },
      }),
      index: object({
        required: {
          source: EXPRESSION_SHAPE,
          index: either('a whole number, "first" or "last"', [
            number({ integer: true }),
            oneOf(['first', 'last']),
          ]),
        },
      }),
      selector: object({ required: { selector: filled } }),
      frame: object({ required: { selector: filled, source: EXPRESSION_SHAPE } }),
    }),
  64,
);

// Actions.

const keySpelling: Shape = text({
  refine: (value) =>
    parseKey(value) === undefined
      ? `is no key: write a name such as "Enter" or one character, after modifiers joined by "+"`
      : undefined,
});

const plain = object({});
const tap = object({ optional: { modifiers: list(oneOf(TAP_MODIFIERS), { unique: true }) } });
const longPress = object({ optional: { durationMs: size } });
// Any string: an engine reads a momentum that it does not know as `none`.
const swipe = object({
  required: { direction: oneOf(SWIPE_DIRECTIONS) },
  optional: { momentum: string },
});
const optionChoice = either('a label, { label }, { value } or { index }', [
  string,
  object({ required: { label: string }, closed: true }),
  object({ required: { value: string }, closed: true }),
  object({ required: { index: number({ integer: true, min: 0 }) }, closed: true }),
]);

const actions: Readonly<Record<LocatorActionKind, Shape>> = {
  tap,
  doubleTap: tap,
  secondaryTap: tap,
  longPress,
  fill: object({ required: { value: string, sensitive: boolean } }),
  clear: plain,
  press: object({ required: { key: keySpelling } }),
  check: plain,
  uncheck: plain,
  focus: plain,
  hover: plain,
  scrollIntoView: plain,
  selectOption: object({ required: { value: optionChoice } }),
  setInputFiles: object({ required: { paths: list(filled) } }),
  dragTo: object({ required: { target: NODE_REF_SHAPE } }),
  swipe,
};
export const ACTION_SHAPE: Shape = variants('kind', actions);

const pointerActions: Readonly<Record<PointerActionKind, Shape>> = {
  tap,
  doubleTap: tap,
  secondaryTap: tap,
  longPress,
  hover: plain,
  dragTo: object({ required: { target: POINT_SHAPE } }),
  swipe,
  swipeTo: object({ required: { target: POINT_SHAPE } }),
};
export const POINTER_ACTION_SHAPE: Shape = variants('kind', pointerActions);

/** A manifest's lists of kinds. */
export const ACTION_KINDS_SHAPE: Shape = list(oneOf(LOCATOR_ACTION_KINDS), {
  min: 1,
  unique: true,
});
export const POINTER_KINDS_SHAPE: Shape = list(oneOf(POINTER_ACTION_KINDS), {
  min: 1,
  unique: true,
});

// State, video, log.

const json: Shape = {
  check: (value) => findJsonIssue(value, { name: '' }),
  schema: anything.schema,
};

export const ENGINE_STATE_SHAPE: Shape = object({
  required: { format: filled, version: finite, data: json },
  optional: { expiresAt: TIME_SHAPE },
});

export const VIDEO_SEGMENTS_SHAPE: Shape = list(
  either('{ path, startedAt } or { url, mediaType, startedAt }', [
    object({ required: { path: filled, startedAt: TIME_SHAPE } }),
    object({ required: { url: filled, mediaType: filled, startedAt: TIME_SHAPE } }),
  ]),
);

export const APP_LOG_ENTRY_SHAPE: Shape = object({
  required: { level: oneOf(APP_LOG_LEVELS), text: string, at: TIME_SHAPE },
  optional: { source: string },
});

/** The first issue of a snapshot in process, or `undefined`. */
export function validateSnapshot(value: unknown): JsonIssue | undefined {
  return checkShape(snapshot, value, 'snapshot');
}
export function validateExpression(value: unknown): JsonIssue | undefined {
  return checkShape(EXPRESSION_SHAPE, value, 'expression');
}
export function validateAction(value: unknown): JsonIssue | undefined {
  return checkShape(ACTION_SHAPE, value, 'action');
}
export function validatePointerAction(value: unknown): JsonIssue | undefined {
  return checkShape(POINTER_ACTION_SHAPE, value, 'action');
}

/**
 * What a valid tree does that an engine should not: a text beyond its limit, or the value or
 * selection of a secure field. For tests of engines; a harness lets the first through.
 */
export function findObservationFault(root: SemanticNode): JsonIssue | undefined {
  const limits = {
    name: OBSERVED_NAME_LIMIT,
    text: OBSERVED_TEXT_LIMIT,
    value: OBSERVED_TEXT_LIMIT,
    selection: OBSERVED_TEXT_LIMIT,
  };
  const visit = (node: SemanticNode, path: string): JsonIssue | undefined => {
    for (const member of ['name', 'text', 'value', 'selection'] as const) {
      const length = codePointLength(node[member] ?? '');
      if (length > limits[member]) {
        return {
          path: `${path}.${member}`,
          problem: `has ${length} characters; cut it at ${limits[member]}`,
        };
      }
    }
    const told = (['value', 'selection'] as const).find((member) => node[member] !== undefined);
    if (node.states?.secure === true && told !== undefined) {
      return { path: `${path}.${told}`, problem: 'is told of a secure field' };
    }
    return first(node.children ?? [], (child, index) => visit(child, `${path}.children[${index}]`));
  };
  return visit(root, 'root');
}
