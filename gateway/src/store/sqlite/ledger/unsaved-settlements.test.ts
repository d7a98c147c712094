/** Tests unsaved settlements: which calls end at once, which later, and how often. */
import { expect, test } from 'bun:test';
import { createUnsavedSettlements } from './ledger.ts';

/** An abandonment that fails while the store is unavailable. */
function watchAbandoning() {
  const seen: string[] = [];
  const store = { away: false };
  const ends = createUnsavedSettlements(async (call_id) => {
    seen.push(call_id);
    if (store.away) throw new Error('away');
  });
  return { seen, store, ends };
}

const afterThisTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a call is ended at once where the store takes it, and then never again', async () => {
  const { seen, ends } = watchAbandoning();
  await ends.end('one');
  ends.endAll();
  expect(seen).toEqual(['one']);
});

test('where the store is away it is told so, and the call is ended each time the store is back until that is kept', async () => {
  const { seen, store, ends } = watchAbandoning();
  store.away = true;
  await expect(ends.end('one')).rejects.toThrow('away');
  ends.endAll();
  await afterThisTurn();
  store.away = false;
  ends.endAll();
  await afterThisTurn();
  ends.endAll();
  expect(seen).toEqual(['one', 'one', 'one']);
});
