/**
 * Reads an account's ledger lines and statements: from records, movements and open holds, and, for the time before the
 * journal, from ledger entries. Reads in bounded pieces, which is consistent because records and movements never change.
 */
import { type Kysely, type QueryResult, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import {
  CHARGED_TOKENS,
  type ChargedTokens,
  type DayCharge,
  type EntryKind,
  type ShownEntry,
  type StatementReader,
} from '../../ports/ledger.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { timeOf } from '../usage/find-ids.ts';
import { ID_SLACK_MS } from '../usage/scan-records.ts';

/** Rows, of all accounts, that one query scans: about a tenth of a second. */
interface StatementPieces {
  readonly records: number;
  readonly entries: number;
  /** Entries whose records are looked up. */
  readonly charges: number;
}

const PIECES: StatementPieces = { records: 100_000, entries: 250_000, charges: 50_000 };
/** In every time zone days start on whole quarter hours. */
const QUARTER_MS = 900_000;
/** Calls that ended further from their arrival are in the index `call_record_long`. */
const LONG_MS = 3_600_000;
/** Sorts after every position. */
const NEWEST = '~';

/**
 * A call or movement. Its position is its request id, or a text that sorts like one of its time. Amounts as decimal text:
 * beyond 2^53 a number would silently lose its last digits.
 */
interface ItemRow {
  readonly position: string;
  readonly kind: 'call' | 'held' | 'topup' | 'correct';
  readonly ref: string;
  readonly at_ms: number;
  readonly ended_ms: number | null;
  readonly amount: string;
  readonly posted: string;
  readonly written_off: string;
  readonly note: string | null;
}

/** `throughSeq`: the last block in the tables. `charged`: decimal text, of all calls up to it. `entries`: the last one. */
interface SnapshotRow {
  readonly charged: string;
  readonly throughSeq: number;
  readonly entries: number;
}

interface EntryRow {
  readonly seq: number;
  readonly atMs: number;
  readonly kind: EntryKind;
  readonly ref: string;
  readonly amount: string;
  readonly released: string;
  readonly note: string | null;
}

const ENTRY = sql`seq, at_ms AS "atMs", kind, ref, cast(amount AS TEXT) AS amount, cast(released AS TEXT) AS released, note`;
/** Of the records, which a charge from before the journal may lack. */
const TOKEN_SUMS = sql.join(CHARGED_TOKENS.map((kind) => sql`coalesce(sum(${sql.ref(kind)}), 0) AS ${sql.ref(kind)}`));
const MOVEMENT_POSITION = sql`printf('req_%012x ', max(0, at_ms)) || kind || ' ' || id`;
/** A cursor into the entries from before the journal. */
const OLD_CURSOR = /^#([1-9]\d{0,15})$/;

/** `workerQueries` runs queries that may take long. */
export function createStatementReader(workerQueries: Kysely<Tables>, pieces = PIECES): StatementReader {
  async function readItems(
    account: string,
    only: 'movements' | 'all',
    range: { readonly from: string; readonly before: string; readonly limit: number },
  ): Promise<readonly ItemRow[]> {
    const { from, before, limit } = range;
    const calls = sql`
      SELECT * FROM (SELECT request_id AS position, 'call' AS kind, request_id AS ref, at_ms, ended_ms,
          cast(held AS TEXT) AS amount, cast(posted AS TEXT) AS posted, cast(written_off AS TEXT) AS written_off, NULL AS note
        FROM call_record WHERE request_id >= ${from} AND request_id < ${before} AND account = ${account} AND held IS NOT NULL
        ORDER BY request_id DESC LIMIT ${limit})
      UNION ALL SELECT call_id, 'held', call_id, draft ->> 0, NULL, cast(amount AS TEXT), '0', '0', NULL
        FROM open_hold WHERE call_id >= ${from} AND call_id < ${before} AND account = ${account}
      UNION ALL`;
    const { rows } = await sql<ItemRow>`${only === 'all' ? calls : sql``}
      SELECT * FROM (SELECT ${MOVEMENT_POSITION} AS position, kind, id AS ref, at_ms, NULL AS ended_ms,
          cast(amount AS TEXT) AS amount, '0' AS posted, '0' AS written_off, note
        FROM movement WHERE account = ${account} AND at_ms <= ${timeOf(before) ?? Number.MAX_SAFE_INTEGER}
          AND ${MOVEMENT_POSITION} >= ${from} AND ${MOVEMENT_POSITION} < ${before}
        ORDER BY position DESC LIMIT ${limit})
      ORDER BY position DESC LIMIT ${limit}`.execute(workerQueries);
    return rows;
  }

  /**
   * A position `pieces.records` records before this one; empty if there are fewer. Only the time of a call's id: the call
   * may be another account's.
   */
  async function floorBefore(before: string): Promise<string> {
    const { rows } = await sql<{ readonly id: string }>`SELECT request_id AS id FROM call_record
      WHERE request_id < ${before} ORDER BY request_id DESC LIMIT 1 OFFSET ${pieces.records - 1}`.execute(
      workerQueries,
    );
    return (rows[0]?.id ?? '').slice(0, requestIdFloor(0).length);
  }

  async function readOldMovements(account: string, beforeSeq: number, limit: number): Promise<readonly EntryRow[]> {
    const { rows } = await sql<EntryRow>`SELECT ${ENTRY} FROM ledger_entry INDEXED BY ledger_entry_movement
      WHERE account = ${account} AND kind IN ('topup', 'correct') AND seq < ${beforeSeq}
      ORDER BY seq DESC LIMIT ${limit}`.execute(workerQueries);
    return rows;
  }

  async function readOldEntries(account: string, only: 'movements' | 'all', before: number, limit: number) {
    if (only === 'movements') {
      const rows = await readOldMovements(account, before, limit);
      return { entries: rows.map(entryOfRow), next: rows.length < limit ? null : oldCursor(rows.at(-1)?.seq ?? 1) };
    }
    const floor = Math.max(1, before - pieces.entries);
    const { rows } = await sql<EntryRow>`SELECT ${ENTRY} FROM ledger_entry
      WHERE seq < ${before} AND seq >= ${floor} AND account = ${account}
      ORDER BY seq DESC LIMIT ${limit}`.execute(workerQueries);
    const reached = rows.length < limit ? floor : (rows.at(-1)?.seq ?? floor);
    return { entries: rows.map(entryOfRow), next: oldCursor(reached) };
  }

  async function snapshotOf(account: string): Promise<SnapshotRow> {
    const { rows } = await sql<SnapshotRow>`SELECT
        coalesce((SELECT cast(charged AS TEXT) FROM account_balance WHERE account = ${account}), '0') AS charged,
        (SELECT seq FROM stream) AS "throughSeq", (SELECT coalesce(max(seq), 0) FROM ledger_entry) AS entries`.execute(
      workerQueries,
    );
    const [snapshot] = rows;
    if (snapshot === undefined) throw new Error('a query without a table returned no row');
    return snapshot;
  }

  /** Sums up what calls posted since a moment. */
  async function readCharges(
    account: string,
    range: { readonly fromMs: number; readonly toMs: number },
    { throughSeq, entries }: SnapshotRow,
    sums: ChargeSums,
  ): Promise<void> {
    const { fromMs, toMs } = range;
    const charge = sql`CASE WHEN ended_ms < ${toMs} THEN ended_ms / ${QUARTER_MS} END AS quarter,
      CASE WHEN ended_ms < ${toMs} THEN workspace END AS workspace,
      CASE WHEN ended_ms < ${toMs} THEN model END AS model, CASE WHEN ended_ms < ${toMs} THEN key_id END AS key_id,
      key_name, max(ended_ms) AS last_ms, count(*) AS calls, ${TOKEN_SUMS},
      cast(sum(posted) AS TEXT) AS amount`;
    const inRange = sql`account = ${account} AND ended_ms >= ${fromMs} AND posted > 0 AND block <= ${throughSeq}`;
    const first = requestIdFloor(fromMs - LONG_MS - ID_SLACK_MS);
    sums.addAll(
      await sql`SELECT ${charge} FROM call_record INDEXED BY call_record_long
        WHERE ${inRange} AND abs(ended_ms - at_ms) > 3600000 AND request_id < ${first} GROUP BY 1, 2, 3, 4`.execute(
        workerQueries,
      ),
    );
    for (let from: string | null = first; from !== null; ) {
      const { rows } = await sql<{ readonly id: string }>`SELECT request_id AS id FROM call_record
        WHERE request_id >= ${from} ORDER BY request_id LIMIT 1 OFFSET ${pieces.records}`.execute(workerQueries);
      const next: string | null = rows[0]?.id ?? null;
      sums.addAll(
        await sql`SELECT ${charge} FROM call_record
          WHERE request_id >= ${from} AND request_id < ${next ?? NEWEST} AND ${inRange} GROUP BY 1, 2, 3, 4`.execute(
          workerQueries,
        ),
      );
      from = next;
    }
    for (let floor = 1; floor <= entries; floor += pieces.charges) {
      sums.addAll(
        await sql`SELECT CASE WHEN e.at_ms < ${toMs} THEN e.at_ms / ${QUARTER_MS} END AS quarter,
            CASE WHEN e.at_ms < ${toMs} THEN r.workspace END AS workspace,
            CASE WHEN e.at_ms < ${toMs} THEN r.model END AS model, CASE WHEN e.at_ms < ${toMs} THEN r.key_id END AS key_id,
            r.key_name AS key_name, max(e.at_ms) AS last_ms, count(*) AS calls, ${TOKEN_SUMS},
            cast(sum(e.amount) AS TEXT) AS amount
          FROM ledger_entry e LEFT JOIN call_record r ON r.request_id = e.ref
          WHERE e.seq >= ${floor} AND e.seq < ${floor + pieces.charges} AND e.account = ${account}
            AND e.kind = 'post' AND e.at_ms >= ${fromMs} GROUP BY 1, 2, 3, 4`.execute(workerQueries),
      );
    }
  }

  async function readMovements(account: string, { throughSeq, entries }: SnapshotRow): Promise<readonly ShownEntry[]> {
    const { rows } =
      await sql<EntryRow>`SELECT 0 AS seq, at_ms AS "atMs", kind, id AS ref, cast(amount AS TEXT) AS amount,
        '0' AS released, note
      FROM movement WHERE account = ${account} AND block <= ${throughSeq} ORDER BY at_ms, kind, id`.execute(
        workerQueries,
      );
    const old = await readOldMovements(account, entries + 1, Number.MAX_SAFE_INTEGER);
    return [...old.toReversed(), ...rows].map(entryOfRow);
  }

  return {
    async readEntries(account, only, before, limit) {
      const old = OLD_CURSOR.exec(before ?? '')?.[1];
      if (old !== undefined) return readOldEntries(account, only, Number(old), limit);
      const top = before ?? NEWEST;
      const from = only === 'movements' ? '' : await floorBefore(top);
      const items = await readItems(account, only, { from, before: top, limit });
      const entries: ShownEntry[] = [];
      for (const item of items) {
        entries.push(...linesOf(item));
        if (entries.length >= limit) return { entries, next: item.position };
      }
      if (from !== '') return { entries, next: from };
      const { entries: last } = await snapshotOf(account);
      const older = await readOldEntries(account, only, last + 1, limit - entries.length);
      return { entries: [...entries, ...older.entries], next: older.next };
    },
    async readStatement(account, range, dateOf) {
      const { fromMs, toMs } = range;
      const snapshot = await snapshotOf(account);
      const all = await readMovements(account, snapshot);
      const sums = new ChargeSums((quarter) => dateOf(Math.max(fromMs, quarter * QUARTER_MS)));
      await readCharges(account, range, snapshot, sums);
      const earlier = BigInt(snapshot.charged) - sums.total;
      const opening = sumOf(all.filter(({ atMs }) => atMs < fromMs)) - earlier;
      const movements = all.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
      const charges = sums.all();
      return { opening, closing: opening + sumOf(movements) - sumOf(charges), movements, charges };
    },
  };
}

function sumOf(entries: readonly { readonly amount: bigint }[]): bigint {
  return entries.reduce((sum, { amount }) => sum + amount, 0n);
}

function oldCursor(seq: number): string | null {
  return seq > 1 ? `#${seq}` : null;
}

function entryOfRow({ atMs, kind, ref, amount, released, note }: EntryRow): ShownEntry {
  return { atMs, kind, ref, amount: BigInt(amount), released: BigInt(released), note };
}

/** Newest first. */
function linesOf({ kind, ref, at_ms, ended_ms, amount: text, posted, written_off, note }: ItemRow): ShownEntry[] {
  const amount = BigInt(text);
  const common = { ref, released: 0n, note };
  if (kind === 'topup' || kind === 'correct') return [{ ...common, atMs: at_ms, kind, amount }];
  const hold = { ...common, atMs: at_ms, kind: 'hold', amount } as const;
  return ended_ms === null ? [hold] : [...endLines({ ref, ended_ms, held: amount, posted, written_off }), hold];
}

/** The lines of a call's end, newest first. Amounts but `held` as decimal text. */
export function endLines(end: {
  readonly ref: string;
  readonly ended_ms: number;
  readonly held: bigint;
  readonly posted: string;
  readonly written_off: string;
}): ShownEntry[] {
  const { ref, ended_ms: atMs, held } = end;
  const [posted, writtenOff] = [BigInt(end.posted), BigInt(end.written_off)];
  const common = { ref, atMs, note: null };
  const last = {
    ...common,
    kind: posted > 0n ? ('post' as const) : ('void' as const),
    amount: posted,
    released: held - posted,
  };
  return writtenOff === 0n ? [last] : [last, { ...common, kind: 'absorb', amount: writtenOff, released: 0n }];
}

/** What calls of one quarter of an hour, workspace, model and key posted. Without a record: null, and 0 tokens. */
interface ChargeRow extends ChargedTokens {
  /** Null: after the end of the statement; counts in the total only. */
  readonly quarter: number | null;
  readonly workspace: string | null;
  readonly model: string | null;
  readonly key_id: string | null;
  /** The name at `last_ms`, the end of the last of the calls. */
  readonly key_name: string | null;
  readonly last_ms: number;
  readonly calls: number;
  /** Decimal text. */
  readonly amount: string;
}

interface ChargeSum {
  readonly charge: DayCharge;
  readonly lastMs: number;
}

/** Adds up the charges of calls by day, workspace, model and key. */
class ChargeSums {
  readonly #sums = new Map<string, ChargeSum>();
  /** Of all rows added. */
  total = 0n;

  /** `dateOf`: the day of a quarter of an hour, counted from 1970. */
  constructor(private readonly dateOf: (quarter: number) => string) {}

  /** The rows must be `ChargeRow`s. */
  addAll({ rows }: QueryResult<unknown>): void {
    for (const row of rows as ChargeRow[]) this.#add(row);
  }

  all(): DayCharge[] {
    return [...this.#sums.values()].map(({ charge }) => charge);
  }

  #add(row: ChargeRow): void {
    const { quarter, workspace, model, key_id: keyId, key_name: keyName, last_ms: lastMs, calls, amount } = row;
    this.total += BigInt(amount);
    if (quarter === null) return;
    const date = this.dateOf(quarter);
    const id = JSON.stringify([date, workspace, model, keyId]);
    const before = this.#sums.get(id);
    this.#sums.set(id, {
      charge: {
        date,
        workspace,
        model,
        keyId,
        keyName: before === undefined || lastMs >= before.lastMs ? keyName : before.charge.keyName,
        calls: calls + (before?.charge.calls ?? 0),
        tokens: addTokens(row, before?.charge.tokens),
        amount: BigInt(amount) + (before?.charge.amount ?? 0n),
      },
      lastMs: Math.max(lastMs, before?.lastMs ?? 0),
    });
  }
}

function addTokens(row: ChargeRow, before: ChargedTokens | undefined): ChargedTokens {
  const sums = CHARGED_TOKENS.map((kind) => [kind, row[kind] + (before?.[kind] ?? 0)] as const);
  return Object.fromEntries(sums) as unknown as ChargedTokens;
}
