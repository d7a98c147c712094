/**
 * Keeps a stream within its hold: requests the next slice before the last one is used up, holds back output that is not
 * covered, and checkpoints progress. Sends nothing itself.
 */
import { reasonOfRefusal } from '../../admission/limit-messages.ts';
import type { HoldSlice } from '../../billing/reserve.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import type { StreamObserver } from '../../protocols/upstream-protocol.ts';
import type { LimitRefusal } from '../../store/ports/limits.ts';
import type { Held } from '../call.ts';
import type { CallMoney } from '../money/call-money.ts';
import { estimateTokens } from '../money/usage-checks.ts';

/** `refusal`: the budget or balance that had no room; null: none refused. */
interface ExtensionAnswer {
  readonly granted: boolean;
  readonly refusal: LimitRefusal | null;
}

const GRANTED: ExtensionAnswer = { granted: true, refusal: null };

export interface MeterParts {
  readonly money: CallMoney;
  readonly observer: Pick<StreamObserver, 'facts' | 'preview'>;
  /** Tokens in this many bytes of the model's output. */
  tokensIn(bytes: number): number;
  /** Our estimate of the prompt tokens, until upstream reports them. */
  readonly inputTokens: number;
  /** Held-back output may go out. */
  onGranted(): void;
  /** The stream must end here. */
  onRefused(failure: CallFailure): void;
}

/** How often a stream's progress is saved in case this process dies. Money design, "Life of a call". */
const CHECKPOINT_TOKENS = 2_000;
const CHECKPOINT_MS = 5_000;

export class StreamMeter {
  readonly #parts: MeterParts;
  #asking = false;
  #aheadShare = 0;
  #checkedTokens = 0;
  #checkedMs = performance.now();

  constructor(parts: MeterParts) {
    this.#parts = parts;
  }

  /** Whether the hold covers all output so far. If not, `onGranted` or `onRefused` follows. */
  covers(): boolean {
    const { money, observer, tokensIn } = this.#parts;
    const facts = observer.facts();
    const produced = tokensIn(facts.outputBytes);
    this.#checkpoint(produced, facts.usageSoFar);
    if (!this.#asking) this.#ask(produced);
    return produced <= money.allowedTokens;
  }

  /** Whether the hold would cover this many more bytes of output. Requests nothing. */
  coversMore(bytes: number): boolean {
    const { money, observer, tokensIn } = this.#parts;
    return tokensIn(observer.facts().outputBytes + bytes) <= money.allowedTokens;
  }

  /** The end of the consecutive records from `start` on whose output is known before they are read, and covered. */
  coveredEnd(bytes: Uint8Array, start: number): number {
    const { end, outputBytes } = this.#parts.observer.preview(bytes, start);
    return end > start && this.coversMore(outputBytes) ? end : start;
  }

  /** Sets the unread bytes that have arrived, as a share of those read: the next slice covers them if possible. */
  expect(aheadShare: number): void {
    this.#aheadShare = aheadShare;
  }

  #ask(produced: number): void {
    const { money, onRefused } = this.#parts;
    const slice = money.dueSlice(produced);
    if (slice === null) return;
    this.#asking = true;
    const wider = money.dueSlice(produced + Math.ceil(produced * this.#aheadShare)) ?? slice;
    const answered = this.#extend(wider, slice).then(
      (answer) => {
        this.#asking = false;
        this.#goOn(answer);
      },
      (cause: unknown) =>
        onRefused(new CallFailure('store_unavailable', 'the call could not be paid for further; try again', { cause })),
    );
    // Waiting bytes are read in this callback, outside upstream's connection, which would have caught their faults.
    answered.catch((cause: unknown) =>
      onRefused(new CallFailure('gateway_fault', 'the gateway failed; this is not your fault', { cause })),
    );
  }

  /** Tries to cover a burst at once, otherwise slice by slice. */
  async #extend(wider: HoldSlice, slice: HoldSlice): Promise<ExtensionAnswer> {
    const { money } = this.#parts;
    const granted = (await money.extend(wider)) || (wider.amount > slice.amount && (await money.extend(slice)));
    return granted ? GRANTED : { granted, refusal: await money.explainRefusal(slice) };
  }

  /** More output may have arrived while the slice was requested. */
  #goOn({ granted, refusal }: ExtensionAnswer): void {
    const { money, observer, tokensIn, onGranted, onRefused } = this.#parts;
    const produced = tokensIn(observer.facts().outputBytes);
    if (produced <= money.allowedTokens) onGranted();
    else if (granted) this.#ask(produced);
    else onRefused(outOfMoney(refusal));
  }

  #checkpoint(produced: number, usageSoFar: Usage | null): void {
    const nowMs = performance.now();
    const isDue = produced - this.#checkedTokens >= CHECKPOINT_TOKENS || nowMs - this.#checkedMs >= CHECKPOINT_MS;
    if (!isDue || produced === this.#checkedTokens) return;
    this.#checkedTokens = produced;
    this.#checkedMs = nowMs;
    const before = usageSoFar ?? { ...ZERO_USAGE, input: this.#parts.inputTokens };
    this.#parts.money.checkpoint({ ...before, output: Math.max(before.output, produced) });
  }
}

function outOfMoney(refusal: LimitRefusal | null): CallFailure {
  return new CallFailure(
    'quota_exceeded',
    'insufficient quota: the balance or the budget of this API key does not cover more of this answer; it ends here',
    refusal === null ? {} : { reason: { ...reasonOfRefusal(refusal, Date.now()), kind: 'money_ran_out' } },
  );
}

/** Null: the hold covers the maximum output, or nothing has to be metered. */
export function openMeter(
  { money, target, facts, deps }: Held,
  observer: StreamObserver,
  outcomes: Pick<MeterParts, 'onGranted' | 'onRefused'>,
): StreamMeter | null {
  if (!money.isMetered) return null;
  const { ratio } = deps.billing;
  return new StreamMeter({
    money,
    observer,
    tokensIn: (bytes) => ratio.tokensIn(target.upstream, bytes),
    inputTokens: estimateTokens(facts.inputBytes),
    ...outcomes,
  });
}
