/**
 * Owns how many bytes of output a token of each upstream takes, learnt from answers that upstream counted. For metering
 * streams and for holds, never for a bill where upstream gave a number.
 */
import type { Upstream } from '../../providers/upstream.ts';

/** Hosts count one model's tokens in ways of their own, and some hide some of them: none teaches of another. */
export type CountedBy = Pick<Upstream, 'provider' | 'model'>;

const BYTES_PER_TOKEN_START = 4;
const BYTES_PER_TOKEN_MAX = 8;
/**
 * A sample outside of these says that not all that was counted was shown, or not all that was shown was counted, and teaches
 * nothing. Recorded answers of text alone have 1.75 bytes a token or more (9 of 10 from 2.2 to 5.3), those below hid some of
 * it; Chinese has three bytes a character. What is honest and below (base64, digits told one by one, calls of tools, whose
 * frame has tokens and no bytes) is so much less common that a model's other answers tell more of its next one.
 */
const SAMPLE_MIN = 1.5;
const SAMPLE_MAX = 16;
/** Shorter answers say little. */
const TOKENS_MIN = 16;
/** How much one answer moves what is known. */
const WEIGHT = 1 / 16;
const MODELS_MAX = 10_000;

export class LearntRatio {
  readonly #byProvider = new Map<string, Map<string, number>>();
  #models = 0;

  /** Tokens in so many bytes of output, rounded up. Null: of nobody's that is known. */
  tokensIn(upstream: CountedBy | null, bytes: number): number {
    const known = upstream === null ? undefined : this.#byProvider.get(upstream.provider)?.get(upstream.model);
    return Math.ceil(bytes / (known ?? BYTES_PER_TOKEN_START));
  }

  /** An answer came whole: `bytes` of it were shown, and `tokens` are upstream's own count of just these. */
  learn({ provider, model }: CountedBy, bytes: number, tokens: number): void {
    if (tokens < TOKENS_MIN) return;
    const found = bytes / tokens;
    if (found < SAMPLE_MIN || found > SAMPLE_MAX) return;
    const models = this.#byProvider.get(provider) ?? new Map<string, number>();
    const known = models.get(model);
    if (known === undefined) {
      if (this.#models >= MODELS_MAX) return;
      this.#models += 1;
      this.#byProvider.set(provider, models);
    }
    const before = known ?? BYTES_PER_TOKEN_START;
    models.set(model, before + (Math.min(BYTES_PER_TOKEN_MAX, found) - before) * WEIGHT);
  }
}
