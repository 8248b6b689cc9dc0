// What the kiosk sells and its rules, knowing nothing of the page: the same words and prices as the
// kiosk engine (adapters/engines/kiosk). `?preparationMs=` in the address says how long an order
// takes (default 3000).

export const DISHES = [
  { id: 'margherita', name: 'Margherita pizza', price: 850 },
  { id: 'marinara', name: 'Marinara pizza', price: 790 },
  { id: 'quattro', name: 'Four cheese pizza', price: 990 },
  { id: 'calzone', name: 'Calzone', price: 950, soldOut: true },
  { id: 'lasagne', name: 'Lasagne', price: 1050 },
  { id: 'gnocchi', name: 'Gnocchi', price: 920 },
  { id: 'minestrone', name: 'Minestrone', price: 560 },
  { id: 'salad', name: 'Green salad', price: 480 },
  { id: 'focaccia', name: 'Focaccia', price: 350 },
  { id: 'tiramisu', name: 'Tiramisu', price: 450 },
  { id: 'lemonade', name: 'Lemonade', price: 300 },
  { id: 'espresso', name: 'Espresso', price: 220 },
];
export const SIZES = [
  { name: 'Small', extra: 0 },
  { name: 'Medium', extra: 150 },
  { name: 'Large', extra: 300 },
];
export const PAYMENTS = ['Card', 'Cash at the counter'];
const EXTRA_CHEESE = 100;
const DECLINED_PIN = '000000';
export const STAGES = ['Order received', 'In the kitchen', 'Almost ready'];

const given = Number(new URLSearchParams(location.search).get('preparationMs') ?? 3000);
export const preparationMs = Number.isFinite(given) && given >= 0 ? given : 3000;

const newCheckout = () => ({
  customer: '',
  payment: 'Card',
  pin: '',
  receipt: false,
  eatHere: false,
});
export const shop = {
  basket: [],
  lines: 0,
  orders: 0,
  draft: undefined,
  order: undefined,
  checkout: newCheckout(),
  problem: '',
  search: '',
};

export const money = (cents) => `$${(cents / 100).toFixed(2)}`;
export const dishOf = (id) => DISHES.find((dish) => dish.id === id);
export const newDraft = (dish) => ({
  dish,
  size: 'Medium',
  quantity: '1',
  extraCheese: false,
  note: '',
});
export const linePrice = (line) =>
  line.quantity *
  (dishOf(line.dish).price +
    SIZES.find((size) => size.name === line.size).extra +
    (line.extraCheese ? EXTRA_CHEESE : 0));
export const lineTitle = (line) =>
  `${line.quantity} x ${dishOf(line.dish).name}, ${line.size}${line.extraCheese ? ', extra cheese' : ''}`;
export const total = () => shop.basket.reduce((sum, line) => sum + linePrice(line), 0);

/** Puts the draft into the basket; answers whether it was taken. */
export function addDraft() {
  const { draft } = shop;
  const quantity = /^\d{1,2}$/.test(draft.quantity.trim()) ? Number(draft.quantity) : 0;
  if (quantity < 1 || quantity > 20) {
    shop.problem = 'Quantity must be a number from 1 to 20.';
    return false;
  }
  shop.basket.push({ ...draft, quantity });
  shop.draft = undefined;
  return true;
}

/** Pays for the basket; answers whether an order came of it. */
export function pay() {
  const form = shop.checkout;
  const byCard = form.payment === 'Card';
  shop.problem = '';
  if (shop.basket.length === 0) shop.problem = 'The basket is empty.';
  else if (form.customer.trim() === '') shop.problem = 'Enter your name.';
  else if (byCard && !/^\d{4,8}$/.test(form.pin)) {
    shop.problem = 'Enter your PIN of 4 to 8 digits.';
  } else if (byCard && form.pin === DECLINED_PIN) shop.problem = 'The card was declined.';
  form.pin = '';
  if (shop.problem !== '') return false;
  shop.orders += 1;
  shop.order = {
    number: `K-${100 + shop.orders}`,
    customer: form.customer.trim(),
    lines: shop.basket.reduce((sum, line) => sum + line.quantity, 0),
    total: total(),
    eatHere: form.eatHere,
    paidAt: performance.now(),
  };
  shop.basket = [];
  shop.checkout = newCheckout();
  return true;
}

export function progressOf(order) {
  const share = preparationMs === 0 ? 1 : (performance.now() - order.paidAt) / preparationMs;
  if (share >= 1) return { percent: 100, text: 'Order ready', ready: true };
  const stage = Math.floor(share * STAGES.length);
  return {
    percent: Math.round((stage / STAGES.length) * 100),
    text: STAGES[stage],
    ready: false,
  };
}
