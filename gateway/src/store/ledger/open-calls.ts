/**
 * Holds the calls that have money set aside, and appends their frames. Money that a frame takes is taken at once, and
 * given back if the frame is refused; money that it gives back is free once the frame is durable. So no order of
 * refusals lets an account spend what the journal does not show.
 */

import type { FrameWaiter, Journal } from '../ports/journal.ts';
import type { Checkpoint, DetachedCall, DetachedJob, Detachment, Hold, Settlement } from '../ports/ledger.ts';
import { ConstraintViolation, createStoreError, type StoreError, Unavailable } from '../ports/store-errors.ts';
import { endUnended, type UnendedCall } from './end-unended.ts';
import { absorb, type BalanceBook, type BookAccount, endHold, sumAttempts, take } from './fold-balance.ts';

/** How long a hold waits for its call's end, to go into the same frame. */
const LAZY_MS = 5;

type Resolve = () => void;
type Reject = (failure: StoreError) => void;

/** A call from its hold until its end is durable. The waiter of its end frame. */
class OpenCall implements FrameWaiter, UnendedCall {
  checkpoint: UnendedCall['checkpoint'] = null;
  extensions = 0;
  /** The hold's own frame: none; on its way to the disk, and may be refused; or never given up. */
  holdFrame: 'none' | 'waiting' | 'certain' = 'none';
  /** Told once the hold of a stream is on the disk, by its own frame or by that of its end; null: no one waits. */
  keeper: { readonly resolve: Resolve; readonly reject: Reject } | null = null;
  /** The end that is on its way to the disk. */
  end: Settlement | null = null;
  /** Frames of the hold or an extension on their way to the disk. */
  waiting = 0;
  /** To be ended as soon as nothing is on its way. */
  isAbandoned = false;
  /** Set once its detachment is durable: only a settlement ends it from then on. */
  job: DetachedJob | null = null;
  #resolve!: Resolve;
  #reject!: Reject;

  constructor(
    private readonly calls: OpenCalls,
    readonly draft: Hold['draft'],
    public amount: bigint,
    readonly account: BookAccount,
    private readonly wasPrepaid: boolean,
  ) {}

  /**
   * Whether the balance must bear the hold at its frame's place in the journal. Not if the account has turned postpaid
   * since: frames of calls that overdraw it may precede the hold's.
   */
  get prepaid(): boolean {
    return this.wasPrepaid && this.account.prepaid;
  }

  endBy(settlement: Settlement, resolve: Resolve, reject: Reject): void {
    this.end = settlement;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onDurable(): void {
    this.calls.ended(this);
    this.#resolve();
  }

  onRefused(failure: StoreError): void {
    this.calls.reopen(this);
    this.#reject(failure);
  }
}

export class OpenCalls {
  readonly #open = new Map<string, OpenCall>();
  /** Calls whose hold has no frame yet. */
  #lazy: OpenCall[] = [];
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(
    private readonly journal: Journal,
    private readonly book: BalanceBook,
  ) {}

  has(call_id: string): boolean {
    return this.#open.has(call_id);
  }

