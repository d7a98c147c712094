/** Tests that the proof accepts a ledger from before the journal, and finds what was later changed, added or removed. */
import { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerProof } from '../../ports/ledger.ts';
import { recompute, settledCall } from '../../testing/sample-call.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openWriteConnection } from '../database/connection.ts';
import { CALL_RECORD_COLUMNS } from '../ledger/call-record-row.ts';
import { type EntryValues, entryOf, hashedRecordOf, hashOf, SELECT_ENTRIES } from '../ledger/entry-row.ts';
import { hashEntry, SEAL_ENTRIES } from '../ledger/ledger-entry.ts';
import { migrate } from '../migrations/migrate.ts';
import { LegacyLedger } from '../testing/write-legacy-ledger.ts';
import { proveLedger } from './prove-ledger.ts';

const newFolder = temporaryFolders();
const GUARDS = ['entry', 'epoch', 'seal'].flatMap((table) => [`ledger_${table}_keeps`, `ledger_${table}_stays`]);
let original: string;

/** Writes a ledger from before the journal; returns the path of its database. */
function writeLegacy(write: (ledger: LegacyLedger, database: Database) => void): string {
  const path = databasePath(newFolder());
  const database = openWriteConnection(path);
  migrate(database, 1);
  database.run('BEGIN');
  const ledger = new LegacyLedger(database);
  ledger.beginEpoch();
  write(ledger, database);
  ledger.finish();
  database.run('COMMIT');
  database.close();
  return path;
}

/** Two epochs: a top-up, a correction, calls that were posted, absorbed, extended, voided; one open call. */
beforeAll(() => {
  original = writeLegacy((ledger) => {
    ledger.add({ kind: 'topup', ref: 'm1', amount: 5_000n, note: 'paid in ☂' });
    ledger.add({ kind: 'hold', ref: 'call-a', amount: 100n });
    ledger.add({ kind: 'extend', ref: 'call-a', nth: 1, amount: 20n });
    ledger.endCall('call-a', 120n, 80);
    ledger.addCall('call-b', 50n, 7);
    ledger.add({ kind: 'hold', ref: 'call-c', amount: 40n });
    ledger.beginEpoch(2);
    ledger.endCall('call-c', 40n, 4);
    ledger.add({ kind: 'correct', ref: 'm2', amount: -30n, note: 'paid in ☂' });
    ledger.addCall('call-d', 10n, 0);
    ledger.addRecord(sampleRecord('call-e', { cost_nano_usd: null }));
    ledger.openCall('call-f', 60n);
  });
});

/** A copy of the ledger without its triggers. */
function openUnguarded(): { path: string; database: Database } {
  const path = join(newFolder(), 'tollgate.db');
  copyFileSync(original, path);
  const database = new Database(path, { strict: true });
  database.run('PRAGMA journal_mode = MEMORY');
  database.run('PRAGMA synchronous = OFF');
  for (const guard of [...GUARDS, 'call_record_keeps', 'call_record_stays']) database.run(`DROP TRIGGER ${guard}`);
  return { path, database };
}

function proofAfter(...statements: string[]): LedgerProof {
  const { path, database } = openUnguarded();
  for (const statement of statements) expect(database.run(statement).changes).toBeGreaterThan(0);
  database.close();
  return proveLedger(path, recompute);
}

test('an unchanged ledger verifies', () => {
  expect(proveLedger(original, recompute)).toMatchObject({ entries: 13, calls: 4, problem: null });
});

test('the database itself refuses to change or delete an entry, an epoch or a seal', () => {
  const database = new Database(original, { strict: true });
  database.run('PRAGMA recursive_triggers = ON');
  expect(() => database.run('UPDATE ledger_entry SET amount = 1')).toThrow('the ledger never changes');
  expect(() => database.run('DELETE FROM ledger_entry')).toThrow('nothing of the ledger is ever deleted');
  expect(() => database.run('INSERT OR REPLACE INTO ledger_entry SELECT * FROM ledger_entry')).toThrow('ever deleted');
  expect(() => database.run('UPDATE ledger_epoch SET started_at_ms = 1')).toThrow('the ledger never changes');
  expect(() =>
    database.run(
      'INSERT INTO ledger_entry SELECT 99, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note, hash FROM ledger_entry WHERE seq = 1',
    ),
  ).toThrow('UNIQUE');
  database.close();
});

