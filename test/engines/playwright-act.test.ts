// What the Playwright engine does, each action checked by its effect on a real page, and what it
// refuses: a covered, disabled, moving or vanished target, a field that takes nothing.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocatorAction } from '../../core/contract.ts';
import { assert, rejects, suite } from '../harness.ts';
import { eachNode, Stage, withCode } from './playwright-kit.ts';

const stage = new Stage();
const test = suite('playwright acts');
test.before(() => stage.start());
test.after(() => stage.stop());

const fill = (value: string, sensitive = false): LocatorAction => ({
  kind: 'fill',
  value,
  sensitive,
});
/** A page whose events are written into its status. */
const LOG = `<output id="log" style="position:fixed;left:0;bottom:0"></output><script>
  const log = (text) => { document.querySelector('#log').textContent += text + ';'; };
</script>`;
const show = (body: string): Promise<void> => stage.show(LOG + body);
const typed = (text: string): Promise<void> | undefined =>
  stage.engine.keyboard?.type(text, { replace: false }, stage.context());

test('taps of every kind, with modifiers, trusted', async () => {
  await show(`<button
    onclick="log('click ' + event.isTrusted + (event.shiftKey ? ' shift' : '') + (event.ctrlKey ? ' control' : ''))"
    ondblclick="log('double')" oncontextmenu="log('menu'); return false"
    onmouseenter="log('enter')">B</button>`);
  await stage.act('button "B"', { kind: 'hover' });
  await stage.act('button "B"', { kind: 'tap', modifiers: ['Shift', 'Control'] });
  await stage.act('button "B"', { kind: 'secondaryTap' });
  await stage.act('button "B"', { kind: 'doubleTap' });
  assert.is(
    await stage.status(),
    'enter;click true shift control;menu;click true;click true;double;',
  );
});

test('a long press holds the button down', async () => {
  await show(`<button onpointerdown="window.at=performance.now()"
    onpointerup="log(performance.now() - at >= 200 ? 'long' : 'short')">Hold</button>`);
  await stage.act('button "Hold"', { kind: 'longPress', durationMs: 250 });
  assert.is(await stage.status(), 'long;');
});

test('fill replaces what a field holds, by real input, and clear empties it', async () => {
  await show(`<label>Name <input value="old" oninput="log(event.inputType)" onchange="log('change')"></label>
    <label>Story <textarea></textarea></label>
    <div contenteditable role="textbox" aria-label="Rich"><b>old</b> text</div>
    <label>Born <input type="date" onchange="log(this.value)"></label>
    <label>Loud <input type="range" max="10" oninput="log(this.value)"></label>`);
  await stage.act('textbox "Name"', fill('Ada'));
  await stage.act('textbox "Story"', fill('one\ntwo "ÄÖÜ€ 日本 🎈"'));
  await stage.act('textbox "Rich"', fill('new'));
  await stage.act('textbox "Born"', fill('1815-12-10'));
  await stage.act('slider "Loud"', fill('7'));
  const value = async (what: string): Promise<string | undefined> => (await stage.find(what)).value;
  assert.is(await value('textbox "Name"'), 'Ada');
  assert.is(await value('textbox "Story"'), 'one\ntwo "ÄÖÜ€ 日本 🎈"');
  assert.is(await value('textbox "Rich"'), 'new');
  assert.is(await value('textbox "Born"'), '1815-12-10');
  assert.is(await value('slider "Loud"'), '7');
  await stage.act('textbox "Name"', { kind: 'clear' });
  assert.is(await value('textbox "Name"'), '');
  assert.match(await stage.status(), /^insertText;change;1815-12-10;7;deleteContentForward;$/u);
});

