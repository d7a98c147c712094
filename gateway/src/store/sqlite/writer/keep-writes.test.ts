/** Tests that writes that share a transaction fail independently, except for disk errors. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { keepWrites } from './writer-database.ts';
import type { WriteStatement } from './writer-messages.ts';

const insert = (id: number, bytes = 1): WriteStatement => ({
  sql: 'INSERT INTO thing (id, body) VALUES (?, zeroblob(?))',
  parameters: [id, bytes],
  changes: 1,
});
const remove = (id: number): WriteStatement => ({
  sql: 'DELETE FROM thing WHERE id = ?',
  parameters: [id],
  changes: 1,
});

function open() {
  const database = new Database(':memory:', { strict: true });
  database.run('CREATE TABLE thing (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT');
  const ids = () =>
    database
      .query<{ id: number }, []>('SELECT id FROM thing ORDER BY id')
      .all()
      .map(({ id }) => id);
  return { database, ids };
}

describe('writes that come together', () => {
  test('are all kept', () => {
    const { database, ids } = open();
    expect(keepWrites(database, [[insert(1)], [insert(2), insert(3)], [remove(1)]])).toBe(true);
    expect(ids()).toEqual([2, 3]);
  });

  test('are undone alone where one is refused, whole, and see what came before them', () => {
    const { database, ids } = open();
    const reply = keepWrites(database, [[insert(1)], [insert(2), insert(1)], [insert(3), remove(9)], [insert(2)]]);
    expect(reply).toMatchObject({
      failed: null,
      writes: [
        null,
        { kind: 'conflict' },
        { kind: 'conflict', message: expect.stringContaining('does not exist') },
        null,
      ],
    });
    expect(ids()).toEqual([1, 2]);
  });

  test('are all undone where the disk is full, and the next ones are kept', () => {
    const { database, ids } = open();
    database.run('PRAGMA max_page_count = 10');
    expect(keepWrites(database, [[insert(1)], [insert(2, 200_000)], [insert(3)]])).toMatchObject({
      failed: { kind: 'full' },
      writes: [],
    });
    expect([ids(), database.inTransaction]).toEqual([[], false]);
    expect(keepWrites(database, [[insert(4)]])).toBe(true);
    expect(ids()).toEqual([4]);
  });
});
