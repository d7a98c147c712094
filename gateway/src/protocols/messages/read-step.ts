/** Owns what an event that upstream sent is to the grammar, where a stream is only observed. Judges nothing. */
import { asArray, asObject, asText, type JsonObject } from '../json.ts';
import type { MessagesStep } from './stream-grammar.ts';

/** `eventLine` is the value of the record's `event:` line; `event` its parsed data, null where it is no JSON object. */
export function readStep(eventLine: string, event: JsonObject | null): MessagesStep {
  const type = asText(event?.type);
  if (event === null || type === null) return { kind: 'misnamed', found: eventLine === '' ? 'nothing' : eventLine };
  if (eventLine !== type) return { kind: 'misnamed', found: `${eventLine === '' ? 'nothing' : eventLine} for ${type}` };
  switch (type) {
    case 'message_start':
      return readStart(asObject(event.message));
    case 'content_block_start':
      return { kind: type, index: asIndex(event.index), block: asText(asObject(event.content_block)?.type) ?? '' };
    case 'content_block_delta':
      return { kind: type, index: asIndex(event.index), delta: asText(asObject(event.delta)?.type) ?? '' };
    case 'content_block_stop':
      return { kind: type, index: asIndex(event.index) };
    case 'message_delta':
      return {
        kind: type,
        stop_reason: asText(asObject(event.delta)?.stop_reason),
        output_tokens: asIndex(asObject(event.usage)?.output_tokens),
      };
    case 'message_stop':
    case 'error':
    case 'ping':
      return { kind: type };
    default:
      return { kind: 'unknown' };
  }
}

function readStart(message: JsonObject | null): MessagesStep {
  const blocks = asArray(message?.content);
  return {
    kind: 'message_start',
    blocks: blocks.length,
    callsTool: blocks.some((block) => asObject(block)?.type === 'tool_use'),
    stop_reason: asText(message?.stop_reason),
    output_tokens: asIndex(asObject(message?.usage)?.output_tokens),
  };
}

/** An integer ≥ 0; null for anything else. */
export function asIndex(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
