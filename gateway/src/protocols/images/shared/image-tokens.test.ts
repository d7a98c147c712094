/** Tests image-tokens.ts: tokens by quality and shape, and where something is unknown. */
import { expect, test } from 'bun:test';
import { estimateImageTokens } from './image-tokens.ts';

test.each([
  [{ images: 1, image_kind: '1024x1024/low' }, 272],
  [{ images: 1, image_kind: '1024x1536/low' }, 400],
  [{ images: 3, image_kind: '1536x1024/medium' }, 4_704],
  [{ images: 2, image_kind: 'high' }, 8_320],
  [{ images: 1, image_kind: '1536x1024' }, 400],
  [{ images: 1, image_kind: '1024x1024/standard' }, 272],
  [{ images: 1 }, 272],
  [{ seconds: 4 }, 0],
])('%p have %d tokens', (units, tokens) => {
  expect(estimateImageTokens(units)).toBe(tokens);
});