test('a field that takes nothing, or makes something else of the text, is not believed', async () => {
  await show(`<label>Deaf <input onbeforeinput="event.preventDefault()"></label>
    <label>Upper <input oninput="this.value = this.value.toUpperCase()"></label>
    <label>Other <input oninput="this.value = 'x'"></label>
    <label>Fixed <input readonly value="f"></label><label>Pass <input type="password" oninput="this.value='x'"></label>
    <label>Born <input type="date"></label><button>No field</button><select aria-label="List"><option>a</option></select>`);
  await rejects(
    stage.act('textbox "Deaf"', fill('a')),
    withCode('NOT_ACTIONABLE', /did not take/u),
  );
  await stage.act('textbox "Upper"', fill('abc'));
  await rejects(
    stage.act('textbox "Other"', fill('a1')),
    withCode('ACTION_MAY_HAVE_COMMITTED', /holds "x"/u),
  );
  await rejects(stage.act('textbox "Fixed"', fill('a')), withCode('NOT_ACTIONABLE', /read-only/u));
  await rejects(
    stage.act('textbox "Born"', fill('soon')),
    withCode('NOT_ACTIONABLE', /2026-12-31/u),
  );
  await rejects(
    stage.act('button "No field"', fill('a')),
    withCode('NOT_ACTIONABLE', /takes no text/u),
  );
  await rejects(
    stage.act('combobox "List"', fill('a')),
    withCode('NOT_ACTIONABLE', /takes a choice/u),
  );
  const error = await rejects(stage.act('textbox "Pass"', fill('topsecret', true)));
  assert.not.match(String(error.message), /topsecret/u);
});

test('check and uncheck reach the state and do nothing when it is there', async () => {
  await show(`<label>A <input type="checkbox" onclick="log('a')"></label>
    <label for="b">B</label><input id="b" type="checkbox" style="position:absolute;opacity:0;width:1px;height:1px" onchange="log('b')">
    <input type="checkbox" id="c" style="display:none" onchange="log('c')"><label for="c">C</label>
    <div role="switch" aria-checked="false" tabindex="0" aria-label="D"
      onclick="this.setAttribute('aria-checked', this.getAttribute('aria-checked') !== 'true')">D</div>
    <label><input type="radio" name="r" checked> E</label>
    <label>F <input type="checkbox" onclick="return false"></label>
    <label>G <input type="checkbox" style="position:absolute;width:1px;height:1px;clip-path:inset(50%)" onchange="log('g')"><i>box</i></label>`);
  for (const name of ['checkbox "A"', 'checkbox "B"', 'checkbox "C"', 'switch "D"']) {
    await stage.act(name, { kind: 'check' });
    assert.is((await stage.find(name)).states?.checked, true, name);
    await stage.act(name, { kind: 'check' });
  }
  await stage.act('checkbox "G box"', { kind: 'check' });
  assert.is(await stage.status(), 'a;b;c;g;');
  await stage.act('checkbox "C"', { kind: 'uncheck' });
  assert.is((await stage.find('checkbox "C"')).states?.checked, false);
  await rejects(
    stage.act('radio "E"', { kind: 'uncheck' }),
    withCode('NOT_ACTIONABLE', /another one/u),
  );
  await rejects(
    stage.act('checkbox "F"', { kind: 'check' }),
    withCode('ACTION_MAY_HAVE_COMMITTED', /still not checked/u),
  );
});

test('options by label, value and index, of native and drawn lists; unknown ones list the known', async () => {
  await show(`<select aria-label="Size" onchange="log(this.value)">
      <option value="s">Small</option><option value="l">Large</option><option value="x" disabled>Huge</option></select>
    <button role="combobox" aria-expanded="false" aria-controls="pop" aria-label="Colour"
      onclick="setTimeout(() => { pop.hidden = false; this.setAttribute('aria-expanded', 'true'); }, 50)">Pick</button>
    <ul id="pop" role="listbox" hidden onclick="log(event.target.textContent); hidden = true">
      <li role="option">Red</li><li role="option">Green</li></ul>`);
  const choose = (what: string, value: unknown): Promise<void> =>
    stage.act(what, { kind: 'selectOption', value } as LocatorAction);
  await choose('combobox "Size"', 'Large');
  await choose('combobox "Size"', { value: 's' });
  await choose('combobox "Size"', { index: 1 });
  await stage.tap('option "Small"');
  await choose('combobox "Colour"', 'Green');
  assert.is(await stage.status(), 'l;s;l;s;Green;');
  await rejects(
    choose('combobox "Size"', 'Medium'),
    withCode('NOT_ACTIONABLE', /no option "Medium"; its options are "Small", "Large"\./u),
  );
  await rejects(choose('combobox "Size"', 'Huge'), withCode('NOT_ACTIONABLE', /disabled/u));
  await rejects(choose('combobox "Colour"', 'Blue'), withCode('NOT_ACTIONABLE', /"Red", "Green"/u));
  await rejects(choose('status', 'x'), withCode('NOT_ACTIONABLE', /has no options/u));
});

