/** Renders turns as messages of the format. Source: provider reference C.3. */
import type { GenerationRequest } from '../../../generation/request.ts';
import { type JoinedTurns, joinTurns } from '../../request/join-turns.ts';
import { type Block, type PartContext, renderCachePoint, renderPart } from './render-part.ts';

/** Inserted beside documents, which must not be alone. */
const ABOUT_DOCUMENTS = 'See the document.';

/**
 * Throws CallFailure `invalid_request` for calls without results, results without calls, and parts that cannot be
 * rendered.
 */
export function renderConversation(request: GenerationRequest, context: PartContext): JoinedTurns<Block> {
  const joined = joinTurns<Block>(request, {
    notes: context.notes,
    format: 'Bedrock',
    takesSystemTurns: context.traits.messages.systemTurns && context.vendor.reasoning === 'thinking',
    keepsAttribution: false,
    renderPart: (part, path) => renderPart(part, path, context),
    renderText: (text) => ({ text }),
    trimEnd({ text }) {
      return typeof text !== 'string' || text === text.trimEnd() ? null : { text: text.trimEnd() };
    },
  });
  for (const { content } of joined.messages) {
    const isAlone = content.every(({ text }) => text === undefined);
    if (isAlone && content.some(({ document }) => document !== undefined)) content.push({ text: ABOUT_DOCUMENTS });
  }
  // Not behind an answer that the model continues.
  const last = joined.messages.findLast(({ role }) => role === 'user');
  const whole = renderCachePoint(request.cache_mark, context);
  if (whole !== null && last?.content.at(-1)?.cachePoint === undefined) last?.content.push(whole);
  return joined;
}
