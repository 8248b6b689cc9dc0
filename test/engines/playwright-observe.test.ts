// What the Playwright engine sees: roles, names, states and values on real pages, through shadow roots
// and frames, and what it must not tell.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findObservationFault, type SemanticNode } from '../../core/contract.ts';
import { readPngInfo } from '../../core/pixels/index.ts';
import { assert, rejects, suite } from '../harness.ts';
import { eachNode, Stage, withCode } from './playwright-kit.ts';

const stage = new Stage();
const test = suite('playwright observes');
test.before(() => stage.start());
test.after(() => stage.stop());

async function seen(body: string): Promise<string[]> {
  await stage.show(body);
  return stage.lines();
}

test('roles and names of native elements', async () => {
  assert.equal(
    await seen(`
      <header><a href="/home" aria-label="Home"><svg></svg></a></header>
      <main>
        <h1>Title</h1><h3>Sub</h3>
        <p>Some <b>bold</b> and <em>leaning</em> text<br>on two lines</p>
        <button><span>Save</span> all</button>
        <input type="submit"><input type="button" value="Press">
        <img src="x.png" alt="A cat"><img src="x.png" alt="">
        <ul><li>One</li><li>Two <a href="/t">link</a></li></ul>
        <details><summary>More</summary><p>Inside</p></details>
        <progress max="100" value="30" aria-label="Done"></progress>
        <canvas aria-label="Chart"></canvas>
      </main>`),
    [
      'banner',
      'link "Home"',
      'main',
      'heading "Title"',
      'heading "Sub"',
      'paragraph text="Some bold and leaning text on two lines"',
      'button "Save all"',
      'button "Submit"',
      'button "Press"',
      'image "A cat"',
      'list',
      'listitem text="One"',
      'listitem',
      '- text="Two"',
      'link "link"',
      'group',
      'button "More" !expanded',
      'progressbar "Done" value="30"',
      'canvas "Chart"',
    ],
  );
  assert.is((await stage.find('heading "Sub"')).level, 3);
  assert.is((await stage.find('link "Home"')).attributes?.['href'], '/home');
});

test('the names of fields, in the order of the specification', async () => {
  assert.equal(
    await seen(`
      <span id="l">By reference</span>
      <input aria-labelledby="l" aria-label="no" title="no">
      <input aria-label="By label" title="no">
      <label for="a">By <i>for</i></label><input id="a">
      <label>Around <input placeholder="no"></label>
      <input title="By title" placeholder="no"><input placeholder="By placeholder">
      <fieldset><legend>Group</legend>
        <label>Check <input type="checkbox" checked></label>
        <label><input type="radio" name="r"> One</label>
      </fieldset>
      <label>Size <select><option>Small</option><option selected>Large</option></select></label>
      <div role="button" tabindex="0" aria-pressed="true">Custom</div>
      <label>Loud <input type="range" min="0" max="10" value="4"></label>
      <label>On <input type="checkbox" role="switch"></label>
      <textarea aria-label="Story">Once</textarea>`),
    [
      '- text="By reference"',
      'textbox "By reference" value=""',
      'textbox "By label" value=""',
      'textbox "By for" value=""',
      'textbox "Around" value=""',
      'textbox "By title" value=""',
      'textbox "By placeholder" value=""',
      'group "Group"',
      'checkbox "Check" checked',
      'radio "One" !checked',
      'combobox "Size" value="Large"',
      'option "Small" !selected',
      'option "Large" selected',
      'button "Custom" pressed',
      'slider "Loud" value="4"',
      'switch "On" !checked',
      'textbox "Story" value="Once"',
    ],
  );
});

test('tables: cells are told by name, and a caption once', async () => {
  assert.equal(
    await seen(`<table><caption>Prices</caption>
      <thead><tr><th>Dish</th><th>Price</th></tr></thead>
      <tbody><tr><th>Soup</th><td><span>$</span>5 <button>Buy</button></td></tr></tbody></table>`),
    [
      'table "Prices"',
      'rowgroup',
      'row "Dish Price"',
      'columnheader "Dish"',
      'columnheader "Price"',
      'rowgroup',
      'row "Soup $5 Buy"',
      'rowheader "Soup"',
      'cell "$5 Buy"',
      'button "Buy"',
    ],
  );
});

