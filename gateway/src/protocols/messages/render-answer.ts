/** Owns writing a whole answer for a messages client. Source: wire reference B.5, B.6, C.3 and C.7. */
import type { Generation } from '../../generation/generation.ts';
import { writeJson } from '../../wire/json-writer.ts';
import type { AnswerContext } from '../codec.ts';
import { renderBlocks } from './answer-blocks.ts';
import { renderMessage, renderStop } from './render-message.ts';
import { estimateUsage, renderUsage } from './render-usage.ts';
import { isCut } from './stop-reasons.ts';

/** `finish_reason` is the `stop_reason`. Throws `upstream_nonsense` where a tool call's arguments are not a JSON object. */
export function renderAnswer(
  generation: Generation,
  context: AnswerContext,
): { readonly json: string; readonly finish_reason: string } {
  const { parts, model, stop_sequence, explanation } = generation;
  const finish_reason = generation.finish_reason ?? 'other';
  const content = renderBlocks(parts, isCut(finish_reason), context);
  const callsTool = parts.some(({ kind }) => kind === 'tool_call');
  const stop = renderStop({ finish_reason, stop_sequence, explanation }, callsTool);
  const outputBytes = parts.reduce((sum, part) => sum + bytesOf(part), 0);
  const usage = generation.usage ?? estimateUsage(context.estimatedInputTokens, outputBytes);
  return {
    json: writeJson(renderMessage(model, content, stop, renderUsage(usage), context)),
    finish_reason: stop.stop_reason,
  };
}

/** UTF-8 bytes of a part's text, thinking or arguments. */
function bytesOf(part: Generation['parts'][number]): number {
  if (part.kind === 'tool_call') return Buffer.byteLength(part.arguments);
  const speaks = part.kind === 'text' || part.kind === 'reasoning' || part.kind === 'refusal';
  return speaks ? Buffer.byteLength(part.text) : 0;
}