test('files through an input, a hidden one, a label and a button', async () => {
  const paths = [join(stage.artifactsDir, 'a.txt'), join(stage.artifactsDir, 'b.txt')];
  for (const path of paths) await writeFile(path, 'content');
  await show(`<input type="file" aria-label="Plain" onchange="log(files[0].name)">
    <input type="file" id="h" hidden multiple aria-label="Hidden" onchange="log([...files].map(f => f.name).join('+'))">
    <button onclick="h.click()">Upload</button><button>Nothing</button>`);
  const files = (what: string, list: string[]): Promise<void> =>
    stage.act(what, { kind: 'setInputFiles', paths: list });
  await files('button "Plain"', [paths[0]!]);
  await files('button "Upload"', paths);
  assert.is(await stage.status(), 'a.txt;a.txt+b.txt;');
  assert.is((await stage.find('button "Plain"')).value, 'a.txt');
  await rejects(files('button "Plain"', paths), withCode('NOT_ACTIONABLE', /one file/u));
  await rejects(files('button "Plain"', ['/no/such/file']), withCode('NOT_ACTIONABLE', /no file/u));
  await rejects(
    files('button "Nothing"', [paths[0]!]),
    withCode('ACTION_MAY_HAVE_COMMITTED', /no file dialog/u),
  );
});

test('in frames: files, text, keys and choices', async () => {
  const path = join(stage.artifactsDir, 'c.txt');
  await writeFile(path, 'content');
  const inner = stage.pages.page(`<input type="file" aria-label="File"><label>In <input></label>
    <select aria-label="List"><option>a</option><option>b</option></select>`);
  await stage.show(`<iframe title="Inner" src="${inner}" style="margin:200px 50px"></iframe>`);
  await stage.until(({ root }) => [...eachNode(root)].some(({ name }) => name === 'List'));
  await stage.act('button "File"', { kind: 'setInputFiles', paths: [path] });
  await stage.act('textbox "In"', fill('deep'));
  await typed('er');
  await stage.act('combobox "List"', { kind: 'selectOption', value: 'b' });
  assert.equal((await stage.lines()).slice(0, 4), [
    'iframe "Inner"',
    'button "File" value="c.txt"',
    'textbox "In" value="deeper"',
    'combobox "List" value="b" focused',
  ]);
});

test('a line of text is pressed where it stands, not in the middle of what holds it', async () => {
  await show(`<p onclick="log(event.target.localName)">Start
    <a href="#x">${'a link in the middle of the line '.repeat(2)}</a> end</p>`);
  await stage.tap('"end"');
  assert.is(await stage.status(), 'p;');
});

test('dragging, by pointer events and by HTML5 drag and drop', async () => {
  await show(`<style>button { display: block; margin: 30px }</style>
    <button id="p">Pointer</button><button draggable="true" ondragstart="event.dataTransfer.setData('text/plain', 'card')">Card</button>
    <button id="t" ondragover="event.preventDefault()" ondrop="event.preventDefault(); log('drop ' + event.dataTransfer.getData('text/plain'))">Target</button>
    <script>
      p.onpointerdown = (e) => { p.setPointerCapture(e.pointerId); p.onpointermove = () => log2(); };
      let moves = 0; const log2 = () => moves++;
      p.onpointerup = (e) => log(moves > 3 && document.elementsFromPoint(e.clientX, e.clientY).includes(t) ? 'moved' : 'lost');
    </script>`);
  const onto = async (): Promise<LocatorAction> => ({
    kind: 'dragTo',
    target: (await stage.find('button "Target"')).ref,
  });
  await stage.act('button "Pointer"', await onto());
  await stage.act('button "Card"', await onto());
  assert.is(await stage.status(), 'moved;drop card;');
});

