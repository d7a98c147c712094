/** Tests the form of several keys, and the requests that undo a change. */
import { expect, test } from 'bun:test';
import type { Key } from '../key.ts';
import { EMPTY_BULK_DRAFT, readBulkDraft, undoRequests } from './bulk-changes.ts';

const CAPS = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
const key = (id: string, changes: Partial<Key> = {}) =>
  ({ id, status: 'active', tags: {}, caps: CAPS, expires_at: null, ...changes }) as Key;
const NOW_MS = Date.UTC(2026, 10, 28);

test('reads only what the form changes', () => {
  expect(readBulkDraft({ ...EMPTY_BULK_DRAFT, tags: 'team=web\nold=' }, NOW_MS, 'UTC')).toEqual({
    value: { tags: { team: 'web', old: null } },
  });
  const limits = { ...EMPTY_BULK_DRAFT, replacesCaps: true, caps: { ...EMPTY_BULK_DRAFT.caps, rpm: '5' } };
  expect(readBulkDraft(limits, NOW_MS, 'UTC')).toEqual({ value: { caps: { ...CAPS, rpm: 5 } } });
  expect(readBulkDraft({ ...EMPTY_BULK_DRAFT, expiry: 'never' }, NOW_MS, 'UTC')).toEqual({
    value: { expires_at: null },
  });
  expect(readBulkDraft(EMPTY_BULK_DRAFT, NOW_MS, 'UTC')).toMatchObject({ faults: { tags: expect.any(String) } });
  expect(readBulkDraft({ ...EMPTY_BULK_DRAFT, tags: 'x', expiry: 'at' }, NOW_MS, 'UTC')).toMatchObject({
    faults: { tags: expect.any(String), expires_at: expect.any(String) },
  });
});

test('an undo restores each key as it was, with one request for those that were alike', () => {
  const keys = [key('a', { tags: { team: 'web' } }), key('b'), key('c', { tags: { env: 'prod' } })];
  expect(undoRequests(keys, { action: 'set', set: { tags: { team: 'api' } } })).toEqual([
    { keys: ['a'], action: 'set', set: { tags: { team: 'web' } } },
    { keys: ['b', 'c'], action: 'set', set: { tags: { team: null } } },
  ]);
  const some = [key('a'), key('b', { status: 'disabled' }), key('c', { status: 'expired' })];
  expect(undoRequests(some, { action: 'disable' })).toEqual([{ keys: ['a', 'c'], action: 'enable' }]);
  expect(undoRequests(some, { action: 'enable' })).toEqual([{ keys: ['b'], action: 'disable' }]);
  expect(undoRequests(some, { action: 'revoke' })).toEqual([]);
});
