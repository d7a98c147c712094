/** Tests that the proof accepts what the journal brought, and finds what was later changed, added or removed. */
import { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXHAUSTIVE } from '../../../../test/fault/calls.ts';
import type { EndFrame, Frame, MovementFrame } from '../../ports/journal.ts';
import type { LedgerProof } from '../../ports/ledger.ts';
import type { StoredByCall } from '../../ports/stored-state.ts';
import { heldCall, jobOf, recompute, settledCall, usageOf } from '../../testing/sample-call.ts';
import { SAMPLE_FRAMES } from '../../testing/sample-frames.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openWriteConnection } from '../database/connection.ts';
import { migrate } from '../migrations/migrate.ts';
import { openIngestRig } from '../testing/ingest-rig.ts';
import { LegacyLedger } from '../testing/write-legacy-ledger.ts';
import { proveLedger } from './prove-ledger.ts';

const newFolder = temporaryFolders();
/** Those of records that cannot be written. */
const COMPUTED_COLUMNS = ['reason_kind', 'reason_group'];

function hold(id: string, amount: bigint): Frame {
  return { kind: 'hold', ...heldCall(id, amount), prepaid: false };
}

/** The end of a call that held `held` and produced `output` tokens; `own`: no hold frame precedes it. */
function end(id: string, held: bigint, output: number, own = true): EndFrame {
  const settlement = settledCall(id, { held, output });
  return { kind: 'end', ...settlement, hold: own ? { amount: held, prepaid: false } : null, at_ms: 9 };
}

function movement(of: 'topup' | 'correct', id: string, amount: bigint): MovementFrame {
  const { audit } = SAMPLE_FRAMES.movement;
  return {
    kind: 'movement',
    of,
    movement: { id, account: 'default', amount, note: 'paid in ☂', at_ms: 7 },
    prepaid: false,
    audit: audit === null ? null : { ...audit, account: 'default', subject: { kind: 'account', id } },
  };
}

const CONTAINER = { kind: 'container', id: 'cntr_1' };
const ANSWER = [{ kind: 'response', id: 'resp_b' }, { kind: 'item', id: 'msg_b' }, CONTAINER];

/** What a call left at its provider. */
function left(things: StoredByCall['things']): StoredByCall {
  const place = { provider: 'openai', model: 'gpt-5-mini', credential: 'eu' };
  return { ...place, tokens: 900, output_tokens: 40, expires_at_ms: 1_792_592_001_830, things };
}

/** Two epochs, five blocks. Ends calls a, b and d, refuses e, leaves c, which is detached, and f open. */
const BLOCKS: readonly (readonly Frame[])[] = [
  [movement('topup', 'm1', 5_000n), hold('call-a', 100n)],
  [
    { kind: 'extend', call_id: 'call-a', nth: 1, amount: 20n, prepaid: false, at_ms: 8 },
    { kind: 'checkpoint', call_id: 'call-a', usage: usageOf(4), cost: 8n },
    end('call-a', 120n, 80, false),
  ],
  [
    { ...end('call-b', 50n, 7), stored: left(ANSWER) },
    { kind: 'refused', record: sampleRecord('call-e', { cost_nano_usd: null }) },
  ],
  [movement('correct', 'm2', -30n), { ...end('call-d', 10n, 0), stored: left([CONTAINER]) }, hold('call-c', 40n)],
  [
    { kind: 'checkpoint', call_id: 'call-c', usage: usageOf(4), cost: 8n },
    {
      kind: 'detach',
      call_id: 'call-c',
      at_ms: 8,
      job: jobOf('resp_c'),
      stored: left([{ kind: 'response', id: 'resp_c' }]),
    },
    hold('call-f', 60n),
  ],
];

let original: string;

beforeAll(() => {
  const dataDir = newFolder();
  for (const blocks of [BLOCKS.slice(0, 3), BLOCKS.slice(3)]) {
    const rig = openIngestRig(dataDir);
    for (const frames of blocks) rig.append(frames);
    rig.close();
  }
  original = databasePath(dataDir);
});

