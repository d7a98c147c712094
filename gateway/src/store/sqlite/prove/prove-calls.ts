/** Follows the calls of a ledger: each is held once and ended once, and its end agrees with its record. */
import type { Usage } from '../../../generation/usage.ts';
import type { CallDraft, Checkpoint, DetachedJob } from '../../ports/ledger.ts';
import type { CallRecord } from '../../ports/records.ts';
import { LedgerInvariantError } from './ledger-invariant-error.ts';

/** Computes the cost of usage at the price named in a record, in nano-USD. Throws where the price cannot be parsed. */
export type RecomputeCost = (usage: Usage, priceVersion: string) => bigint;

/** The billing members of a call's record. */
export interface ChargedRecord {
  readonly account: string;
  readonly usage: Usage;
  readonly usageSource: string;
  readonly priceVersion: string | null;
  /** Null: unpriced. */
  readonly cost: bigint | null;
  /** The cost is the amount that was held, whatever the usage says. */
  readonly isHeldAmount?: boolean;
}

/** What is known of a call's hold; both null for a hold from before the journal. */
interface HoldOrigin {
  readonly draft: CallDraft | null;
  readonly epoch: number | null;
}

export interface RunningCall extends HoldOrigin {
  readonly account: string;
  held: bigint;
  extensions: number;
  writtenOff: bigint;
  checkpoint: Omit<Checkpoint, 'call_id'> | null;
  job: DetachedJob | null;
}

const BEFORE_JOURNAL: HoldOrigin = { draft: null, epoch: null };

/** Every method throws LedgerInvariantError without a place. */
export class CallsProof {
  /** Calls that have not ended. */
  readonly running = new Map<string, RunningCall>();
  ended = 0;
  /** Calls that ended with a cost. */
  charged = 0;

  constructor(private readonly recompute: RecomputeCost) {}

  hold(call_id: string, account: string, amount: bigint, { draft, epoch } = BEFORE_JOURNAL): void {
    if (this.running.has(call_id)) throw new LedgerInvariantError(`a second hold of call ${call_id}`);
    const begun = { extensions: 0, writtenOff: 0n, checkpoint: null, job: null };
    this.running.set(call_id, { account, held: amount, ...begun, draft, epoch });
  }

  extend(call_id: string, nth: number, amount: bigint): void {
    const call = this.find('extend', call_id);
    call.extensions += 1;
    if (nth !== call.extensions)
      throw new LedgerInvariantError(`extension ${nth} of call ${call_id}, expected ${call.extensions}`);
    call.held += amount;
  }

  detach(call_id: string, job: DetachedJob): void {
    const call = this.find('detachment', call_id);
    if (call.job !== null) throw new LedgerInvariantError(`a second detachment of call ${call_id}`);
    call.job = job;
  }

  absorb(call_id: string, amount: bigint): void {
    const call = this.find('absorb', call_id);
    if (call.writtenOff !== 0n) throw new LedgerInvariantError(`a second absorb of call ${call_id}`);
    call.writtenOff = amount;
  }

  /** `disposed`: what the end posts and releases. Null: the call has no record. */
  end(call_id: string, posted: bigint, disposed: bigint, record: ChargedRecord | null): RunningCall {
    const call = this.find('post', call_id);
    if (disposed !== call.held)
      throw new LedgerInvariantError(`call ${call_id} held ${call.held}, its end disposes of ${disposed}`);
    if (record === null) throw new LedgerInvariantError(`call ${call_id} ended, and has no record`);
    const problem =
      record.isHeldAmount === true && record.cost !== null && record.cost !== call.held
        ? `costs ${record.cost} nano-USD as the amount that was held, which is ${call.held}`
        : recordProblem(record, call.account, posted + call.writtenOff, this.recompute);
    if (problem !== null) throw new LedgerInvariantError(`the record of call ${call_id} ${problem}`);
    this.running.delete(call_id);
    this.ended += 1;
    if (record.cost !== null && record.cost !== 0n) this.charged += 1;
    return call;
  }

  /** Proves the attempts of an ended call, whether or not it held anything. */
  attempts(record: CallRecord): void {
    const problem = attemptsProblem(record, this.recompute);
    if (problem !== null) throw new LedgerInvariantError(problem);
  }

  find(kind: string, call_id: string): RunningCall {
    const call = this.running.get(call_id);
    if (call === undefined) throw new LedgerInvariantError(`a ${kind} of call ${call_id}, which holds nothing then`);
    return call;
  }
}

/** Null: the cost of each attempt that did not answer the call follows from its usage and price. */
function attemptsProblem({ request_id, attempts }: CallRecord, recompute: RecomputeCost): string | null {
  for (const [index, { billed, usage, price_version, cost_nano_usd }] of attempts.entries()) {
    if (billed === undefined && cost_nano_usd === undefined) continue;
    const what = `attempt ${index + 1} of call ${request_id}`;
    if (billed === undefined || usage === undefined || cost_nano_usd === undefined)
      return `${what} lacks whether it was billed, its usage or its cost`;
    if (price_version === undefined && cost_nano_usd === null) continue;
    if (price_version === undefined) return `${what} costs ${cost_nano_usd} nano-USD and names no price`;
    const expected = recomputeOr(recompute, usage, price_version);
    if (typeof expected === 'string') return `${what} ${expected}`;
    if (expected.toString() !== cost_nano_usd)
      return `${what} costs ${cost_nano_usd} nano-USD, its usage at ${price_version} costs ${expected}`;
  }
  return null;
}

/** The cost, or why it cannot be computed. */
function recomputeOr(recompute: RecomputeCost, usage: Usage, priceVersion: string): bigint | string {
  try {
    return recompute(usage, priceVersion);
  } catch (fault) {
    return `cannot be recomputed: ${fault instanceof Error ? fault.message : String(fault)}`;
  }
}

function recordProblem(
  { account, usage, usageSource, priceVersion, cost, isHeldAmount }: ChargedRecord,
  expectedAccount: string,
  settled: bigint,
  recompute: RecomputeCost,
): string | null {
  if (account !== expectedAccount) return `is of account ${account}, expected ${expectedAccount}`;
  if ((cost ?? 0n) !== settled) return `costs ${cost} nano-USD, its entries post and absorb ${settled}`;
  // Unused and cached usage is not charged by tokens.
  if (usageSource === 'void' || usageSource === 'cache') return null;
  if (priceVersion === null) return cost === null ? null : `costs ${cost} nano-USD and names no price`;
  if (cost === null) return `names the price ${priceVersion} and no cost`;
  if (isHeldAmount === true) return null;
  const expected = recomputeOr(recompute, usage, priceVersion);
  if (typeof expected === 'string') return expected;
  return expected === cost ? null : `costs ${cost} nano-USD, its usage at ${priceVersion} costs ${expected}`;
}
