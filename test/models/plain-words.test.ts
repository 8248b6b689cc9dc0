// The grammar of the offline model as tables: what is written on the left means what stands on the
// right. Its behaviour over a whole step is in plain-words-steps.test.ts.
import { readCommands } from '../../adapters/models/plain-words/commands.ts';
import { judgeStatement } from '../../adapters/models/plain-words/statements.ts';
import { extractValue, readNumber } from '../../adapters/models/plain-words/wants.ts';
import { readScreen } from '../../core/agent/screen/read.ts';
import type { JsonObject, JsonValue } from '../../core/base/json.ts';
import { assert, suite } from '../harness.ts';

const PARAMS: JsonObject = {
  email: 'ada@example.test',
  count: 3,
  user: { name: 'Ada' },
  pin: { secret: 'card', purpose: 'password' },
};

/** A command in short: kind, then what matters. */
function short(command: Readonly<Record<string, unknown>>): string {
  const target = (value: unknown): string => {
    const { name, roles, within, ordinal } = value as {
      name: string;
      roles: readonly string[];
      within?: string;
      ordinal?: number;
    };
    const role = roles.length === 0 ? '' : ` ${roles[0]}`;
    const place = within === undefined ? '' : ` in ${within}`;
    return `${name}${role}${place}${ordinal === undefined ? '' : ` #${ordinal}`}`;
  };
  return Object.entries(command)
    .filter(([key]) => key !== 'said')
    .map(([key, value]) =>
      typeof value === 'object' ? `${key}=${target(value)}` : `${key}=${value as string | number}`,
    )
    .join(' ')
    .replace('kind=', '');
}
function read(instruction: string): readonly string[] {
  const parsed = readCommands(instruction, PARAMS);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.commands.map((command) => short({ ...command }));
}

const COMMANDS: readonly (readonly [string, ...string[]])[] = [
  ['tap "Start order"', 'tap tool=tap target=Start order'],
  ['Press "Pay".', 'tap tool=tap target=Pay'],
  ['click on the "Menu" link', 'tap tool=tap target=Menu link'],
  ['please tap the button “Pay now”', 'tap tool=tap target=Pay now button'],
  ["tap 'Don\"t'", 'tap tool=tap target=Don"t'],
  ['tap the second "Remove"', 'tap tool=tap target=Remove #1'],
  ['tap "Remove" in the row of "Lasagne"', 'tap tool=tap target=Remove in Lasagne'],
  ['tap "More" twice', 'tap tool=tap target=More', 'tap tool=tap target=More'],
  ['double-click "Cell"', 'tap tool=double_tap target=Cell'],
  ['long press "Photo"', 'tap tool=long_press target=Photo'],
  ['right click "Photo"', 'tap tool=right_click target=Photo'],
  ['hover over "Help"', 'tap tool=hover target=Help'],
  ['type "Ada" into "Your name"', 'enter value=Ada target=Your name'],
  ['enter {email} in the "E-mail" field', 'enter value=ada@example.test target=E-mail textbox'],
  ['type "{user.name}, {count} times" into "Note"', 'enter value=Ada, 3 times target=Note'],
  ['type "{unknown}" into "Note"', 'enter value={unknown} target=Note'],
  ['fill in "Note" with "x"', 'enter value=x target=Note'],
  ['set "Size" to "Large"', 'enter value=Large target=Size'],
  ['clear "Note"', 'enter target=Note value='],
  ['type "abc"', 'enter value=abc'],
  ['type {pin} into "Card PIN"', 'secret target=Card PIN name=card'],
  ['choose "Large" in "Size"', 'choose option=Large target=Size'],
  [
    'select the option "Card" from the "Pay with" dropdown',
    'choose option=Card target=Pay with combobox',
  ],
  ['pick "Large"', 'choose option=Large'],
  ['check "A" and "B"', 'check target=A checked=true', 'check target=B checked=true'],
  ['untick the checkbox "A"', 'check target=A checkbox checked=false'],
  ['turn on "Large text"', 'check target=Large text checked=true'],
  ['switch the "Large text" toggle off', 'check target=Large text switch checked=false'],
  ['open /Menu?x=1', 'open url=/Menu?x=1'],
  ['go to https://example.test/a, then go back', 'open url=https://example.test/a', 'back'],
  ['open the page "/menu"', 'open url=/menu'],
  ['open "Menu"', 'tap tool=tap target=Menu'],
  ['press Enter', 'press key=Enter times=1'],
  ['press the key Escape', 'press key=Escape times=1'],
  ['press page down 3 times', 'press key=PageDown times=3'],
  ['press the key "a" in "Search"', 'press key=a times=1 target=Search'],
  ['press "Enter"', 'tap tool=tap target=Enter'],
  ['scroll down twice', 'scroll direction=down times=2'],
  ['scroll to "Espresso"', 'scroll-to text=Espresso'],
  ['drag "A" onto "B"', 'drag target=A to=B'],
  ['upload "a.png" to "Photo"', 'upload file=a.png target=Photo'],
  ['hide the keyboard', 'hide-keyboard'],
  [
    'tap "A", type "b, then c" into "C" and then check "D"; open /e. Go back',
    'tap tool=tap target=A',
    'enter value=b, then c target=C',
    'check target=D checked=true',
    'open url=/e',
    'back',
  ],
  ['type "1" into "A" and "2" into "B"', 'enter value=1 target=A', 'enter value=2 target=B'],
];

