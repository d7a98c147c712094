/** Tests that the operator is told once of each model and kind without a price. */
import { expect, test } from 'bun:test';
import { createUnpricedWarner } from './open-money.ts';

function openWarner() {
  const reports: object[] = [];
  const warnOf = createUnpricedWarner({ warn: (about) => void reports.push(about) });
  return { reports, warnOf };
}

test('reports each kind of each model once', () => {
  const { reports, warnOf } = openWarner();
  warnOf('m', ['web_search', 'web_fetch']);
  warnOf('m', ['web_search']);
  warnOf('n', ['web_search']);
  expect(reports).toEqual([
    { model: 'm', server_tool: 'web_search', unpriced: true },
    { model: 'm', server_tool: 'web_fetch', unpriced: true },
    { model: 'n', server_tool: 'web_search', unpriced: true },
  ]);
});

test('forgets rather than grow, and still reports each kind', () => {
  const { reports, warnOf } = openWarner();
  for (let number = 0; number <= 1_000; number++) warnOf(`m${number}`, ['web_search']);
  warnOf('m1000', ['web_search']);
  expect(reports).toHaveLength(1_001);
  warnOf('m0', ['web_search']);
  expect(reports).toHaveLength(1_002);
});
