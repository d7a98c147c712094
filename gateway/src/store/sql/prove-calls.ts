/**
 * Owns the proof of what happened to each call: one hold, its extensions, one end that disposes of all of it, and a record
 * that says the same and whose cost follows from its usage and price.
 */
import type { Usage } from '../../generation/usage.ts';
import { Disproof } from './disproof.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** What usage costs at the price that a record names, in nano-USD. Throws where the price cannot be read. */
export type RecomputeCost = (usage: Usage, priceVersion: string) => bigint;

/** What a call's record says of its charge. */
export interface ChargedRecord {
  readonly account: string;
  readonly usage: Usage;
  readonly usageSource: string;
  readonly priceVersion: string | null;
  /** Null: unpriced. */
  readonly cost: bigint | null;
}

interface RunningCall {
  readonly account: string;
  held: bigint;
  extensions: number;
  absorbed: bigint;
}

export interface CallsProof {
  /** Takes the next entry; `record` is the call's, null where there is none, and looked at only at the call's end. @throws Disproof */
  take(entry: LedgerEntry, record: ChargedRecord | null): void;
  /** What is held by calls that have not ended: call id → account, amount and extensions. */
  readonly running: ReadonlyMap<string, Readonly<RunningCall>>;
  /** Calls that ended, and those of them that cost something. */
  readonly counts: { readonly ended: number; readonly charged: number };
}

export function proveCalls(recompute: RecomputeCost): CallsProof {
  const running = new Map<string, RunningCall>();
  const counts = { ended: 0, charged: 0 };

  function runningCall({ seq, ref, account, kind }: LedgerEntry): RunningCall {
    const call = running.get(ref);
    if (call === undefined) throw new Disproof(seq, `a ${kind} of call ${ref}, which holds nothing then`);
    if (call.account !== account) {
      throw new Disproof(seq, `a ${kind} of account ${account}, but call ${ref} holds money of ${call.account}`);
    }
    return call;
  }

  function end(entry: LedgerEntry, record: ChargedRecord | null): void {
    const { seq, ref, amount, released } = entry;
    const call = runningCall(entry);
    if (amount + released !== call.held) {
      throw new Disproof(seq, `call ${ref} held ${call.held}, its end disposes of ${amount + released}`);
    }
    if (record === null) throw new Disproof(seq, `call ${ref} ended, and has no record`);
    const problem = recordProblem(record, entry.account, amount + call.absorbed, recompute);
    if (problem !== null) throw new Disproof(seq, `the record of call ${ref} ${problem}`);
    running.delete(ref);
    counts.ended += 1;
    if (record.cost !== null && record.cost !== 0n) counts.charged += 1;
  }

  return {
    running,
    counts,
    take(entry, record) {
      const { seq, kind, ref, nth, account, amount } = entry;
      if (kind === 'hold') {
        if (running.has(ref)) throw new Disproof(seq, `a second hold of call ${ref}`);
        running.set(ref, { account, held: amount, extensions: 0, absorbed: 0n });
      } else if (kind === 'extend') {
        const call = runningCall(entry);
        call.extensions += 1;
        if (nth !== call.extensions)
          throw new Disproof(seq, `extension ${nth} of call ${ref}, expected ${call.extensions}`);
        call.held += amount;
      } else if (kind === 'absorb') {
        const call = runningCall(entry);
        if (call.absorbed !== 0n) throw new Disproof(seq, `a second absorb of call ${ref}`);
        call.absorbed = amount;
      } else if (kind === 'post' || kind === 'void') {
        end(entry, record);
      }
    },
  };
}

function recordProblem(
  { account, usage, usageSource, priceVersion, cost }: ChargedRecord,
  expectedAccount: string,
  settled: bigint,
  recompute: RecomputeCost,
): string | null {
  if (account !== expectedAccount) return `is of account ${account}, expected ${expectedAccount}`;
  if ((cost ?? 0n) !== settled) return `costs ${cost} nano-USD, its entries post and absorb ${settled}`;
  // What was not used or came from a cache is not charged by its tokens.
  if (usageSource === 'void' || usageSource === 'cache') return null;
  if (priceVersion === null) return cost === null ? null : `costs ${cost} nano-USD and names no price`;
  if (cost === null) return `names the price ${priceVersion} and no cost`;
  let expected: bigint;
  try {
    expected = recompute(usage, priceVersion);
  } catch (fault) {
    return `cannot be recomputed: ${fault instanceof Error ? fault.message : String(fault)}`;
  }
  return expected === cost ? null : `costs ${cost} nano-USD, its usage at ${priceVersion} costs ${expected}`;
}