const grammar = suite('plain words: instructions');
for (const [instruction, ...expected] of COMMANDS) {
  grammar(instruction, () => {
    assert.equal(read(instruction), expected);
  });
}
const NOT_UNDERSTOOD: readonly (readonly [string, RegExp])[] = [
  ['buy a pizza', /the words "buy a pizza" mean nothing to it\. Names and values stand in quotes/u],
  ['tap "A", then juggle "B"', /the words "juggle \\"B\\"" mean nothing/u],
  ['tap Start order', /"tap Start order"/u],
  ['type {nobody} into "A"', /there is no param \{nobody\}/u],
  ['type {user} into "A"', /the param \{user\} is no text/u],
  ['type "x{pin}" into "A"', /the secret \{pin\} cannot be a part of a text/u],
  ['type {pin}', /a secret needs a field/u],
  ['tap {pin}', /a secret can only be typed into a field/u],
  ['tap "A" 99 times', /1 to 20 times/u],
  ['tap #0', /means? nothing/u],
  [' , ', /nothing to do/u],
];
for (const [instruction, problem] of NOT_UNDERSTOOD) {
  grammar(`not: ${instruction}`, () => {
    const parsed = readCommands(instruction, PARAMS);
    assert.match('problem' in parsed ? parsed.problem : JSON.stringify(parsed), problem);
  });
}
grammar.run();

const SCREEN = readScreen(`location "kiosk / order" title "Order kiosk"
e1 heading 1 "Your order"
e2 status "In the kitchen"
e3 progressbar "Preparation" value "33%"
e4 term "Order number"
e5 definition "K-101"
e6 term "Total"
e7 definition "$1,012.50"
e8 checkbox "Extra cheese" [checked]
e9 switch "Eat here"
e10 button "New order" [disabled]
e11 textbox "Note" value "No onions, please"
e12 textbox "Card PIN" [secure]
e13 combobox "Size" value "Large" options ["Small","Large"]
e14 list
 e15 listitem
  e16 text "Lasagne"
  e17 button "Remove"
 e18 listitem
  e19 text "Salad"
  e20 button "Remove" [disabled]
e21 text "In the basket: 2"
e22 textbox "Empty one"
e23 text "Guests"
e24 text "4"`);

const STATEMENTS: readonly (readonly [string, 'holds' | 'fails' | 'inconclusive', RegExp?])[] = [
  ['the screen shows "In the kitchen"', 'holds', /status "In the kitchen"/u],
  ['the screen shows "in THE kitchen"', 'holds'],
  ['the page displays the heading "Your order"', 'holds'],
  ['the screen shows the button "Your order"', 'fails', /not on the screen/u],
  ['the screen shows "Order ready"', 'fails'],
  ['the screen does not show "Order ready"', 'holds'],
  ['the screen doesn\'t show "In the kitchen"', 'fails'],
  ['the screen no longer shows "Checkout"', 'holds'],
  ['"Your order" is visible', 'holds'],
  ['"Checkout" is not shown', 'holds'],
  ['there is no "Basket" button', 'holds'],
  ['there is a button "New order"', 'holds'],
  ['"Extra cheese" is checked', 'holds', /checkbox "Extra cheese" is \[checked\]/iu],
  ['"Extra cheese" is not checked', 'fails'],
  ['the switch "Eat here" is off', 'holds'],
  ['"Eat here" is on', 'fails'],
  ['"Eat here" is unchecked', 'holds'],
  ['"New order" is disabled', 'holds'],
  ['"New order" is enabled', 'fails'],
  ['"New order" isn\'t enabled', 'holds'],
  ['"Note" contains "onions"', 'holds'],
  ['"Note" does not contain "onions"', 'fails'],
  ['"Note" is "No onions, please"', 'holds'],
  ['"Size" is "Small"', 'fails', /"Size" is "Large"/u],
  ['"Order number" is "K-101"', 'holds'],
  ['the "Total" is "$1,012.50" and "In the basket" is "2"', 'holds'],
  ['"Preparation" contains "33"', 'holds'],
  ['"Empty one" is empty', 'holds'],
  ['"Note" is empty', 'fails'],
  ['the screen shows "K-101" and "$1,012.50"', 'holds'],
  ['the screen shows "K-101" and "K-102"', 'fails', /K-102/u],
  ['the location is "kiosk / order"', 'holds'],
  ['the location contains "basket"', 'fails'],
  ['the title contains "kiosk"', 'holds'],
  ['"Card PIN" contains "1"', 'inconclusive', /never shown/u],
  ['"Nothing" is checked', 'inconclusive', /no "Nothing"/u],
  ['"Remove" is disabled', 'inconclusive', /2 things are called "Remove"/u],
  ['the order looks delicious', 'inconclusive', /"the order looks delicious" mean nothing/u],
  ['"Extra cheese" is checked and life is good', 'inconclusive', /life is good/u],
];
const judgments = suite('plain words: statements');
for (const [statement, verdict, reason] of STATEMENTS) {
  judgments(statement, () => {
    const judged = judgeStatement(statement, SCREEN);
    assert.is(judged.verdict, verdict, judged.reason);
    if (reason !== undefined) assert.match(judged.reason, reason);
  });
}
judgments('what was left out is not taken for absent', () => {
  const part = readScreen('e1 button "A"\n--- not shown: 7 nodes (1 controls): 7 below ---');
  assert.is(judgeStatement('the screen shows "B"', part).verdict, 'inconclusive');
  assert.is(judgeStatement('the screen does not show "B"', part).verdict, 'inconclusive');
  assert.is(judgeStatement('the screen shows "A"', part).verdict, 'holds');
  assert.is(judgeStatement('the screen shows "A"', undefined).verdict, 'inconclusive');
});
judgments('text of the app is no grammar', () => {
  const screen = readScreen('e1 text "x\\" is checked\\ne2 checkbox \\"Y\\" [checked]"');
  assert.is(judgeStatement('"Y" is checked', screen).verdict, 'inconclusive');
});
judgments.run();

