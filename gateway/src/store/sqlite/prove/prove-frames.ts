/** Proves frames of the journal in their order: folds balances, follows calls, and recomputes every charge. */
import { type Balance, EMPTY_BALANCE, foldBalance, type Transfer, transfersOf } from '../../ledger/fold-balance.ts';
import type { EndFrame, Frame } from '../../ports/journal.ts';
import type { CallDraft } from '../../ports/ledger.ts';
import type { CallRecord } from '../../ports/records.ts';
import { StoreError } from '../../ports/store-errors.ts';
import { LedgerInvariantError } from './ledger-invariant-error.ts';
import type { CallsProof, ChargedRecord } from './prove-calls.ts';

export class FramesProof {
  /** Transfers of money that the frames made. */
  entries = 0;

  /** Continues from `calls` and `balances`, and adds to them. */
  constructor(
    readonly calls: CallsProof,
    readonly balances: Map<string, Balance>,
  ) {}

  /**
   * Proves the next frame, of a block of that epoch. Returns what the call held in all where the frame ends one, else
   * null. @throws LedgerInvariantError without a place
   */
  take(frame: Frame, epoch: number): bigint | null {
    const held = this.#follow(frame, epoch);
    for (const transfer of transfersOf(frame, (call_id) => this.calls.find('extend', call_id).account)) {
      this.#move(transfer);
    }
    return held;
  }

  #follow(frame: Frame, epoch: number): bigint | null {
    switch (frame.kind) {
      case 'hold':
        this.#hold(frame.draft, frame.amount, epoch);
        return null;
      case 'extend':
        this.calls.extend(frame.call_id, frame.nth, frame.amount);
        return null;
      case 'checkpoint':
        if (frame.cost < 0n) throw new LedgerInvariantError(`a checkpoint of ${frame.cost}, expected 0 or more`);
        this.calls.find('checkpoint', frame.call_id).checkpoint = frame;
        return null;
      case 'detach':
        this.calls.detach(frame.call_id, frame.job);
        return null;
      case 'end':
        return this.#end(frame, epoch);
      case 'refused':
        refuseCost(frame.record);
        this.calls.attempts(frame.record);
        return null;
      case 'movement':
        return null;
    }
  }

  #hold(draft: CallDraft, amount: bigint, epoch: number): void {
    this.calls.hold(draft.request_id, draft.account, amount, { draft, epoch });
  }

  #end({ record, hold, posted, released, writtenOff }: EndFrame, epoch: number): bigint {
    const { request_id } = record;
    if (hold !== null) this.#hold(record, hold.amount, epoch);
    if (writtenOff !== 0n) this.calls.absorb(request_id, writtenOff);
    this.calls.attempts(record);
    return this.calls.end(request_id, posted, posted + released, chargedOf(record)).held;
  }

  #move(transfer: Transfer): void {
    const { account } = transfer;
    const folded = foldBalance(this.balances.get(account) ?? EMPTY_BALANCE, transfer);
    if (folded instanceof StoreError) throw new LedgerInvariantError(`account ${account}: ${folded.message}`);
    this.balances.set(account, folded);
    this.entries += 1;
  }
}

function chargedOf({
  account,
  usage,
  usage_source,
  usage_flags,
  price_version,
  cost_nano_usd,
}: CallRecord): ChargedRecord {
  return {
    account,
    usage,
    usageSource: usage_source,
    priceVersion: price_version,
    cost: cost_nano_usd === null ? null : BigInt(cost_nano_usd),
    isHeldAmount: usage_flags?.includes('held_amount') === true,
  };
}

function refuseCost({ request_id, cost_nano_usd }: CallRecord): void {
  if (cost_nano_usd === null || cost_nano_usd === '0') return;
  throw new LedgerInvariantError(`call ${request_id} held nothing, and costs ${cost_nano_usd} nano-USD`);
}
