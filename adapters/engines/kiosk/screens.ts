// What each screen of the kiosk shows and what touching it does: pure functions from the shop to a
// tree of views. Nothing here knows ids, boxes or the contract: the surface turns views into nodes.
import {
  DISHES,
  findDish,
  lineTitle,
  linePrice,
  money,
  newDraft,
  orderProgress,
  PAYMENTS,
  SIZES,
  type Dish,
  type Shop,
} from './shop.ts';
import { probeViews, type Probe } from './probe.ts';
import { alert, button, fact, field, heading, select, text, toggle, type View } from './views.ts';

/** The kiosk's screens by name, each with the path that opens it. */
export const SCREEN_PATHS = {
  welcome: '/',
  menu: '/menu',
  options: '/menu/:dish',
  basket: '/basket',
  checkout: '/checkout',
  order: '/order',
  probe: '/probe',
} as const;
export type ScreenName = keyof typeof SCREEN_PATHS;

/** What screens may do beside changing the shop. */
export interface ScreenContext {
  readonly shop: Shop;
  readonly probe: Probe;
  readonly now: number;
  readonly preparationMs: number;
  go(screen: ScreenName): void;
  back(): void;
  log(text: string): void;
}

function welcome({ shop, go }: ScreenContext): readonly View[] {
  return [
    heading('Welcome'),
    text('hello', 'Order here, pay here, eat where you like.'),
    button('Start order', () => {
      go('menu');
    }),
    toggle('switch', 'Large text', shop.largeText, (on) => {
      shop.largeText = on;
    }),
    ...(shop.order === undefined
      ? []
      : [
          button('Show my order', () => {
            go('order');
          }),
        ]),
  ];
}

function dishRow(dish: Dish, { shop, go }: ScreenContext): View {
  const soldOut = dish.soldOut === true;
  return {
    key: `dish:${dish.id}`,
    role: 'listitem',
    children: [
      button(
        dish.name,
        () => {
          shop.draft = newDraft(dish.id);
          go('options');
        },
        { testId: `dish-${dish.id}`, ...(soldOut ? { states: { disabled: true } } : {}) },
      ),
      text('price', soldOut ? 'Sold out' : money(dish.price)),
    ],
  };
}

function menu(context: ScreenContext): readonly View[] {
  const { shop, go, back } = context;
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
      },
      { role: 'searchbox', attributes: { placeholder: 'Name of a dish' } },
    ),
    found.length === 0
      ? text('none', 'No dish has that name.')
      : {
          key: 'dishes',
          role: 'list',
          name: 'Dishes',
          children: found.map((dish) => dishRow(dish, context)),
        },
    text('count', `In the basket: ${count}`),
    button('Basket', () => {
      go('basket');
    }),
    button('Back', back),
  ];
}

function options({ shop, go, back }: ScreenContext): readonly View[] {
  const { draft } = shop;
  if (draft === undefined) return [heading('No dish chosen'), button('Back', back)];
  const add = (): void => {
    if (shop.addDraft()) go('basket');
  };
  const step = (by: number) => (): void => {
    const next = (Number.parseInt(draft.quantity, 10) || 0) + by;
    draft.quantity = String(Math.min(20, Math.max(1, next)));
  };
  return [
    heading(findDish(draft.dish)?.name ?? draft.dish),
    ...alert(shop.problem),
    {
      key: 'form',
      role: 'form',
      name: 'Options',
      children: [
        select(
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
          { role: 'spinbutton', enter: add },
        ),
        button('Fewer', step(-1)),
        button('More', step(1)),
        toggle('checkbox', 'Extra cheese', draft.extraCheese, (on) => {
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
      ],
    },
    button('Add to basket', add),
    button('Back', back),
  ];
}

function basket({ shop, go }: ScreenContext): readonly View[] {
  const empty = shop.basket.length === 0;
  return [
    heading('Basket'),
    empty
      ? text('empty', 'Your basket is empty.')
      : {
          key: 'lines',
          role: 'list',
          name: 'Your dishes',
          children: shop.basket.map((line) => ({
            key: `line:${line.id}`,
            role: 'listitem',
            children: [
              text('title', `${lineTitle(line)}: ${money(linePrice(line))}`),
              ...(line.note.trim() === '' ? [] : [text('note', `Note: ${line.note.trim()}`)]),
              button('Remove', () => {
                shop.remove(line.id);
              }),
            ],
          })),
        },
    ...fact('Total', money(shop.total)),
    button(
      'Checkout',
      () => {
        go('checkout');
      },
      empty ? { states: { disabled: true } } : {},
    ),
    button('Add more', () => {
      go('menu');
    }),
  ];
}

function checkout({ shop, now, go, back, log }: ScreenContext): readonly View[] {
  const form = shop.checkout;
  const pay = (): void => {
    if (shop.pay(now)) go('order');
    else log(`payment refused: ${shop.problem ?? ''}`);
  };
  return [
    heading('Checkout'),
    ...alert(shop.problem),
    {
      key: 'form',
      role: 'form',
      name: 'Payment',
      children: [
        field(
          'Your name',
          form.customer,
          (value) => {
            form.customer = value;
          },
          { enter: pay },
        ),
        select('Pay with', form.payment, PAYMENTS, (payment) => {
          form.payment = payment;
        }),
        ...(form.payment === 'Card'
          ? [
              field(
                'Card PIN',
                form.pin,
                (value) => {
                  form.pin = value;
                },
                { states: { secure: true }, inputPurpose: 'password', enter: pay },
              ),
            ]
          : []),
        toggle('checkbox', 'Print a receipt', form.receipt, (on) => {
          form.receipt = on;
        }),
        toggle('switch', 'Eat here', form.eatHere, (on) => {
          form.eatHere = on;
        }),
      ],
    },
    ...fact('Total', money(shop.total)),
    button('Pay', pay),
    button('Back', back),
  ];
}

function order({ shop, now, preparationMs, go }: ScreenContext): readonly View[] {
  if (shop.order === undefined) return [heading('Your order'), text('none', 'There is no order.')];
  const { number, customer, total, eatHere, lines } = shop.order;
  const progress = orderProgress(shop.order, now, preparationMs);
  return [
    heading('Your order'),
    { key: 'status', role: 'status', name: progress.text },
    { key: 'bar', role: 'progressbar', name: 'Preparation', value: `${progress.percent}%` },
    ...fact('Order number', number),
    ...fact('Name', customer),
    ...fact('Dishes', String(lines)),
    ...fact('Total', money(total)),
    ...fact('Where', eatHere ? 'Eat here' : 'Take away'),
    button(
      'New order',
      () => {
        shop.order = undefined;
        go('welcome');
      },
      progress.ready ? {} : { states: { disabled: true } },
    ),
  ];
}

/** Each screen's content. */
export const SCREENS: Readonly<Record<ScreenName, (context: ScreenContext) => readonly View[]>> = {
  welcome,
  menu,
  options,
  basket,
  checkout,
  order,
  probe: ({ probe }) => probeViews(probe),
};
