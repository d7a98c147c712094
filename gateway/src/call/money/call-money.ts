/**
 * Owns the money of one call from its hold to its one settlement: what is held, what a stream may go on to produce, and how
 * the end is split. Decides no caps and keeps no ledger; both are asked.
 */

import type { Admission } from '../../admission/admission.ts';
import { costNanoUsd } from '../../billing/cost.ts';
import type { NanoUsd } from '../../billing/money.ts';
import type { Price } from '../../billing/price.ts';
import {
  bearCost,
  type HoldSlice,
  type HoldWish,
  holdUnmetered,
  missingFromHold,
  nextSlice,
  settleHold,
} from '../../billing/reserve.ts';

import type { Payer } from '../../billing/who-pays.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { Usage } from '../../generation/usage.ts';
import { steadyNowMs } from '../../lib/steady-clock.ts';
import type { CallDraft, Ledger } from '../../store/ports/ledger.ts';
import type { LimitRefusal } from '../../store/ports/limits.ts';
import type { CallRecord } from '../../store/ports/records.ts';

export interface CallMoneyParts {
  readonly admission: Admission;
  readonly ledger: Ledger;
  /** With the account's mark-up; null: the model has none, and nothing that binds needs one. */
  readonly price: Price | null;
  readonly wish: HoldWish | null;
  readonly slice: HoldSlice;
  /** What was kept with the hold; the call's record says the same. */
  readonly draft: CallDraft;
  /** On the disk: before it, no byte goes to the client. Where it rejects, whoever awaits it and the settlement are told. */
  readonly durable: Promise<void>;
  /** What the configuration said when the call was held. */
  readonly brokenAnswers: 'bill' | 'free';
}

/** Parts are priced at the end only; until then they count as one. */
function withoutParts(usage: Usage): Usage {
  if (usage.apart?.parts === undefined) return usage;
  const { parts: _, ...apart } = usage.apart;
  return { ...usage, apart };
}

/** What a caller is told whose answer was whole, and whose hold was not kept. */
const AWAY = new CallFailure('store_away', 'the call could not be recorded');

export class CallMoney {
  readonly price: Price | null;
  readonly draft: CallDraft;
  readonly durable: Promise<void>;
  readonly brokenAnswers: 'bill' | 'free';
  readonly #parts: CallMoneyParts;
  #held: NanoUsd;
  #slice: HoldSlice;
  #extensions = 0;
  #ended = false;
  /** Why it is not known that the hold is on the disk. */
  #unheld: { readonly cause: unknown } | null = null;

  constructor(parts: CallMoneyParts) {
    this.#parts = parts;
    this.price = parts.price;
    this.draft = parts.draft;
    this.durable = parts.durable;
    this.brokenAnswers = parts.brokenAnswers;
    this.#held = parts.slice.amount;
    this.#slice = parts.slice;
    parts.durable.catch((cause: unknown) => {
      this.#unheld = { cause };
    });
  }

  /** A stream that is to be kept within its slices. */
  get isMetered(): boolean {
    return this.#slice.extendAtTokens !== null;
  }

  /** How many output tokens may go out before the next slice is held; infinite where nothing has to be metered. */
  get allowedTokens(): number {
    const { outputTokens, extendAtTokens } = this.#slice;
    return extendAtTokens === null ? Number.POSITIVE_INFINITY : Math.max(outputTokens, extendAtTokens);
  }

  /** The next slice of a stream that has produced so many tokens; null: it is not due. */
  dueSlice(producedTokens: number): HoldSlice | null {
    const { wish } = this.#parts;
    return wish === null || this.#ended ? null : nextSlice(wish, this.#slice.outputTokens, producedTokens);
  }

