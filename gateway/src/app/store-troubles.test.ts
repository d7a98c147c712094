/** Tests that trouble of the store is remembered with its times, once while it lasts. */
import { expect, test } from 'bun:test';
import { watchStore } from './store-troubles.ts';

test('trouble is one entry while it lasts, keeps its end, and begins again afterwards', () => {
  let nowMs = 1;
  const silent = { warn: () => undefined, error: () => undefined };
  const watch = watchStore(silent, () => nowMs);
  watch.onWritableChange(null);
  expect(watch.troubles()).toEqual([]);
  watch.onWritableChange(new Error('full'));
  nowMs = 2;
  watch.onWritableChange(new Error('still full'));
  watch.onDatabaseChange(new Error('locked'));
  nowMs = 3;
  watch.onWritableChange(null);
  watch.onWritableChange(new Error('full again'));
  expect(watch.troubles()).toMatchObject([
    { cause: 'full', sinceMs: 1, untilMs: 3 },
    { cause: 'locked', sinceMs: 2, untilMs: null },
    { cause: 'full again', sinceMs: 3, untilMs: null },
  ]);
});