test('a change of any byte of any entry is found, with the entry’s number', () => {
  const { path, database } = openUnguarded();
  const entries = database
    .query<Record<string, string | number | Uint8Array | null>, []>('SELECT * FROM ledger_entry')
    .all();
  let changes = 0;
  for (const entry of entries) {
    const seq = Number(entry.seq);
    for (const [column, value] of Object.entries(entry)) {
      if (column === 'seq') continue;
      for (const changed of tampered(value)) {
        const set = `UPDATE ledger_entry SET ${column} = ? WHERE seq = ?`;
        database.run(set, [changed, seq]);
        const { problem } = proveLedger(path, recompute);
        if (problem?.entry !== seq) {
          throw new Error(`${column} of entry ${seq} as ${changed}: found ${JSON.stringify(problem)}`);
        }
        database.run(set, [value ?? null, seq]);
        changes += 1;
      }
    }
  }
  database.close();
  expect(changes).toBeGreaterThan(700);
  expect(proveLedger(path, recompute).problem).toBeNull();
});

/** SQLite computes them from the others. */
const COMPUTED_COLUMNS = ['reason_kind', 'reason_group'];

test('a change of any value of a settled call’s record is found, with the number of its last entry', () => {
  const { path, database } = openUnguarded();
  const ends = database
    .query<{ seq: number; ref: string }, []>("SELECT seq, ref FROM ledger_entry WHERE kind IN ('post', 'void')")
    .all();
  let changes = 0;
  for (const { seq, ref } of ends) {
    const record = database
      .query<Record<string, string | number | null>, [string]>('SELECT * FROM call_record WHERE request_id = ?')
      .get(ref);
    for (const [column, value] of Object.entries(record ?? {})) {
      if (COMPUTED_COLUMNS.includes(column)) continue;
      const others = typeof value === 'string' ? tampered(value).slice(0, 3) : value === null ? [1, null] : [value + 1];
      for (const changed of others.filter((other) => other !== value)) {
        const set = `UPDATE call_record SET ${column} = ? WHERE request_id = ?`;
        database.run(set, [changed as string | number, ref]);
        const now = column === 'request_id' ? String(changed) : ref;
        const { problem } = proveLedger(path, recompute);
        const isHashed = (CALL_RECORD_COLUMNS as readonly string[]).includes(column);
        if (problem === null || problem.entry !== (isHashed ? seq : null)) {
          throw new Error(`${column} of ${ref} as ${changed}: found ${JSON.stringify(problem)}`);
        }
        database.run(set, [value, now]);
        changes += 1;
      }
    }
  }
  database.close();
  expect(ends).toHaveLength(4);
  expect(changes).toBeGreaterThan(100);
  expect(proveLedger(path, recompute).problem).toBeNull();
});

/** The value with one byte changed, for each of its bytes; for a number, its neighbors. */
function tampered(value: string | number | Uint8Array | null | undefined): (string | number | Uint8Array)[] {
  if (typeof value === 'number') return [value + 1, value - 1];
  if (typeof value === 'string') {
    return [...value].map((_, index) => {
      const characters = [...value];
      characters[index] = characters[index] === 'x' ? 'y' : 'x';
      return characters.join('');
    });
  }
  if (value instanceof Uint8Array) {
    return [...value.keys()].map((index) => value.map((byte, at) => (at === index ? byte ^ 1 : byte)));
  }
  return [''];
}

