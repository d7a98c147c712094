/**
 * Tests that pages of ledger lines and statements are those of a simple computation over random histories, in a folder
 * with and without a ledger from before the journal, however small the pieces in which they are read.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { DayCharge, ShownEntry, StatementReader } from '../../ports/ledger.ts';
import { seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { createQueries } from '../database/sqlite-dialect.ts';
import { readMark } from '../ingest/mark.ts';
import { readUsageMark } from '../rollup/usage-mark.ts';
import { type IngestRig, openIngestRig } from '../testing/ingest-rig.ts';
import { type History, type ModelLine, randomHistory } from '../testing/random-frames.ts';
import { LegacyLedger } from '../testing/write-legacy-ledger.ts';
import { readCharges } from '../usage/read-charges.ts';
import { createStatementReader, type ReadCharges } from './statement-reader.ts';

const newFolder = temporaryFolders();
const START_MS = Date.UTC(2026, 2, 1);
const DAY_MS = 86_400_000;
const OLD_CALLS = 30;
const ACME = { sql: "INSERT INTO account (id, created_at_ms) VALUES ('acme', 1)", parameters: [], changes: 1 };
const dayOf = (atMs: number) => Math.floor(atMs / DAY_MS) * DAY_MS;

/** Newest first; the lines of a call stay together. */
function linesOf({ lines, open }: History, account: string): ModelLine[] {
  const held = [...open.values()].map(({ record, held }): ModelLine => {
    const { request_id: ref, at_ms: atMs } = record;
    return { account: record.account, kind: 'hold', ref, atMs, amount: held, released: 0n };
  });
  const positionOf = ({ kind, ref, atMs }: ModelLine) =>
    kind === 'topup' || kind === 'correct' ? `${requestIdFloor(atMs)} ${kind} ${ref}` : ref;
  const own = [...lines, ...held].filter((line) => line.account === account);
  return own
    .toReversed()
    .sort((one, other) => (positionOf(one) < positionOf(other) ? 1 : positionOf(one) > positionOf(other) ? -1 : 0));
}

function chargesOf({ ends }: History, account: string, fromMs: number, toMs: number): DayCharge[] {
  const sums = new Map<string, DayCharge>();
  for (const { record, posted, endedMs } of ends.toSorted((one, other) => one.endedMs - other.endedMs)) {
    if (record.account !== account || posted === 0n || endedMs < fromMs || endedMs >= toMs) continue;
    const { workspace, model, key_id: keyId, key_name: keyName, usage } = record;
    const dayMs = dayOf(endedMs);
    const id = JSON.stringify([dayMs, workspace, model, keyId]);
    const { calls = 0, amount = 0n, tokens: before } = sums.get(id) ?? {};
    const tokens = {
      input: usage.input + (before?.input ?? 0),
      cache_read: usage.cache_read + (before?.cache_read ?? 0),
      cache_write_5m: usage.cache_write_5m + (before?.cache_write_5m ?? 0),
      cache_write_1h: usage.cache_write_1h + (before?.cache_write_1h ?? 0),
      output: usage.output + (before?.output ?? 0),
    };
    sums.set(id, { dayMs, workspace, model, keyId, keyName, calls: calls + 1, tokens, amount: amount + posted });
  }
  return [...sums.values()];
}

const inOrder = (charges: readonly DayCharge[]) =>
  charges.toSorted((one, other) => (JSON.stringify(one, text) < JSON.stringify(other, text) ? -1 : 1));
const text = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);

/** How much is rolled up, and the zones in which the account's days are cut meanwhile. */
const CASES = [
  { hasOld: true, rolled: 'nothing', zones: [] },
  { hasOld: false, rolled: 'nothing', zones: [] },
  { hasOld: true, rolled: 'half', zones: [] },
  { hasOld: false, rolled: 'half', zones: ['Asia/Kathmandu'] },
  { hasOld: false, rolled: 'all', zones: [] },
  { hasOld: false, rolled: 'all', zones: ['America/New_York', 'UTC'] },
] as const;