  /**
   * Sets the money aside. Its frame waits for the call's end. Resolves once it is durable; null: the call does not
   * stream, and no one waits. @throws StoreError
   */
  hold({ draft, amount }: Hold): Promise<void> | null {
    if (this.#isClosed) throw new Unavailable('closed', 'The ledger has been closed.');
    const { request_id } = draft;
    const account = this.book.find(draft.account);
    if (this.#open.has(request_id))
      throw new ConstraintViolation('conflict', `The call ${request_id} is held already.`);
    const refused = take(account, 'hold', amount);
    if (refused !== null) throw refusal(`The call ${request_id} was not held`, refused);
    const call = new OpenCall(this, draft, amount, account, account.prepaid);
    this.#open.set(request_id, call);
    this.journal.provideFor(this.#open.size);
    this.#holdLater(call);
    if (!draft.stream) return null;
    return new Promise((resolve, reject) => {
      call.keeper = { resolve, reject };
    });
  }

  /** Appends the call's hold now, if it still waits for the call's end. */
  writeHold(call_id: string): void {
    const call = this.#open.get(call_id);
    if (call !== undefined && call.end === null) this.#writeHold(call);
  }

  /** @throws StoreError */
  extend(call_id: string, nth: number, amount: bigint): Promise<void> {
    const call = this.#require(call_id);
    if (nth !== call.extensions + 1)
      throw new ConstraintViolation('conflict', `The hold of call ${call_id} is not at its extension ${nth}.`);
    const refused = take(call.account, 'extend', amount);
    if (refused !== null) throw refusal(`The hold of call ${call_id} was not extended`, refused);
    this.#writeHold(call);
    call.amount += amount;
    call.extensions = nth;
    return this.#appendTaking(call, amount, 'extend', () => {
      call.amount -= amount;
      call.extensions -= 1;
    });
  }

  /** Not waited for: a lost checkpoint costs the operator the output since the one before. @throws StoreError */
  checkpoint(checkpoint: Checkpoint): void {
    const call = this.#require(checkpoint.call_id);
    this.#writeHold(call);
    call.checkpoint = checkpoint;
    // After a refused hold this frame would belong to no call.
    // While the disk is away, frames without a waiter pile up in memory: this one is superseded by the next.
    if (call.holdFrame === 'certain' && this.journal.writable())
      this.journal.append({ kind: 'checkpoint', ...checkpoint }, null);
  }

  /** @throws StoreError */
  detach({ call_id, job, stored }: Detachment, resolve: (detached: DetachedCall) => void, reject: Reject): void {
    const call = this.#require(call_id);
    if (call.job !== null || call.waiting > 0)
      throw new ConstraintViolation('conflict', `The call ${call_id} is detached already, or is being held.`);
    this.#writeHold(call);
    call.waiting += 1;
    const waiter: FrameWaiter = {
      onDurable: () => {
        call.waiting -= 1;
        call.isAbandoned = false;
        call.job = job;
        resolve(call as OpenCall & DetachedCall);
      },
      onRefused: (failure) => {
        call.waiting -= 1;
        reject(failure);
        this.#endAbandoned(call);
      },
    };
    const frame = { kind: 'detach', call_id, at_ms: Date.now(), job } as const;
    this.journal.append(stored === undefined ? frame : { ...frame, stored }, waiter);
  }

  readDetached(): readonly DetachedCall[] {
    const detached = [...this.#open.values()].filter((call): call is OpenCall & DetachedCall => call.job !== null);
    return detached.sort((one, other) => (one.draft.request_id < other.draft.request_id ? -1 : 1));
  }

  /** @throws StoreError */
  settle(settlement: Settlement, resolve: Resolve, reject: Reject): void {
    const { record, posted, released } = settlement;
    const call = this.#require(record.request_id);
    if (posted + released !== call.amount || record.account !== call.account.id)
      throw new ConstraintViolation(
        'invalid',
        `The call ${record.request_id} holds ${call.amount} nano-USD of account ${call.account.id}; a settlement that posts ${posted} and releases ${released} of account ${record.account} does not fit it.`,
      );
    call.endBy(settlement, resolve, reject);
    this.#appendEnd(call, settlement, call);
  }

  /** Ends a call whose hold may not have been stored. @throws StoreError */
  settleUnheld(settlement: Settlement): void {
    const { record, posted, writtenOff } = settlement;
    if (posted !== 0n)
      throw new ConstraintViolation(
        'invalid',
        `The settlement of call ${record.request_id}, whose hold may not have been stored: found posted ${posted}, expected 0. Write its cost off.`,
      );
    const account = this.book.find(record.account);
    const call = this.#open.get(record.request_id) ?? new OpenCall(this, record, 0n, account, account.prepaid);
    if (call.end !== null || call.waiting > 0)
      throw new ConstraintViolation('conflict', `The call ${record.request_id} is being held or settled.`);
    this.#endNow(call, { ...settlement, released: call.amount, writtenOff });
  }

  /** Ends the call as a restart would; does nothing for a call that holds nothing. */
  abandon(call_id: string): void {
    const call = this.#open.get(call_id);
    if (call === undefined || call.job !== null) return;
    call.isAbandoned = true;
    this.#endAbandoned(call);
  }

  /** Goes on with a detached call of an earlier process. */
  goOn(left: UnendedCall): void {
    const call = this.#openLeft(left);
    call.job = left.job;
    call.extensions = left.extensions;
    this.#open.set(left.draft.request_id, call);
    this.journal.provideFor(this.#open.size);
  }

  #openLeft({ draft, amount }: UnendedCall): OpenCall {
    const account = this.book.find(draft.account);
    const call = new OpenCall(this, draft, amount, account, account.prepaid);
    call.holdFrame = 'certain';
    return call;
  }

  /** Ends a call of the previous process, whose hold is in the journal. Returns whether anything was posted. */
  endLeft(left: UnendedCall, error: string): boolean {
    const call = this.#openLeft(left);
    const settlement = endUnended(left, error);
    this.#endNow(call, settlement);
    return settlement.posted > 0n;
  }

  /** Appends the holds that wait for their end, and takes no more; call before the journal is closed. */
  close(): void {
    this.writeHolds();
    this.#isClosed = true;
  }

  /** Appends the holds that wait for their end. */
  writeHolds(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const waited = this.#lazy;
    this.#lazy = [];
    for (const call of waited) {
      if (call.end !== null || !this.#isOpen(call)) continue;
      try {
        this.#writeHold(call);
      } catch {
        // A frame that cannot be written: the hold stays in memory for the call's end, which is refused to its waiter.
      }
    }
  }

  /** Called by the call when its end is durable. */
  ended({ draft, account, end, keeper }: OpenCall): void {
    if (end !== null) {
      endHold(account, end.posted, end.released);
      absorb(account, 'absorb', end.writtenOff);
      absorb(account, 'absorb_attempts', sumAttempts(end.record));
    }
    keeper?.resolve();
    this.#open.delete(draft.request_id);
    this.journal.provideFor(this.#open.size);
    // Nothing waits any more: at low load the timer would wake the process once per call.
    if (this.#open.size === 0) this.writeHolds();
  }

  /** Called by the call when its end was refused. */
  reopen(call: OpenCall): void {
    call.end = null;
    // Without a frame the hold stays in memory, as that of a call that does not stream. A frame's own outcome decides.
    if (call.holdFrame === 'none') {
      call.keeper?.resolve();
      call.keeper = null;
    }
    if (!this.#isOpen(call)) return;
    if (call.holdFrame === 'none') this.#holdLater(call);
    this.#endAbandoned(call);
  }

  #isOpen(call: OpenCall): boolean {
    return this.#open.get(call.draft.request_id) === call;
  }

  /** @throws ConstraintViolation `conflict` where the call holds nothing, is being settled, or is abandoned. */
  #require(call_id: string): OpenCall {
    const call = this.#open.get(call_id);
    if (call === undefined || call.end !== null || call.isAbandoned)
      throw new ConstraintViolation('conflict', `The call ${call_id} holds nothing, or is settled already.`);
    return call;
  }

  #holdLater(call: OpenCall): void {
    if (this.#isClosed) return;
    this.#lazy.push(call);
    this.#timer ??= setTimeout(() => this.writeHolds(), LAZY_MS);
  }

  #writeHold(call: OpenCall): void {
    if (call.holdFrame !== 'none') return;
    const { draft, amount, prepaid, keeper } = call;
    if (keeper !== null) {
      this.#appendTaking(call, amount, 'hold', () => this.#open.delete(draft.request_id)).then(
        keeper.resolve,
        keeper.reject,
      );
      return;
    }
    this.journal.append({ kind: 'hold', draft, amount, prepaid }, null);
    call.holdFrame = 'certain';
  }

  /** Appends the frame of a hold or extension, whose money is taken already; `undo` takes back the rest of it. */
  #appendTaking(call: OpenCall, amount: bigint, kind: 'hold' | 'extend', undo: () => void): Promise<void> {
    const { draft, account, prepaid } = call;
    if (kind === 'hold') call.holdFrame = 'waiting';
    call.waiting += 1;
    return new Promise((resolve, reject) => {
      const waiter: FrameWaiter = {
        onDurable: () => {
          call.waiting -= 1;
          call.holdFrame = 'certain';
          resolve();
          this.#endAbandoned(call);
        },
        onRefused: (failure) => {
          call.waiting -= 1;
          endHold(account, 0n, amount);
          undo();
          reject(failure);
          this.#endAbandoned(call);
        },
      };
      if (kind === 'hold') this.journal.append({ kind, draft, amount, prepaid }, waiter);
      else {
        const { request_id: call_id } = draft;
        const at_ms = Date.now();
        this.journal.append({ kind, call_id, nth: call.extensions, amount, prepaid: account.prepaid, at_ms }, waiter);
      }
    });
  }

  #endAbandoned(call: OpenCall): void {
    if (!call.isAbandoned || call.end !== null || call.waiting > 0 || !this.#isOpen(call)) return;
    this.#endNow(call, endUnended(call, 'gateway_fault'));
  }

  /** Ends the call by a frame without a waiter: the journal never gives it up. */
  #endNow(call: OpenCall, settlement: Settlement): void {
    // A frame that cannot be written throws: the call can be ended otherwise then.
    this.#appendEnd(call, settlement, null);
    call.end = settlement;
    this.ended(call);
  }

  #appendEnd(call: OpenCall, settlement: Settlement, waiter: FrameWaiter | null): void {
    const { record, posted, released, writtenOff, stored } = settlement;
    const { amount, prepaid } = call;
    const hold = call.holdFrame === 'none' ? { amount, prepaid } : null;
    const end = { kind: 'end', record, hold, posted, released, writtenOff, at_ms: Date.now() } as const;
    this.journal.append(stored === undefined ? end : { ...end, stored }, waiter);
  }
}

function refusal(what: string, { kind, message }: StoreError): StoreError {
  return createStoreError(kind, `${what}: ${message}.`);
}
