/**
 * Parses `instructions` and `input` into turns: consecutive items of the assistant (reasoning, messages, calls) are one
 * turn, as other formats need it. Source: specification of the Responses API, B.2, B.3 and F.1.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import {
  type DocumentPart,
  type MediaPart,
  type OpaquePart,
  type Part,
  type RefusalPart,
  summaryPart,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  textPart,
} from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { elements, type JsonNode, jsonText, stringValue } from '../../../wire/json-node.ts';
import { parseAudioSource, parseFileSource, parseUrlSource } from '../../openai/media-source.ts';
import {
  given,
  parseCacheMark,
  type RequestReading,
  readList,
  readName,
  readObject,
  readOptionalText,
  readText,
} from '../../openai/read-member.ts';
import { SEAL_PREFIX } from '../../own-marks.ts';
import { refuse } from '../../request/request-facts.ts';
import { typeOf } from '../../request/request-needs.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { CLIENT_TOOLS, clientToolOf } from '../shared/client-tools.ts';
import { joinNames } from './parse-tools.ts';

/** A turn that further items may join. */
type OpenTurn = Turn & { readonly parts: Part[] };

export function parseTurns(root: JsonNode, reading: RequestReading): Turn[] {
  const turns: OpenTurn[] = [];
  const instructions = readOptionalText(root, 'instructions', 'instructions');
  if (instructions) turns.push({ role: 'system', name: null, parts: [textPart(instructions)], path: 'instructions' });
  const input = given(root, 'input');
  const whole = input === undefined ? undefined : stringValue(input);
  if (whole !== undefined) return [...turns, { role: 'user', name: null, parts: [textPart(whole)], path: 'input' }];
  if (input === undefined) throw refuse('input', null, 'a string or an array of items');
  for (const [index, item] of readList(input, 'input', 'a string or an array of items').entries())
    addItem(turns, readObject(item, `input.${index}`, 'an item (an object)'), `input.${index}`, reading);
  return turns.flatMap((turn, index) => withMissingResults(turn, turns, index + 1));
}

const NO_RESULT = 'The call was not completed: it has no output.';

/** A client that was interrupted (Codex) leaves calls without outputs, which other formats refuse. */
function withMissingResults(turn: Turn, turns: readonly Turn[], next: number): Turn[] {
  if (turn.role !== 'assistant') return [turn];
  const open = new Set(turn.parts.flatMap((part) => (part.kind === 'tool_call' ? [part.id] : [])));
  if (open.size === 0) return [turn];
  for (let at = next; at < turns.length && turns[at]?.role !== 'assistant'; at++) {
    for (const part of turns[at]?.parts ?? []) if (part.kind === 'tool_result') open.delete(part.call_id);
  }
  const parts = [...open].map((id) => resultOf(id, [textPart(NO_RESULT)]));
  return parts.length === 0 ? [turn] : [turn, { role: 'user', name: null, parts, path: turn.path }];
}

function resultOf(call_id: string, parts: ToolResultPart['parts']): ToolResultPart {
  return { kind: 'tool_result', call_id, parts, is_error: false, cache_mark: null };
}

const ROLES = 'one of user, assistant, system, developer';

function addItem(turns: OpenTurn[], item: JsonNode, path: string, reading: RequestReading): void {
  const type = typeOf(item) ?? (given(item, 'role') === undefined ? 'item_reference' : 'message');
  if (isHostedItem(item, type)) {
    reading.notes.drop(`input[].${type}`, 'the work of a tool that another provider ran cannot be carried');
    return;
  }
  switch (type) {
    case 'message': {
      const role = readName(given(item, 'role'), `${path}.role`, ROLES);
      if (role === 'assistant') addAssistant(turns, parseSpoken(item, path), path);
      else if (role === 'user' || role === 'system' || role === 'developer')
        turns.push({ role, name: null, parts: parseContent(given(item, 'content'), `${path}.content`, reading), path });
      else throw refuse(`${path}.role`, given(item, 'role') ?? null, ROLES);
      return;
    }
    case 'reasoning':
      addAssistant(turns, parseReasoning(item, path, reading), path);
      return;
    case 'function_call':
    case 'custom_tool_call':
      addAssistant(turns, [parseCall(item, path, type)], path);
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
      turns.push({ role: 'user', name: null, parts: [parseResult(item, path, reading)], path });
      return;
    case 'tool_search_call':
    case 'local_shell_call':
    case 'shell_call':
    case 'apply_patch_call':
      addAssistant(turns, [parseTypedCall(item, path, type)], path);
      return;
    case 'local_shell_call_output':
    case 'shell_call_output':
    case 'apply_patch_call_output':
      turns.push({ role: 'user', name: null, parts: [parseTypedResult(item, path)], path });
      return;
    case 'tool_search_output':
      turns.push({ role: 'user', name: null, parts: [parseFound(item, path)], path });
      return;
    case 'compaction':
      turns.push({ role: 'developer', name: null, parts: [parseCompaction(item, path)], path });
      return;
    case 'configuration_update':
    case 'additional_tools':
    case 'compaction_trigger':
      return;
    case 'item_reference':
      refuseReferenceTo(item, path, reading);
      return;
    default:
      throw refuseItem(item, path);
  }
}

