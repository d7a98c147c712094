/** Splits recorded prompts into the half that ratios are learned from and the half that tests them; computes errors. */

import { estimatePromptTokens } from '../../../src/tokens/estimate-tokens.ts';
import { familyOf, type TokenFamily } from '../../../src/tokens/token-families.ts';
import type { RecordedPrompt } from './recorded-prompts.ts';

export interface PromptHalves {
  readonly learnt: readonly RecordedPrompt[];
  readonly judged: readonly RecordedPrompt[];
}

/** Members that differ between two recordings of one prompt. */
const INCIDENTAL = new Set(['id', 'call_id', 'path', 'cache_mark']);

/**
 * Halves by a hash of the id. Identical prompts of a family are one group: they go to the half of the first, and count
 * once for each number of tokens.
 */
export function halvePrompts(prompts: readonly RecordedPrompt[]): Map<TokenFamily, PromptHalves> {
  const sides = new Map<string, boolean>();
  const seen = new Set<string>();
  const halves = new Map<TokenFamily, { learnt: RecordedPrompt[]; judged: RecordedPrompt[] }>();
  for (const prompt of prompts) {
    const family = familyOf(prompt.model);
    const said = `${family} ${sayingOf(prompt)}`;
    const isLearnt = sides.get(said) ?? hashOf(prompt.id) % 2 === 0;
    sides.set(said, isLearnt);
    const counted = `${said} ${prompt.promptTokens}`;
    if (seen.has(counted)) continue;
    seen.add(counted);
    const half = halves.get(family) ?? { learnt: [], judged: [] };
    halves.set(family, half);
    (isLearnt ? half.learnt : half.judged).push(prompt);
  }
  return halves;
}

function sayingOf({ request: { turns, tools, output_format } }: RecordedPrompt): string {
  return JSON.stringify([turns, tools, output_format], (member, value) => (INCIDENTAL.has(member) ? undefined : value));
}

/** FNV-1a with one more mixing step. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 13;
}

/** Smaller prompts consist mostly of what the provider adds around them. */
export const JUDGED_TOKENS_MIN = 200;

/** Relative errors: 0.1 is a tenth too high. All are 0 without prompts. */
interface EstimateError {
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
