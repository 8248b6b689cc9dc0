// The grammar of judgments: a table of clause patterns, each a claim about the screen. All claims of
// a statement must hold. What is not understood, or lies where the screen was left out, is
// inconclusive: never a pass, and never a failure that the app did not earn.
import type { ScreenLine, ScreenReading } from '../../../core/agent/screen/read.ts';
import { readClauses, type Clause } from './phrases.ts';
import { CHECKABLE, findTarget, labelled, list, named, NOUNS, plain, titleOf } from './screen.ts';

export interface Judgment {
  readonly verdict: 'holds' | 'fails' | 'inconclusive';
  readonly reason: string;
}

/** What a claim came to: true, false, or why it cannot be told; `reason` says what was seen. */
interface Finding {
  readonly holds: boolean | undefined;
  readonly reason: string;
}
interface Claim {
  readonly negated: boolean;
  check(reading: ScreenReading): Finding;
}
type Groups = Readonly<Record<string, string | undefined>>;
interface Row {
  readonly pattern: RegExp;
  make(groups: Groups, text: (group: string) => string): Claim['check'];
}

const NOUN = Object.keys(NOUNS)
  .toSorted((a, b) => b.length - a.length)
  .join('|');
const THING = `(?:the |an? )?(?:(?<before>${NOUN}) )?#(?<name>\\d+)(?: (?<after>${NOUN}))?`;
const VALUE = `(?:the )?(?:value |text )?#(?<value>\\d+)`;
/** Where a negation may stand in a verb, or nowhere. */
const NOT = "(?<not>not |no longer |n't )?";
const IS = `(?:is|are|was) ${NOT}`;
const DOES = "(?:(?<not>does not |do not |doesn't |don't |no longer ))?";

const row = (pattern: string, make: Row['make']): Row => ({
  pattern: new RegExp(`^${pattern}$`, 'u'),
  make,
});

const STATES: Readonly<Record<string, { readonly state: string; readonly on: boolean }>> = {
  checked: { state: 'checked', on: true },
  ticked: { state: 'checked', on: true },
  on: { state: 'checked', on: true },
  'turned on': { state: 'checked', on: true },
  'switched on': { state: 'checked', on: true },
  unchecked: { state: 'checked', on: false },
  unticked: { state: 'checked', on: false },
  off: { state: 'checked', on: false },
  'turned off': { state: 'checked', on: false },
  'switched off': { state: 'checked', on: false },
  disabled: { state: 'disabled', on: true },
  enabled: { state: 'disabled', on: false },
  selected: { state: 'selected', on: true },
  pressed: { state: 'pressed', on: true },
  focused: { state: 'focused', on: true },
  expanded: { state: 'expanded', on: true },
  collapsed: { state: 'collapsed', on: true },
};

const shownRow = (pattern: string): Row =>
  row(pattern, (groups, text) => (reading) => shows(reading, text('name'), nounRoles(groups)));

