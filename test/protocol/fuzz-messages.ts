// The fuzzer's messages: JSON-RPC of every shape, for a peer. What is good has an id or a number that
// nothing else has, so that it can be told what must have come of it.
import { Buffer } from 'node:buffer';
import { mutate, packet, safeJunk, type Random } from './fuzz-support.ts';

/** Ids that good messages never have, and no mutation turns into one of theirs. */
const STRANGE_IDS = [1e12, 'nobody', null, -7, 0.5, '', '__proto__', true, {}, [1], 2 ** 60];

/** A packet that means nothing good; a peer complains, or answers it, or both. */
export function badMessage(random: Random): Buffer {
  const kind = random.int(8);
  if (kind === 0) return safeJunk(random);
  if (kind === 1) return packet(mutate(random, Buffer.from(strange(random))));
  if (kind === 2) return packet('['.repeat(random.int(3000)));
  if (kind === 3) return packet(`[${'['.repeat(1500)}${']'.repeat(1500)}]`);
  if (kind === 4) return packet('');
  return packet(strange(random));
}

export function anyJson(random: Random, depth = 0): unknown {
  const kind = random.int(depth > 4 ? 6 : 8);
  if (kind === 0) return random.pick([0, -0, 1.5, -1e300, 2 ** 53, random.int(1000)]);
  if (kind === 1) return random.pick(['', 'text', '\ud800', '\u{1f600}', '\0', 'x'.repeat(2000)]);
  if (kind < 6) return random.pick([null, true, false, 'é', 7]);
  const items = Array.from({ length: random.int(5) }, () => anyJson(random, depth + 1));
  if (kind === 6) return items;
  return Object.fromEntries(
    items.map((item) => [random.pick(['a', 'b', '__proto__', 'toJSON', 'constructor', '']), item]),
  );
}

function strange(random: Random): string {
  const maybe = (name: string, values: readonly unknown[]): [string, unknown][] =>
    random.chance(0.7) ? [[name, random.pick(values)]] : [];
  return JSON.stringify(
    Object.fromEntries([
      ...maybe('jsonrpc', ['2.0', '2.0', '2.0', 2, '1.0', null]),
      ...maybe('id', STRANGE_IDS),
      ...maybe('method', ['unknown', 'unknown', '', 7, null, {}, 'x'.repeat(300)]),
      ...maybe('params', [{}, [], null, 1, 'x', anyJson(random)]),
      ...(random.chance(0.3) ? maybe('result', [null, 1, anyJson(random)]) : []),
      ...(random.chance(0.3)
        ? maybe('error', [null, 'no', {}, { code: 1 }, { code: -32700, message: 'x' }])
        : []),
    ]),
  );
}
