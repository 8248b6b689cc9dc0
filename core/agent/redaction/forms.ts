// The forms that common encoders give a value, each with what of it stands for the value's
// beginning. Letter case and the case of hex digits are the matcher's business.
import { toWellFormed } from '../../base/text.ts';

/** One spelling of a value, and the part of it that gives the value away at a cut. */
export interface EscapedForm {
  readonly text: string;
  readonly head: string;
}

type Encoder = (text: string) => string;

const jsonEscape: Encoder = (text) => JSON.stringify(text).slice(1, -1);
const percent: Encoder = (text) => encodeURIComponent(toWellFormed(text));
const unreserved: Encoder = (text) =>
  percent(text).replace(/[!'()*]/gu, (mark) => `%${mark.charCodeAt(0).toString(16)}`);

const ENCODERS: readonly Encoder[] = [
  jsonEscape,
  // JSON in a JSON string, as a tool call's arguments are.
  (text) => jsonEscape(jsonEscape(text)),
  // JSON in ASCII, and JSON that is safe in HTML.
  (text) => ascii(jsonEscape(text), /[^\u0020-\u007e]/gu),
  (text) => ascii(jsonEscape(text), /[<>&'\u2028\u2029]/gu),
  (text) => jsonEscape(text).replaceAll('/', String.raw`\/`),
  (text) => html(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  (text) => html(text).replaceAll('"', '&#34;').replaceAll("'", '&#x27;'),
  (text) => html(text).replaceAll('"', '&quot;'),
  (text) => html(text).replaceAll('"', '&quot;').replaceAll("'", '&apos;'),
  html,
  percent,
  unreserved,
  (text) => percent(text).replaceAll('%20', '+'),
  (text) => unreserved(text).replaceAll('%20', '+'),
  (text) => encodeURI(toWellFormed(text)),
];

/** Every escaped form of `value` that differs from it; `head` is how the value begins. */
export function escapedForms(value: string, head: string): readonly EscapedForm[] {
  const forms = new Map<string, string>();
  for (const encode of ENCODERS) {
    const form = encode(value);
    // Of two encoders with one result the heads are the same too.
    if (form !== value) forms.set(form, encode(head));
  }
  return [...forms].map(([text, start]) => ({ text, head: start }));
}

function html(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function ascii(text: string, which: RegExp): string {
  return text.replace(which, (unit) =>
    unit
      .split('')
      .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
