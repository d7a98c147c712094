/**
 * Reads an account's ledger lines and statements: from records, sums of charges, movements and open holds, and, for the
 * time before the journal, from ledger entries. Reads these in bounded pieces, which is consistent because they never
 * change.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import {
  CHARGED_TOKENS,
  type ChargedTokens,
  type DayCharge,
  type EntryKind,
  type ShownEntry,
  type StatementRange,
  type StatementReader,
} from '../../ports/ledger.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { timeOf } from '../usage/find-ids.ts';
import { QUARTER_MS } from '../usage/plan-spans.ts';
import { type ChargeRow, type ChargesAnswer, type ChargesQuestion, dayOf } from '../usage/read-charges.ts';

/** Rows, of all accounts, that one query scans: about a tenth of a second. */
interface StatementPieces {
  readonly records: number;
  readonly entries: number;
  /** Entries whose records are looked up. */
  readonly charges: number;
}

const PIECES: StatementPieces = { records: 100_000, entries: 250_000, charges: 50_000 };
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

export type ReadCharges = (question: ChargesQuestion) => Promise<ChargesAnswer>;

/** `workerQueries` runs queries that may take long. `readCharges` reads one state of the tables. */
export function createStatementReader(
  workerQueries: Kysely<Tables>,
  readCharges: ReadCharges,
  pieces = PIECES,
): StatementReader {
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

  /** Adds what calls from before the journal charged. */
  async function addOldCharges(
    account: string,
    { fromMs, toMs }: StatementRange,
    lastEntry: number,
    sums: ChargeSums,
  ): Promise<void> {
    const inside = sql`e.at_ms >= ${fromMs} AND e.at_ms < ${toMs}`;
    const ifInside = (value: RawBuilder<unknown>) => sql`CASE WHEN ${inside} THEN ${value} END`;
    for (let floor = 1; floor <= lastEntry; floor += pieces.charges) {
      const { rows } = await sql<OldChargeRow>`SELECT ${ifInside(sql`r.workspace`)} AS workspace,
            ${ifInside(sql`r.model`)} AS model, ${ifInside(sql`r.key_id`)} AS "keyId", r.key_name AS "keyName", max(e.at_ms) AS "lastMs", count(*) AS calls,
            ${TOKEN_SUMS}, cast(sum(e.amount) AS TEXT) AS amount
          FROM ledger_entry e LEFT JOIN call_record r ON r.request_id = e.ref
          WHERE e.seq >= ${floor} AND e.seq < ${floor + pieces.charges} AND e.account = ${account}
            AND e.kind = 'post'
          GROUP BY e.at_ms >= ${fromMs}, e.at_ms >= ${toMs}, ${ifInside(sql`e.at_ms / ${QUARTER_MS}`)}, 1, 2, 3`.execute(
        workerQueries,
      );
      for (const { amount, ...row } of rows) sums.addOld({ ...row, amount: BigInt(amount) });
    }
  }

  async function readMovements(
    account: string,
    { throughSeq, lastEntry }: ChargesAnswer,
  ): Promise<readonly ShownEntry[]> {
    const { rows } =
      await sql<EntryRow>`SELECT 0 AS seq, at_ms AS "atMs", kind, id AS ref, cast(amount AS TEXT) AS amount,
        '0' AS released, note
      FROM movement WHERE account = ${account} AND block <= ${throughSeq} ORDER BY at_ms, kind, id`.execute(
        workerQueries,
      );
    const old = await readOldMovements(account, lastEntry + 1, Number.MAX_SAFE_INTEGER);
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
      const { rows } = await sql<{
        readonly last: number;
      }>`SELECT coalesce(max(seq), 0) AS last FROM ledger_entry`.execute(workerQueries);
      const older = await readOldEntries(account, only, (rows[0]?.last ?? 0) + 1, limit - entries.length);
      return { entries: [...entries, ...older.entries], next: older.next };
    },
    async readStatement(account, range, zone) {
      const { fromMs, toMs } = range;
      const question = { account, fromMs, toMs, zone };
      const charged = await readCharges(question);
      const all = await readMovements(account, charged);
      const sums = new ChargeSums(question);
      await addOldCharges(account, range, charged.lastEntry, sums);
      for (const row of charged.rows) sums.add(row);
      const charges = sums.all();
      const before = charged.before + sums.before;
      const found = before + sumOf(charges) + charged.after + sums.after;
      if (found !== charged.charged) {
        throw new Error(
          `the charges of account ${account} add up to ${found} nano-USD, its ledger charged ${charged.charged}`,
        );
      }
      const opening = sumOf(all.filter(({ atMs }) => atMs < fromMs)) - before;
      const movements = all.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
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

/** Without a record: null, and 0 tokens. */
interface OldChargeRow extends Omit<ChargeRow, 'dayMs' | 'tokens' | 'amount'>, ChargedTokens {
  /** Decimal text. */
  readonly amount: string;
}

interface ChargeSum {
  readonly charge: DayCharge;
  readonly lastMs: number;
}

/** Adds up the charges of calls by day, workspace, model and key. */
class ChargeSums {
  readonly #range: StatementRange;
  readonly #dayOf: (atMs: number) => number;
  readonly #sums = new Map<string, ChargeSum>();
  /** Charged by calls from before the journal, before the range and after it. */
  before = 0n;
  after = 0n;

  constructor(question: ChargesQuestion) {
    this.#range = question;
    this.#dayOf = dayOf(question);
  }

  all(): DayCharge[] {
    return [...this.#sums.values()].map(({ charge }) => charge);
  }

  addOld(row: Omit<OldChargeRow, 'amount'> & { readonly amount: bigint }): void {
    if (row.lastMs < this.#range.fromMs) this.before += row.amount;
    else if (row.lastMs >= this.#range.toMs) this.after += row.amount;
    else this.add({ ...row, tokens: row, dayMs: this.#dayOf(row.lastMs) });
  }

  add({ dayMs, workspace, model, keyId, keyName, lastMs, calls, tokens, amount }: ChargeRow): void {
    const id = JSON.stringify([dayMs, workspace, model, keyId]);
    const before = this.#sums.get(id);
    this.#sums.set(id, {
      charge: {
        dayMs,
        workspace,
        model,
        keyId,
        keyName: before === undefined || lastMs >= before.lastMs ? keyName : before.charge.keyName,
        calls: calls + (before?.charge.calls ?? 0),
        tokens: addTokens(tokens, before?.charge.tokens),
        amount: amount + (before?.charge.amount ?? 0n),
      },
      lastMs: Math.max(lastMs, before?.lastMs ?? 0),
    });
  }
}

function addTokens(tokens: ChargedTokens, before: ChargedTokens | undefined): ChargedTokens {
  const sums = CHARGED_TOKENS.map((kind) => [kind, tokens[kind] + (before?.[kind] ?? 0)] as const);
  return Object.fromEntries(sums) as unknown as ChargedTokens;
}
