/**
 * Parses the content blocks of turns and tool results: text, images, documents, and opaque blocks with a text summary.
 * Blocks that only Anthropic understands are kept verbatim. Source: wire reference B.3.
 */
import type { Citation, DocumentPart, MediaPart, OpaquePart, Source, TextPart } from '../../../generation/part.ts';
import { elements, type JsonNode, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import { parseObject } from '../../json.ts';
import { refuse } from '../../request/request-facts.ts';
import type { TranslationNotes } from '../../request/translation-notes.ts';
import { parseCitation } from '../upstream/parse-answer-block.ts';
import {
  dropOthers,
  given,
  optionalFlag,
  optionalObject,
  optionalText,
  parseCacheMark,
  requiredObject,
  requiredText,
} from './member-values.ts';

const TEXT_MEMBERS = new Set(['type', 'text', 'citations', 'cache_control']);
const IMAGE_MEMBERS = new Set(['type', 'source', 'cache_control']);
const DOCUMENT_MEMBERS = new Set(['type', 'source', 'title', 'context', 'citations', 'cache_control']);

/** The type of the block at `path`. */
export function blockType(block: JsonNode, path: string): string {
  if (block.kind !== 'object') throw refuse(path, block, 'a content block (an object)');
  return requiredText(block, 'type', path);
}

/** The part for a block of that type; an opaque part for types without a part of their own. */
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

/** A text block in a turn, a result or `system`. */
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

/** The `source` of an image or document block at `path`. Throws for a type that the format does not define. */
function parseSource(block: JsonNode, path: string, media: 'image' | 'document'): Source {
  const at = `${path}.source`;
  const source = requiredObject(block, 'source', path, 'an object {"type": …}');
  const type = requiredText(source, 'type', at);
  switch (type) {
    case 'base64':
      return {
        kind: 'base64',
        media_type: requiredText(source, 'media_type', at),
        base64: requiredText(source, 'data', at),
      };
    case 'url':
      return { kind: 'url', url: requiredText(source, 'url', at) };
    case 'file':
      return { kind: 'file', id: requiredText(source, 'file_id', at) };
  }
  if (media === 'document' && type === 'text') return { kind: 'text', text: requiredText(source, 'data', at) };
  if (media === 'document' && type === 'content') return { kind: 'text', text: parseContent(source, `${at}.content`) };
  const expected = media === 'image' ? '"base64", "url" or "file"' : '"base64", "text", "content", "url" or "file"';
  throw refuse(`${at}.type`, member(source, 'type') ?? null, expected);
}

/** A document given as text or as blocks. Only text blocks can be translated to other formats. */
function parseContent(source: JsonNode, path: string): string {
  const content = given(source, 'content');
  const whole = content === null ? undefined : stringValue(content);
  if (whole !== undefined) return whole;
  if (content?.kind !== 'array') throw refuse(path, content, 'a string or an array of text blocks');
  const texts = elements(content).map((block, index) => {
    const at = `${path}.${index}`;
    if (block.kind !== 'object') throw refuse(at, block, 'a text block (an object)');
    if (requiredText(block, 'type', at) !== 'text') {
      const why =
        'a block of type "text": other blocks of a document go to Anthropic only; send an image as a block of its own';
      throw refuse(`${at}.type`, member(block, 'type') ?? null, why);
    }
    return requiredText(block, 'text', at);
  });
  return texts.join('\n');
}

/**
 * Limit for server tool results, which are model-driven history and may be long; the client's own text is never
 * truncated.
 */
const FOUND_CHARS_MAX = 2000;
const CUT = ' … [cut]';
const CALL_INPUTS = ['query', 'url', 'command', 'code', 'path', 'pattern'];

/** A short text form of the block; null if there is nothing to show. */
function opaqueWords(type: string, block: JsonNode): string | null {
  switch (type) {
    case 'search_result':
      return lines([
        `[search result: ${text(block, 'title') ?? ''} (${text(block, 'source') ?? ''})]`,
        contentText(block),
      ]);
    case 'compaction':
      return text(block, 'content');
    case 'server_tool_use':
    case 'mcp_tool_use':
      return cut(`[${text(block, 'name') ?? type}: ${callWords(block)}]`);
    case 'tool_reference':
      return `[tool: ${text(block, 'tool_name') ?? text(block, 'name') ?? ''}]`;
    case 'tool_addition':
    case 'tool_removal':
      return changeWords(type, block);
    case 'container_upload':
    case 'fallback':
      return null;
    default:
      return foundWords(type, block);
  }
}

function callWords(block: JsonNode): string {
  const input = member(block, 'input');
  if (input === undefined) return '';
  for (const name of CALL_INPUTS) {
    const value = text(input, name);
    if (value !== null) return value;
  }
  return jsonText(input);
}

function changeWords(type: string, block: JsonNode): string | null {
  const tool = member(block, 'tool');
  const name = tool === undefined ? null : (text(tool, 'name') ?? text(tool, 'tool_name'));
  return name === null ? null : `[tool ${type === 'tool_addition' ? 'added' : 'removed'}: ${name}]`;
}

/** Text of a server tool's result, or of an unknown block type. */
function foundWords(type: string, block: JsonNode): string | null {
  const said = textOf(block, 0);
  return said === '' ? null : cut(`[${type.replace(/_tool_result$/, '')}: ${said}]`);
}

const DESCRIBING_MEMBERS = ['title', 'url', 'text', 'stdout', 'stderr', 'error_code', 'tool_name'];
/** A block's content, the content in it, and the source of a document in that. */
const SAID_DEPTH_MAX = 4;

/** All text of a block that is written for people, outermost first. */
function textOf(node: JsonNode, depth: number): string {
  if (depth > SAID_DEPTH_MAX) return '';
  if (node.kind === 'string') return stringValue(node) ?? '';
  if (node.kind === 'array')
    return elements(node)
      .map((element) => textOf(element, depth + 1))
      .filter(Boolean)
      .join('\n');
  if (node.kind !== 'object') return '';
  const said = DESCRIBING_MEMBERS.map((name) => text(node, name) ?? '')
    .filter(Boolean)
    .join(' ');
  const inner = ['content', 'tool_references', 'source'].map((name) => innerWords(node, name, depth));
  return [said, ...inner].filter(Boolean).join('\n');
}

function innerWords(node: JsonNode, name: string, depth: number): string {
  const value = member(node, name);
  if (value === undefined) return '';
  if (name !== 'source') return textOf(value, depth + 1);
  return text(value, 'type') === 'text' ? (text(value, 'data') ?? '') : '';
}

function contentText(block: JsonNode): string | null {
  const content = member(block, 'content');
  if (content === undefined) return null;
  return content.kind === 'string'
    ? (stringValue(content) ?? null)
    : lines(elements(content).map((one) => text(one, 'text')));
}

function lines(texts: ReadonlyArray<string | null>): string {
  return texts.filter((one) => one !== null && one !== '').join('\n');
}

function text(node: JsonNode, name: string): string | null {
  const value = member(node, name);
  return (value === undefined ? undefined : stringValue(value)) ?? null;
}

function cut(words: string): string {
  return words.length <= FOUND_CHARS_MAX
    ? words
    : `${words.slice(0, FOUND_CHARS_MAX - CUT.length).toWellFormed()}${CUT}`;
}