test('scrolling: the viewport, a box inside it, and to a node', async () => {
  await show(`<div id="box" role="region" aria-label="Box" style="height:300px;overflow:auto"><p style="height:3000px">Inner</p></div>
    <div style="height:4000px"></div><button onclick="log('far')">Far</button>`);
  const { root } = await stage.observe();
  const top = async (what: string): Promise<number> =>
    (await stage.find(what)).rect?.y ?? Number.NaN;
  const before = { box: await top('region "Box"'), inner: await top('"Inner"') };
  await stage.engine.perform?.(root.ref, { kind: 'swipe', direction: 'down' }, stage.context());
  const after = { box: await top('region "Box"'), inner: await top('"Inner"') };
  assert.ok(after.box < before.box - 300, 'the viewport moved');
  assert.is(after.box - before.box, after.inner - before.inner, 'and the box inside did not');
  await stage.engine.perform?.(
    root.ref,
    { kind: 'swipe', direction: 'up', momentum: 'fast' },
    stage.context(),
  );
  assert.is(await top('region "Box"'), before.box);
  await stage.act('region "Box"', { kind: 'swipe', direction: 'down' });
  assert.is(await top('region "Box"'), before.box);
  assert.ok((await top('"Inner"')) < before.inner - 200);
  await stage.act('button "Far"', { kind: 'scrollIntoView' });
  const far = await top('button "Far"');
  assert.ok(far > 0 && far < 720);
  await stage.engine.perform?.(
    root.ref,
    { kind: 'swipe', direction: 'up', momentum: 'fast' },
    stage.context(),
  );
  await stage.tap('button "Far"');
  assert.is(await stage.status(), 'far;');
});

test('the keyboard types into what has the focus, and nothing else', async () => {
  await show(`<label>A <input onkeydown="log(event.key)" value="x"></label><button>B</button>`);
  await rejects(typed('n') as Promise<void>, withCode('NOT_ACTIONABLE', /Nothing has the focus/u));
  await stage.act('textbox "A"', { kind: 'focus' });
  await typed('yé');
  assert.is((await stage.find('textbox "A"')).value, 'xyé');
  await stage.engine.keyboard?.type('new', { replace: true }, stage.context());
  assert.is((await stage.find('textbox "A"')).value, 'new');
  await stage.act('textbox "A"', { kind: 'press', key: 'Home' });
  await stage.act('textbox "A"', { kind: 'press', key: 'Shift+ArrowRight' });
  await stage.engine.keyboard?.press('+', stage.context());
  await stage.engine.keyboard?.press('é', stage.context());
  assert.is((await stage.find('textbox "A"')).value, '+éew');
  await stage.engine.keyboard?.press('Tab', stage.context());
  assert.is((await stage.find('button "B"')).states?.focused, true);
  await rejects(typed('n') as Promise<void>, withCode('NOT_ACTIONABLE', /takes no text/u));
  await rejects(
    stage.engine.keyboard?.press('Control+é', stage.context()) as Promise<void>,
    withCode('NOT_ACTIONABLE', /on no key/u),
  );
});

test('at a point: taps, hover, drag, swipes, and never outside', async () => {
  await show(`<body style="margin:0;height:3000px"><div style="position:absolute;left:100px;top:100px;width:50px;height:50px"
    onclick="log('tap')" oncontextmenu="log('menu'); return false" ondblclick="log('double')" onmouseenter="log('enter')"></div><p>Text</p>`);
  const at = (action: object, x = 125, y = 125): Promise<void> =>
    stage.engine.performAt?.({ x, y }, action as never, stage.context()) as Promise<void>;
  await at({ kind: 'hover' });
  await at({ kind: 'tap' });
  await at({ kind: 'secondaryTap' });
  await at({ kind: 'doubleTap' });
  assert.is(await stage.status(), 'enter;tap;menu;tap;tap;double;');
  const y = async (): Promise<number> => (await stage.find('paragraph')).rect?.y ?? 0;
  const start = await y();
  await at({ kind: 'swipeTo', target: { x: 125, y: 25 } });
  assert.is(await y(), start - 100);
  await at({ kind: 'swipe', direction: 'down' });
  assert.ok((await y()) < start - 300);
  await rejects(at({ kind: 'tap' }, 1280, 5), withCode('NOT_ACTIONABLE', /outside/u));
});

