// The text limits of an observation, for the engines that apply them: always exactly at the limit
// and at the end, so that a reader knows a text at its limit may have been cut.
import { cutEnd } from '../base/text.ts';
import { OBSERVED_NAME_LIMIT, OBSERVED_TEXT_LIMIT } from './observation.ts';

/** An accessible name as a snapshot carries it: at most 256 UTF-16 units, no half character. */
export function cutName(name: string): string {
  return cutEnd(name, OBSERVED_NAME_LIMIT);
}

/** A text, value or selection as a snapshot carries it: at most 512 UTF-16 units. */
export function cutText(text: string): string {
  return cutEnd(text, OBSERVED_TEXT_LIMIT);
}

/** Whether a name may have been cut: half a character less is a cut at the limit too. */
export function mayBeCutName(name: string): boolean {
  return name.length >= OBSERVED_NAME_LIMIT - 1;
}

/** Whether a text, value or selection may have been cut. */
export function mayBeCutText(text: string): boolean {
  return text.length >= OBSERVED_TEXT_LIMIT - 1;
}
