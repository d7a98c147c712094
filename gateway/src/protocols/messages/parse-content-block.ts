/**
 * Owns reading the blocks that stand in turns and in tools' results alike: text, images, documents. What only Anthropic
 * understands is kept as it was written. Source: wire reference B.3.
 */
import type { Citation, DocumentPart, MediaPart, OpaquePart, TextPart } from '../../generation/part.ts';
import { elements, type JsonNode, jsonText } from '../../wire/json-node.ts';
import { refuse } from '../check-member.ts';
import { parseObject } from '../json.ts';
import type { TranslationNotes } from '../translation-notes.ts';
import { dropOthers, given, optionalFlag, optionalObject, optionalText, requiredText } from './member-values.ts';
import { opaqueWords } from './opaque-words.ts';
import { parseCacheMark } from './parse-cache-mark.ts';
import { parseCitation } from './parse-citation.ts';
import { parseSource } from './parse-source.ts';

const TEXT_MEMBERS = new Set(['type', 'text', 'citations', 'cache_control']);
const IMAGE_MEMBERS = new Set(['type', 'source', 'cache_control']);
const DOCUMENT_MEMBERS = new Set(['type', 'source', 'title', 'context', 'citations', 'cache_control']);

/** The type of the block at `path`. */
export function blockType(block: JsonNode, path: string): string {
  if (block.kind !== 'object') throw refuse(path, block, 'a content block (an object)');
  return requiredText(block, 'type', path);
}

/** A block of that type; an opaque part where the type is none of those that have a part of their own. */
export function parseContentBlock(
  block: JsonNode,
  path: string,
  type: string,
  notes: TranslationNotes,
): TextPart | MediaPart | DocumentPart | OpaquePart {
  switch (type) {
    case 'text':
      return parseText(block, path, notes);
    case 'image':
      dropOthers(block, IMAGE_MEMBERS, 'image', notes);
      return {
        kind: 'image',
        source: parseSource(block, path, 'image'),
        detail: null,
        cache_mark: parseCacheMark(block, path, notes),
      };
    case 'document':
      return parseDocument(block, path, notes);
    default: {
      const native = { origin: 'messages', json: jsonText(block) };
      return { kind: 'opaque', type, native, words: opaqueWords(type, block) };
    }
  }
}

/** A text block, as it stands in turns, results and `system`. */
export function parseText(block: JsonNode, path: string, notes: TranslationNotes): TextPart {
  dropOthers(block, TEXT_MEMBERS, 'text', notes);
  return {
    kind: 'text',
    text: requiredText(block, 'text', path),
    citations: parseCitations(block, path),
    cache_mark: parseCacheMark(block, path, notes),
  };
}

function parseCitations(block: JsonNode, path: string): readonly Citation[] {
  const citations = given(block, 'citations');
  if (citations === null) return [];
  if (citations.kind !== 'array') throw refuse(`${path}.citations`, citations, 'an array of citations');
  return elements(citations).map((citation) => {
    const json = jsonText(citation);
    return parseCitation(parseObject(json) ?? {}, json);
  });
}

function parseDocument(block: JsonNode, path: string, notes: TranslationNotes): DocumentPart {
  dropOthers(block, DOCUMENT_MEMBERS, 'document', notes);
  const citations = optionalObject(block, 'citations', path, 'an object {"enabled": true or false}');
  return {
    kind: 'document',
    source: parseSource(block, path, 'document'),
    title: optionalText(block, 'title', path),
    context: optionalText(block, 'context', path),
    cites: citations !== null && optionalFlag(citations, 'enabled', `${path}.citations`),
    cache_mark: parseCacheMark(block, path, notes),
  };
}
