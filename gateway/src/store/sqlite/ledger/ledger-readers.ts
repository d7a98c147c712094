/**
 * Reads account statements, pages of ledger entries, and records of calls. Reads statements in bounded pieces, which is
 * consistent because entries never change.
 */
import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { DayCharge, EntryKind, ShownEntry, StatementReader } from '../../ports/ledger.ts';
import type { CallReader } from '../../ports/records.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { callRecordOfRow } from './call-record-row.ts';

/** Entries, of all accounts, that one query scans: about a tenth of a second. */
const PIECE_ENTRIES = 250_000;
/** The same for queries that also look up each entry's record. */
const CHARGE_ENTRIES = 50_000;
/** In every time zone days start on whole quarter hours. */
const QUARTER_MS = 900_000;

/** Amounts as decimal text: beyond 2^53 a number would silently lose its last digits. */
interface EntryRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly kind: EntryKind;
  readonly ref: string;
  readonly amount: string;
  readonly released: string;
  readonly note: string | null;
}

const SHOWN = sql`seq, at_ms, kind, ref, cast(amount AS TEXT) AS amount, cast(released AS TEXT) AS released, note`;

/** `workerQueries` runs queries that may take long. */
export function createStatementReader(workerQueries: Kysely<Tables>): StatementReader {
  async function lastSeq(): Promise<number> {
    const { rows } = await sql<{ readonly seq: number }>`SELECT coalesce(max(seq), 0) AS seq FROM ledger_entry`.execute(
      workerQueries,
    );
    return rows[0]?.seq ?? 0;
  }

  async function readMovements(account: string, beforeSeq: number, limit: number): Promise<readonly ShownEntry[]> {
    const { rows } = await sql<EntryRow>`SELECT ${SHOWN} FROM ledger_entry INDEXED BY ledger_entry_movement
      WHERE account = ${account} AND kind IN ('topup', 'correct') AND seq < ${beforeSeq}
      ORDER BY seq DESC LIMIT ${limit}`.execute(workerQueries);
    return rows.map(entryOfRow);
  }

  return {
    async readEntries(account, only, beforeSeq, limit) {
      const before = beforeSeq ?? (await lastSeq()) + 1;
      if (only === 'movements') {
        const entries = await readMovements(account, before, limit);
        return { entries, nextSeq: entries.length < limit ? null : (entries.at(-1)?.seq ?? null) };
      }
      const floor = Math.max(1, before - PIECE_ENTRIES);
      const { rows } = await sql<EntryRow>`SELECT ${SHOWN} FROM ledger_entry
        WHERE seq < ${before} AND seq >= ${floor} AND account = ${account}
        ORDER BY seq DESC LIMIT ${limit}`.execute(workerQueries);
      const entries = rows.map(entryOfRow);
      const reached = entries.length < limit ? floor : (entries.at(-1)?.seq ?? floor);
      return { entries, nextSeq: reached > 1 ? reached : null };
    },
    async readStatement(account, { fromMs, toMs }, dateOf) {
      const end = await lastSeq();
      const all = await readMovements(account, end + 1, Number.MAX_SAFE_INTEGER);
      const sumOf = (entries: readonly { readonly amount: bigint }[]) =>
        entries.reduce((sum, { amount }) => sum + amount, 0n);
      const days = new Map<string, ChargeSum>();
      let earlier = 0n;
      for (let floor = 1; floor <= end; floor += CHARGE_ENTRIES) {
        const { rows } = await sql<ChargeRow>`
          SELECT CASE WHEN e.at_ms < ${fromMs} THEN NULL ELSE e.at_ms / ${QUARTER_MS} END AS quarter,
            CASE WHEN e.at_ms < ${fromMs} THEN NULL ELSE r.model END AS model,
            CASE WHEN e.at_ms < ${fromMs} THEN NULL ELSE r.key_id END AS key_id,
            max(r.key_name) AS key_name, count(*) AS calls, cast(sum(e.amount) AS TEXT) AS amount
          FROM ledger_entry e LEFT JOIN call_record r ON e.at_ms >= ${fromMs} AND r.request_id = e.ref
          WHERE e.seq >= ${floor} AND e.seq < ${Math.min(end + 1, floor + CHARGE_ENTRIES)} AND e.account = ${account}
            AND e.kind = 'post' AND e.at_ms < ${toMs}
          GROUP BY 1, 2, 3`.execute(workerQueries);
        for (const row of rows) {
          if (row.quarter === null) earlier += BigInt(row.amount);
          else addCharge(days, dateOf(Math.max(fromMs, row.quarter * QUARTER_MS)), row);
        }
      }
      const opening = sumOf(all.filter(({ atMs }) => atMs < fromMs)) - earlier;
      const movements = all.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reverse();
      const charges = [...days.values()];
      return { opening, closing: opening + sumOf(movements) - sumOf(charges), movements, charges };
    },
  };
}

interface ChargeRow {
  /** Null: before the start of the statement. */
  readonly quarter: number | null;
  readonly model: string | null;
  readonly key_id: string | null;
  readonly key_name: string | null;
  readonly calls: number;
  readonly amount: string;
}

type ChargeSum = { -readonly [Member in keyof DayCharge]: DayCharge[Member] };

function addCharge(days: Map<string, ChargeSum>, date: string, row: ChargeRow): void {
  const { model, key_id: keyId, key_name: keyName } = row;
  const id = JSON.stringify([date, model, keyId]);
  const before = days.get(id) ?? { date, model, keyId, keyName, calls: 0, amount: 0n };
  before.keyName = keyName;
  before.calls += row.calls;
  before.amount += BigInt(row.amount);
  days.set(id, before);
}

function entryOfRow({ at_ms, amount, released, ...entry }: EntryRow): ShownEntry {
  return { ...entry, atMs: at_ms, amount: BigInt(amount), released: BigInt(released) };
}

/** Implements the port over Kysely. */
export function createCallReader(queries: Kysely<Tables>): CallReader {
  return {
    async readCalls({ limit, sinceMs, requestId, keyId }) {
      let calls = queries
        .selectFrom('call_record')
        .selectAll()
        // As text: beyond 2^53 a number would silently lose its last digits.
        .select(sql<string | null>`cast(cost_nano_usd as text)`.as('cost_nano_usd'))
        .orderBy('request_id', 'desc')
        .limit(limit);
      // The floor on the request id limits the rows read: no call with a lower id arrived since then.
      if (sinceMs !== null)
        calls = calls.where('request_id', '>=', requestIdFloor(sinceMs)).where('at_ms', '>=', sinceMs);
      if (requestId !== null) calls = calls.where('request_id', '=', requestId);
      if (keyId !== null) calls = calls.where('key_id', '=', keyId);
      return (await calls.execute()).map(callRecordOfRow);
    },
  };
}
