/** Owns finding text and reasoning in the members by which hosts say them. Numbers no parts and keeps no state. */
import { asArray, asObject, asText, type JsonObject } from '../json.ts';

export type TextKind = 'text' | 'refusal' | 'reasoning';

export interface TextPiece {
  readonly kind: TextKind;
  readonly text: string;
}

/**
 * The reasoning of a message or delta, empty where it has none. The first member that has text wins, for several hosts send
 * the same text in two. `reasoning_details` alone is what Snowflake sends (recorded traffic, July 2026).
 */
export function reasoningOf(message: JsonObject): string {
  const { reasoning_content, reasoning, reasoning_details } = message;
  if (typeof reasoning_content === 'string' && reasoning_content !== '') return reasoning_content;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  if (!Array.isArray(reasoning_details)) return '';
  let text = '';
  for (const detail of reasoning_details) {
    const found = asObject(detail);
    text += asText(found?.text) ?? asText(found?.summary) ?? '';
  }
  return text;
}

/** The texts of `content` as a list, in order: Mistral's form for reasoning models (recorded traffic, August 2026). */
export function piecesOf(content: readonly unknown[]): TextPiece[] {
  return content.flatMap((element): TextPiece[] => {
    const found = asObject(element);
    switch (found?.type) {
      case 'text':
        return [{ kind: 'text', text: asText(found.text) ?? '' }];
      case 'refusal':
        return [{ kind: 'refusal', text: asText(found.refusal) ?? '' }];
      case 'thinking':
        return [{ kind: 'reasoning', text: thinkingOf(found.thinking) }];
      default:
        return [];
    }
  });
}

function thinkingOf(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  let text = '';
  for (const piece of asArray(thinking)) text += asText(asObject(piece)?.text) ?? '';
  return text;
}
