/** Estimates the output tokens of images whose provider states none. */
import type { UnitUsage } from '../../../generation/usage.ts';

/**
 * Tokens of one image by its quality, square and in other shapes; in the latter the smaller of upright and wide
 * (platform.openai.com/docs/guides/image-generation, 2026-11).
 */
const LOW = { square: 272, other: 400 };
const TOKENS: Readonly<Record<string, typeof LOW>> = {
  low: LOW,
  medium: { square: 1_056, other: 1_568 },
  high: { square: 4_160, other: 6_208 },
};
const OTHER_SHAPE = /^(\d+)x(?!\1$)\d+$/;

/** Of the lowest quality where it is unknown, and square where the size is. */
export function estimateImageTokens({ images = 0, image_kind = '' }: UnitUsage): number {
  const words = image_kind.split('/');
  const { square, other } = words.map((word) => TOKENS[word]).find((known) => known !== undefined) ?? LOW;
  return images * (words.some((word) => OTHER_SHAPE.test(word)) ? other : square);
}
