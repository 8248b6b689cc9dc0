// The order kiosk as a web page: what the kiosk engine shows, so that one demo plays on both. Plain
// DOM, no build, nothing from elsewhere. The fragment of the address names the screen.
// A browser loads this file as it is.
// oxlint-disable-next-line no-restricted-imports
import {
  addDraft,
  DISHES,
  dishOf,
  linePrice,
  lineTitle,
  money,
  newDraft,
  pay,
  PAYMENTS,
  preparationMs,
  progressOf,
  shop,
  SIZES,
  STAGES,
  total,
} from './rules.js';

// Parts.

function make(tag, properties = {}, children = []) {
  const { attributes = {}, ...own } = properties;
  const element = Object.assign(document.createElement(tag), own);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const heading = (text) => make('h1', { textContent: text });
const note = (text) => make('p', { textContent: text });
const alertBox = () =>
  shop.problem === ''
    ? []
    : [make('p', { textContent: shop.problem, attributes: { role: 'alert' } })];
const button = (text, onclick, { disabled = false, main = false, testId } = {}) =>
  make('button', {
    type: 'button',
    textContent: text,
    onclick,
    disabled,
    className: main ? 'main' : '',
    attributes: testId === undefined ? {} : { 'data-testid': testId },
  });
const actions = (...buttons) => make('div', { className: 'actions' }, buttons);
const facts = (entries) =>
  make(
    'dl',
    {},
    entries.flatMap(([term, value]) => [
      make('dt', { textContent: term }),
      make('dd', { textContent: value }),
    ]),
  );

let fields = 0;
function row(text, control) {
  fields += 1;
  control.id = `field-${fields}`;
  return make('div', { className: 'row' }, [
    make('label', { textContent: text, htmlFor: control.id }),
    control,
  ]);
}
function field(text, value, oninput, { enter, type = 'text', attributes = {} } = {}) {
  const input = make('input', { type, value, attributes });
  input.oninput = () => oninput(input.value);
  input.onkeydown = (event) => {
    if (event.key === 'Enter' && enter !== undefined) enter();
  };
  return row(text, input);
}
function choice(text, value, options, onchange) {
  const list = make(
    'select',
    {},
    options.map((option) => make('option', { textContent: option, selected: option === value })),
  );
  list.onchange = () => onchange(list.value);
  return row(text, list);
}
function toggle(text, on, onchange, role) {
  const box = make('input', {
    type: 'checkbox',
    checked: on,
    attributes: role === undefined ? {} : { role },
  });
  box.onchange = () => onchange(box.checked);
  return row(text, box);
}

// Screens. Each answers its content; `show` puts it up.

const SCREENS = {
  welcome: () => [
    heading('Welcome'),
    note('Order here, pay here, eat where you like.'),
    toggle(
      'Large text',
      document.documentElement.classList.contains('large'),
      (on) => {
        document.documentElement.classList.toggle('large', on);
      },
      'switch',
    ),
    actions(
      button('Start order', () => go('menu'), { main: true }),
      ...(shop.order === undefined ? [] : [button('Show my order', () => go('order'))]),
    ),
  ],

  menu: () => {
    const wanted = shop.search.trim().toLowerCase();
    const found = DISHES.filter((dish) => dish.name.toLowerCase().includes(wanted));
    const count = shop.basket.reduce((sum, line) => sum + line.quantity, 0);
    return [
      heading('Menu'),
      field(
        'Search dishes',
        shop.search,
        (value) => {
          shop.search = value;
          show({ keepFocus: true });
        },
        { type: 'search', attributes: { placeholder: 'Name of a dish' } },
      ),
      found.length === 0
        ? note('No dish has that name.')
        : make(
            'ul',
            { attributes: { 'aria-label': 'Dishes' } },
            found.map((dish) =>
              make('li', {}, [
                button(
                  dish.name,
                  () => {
                    shop.draft = newDraft(dish.id);
                    go('options');
                  },
                  { disabled: dish.soldOut === true, testId: `dish-${dish.id}` },
                ),
                make('span', { textContent: dish.soldOut ? 'Sold out' : money(dish.price) }),
              ]),
            ),
          ),
      note(`In the basket: ${count}`),
      actions(
        button('Basket', () => go('basket'), { main: true }),
        button('Back', () => history.back()),
      ),
    ];
  },

  options: () => {
    const { draft } = shop;
    if (draft === undefined) {
      return [heading('No dish chosen'), actions(button('Back', () => history.back()))];
    }
    const add = () => {
      if (addDraft()) go('basket');
      else show();
    };
    const step = (by) => () => {
      const next = (Number.parseInt(draft.quantity, 10) || 0) + by;
      draft.quantity = String(Math.min(20, Math.max(1, next)));
      show();
    };
    return [
      heading(dishOf(draft.dish).name),
      ...alertBox(),
      make('form', { attributes: { 'aria-label': 'Options' }, onsubmit: () => false }, [
        choice(
          'Size',
          draft.size,
          SIZES.map((size) => size.name),
          (size) => {
            draft.size = size;
          },
        ),
        field(
          'Quantity',
          draft.quantity,
          (value) => {
            draft.quantity = value;
          },
          { type: 'number', enter: add, attributes: { min: '1', max: '20' } },
        ),
        make('div', { className: 'row' }, [button('Fewer', step(-1)), button('More', step(1))]),
        toggle('Extra cheese', draft.extraCheese, (on) => {
          draft.extraCheese = on;
        }),
        field(
          'Note to the kitchen',
          draft.note,
          (value) => {
            draft.note = value;
          },
          { enter: add },
        ),
      ]),
      actions(
        button('Add to basket', add, { main: true }),
        button('Back', () => history.back()),
      ),
    ];
  },

  basket: () => [
    heading('Basket'),
    shop.basket.length === 0
      ? note('Your basket is empty.')
      : make(
          'ul',
          { attributes: { 'aria-label': 'Your dishes' } },
          shop.basket.map((line) =>
            make('li', {}, [
              make('span', { textContent: `${lineTitle(line)}: ${money(linePrice(line))}` }),
              ...(line.note.trim() === ''
                ? []
                : [make('span', { textContent: `Note: ${line.note.trim()}` })]),
              button('Remove', () => {
                shop.basket = shop.basket.filter((other) => other !== line);
                show();
              }),
            ]),
          ),
        ),
    facts([['Total', money(total())]]),
    actions(
      button('Checkout', () => go('checkout'), { main: true, disabled: shop.basket.length === 0 }),
      button('Add more', () => go('menu')),
    ),
  ],

  checkout: () => {
    const form = shop.checkout;
    const payNow = () => {
      if (pay()) go('order');
      else show();
    };
    return [
      heading('Checkout'),
      ...alertBox(),
      make('form', { attributes: { 'aria-label': 'Payment' }, onsubmit: () => false }, [
        field(
          'Your name',
          form.customer,
          (value) => {
            form.customer = value;
          },
          { enter: payNow, attributes: { autocomplete: 'off' } },
        ),
        choice('Pay with', form.payment, PAYMENTS, (payment) => {
          form.payment = payment;
          show();
        }),
        ...(form.payment === 'Card'
          ? [
              field(
                'Card PIN',
                form.pin,
                (value) => {
                  form.pin = value;
                },
                {
                  type: 'password',
                  enter: payNow,
                  attributes: { autocomplete: 'off', inputmode: 'numeric' },
                },
              ),
            ]
          : []),
        toggle('Print a receipt', form.receipt, (on) => {
          form.receipt = on;
        }),
        toggle(
          'Eat here',
          form.eatHere,
          (on) => {
            form.eatHere = on;
          },
          'switch',
        ),
      ]),
      facts([['Total', money(total())]]),
      actions(
        button('Pay', payNow, { main: true }),
        button('Back', () => history.back()),
      ),
    ];
  },

  order: () => {
    const { order } = shop;
    if (order === undefined) return [heading('Your order'), note('There is no order.')];
    const { percent, text, ready } = progressOf(order);
    return [
      heading('Your order'),
      make('p', { textContent: text, attributes: { role: 'status' } }),
      make('progress', {
        max: 100,
        value: percent,
        attributes: { 'aria-label': 'Preparation', 'aria-valuetext': `${percent}%` },
      }),
      facts([
        ['Order number', order.number],
        ['Name', order.customer],
        ['Dishes', String(order.lines)],
        ['Total', money(order.total)],
        ['Where', order.eatHere ? 'Eat here' : 'Take away'],
      ]),
      actions(
        button(
          'New order',
          () => {
            shop.order = undefined;
            go('welcome');
          },
          { main: true, disabled: !ready },
        ),
      ),
    ];
  },
};

// Showing.

let timer;
function show({ keepFocus = false } = {}) {
  clearTimeout(timer);
  fields = 0;
  const name = Object.hasOwn(SCREENS, location.hash.slice(1)) ? location.hash.slice(1) : 'welcome';
  const screen = document.querySelector('#screen');
  const focused = keepFocus ? document.activeElement.id : '';
  screen.replaceChildren(...SCREENS[name]());
  if (focused !== '') {
    const field = document.getElementById(focused);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }
  const { order } = shop;
  if (name === 'order' && order !== undefined && !progressOf(order).ready) {
    // At the next stage, not at every tick: a screen that changes is looked at again.
    const stage = preparationMs / STAGES.length;
    const passed = performance.now() - order.paidAt;
    timer = setTimeout(show, Math.max(1, stage - (passed % stage) + 1));
  }
}

function go(name) {
  shop.problem = '';
  shop.search = '';
  if (location.hash === `#${name}`) show();
  else location.hash = name;
}

addEventListener('hashchange', () => {
  shop.problem = '';
  scrollTo(0, 0);
  show();
});
show();
