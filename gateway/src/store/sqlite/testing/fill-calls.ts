/** Fills a database with calls as the ledger appends them: most as one frame, some held first. */
import type { Frame } from '../../ports/journal.ts';
import type { CallRecord } from '../../ports/records.ts';
import type { IngestRig } from './ingest-rig.ts';

/** Every third hold is too small; the rest of its cost is written off. Every fifth call has a hold frame of its own. */
export function framesOf(calls: readonly CallRecord[]): Frame[] {
  return calls.flatMap((record, index): Frame[] => {
    const cost = BigInt(record.cost_nano_usd ?? 0);
    const amount = index % 3 === 0 ? cost / 2n : cost + 50n;
    const posted = cost < amount ? cost : amount;
    const settlement = { posted, released: amount - posted, writtenOff: cost - posted };
    const hold = { amount, prepaid: false };
    const end = { kind: 'end', record, ...settlement, at_ms: record.at_ms + Math.round(record.duration_ms) } as const;
    return index % 5 === 0
      ? [
          { kind: 'hold', draft: record, ...hold },
          { ...end, hold: null },
        ]
      : [{ ...end, hold }];
  });
}

export function fillCalls(rig: Pick<IngestRig, 'append'>, calls: readonly CallRecord[]): void {
  rig.append(framesOf(calls));
}
