/** Adds up the attempts that did not answer their calls, by provider and model, for the comparison with invoices. */
import type { Database } from 'bun:sqlite';
import type { AttemptCosts, AttemptCostsQuestion } from '../../ports/usage.ts';
import { idsOf, startDeadline } from '../usage/scan-records.ts';

/** One at a time between two looks at the clock. */
const STRETCH_MS = 24 * 60 * 60 * 1000;

interface Row extends Omit<AttemptCosts, 'cost'> {
  /** Decimal text. */
  readonly cost: string;
}

/** Few records have such attempts: the first condition on their text spares the others the parser. */
const READ = `SELECT value ->> '$.provider' AS provider, value ->> '$.model' AS model, value ->> '$.billed' AS billed,
    count(*) AS attempts, count(*) FILTER (WHERE value ->> '$.cost_nano_usd' IS NULL) AS unpriced,
    sum((value ->> '$.usage.input') + (value ->> '$.usage.cache_read') + (value ->> '$.usage.cache_write_5m')
      + (value ->> '$.usage.cache_write_1h')) AS input,
    sum(value ->> '$.usage.output') AS output,
    cast(coalesce(sum(cast(value ->> '$.cost_nano_usd' AS INTEGER)), 0) AS TEXT) AS cost
  FROM call_record, json_each(attempts)
  WHERE request_id >= ? AND request_id < ? AND at_ms >= ? AND at_ms < ? AND instr(attempts, '"billed":') > 0
    AND value ->> '$.billed' IS NOT NULL
  GROUP BY 1, 2, 3`;

/** Of all accounts, the most expensive first. Within the caller's transaction. @throws UsageRefusal */
export function readAttemptCosts(
  database: Database,
  { fromMs, toMs, timeMsMax }: AttemptCostsQuestion,
): readonly AttemptCosts[] {
  const deadline = startDeadline(timeMsMax);
  const read = database.prepare<Row, [string, string, number, number]>(READ);
  const sums = new Map<string, AttemptCosts>();
  try {
    for (let startMs = fromMs; startMs < toMs; startMs += STRETCH_MS) {
      const endMs = Math.min(startMs + STRETCH_MS, toMs);
      for (const row of read.all(...idsOf({ startMs, endMs }), startMs, endMs)) {
        const name = JSON.stringify([row.provider, row.model, row.billed]);
        const before = sums.get(name);
        sums.set(name, {
          ...row,
          attempts: row.attempts + (before?.attempts ?? 0),
          unpriced: row.unpriced + (before?.unpriced ?? 0),
          input: row.input + (before?.input ?? 0),
          output: row.output + (before?.output ?? 0),
          cost: BigInt(row.cost) + (before?.cost ?? 0n),
        });
      }
      deadline.check();
    }
  } finally {
    read.finalize();
  }
  return [...sums.values()].sort((one, other) => (one.cost < other.cost ? 1 : -1));
}
