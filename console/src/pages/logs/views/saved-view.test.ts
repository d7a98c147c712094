/** Tests that a saved view lists exactly what the page listed when it was saved, and knows when the page differs. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { COLUMN_NAMES } from '../../../../../gateway/src/lib/query/call-columns.ts';
import { SORTS } from '../../../../../gateway/src/lib/query/call-order.ts';
import { readRange } from '../../../filters/time-range.ts';
import { csvQuery, listQuery, logQuery } from '../log-filters.ts';
import { addressOfView, isModified, type SavedView, showView, viewSearchOf, viewText } from './saved-view.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 13, 5, 9);
const ZONE = 'Europe/Berlin';
type Search = Readonly<Record<string, string>>;

const text = fc.string({ minLength: 1, maxLength: 30 });
const anySearch: fc.Arbitrary<Search> = fc.record(
  {
    q: fc.constantFrom('status:5xx duration>10s', 'key:"a b" -model:claude*', ' cost>0.05 '),
    range: fc.constantFrom('1h', '30d', 'today', 'last_month', 'nothing'),
    from: fc.constant('2026-11-01T00:00:00.000Z'),
    to: fc.constant('2026-11-02T00:00:00.000Z'),
    sort: fc.constantFrom(...SORTS.flatMap((field) => [field, `-${field}`]), 'nothing'),
    columns: fc.subarray([...COLUMN_NAMES], { minLength: 1 }).map((names) => names.join(',')),
    view: fc.constant('reasons'),
    reason: fc.constant('cut'),
    model: text,
    key: fc.constant('key_1'),
    end_user: text,
    outcome: fc.constantFrom('ok', 'server_error'),
    without: fc.constantFrom('session', 'model,session'),
    live: fc.constant('1'),
    account: fc.constant('team'),
    other_model: text,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Search>;

const listed = (search: Search) => {
  const query = listQuery(search, logQuery(search, readRange(search, '24h', NOW_MS, ZONE)));
  return { query, file: csvQuery(search, query), byReason: search.view };
};
const viewOf = (search: Search): SavedView => ({
  ...{ id: 'view_1', name: 'one', shared: false, editable: true },
  search: viewSearchOf(search),
});
const changed = (search: Search, changes: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined)) as Search;

test('a view lists and exports what the page did, from any page and by a link', () => {
  fc.assert(
    fc.property(anySearch, anySearch, (saved, other) => {
      const view = viewOf(saved);
      const shown = changed(other, showView(view));
      expect(listed(shown)).toEqual(listed(saved));
      expect(listed(addressOfView(view))).toEqual(listed(saved));
      expect(isModified(shown, view)).toBe(false);
      expect([shown.live, shown.account]).toEqual([undefined, other.account]);
    }),
  );
});

test('a page that lists anything else is modified, until the view is shown again', () => {
  fc.assert(
    fc.property(anySearch, anySearch, (saved, other) => {
      const view = viewOf(saved);
      if (JSON.stringify(listed(saved)) !== JSON.stringify(listed(other))) expect(isModified(other, view)).toBe(true);
      expect(isModified(changed(other, showView(view)), view)).toBe(false);
    }),
  );
});

test.each([
  [{}, 'last 24h'],
  [{ q: 'status:5xx', range: 'this_week', sort: '-cost' }, 'status:5xx · this week · by cost'],
  [
    { model: 'gpt-5', key: 'key_1', without: 'session,end_user', range: '30d' },
    'model gpt-5 · one key · without session, end user · last 30d',
  ],
  [
    { view: 'reasons', from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z' },
    'by reason · 2026-11-01 to 2026-11-02',
  ],
] as const)('%j is described as %s', (search, words) => {
  expect(viewText(search)).toBe(words);
});
