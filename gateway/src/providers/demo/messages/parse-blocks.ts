/** Owns the reading of one turn's content blocks in a messages request. Media sources have their own file. */
import { BodyProblem, type Path, refuse } from '../body-problem.ts';
import { checkBoolean, checkObject, checkRequiredWord, checkString, checkText } from '../check-member.ts';
import { isAbsent, type JsonObject } from '../json-value.ts';
import type { Media } from '../prompt.ts';
import { parseDocument, parseImage } from './parse-media.ts';

/** What a turn's blocks say. */
export interface BlockReading {
  /** The last text; empty where there is none. */
  text: string;
  readonly media: Media[];
  readonly uses: { readonly id: string; readonly name: string }[];
  readonly results: { readonly id: string; readonly text: string; readonly isError: boolean; readonly path: Path }[];
}

const USER_BLOCKS = [
  'text',
  'image',
  'document',
  'search_result',
  'tool_result',
  'container_upload',
  'tool_addition',
  'tool_removal',
];
/** Blocks that an answer may hold and that come back with the conversation; the demo model passes over most of them. */
const ASSISTANT_BLOCKS = [
  ...['text', 'tool_use', 'thinking', 'redacted_thinking', 'document', 'server_tool_use', 'container_upload'],
  ...[
    'web_search_tool_result',
    'web_fetch_tool_result',
    'code_execution_tool_result',
    'bash_code_execution_tool_result',
  ],
  ...['text_editor_code_execution_tool_result', 'tool_search_tool_result', 'mcp_tool_use', 'mcp_tool_result'],
  ...['mcp_tool_listing', 'compaction', 'fallback', 'advisor_tool_result', 'tool_addition', 'tool_removal'],
];
const RESULT_BLOCKS = ['text', 'image', 'search_result', 'document', 'tool_reference', 'browser_state'];

export function parseTurnBlocks(
  value: unknown,
  path: Path,
  role: 'user' | 'assistant',
  isLatest: boolean,
): BlockReading {
  const reading: BlockReading = { text: '', media: [], uses: [], results: [] };
  if (typeof value === 'string') {
    reading.text = value;
    return reading;
  }
  if (!Array.isArray(value)) return refuse(path, value, 'a string or an array of content blocks');
  const types = role === 'user' ? USER_BLOCKS : ASSISTANT_BLOCKS;
  value.forEach((entry: unknown, at) => {
    const block = checkObject(entry, [...path, at]);
    const type = checkRequiredWord(block.type, [...path, at, 'type'], types);
    if (isLatest) requireLatestForm(block, type, role, [...path, at]);
    readBlock(reading, block, type, [...path, at]);
  });
  return reading;
}

function readBlock(reading: BlockReading, block: JsonObject, type: string, path: Path): void {
  if (type === 'text') readText(reading, checkString(block.text, [...path, 'text']));
  else if (type === 'image') reading.media.push(parseImage(block, path));
  else if (type === 'document') reading.media.push(parseDocument(block, path));
  else if (type === 'tool_use') {
    checkObject(block.input, [...path, 'input']);
    const id = checkText(block.id, [...path, 'id'], 'an id');
    reading.uses.push({ id, name: checkText(block.name, [...path, 'name'], 'the name of a tool') });
  } else if (type === 'tool_result') reading.results.push(parseResult(reading, block, path));
  else if (type === 'thinking') {
    checkString(block.thinking, [...path, 'thinking']);
    checkString(block.signature, [...path, 'signature']);
  }
}

/** Coding agents put reminders of their own beside what the person wrote; those are not the message to answer. */
function readText(reading: BlockReading, text: string): void {
  if (reading.text === '' || !text.startsWith('<system-reminder>')) reading.text = text;
}

function parseResult(reading: BlockReading, block: JsonObject, path: Path): BlockReading['results'][number] {
  const id = checkText(block.tool_use_id, [...path, 'tool_use_id'], 'the id of the tool use that this block answers');
  const isError = checkBoolean(block.is_error, [...path, 'is_error']);
  const contentPath = [...path, 'content'];
  if (isAbsent(block.content)) return { id, text: '', isError, path };
  if (typeof block.content === 'string') return { id, text: block.content, isError, path };
  if (!Array.isArray(block.content))
    return refuse(contentPath, block.content, 'a string or an array of content blocks');
  const texts: string[] = [];
  block.content.forEach((entry: unknown, at) => {
    const part = checkObject(entry, [...contentPath, at]);
    const type = checkRequiredWord(part.type, [...contentPath, at, 'type'], RESULT_BLOCKS);
    if (type === 'text') texts.push(checkString(part.text, [...contentPath, at, 'text']));
    else if (type === 'image') reading.media.push(parseImage(part, [...contentPath, at]));
    else if (type === 'document') reading.media.push(parseDocument(part, [...contentPath, at]));
  });
  return { id, text: texts.join('\n'), isError, path };
}

/** https://platform.claude.com/docs/en/api/migration-2026-10-21, read 2026-11-20. */
function requireLatestForm(block: JsonObject, type: string, role: 'user' | 'assistant', path: Path): void {
  if (role === 'assistant' && type === 'document') {
    throw new BodyProblem(
      path,
      'found a document block in an assistant turn; put it into a user turn or a tool result',
    );
  }
  if (role === 'user' && type === 'text' && Array.isArray(block.citations) && block.citations.length > 0) {
    throw new BodyProblem([...path, 'citations'], 'found citations on a text block of a user turn; leave them out');
  }
}
