/**
 * Estimates the tokens of a request's prompt or of a text, for any model, without its vocabulary: weights of the
 * model's family times feature counts, biased high. Not used for billing if upstream reports a count.
 */

import type { Part } from '../generation/part.ts';
import type { GenerationRequest } from '../generation/request.ts';
import { countText, emptyTextCounts, type TextCounts } from './count-text.ts';
import { estimateDocumentTokens, estimateMediaTokens } from './estimate-media.ts';
import { FRAMES, measureRequest } from './measure-request.ts';
import { TEXT_FEATURES } from './text-alphabet.ts';
import { TOKEN_RATIOS, type TokenFamily, type TokenRatios } from './token-families.ts';

/**
 * Tokens of the whole prompt, cached or not, including what the vendor adds around it. An integer ≥ 1. Never throws.
 * The ratios are in token-families.ts.
 */
export function estimatePromptTokens(request: GenerationRequest, family: TokenFamily): number {
  const ratios = TOKEN_RATIOS[family];
  const { text, frames } = measureRequest(request, ratios.tools);
  let tokens = textTokens(text, ratios);
  for (const [index, frame] of FRAMES.entries()) tokens += frames[frame] * (ratios.frames[index] ?? 0);
  for (const turn of request.turns) for (const part of turn.parts) tokens += mediaTokens(part, family);
  return Math.max(1, Math.ceil(tokens));
}

/** Tokens of a text on its own, as model output. An integer; 0 for the empty text. */
export function estimateTextTokens(text: string, family: TokenFamily): number {
  const counts = emptyTextCounts();
  countText(text, counts);
  return Math.ceil(textTokens(counts, TOKEN_RATIOS[family]));
}

function textTokens(counts: TextCounts, { text: weights }: TokenRatios): number {
  let tokens = 0;
  for (let feature = 0; feature < TEXT_FEATURES.length; feature += 1) {
    tokens += (counts[feature] as number) * (weights[feature] as number);
  }
  return tokens;
}

function mediaTokens(part: Part, family: TokenFamily): number {
  switch (part.kind) {
    case 'image':
    case 'audio':
      return estimateMediaTokens(part, family);
    case 'document':
      return part.source.kind === 'text' ? 0 : estimateDocumentTokens(part, family);
    case 'tool_result':
      return part.parts.reduce((tokens, inner) => tokens + mediaTokens(inner, family), 0);
    default:
      return 0;
  }
}
