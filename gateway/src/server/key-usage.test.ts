/** Tests which calls a key's own usage sums, and the result for a query that takes too long. */
import { expect, test } from 'bun:test';
import type { Principal } from '../identity/principal.ts';
import { type UsageAnswer, type UsageQuestion, type UsageReader, UsageRefusal } from '../store/ports/usage.ts';
import { createKeyUsageReader } from './key-endpoint.ts';

const PRINCIPAL = {
  keyId: 'key_1',
  account: { id: 'acme', timeZone: 'Europe/Berlin' },
} as Partial<Principal> as Principal;

type Reader = Pick<UsageReader, 'readUsage'>;
/** Returns the query's result under its name. */
const readerOf = (answer: (question: UsageQuestion) => Promise<UsageAnswer>): Reader => ({
  readUsage: (async ({ month }: { month: UsageQuestion }) => ({ month: await answer(month) })) as Reader['readUsage'],
});

/** A result with this many requests in the month, and these in its buckets; the rest is not read. */
function answer(requests: number, buckets: readonly (number | null)[]): UsageAnswer {
  const sums = (count: number) => ({ requests: count }) as UsageAnswer['total'];
  const totals = buckets.map((count) => (count === null ? null : sums(count)));
  return { groups: [], rest: null, others: null, total: sums(requests), totals };
}

async function readAt(text: string, given: UsageAnswer) {
  const reads: UsageQuestion[] = [];
  const usage = readerOf(async (question) => {
    reads.push(question);
    return given;
  });
  const read = await createKeyUsageReader(usage, () => Date.parse(text))(PRINCIPAL);
  return { reads, day: read?.day, month: read?.month };
}

test('sums up the day and the month by the account’s clock, of this key alone', async () => {
  const { reads, day, month } = await readAt('2026-11-20T23:30:00Z', answer(9, [7, 2]));
  const [monthMs, dayMs] = [Date.parse('2026-10-31T23:00:00Z'), Date.parse('2026-11-20T23:00:00Z')];
  expect(reads).toMatchObject([
    {
      tenant: { account: 'acme', workspaces: null },
      condition: { keys: ['key_1'], model: null },
      fromMs: monthMs,
      toMs: Date.parse('2026-11-20T23:30:00Z') + 1,
      buckets: [monthMs, dayMs],
    },
  ]);
  expect([day, month]).toMatchObject([
    { sinceMs: dayMs, sums: { requests: 2 } },
    { sinceMs: monthMs, sums: { requests: 9 } },
  ]);
});

test('a day without calls is 0, and the first of a month is the month', async () => {
  expect((await readAt('2026-11-20T12:00:00Z', answer(9, [9, null]))).day?.sums).toMatchObject({
    requests: 0,
    cost: 0n,
  });
  const { reads, day, month } = await readAt('2026-11-01T12:00:00Z', answer(3, [3]));
  expect(reads[0]?.buckets).toEqual([Date.parse('2026-10-31T23:00:00Z')]);
  expect([day?.sums.requests, month?.sums.requests]).toEqual([3, 3]);
});

test('one read per key runs at a time; concurrent requests share its result, the next reads again', async () => {
  const { promise, resolve } = Promise.withResolvers<UsageAnswer>();
  let questions = 0;
  const usage = readerOf(() => {
    questions += 1;
    return promise;
  });
  const read = createKeyUsageReader(usage, () => 1);
  const both = [read(PRINCIPAL), read(PRINCIPAL)];
  expect(questions).toBe(1);
  resolve(answer(1, [1]));
  expect((await Promise.all(both)).map((usage) => usage?.month.sums.requests)).toEqual([1, 1]);
  await read(PRINCIPAL);
  expect(questions).toBe(2);
});

test('a slow read is left out; a failed read is a fault', async () => {
  const reading = (fault: Error) =>
    createKeyUsageReader(
      readerOf(() => Promise.reject(fault)),
      () => 1,
    )(PRINCIPAL);
  expect(await reading(new UsageRefusal('too_long', 'too long'))).toBeNull();
  await expect(reading(new Error('away'))).rejects.toThrow('away');
});