describe('sound and tools in a record', () => {
  let path: string;
  beforeAll(() => {
    const extras = { audio_output: 4, server_tools: { web_search: 3 } };
    const { record, posted, released } = settledCall('call-a', { held: 100n, output: 10, extras });
    path = writeLegacy((ledger) => {
      ledger.add({ kind: 'hold', ref: 'call-a', amount: 100n });
      ledger.add({ kind: 'post', ref: 'call-a', amount: posted, released }, record);
    });
  });

  const proofWith = (usage_apart: string | null) => {
    const copy = join(newFolder(), 'tollgate.db');
    copyFileSync(path, copy);
    const database = new Database(copy, { strict: true });
    database.run('DROP TRIGGER call_record_keeps');
    database.run('UPDATE call_record SET usage_apart = ?', [usage_apart]);
    database.close();
    return proveLedger(copy, recompute).problem;
  };

  test('are part of the recomputed cost: 6 tokens at 2, 4 of audio at 8, 3 searches at 5', () => {
    expect(proveLedger(path, recompute)).toMatchObject({ entries: 2, calls: 1, problem: null });
    expect(proofWith('{"audio_output":4,"server_tools":{"web_search":3}}')).toBeNull();
  });

  test.each([
    ['less sound', '{"audio_output":3,"server_tools":{"web_search":3}}', 'its usage at'],
    ['a search more', '{"audio_output":4,"server_tools":{"web_search":4}}', 'costs 64'],
    ['none of it', null, 'costs 20'],
    ['more sound than output', '{"audio_output":11,"server_tools":{"web_search":3}}', 'cannot be recomputed'],
    ['a number as text', '{"audio_output":"4"}', 'cannot be recomputed'],
    ['null', 'null', 'cannot be recomputed'],
    ['no JSON', '{', 'is no JSON'],
  ])('and are found where they were changed: %s', (_, usage_apart, words) => {
    const problem = proofWith(usage_apart);
    expect(problem?.entry).toBe(2);
    expect(problem?.message).toContain(words);
  });
});

