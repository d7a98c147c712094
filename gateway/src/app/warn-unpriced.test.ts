/** Tests that the operator is told once of each model and kind without a price. */
import { expect, test } from 'bun:test';
import { createUnpricedWarner } from './open-money.ts';

function openTeller() {
  const told: object[] = [];
  const tell = createUnpricedWarner({ warn: (about) => void told.push(about) });
  return { told, tell };
}

test('reports each kind of each model once', () => {
  const { told, tell } = openTeller();
  tell('m', ['web_search', 'web_fetch']);
  tell('m', ['web_search']);
  tell('n', ['web_search']);
  expect(told).toEqual([
    { model: 'm', server_tool: 'web_search', unpriced: true },
    { model: 'm', server_tool: 'web_fetch', unpriced: true },
    { model: 'n', server_tool: 'web_search', unpriced: true },
  ]);
});

test('forgets rather than grow, and still reports each kind', () => {
  const { told, tell } = openTeller();
  for (let number = 0; number <= 1_000; number++) tell(`m${number}`, ['web_search']);
  tell('m1000', ['web_search']);
  expect(told).toHaveLength(1_001);
  tell('m0', ['web_search']);
  expect(told).toHaveLength(1_002);
});