/** A copy of the database without its triggers. */
function openUnguarded(): { path: string; database: Database } {
  const path = join(newFolder(), 'copy.db');
  copyFileSync(original, path);
  const database = new Database(path, { strict: true });
  database.run('PRAGMA journal_mode = MEMORY');
  database.run('PRAGMA synchronous = OFF');
  database.run('PRAGMA ignore_check_constraints = ON');
  const triggers = database.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`);
  return { path, database };
}

function proofAfter(...statements: string[]): LedgerProof {
  const { path, database } = openUnguarded();
  for (const statement of statements) {
    const { changes } = database.run(statement);
    if (!/^(?:CREATE|ALTER)/.test(statement)) expect(changes).toBeGreaterThan(0);
  }
  database.close();
  return proveLedger(path, recompute);
}

type Value = string | number | Uint8Array | null;

/** Every how many characters or bytes of a value one is changed; the first and the last are, too. */
const STEP = EXHAUSTIVE ? 1 : 7;

/** Other values: for text and bytes, with one of them changed; for a number, its neighbor. */
function otherValues(value: Value): Value[] {
  if (value === null) return [1];
  if (typeof value === 'number') return [value + 1, value - 1];
  const length = value.length;
  const places = Array.from({ length }, (_, at) => at).filter((at) => at % STEP === 0 || at === length - 1);
  return places.map((at) =>
    typeof value === 'string'
      ? `${value.slice(0, at)}${value[at] === 'x' ? 'y' : 'x'}${value.slice(at + 1)}`
      : value.map((byte, index) => (index === at ? byte ^ 1 : byte)),
  );
}

/** Changes each value of each row in every way of `otherValues`, and back; returns what the proofs found. */
function changeAll(table: string, key: string, skipped: readonly string[] = []): { change: string; block: number }[] {
  const { path, database } = openUnguarded();
  const found: { change: string; block: number }[] = [];
  for (const row of database.query<Record<string, Value>, []>(`SELECT * FROM ${table}`).all()) {
    const id = row[key] ?? null;
    for (const [column, value] of Object.entries(row)) {
      if (skipped.includes(column)) continue;
      for (const other of otherValues(value)) {
        const isKey = column === key;
        database.run(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, [other, id]);
        const { problem } = proveLedger(path, recompute);
        const change = `${column} of ${id} as ${other instanceof Uint8Array ? 'other bytes' : other}`;
        if (problem === null) throw new Error(`${change} was not found`);
        found.push({ change, block: problem.block ?? 0 });
        database.run(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, [value, isKey ? other : id]);
      }
    }
  }
  expect(proveLedger(path, recompute).problem).toBeNull();
  database.close();
  return found;
}

test('an unchanged ledger verifies', () => {
  expect(proveLedger(original, recompute)).toEqual({
    entries: 12,
    blocks: 5,
    calls: 3,
    last: { number: 5, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    problem: null,
  });
});

test('a change of any byte of any block is found, with the block’s number', () => {
  const found = changeAll('block', 'seq', ['seq']);
  const { database } = openUnguarded();
  const blocks = database
    .query<{ seq: number; size: number }, []>('SELECT seq, length(bytes) AS size FROM block')
    .all();
  for (const { seq, size } of blocks)
    expect(found.filter(({ block }) => block === seq).length).toBeGreaterThanOrEqual(size / STEP);
  const later = found.filter(({ change, block }) => !change.includes(` of ${block} as`));
  // The first epoch's number is part of what the next one's first block follows from.
  expect(later.filter(({ change }) => !change.startsWith('epoch of'))).toEqual([]);
  database.close();
}, 60_000);

test('a change of any value of a record is found, with the block that has its frame', () => {
  const found = changeAll('call_record', 'request_id', COMPUTED_COLUMNS);
  expect(found.length).toBeGreaterThan(500 / STEP);
  // A record that names another block is missing in its own, or too many in the other.
  expect(found.filter(({ block }) => block === 0)).toEqual([]);
}, 60_000);

test('a change of any value of a movement or of its audit entry is found', () => {
  expect(changeAll('movement', 'id').length).toBeGreaterThan(30 / STEP);
  expect(changeAll('audit_entry', 'seq', ['seq']).length).toBeGreaterThan(50 / STEP);
}, 60_000);

test('a change of any value of a balance, an open hold or the mark is found', () => {
  expect(changeAll('account_balance', 'account').length).toBeGreaterThan(10 / STEP);
  expect(changeAll('open_hold', 'call_id').length).toBeGreaterThan(100 / STEP);
  expect(changeAll('stream', 'one', ['one']).length).toBeGreaterThan(50 / STEP);
}, 60_000);

test('a change of any value of stored state that a call left is found', () => {
  const skipped = ['request_id', 'expires_at_ms', 'object'];
  expect(changeAll('stored_state', 'id', skipped).length).toBeGreaterThan(50 / STEP);
});

test('stored state may expire later, be deleted, or be created by a client', () => {
  const made = "('default', 'default', 'file_1', 'file', 'openai', 'm', 'eu', 0, 'req_made', 1, NULL)";
  for (const statement of [
    'UPDATE stored_state SET expires_at_ms = expires_at_ms + 1',
    "DELETE FROM stored_state WHERE id = 'msg_b'",
    `INSERT INTO stored_state VALUES ${made}`,
  ]) {
    expect(proofAfter(statement).problem).toBeNull();
  }
});

describe('the proof also finds', () => {
  const cases: readonly [what: string, statements: string[], block: number | null, words: string][] = [
    [
      'stored state that expires too early',
      ["UPDATE stored_state SET expires_at_ms = 1 WHERE id = 'resp_c'"],
      null,
      'response resp_c of call call-c has expires_at_ms 1, the frame has 1792592001830',
    ],
    [
      'stored state of another call',
      ["UPDATE stored_state SET request_id = 'call-d' WHERE id = 'resp_b'"],
      4,
      'call call-d left no response resp_b',
    ],
    [
      'stored state of a call that left none',
      ["UPDATE stored_state SET request_id = 'call-a' WHERE id = 'resp_b'"],
      null,
      '4 rows of stored state name a call, the journal has frames of 3',
    ],
    ['a block taken out', ['DELETE FROM block WHERE seq = 3'], 3, 'block 3 is missing; the next is 4'],
    ['the first block taken out', ['DELETE FROM block WHERE seq = 1'], 1, 'block 1 is missing'],
    ['the last block taken out', ['DELETE FROM block WHERE seq = 5'], null, 'the mark is block 5, the last block'],
    [
      'two blocks exchanged',
      ['UPDATE block SET seq = -seq WHERE seq > 3', 'UPDATE block SET seq = 9 + seq WHERE seq < 0'],
      4,
      'its row says something else',
    ],
    ['a record taken out', ["DELETE FROM call_record WHERE request_id = 'call-b'"], 3, 'call call-b has no record'],
    [
      'a record that no block brought',
      [
        "CREATE TABLE copy AS SELECT * FROM call_record WHERE request_id = 'call-e'",
        ...COMPUTED_COLUMNS.map((column) => `ALTER TABLE copy DROP COLUMN ${column}`),
        "UPDATE copy SET request_id = 'call-x', block = NULL",
        'INSERT INTO call_record SELECT * FROM copy',
      ],
      null,
      'the record of call call-x names no block',
    ],
    [
      'a record in a block without a frame of it',
      [
        "CREATE TABLE copy AS SELECT * FROM call_record WHERE request_id = 'call-e'",
        ...COMPUTED_COLUMNS.map((column) => `ALTER TABLE copy DROP COLUMN ${column}`),
        "UPDATE copy SET request_id = 'call-x', block = 2",
        'INSERT INTO call_record SELECT * FROM copy',
      ],
      2,
      'the record of call call-x names this block',
    ],
    [
      'a record in a block that is not there',
      [
        "CREATE TABLE copy AS SELECT * FROM call_record WHERE request_id = 'call-e'",
        ...COMPUTED_COLUMNS.map((column) => `ALTER TABLE copy DROP COLUMN ${column}`),
        "UPDATE copy SET request_id = 'call-x', block = 99",
        'INSERT INTO call_record SELECT * FROM copy',
      ],
      null,
      '5 records name a block, the journal has frames of 4',
    ],
    ['a movement taken out', ["DELETE FROM movement WHERE id = 'm2'"], 4, 'the correct m2 has no row'],
    [
      'a movement that no block brought',
      ["INSERT INTO movement VALUES ('topup', 'm3', 'default', 5, NULL, 1, 5)"],
      null,
      'there are 3 movements, the journal has frames of 2',
    ],
    ['an audit entry taken out', ['DELETE FROM audit_entry WHERE seq = 1'], 1, 'the audit entry of topup m1'],
    [
      'another cost of attempts',
      ['UPDATE account_balance SET absorbed_attempts = 5'],
      null,
      'the balance of account default',
    ],
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
    ['an open hold taken out', ["DELETE FROM open_hold WHERE call_id = 'call-f'"], null, 'call call-f holds money'],
    ['a mark taken out', ['DELETE FROM stream'], 1, 'it does not follow the last block before its epoch 1'],
  ];
  test.each(cases)('%s', (_, statements, block, words) => {
    const { problem } = proofAfter(...statements);
    expect(problem?.block).toBe(block);
    expect(problem?.message).toContain(words);
  });
});

test('the end removed with all its traces is found by a noted block', () => {
  const { path, database } = openUnguarded();
  const { last } = proveLedger(path, recompute);
  if (last === null) throw new Error('the ledger has no last block');
  database.run('DELETE FROM block WHERE seq = 5');
  database.run("DELETE FROM open_hold WHERE call_id = 'call-f'");
  database.run("UPDATE open_hold SET checkpoint = NULL, job = NULL WHERE call_id = 'call-c'");
  database.run("DELETE FROM stored_state WHERE id = 'resp_c'");
  database.run('UPDATE account_balance SET held = held - 60, available = available + 60');
  database.run('UPDATE stream SET seq = 4, head = (SELECT hash FROM block WHERE seq = 4)');
  database.close();
  expect(proveLedger(path, recompute).problem).toBeNull();
  expect(proveLedger(path, recompute, last).problem?.message).toBe('number 5 was noted, and the last one is block 4');
  expect(proveLedger(original, recompute, last).problem).toBeNull();
  expect(proveLedger(original, recompute, { number: 4, hash: last.hash }).problem).toMatchObject({
    block: 4,
    message: expect.stringContaining('noted was'),
  });
});

describe('a ledger from before the journal', () => {
  /** An old ledger of two entries and an open call, and a journal that continues it and ends the call. */
  function takenOver(head?: string): string {
    const dataDir = newFolder();
    const database = openWriteConnection(databasePath(dataDir));
    migrate(database, 1);
    const ledger = new LegacyLedger(database);
    ledger.beginEpoch();
    ledger.add({ kind: 'topup', ref: 'm1', amount: 500n });
    ledger.addCall('old', 9n, 2);
    ledger.openCall('open', 30n);
    ledger.beginEpoch(2);
    ledger.finish();
    const hash = Buffer.from(head ?? ledger.hash, 'hex');
    database.run('INSERT INTO stream (one, id, epoch, seq, head) VALUES (1, ?, 0, 0, ?)', [Buffer.alloc(16, 7), hash]);
    database.close();
    const rig = openIngestRig(dataDir);
    rig.append([end('open', 30n, 10, false), movement('topup', 'm2', 5n)]);
    rig.append([end('new', 9n, 2)]);
    rig.close();
    return databasePath(dataDir);
  }

  test('is proved with the journal that continues it', () => {
    const path = takenOver();
    const proof = proveLedger(path, recompute);
    expect(proof).toMatchObject({ entries: 8, blocks: 2, calls: 3, last: { number: 2 }, problem: null });
    const database = new Database(path);
    const hashes = database.query<{ hash: string }, []>('SELECT lower(hex(hash)) AS hash FROM ledger_entry').all();
    expect(proveLedger(path, recompute, { number: 2, hash: hashes[1]?.hash ?? '' }).problem).toBeNull();
    expect(proveLedger(path, recompute, proof.last).problem).toBeNull();
    const wrong = { number: 2, hash: '0'.repeat(64) };
    expect(proveLedger(path, recompute, wrong).problem?.message).toBe(
      `neither entry 2 nor block 2 has the noted hash ${wrong.hash}`,
    );
    database.run('DROP TRIGGER ledger_entry_stays');
    database.run('DELETE FROM ledger_entry WHERE seq = 4');
    expect(proveLedger(path, recompute).problem).not.toBeNull();
    database.close();
  });

  test('and a journal that continues another one is found', () => {
    expect(proveLedger(takenOver('1'.repeat(64)), recompute).problem).toMatchObject({
      block: 1,
      message: 'it does not follow the last block before its epoch 1',
    });
  });

  test('a movement of both is found', () => {
    const dataDir = newFolder();
    const rig = openIngestRig(dataDir);
    const ledger = new LegacyLedger(rig.database);
    ledger.beginEpoch();
    ledger.add({ kind: 'topup', ref: 'm1', amount: 500n });
    ledger.finish();
    rig.database.run('UPDATE stream SET head = ?', [Buffer.from(ledger.hash, 'hex')]);
    rig.close();
    const again = openIngestRig(dataDir);
    again.append([movement('topup', 'm1', 500n)]);
    again.close();
    expect(proveLedger(databasePath(dataDir), recompute).problem).toMatchObject({
      block: 1,
      message: expect.stringContaining('made before the journal'),
    });
  });
});