describe.each(CASES)('%j', ({ hasOld, rolled, zones }) => {
  const history = randomHistory(seededRandom(hasOld ? 3 : 4), 500, START_MS);
  let dataDir: string;
  let rig: IngestRig;
  let readers: readonly StatementReader[];

  function useReaders(): void {
    const queries = createQueries(rig.database);
    const charges: ReadCharges = async (question) => readCharges(rig.database, question);
    const pieces = { records: 7, entries: 9, charges: 4 };
    readers = [createStatementReader(queries, charges), createStatementReader(queries, charges, pieces)];
  }

  beforeAll(() => {
    dataDir = newFolder();
    rig = openIngestRig(dataDir);
    expect(rig.keepWrites([[ACME]])).toBe(true);
    if (hasOld) {
      rig.database.transaction(() => {
        const old = new LegacyLedger(rig.database);
        old.beginEpoch();
        old.add({ kind: 'topup', ref: 'old', amount: 5_000n });
        for (let nth = 0; nth < OLD_CALLS; nth++) old.addCall(`${requestIdFloor(5)}${nth}`, 10n, 3);
        old.finish();
      })();
    }
    const through = history.frames.length * { nothing: 0, half: 0.5, all: 1 }[rolled];
    for (const [nth, frame] of history.frames.entries()) {
      const last = rig.appendOnly([frame]);
      // Zones change once something is rolled up.
      const zone = zones[nth / 100 - 1];
      if (nth % 100 > 0) continue;
      rig.ingest(last);
      if (nth < through) rig.rollUp();
      const sql = "UPDATE account SET time_zone = ? WHERE id = 'default'";
      if (zone !== undefined) expect(rig.keepWrites([[{ sql, parameters: [zone], changes: 1 }]])).toBe(true);
    }
    rig.ingest(Number.MAX_SAFE_INTEGER);
    if (rolled === 'all') rig.rollUp();
    const { block } = readUsageMark(rig.database);
    expect([block === -1, block === readMark(rig.database).seq]).toEqual([rolled === 'nothing', rolled === 'all']);
    useReaders();
  });
  afterAll(() => rig.close());

  test.each(['default', 'acme'])('pages of %s have every line once, newest first', async (account) => {
    const model = linesOf(history, account);
    const isOld = hasOld && account === 'default';
    const wanted = model.map(({ kind, ref, atMs, amount, released }) => ({ kind, ref, atMs, amount, released }));
    for (const reader of readers) {
      for (const only of ['all', 'movements'] as const) {
        const found: ShownEntry[] = [];
        for (let before: string | null = null, pages = 0; pages < 5_000; pages++) {
          const { entries, next } = await reader.readEntries(account, only, before, 5);
          expect(entries.length).toBeLessThan(8);
          // A cursor names no call but one of the page.
          const named = history.records.find(({ request_id }) => request_id === next);
          if (named !== undefined) expect(entries.map(({ ref }) => ref)).toContain(named.request_id);
          found.push(...entries);
          before = next;
          if (next === null) break;
        }
        const isShown = ({ kind }: { readonly kind: string }) =>
          only === 'all' || kind === 'topup' || kind === 'correct';
        const own = wanted.filter(isShown);
        expect(found.slice(0, own.length).map(({ note, ...line }) => line)).toEqual(own as never);
        const old = found.slice(own.length);
        expect(old.length).toBe(isOld ? (only === 'all' ? 2 * OLD_CALLS + 1 : 1) : 0);
        if (isOld) expect(old.at(-1)).toMatchObject({ kind: 'topup', ref: 'old', amount: 5_000n });
      }
    }
  });

  test.each(['default', 'acme'])('statements of %s add up over any range', async (account) => {
    const random = seededRandom(11);
    const isOld = hasOld && account === 'default';
    const movements = linesOf(history, account).filter(({ kind }) => kind === 'topup' || kind === 'correct');
    const all = chargesOf(history, account, 0, START_MS * 2);
    const sumOf = (rows: readonly { readonly amount: bigint }[]) => rows.reduce((sum, { amount }) => sum + amount, 0n);
    for (let nth = 0; nth < 12; nth++) {
      const fromMs = START_MS - DAY_MS / 2 + Math.floor(random() * DAY_MS);
      const toMs = fromMs + Math.floor(random() * DAY_MS);
      const charges = chargesOf(history, account, fromMs, toMs);
      const earlier = chargesOf(history, account, 0, fromMs);
      const opening =
        sumOf(movements.filter(({ atMs }) => atMs < fromMs)) - sumOf(earlier) + (isOld ? 5_000n - 6n * 30n : 0n);
      const moved = movements.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
      for (const reader of readers) {
        const statement = await reader.readStatement(account, { fromMs, toMs }, 'UTC');
        expect(statement.opening).toBe(opening);
        expect(statement.closing).toBe(opening + sumOf(moved) - sumOf(charges));
        expect(statement.movements.map(({ ref }) => ref).toSorted()).toEqual(moved.map(({ ref }) => ref).toSorted());
        expect(inOrder(statement.charges)).toEqual(inOrder(charges));
      }
    }
    expect(all.length).toBeGreaterThan(5);
  });

  test('charges that were rolled up before there were sums of charges are added later', async () => {
    const range = { fromMs: START_MS + 3_600_000, toMs: START_MS + 5_000_000 };
    const read = async () => {
      const statement = await readers[0]?.readStatement('default', range, 'UTC');
      return { ...statement, charges: inOrder(statement?.charges ?? []) };
    };
    const before = await read();
    expect(before.charges.length).toBeGreaterThan(1);
    rig.database.run("DELETE FROM usage_block WHERE kind = 'charge'");
    rig.database.run('UPDATE usage_through SET charges = -1');
    expect(await read()).toEqual(before);
    rig.close();
    rig = openIngestRig(dataDir, undefined, { earlierMax: 50 });
    useReaders();
    // The sums of usage go on meanwhile.
    const later = randomHistory(seededRandom(9), 40, START_MS + DAY_MS, 90_000);
    for (const frame of later.frames) rig.append([frame]);
    rig.rollUp();
    expect(await read()).toEqual(before);
    let steps = 0;
    for (; rig.addEarlierCharges(); steps++) {
      rig.rollUp();
      expect(await read()).toEqual(before);
    }
    expect(steps).toBeGreaterThanOrEqual({ nothing: 0, half: 3, all: 6 }[rolled]);
    for (const frame of randomHistory(seededRandom(8), 40, START_MS + DAY_MS, 95_000).frames) rig.append([frame]);
    rig.rollUp();
    const mark = readUsageMark(rig.database);
    expect(mark.charges).toBe(mark.block);
    expect(await read()).toEqual(before);
    // Sums that are not those of the ledger are refused, whatever range they are in.
    const own = `SELECT max(id) FROM usage_block WHERE kind = 'charge'
      AND account = (SELECT id FROM usage_account WHERE account = 'default')`;
    for (const step of ['quarter', 'day']) {
      rig.database.run(`DELETE FROM usage_block WHERE id = (${own} AND step = '${step}')`);
    }
    await expect(read()).rejects.toThrow('its ledger charged');
  });
});