/** Items of tools that a provider ran; the answer after them has their findings. */
const HOSTED_HISTORY: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
]);

/** A search for tools that the provider ran has no id of a call. */
function isHostedItem(item: JsonNode, type: string): boolean {
  const isSearch = type === 'tool_search_call' || type === 'tool_search_output';
  return HOSTED_HISTORY.has(type) || (isSearch && given(item, 'call_id') === undefined);
}

function refuseItem(item: JsonNode, path: string) {
  const expected =
    'an item that can be carried to the model behind this name: a message, reasoning, a call or its output';
  return refuse(`${path}.type`, given(item, 'type') ?? null, expected);
}

/** The plan opens it. Without what a compaction stands for, the conversation would go on in ignorance of its beginning. */
function parseCompaction(item: JsonNode, path: string): OpaquePart {
  const sealed = readOptionalText(item, 'encrypted_content', `${path}.encrypted_content`);
  if (sealed?.startsWith(SEAL_PREFIX)) return summaryPart(sealed);
  const message = `${path}: found a compaction of another provider, which only that one can read; send the items that it stands for`;
  throw new CallFailure('invalid_request', message, { param: path, code: 'invalid_encrypted_content' });
}

/** Whether the request asks for the compaction of its input. Throws CallFailure if items follow the one that asks. */
export function asksForCompaction(root: JsonNode): boolean {
  const input = given(root, 'input');
  const items = input === undefined ? [] : elements(input);
  const at = items.findIndex((item) => typeOf(item) === 'compaction_trigger');
  if (at !== -1 && at < items.length - 1)
    throw refuseMember(`input.${at}`, 'found items after a compaction_trigger; it must be the last item');
  return at !== -1;
}

/** Reasoning can be missing; anything else is part of the conversation. Ids of reasoning begin with `rs_`. */
function refuseReferenceTo(item: JsonNode, path: string, { notes }: RequestReading): void {
  if (!readOptionalText(item, 'id', `${path}.id`)?.startsWith('rs_'))
    throw refuseMember(
      path,
      'found a reference to an item, and none is stored here; send the item itself, with "store": false',
    );
  notes.drop('input[].item_reference', 'only the provider that stored the reasoning can read it');
}

/** Joins the item to the assistant's turn before it. */
function addAssistant(turns: OpenTurn[], parts: Part[], path: string): void {
  const last = turns.at(-1);
  if (last?.role === 'assistant') for (const part of parts) last.parts.push(part);
  else if (parts.length > 0) turns.push({ role: 'assistant', name: null, parts, path });
}

/** An assistant's text may come as a string, and with parts of the user's type. */
function parseSpoken(item: JsonNode, path: string): Array<TextPart | RefusalPart> {
  const content = given(item, 'content');
  if (content === undefined) return [];
  const whole = stringValue(content);
  if (whole !== undefined) return whole === '' ? [] : [textPart(whole)];
  const list = readList(content, `${path}.content`, 'a string or an array of parts');
  return list.flatMap((part, index): Array<TextPart | RefusalPart> => {
    const at = `${path}.content.${index}`;
    const type = typeOf(readObject(part, at, 'a content part (an object)'));
    if (type === 'refusal') return [{ kind: 'refusal', text: readText(given(part, 'refusal'), `${at}.refusal`) }];
    if (type !== 'output_text' && type !== 'input_text' && type !== 'text')
      throw refuse(`${at}.type`, given(part, 'type') ?? null, 'output_text or refusal in a message of the assistant');
    const text = readText(given(part, 'text'), `${at}.text`);
    return text === '' ? [] : [textPart(text)];
  });
}

/** Only reasoning that this gateway sealed goes back; the plan opens it. */
function parseReasoning(item: JsonNode, path: string, reading: RequestReading): Part[] {
  const signature = readOptionalText(item, 'encrypted_content', `${path}.encrypted_content`);
  if (signature?.startsWith(SEAL_PREFIX))
    return [{ kind: 'reasoning', text: '', signature, redacted: false, issuer: null }];
  if (signature) reading.notes.drop('input[].reasoning', 'only the provider that sealed it can read it');
  return [];
}

function parseCall(item: JsonNode, path: string, type: 'function_call' | 'custom_tool_call'): Part {
  const member = type === 'function_call' ? 'arguments' : 'input';
  const written = given(item, member);
  return {
    kind: 'tool_call',
    id: readName(given(item, 'call_id'), `${path}.call_id`, 'the id of the call'),
    name: joinNames(
      readOptionalText(item, 'namespace', `${path}.namespace`),
      readName(given(item, 'name'), `${path}.name`, 'the name of a tool'),
    ),
    tool: type === 'function_call' ? 'function' : 'custom',
    arguments: written === undefined ? '' : readText(written, `${path}.${member}`, 'a string'),
    cache_mark: null,
    path,
  };
}

