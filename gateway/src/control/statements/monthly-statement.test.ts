/**
 * Tests that the monthly statements of random histories equal the ledger to the nano-dollar: month follows month without
 * a gap, in every time zone, and each line is the sum of its requests.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { parseUsd } from '../../billing/money.ts';
import type { StoredAccount } from '../../store/ports/policy.ts';
import { createQueries } from '../../store/sqlite/database/sqlite-dialect.ts';
import { createStatementReader } from '../../store/sqlite/ledger/statement-reader.ts';
import { type IngestRig, openIngestRig } from '../../store/sqlite/testing/ingest-rig.ts';
import { type History, randomHistory } from '../../store/sqlite/testing/random-frames.ts';
import { readCharges } from '../../store/sqlite/usage/read-charges.ts';
import { seededRandom } from '../../store/testing/random-calls.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { monthAt, monthRange, readMonthlyStatement, renderStatementCsv, usualMonth } from './monthly-statement.ts';

const newFolder = temporaryFolders();
/** Eight hours of requests over midnight of the first of April, in the zones of America and of Europe. */
const START_MS = Date.UTC(2026, 2, 31, 21);
const NOW_MS = Date.UTC(2026, 4, 20);
const MONTHS = ['2026-02', '2026-03', '2026-04', '2026-05'];
const ZONES = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati'];
const seed = Number(process.env.TOLLGATE_SEED ?? 5);

const accountIn = (id: string, timeZone: string, mode: StoredAccount['mode'] = 'prepaid'): StoredAccount => ({
  id,
  name: id,
  mode,
  markUpPpm: 0,
  timeZone,
  holds: null,
  createdAtMs: 1,
});

let rig: IngestRig;
let history: History;
const reader = () =>
  createStatementReader(createQueries(rig.database), async (question) => readCharges(rig.database, question));

beforeAll(() => {
  rig = openIngestRig(newFolder());
  rig.keepWrites([[{ sql: "INSERT INTO account (id, created_at_ms) VALUES ('acme', 1)", parameters: [], changes: 1 }]]);
  history = randomHistory(seededRandom(seed), 500, START_MS);
  rig.append(history.frames.slice(0, 700));
  rig.rollUp();
  rig.append(history.frames.slice(700));
});
afterAll(() => rig.close());

/** Cost and tokens of each line, by a plain computation. */
function linesOf(account: string, month: string, timeZone: string): Map<string, readonly [bigint, number, number]> {
  const sums = new Map<string, readonly [bigint, number, number]>();
  for (const { record, posted, endedMs } of history.ends) {
    const shown = new Date(endedMs).toLocaleDateString('en-CA', { timeZone });
    if (record.account !== account || posted === 0n || shown.slice(0, 7) !== month) continue;
    const { workspace, key_id, model, usage } = record;
    const id = JSON.stringify([workspace, key_id, model]);
    const [cost, input, output] = sums.get(id) ?? [0n, 0, 0];
    sums.set(id, [cost + posted, input + usage.input, output + usage.output]);
  }
  return sums;
}

describe.each(ZONES)('in %s', (timeZone) => {
  test.each(['default', 'acme'])('the months of %s are the ledger, line by line', async (account) => {
    let before = 0n;
    let charged = 0n;
    let lines = 0;
    for (const month of MONTHS) {
      const statement = await readMonthlyStatement(reader(), accountIn(account, timeZone), month, NOW_MS);
      expect(statement.opening_nano_usd).toBe(before.toString());
      before = BigInt(statement.closing_nano_usd ?? '');
      charged += BigInt(statement.charges_nano_usd);
      expect(statement.final).toBe(month !== '2026-05');
      const found = statement.lines.map(
        ({ workspace, key, model, cost_nano_usd, input, output }) =>
          [JSON.stringify([workspace, key, model]), [BigInt(cost_nano_usd), input, output]] as const,
      );
      lines += found.length;
      expect(new Map(found)).toEqual(linesOf(account, month, timeZone) as never);
      expect(new Map(found).size).toBe(found.length);
      expect(sumOfCsv([...renderStatementCsv(statement)])).toBe(before);
    }
    const balance = history.balances.get(account);
    expect(before).toBe((balance?.available ?? 0n) + (balance?.held ?? 0n));
    expect(charged).toBe(balance?.charged ?? 0n);
    expect(lines).toBeGreaterThan(3);
  });
});

/** The opening balance plus the credits minus the charges. */
function sumOfCsv(lines: readonly string[]): bigint {
  const rows = lines.map((line) => line.trimEnd().split(','));
  const head = rows[0] ?? [];
  const signed = (text: string) => (text.startsWith('-') ? -parseUsd(text.slice(1), 'usd') : parseUsd(text, 'usd'));
  const amountOf = (row: readonly string[], column: string) => {
    const text = row[head.indexOf(column)] ?? '';
    return text === '' ? 0n : signed(text);
  };
  return rows
    .slice(1, -1)
    .reduce(
      (sum, row) => sum + amountOf(row, 'balance_usd') + amountOf(row, 'credit_usd') - amountOf(row, 'charge_usd'),
      0n,
    );
}

test('a statement of a postpaid account has no balances', async () => {
  const statement = await readMonthlyStatement(reader(), accountIn('acme', 'UTC', 'postpaid'), '2026-04', NOW_MS);
  expect(statement).toMatchObject({ opening_nano_usd: null, closing_nano_usd: null });
  const kinds = new Set([...renderStatementCsv(statement)].slice(1).map((line) => line.split(',')[0]));
  expect(kinds.has('charges')).toBe(true);
  expect([kinds.has('opening'), kinds.has('closing')]).toEqual([false, false]);
});

test('months begin and end with the zone, over changes of the clock too', () => {
  expect(monthRange('2026-03', 'America/New_York')).toEqual({
    fromMs: Date.parse('2026-03-01T05:00:00Z'),
    toMs: Date.parse('2026-04-01T04:00:00Z'),
  });
  expect(monthAt('Pacific/Kiritimati', Date.parse('2026-03-31T11:00:00Z'))).toBe('2026-04');
  const atMs = Date.parse('2026-01-01T00:00:00Z');
  expect(usualMonth(accountIn('acme', 'UTC'), atMs)).toBe('2025-12');
  expect(usualMonth(accountIn('acme', 'America/New_York'), atMs)).toBe('2025-11');
  expect(usualMonth({ ...accountIn('acme', 'UTC'), createdAtMs: atMs }, atMs + 1)).toBe('2026-01');
});
