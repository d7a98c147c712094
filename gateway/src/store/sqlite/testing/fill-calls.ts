/**
 * Fills a database with calls as the writer stores them, without its thread: each held, and settled in another order.
 */
import type { CallRecord } from '../../ports/records.ts';
import { keepHold, keepSettlement, type Operation } from '../writer/ledger-operations.ts';
import type { WriterDatabase } from '../writer/writer-database.ts';

/**
 * Calls without a price or charge end like any other. Every third hold is too small; the rest of its cost is absorbed.
 */
export function fillCalls(writer: WriterDatabase, calls: readonly CallRecord[]): void {
  const operations: Operation[] = [];
  for (const [index, record] of calls.entries()) {
    const cost = BigInt(record.cost_nano_usd ?? 0);
    const held = index % 3 === 0 ? cost / 2n : cost + 50n;
    const posted = cost < held ? cost : held;
    operations.push(
      keepHold({ draft: record, amount: held }),
      keepSettlement({ record, posted, released: held - posted, writtenOff: cost - posted }),
    );
  }
  const reply = writer.keepOperations(JSON.stringify(operations));
  if (reply !== true) throw new Error(`not all calls were kept: ${JSON.stringify(reply)}`);
}