const ROWS: readonly Row[] = [
  row(
    `(?:the )?(?:location|address|url|path) ${IS}#(?<value>\\d+)`,
    (_, text) => (reading) =>
      about('the location', reading.location, (seen) => seen === text('value')),
  ),
  row(
    `(?:the )?(?:location|address|url|path) ${DOES}(?:contains?|includes?|ends? with) #(?<value>\\d+)`,
    (_, text) => (reading) =>
      about('the location', reading.location, (seen) => seen.includes(text('value'))),
  ),
  row(
    `(?:the )?(?:page )?title ${IS}#(?<value>\\d+)`,
    (_, text) => (reading) =>
      about('the title', reading.title, (seen) => plain(seen) === plain(text('value'))),
  ),
  row(
    `(?:the )?(?:page )?title ${DOES}(?:contains?|includes?) #(?<value>\\d+)`,
    (_, text) => (reading) =>
      about('the title', reading.title, (seen) => plain(seen).includes(plain(text('value')))),
  ),
  shownRow(
    `(?:(?:the |this )?(?:screen|page|app|view|dialog|kiosk) |it )?${DOES}(?:shows?|displays?|has|have|contains?|says?|reads?|lists?) ${THING}`,
  ),
  shownRow(
    `there (?:is|are) (?<not>no |not |no longer )?${THING}(?: (?:on|in) the (?:screen|page|list|menu))?`,
  ),
  shownRow(
    `${THING} ${IS}(?:shown|visible|displayed|there|present|listed|on (?:the )?(?:screen|page))`,
  ),
  shownRow(`${THING} ${DOES}(?:appears?|shows?)`),
  row(
    `${THING} ${IS}(?<state>${Object.keys(STATES).join('|')})`,
    (groups, text) => (reading) =>
      hasState(reading, text('name'), { roles: nounRoles(groups), word: groups['state'] ?? '' }),
  ),
  row(
    `${THING} ${IS}empty`,
    (_, text) => (reading) => holdsValue(reading, text('name'), (value) => value === ''),
  ),
  row(
    `${THING} (?:${IS}|${DOES.replace('?<not>', '?<not2>')}(?:equals?|reads?|says?|shows?|has) )${VALUE}`,
    (_, text) => (reading) =>
      holdsValue(reading, text('name'), (value) => plain(value) === plain(text('value'))),
  ),
  row(
    `${THING} ${DOES}(?:contains?|includes?) ${VALUE}`,
    (_, text) => (reading) =>
      holdsValue(reading, text('name'), (value) => plain(value).includes(plain(text('value')))),
  ),
];

const KNOWN =
  'the screen shows "T", "X" is checked, "X" is disabled, "F" is "V", "F" contains "V", their negations, joined by "and"';

/** Judges a statement by a screen. */
export function judgeStatement(statement: string, reading: ScreenReading | undefined): Judgment {
  const claims = readClaims(statement);
  if (typeof claims === 'string') {
    return {
      verdict: 'inconclusive',
      reason: `plain-words cannot read this statement: ${claims}.`,
    };
  }
  if (reading === undefined) {
    return { verdict: 'inconclusive', reason: 'plain-words reads the tree, and none was given.' };
  }
  const findings = claims.map((claim) => negate(claim, claim.check(reading)));
  const open = findings.find((finding) => finding.holds === undefined);
  const broken = findings.find((finding) => finding.holds === false);
  const told = broken ?? open;
  if (told === undefined) {
    return { verdict: 'holds', reason: sentence(findings.map(({ reason }) => reason).join('; ')) };
  }
  return { verdict: told === broken ? 'fails' : 'inconclusive', reason: sentence(told.reason) };
}

function negate({ negated }: Claim, { holds, reason }: Finding): Finding {
  return { holds: holds === undefined ? undefined : holds !== negated, reason };
}