test('what is not drawn is not told, but for test ids and file inputs, marked as hidden', async () => {
  assert.equal(
    await seen(`
      <div style="display:none"><button>No</button><i data-testid="kept">x</i></div>
      <div style="visibility:hidden">No <button style="visibility:visible">Yes</button></div>
      <div aria-hidden="true">No</div><div inert><button>No</button></div>
      <input type="hidden" value="no"><input type="file" hidden aria-label="Upload">
      <script>var no;</script><style>b{}</style><template>No</template>
      <div style="display:contents"><b>Yes too</b></div>
      <div style="content-visibility:hidden">No</div>
      <div style="position:absolute;left:-9999px">Read aloud</div>`),
    [
      '- hidden',
      'button "Yes"',
      'button "Upload" hidden',
      '- text="Yes too"',
      '- text="Read aloud"',
    ],
  );
});

test('shadow roots, slots, and closed ones that are said to be left out', async () => {
  const lines = await seen(`
    <my-field></my-field><my-card><b slot="title">Slotted</b>Rest</my-card>
    <script>
      customElements.define('my-field', class extends HTMLElement {
        connectedCallback() {
          this.attachShadow({ mode: 'open' }).innerHTML =
            '<label for="f">Inside</label><input id="f" value="deep">';
        }
      });
      customElements.define('my-card', class extends HTMLElement {
        connectedCallback() {
          this.attachShadow({ mode: 'open' }).innerHTML =
            '<h2><slot name="title"></slot></h2><p><slot></slot></p>';
        }
      });
    </script>`);
  assert.equal(lines, [
    'textbox "Inside" value="deep"',
    'heading "Slotted"',
    'paragraph text="Rest"',
  ]);
  assert.is((await stage.observe()).truncated, undefined);
  await stage.show(`<my-secret></my-secret><script>
    customElements.define('my-secret', class extends HTMLElement {
      connectedCallback() { this.attachShadow({ mode: 'closed' }).innerHTML = '<button>Hid</button>'; }
    });</script>`);
  await stage.until(({ truncated }) => truncated === true);
});

test(
  'same-origin frames: boxes in the top viewport, paths, actions, and others left out',
  async () => {
    const inner = stage.pages.page(
      `<body style="margin:0"><button id="b" style="margin:7px" onclick="this.textContent='Pressed'">Deep</button>`,
    );
    const middle = stage.pages.page(
      `<body style="margin:0"><p>Middle</p><iframe title="inner" src="${inner}" style="border:3px solid;padding:4px"></iframe>`,
    );
    await stage.show(`<div style="height:50px"></div>
    <iframe id="outer" src="${middle}" style="border:0;width:600px;height:400px"></iframe>`);
    await stage.until(({ root }) => [...eachNode(root)].some(({ name }) => name === 'Deep'));
    const button = await stage.find('button "Deep"');
    const outer = (
      await stage.find({
        kind: 'index',
        source: {
          kind: 'query',
          query: { kind: 'role', value: { kind: 'string', value: 'iframe', exact: true } },
        },
        index: 'first',
      })
    ).rect;
    assert.equal(button.framePath, ['#outer', 'iframe[title="inner"]']);
    assert.is(button.selector, '#b');
    assert.ok(outer !== undefined && button.rect !== undefined);
    assert.ok(button.rect.y > outer.y + 7 + 7, 'shifted by both frames');
    assert.is((await stage.observe()).truncated, undefined);
    await stage.tap('button "Deep"');
    await stage.find('button "Pressed"');

    const foreign = inner.replace(stage.pages.origin, stage.pages.otherOrigin);
    await stage.show(`<iframe title="other" src="${foreign}"></iframe>`);
    const { truncated } = await stage.until(({ truncated: cut }) => cut === true);
    assert.is(truncated, true);
    assert.equal(await stage.lines(), ['iframe "other"']);
  },
  { timeoutMs: 20_000 },
);

