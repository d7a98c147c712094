/** Tests the months and the groups of a statement. */
import { expect, test } from 'bun:test';
import { byWorkspace, type Line, monthName, monthsBetween } from './statement.ts';

test('months run from the last to the first, over the turn of a year', () => {
  expect(monthsBetween({ first: '2025-11', last: '2026-02' })).toEqual(['2026-02', '2026-01', '2025-12', '2025-11']);
  expect(monthsBetween({ first: '2026-02', last: '2026-02' })).toEqual(['2026-02']);
  expect(monthName('2026-02')).toBe('February 2026');
});

test('a workspace’s cost is the exact sum of its lines', () => {
  const line = (workspace: string | null, cost_nano_usd: string) => ({ workspace, cost_nano_usd }) as Line;
  const groups = byWorkspace([line('a', '9007199254740993'), line('a', '1'), line(null, '5')]);
  expect(groups.map(({ workspace, costNanoUsd }) => [workspace, costNanoUsd])).toEqual([
    ['a', '9007199254740994'],
    [null, '5'],
  ]);
});