/** The call of the function that stands for a tool which the client runs. */
function parseTypedCall(item: JsonNode, path: string, type: string): ToolCallPart {
  const tool = clientToolOf(type) ?? 'tool_search';
  const written = given(item, CLIENT_TOOLS[tool].member);
  return {
    kind: 'tool_call',
    id: readName(given(item, 'call_id'), `${path}.call_id`, 'the id of the call'),
    name: tool,
    tool: 'function',
    arguments: written === undefined ? '{}' : (stringValue(written) ?? jsonText(written)),
    cache_mark: null,
  };
}

/** Its output as text, else as JSON, after a status that is not that of a success. */
function parseTypedResult(item: JsonNode, path: string): ToolResultPart {
  // That of a local shell has the id of the call as its own.
  const named = given(item, 'call_id') ?? given(item, 'id');
  const id = readName(named, `${path}.call_id`, 'the id of the call that this answers');
  const output = given(item, 'output');
  const text = output === undefined ? '' : (stringValue(output) ?? jsonText(output));
  const status = readOptionalText(item, 'status', `${path}.status`);
  const words = [...(status === null || status === 'completed' ? [] : [status]), ...(text === '' ? [] : [text])];
  return resultOf(id, [textPart(words.join('\n') || 'completed')]);
}

/** The tools that were found join the others; the result names them. */
function parseFound(item: JsonNode, path: string): ToolResultPart {
  const tools = given(item, 'tools');
  const names = (tools === undefined ? [] : elements(tools)).map(
    (tool) => readOptionalText(tool, 'name', `${path}.tools`) ?? '',
  );
  const found = names.length === 0 ? 'No tools found.' : `Found, and callable from now on: ${names.join(', ')}`;
  return resultOf(readCallId(item, path), [textPart(found)]);
}

type ContentPart = TextPart | MediaPart | DocumentPart;

function parseResult(item: JsonNode, path: string, reading: RequestReading): ToolResultPart {
  const output = given(item, 'output');
  return resultOf(readCallId(item, path), output === undefined ? [] : parseContent(output, `${path}.output`, reading));
}

function readCallId(item: JsonNode, path: string): string {
  return readName(given(item, 'call_id'), `${path}.call_id`, 'the id of the call that this answers');
}

function parseContent(content: JsonNode | undefined, path: string, reading: RequestReading): ContentPart[] {
  if (content === undefined) throw refuse(path, null, 'a string or an array of parts');
  const whole = stringValue(content);
  if (whole !== undefined) return [textPart(whole)];
  return readList(content, path, 'a string or an array of parts').map((part, index) =>
    parsePart(readObject(part, `${path}.${index}`, 'a content part (an object)'), `${path}.${index}`, reading),
  );
}

const PART_TYPES = 'one of input_text, input_image, input_file, input_audio';

function parsePart(part: JsonNode, path: string, reading: RequestReading): ContentPart {
  const cache_mark = parseCacheMark(part, path, reading);
  switch (typeOf(part)) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { ...textPart(readText(given(part, 'text'), `${path}.text`)), cache_mark };
    case 'input_image': {
      const source = parseUrlSource(given(part, 'image_url'), `${path}.image_url`);
      return { kind: 'image', source, detail: readOptionalText(part, 'detail', `${path}.detail`), cache_mark };
    }
    case 'input_file':
      return { ...parseFile(part, path), cache_mark };
    case 'input_audio': {
      const at = `${path}.input_audio`;
      const audio = readObject(given(part, 'input_audio'), at, 'an object with data and format');
      return { kind: 'audio', source: parseAudioSource(audio, at), detail: null, cache_mark };
    }
    default:
      throw refuse(`${path}.type`, given(part, 'type') ?? null, PART_TYPES);
  }
}

function parseFile(part: JsonNode, path: string): Omit<DocumentPart, 'cache_mark'> {
  const bytes = given(part, 'file_data');
  const url = given(part, 'file_url');
  const title = readOptionalText(part, 'filename', `${path}.filename`);
  const shape = { kind: 'document', title, context: null, cites: false } as const;
  if (bytes !== undefined) return { ...shape, source: parseFileSource(bytes, `${path}.file_data`) };
  if (url !== undefined) return { ...shape, source: parseUrlSource(url, `${path}.file_url`) };
  throw refuseMember(path, 'found neither file_data nor file_url; expected file_data: the file as a data URL');
}

/** The effort that the last `configuration_update` of the input sets; null: none does. */
export function updatedEffort(root: JsonNode): JsonNode | null {
  const input = given(root, 'input');
  const updates = input === undefined ? [] : elements(input).filter((item) => typeOf(item) === 'configuration_update');
  for (const update of updates.toReversed()) {
    const reasoning = given(update, 'reasoning');
    const effort = reasoning?.kind === 'object' ? given(reasoning, 'effort') : undefined;
    if (effort !== undefined) return effort;
  }
  return null;
}
