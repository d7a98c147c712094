/**
 * Estimates the bytes of output per token for each upstream, learned from answers that upstream counted. Used to meter
 * streams and size holds; never to bill where upstream reported a number.
 */
import type { Upstream } from '../../providers/provider.ts';

/**
 * Providers count the same model's tokens differently and may hide some of them, so ratios are not shared between
 * providers.
 */
export type CountedBy = Pick<Upstream, 'provider' | 'model'>;

const BYTES_PER_TOKEN_START = 4;
const BYTES_PER_TOKEN_MAX = 8;
/**
 * Samples outside this range are ignored: part of the counted output was not shown, or part of the shown output was not
 * counted. Recorded text-only answers have at least 1.75 bytes per token (90% between 2.2 and 5.3); those below hid
 * some output. Chinese has three bytes per character. Honest output below the range (base64, single digits, tool calls,
 * whose framing has tokens but no bytes) is much rarer, so a model's other answers predict its next one better.
 */
const SAMPLE_MIN = 1.5;
const SAMPLE_MAX = 16;
/** Shorter answers are not reliable. */
const TOKENS_MIN = 16;
/** Weight of one answer in the moving average. */
const WEIGHT = 1 / 16;
const MODELS_MAX = 10_000;

export class TokenRatio {
  readonly #byProvider = new Map<string, Map<string, number>>();
  #models = 0;

  /** Tokens in this many bytes of output, rounded up. Null: unknown upstream, default ratio. */
  tokensIn(upstream: CountedBy | null, bytes: number): number {
    const known = upstream === null ? undefined : this.#byProvider.get(upstream.provider)?.get(upstream.model);
    return Math.ceil(bytes / (known ?? BYTES_PER_TOKEN_START));
  }

  /** Learns from a complete answer: `bytes` of it were shown, and `tokens` is upstream's own count of exactly these. */
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

/** Estimates tokens where upstream reports no count. */

const BYTES_PER_TOKEN = 4;

/** Tokens in this many bytes of text, rounded up. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