test('secure fields never tell what they hold, also once they show it', async () => {
  await stage.show(`
    <label>Pass <input id="p" type="password" value="hunter2hunter2"></label>
    <label>Code <input autocomplete="one-time-code" value="314159"></label>
    <label>Card <input autocomplete="cc-csc" value="979"></label>
    <label>Dots <input style="-webkit-text-security:disc" value="veiledveiled"></label>
    <label>User <input autocomplete="username" value="ada"></label>
    <button onclick="p.type='text';p.focus();p.select()">Show</button>`);
  const purposes = async (): Promise<unknown[]> =>
    [...eachNode((await stage.observe()).root)]
      .filter(({ role }) => role === 'textbox')
      .map(({ name, value, inputPurpose, states }) => [name, value, inputPurpose, states?.secure]);
  const expected = [
    ['Pass', undefined, 'password', true],
    ['Code', '314159', 'one-time-code', undefined],
    ['Card', undefined, 'generic-secret', true],
    ['Dots', undefined, undefined, true],
    ['User', 'ada', 'username', undefined],
  ];
  const withDots = expected.map((row) =>
    row[0] === 'Dots' ? [row[0], row[1], 'password', row[3]] : row,
  );
  assert.equal(await purposes(), withDots);
  await stage.tap('button "Show"');
  assert.equal(await purposes(), withDots);
  assert.not.ok(JSON.stringify(await stage.observe()).includes('hunter2'));
});

test('states, disabled groups and the focus', async () => {
  await stage.show(`
    <fieldset disabled><button>Off</button></fieldset>
    <div aria-disabled="true"><button>Off too</button></div>
    <button aria-expanded="false">Fold</button>
    <div role="tablist"><div role="tab" aria-selected="true">A</div><div role="tab" aria-selected="false">B</div></div>
    <div role="checkbox" aria-checked="mixed" tabindex="0">Some</div>
    <input autofocus aria-label="Here" value="select me">`);
  await stage.until(({ root }) =>
    [...eachNode(root)].some((n) => n.name === 'Here' && n.states?.focused),
  );
  assert.equal((await stage.find('button "Off"')).states, { disabled: true });
  assert.equal((await stage.find('button "Off too"')).states, { disabled: true });
  assert.equal((await stage.find('button "Fold"')).states, { expanded: false });
  assert.equal((await stage.find('tab "B"')).states, { selected: false });
  const mixed = await stage.find('checkbox "Some"');
  assert.equal([mixed.states, mixed.attributes], [{ checked: false }, { checked: 'mixed' }]);
  await stage.engine.keyboard?.press('Control+a', stage.context());
  assert.is((await stage.find('textbox "Here"')).selection, 'select me');
});

test('ids live as long as their element, and the root for ever', async () => {
  await stage.show(`<p id="t">before</p><div id="h"><button>A</button></div>
    <button onclick="t.textContent='after';h.innerHTML='<button>A</button>'">Change</button>`);
  const ids = async (): Promise<Record<string, string>> => ({
    root: (await stage.observe()).root.ref.id,
    text: (await stage.find('paragraph')).ref.id,
    made: (await stage.find('button "A"')).ref.id,
    kept: (await stage.find('button "Change"')).ref.id,
  });
  const before = await ids();
  assert.equal(await ids(), before);
  await stage.tap('button "Change"');
  const after = await ids();
  assert.is(after['text'], before['text'], 'a text that changes keeps the id of its box');
  assert.is(after['kept'], before['kept']);
  assert.is.not(after['made'], before['made']);
  await stage.show('<button>Change</button>');
  assert.is((await stage.observe()).root.ref.id, before['root']);
  assert.is.not((await stage.find('button "Change"')).ref.id, before['kept']);
});

test(
  'long texts are cut at the limits, and huge pages at the cap, near the viewport first',
  async () => {
    await stage.show(
      `<button>${'n'.repeat(300)}</button><p>${'t'.repeat(600)}</p><textarea>${'v'.repeat(600)}</textarea>`,
    );
    const { root } = await stage.observe();
    assert.is(findObservationFault(root), undefined);
    assert.is((await stage.find('button')).name?.length, 256);
    assert.is((await stage.find('paragraph')).text?.length, 512);
    const small = new Stage({ maxNodes: 100 });
    await small.start();
    try {
      await small.show(
        `<ol>${Array.from({ length: 3000 }, (_, i) => `<li>Row ${i}</li>`).join('')}</ol>`,
      );
      await small.engine.keyboard?.press('End', small.context());
      const end = await small.until((shot) =>
        [...eachNode(shot.root)].some(({ text }) => text === 'Row 2999'),
      );
      assert.is(end.truncated, true);
      assert.ok([...eachNode(end.root)].length <= 202);
    } finally {
      await small.stop();
    }
  },
  { timeoutMs: 30_000 },
);

