/** Tests the pins of conversations: their number, their order of use, and the count of moves. */
import { expect, test } from 'bun:test';
import { Affinity, PIN_MS } from './affinity.ts';
import { issuerOf } from './issuer.ts';
import { makeRoute } from './testing/routes.ts';

const { targets } = makeRoute([
  { name: 'a', model: 'claude-sonnet-4-6' },
  { name: 'b', model: 'gpt-5', credentials: [{ organisation: 'acme' }, {}] },
]);
const [a, b] = targets;
if (b === undefined) throw new Error('expected a target');

test('the pin that was used longest ago goes first, beyond 100,000', () => {
  const affinity = new Affinity();
  for (let key = 0; key < 100_000; key += 1) affinity.pin(key, a, 0, 'order', 0, PIN_MS);
  affinity.pin(0, a, 0, 'pin', 1, PIN_MS);
  affinity.pin(100_000, a, 0, 'order', 2, PIN_MS);
  expect(affinity.size).toBe(100_000);
  expect([0, 1, 2, 100_000].map((key) => affinity.find(key)?.untilMs)).toEqual([
    1 + PIN_MS,
    undefined,
    PIN_MS,
    2 + PIN_MS,
  ]);
});

test('a live pin that moves is counted by its reason, an old one is not', () => {
  const affinity = new Affinity();
  affinity.pin(1, a, 0, 'order', 0, PIN_MS);
  affinity.pin(1, a, 0, 'pin', 1, PIN_MS);
  affinity.pin(1, b, 1, 'fallback', 2, PIN_MS);
  affinity.pin(1, a, 0, 'order', 2 + PIN_MS, PIN_MS);
  expect([...affinity.moves]).toEqual([['fallback', 1]]);
});

test('a pin holds the issuer: the vendor of the model, and the organisation or else the provider', () => {
  const affinity = new Affinity();
  affinity.pin(1, b, 0, 'order', 0, PIN_MS);
  expect(affinity.find(1)).toMatchObject({ upstream: 'b gpt-5', credential: 'b key-0', issuer: 'gpt acme' });
  expect([issuerOf(b.upstream, 1), issuerOf(a.upstream, 0)]).toEqual(['gpt b', 'claude a']);
});
