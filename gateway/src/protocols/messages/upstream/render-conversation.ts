/** Renders turns as messages of the format. Source: wire reference C.1. */
import type { GenerationRequest } from '../../../generation/request.ts';
import { RawJson } from '../../../wire/json-writer.ts';
import { type JoinedTurns, joinTurns } from '../../request/join-turns.ts';
import type { WrittenBlock } from './cache-control.ts';
import { type PartContext, renderPart } from './render-part.ts';

export type Conversation = JoinedTurns<WrittenBlock>;

/**
 * Throws CallFailure `invalid_request` for calls without results, results without calls, and parts that cannot be
 * rendered.
 */
export function renderConversation(request: GenerationRequest, context: PartContext): Conversation {
  return joinTurns<WrittenBlock>(request, {
    notes: context.notes,
    format: 'the messages format',
    takesSystemTurns: context.traits.messages.systemTurns,
    keepsAttribution: true,
    renderPart(part, path) {
      const block = renderPart(part, path, context);
      return block === null ? [] : [block];
    },
    renderText: (text) => ({ type: 'text', text }),
    trimEnd(block) {
      if (block instanceof RawJson || block.type !== 'text') return null;
      const text = String(block.text);
      return text === text.trimEnd() ? null : { ...block, text: text.trimEnd() };
    },
  });
}