test('a page that spoils JSON, seeds random numbers and forbids evaluation is still seen', async () => {
  const url = stage.pages.page(
    `<script nonce="n">Array.prototype.toJSON = () => 'spoilt'; Math.random = () => 0.5;
     JSON.stringify([1]);</script><ul><li>One</li></ul>`,
    { headers: { 'content-security-policy': "default-src 'none'; script-src 'nonce-n'" } },
  );
  await stage.open(url);
  assert.equal(await stage.lines(), ['list', 'listitem text="One"']);
});

test('locators: by selector, in frames, and equal to the tree', async () => {
  const inner = stage.pages.page('<p class="x">In the frame</p><p class="x">Again</p>');
  await stage.show(`<div class="x"><span>Plain</span></div><button>Go</button>
    <iframe id="f" src="${inner}"></iframe><iframe class="two"></iframe><iframe class="two"></iframe>`);
  await stage.until(({ root }) => [...eachNode(root)].some(({ text }) => text === 'Again'));
  const locate = async (expression: object): Promise<readonly SemanticNode[]> =>
    (await stage.engine.locate?.(expression as never, stage.context())) ?? [];
  const [box, ...more] = await locate({ kind: 'selector', selector: 'div.x' });
  assert.is(more.length, 0);
  assert.is(box?.children?.[0]?.text ?? box?.text, 'Plain');
  const inFrame = { kind: 'frame', selector: '#f', source: { kind: 'selector', selector: '.x' } };
  const found = await locate(inFrame);
  assert.equal(
    found.map(({ text }) => text),
    ['In the frame', 'Again'],
  );
  const last = await locate({ kind: 'index', source: inFrame, index: 'last' });
  assert.equal(
    last.map(({ text }) => text),
    ['Again'],
  );
  await rejects(locate({ ...inFrame, selector: '#none' }), withCode('FRAME_NOT_FOUND'));
  await rejects(locate({ ...inFrame, selector: '.two' }), withCode('FRAME_AMBIGUOUS'));
  await rejects(locate({ kind: 'selector', selector: '###' }), withCode('INVALID_ARGUMENT'));
  const query = {
    kind: 'query',
    query: { kind: 'text', value: { kind: 'string', value: 'Plain', exact: true } },
  };
  assert.is((await locate(query)).length, 1);
});

test('pictures: real size, and secure fields masked in every frame', async () => {
  const inner = stage.pages.page('<input type="password" value="secretsecret">');
  const foreign = inner.replace(stage.pages.origin, stage.pages.otherOrigin);
  await stage.show(`<input type="password" style="position:fixed;left:100px;top:100px;width:80px;height:40px;background:#fff">
    <dialog id="d"><input type="password"></dialog><script>d.showModal()</script>
    <iframe src="${inner}"></iframe><iframe src="${foreign}"></iframe>`);
  const snapshot = await stage.engine.observe?.(stage.context(), { pixels: true });
  assert.is(snapshot?.maskedRegionCount, 4);
  const pixels = snapshot?.pixels;
  assert.ok(pixels !== undefined);
  const info = readPngInfo(pixels.data);
  assert.equal([info.width, info.height, pixels.scale], [1280, 720, 1]);
  const again = await stage.lines();
  assert.not.ok(
    again.some((line) => line.includes('mask')),
    'nothing of the masks stays',
  );
  const path = await stage.engine.artifacts?.screenshot('a label/..', stage.context());
  assert.is(path, 'screenshots/page-1-a-label-.png');
  const file = await readFile(join(stage.artifactsDir, path ?? ''));
  assert.is(readPngInfo(file).width, 1280);
});

test.run();