describe('the proof also finds', () => {
  const cases: readonly [what: string, statements: string[], entry: number | null, words: string][] = [
    ['an entry taken out', ['DELETE FROM ledger_entry WHERE seq = 5'], 5, 'entry 5 is missing'],
    ['the first entry taken out', ['DELETE FROM ledger_entry WHERE seq = 1'], 1, 'entry 1 is missing'],
    ['the last entry taken out', ['DELETE FROM ledger_entry WHERE seq = 13'], null, 'the balance of account default'],
    [
      'the last call taken out whole',
      ['DELETE FROM ledger_entry WHERE seq = 13', 'DELETE FROM open_hold', 'UPDATE account_balance SET held = 0'],
      null,
      'the balance of account default',
    ],
    ['an entry with another number', ['UPDATE ledger_entry SET seq = 99 WHERE seq = 13'], 13, 'entry 13 is missing'],
    [
      'a later start of an epoch',
      ['UPDATE ledger_epoch SET started_at_ms = started_at_ms + 1 WHERE id = 2'],
      9,
      'the seal of epoch 2',
    ],
    ['an epoch taken out', ['DELETE FROM ledger_epoch WHERE id = 2'], 9, 'it is of epoch 2'],
    ['a seal of nothing', ["INSERT INTO ledger_seal VALUES (5, x'00', x'00')"], 5, 'the seal after entry 5'],
    ['a seal after the end', ["INSERT INTO ledger_seal VALUES (55, x'00', x'00')"], null, 'a seal after entry 55'],
    [
      'another balance',
      ['UPDATE account_balance SET available = available + 1'],
      null,
      'the balance of account default',
    ],
    ['a balance taken out', ['DELETE FROM account_balance'], null, 'is nothing'],
    [
      'a balance of no account',
      ["INSERT INTO account_balance VALUES ('other', 1, 0, 0, 0, 1, 0)"],
      null,
      'account other',
    ],
    ['an open hold taken out', ['DELETE FROM open_hold'], null, 'call call-f holds money by its entries'],
    ['another amount of an open hold', ['UPDATE open_hold SET amount = 61'], null, 'says 61 of account default'],
    [
      'an open hold of no call',
      ["INSERT INTO open_hold SELECT 'other', epoch, account, amount, 0, draft, NULL, NULL FROM open_hold"],
      null,
      'an open hold of call other',
    ],
    ['a record taken out', ["DELETE FROM call_record WHERE request_id = 'call-b'"], 7, 'has no record'],
    [
      'another cost in a record',
      ["UPDATE call_record SET cost_nano_usd = 13 WHERE request_id = 'call-b'"],
      7,
      'costs 13',
    ],
    ['another usage in a record', ["UPDATE call_record SET output = 8 WHERE request_id = 'call-b'"], 7, 'costs 16'],
    [
      'another account in a record',
      ["UPDATE call_record SET account = 'x' WHERE request_id = 'call-b'"],
      7,
      'is of account x',
    ],
    [
      'a price that cannot be read',
      ["UPDATE call_record SET price_version = 'gone' WHERE request_id = 'call-b'"],
      7,
      'cannot be recomputed',
    ],
    [
      'a price taken out',
      ["UPDATE call_record SET price_version = NULL WHERE request_id = 'call-b'"],
      7,
      'names no price',
    ],
    [
      'a cost without an entry',
      ["UPDATE call_record SET cost_nano_usd = 3 WHERE request_id = 'call-e'"],
      null,
      'the record of call call-e costs 3 nano-USD',
    ],
  ];
  test.each(cases)('%s', (_, statements, entry, words) => {
    const { problem } = proofAfter(...statements);
    expect(problem?.entry).toBe(entry);
    expect(problem?.message).toContain(words);
  });

  test('a raised post with all later hashes recomputed', () => {
    const { path, database } = openUnguarded();
    database.run('UPDATE ledger_entry SET amount = amount + 1, released = released - 1 WHERE seq = 7');
    rehash(database);
    database.close();
    const { problem } = proveLedger(path, recompute);
    expect(problem).toEqual({
      entry: 7,
      block: null,
      message: 'the record of call call-b costs 14 nano-USD, its entries post and absorb 15',
    });
  });

  test('a prepaid account below zero with all hashes recomputed', () => {
    const { path, database } = openUnguarded();
    database.run('UPDATE ledger_entry SET prepaid = 1');
    rehash(database);
    expect(proveLedger(path, recompute).problem).toBeNull();
    database.run('UPDATE ledger_entry SET amount = 119 WHERE seq = 1');
    rehash(database);
    database.close();
    expect(proveLedger(path, recompute).problem).toEqual({
      entry: 3,
      block: null,
      message: 'the account is prepaid and has 19 nano-USD available, 20 were requested',
    });
  });
});

/** Recomputes the chain, as a skilled forger would, as far as the epochs' seals allow: the last epoch is not sealed. */
function rehash(database: Database): void {
  database.run('UPDATE ledger_entry SET epoch = 1');
  const epochs = database
    .query<{ seal: string }, []>('SELECT lower(hex(seal)) AS seal FROM ledger_epoch WHERE id = 1')
    .get();
  database.run('DELETE FROM ledger_epoch WHERE id > 1');
  let hash = epochs?.seal ?? '';
  for (const values of database.query(`${SELECT_ENTRIES} ORDER BY seq`).values() as unknown as EntryValues[]) {
    const entry = entryOf(values);
    hash = hashEntry(hash, entry, hashedRecordOf(values, 0));
    database.run('UPDATE ledger_entry SET hash = ? WHERE seq = ?', [Buffer.from(hash, 'hex'), entry.seq]);
  }
}