  /** Takes the slice: true once it is durable, false where the caps do not allow it. Rejects where it cannot be kept. */
  async extend(slice: HoldSlice): Promise<boolean> {
    if (this.#ended) return false;
    const asked = this.#parts.admission.extend(slice.amount, steadyNowMs());
    if (!(asked instanceof Promise ? await asked : asked) || this.#ended) return false;
    await this.#noteExtension(slice.amount);
    this.#slice = slice;
    return true;
  }

  /** Holds all that an upstream may produce that cannot be stopped; false where the caps do not allow it. Rejects as `extend`. */
  async coverUnmetered(outputTokensMax: number | null): Promise<boolean> {
    const { wish } = this.#parts;
    return wish === null || this.extend(holdUnmetered(wish, this.#slice.outputTokens, outputTokensMax));
  }

  /** Which budget or balance has no room for the slice; null: that is not known any more. */
  async explainRefusal(slice: HoldSlice): Promise<LimitRefusal | null> {
    return this.#parts.admission.explainExtension(slice.amount);
  }

  /** How far the stream has come, for whoever must settle it if this process dies. */
  checkpoint(usage: Usage): void {
    const { ledger, admission } = this.#parts;
    if (this.#ended || this.price === null) return;
    const counters = withoutParts(usage);
    // Its loss costs the operator at most what came since the one before; the next write says whether the disk is away.
    ledger
      .checkpoint({ call_id: admission.callId, usage: counters, cost: costNanoUsd(counters, this.price) })
      .catch(() => undefined);
  }

  /**
   * Ends the hold: `cost` null is a call without a price, `tokens` are all it used, the record states the cost. Resolves when
   * record and post are on disk. What the caps do not cover of the cost the operator bears, and all of it where he is the
   * `payer`. A second end throws. Where it is not known that the hold was kept, nothing is charged: a caller that has not been
   * told that the call failed, is by its rejection.
   */
  async settle(cost: NanoUsd | null, tokens: number, record: CallRecord, payer: Payer = 'account'): Promise<void> {
    const { ledger, admission } = this.#parts;
    if (this.#ended) throw new Error(`the money of call ${admission.callId} is settled already`);
    this.#ended = true;
    const unheld = this.#whyUnheld();
    if (unheld !== null) {
      await admission.settle(0n, tokens, steadyNowMs());
      return this.#settleUnheld(unheld.cause, cost ?? 0n, record);
    }
    const missing = payer === 'operator' ? 0n : missingFromHold(this.#held, cost ?? 0n);
    const asked = missing === 0n ? 0n : admission.extendUpTo(missing, steadyNowMs());
    const extensible = asked instanceof Promise ? await asked : asked;
    const { extension, posted, released, absorbed } =
      payer === 'operator'
        ? bearCost(this.#held, cost ?? 0n)
        : settleHold({ held: this.#held, cost: cost ?? 0n, extensible });
    let charged = posted;
    try {
      const extended = extension === 0n ? null : this.#noteExtension(extension);
      const settled = ledger.settle({ record, posted, released, absorbed });
      await (extended === null ? settled : Promise.all([extended, settled]));
    } catch (fault) {
      // What the hold failed by is the reason for whatever failed behind it; the two often share a commit.
      await this.durable.catch(() => undefined);
      const late = this.#whyUnheld();
      if (late === null) {
        this.#abandon();
        throw fault;
      }
      charged = 0n;
      await this.#settleUnheld(late.cause, cost ?? 0n, record);
    } finally {
      await admission.settle(charged, tokens, steadyNowMs());
    }
  }

  #whyUnheld(): { readonly cause: unknown } | null {
    return this.#unheld;
  }

  /** Of a call that the ledger refused to hold nothing is kept here; else the operator bears the cost, and the record says so. */
  async #settleUnheld(cause: unknown, cost: NanoUsd, record: CallRecord): Promise<void> {
    const { ledger } = this.#parts;
    const isTold = record.error !== null;
    try {
      if (cause instanceof CallFailure) throw cause;
      const told: CallRecord = isTold
        ? record
        : {
            ...record,
            status: AWAY.status(record.protocol),
            error: AWAY.kind,
            reason: { kind: 'ours', message: AWAY.message, at_step: 'answer' },
          };
      await ledger.settleUnheld({ record: told, posted: 0n, released: this.#held, absorbed: cost });
    } catch {
      this.#abandon();
      throw cause;
    }
    if (!isTold) throw cause;
  }

  /** The caller is told that the call failed: what the ledger holds for it goes back, at once or when the store is back. */
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
      // The ledger counts the extensions that it has.
      this.#held -= amount;
      this.#extensions -= 1;
      throw fault;
    }
  }
}
