/** Adds up the charges of calls by day, model and key. */
import type { QueryResult } from 'kysely';
import type { DayCharge } from '../../ports/ledger.ts';

/** What calls of one quarter of an hour, model and key posted. */
interface ChargeRow {
  /** Null: after the end of the statement; counts in the total only. */
  readonly quarter: number | null;
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

  #add({ quarter, model, key_id: keyId, key_name: keyName, last_ms: lastMs, calls, amount }: ChargeRow): void {
    this.total += BigInt(amount);
    if (quarter === null) return;
    const date = this.dateOf(quarter);
    const id = JSON.stringify([date, model, keyId]);
    const before = this.#sums.get(id);
    this.#sums.set(id, {
      charge: {
        date,
        model,
        keyId,
        keyName: before === undefined || lastMs >= before.lastMs ? keyName : before.charge.keyName,
        calls: calls + (before?.charge.calls ?? 0),
        amount: BigInt(amount) + (before?.charge.amount ?? 0n),
      },
      lastMs: Math.max(lastMs, before?.lastMs ?? 0),
    });
  }
}