test('seals reveal a change before the last one', () => {
  const calls = SEAL_ENTRIES / 2 + 600;
  const path = writeLegacy((ledger) => {
    for (let call = 0; call < calls; call++) ledger.addCall(`c${call}`, 9n, 2);
  });
  expect(proveLedger(path, recompute)).toMatchObject({ entries: 2 * calls, calls, problem: null });
  const database = new Database(path);
  const seals = database.query<{ seq: number }, []>('SELECT seq FROM ledger_seal').all();
  expect(seals).toHaveLength(1);
  database.run('DROP TRIGGER ledger_seal_keeps');
  database.run("UPDATE ledger_seal SET seal = x'00'");
  database.close();
  expect(proveLedger(path, recompute).problem?.entry).toBe(seals[0]?.seq ?? -1);
});

test('a call removed from the end with all its traces is found by a noted entry', () => {
  const { path, database } = openUnguarded();
  const before = proveLedger(path, recompute);
  if (before.last === null) throw new Error('the ledger has no last entry');
  expect(before.last.number).toBe(13);
  database.run('DELETE FROM ledger_entry WHERE seq = 13');
  database.run('DELETE FROM open_hold');
  database.run('UPDATE account_balance SET held = held - 60, available = available + 60');
  database.close();
  expect(proveLedger(path, recompute).problem).toBeNull();
  expect(proveLedger(path, recompute, before.last).problem).toEqual({
    entry: null,
    block: null,
    message: 'number 13 was noted, and the last one is entry 12',
  });
  expect(proveLedger(original, recompute, before.last).problem).toBeNull();
  const other = { number: 4, hash: before.last.hash };
  expect(proveLedger(original, recompute, other).problem).toMatchObject({
    entry: 4,
    message: expect.stringContaining('noted was'),
  });
});

test('text of clients in a record is hashed as the database returns it', () => {
  const texts = ['half \ud83d', '\udc00\ud800', 'nul \0 within', '☂ "quoted" \\ \u2028', ''];
  const path = writeLegacy((ledger) => {
    for (const [at, text] of texts.entries())
      ledger.addCall(`call-${at}`, 9n, 2, {
        model: text,
        served_model: text,
        end_user: text,
        session: text,
        finish_reason: text,
      });
  });
  expect(proveLedger(path, recompute)).toMatchObject({ calls: texts.length, problem: null });
});

test('before records were hashed, hashes cover the entries only; later ones cover both', () => {
  const path = writeLegacy((ledger) => {
    ledger.addCall('old', 9n, 2);
    ledger.addCall('new', 9n, 2);
  });
  const database = new Database(path, { strict: true });
  for (const guard of ['ledger_entry_keeps', 'call_record_keeps']) database.run(`DROP TRIGGER ${guard}`);
  const rename = (id: string) =>
    database.run("UPDATE call_record SET key_name = key_name || '!' WHERE request_id = ?", [id]);
  const proof = () => proveLedger(path, recompute).problem;
  database.run("UPDATE meta SET value = CAST('2' AS BLOB) WHERE name = 'entries_without_records'");
  let hash = '';
  for (const values of database.query(`${SELECT_ENTRIES} ORDER BY seq`).values() as unknown as EntryValues[]) {
    const entry = entryOf(values);
    hash = entry.seq === 1 ? hashOf(values) : hashEntry(hash, entry, hashedRecordOf(values, 2));
    database.run('UPDATE ledger_entry SET hash = ? WHERE seq = ?', [Buffer.from(hash, 'hex'), entry.seq]);
  }
  expect(proof()).toBeNull();
  rename('old');
  expect(proof()).toBeNull();
  rename('new');
  expect(proof()).toEqual({
    entry: 4,
    block: null,
    message: "its hash does not follow from what it says, its call's record and the hash before it",
  });
  database.close();
});

test('records from before the ledger need no entries', () => {
  const path = writeLegacy((ledger) => ledger.addRecord(sampleRecord('old', { cost_nano_usd: '5' })));
  const proof = () => proveLedger(path, recompute).problem;
  expect(proof()?.message).toContain('the record of call old costs 5 nano-USD');
  const database = new Database(path);
  database.run("UPDATE meta SET value = CAST('old' AS BLOB) WHERE name = 'records_before_ledger'");
  database.close();
  expect(proof()).toBeNull();
});
