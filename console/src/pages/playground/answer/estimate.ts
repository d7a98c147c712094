/**
 * Estimates the cost of an answer so far: from the provider's counts when available, else from the length of the text.
 */
import { parsePrice } from '../../../lib/money.ts';
import type { PriceView } from '../../models/model-facts.ts';
import type { Answer, AnswerUsage } from './answer.ts';

/** For English text; lower for other scripts. */
const CHARS_PER_TOKEN = 4;

export interface Estimate {
  readonly picoUsd: bigint;
  readonly outputTokens: number;
  /** The provider has not reported counts yet. */
  readonly isGuess: boolean;
}

/** Null when the model has no price. */
export function estimateCost(price: PriceView | null, promptChars: number, answer: Answer): Estimate | null {
  const isGuess = answer.usage === null || (answer.finish === null && !answer.isComplete);
  const guessed = guessUsage(promptChars, answer);
  const usage =
    answer.usage === null
      ? guessed
      : isGuess
        ? { ...answer.usage, output: Math.max(answer.usage.output, guessed.output) }
        : answer.usage;
  if (price === null) return null;
  return { picoUsd: price.free ? 0n : costOf(price, usage), outputTokens: usage.output, isGuess };
}

function guessUsage(promptChars: number, { text, reasoning, toolCalls }: Answer): AnswerUsage {
  const chars =
    text.length + reasoning.length + toolCalls.reduce((sum, { name, input }) => sum + name.length + input.length, 0);
  return {
    input: Math.ceil(promptChars / CHARS_PER_TOKEN),
    cacheRead: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: Math.ceil(chars / CHARS_PER_TOKEN),
    reasoning: 0,
  };
}

function costOf(price: PriceView, usage: AnswerUsage): bigint {
  const rate = (text: string | null, otherwise: bigint) =>
    text === null ? otherwise : (parsePrice(text) ?? otherwise);
  const input = rate(price.input, 0n);
  const output = rate(price.output, 0n);
  return (
    BigInt(usage.input) * input +
    BigInt(usage.cacheRead) * rate(price.cache_read, input) +
    BigInt(usage.cacheWrite5m) * rate(price.cache_write_5m, input) +
    BigInt(usage.cacheWrite1h) * rate(price.cache_write_1h, input) +
    BigInt(usage.output - usage.reasoning) * output +
    BigInt(usage.reasoning) * rate(price.reasoning, output)
  );
}
