/**
 * Tests how the blocks of a place grow: few parts for any input, everything that was added, and no part large enough to
 * delay the writer.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { migrate } from '../migrations/migrate.ts';
import { readBlocks } from '../usage/read-blocks.ts';
import { openBlockBook } from './block-book.ts';
import { SumRows } from './gather-additions.ts';
import { newTally } from './tally.ts';

const PLACE = { account: 1, kind: 'session', step: 'day', startMs: 0 } as const;

function open() {
  const database = new Database(':memory:', { strict: true });
  migrate(database, 1);
  return { database, book: openBlockBook(database) };
}

function rowsOf(first: number, count: number) {
  const rows = new SumRows();
  const sums = newTally();
  sums[0] = 1;
  for (let series = first; series < first + count; series++) rows.add(series, { sums, latencySlot: 7, ttfbSlot: null });
  return rows.toBlock();
}

function read(database: Database) {
  const blocks = [...readBlocks(database, PLACE, { step: 'day', span: { startMs: 0, endMs: 1 } }, 'latencies')];
  const calls = blocks.flatMap(({ sums }) => [...(sums[0] ?? [])]).reduce((sum, one) => sum + one, 0);
  const slots = blocks
    .flatMap(({ latencies }) => [...(latencies?.latency.counts ?? [])])
    .reduce((sum, one) => sum + one, 0);
  return { parts: blocks.map(({ series }) => series.length), calls, slots };
}

test('many small additions of new series make few parts', () => {
  const { database, book } = open();
  for (let nth = 0; nth < 300; nth++) book.add(PLACE, rowsOf(nth * 10, 10));
  const { parts, calls, slots } = read(database);
  expect([calls, slots]).toEqual([3_000, 3_000]);
  expect(parts.length).toBeLessThan(10);
});

test('known series do not enlarge a part', () => {
  const { database, book } = open();
  for (let nth = 0; nth < 50; nth++) book.add(PLACE, rowsOf(0, 40));
  expect(read(database)).toEqual({ parts: [40], calls: 2_000, slots: 2_000 });
});

test('a large part stays unchanged', () => {
  const { database, book } = open();
  for (let nth = 0; nth < 4; nth++) book.add(PLACE, rowsOf(nth * 9_000, 9_000));
  expect(read(database)).toEqual({ parts: [9_000, 9_000, 9_000, 9_000], calls: 36_000, slots: 36_000 });
});

test('places are separate', () => {
  const { database, book } = open();
  book.add(PLACE, rowsOf(0, 3));
  for (const other of [{ account: 2 }, { kind: 'end_user' }, { step: 'quarter' }, { startMs: 900_000 }] as const) {
    book.add({ ...PLACE, ...other }, rowsOf(0, 5));
  }
  expect(read(database).calls).toBe(3);
});
