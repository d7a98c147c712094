/** Owns the queries over the ledger's entries by which an account's money is shown. Reads them in bounded pieces; entries never change. */
import { type Kysely, sql } from 'kysely';
import type { EntryKind } from '../ledger-port.ts';
import type { ShownEntry, StatementReader } from '../statement-port.ts';
import type { Tables } from './tables.ts';

/** Entries of all accounts that one query looks at: about a tenth of a second. */
const PIECE_ENTRIES = 250_000;
/** Every zone's days are made of whole quarters of an hour. */
const QUARTER_MS = 900_000;

/** Amounts as decimal text: beyond 2^53 a number would lose its last digits without a word. */
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

/** Over queries that may take long. */
export function createStatementReader(far: Kysely<Tables>): StatementReader {
  async function lastSeq(): Promise<number> {
    const { rows } = await sql<{ readonly seq: number }>`SELECT coalesce(max(seq), 0) AS seq FROM ledger_entry`.execute(
      far,
    );
    return rows[0]?.seq ?? 0;
  }

  async function readMovements(account: string, beforeSeq: number, limit: number): Promise<readonly ShownEntry[]> {
    const { rows } = await sql<EntryRow>`SELECT ${SHOWN} FROM ledger_entry INDEXED BY ledger_entry_movement
      WHERE account = ${account} AND kind IN ('topup', 'correct') AND seq < ${beforeSeq}
      ORDER BY seq DESC LIMIT ${limit}`.execute(far);
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
        ORDER BY seq DESC LIMIT ${limit}`.execute(far);
      const entries = rows.map(entryOfRow);
      const reached = entries.length < limit ? floor : (entries.at(-1)?.seq ?? floor);
      return { entries, nextSeq: reached > 1 ? reached : null };
    },
    async readStatement(account, fromMs, toMs) {
      const end = await lastSeq();
      const all = await readMovements(account, end + 1, Number.MAX_SAFE_INTEGER);
      const posts = { earlier: 0n, quarters: new Map<number, { calls: number; amount: bigint }>() };
      for (let floor = 1; floor <= end; floor += PIECE_ENTRIES) {
        const { rows } = await sql<{
          readonly quarter: number | null;
          readonly calls: number;
          readonly amount: string;
        }>`
          SELECT CASE WHEN at_ms < ${fromMs} THEN NULL ELSE at_ms / ${QUARTER_MS} END AS quarter, count(*) AS calls,
            cast(sum(amount) AS TEXT) AS amount
          FROM ledger_entry
          WHERE seq >= ${floor} AND seq < ${Math.min(end + 1, floor + PIECE_ENTRIES)} AND account = ${account}
            AND kind = 'post' AND at_ms < ${toMs}
          GROUP BY 1`.execute(far);
        for (const { quarter, calls, amount } of rows) addPosts(posts, quarter, calls, BigInt(amount));
      }
      const sumOf = (entries: readonly ShownEntry[]) => entries.reduce((sum, { amount }) => sum + amount, 0n);
      const opening = sumOf(all.filter(({ atMs }) => atMs < fromMs)) - posts.earlier;
      const movements = all.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reverse();
      const charges = [...posts.quarters]
        .sort(([one], [other]) => one - other)
        .map(([quarter, sums]) => ({ fromMs: Math.max(fromMs, quarter * QUARTER_MS), ...sums }));
      const charged = charges.reduce((sum, { amount }) => sum + amount, 0n);
      return { opening, closing: opening + sumOf(movements) - charged, movements, charges };
    },
  };
}

function addPosts(
  posts: { earlier: bigint; readonly quarters: Map<number, { calls: number; amount: bigint }> },
  quarter: number | null,
  calls: number,
  amount: bigint,
): void {
  if (quarter === null) {
    posts.earlier += amount;
    return;
  }
  const before = posts.quarters.get(quarter);
  posts.quarters.set(quarter, { calls: calls + (before?.calls ?? 0), amount: amount + (before?.amount ?? 0n) });
}

function entryOfRow({ at_ms, amount, released, ...entry }: EntryRow): ShownEntry {
  return { ...entry, atMs: at_ms, amount: BigInt(amount), released: BigInt(released) };
}
