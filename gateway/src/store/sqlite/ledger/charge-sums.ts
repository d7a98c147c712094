/** Adds up the charges of calls by day, workspace, model and key. */
import type { QueryResult } from 'kysely';
import { CHARGED_TOKENS, type ChargedTokens, type DayCharge } from '../../ports/ledger.ts';

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

export class ChargeSums {
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