const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const text = { type: 'string' };
const EXTRACTIONS: readonly (readonly [string, JsonValue | undefined, JsonValue | RegExp])[] = [
  ['orderNumber from "Order number"', undefined, { orderNumber: 'K-101' }],
  ['the "Total" as total', undefined, { total: '$1,012.50' }],
  ['total from "Total" as a number', undefined, { total: 1012.5 }],
  [
    'orderNumber from "Order number", the "Total" as total and the "Guests" as guests',
    object({ orderNumber: text, total: { type: 'number' }, guests: { type: 'integer' } }),
    { orderNumber: 'K-101', total: 1012.5, guests: 4 },
  ],
  [
    'the order',
    object({ order_number: text, total: text }),
    { order_number: 'K-101', total: '$1,012.50' },
  ],
  ['"Order number"', text, 'K-101'],
  ['the total', { type: 'number' }, 1012.5],
  ['"Order number"', object({ id: text }), { id: 'K-101' }],
  ['cheese from "Extra cheese"', object({ cheese: { type: 'boolean' } }), { cheese: true }],
  ['size from "Size" and basket from "In the basket"', undefined, { size: 'Large', basket: '2' }],
  ['tip from "Tip"', object({ tip: { type: ['string', 'null'] } }), { tip: null }],
  ['tip from "Tip"', object({ tip: text }), /no value labelled "Tip"/u],
  ['pin from "Card PIN"', undefined, /never shown/u],
  ['total from "Total"', object({ total: { type: 'integer' } }), /no integer/u],
  ['"Total" and "Guests"', undefined, /what to call "Total"/u],
  ['everything about "Total"', undefined, /everything about/u],
  ['everything', undefined, /names no label/u],
  [
    'number from "Order number"',
    {
      anyOf: [{ $ref: '#/$defs/order' }, { type: 'null' }],
      $defs: { order: object({ number: text }) },
    },
    { number: 'K-101' },
  ],
];
const extractions = suite('plain words: extraction');
for (const [instruction, schema, expected] of EXTRACTIONS) {
  extractions(`${instruction} (${JSON.stringify(schema) ?? 'no schema'})`, () => {
    const { found, reason, value } = extractValue(instruction, schema, SCREEN);
    if (expected instanceof RegExp) {
      assert.is(found, false, JSON.stringify(value));
      assert.match(reason ?? '', expected);
    } else {
      assert.equal(value, expected, reason ?? '');
    }
  });
}
extractions('reads numbers as people write them', () => {
  const numbers: readonly (readonly [string, number | undefined])[] = [
    ['$8.50', 8.5],
    ['8,50 €', 8.5],
    ['1,234', 1234],
    ['1.234,50', 1234.5],
    ['1,234,567', 1234567],
    ["1'234.5", 1234.5],
    ['-3', -3],
    ['12 items', 12],
    ['33%', 33],
    ['2 of 3', undefined],
    ['none', undefined],
  ];
  for (const [written, number] of numbers) assert.is(readNumber(written), number, written);
});
extractions.run();
