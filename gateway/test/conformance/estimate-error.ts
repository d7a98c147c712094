/** Computes the errors of our estimate over prompts whose tokens upstream counted, and summarizes them. */
import { estimatePromptTokens } from '../../src/tokens/estimate-tokens.ts';
import { familyOf } from '../../src/tokens/token-families.ts';
import type { RecordedPrompt } from './recorded-prompts.ts';

/** Smaller prompts consist mostly of what the provider adds around them. */
export const JUDGED_TOKENS_MIN = 200;

/** Relative errors: 0.1 is a tenth too high. All are 0 without prompts. */
export interface EstimateError {
  readonly prompts: number;
  /** Over absolute errors. */
  readonly median: number;
  readonly p95: number;
  /** The mean; above 0: too high. */
  readonly bias: number;
}

/** Returns the error over the prompts that are large enough to judge. */
export function estimateError(prompts: readonly RecordedPrompt[]): EstimateError {
  const large = prompts.filter(({ promptTokens }) => promptTokens >= JUDGED_TOKENS_MIN);
  const errors = large.map(({ request, model, promptTokens }) => {
    return estimatePromptTokens(request, familyOf(model)) / promptTokens - 1;
  });
  const sizes = errors.map(Math.abs).sort((one, other) => one - other);
  const rank = (share: number) => sizes[Math.max(0, Math.ceil(sizes.length * share) - 1)] ?? 0;
  const bias = errors.reduce((sum, error) => sum + error, 0) / Math.max(1, errors.length);
  const median = ((sizes[(sizes.length - 1) >> 1] ?? 0) + (sizes[sizes.length >> 1] ?? 0)) / 2;
  return { prompts: errors.length, median, p95: rank(0.95), bias };
}

/** For humans: `29 prompts, median |error| 2.2 %, p95 5.9 %, bias +0.8 %`. */
export function describeError({ prompts, median, p95, bias }: EstimateError): string {
  if (prompts === 0) return 'no prompts';
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return `${prompts} prompts, median |error| ${percent(median)}, p95 ${percent(p95)}, bias ${bias < 0 ? '' : '+'}${percent(bias)}`;
}
