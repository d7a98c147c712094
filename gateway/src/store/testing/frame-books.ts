/** Computes records, movements, open calls and balances from nothing but the frames of a journal. For tests. */
import type { UnendedCall } from '../ledger/end-unended.ts';
import { type Balance, EMPTY_BALANCE, foldBalance, sumAttempts, type Transfer } from '../ledger/fold-balance.ts';
import type { Frame } from '../ports/journal.ts';
import type { AccountBalance, AccountMode, LedgerProof, Movement } from '../ports/ledger.ts';
import type { CallRecord } from '../ports/records.ts';
import { StoreError } from '../ports/store-errors.ts';

type Left = { -readonly [Member in keyof UnendedCall]: UnendedCall[Member] };

export class FrameBooks {
  readonly records = new Map<string, CallRecord>();
  readonly movements = new Map<string, Movement>();
  readonly open = new Map<string, Left>();
  /** The first frame that does not follow from those before it; null: none. */
  problem: string | null = null;
  calls = 0;
  /** Every transfer in its order, with the id of its call or movement. */
  readonly entries: (Transfer & { readonly ref: string })[] = [];
  readonly #balances = new Map<string, Balance>();

  constructor(frames: readonly Frame[]) {
    for (const frame of frames) this.#apply(frame);
  }

  balanceOf(account: string): Balance {
    return this.#balances.get(account) ?? EMPTY_BALANCE;
  }

  balances(modes: ReadonlyMap<string, AccountMode>): readonly AccountBalance[] {
    return [...modes]
      .map(([account, mode]) => ({ account, mode, ...this.balanceOf(account) }))
      .sort((one, other) => (one.account < other.account ? -1 : 1));
  }

  prove(): LedgerProof {
    const problem = this.problem === null ? null : { entry: null, block: null, message: this.problem };
    return { entries: this.entries.length, blocks: 0, calls: this.calls, last: null, problem };
  }

  #apply(frame: Frame): void {
    if (frame.kind === 'hold') this.#hold(frame.draft.account, frame.prepaid, frame);
    else if (frame.kind === 'refused') this.#record(frame.record);
    else if (frame.kind === 'movement') {
      const { of, movement, prepaid } = frame;
      this.#move(movement.id, { kind: of, account: movement.account, prepaid, amount: movement.amount, released: 0n });
      if (this.movements.has(`${of} ${movement.id}`)) this.problem ??= `the ${of} ${movement.id} moved twice`;
      this.movements.set(`${of} ${movement.id}`, movement);
    } else if (frame.kind === 'end') this.#end(frame);
    else {
      const call = this.open.get(frame.call_id);
      if (call === undefined) this.problem ??= `the ${frame.kind} of call ${frame.call_id} has no hold before it`;
      else if (frame.kind === 'checkpoint') call.checkpoint = frame;
      else if (frame.kind === 'detach') {
        if (call.job !== null) this.problem ??= `the call ${frame.call_id} is detached twice`;
        call.job = frame.job;
      } else {
        const { prepaid, amount } = frame;
        this.#move(frame.call_id, { kind: 'extend', account: call.draft.account, prepaid, amount, released: 0n });
        call.amount += amount;
        call.extensions += 1;
      }
    }
  }

  #hold(account: string, prepaid: boolean, { draft, amount }: Pick<UnendedCall, 'draft' | 'amount'>): void {
    this.#move(draft.request_id, { kind: 'hold', account, prepaid, amount, released: 0n });
    if (this.open.has(draft.request_id) || this.records.has(draft.request_id))
      this.problem ??= `the call ${draft.request_id} is held twice`;
    this.open.set(draft.request_id, { draft, amount, extensions: 0, checkpoint: null, job: null });
  }

  #end({ record, hold, posted, released, writtenOff }: Extract<Frame, { kind: 'end' }>): void {
    const { request_id, account } = record;
    if (hold !== null) this.#hold(account, hold.prepaid, { draft: record, amount: hold.amount });
    const held = this.open.get(request_id)?.amount;
    if (held !== posted + released)
      this.problem ??= `the end of call ${request_id} disposes of ${posted + released}, but ${held} are held`;
    const common = { account, prepaid: false };
    if (writtenOff > 0n) this.#move(request_id, { ...common, kind: 'absorb', amount: writtenOff, released: 0n });
    this.#move(request_id, { ...common, kind: posted > 0n ? 'post' : 'void', amount: posted, released });
    this.calls += 1;
    this.open.delete(request_id);
    this.#record(record);
  }

  #record(record: CallRecord): void {
    if (this.records.has(record.request_id)) this.problem ??= `the call ${record.request_id} has two records`;
    this.records.set(record.request_id, record);
    const { account } = record;
    const amount = sumAttempts(record);
    if (amount > 0n)
      this.#move(record.request_id, { kind: 'absorb_attempts', account, prepaid: false, amount, released: 0n });
  }

  #move(ref: string, transfer: Transfer): void {
    this.entries.push({ ...transfer, ref });
    const folded = foldBalance(this.balanceOf(transfer.account), transfer);
    if (folded instanceof StoreError) this.problem ??= `${transfer.kind} of ${transfer.account}: ${folded.message}`;
    else this.#balances.set(transfer.account, folded);
  }
}
