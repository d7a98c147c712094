/** A journal in memory whose disk a test steers, and the books that its durable frames make. For tests. */

import type { UnendedCall } from '../ledger/end-unended.ts';
import { type Balance, EMPTY_BALANCE, foldBalance, type Transfer } from '../ledger/fold-balance.ts';
import type { Frame, FrameWaiter, Journal } from '../ports/journal.ts';
import type { AccountBalance, AccountMode, LedgerProof, Movement } from '../ports/ledger.ts';
import type { CallRecord } from '../ports/records.ts';
import { OutcomeUnknown, StoreError, Unavailable } from '../ports/store-errors.ts';

interface Waiting {
  readonly frame: Frame;
  readonly waiter: FrameWaiter | null;
}

type Left = { -readonly [Member in keyof UnendedCall]: UnendedCall[Member] };

export class SteeredJournal implements Journal {
  readonly epoch = 1;
  durableSeq = 0;
  readonly durable: Frame[] = [];
  /** While true, frames wait for `write` or `refuse`. Otherwise they are durable at the end of the turn. */
  isHeld = false;
  /** Set: the journal takes no frames, and keeps those without a waiter. */
  failure: StoreError | null = null;
  #waiting: Waiting[] = [];
  #isDue = false;

  append(frame: Frame, waiter: FrameWaiter | null): void {
    if (this.failure !== null && waiter !== null) {
      waiter.onRefused(this.failure);
      return;
    }
    this.#waiting.push({ frame, waiter });
    if (this.isHeld || this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      if (!this.isHeld && this.failure === null) this.write();
    });
  }

  /** Makes all frames given so far durable. */
  write(): void {
    const written = this.#waiting;
    this.#waiting = [];
    if (written.length > 0) this.durableSeq += 1;
    this.durable.push(...written.map(({ frame }) => frame));
    for (const { waiter } of written) waiter?.onDurable();
  }

  /** Refuses the frames with waiters; the others stay. */
  refuse(failure: StoreError = new OutcomeUnknown('the disk failed')): void {
    const refused = this.#waiting.filter(({ waiter }) => waiter !== null);
    this.#waiting = this.#waiting.filter(({ waiter }) => waiter === null);
    for (const { waiter } of refused) waiter?.onRefused(failure);
  }

  async flush(): Promise<number> {
    if (this.failure !== null) throw new Unavailable('failed', this.failure.message);
    if (!this.isHeld) this.write();
    return this.durableSeq;
  }

  writable(): boolean {
    return this.failure === null;
  }

  provideFor(): void {}

  release(): void {}

  async close(): Promise<void> {
    this.write();
  }
}

/** What the frames of a journal say, computed from nothing but the frames. */
export class FrameBooks {
  readonly records = new Map<string, CallRecord>();
  readonly movements = new Map<string, Movement>();
  readonly open = new Map<string, Left>();
  /** The first frame that does not follow from those before it; null: none. */
  problem: string | null = null;
  entries = 0;
  calls = 0;
  readonly #balances = new Map<string, Balance>();

  constructor(frames: readonly Frame[]) {
    for (const frame of frames) this.#apply(frame);
  }

  balances(modes: ReadonlyMap<string, AccountMode>): readonly AccountBalance[] {
    return [...modes]
      .map(([account, mode]) => ({ account, mode, ...(this.#balances.get(account) ?? EMPTY_BALANCE) }))
      .sort((one, other) => (one.account < other.account ? -1 : 1));
  }

  prove(): LedgerProof {
    const problem = this.problem === null ? null : { entry: null, block: null, message: this.problem };
    return { entries: this.entries, blocks: 0, calls: this.calls, last: null, problem };
  }

  #apply(frame: Frame): void {
    if (frame.kind === 'hold') this.#hold(frame.draft.account, frame.prepaid, frame);
    else if (frame.kind === 'refused') this.#record(frame.record);
    else if (frame.kind === 'movement') {
      const { of, movement, prepaid } = frame;
      this.#move({ kind: of, account: movement.account, prepaid, amount: movement.amount, released: 0n });
      if (this.movements.has(`${of} ${movement.id}`)) this.problem ??= `the ${of} ${movement.id} moved twice`;
      this.movements.set(`${of} ${movement.id}`, movement);
    } else if (frame.kind === 'end') this.#end(frame);
    else {
      const call = this.open.get(frame.call_id);
      if (call === undefined) this.problem ??= `the ${frame.kind} of call ${frame.call_id} has no hold before it`;
      else if (frame.kind === 'checkpoint') call.checkpoint = frame;
      else {
        const { prepaid, amount } = frame;
        this.#move({ kind: 'extend', account: call.draft.account, prepaid, amount, released: 0n });
        call.amount += amount;
      }
    }
  }

  #hold(account: string, prepaid: boolean, { draft, amount }: Pick<UnendedCall, 'draft' | 'amount'>): void {
    this.#move({ kind: 'hold', account, prepaid, amount, released: 0n });
    if (this.open.has(draft.request_id) || this.records.has(draft.request_id))
      this.problem ??= `the call ${draft.request_id} is held twice`;
    this.open.set(draft.request_id, { draft, amount, checkpoint: null });
  }

  #end({ record, hold, posted, released, writtenOff }: Extract<Frame, { kind: 'end' }>): void {
    const { request_id, account } = record;
    if (hold !== null) this.#hold(account, hold.prepaid, { draft: record, amount: hold.amount });
    const held = this.open.get(request_id)?.amount;
    if (held !== posted + released)
      this.problem ??= `the end of call ${request_id} disposes of ${posted + released}, but ${held} are held`;
    const common = { account, prepaid: false };
    if (writtenOff > 0n) this.#move({ ...common, kind: 'absorb', amount: writtenOff, released: 0n });
    this.#move({ ...common, kind: posted > 0n ? 'post' : 'void', amount: posted, released });
    this.calls += 1;
    this.open.delete(request_id);
    this.#record(record);
  }

  #record(record: CallRecord): void {
    if (this.records.has(record.request_id)) this.problem ??= `the call ${record.request_id} has two records`;
    this.records.set(record.request_id, record);
  }

  #move(transfer: Transfer): void {
    this.entries += 1;
    const folded = foldBalance(this.#balances.get(transfer.account) ?? EMPTY_BALANCE, transfer);
    if (folded instanceof StoreError) this.problem ??= `${transfer.kind} of ${transfer.account}: ${folded.message}`;
    else this.#balances.set(transfer.account, folded);
  }
}
