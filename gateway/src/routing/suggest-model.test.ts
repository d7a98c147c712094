/** Tests which model a new user is shown first. */
import { expect, test } from 'bun:test';
import { parseConfigPrice } from '../billing/config-price.ts';
import { bookOf } from '../billing/price-book.ts';
import { DEFAULT_ROUTING } from '../config/config.ts';
import { chooseRouting, plainTarget } from '../config/resolve-routing.ts';
import { demo, localProvider } from '../providers/kinds/demo.ts';
import { openUpstream } from '../providers/upstream.ts';
import { type Route, type RouteTable, suggestModel } from './route.ts';
import { traitsOf } from './upstream-traits.ts';

const TARGET = plainTarget(localProvider('demo', demo), 'm');

function route(protocols: Route['protocols'], output: number | null): Route {
  return {
    model: 'm',
    names: ['m'],
    protocols,
    routing: chooseRouting(DEFAULT_ROUTING, [TARGET]),
    targets: [
      {
        ...TARGET,
        upstream: openUpstream(TARGET),
        traits: traitsOf(TARGET, null),
        hiddenReasoning: 'never',
        catalog: null,
        prices: bookOf(output === null ? null : parseConfigPrice({ input: 1, output })),
      },
    ],
  };
}

test('the cheapest model of a protocol is suggested, an unpriced one only if there is no other', () => {
  const routes: RouteTable = new Map([
    ['unpriced', route(['chat', 'messages'], null)],
    ['dear', route(['chat'], 10)],
    ['cheap', route(['chat'], 0.4)],
  ]);
  expect(suggestModel(routes, 'chat', 0)).toBe('cheap');
  expect(suggestModel(routes, 'messages', 0)).toBe('unpriced');
  expect(suggestModel(new Map(), 'chat', 0)).toBeNull();
});
