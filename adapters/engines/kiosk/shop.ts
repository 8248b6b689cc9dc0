// The order kiosk as data and rules, knowing nothing of screens on glass: what is sold, what a
// basket costs, how an order is paid and how long it is prepared. Time comes from outside, so that
// a test decides when an order is ready.
import { isPlainObject, type JsonObject, type JsonValue } from '../../../core/contract.ts';

export interface Dish {
  readonly id: string;
  readonly name: string;
  /** Cents, size Small. */
  readonly price: number;
  readonly soldOut?: boolean;
}

export const DISHES: readonly Dish[] = [
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

/** Sizes and what each adds to the price, in cents. */
export const SIZES: readonly { readonly name: string; readonly extra: number }[] = [
  { name: 'Small', extra: 0 },
  { name: 'Medium', extra: 150 },
  { name: 'Large', extra: 300 },
];
export const PAYMENTS: readonly string[] = ['Card', 'Cash at the counter'];
const EXTRA_CHEESE = 100;
/** The PIN that the bank declines. */
const DECLINED_PIN = '000000';

export interface BasketLine {
  readonly id: number;
  readonly dish: string;
  readonly size: string;
  readonly quantity: number;
  readonly extraCheese: boolean;
  readonly note: string;
}
export interface Order {
  readonly number: string;
  readonly customer: string;
  readonly lines: number;
  readonly total: number;
  readonly eatHere: boolean;
  /** On the shop's clock, ms. */
  readonly paidAt: number;
}
export interface Draft {
  dish: string;
  size: string;
  quantity: string;
  extraCheese: boolean;
  note: string;
}
export interface Checkout {
  customer: string;
  payment: string;
  pin: string;
  receipt: boolean;
  eatHere: boolean;
}

export const findDish = (id: string): Dish | undefined => DISHES.find((dish) => dish.id === id);
export const money = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

export function linePrice(line: BasketLine): number {
  const size = SIZES.find((entry) => entry.name === line.size)?.extra ?? 0;
  const one = (findDish(line.dish)?.price ?? 0) + size + (line.extraCheese ? EXTRA_CHEESE : 0);
  return one * line.quantity;
}
export function lineTitle(line: BasketLine): string {
  const cheese = line.extraCheese ? ', extra cheese' : '';
  return `${line.quantity} x ${findDish(line.dish)?.name ?? line.dish}, ${line.size}${cheese}`;
}

/** How far an order is. */
export interface Progress {
  readonly percent: number;
  readonly text: string;
  readonly ready: boolean;
}
const STAGES = ['Order received', 'In the kitchen', 'Almost ready'] as const;

export function orderProgress(order: Order, now: number, preparationMs: number): Progress {
  const share = preparationMs <= 0 ? 1 : Math.max(0, now - order.paidAt) / preparationMs;
  if (share >= 1) return { percent: 100, text: 'Order ready', ready: true };
  const stage = Math.floor(share * STAGES.length);
  return {
    percent: Math.round((stage / STAGES.length) * 100),
    text: STAGES[stage] ?? STAGES[0],
    ready: false,
  };
}

export const newDraft = (dish: string): Draft => ({
  dish,
  size: 'Medium',
  quantity: '1',
  extraCheese: false,
  note: '',
});
const newCheckout = (): Checkout => ({
  customer: '',
  payment: 'Card',
  pin: '',
  receipt: false,
  eatHere: false,
});

/** What a kiosk remembers, and every change to it. `problem` is the last refusal, for an alert. */
export class Shop {
  basket: BasketLine[] = [];
  largeText = false;
  draft: Draft | undefined;
  checkout: Checkout = newCheckout();
  order: Order | undefined;
  problem: string | undefined;
  search = '';
  #lines = 0;
  #orders = 0;

  get total(): number {
    return this.basket.reduce((sum, line) => sum + linePrice(line), 0);
  }

  /** Puts the draft into the basket; answers whether it was taken. */
  addDraft(): boolean {
    const { draft } = this;
    if (draft === undefined) return false;
    const quantity = /^\d{1,2}$/u.test(draft.quantity.trim()) ? Number(draft.quantity) : 0;
    if (quantity < 1 || quantity > 20) {
      this.problem = 'Quantity must be a number from 1 to 20.';
      return false;
    }
    this.#lines += 1;
    this.basket.push({ ...draft, id: this.#lines, quantity });
    this.draft = undefined;
    this.problem = undefined;
    return true;
  }

  remove(id: number): void {
    this.basket = this.basket.filter((line) => line.id !== id);
  }

  /** Pays for the basket; answers whether an order came of it. */
  pay(now: number): boolean {
    const { customer, payment, pin, eatHere } = this.checkout;
    const byCard = payment === 'Card';
    if (this.basket.length === 0) this.problem = 'The basket is empty.';
    else if (customer.trim() === '') this.problem = 'Enter your name.';
    else if (byCard && !/^\d{4,8}$/u.test(pin)) this.problem = 'Enter your PIN of 4 to 8 digits.';
    else if (byCard && pin === DECLINED_PIN) this.problem = 'The card was declined.';
    else this.problem = undefined;
    this.checkout.pin = '';
    if (this.problem !== undefined) return false;
    this.#orders += 1;
    this.order = {
      number: `K-${100 + this.#orders}`,
      customer: customer.trim(),
      lines: this.basket.reduce((sum, line) => sum + line.quantity, 0),
      total: this.total,
      eatHere,
      paidAt: now,
    };
    this.basket = [];
    this.checkout = newCheckout();
    return true;
  }

  /** Forgets what belongs to one visit; the basket, the order and the settings stay. */
  relaunch(): void {
    this.draft = undefined;
    this.checkout = newCheckout();
    this.problem = undefined;
    this.search = '';
  }

  /** Forgets everything but the order numbers already given. */
  reset(): void {
    this.relaunch();
    this.basket = [];
    this.largeText = false;
    this.order = undefined;
  }

  capture(now: number): JsonObject {
    return {
      largeText: this.largeText,
      orders: this.#orders,
      basket: this.basket.map((line) => ({ ...line })),
      // Age instead of a time: the clock that restores has another origin.
      order: this.order === undefined ? null : { ...this.order, paidAt: now - this.order.paidAt },
    };
  }

  /** Replaces everything by captured data; answers false, with nothing changed, when it is not ours. */
  restore(data: JsonValue, now: number): boolean {
    if (!isPlainObject(data)) return false;
    const { basket, order, largeText, orders } = data;
    if (!Array.isArray(basket) || typeof largeText !== 'boolean') return false;
    if (typeof orders !== 'number' || !Number.isSafeInteger(orders)) return false;
    const lines: readonly unknown[] = basket;
    const saved: unknown = order;
    if (!lines.every(isLine) || (saved !== null && !isOrder(saved))) return false;
    this.reset();
    this.basket = lines.map((line) => ({ ...line }));
    this.largeText = largeText;
    this.order = saved === null ? undefined : { ...saved, paidAt: now - saved.paidAt };
    this.#orders = orders;
    this.#lines = Math.max(0, ...this.basket.map((line) => line.id));
    return true;
  }
}

function isLine(value: unknown): value is BasketLine {
  if (!isPlainObject(value)) return false;
  const line: Partial<BasketLine> = value;
  return (
    Number.isSafeInteger(line.id) &&
    typeof line.dish === 'string' &&
    typeof line.size === 'string' &&
    Number.isSafeInteger(line.quantity) &&
    typeof line.extraCheese === 'boolean' &&
    typeof line.note === 'string'
  );
}
function isOrder(value: unknown): value is Order {
  if (!isPlainObject(value)) return false;
  const order: Partial<Order> = value;
  return (
    typeof order.number === 'string' &&
    typeof order.customer === 'string' &&
    typeof order.lines === 'number' &&
    typeof order.total === 'number' &&
    typeof order.eatHere === 'boolean' &&
    typeof order.paidAt === 'number'
  );
}
