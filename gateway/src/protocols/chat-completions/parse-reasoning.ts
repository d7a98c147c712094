/**
 * Owns reading the reasoning that a client sends back with an assistant's message. The format has no official member for it;
 * these are the ones that hosts and gateways give out (wire reference A.3, C.5).
 */
import type { ReasoningPart } from '../../generation/part.ts';
import { elements, type JsonNode, stringValue } from '../../wire/json-node.ts';
import { given, type RequestReading, readOptionalText, readText } from './read-member.ts';

export const REASONING_MEMBERS = ['reasoning_details', 'thinking_blocks', 'reasoning_content', 'reasoning'] as const;

/** The format word that Anthropic's signatures come under in `reasoning_details`; absent where a gateway wrote them. */
const ANTHROPIC_FORMAT = 'anthropic';

/**
 * Reasoning parts of one message. Where it comes in several members they hold the same text: signed blocks win over plain text,
 * and of two plain texts the first.
 */
export function parseReasoning(message: JsonNode, path: string, reading: RequestReading): ReasoningPart[] {
  const details = parseBlocks(message, 'reasoning_details', parseDetail, reading);
  if (details.length > 0) return details;
  const blocks = parseBlocks(message, 'thinking_blocks', parseThinkingBlock, reading);
  if (blocks.length > 0) return blocks;
  const text =
    readOptionalText(message, 'reasoning_content', `${path}.reasoning_content`) ||
    readOptionalText(message, 'reasoning', `${path}.reasoning`);
  return text ? [unsigned(text)] : [];
}

/** A block as messages writes it, or as Mistral does: a list of texts. Null: another kind of block. */
export function parseThinkingBlock(block: JsonNode): ReasoningPart | null {
  const type = textOf(block, 'type');
  if (type === 'redacted_thinking') return redacted(textOf(block, 'data'), 'messages');
  if (type !== 'thinking') return null;
  const thinking = given(block, 'thinking');
  const text =
    thinking === undefined
      ? ''
      : (stringValue(thinking) ??
        elements(thinking)
          .map((piece) => textOf(piece, 'text'))
          .join(''));
  return signed(text, textOf(block, 'signature'), 'messages');
}

/** An entry of `reasoning_details`. Null: one that is not known. */
function parseDetail(detail: JsonNode): ReasoningPart | null {
  const format = textOf(detail, 'format');
  const issuer = format === '' || format.startsWith(ANTHROPIC_FORMAT) ? 'messages' : format;
  switch (textOf(detail, 'type')) {
    case 'reasoning.text':
      return signed(textOf(detail, 'text'), textOf(detail, 'signature'), issuer);
    case 'reasoning.summary':
      return unsigned(textOf(detail, 'summary'));
    case 'reasoning.encrypted':
      return redacted(textOf(detail, 'data'), issuer);
    default:
      return null;
  }
}

function parseBlocks(
  message: JsonNode,
  name: 'reasoning_details' | 'thinking_blocks',
  parse: (block: JsonNode) => ReasoningPart | null,
  { notes }: RequestReading,
): ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  const list = given(message, name);
  if (list === undefined) return parts;
  if (list.kind !== 'array') notes.drop(`messages[].${name}`, 'found no list of blocks');
  for (const block of elements(list)) {
    const part = parse(block);
    if (part === null) notes.drop(`messages[].${name}`, 'holds a block of a type that is not known');
    else if (part.text !== '' || part.signature !== null) parts.push(part);
  }
  return parts;
}

function signed(text: string, signature: string, issuer: string): ReasoningPart {
  if (signature === '') return unsigned(text);
  return { kind: 'reasoning', text, signature, redacted: false, issuer };
}

function unsigned(text: string): ReasoningPart {
  return { kind: 'reasoning', text, signature: null, redacted: false, issuer: null };
}

function redacted(bytes: string, issuer: string): ReasoningPart {
  return { kind: 'reasoning', text: '', signature: bytes === '' ? null : bytes, redacted: true, issuer };
}

function textOf(node: JsonNode, name: string): string {
  const found = given(node, name);
  return found?.kind === 'string' ? readText(found, name) : '';
}
