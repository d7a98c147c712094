/**
 * Owns keeping a stream within what is held for it: asks for the next slice before the last one is used up, holds back what
 * nothing covers, and tells how far the stream has come. Sends nothing itself.
 */
import { reasonOfRefusal } from '../../admission/refusal-reason.ts';
import type { HoldSlice } from '../../billing/reserve.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import type { StreamObserver } from '../../protocols/protocol.ts';
import type { LimitRefusal } from '../../store/ports/limits.ts';
import { estimateTokens } from '../attempt/estimate-tokens.ts';
import type { Call } from '../call.ts';
import type { Gate } from '../deps.ts';
import type { CallMoney } from '../money/call-money.ts';

/** `refusal`: which budget or balance had no room; null: all had. */
interface ExtensionAnswer {
  readonly granted: boolean;
  readonly refusal: LimitRefusal | null;
}

const GRANTED: ExtensionAnswer = { granted: true, refusal: null };

export interface MeterParts {
  readonly money: CallMoney;
  readonly observer: Pick<StreamObserver, 'facts'>;
  /** Tokens in so many bytes of this model's output. */
  tokensIn(bytes: number): number;
  /** Our estimate of the prompt, until upstream counts it. */
  readonly inputTokens: number;
  /** What was held back may go out. */
  onGranted(): void;
  /** The stream must end here. */
  onRefused(failure: CallFailure): void;
}

/** How often a stream's progress is noted for the case that this process dies. Money design, "Life of a call". */
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

  /** Whether all that upstream has produced so far is held for. Where it is not, one of the two outcomes follows. */
  covers(): boolean {
    const { money, observer, tokensIn } = this.#parts;
    const facts = observer.facts();
    const produced = tokensIn(facts.outputBytes);
    this.#checkpoint(produced, facts.usageSoFar);
    if (!this.#asking) this.#ask(produced);
    return produced <= money.allowedTokens;
  }

  /** Whether so many more bytes of output would still be held for. Asks for nothing. */
  coversMore(bytes: number): boolean {
    const { money, observer, tokensIn } = this.#parts;
    return tokensIn(observer.facts().outputBytes + bytes) <= money.allowedTokens;
  }

  /** So much has arrived that is still unread, as a share of what was read: the next slice is to cover it where it may. */
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
        onRefused(new CallFailure('store_away', 'the call could not be paid for further; try again', { cause })),
    );
    // What waited is read here, outside of upstream's connection, which would have caught its fault.
    answered.catch((cause: unknown) =>
      onRefused(new CallFailure('gateway_fault', 'the gateway failed; this is not your fault', { cause })),
    );
  }

  /** A burst is covered at once, or else slice by slice as far as it goes. */
  async #extend(wider: HoldSlice, slice: HoldSlice): Promise<ExtensionAnswer> {
    const { money } = this.#parts;
    const granted = (await money.extend(wider)) || (wider.amount > slice.amount && (await money.extend(slice)));
    return granted ? GRANTED : { granted, refusal: await money.explainRefusal(slice) };
  }

  /** More may have come while the slice was asked for. */
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

/** Null: all that may come is held for, or nothing has to be. */
export function openMeter(
  { money, route, facts }: Call,
  { desk }: Pick<Gate, 'desk'>,
  observer: StreamObserver,
  outcomes: Pick<MeterParts, 'onGranted' | 'onRefused'>,
): StreamMeter | null {
  if (money === null || !money.isMetered) return null;
  const upstream = route?.upstream ?? null;
  return new StreamMeter({
    money,
    observer,
    tokensIn: (bytes) => desk.ratio.tokensIn(upstream, bytes),
    inputTokens: estimateTokens(facts?.inputBytes ?? 0),
    ...outcomes,
  });
}