test('a covered target fails early and names what covers it', async () => {
  await show(`<button onclick="log('hit')">Under</button>
    <div role="dialog" aria-label="Cookies" style="position:fixed;inset:0;background:#fff8"><p>We use them</p></div>`);
  await rejects(
    stage.tap('button "Under"'),
    withCode('NOT_ACTIONABLE', /button "Under" is covered by the dialog "Cookies"/u),
  );
  assert.is(await stage.status(), '');
  await show(
    `<label>Field <input></label><div class="veil grey" style="position:fixed;inset:0"></div>`,
  );
  await rejects(
    stage.act('textbox "Field"', fill('x')),
    withCode('NOT_ACTIONABLE', /<div veil grey>/u),
  );
  await show(`<button onclick="log('hit')" style="position:absolute;left:300px;top:200px;width:100px;height:40px">Half</button>
    <div style="position:fixed;left:300px;top:200px;width:60px;height:40px"></div>`);
  await stage.tap('button "Half"');
  assert.is(await stage.status(), 'hit;');
});

test('disabled, invisible and inert targets say so', async () => {
  await show(`<button disabled>Off</button><button aria-disabled="true">Also</button>
    <button data-testid="gone" style="display:none">Gone</button><button style="pointer-events:none">Ghost</button>`);
  await rejects(stage.tap('button "Off"'), withCode('NOT_ACTIONABLE', /button "Off" is disabled/u));
  await rejects(stage.tap('button "Also"'), withCode('NOT_ACTIONABLE', /is disabled/u));
  await rejects(stage.tap('button "Ghost"'), withCode('NOT_ACTIONABLE', /button "Ghost"/u));
  const hidden = [...eachNode((await stage.observe()).root)].find(
    ({ testId }) => testId === 'gone',
  );
  await rejects(
    stage.engine.perform?.(hidden!.ref, { kind: 'tap' }, stage.context()) as Promise<void>,
    withCode('NOT_ACTIONABLE', /not visible/u),
  );
});

test('a target that was exchanged is stale, never another one', async () => {
  await show(`<div id="h"><button onclick="log('old')">Item</button></div>`);
  const { ref } = await stage.find('button "Item"');
  await stage.engine.keyboard?.press('F2', stage.context());
  await stage.open(stage.pages.page('<button>Item</button>'));
  const error = await rejects(
    stage.engine.perform?.(ref, { kind: 'tap' }, stage.context()) as Promise<void>,
    withCode('NODE_STALE'),
  );
  assert.is(error.retryable, true);
});

test('a press that would land elsewhere is stopped before the page sees it', async () => {
  // The page swaps the two as soon as the mouse comes near: a look alone cannot notice.
  await show(`<style>button { position: absolute; left: 200px; width: 100px; height: 40px }</style>
    <button id="a" style="top:100px" onclick="log('wanted')">Wanted</button>
    <button id="b" style="top:300px" onclick="log('wrong')" onmousedown="log('wrong down')">Wrong</button>
    <script>
      let swaps = 0;
      addEventListener('mousemove', () => {
        if (swaps++ > 0) return;
        [a.style.top, b.style.top] = [b.style.top, a.style.top];
      }, true);
    </script>`);
  await stage.tap('button "Wanted"');
  assert.is(await stage.status(), 'wanted;');
  await show(`<button id="a" style="position:absolute;top:100px" onclick="log('wanted')">Runner</button>
    <script>addEventListener('mousemove', (event) => { a.style.top = (event.clientY + 200) % 600 + 'px'; }, true);</script>`);
  await rejects(stage.tap('button "Runner"'), withCode('NOT_ACTIONABLE', /moved away/u));
  assert.is(await stage.status(), '');
});

test('an animation is waited for', async () => {
  await show(`<style>@keyframes in { from { transform: translateX(500px) } }
    button { animation: in 400ms linear }</style><button onclick="log('hit')">Slides</button>`);
  await stage.tap('button "Slides"');
  assert.is(await stage.status(), 'hit;');
});

test.run();
