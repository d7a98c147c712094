/**
 * Owns the words that stand for a block that only Anthropic understands, where its history goes to another host.
 * Refuses nothing: what it cannot say it leaves out.
 */
import { elements, type JsonNode, jsonText, member, stringValue } from '../../wire/json-node.ts';

/**
 * What a server tool found is history of the model's own making and may be long; what the caller wrote is never cut.
 */
const FOUND_CHARS_MAX = 2000;
const CUT = ' … [cut]';
const CALL_INPUTS = ['query', 'url', 'command', 'code', 'path', 'pattern'];

/** In short, what the block says; null: nothing that could be told. */
export function opaqueWords(type: string, block: JsonNode): string | null {
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

/** A result of a server tool, or a type that nobody here knows. */
function foundWords(type: string, block: JsonNode): string | null {
  const said = saidBy(block, 0);
  return said === '' ? null : cut(`[${type.replace(/_tool_result$/, '')}: ${said}]`);
}

const SAID = ['title', 'url', 'text', 'stdout', 'stderr', 'error_code', 'tool_name'];
/** A block's content, its content, and the source of a document in it. */
const SAID_DEPTH_MAX = 4;

/** All that a block says in members that are text for people, outermost first. */
function saidBy(node: JsonNode, depth: number): string {
  if (depth > SAID_DEPTH_MAX) return '';
  if (node.kind === 'string') return stringValue(node) ?? '';
  if (node.kind === 'array')
    return elements(node)
      .map((element) => saidBy(element, depth + 1))
      .filter(Boolean)
      .join('\n');
  if (node.kind !== 'object') return '';
  const said = SAID.map((name) => text(node, name) ?? '')
    .filter(Boolean)
    .join(' ');
  const inner = ['content', 'tool_references', 'source'].map((name) => innerWords(node, name, depth));
  return [said, ...inner].filter(Boolean).join('\n');
}

function innerWords(node: JsonNode, name: string, depth: number): string {
  const value = member(node, name);
  if (value === undefined) return '';
  if (name !== 'source') return saidBy(value, depth + 1);
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
