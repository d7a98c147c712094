/**
 * Estimates what a call would cost at a target, with and without a warm prompt cache, for the choice and its
 * explanation. No charge is made from it.
 */
import type { NanoUsd } from '../../billing/money.ts';
import { costNanoUsd, priceAt } from '../../billing/price-book.ts';
import type { Usage } from '../../generation/usage.ts';
import type { Target } from '../route.ts';
import type { RoutedRequest } from './routed-request.ts';

/** Answers whose length counts; the average moves as if it were over this many. */
const ANSWERS_COUNTED = 100;
/** Expected of a caller without answers. */
const OUTPUT_TOKENS_USUAL = 500;
const CALLERS_MAX = 10_000;

interface Average {
  tokens: number;
  answers: number;
}

/** The usual length of the answers of each route to each key. */
export class AnswerLengths {
  /** By key and route, in the order of their first answers. */
  readonly #averages = new Map<string, Average>();

  learn(model: string, keyId: string, outputTokens: number): void {
    const caller = callerOf(model, keyId);
    let average = this.#averages.get(caller);
    if (average === undefined) {
      average = { tokens: 0, answers: 0 };
      if (this.#averages.size >= CALLERS_MAX) {
        const [oldest] = this.#averages.keys();
        if (oldest !== undefined) this.#averages.delete(oldest);
      }
      this.#averages.set(caller, average);
    }
    average.answers = Math.min(ANSWERS_COUNTED, average.answers + 1);
    average.tokens += (outputTokens - average.tokens) / average.answers;
  }

  /** The tokens of output that an answer to the key is expected to have: a whole number. */
  expected(model: string, keyId: string, outputTokensMax: number | null): number {
    const average = this.#averages.get(callerOf(model, keyId));
    const tokens = Math.round(average?.tokens ?? OUTPUT_TOKENS_USUAL);
    return outputTokensMax === null ? tokens : Math.min(tokens, outputTokensMax);
  }
}

function callerOf(model: string, keyId: string): string {
  return `${keyId} ${model}`;
}

type PricedCall = Pick<RoutedRequest, 'inputTokens' | 'marks' | 'atMs'>;

/** What the call is expected to cost at the target; null: it has no price. */
export interface ExpectedCost {
  /** With the whole prompt in the provider's cache. */
  readonly warm: NanoUsd;
  /** Without; written to the cache where the request marks it. */
  readonly cold: NanoUsd;
}

export function expectCost(target: Target, request: PricedCall, outputTokens: number): ExpectedCost | null {
  const price = priceAt(target.prices, request.atMs);
  if (price === null) return null;
  const { inputTokens, marks } = request;
  const usage = { ...NOTHING, output: outputTokens };
  const counter = !marks.marksCache ? 'input' : marks.longCache ? 'cache_write_1h' : 'cache_write_5m';
  return {
    warm: costNanoUsd({ ...usage, cache_read: inputTokens }, price),
    cold: costNanoUsd({ ...usage, [counter]: inputTokens }, price),
  };
}

const NOTHING: Usage = {
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
};

/** Turns over which a return to a cheaper target must pay for its cold cache. */
const TURNS_TO_PAY_BACK = 10n;

/** Whether a conversation saves more by going back than the cold cache there costs. */
export function paysToReturn(here: ExpectedCost | null, there: ExpectedCost | null): boolean {
  if (here === null || there === null) return false;
  return TURNS_TO_PAY_BACK * (here.warm - there.warm) > there.cold - there.warm;
}