function readClaims(statement: string): readonly Claim[] | string {
  const clauses = readClauses(statement);
  if (clauses.length === 0) return `it claims nothing. It knows ${KNOWN}`;
  const claims: Claim[] = [];
  let before = '';
  for (const clause of clauses) {
    // "the screen shows "A" and "B"": a bare name carries on with the words before it.
    const bare = /^(?:the |an? )?#0$/u.test(clause.pattern) && before !== '';
    const pattern = bare ? `${before} ${clause.pattern}` : clause.pattern;
    const claim = readClaim({ ...clause, pattern });
    if (claim === undefined) {
      const hint = clause.values.length === 0 ? ' Names and texts stand in quotes.' : '';
      return `the words ${JSON.stringify(clause.said)} mean nothing to it.${hint} It knows ${KNOWN}`;
    }
    claims.push(claim);
    if (!bare) before = /^[^#]+(?= (?:the |an? )?#0$)/u.exec(clause.pattern)?.[0] ?? '';
  }
  return claims;
}

function readClaim(clause: Clause): Claim | undefined {
  // "isn't" and "aren't" as two words, so that a negation stands in one place.
  const pattern = clause.pattern.replace(/\b(is|are|was)n't\b/gu, '$1 not');
  for (const { pattern: expression, make } of ROWS) {
    const groups = expression.exec(pattern)?.groups;
    if (groups === undefined) continue;
    const texts = (group: string): string => {
      const value = clause.values[Number(groups[group])];
      return value?.kind === 'text' ? value.text : '';
    };
    const negated = groups['not'] !== undefined || groups['not2'] !== undefined;
    return { negated, check: make(groups, texts) };
  }
  return undefined;
}

function nounRoles(groups: Groups): readonly string[] {
  const noun = groups['after'] ?? groups['before'];
  return noun === undefined ? [] : (NOUNS[noun] ?? []);
}

/** Whether a text stands anywhere on the screen, without regard to case. */
function shows(reading: ScreenReading, text: string, roles: readonly string[]): Finding {
  const wanted = plain(text);
  const shown = JSON.stringify(text);
  const seen = reading.lines.find(
    (line) =>
      (roles.length === 0 || roles.includes(line.role)) &&
      [line.name, line.text, line.value].some(
        (part) => part !== undefined && plain(part).includes(wanted),
      ),
  );
  if (seen !== undefined) return { holds: true, reason: `${shown} is shown by ${titleOf(seen)}` };
  const why = partiality(reading);
  return why === undefined
    ? { holds: false, reason: `${shown} is not on the screen` }
    : { holds: undefined, reason: `${shown} is not among what was shown, but ${why}` };
}

/** Why what is not listed may be there all the same. */
function partiality({ omitted, incomplete, lines }: ScreenReading): string | undefined {
  if (omitted.nodes > 0) return `${omitted.nodes} nodes were left out`;
  if (incomplete) return 'not every node could be read';
  return lines.length === 0 ? 'the screen has no readable nodes' : undefined;
}

function absent(reading: ScreenReading, name: string): Finding {
  const why = partiality(reading);
  const missing = `there is no ${JSON.stringify(name)} on the screen`;
  return { holds: undefined, reason: why === undefined ? missing : `${missing}, but ${why}` };
}

function hasState(
  reading: ScreenReading,
  name: string,
  { roles, word }: { readonly roles: readonly string[]; readonly word: string },
): Finding {
  const wanted = STATES[word];
  if (wanted === undefined) return { holds: undefined, reason: `"${word}" is no state` };
  const candidates = named(reading, name).filter(
    (line) => roles.length === 0 || roles.includes(line.role),
  );
  if (candidates.length === 0) return absent(reading, name);
  const found = findTarget(
    reading,
    { name, roles },
    {
      roles: wanted.state === 'checked' ? CHECKABLE : CONTROLS,
      any: wanted.state !== 'checked',
      what: 'that can be checked',
    },
  );
  if (!('line' in found)) {
    return { holds: undefined, reason: 'problem' in found ? found.problem : found.missing };
  }
  const { states } = found.line;
  const { role } = found.line;
  const reason = `${titleOf(found.line)} is ${states.length === 0 ? `a plain ${role}` : `[${states.join(', ')}]`}`;
  return { holds: states.includes(wanted.state) === wanted.on, reason };
}

const CONTROLS: readonly string[] = Object.values(NOUNS)
  .flat()
  .filter((role) => !['heading', 'text', 'list', 'listitem', 'image', 'row'].includes(role));

function holdsValue(
  reading: ScreenReading,
  name: string,
  fits: (value: string) => boolean,
): Finding {
  const read = labelled(reading, name);
  if (read === undefined) {
    const lines: readonly ScreenLine[] = named(reading, name);
    return lines.length === 0
      ? absent(reading, name)
      : { holds: undefined, reason: `${list(lines.map(titleOf))} has no value` };
  }
  if ('problem' in read) return { holds: undefined, reason: read.problem };
  const reason = `${JSON.stringify(name)} is ${JSON.stringify(read.value)}`;
  return { holds: fits(read.value), reason };
}

function about(what: string, seen: string | undefined, fits: (seen: string) => boolean): Finding {
  return seen === undefined
    ? { holds: undefined, reason: `${what} is not known` }
    : { holds: fits(seen), reason: `${what} is ${JSON.stringify(seen)}` };
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
