/**
 * Owns watching whether upstreams' counts of prompts drift from our own: a small sample of calls, summed up for each model and
 * day (UTC). Counts nothing itself, and no bill knows of it. Money design, "Who pays".
 */
import type { Usage } from '../generation/usage.ts';
import type { PromptToCount } from './count-prompt.ts';
import type { PromptCounter } from './prompt-counter.ts';

export interface Drift {
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** `2026-11-20`. */
  readonly day: string;
  readonly calls: number;
  readonly ownTokens: number;
  readonly providerTokens: number;
  /** Samples of that day, of all models, that were not counted: too large, too many at once, or not readable. */
  readonly dropped: number;
}

export interface SampledPrompt extends PromptToCount {
  readonly provider: string;
}

export interface DriftParts {
  readonly counter: PromptCounter;
  /** Told once for each model and day. Must not throw. */
  tell(drift: Drift): void;
  /** One call in so many is sampled. Default: 200. */
  readonly oneIn?: number;
}

interface Sums {
  calls: number;
  own: number;
  told: number;
  isTold: boolean;
}

const ONE_IN = 200;
const BODY_BYTES_MAX = 1024 * 1024;
const MODELS_MAX = 10_000;
/** Below these a model's sums say little. */
const CALLS_MIN = 20;
const TOKENS_MIN = 50_000;
/** More than a twentieth apart, 5 %, is an alarm. */
const ALARM_PART = 20;
/** Of the random end of a request id: many more values than calls in a sample. */
const RANDOM_DIGITS = 6;

export class DriftWatch {
  readonly #parts: DriftParts;
  readonly #oneIn: number;
  readonly #sums = new Map<string, Sums>();
  #day = '';
  #dropped = 0;

  constructor(parts: DriftParts) {
    this.#parts = parts;
    this.#oneIn = parts.oneIn ?? ONE_IN;
  }

  /** Whether the call is of the sample: the same for the same id. Images are only guessed at, so such prompts are not. */
  takes(requestId: string, mediaParts: number): boolean {
    return mediaParts === 0 && Number.parseInt(requestId.slice(-RANDOM_DIGITS), 16) % this.#oneIn === 0;
  }

  /** A sampled call is complete and upstream counted it. The body is copied. */
  note(prompt: SampledPrompt, usage: Usage, nowMs: number): void {
    const day = new Date(nowMs).toISOString().slice(0, 'yyyy-mm-dd'.length);
    if (day !== this.#day) this.#begin(day);
    if (
      prompt.body.length > BODY_BYTES_MAX ||
      !this.#parts.counter.count(prompt, (own) => this.#add(prompt, usage, day, own))
    )
      this.#dropped += 1;
  }

  close(): void {
    this.#parts.counter.close();
  }

  #begin(day: string): void {
    this.#day = day;
    this.#sums.clear();
    this.#dropped = 0;
  }

  #add({ provider, model }: SampledPrompt, usage: Usage, day: string, own: number | null): void {
    // The day can have turned while it was counted.
    if (day !== this.#day) return;
    const name = `${provider} ${model}`;
    const sums = this.#sums.get(name) ?? { calls: 0, own: 0, told: 0, isTold: false };
    if (own === null || (sums.calls === 0 && this.#sums.size >= MODELS_MAX)) {
      this.#dropped += 1;
      return;
    }
    this.#sums.set(name, sums);
    sums.calls += 1;
    sums.own += own;
    sums.told += usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
    if (sums.isTold || !isDrift(sums)) return;
    sums.isTold = true;
    const { calls, own: ownTokens, told: providerTokens } = sums;
    this.#parts.tell({ provider, model, day, calls, ownTokens, providerTokens, dropped: this.#dropped });
  }
}

function isDrift({ calls, own, told }: Sums): boolean {
  if (calls < CALLS_MIN || own < TOKENS_MIN || told < TOKENS_MIN) return false;
  return Math.abs(own - told) * ALARM_PART > told;
}
