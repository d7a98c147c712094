/**
 * Manages the money of one call from its hold to its single settlement: the held amount, further slices of a stream,
 * and the split at the end. Decides no caps and keeps no ledger; it asks both.
 */

import type { Admission } from '../../admission/admission.ts';
import type { NanoUsd } from '../../billing/money.ts';
import type { Price } from '../../billing/price.ts';
import { costNanoUsd } from '../../billing/price-book.ts';
import {
  type HoldRequest,
  type HoldSlice,
  holdUnmetered,
  missingFromHold,
  nextSlice,
  settleHold,
  splitCost,
} from '../../billing/reserve.ts';
import type { Payer } from '../../billing/who-pays.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { Usage } from '../../generation/usage.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import { DEFAULT_PROTOCOL } from '../../protocols/names.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import type { CallDraft, Checkpoint, DetachedCall, DetachedJob, Ledger, Settlement } from '../../store/ports/ledger.ts';
import type { LimitRefusal } from '../../store/ports/limits.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import { InsufficientFunds } from '../../store/ports/store-errors.ts';
import type { StoredByCall } from '../../store/ports/stored-state.ts';

export interface CallMoneyParts {
  readonly admission: Admission;
  readonly ledger: Ledger;
  /** With the account's mark-up; null: the model has no price, and no limit of the call needs one. */
  readonly price: Price | null;
  readonly holdRequest: HoldRequest | null;
  readonly slice: HoldSlice;
  /** The draft kept with the hold; the call's record says the same. */
  readonly draft: CallDraft;
  /** Resolves when the hold is on disk. */
  readonly saved: Promise<void>;
  readonly unsaved: UnsavedHold;
  /** The configuration at the time of the hold. */
  readonly brokenAnswers: 'bill' | 'free';
}

/** What follows for the call where the ledger does not keep its hold. */
export interface UnsavedHold {
  /** The error that the client's failure is made from: a CallFailure where the ledger refused the hold. */
  explain(cause: unknown): unknown;
  /** Records a call whose hold the ledger refused. */
  record(failure: CallFailure, record: CallRecord): Promise<void>;
}

/** Parts are priced only at the end; until then they are priced as one. */
function withoutParts(usage: Usage): Usage {
  if (usage.extras?.parts === undefined) return usage;
  const { parts: _, ...extras } = usage.extras;
  return { ...usage, extras };
}

/** The failure for a caller whose answer was complete but whose hold was not kept. */
const AWAY = new CallFailure('store_unavailable', 'the call could not be recorded');

/** How a call is held for the target of its next attempt. */
export type TargetHold = Pick<CallMoneyParts, 'price' | 'holdRequest' | 'slice' | 'draft'>;

export class CallMoney {
  readonly brokenAnswers: 'bill' | 'free';
  /** Resolves when it is known whether the hold is on disk; null: it was known at once. */
  readonly #decided: Promise<void> | null = null;
  readonly #parts: CallMoneyParts;
  #held: NanoUsd;
  #price: Price | null;
  #holdRequest: HoldRequest | null;
  #slice: HoldSlice;
  #draft: CallDraft;
  #extensions = 0;
  #ended = false;
  /** Why the hold may not be on disk. */
  #unheld: { readonly cause: unknown } | null = null;

  constructor(parts: CallMoneyParts) {
    this.#parts = parts;
    this.#price = parts.price;
    this.#holdRequest = parts.holdRequest;
    this.#draft = parts.draft;
    this.brokenAnswers = parts.brokenAnswers;
    this.#held = parts.slice.amount;
    this.#slice = parts.slice;
    // A plain call's hold is usually accepted at once: then nothing waits for it.
    if (Bun.peek.status(parts.saved) !== 'fulfilled') this.#decided = this.#noteOutcome(parts);
  }

