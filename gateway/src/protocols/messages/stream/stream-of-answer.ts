/** Renders a message in one piece as the requested stream. Unknown blocks are sent whole at their start. */
import type { JsonText } from '../../../generation/part.ts';
import { elementTexts, memberText } from '../../exact-json.ts';
import { asArray, asObject, asText, type JsonObject, parseObject } from '../../json.ts';

/** The records, including `message_stop`; null if the body is not a message. A call's input stays as written. */
export function streamOfAnswer(body: Buffer): Buffer | null {
  const json = body.toString();
  const message = parseObject(json);
  if (message === null || message.type === 'error' || !Array.isArray(message.content)) return null;
  const { content, stop_reason, stop_sequence, stop_details, container, usage, ...head } = message;
  const open = { content: [], stop_reason: null, stop_sequence: null };
  // Clients add up both output counts (langchain 1.5, wire reference B.6).
  const counted = { ...asObject(usage), output_tokens: 0 };
  let text = record('message_start', { message: { ...head, ...open, usage: counted } });
  const texts = elementTexts(memberText(json, 'content') ?? '');
  for (const [index, found] of asArray(content).entries()) {
    const block = asObject(found);
    if (block === null) return null;
    const { start, deltas } = cut(block, texts[index] ?? '{}');
    text += record('content_block_start', { index, content_block: start });
    for (const delta of deltas) text += record('content_block_delta', { index, delta });
    text += record('content_block_stop', { index });
  }
  const delta = { stop_reason: asText(stop_reason) ?? 'end_turn', stop_sequence, stop_details, container };
  return Buffer.from(text + record('message_delta', { delta, usage }) + record('message_stop', {}));
}

function record(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

/** A block's start and the deltas that follow it. */
function cut(block: JsonObject, json: JsonText): { readonly start: object; readonly deltas: readonly object[] } {
  switch (block.type) {
    case 'text': {
      const { text, citations, ...rest } = block;
      const cited = asArray(citations).map((citation) => ({ type: 'citations_delta', citation }));
      return { start: { ...rest, text: '' }, deltas: [...cited, ...deltaOf('text_delta', 'text', text)] };
    }
    case 'thinking': {
      const { thinking, signature, ...rest } = block;
      const deltas = [
        ...deltaOf('thinking_delta', 'thinking', thinking),
        ...deltaOf('signature_delta', 'signature', signature),
      ];
      return { start: { ...rest, thinking: '', signature: '' }, deltas };
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return {
        start: { ...block, input: {} },
        deltas: deltaOf('input_json_delta', 'partial_json', memberText(json, 'input')),
      };
    default:
      return { start: block, deltas: [] };
  }
}

function deltaOf(type: string, member: string, value: unknown): object[] {
  const text = asText(value);
  return text === null ? [] : [{ type, [member]: text }];
}
