// The few places on an author's screens that rules need: urls and locator expressions, which may be
// written short (`testId=pay`, `role=button "Pay"`). The common scene is one set of them, described in
// docs/engine-conformance.md, which engines in any language can show.
import {
  ConfigurationError,
  QUERY_KINDS,
  isPlainObject,
  rejectUnknownKeys,
  validateExpression,
  type LocatorExpression,
  type QueryKind,
  type TextPattern,
} from '../../core/contract.ts';

/** A node: a locator expression, or `testId=...`, `role=button "Name"`, `text=...`, `label=...`, `placeholder=...`. */
export type NodeProbe = LocatorExpression | string;

export interface EngineProbes {
  /** What `session/open` gets: a screen that stays as it is by itself, with all other probes on it. */
  readonly open?: string;
  /** A control whose tap changes what the screen shows, without leaving it. */
  readonly tap?: NodeProbe;
  /** A control that is gone once it was tapped, with something else in its place. */
  readonly stale?: NodeProbe;
  /** A field for secrets that `fill` fills. */
  readonly secure?: NodeProbe;
  /** A node with a name above 256 and a text above 512 characters, ASCII, that begin so. */
  readonly longText?: { readonly node: NodeProbe; readonly begins: string };
  /** Takes more than 5 s: `url=...` for `session/open`, or a control to tap. */
  readonly slow?: NodeProbe;
  /** A control wholly inside another box, of a nested document if the platform has any. */
  readonly nested?: NodeProbe;
}

export type ProbeName = keyof EngineProbes;

const NAMES: readonly ProbeName[] = [
  'open',
  'tap',
  'stale',
  'secure',
  'longText',
  'slow',
  'nested',
];

/** The probes of the common scene. */
export const COMMON_PROBES: EngineProbes = Object.freeze({
  open: '/probe',
  tap: 'testId=probe-tap',
  stale: 'testId=probe-stale',
  secure: 'testId=probe-secure',
  longText: Object.freeze({ node: 'testId=probe-long', begins: '0000 0001 0002 ' }),
  slow: 'url=/probe/slow',
  nested: 'testId=probe-inner',
});

/** Checks probes as they came; throws `INVALID_CONFIG` naming the probe. */
export function readProbes(probes: unknown): EngineProbes {
  if (!isPlainObject(probes)) throw invalid('probes must be an object');
  rejectUnknownKeys('probes', probes, NAMES);
  const { open, longText, slow, ...nodes } = probes as Record<ProbeName, unknown>;
  if (open !== undefined && (typeof open !== 'string' || open === '')) {
    throw invalid('probes.open must be a url');
  }
  for (const [name, probe] of Object.entries(nodes)) {
    if (probe !== undefined) nodeExpression(name, probe);
  }
  if (slow !== undefined && slowUrl(slow) === undefined) nodeExpression('slow', slow);
  if (longText !== undefined) {
    if (!isPlainObject(longText) || typeof longText['begins'] !== 'string') {
      throw invalid('probes.longText must be { node, begins }');
    }
    rejectUnknownKeys('probes.longText', longText, ['node', 'begins']);
    nodeExpression('longText.node', longText['node']);
  }
  return probes as EngineProbes;
}

/** The url of a slow probe that is one. */
export function slowUrl(probe: unknown): string | undefined {
  return typeof probe === 'string' && probe.startsWith('url=') ? probe.slice(4) : undefined;
}

const SHORT = /^(role|label|placeholder|text|displayValue|testId)=(.+)$/su;

/** The locator expression of a node probe. Throws `INVALID_CONFIG` naming the probe. */
export function nodeExpression(name: string, probe: unknown): LocatorExpression {
  if (typeof probe !== 'string') {
    const issue = validateExpression(probe);
    if (issue === undefined) return probe as LocatorExpression;
    throw invalid(`probes.${name}: ${issue.path} ${issue.problem}`);
  }
  const match = SHORT.exec(probe);
  if (match === null) {
    const kinds = QUERY_KINDS.map((kind) => `${kind}=...`).join(', ');
    throw invalid(`probes.${name} is ${JSON.stringify(probe)}: write ${kinds}, or an expression`);
  }
  const kind = match[1] as QueryKind;
  const value = match[2] ?? '';
  const named = kind === 'role' ? /^([^\s"]+)\s+"(.*)"$/su.exec(value) : null;
  if (named === null) return { kind: 'query', query: { kind, value: exactly(value) } };
  const [, role = '', accessibleName = ''] = named;
  return {
    kind: 'query',
    query: { kind: 'role', value: exactly(role), name: exactly(accessibleName) },
  };
}

const exactly = (value: string): TextPattern => ({ kind: 'string', value, exact: true });

const invalid = (message: string): ConfigurationError =>
  new ConfigurationError('INVALID_CONFIG', `${message}.`);
