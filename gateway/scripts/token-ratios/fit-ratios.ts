/**
 * Fits one family's ratios to prompts and responses with known token counts. Chooses no prompts and does not evaluate
 * the fit.
 */
import { countText, emptyTextCounts, type TextCounts } from '../../src/tokens/count-text.ts';
import { FRAMES, measureRequest, type ToolStyle } from '../../src/tokens/measure-request.ts';
import { TEXT_FEATURES } from '../../src/tokens/text-alphabet.ts';
import type { TokenRatios } from '../../src/tokens/token-families.ts';
import type { RecordedPrompt } from '../../test/conformance/prompts/recorded-prompts.ts';
import { type FamilyPrior, framesOf } from './priors.ts';
import { dot, type Prior, type Row, solveNonnegative } from './solve-nonnegative.ts';

/**
 * How strongly ratios are pulled to their prior. Five-fold validation within the learning half found no difference
 * between 0.003 and 0.1 for texts (median |error| 4.3 to 5.1 %), so the strongest is used: it generalizes best to texts
 * unlike the recorded ones.
 */
export interface FitSettings {
  /** The penalty for moving a text's weight away from its prior by its full size, in squared relative errors. */
  readonly textPull: number;
  readonly framePull: number;
}

const FIT_SETTINGS: FitSettings = { textPull: 0.1, framePull: 0.001 };

/** What a provider adds once is not known beforehand, so it is fitted freely. */
const FREE_FRAMES = new Set(['request', 'tools', 'format']);
const FREE_PULL = 1e-8;
/** Errors are relative to the tokens plus this number: small prompts say little about large ones. */
const SMALL_TOKENS = 150;
/** Underestimates cost twice as much as overestimates: that pulls the estimate above the median. */
const LOW_WEIGHT = 2;
const ANSWER_WEIGHT = 0.3;
const ANSWER_TOKENS_MIN = 15;
/** Errors below this relative error count squared, above it linearly, so that no single outlier dominates. */
const ROBUST_ABOVE = 0.02;
const ROUNDS = 40;
/** Weights near zero are pulled no more strongly than this one. */
const WEIGHT_MIN = 0.05;
/**
 * No vocabulary is assumed to be better than the prior's, one of the largest: that would underestimate long prompts.
 */
const SCALES = [1, 1.1, 1.2, 1.3, 1.45];
/** The frame of a response: one more number after the frames. */
const ANSWER_PRIOR = 3;

/** The best-fitting ratios over scales of the prior's text weights. Without prompts, the prior itself. */
export function fitRatios(
  prompts: readonly RecordedPrompt[],
  { text, tools }: FamilyPrior,
  settings: FitSettings = FIT_SETTINGS,
): TokenRatios {
  const rows = prompts.flatMap((prompt) => rowsOf(prompt, tools));
  const scales = rows.length === 0 ? [1] : SCALES;
  const fits = scales.map((scale) => fit(rows, scaledPrior(text, scale, tools, settings)));
  const { solution } = fits.reduce((one, other) => (other.cost < one.cost ? other : one));
  return {
    tools,
    text: solution.slice(0, TEXT_FEATURES.length),
    frames: solution.slice(TEXT_FEATURES.length, TEXT_FEATURES.length + FRAMES.length),
  };
}

function scaledPrior(text: readonly number[], scale: number, tools: ToolStyle, settings: FitSettings): Prior {
  const { textPull, framePull } = settings;
  const frames = framesOf(tools);
  const scaled = text.map((value) => value * scale);
  const framePulls = FRAMES.map((frame) => (FREE_FRAMES.has(frame) ? FREE_PULL : framePull / frames[frame] ** 2));
  return {
    values: [...scaled, ...FRAMES.map((frame) => frames[frame]), ANSWER_PRIOR],
    pull: [
      ...scaled.map((value) => textPull / Math.max(value, WEIGHT_MIN) ** 2),
      ...framePulls,
      framePull / ANSWER_PRIOR ** 2,
    ],
  };
}

function fit(rows: readonly Row[], prior: Prior): { solution: number[]; cost: number } {
  let solution = [...prior.values];
  let weighted = rows;
  for (let round = 0; round < ROUNDS; round += 1) {
    solution = solveNonnegative(weighted, prior, solution);
    weighted = rows.map((row) => ({ ...row, weight: weightOf(row, solution) }));
  }
  const errors = weighted.reduce((sum, row) => sum + row.weight * (dot(row.features, solution) - row.target) ** 2, 0);
  const moved = solution.reduce(
    (sum, value, index) => sum + (prior.pull[index] ?? 0) * (value - (prior.values[index] ?? 0)) ** 2,
    0,
  );
  return { solution, cost: errors + moved };
}

function weightOf({ features, target, weight }: Row, solution: readonly number[]): number {
  const error = dot(features, solution) - target;
  const relative = Math.max(ROBUST_ABOVE, Math.abs(error) * Math.sqrt(weight));
  return (weight * (error < 0 ? LOW_WEIGHT : 1) * ROBUST_ABOVE) / relative;
}

function rowsOf({ request, promptTokens, answer }: RecordedPrompt, tools: ToolStyle): Row[] {
  const { text, frames } = measureRequest(request, tools);
  const counts = [...featuresOf(text), ...FRAMES.map((frame) => frames[frame]), 0];
  const rows: Row[] = [{ features: counts, target: promptTokens, weight: weightFor(promptTokens) }];
  if (answer === null || answer.tokens < ANSWER_TOKENS_MIN) return rows;
  const written = emptyTextCounts();
  countText(answer.text, written);
  const answered = [...featuresOf(written), ...FRAMES.map(() => 0), 1];
  rows.push({ features: answered, target: answer.tokens, weight: ANSWER_WEIGHT * weightFor(answer.tokens) });
  return rows;
}

function featuresOf(counts: TextCounts): number[] {
  return [...counts.subarray(0, TEXT_FEATURES.length)];
}

function weightFor(tokens: number): number {
  return 1 / (tokens + SMALL_TOKENS) ** 2;
}
