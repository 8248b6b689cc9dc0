// Texts that change by themselves, told from those that an action changed. A text that changes from
// look to look is a ticker, and so is one of which only digits change, twice with a pause between.
// Of digits that changed once nobody can say it: they may be a total, or a clock that ticked. Such a
// change is doubtful: it is reported, but it does not end the wait for the action's effect; if it
// stays the only one for a whole window, the text is no clock, and the step need not doubt it again.
import { isInteractive } from '../../contract/roles.ts';
import type { SemanticNode } from '../../contract/observation.ts';
import type { Observation } from '../driver.ts';
import { sameWords } from './equal.ts';

/** Changes in a row, from look to look, that make a ticker. */
const STREAK = 2;
/** Runs of changes of digits, with a pause between them, that make a clock. */
const RUNS = 2;

/** What one wait sees of the texts on its screen. */
export interface TickWatch {
  /** Takes in the next look. */
  enter(next: Observation): void;
  /** Engine ids of the nodes whose words are no change. */
  tickers(): ReadonlySet<string>;
  /** Those, and the ones whose change may be a tick. */
  doubtful(): ReadonlySet<string>;
  /** Says that a whole window has been watched. */
  conclude(): void;
}

interface Changes {
  /** Looks in a row that differed from the one before; the first look starts none. */
  streak: number;
  /** Series of differing looks, the difference to the screen before the action included. */
  runs: number;
  running: boolean;
  /** It differed at the first look. */
  readonly atOnce: boolean;
  onlyDigits: boolean;
}

/**
 * Watches from the screen before an action on. `steady` are the texts that earlier waits of the
 * step found to be no clocks, and is added to.
 */
export function watchTicks(before: Observation, steady: Set<string>): TickWatch {
  const seen = new Map<string, Changes>();
  let last: Observation | undefined;
  const idsOf = (which: (changes: Changes, id: string) => boolean): ReadonlySet<string> =>
    new Set([...seen].filter(([id, changes]) => which(changes, id)).map(([id]) => id));
  const isTicker = ({ streak, runs, onlyDigits }: Changes): boolean =>
    streak >= STREAK || (onlyDigits && runs >= RUNS);
  return {
    enter(next) {
      const known = last ?? before;
      for (const [id, node] of next.nodes) {
        const old = known.nodes.get(id);
        const changes = seen.get(id);
        if (old === undefined || sameWords(old, node)) {
          if (changes !== undefined) Object.assign(changes, { streak: 0, running: false });
          continue;
        }
        const now = changes ?? startOf(last === undefined);
        if (!now.running) now.runs += 1;
        if (last !== undefined) now.streak += 1;
        now.running = true;
        now.onlyDigits &&= onlyDigitsDiffer(old, node);
        seen.set(id, now);
      }
      last = next;
    },
    tickers: () => idsOf(isTicker),
    doubtful: () =>
      idsOf((changes, id) => isTicker(changes) || (changes.onlyDigits && !steady.has(id))),
    conclude() {
      for (const [id, changes] of seen) {
        const stoodStill = changes.atOnce && !changes.running && !isTicker(changes);
        if (changes.onlyDigits && stoodStill) steady.add(id);
      }
    },
  };
}

function startOf(atOnce: boolean): Changes {
  return { streak: 0, runs: 0, running: false, atOnce, onlyDigits: true };
}

/** Whether a text, and not a control or its value, differs in nothing but digits. */
function onlyDigitsDiffer(a: SemanticNode, b: SemanticNode): boolean {
  if (isInteractive(b) || a.value !== b.value || a.selection !== b.selection) return false;
  const bare = (text = ''): string => text.replace(/\p{Nd}+/gu, '0');
  return bare(a.name) === bare(b.name) && bare(a.text) === bare(b.text);
}
