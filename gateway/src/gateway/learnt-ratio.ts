/**
 * Owns how many bytes of output a token of each upstream model takes, learnt from answers that upstream counted. For
 * metering streams and for holds, never for a bill where upstream gave a number.
 */
const BYTES_PER_TOKEN_START = 4;
const BYTES_PER_TOKEN_MIN = 1;
const BYTES_PER_TOKEN_MAX = 8;
/** Shorter answers say little. */
const TOKENS_MIN = 16;
/** How much one answer moves what is known. */
const WEIGHT = 1 / 16;
const MODELS_MAX = 10_000;

export class LearntRatio {
  readonly #bytesPerToken = new Map<string, number>();

  /** Tokens in so many bytes of output of the model, rounded up. */
  tokensIn(model: string, bytes: number): number {
    return Math.ceil(bytes / (this.#bytesPerToken.get(model) ?? BYTES_PER_TOKEN_START));
  }

  /** An answer came whole: `tokens` are upstream's own, less those of reasoning that was not shown. */
  learn(model: string, bytes: number, tokens: number): void {
    if (tokens < TOKENS_MIN || bytes === 0) return;
    const known = this.#bytesPerToken.get(model);
    if (known === undefined && this.#bytesPerToken.size >= MODELS_MAX) return;
    const found = Math.min(BYTES_PER_TOKEN_MAX, Math.max(BYTES_PER_TOKEN_MIN, bytes / tokens));
    const before = known ?? BYTES_PER_TOKEN_START;
    this.#bytesPerToken.set(model, before + (found - before) * WEIGHT);
  }
}
