/** Owns reading the result of a tool that the caller ran. Source: wire reference B.3. */
import { type ToolResultPart, textPart } from '../../generation/part.ts';
import { elements, type JsonNode, stringValue } from '../../wire/json-node.ts';
import { refuse } from '../check-member.ts';
import type { TranslationNotes } from '../translation-notes.ts';
import { dropOthers, given, optionalFlag, requiredText } from './member-values.ts';
import { parseCacheMark } from './parse-cache-mark.ts';
import { blockType, parseContentBlock } from './parse-content-block.ts';

const KNOWN = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);

/** A `tool_result` block at `path`. Without content it has no parts. */
export function parseToolResult(block: JsonNode, path: string, notes: TranslationNotes): ToolResultPart {
  dropOthers(block, KNOWN, 'tool_result', notes);
  return {
    kind: 'tool_result',
    call_id: requiredText(block, 'tool_use_id', path),
    parts: parseContent(block, `${path}.content`, notes),
    is_error: optionalFlag(block, 'is_error', path),
    cache_mark: parseCacheMark(block, path, notes),
  };
}

function parseContent(block: JsonNode, path: string, notes: TranslationNotes): ToolResultPart['parts'] {
  const content = given(block, 'content');
  if (content === null) return [];
  const whole = stringValue(content);
  if (whole !== undefined) return [textPart(whole)];
  if (content.kind !== 'array') throw refuse(path, content, 'a string or an array of content blocks');
  return elements(content).map((one, index) => {
    const at = `${path}.${index}`;
    return parseContentBlock(one, at, blockType(one, at), notes);
  });
}
