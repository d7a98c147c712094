/** Tests until when an answer may be given: the policy's time to live, its latest change, and the retention of content. */
import { expect, test } from 'bun:test';
import { oldestUsableMs } from './cache-use.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;
const POLICY = { mode: 'all', seconds: 3_600, sinceMs: 0, bodiesDays: null } as const;
const DEFAULTS = { retentionDays: 30 };

test.each([
  ['its time to live', {}, NOW_MS - 3_600_000],
  ['the retention of the configuration', { seconds: 90 * 86_400 }, NOW_MS - 30 * DAY_MS],
  ['the retention of the workspace', { seconds: 90 * 86_400, bodiesDays: 7 }, NOW_MS - 7 * DAY_MS],
  ['a longer retention of the workspace', { seconds: 90 * 86_400, bodiesDays: 60 }, NOW_MS - 60 * DAY_MS],
  ['the latest change', { sinceMs: NOW_MS - 1 }, NOW_MS - 1],
])('an answer is used within %s', (_, changes, expected) => {
  expect(oldestUsableMs({ ...POLICY, ...changes }, DEFAULTS, NOW_MS)).toBe(expected);
});