  async #noteOutcome({ saved, unsaved }: CallMoneyParts): Promise<void> {
    try {
      await saved;
    } catch (cause) {
      this.#unheld = { cause: unsaved.explain(cause) };
    }
  }

  /** Has the hold written if it still waits, and resolves when it is on disk. Rejects if it could not be kept. */
  async whenSaved(): Promise<void> {
    const { ledger, admission } = this.#parts;
    if (this.#decided !== null) ledger.writeHold(admission.callId);
    await this.#decided;
    const unheld = this.#whyUnheld();
    if (unheld !== null) throw unheld.cause;
  }

  /** Whether the ledger refused the hold: then `UnsavedHold.record` ends and reports the call. */
  get isRefused(): boolean {
    return this.#unheld !== null && this.#unheld.cause instanceof CallFailure;
  }

  /** Of the present target, with the account's mark-up; null: it has no price. */
  get price(): Price | null {
    return this.#price;
  }

  /** With the present target and its price. */
  get draft(): CallDraft {
    return this.#draft;
  }

  /**
   * Goes on with another target, before any output: at its price, and with the hold extended to `amount` if it is less.
   * False: the caps do not cover that, and nothing changes. Rejects like `extend`.
   */
  async moveTo(hold: TargetHold, amount: NanoUsd): Promise<boolean> {
    const missing = missingFromHold(this.#held, amount);
    if (missing > 0n && !(await this.extend({ ...hold.slice, amount: missing }))) return false;
    this.take(hold);
    return true;
  }

  /** `moveTo` where the hold covers the other target as it is; false: it does not, and nothing changes. */
  moveWithin(hold: TargetHold, amount: NanoUsd): boolean {
    if (missingFromHold(this.#held, amount) > 0n) return false;
    this.take(hold);
    return true;
  }

  /** How the call is held for its present target. */
  get hold(): TargetHold {
    return { price: this.#price, holdRequest: this.#holdRequest, slice: this.#slice, draft: this.#draft };
  }

  /** Goes back to a target that the hold has covered, before any output. */
  take({ price, holdRequest, slice, draft }: TargetHold): void {
    this.#price = price;
    this.#holdRequest = holdRequest;
    this.#slice = slice;
    this.#draft = draft;
  }

  /** Whether the stream must stay within its slices. */
  get isMetered(): boolean {
    return this.#slice.extendAtTokens !== null;
  }

  /** Output tokens that may go out before the next slice is held; infinite if nothing has to be metered. */
  get allowedTokens(): number {
    const { outputTokens, extendAtTokens } = this.#slice;
    return extendAtTokens === null ? Number.POSITIVE_INFINITY : Math.max(outputTokens, extendAtTokens);
  }

  /** The next slice of a stream that has produced this many tokens; null: none is due. */
  dueSlice(producedTokens: number): HoldSlice | null {
    const holdRequest = this.#holdRequest;
    return holdRequest === null || this.#ended
      ? null
      : nextSlice(holdRequest, this.#slice.outputTokens, producedTokens);
  }

  /** Takes the slice: true once it is durable, false if the caps or the balance do not allow it. Rejects if it cannot be kept. */
  async extend(slice: HoldSlice): Promise<boolean> {
    if (this.#ended) return false;
    const granted = this.#parts.admission.extend(slice.amount, steadyNowMs());
    if (!(granted instanceof Promise ? await granted : granted) || this.#ended) return false;
    try {
      await this.#noteExtension(slice.amount);
    } catch (fault) {
      // The ledger knows of a balance that the limits of the call do not: its account has become prepaid since.
      if (fault instanceof InsufficientFunds) return false;
      throw fault;
    }
    this.#slice = slice;
    return true;
  }

  /**
   * Holds everything that an upstream which cannot be stopped may produce; false if the caps do not allow it. Rejects
   * like `extend`.
   */
  async coverUnmetered(outputTokensMax: number | null): Promise<boolean> {
    const holdRequest = this.#holdRequest;
    return holdRequest === null || this.extend(holdUnmetered(holdRequest, this.#slice.outputTokens, outputTokensMax));
  }

  /** Output tokens that the hold covers. */
  get heldTokens(): number {
    return this.#slice.outputTokens;
  }

  /**
   * Lets the hold outlive this process: what goes on at the provider is settled after a restart too. The call may still
   * settle it. Rejects if it cannot be kept.
   */
  async detach(job: DetachedJob, stored: StoredByCall): Promise<DetachedCall> {
    await this.whenSaved();
    return this.#parts.ledger.detach({ call_id: this.#parts.admission.callId, job, stored });
  }

  /** Ends the call's part of a detached hold, which another settles. */
  leave(): void {
    if (this.#ended) throw new Error(`the money of call ${this.#parts.admission.callId} is settled already`);
    this.#ended = true;
    this.#parts.admission.leave(steadyNowMs());
  }

  /** The budget or balance that has no room for the slice; null: no longer known. */
  async explainRefusal(slice: HoldSlice): Promise<LimitRefusal | null> {
    return this.#parts.admission.explainExtension(slice.amount);
  }

  /** Saves the stream's progress, so that another process can settle the call if this one dies. */
  checkpoint(usage: Usage): void {
    const { ledger, admission } = this.#parts;
    const price = this.#price;
    if (this.#ended || price === null) return;
    const counters = withoutParts(usage);
    const cost = costNanoUsd(counters, price);
    // Losing a checkpoint costs the operator at most the output since the previous one; the next write reports a failed
    // disk.
    ledger
      .checkpoint({ call_id: admission.callId, usage: counters, cost, ...this.#targetIfMoved(price) })
      .catch(() => undefined);
  }

  /** The target of a checkpoint, where it is another than that of the hold. */
  #targetIfMoved({ version: price_version }: Price): Pick<Checkpoint, 'target'> {
    const { provider, served_model } = this.#draft;
    if (this.#draft === this.#parts.draft || provider === null || served_model === null) return {};
    return { target: { provider, served_model, price_version } };
  }

  /**
   * Ends the hold. `cost` null: the model has no price; `tokens`: all tokens used; the record states the cost. Resolves
   * when the record and the ledger entry are on disk, with what the call left at its provider (`stored`). The operator pays the part of the cost that the caps do not
   * cover, and all of it if `payer` is the operator. A second end throws. If the hold may not have been kept, nothing
   * is charged; a call that has not failed yet then fails by the rejection.
   */
  async settle(
    cost: NanoUsd | null,
    tokens: number,
    record: CallRecord,
    payer: Payer = 'account',
    stored?: StoredByCall,
  ): Promise<void> {
    const { ledger, admission } = this.#parts;
    if (this.#ended) throw new Error(`the money of call ${admission.callId} is settled already`);
    this.#ended = true;
    const unheld = this.#whyUnheld();
    if (unheld !== null) {
      await admission.settle(0n, tokens, steadyNowMs());
      return this.#settleUnheld(unheld.cause, cost ?? 0n, record);
    }
    const missing = payer === 'operator' ? 0n : missingFromHold(this.#held, cost ?? 0n);
    const granted = missing === 0n ? 0n : admission.extendUpTo(missing, steadyNowMs());
    const extensible = granted instanceof Promise ? await granted : granted;
    const { extension, posted, released, writtenOff } =
      payer === 'operator'
        ? splitCost(this.#held, cost ?? 0n)
        : settleHold({ held: this.#held, cost: cost ?? 0n, extensible });
    let charged = posted;
    const plain = { record, posted, released, writtenOff };
    const settlement = stored === undefined ? plain : { ...plain, stored };
    try {
      if (extension === 0n) await ledger.settle(settlement);
      else charged = await this.#settleExtended(extension, settlement, cost ?? 0n);
    } catch (fault) {
      // A failed hold is the cause of later failures; the two often share a commit.
      await this.#decided;
      const late = this.#whyUnheld();
      if (late === null) {
        this.#abandon();
        throw fault;
      }
      charged = 0n;
      await this.#settleUnheld(late.cause, cost ?? 0n, record);
    } finally {
      const given = admission.settle(charged, tokens, steadyNowMs());
      if (given instanceof Promise) await given;
    }
  }

  /**
   * Ends the hold after an extension that the caps allow. Where the account has no money for it, because it has become
   * prepaid or has less than its limits know, the operator pays the rest. Returns what was posted.
   */
  async #settleExtended(extension: NanoUsd, settlement: Settlement, cost: NanoUsd): Promise<NanoUsd> {
    const { ledger } = this.#parts;
    const extended = this.#noteExtension(extension);
    try {
      await Promise.all([extended, ledger.settle(settlement)]);
      return settlement.posted;
    } catch (fault) {
      const refusal = await extended.catch((cause: unknown) => cause);
      if (!(refusal instanceof InsufficientFunds)) throw fault;
      const { posted, released, writtenOff } = settleHold({ held: this.#held, cost, extensible: 0n });
      await ledger.settle({ ...settlement, posted, released, writtenOff });
      return posted;
    }
  }

  #whyUnheld(): { readonly cause: unknown } | null {
    return this.#unheld;
  }

  /**
   * If the ledger refused the hold, only a record is kept; otherwise the operator pays the cost and the record says so.
   */
  async #settleUnheld(cause: unknown, cost: NanoUsd, record: CallRecord): Promise<void> {
    const { ledger, unsaved } = this.#parts;
    const hasFailed = record.error !== null;
    if (cause instanceof CallFailure) {
      this.#abandon();
      await unsaved.record(cause, record);
      throw cause;
    }
    try {
      const reported: CallRecord = hasFailed
        ? record
        : {
            ...record,
            status: CLIENT_PROTOCOLS[record.protocol === 'batches' ? DEFAULT_PROTOCOL : record.protocol].statusOf(AWAY),
            error: AWAY.kind,
            reason: { kind: 'ours', message: AWAY.message, at_step: 'answer' },
          };
      await ledger.settleUnheld({ record: reported, posted: 0n, released: this.#held, writtenOff: cost });
    } catch {
      this.#abandon();
      throw cause;
    }
    if (!hasFailed) throw cause;
  }

  /** The caller gets a failure, so the ledger releases its hold: at once, or when the store is available again. */
  #abandon(): void {
    const { ledger, admission } = this.#parts;
    ledger.abandon(admission.callId).catch(() => undefined);
  }

  async #noteExtension(amount: NanoUsd): Promise<void> {
    this.#held += amount;
    this.#extensions += 1;
    const { ledger, admission } = this.#parts;
    try {
      await ledger.extend(admission.callId, this.#extensions, amount);
    } catch (fault) {
      // The ledger numbers only the extensions that it has kept.
      this.#held -= amount;
      this.#extensions -= 1;
      throw fault;
    }
  }
}
