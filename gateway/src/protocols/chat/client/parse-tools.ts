/** Parses `tools` and their deprecated form `functions`. Upstream validates the schemas. */
import type { Tool } from '../../../generation/request.ts';
import { type JsonNode, jsonText } from '../../../wire/json-node.ts';
import { refuse } from '../../request/check-member.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import {
  dropUnknown,
  given,
  MARK_MEMBERS,
  parseCacheMark,
  type RequestReading,
  readList,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalText,
} from './read-member.ts';

const TOOL_MEMBERS = new Set(['type', 'function', 'custom', ...MARK_MEMBERS]);
const FUNCTION_MEMBERS = new Set(['name', 'description', 'parameters', 'strict', ...MARK_MEMBERS]);
const CUSTOM_MEMBERS = new Set(['name', 'description', 'format']);
const TOOL_NAME = 'the name of the tool';

export function parseTools(root: JsonNode, reading: RequestReading): Tool[] {
  const tools = parseList(root, 'tools', parseTool, reading);
  const functions = parseList(root, 'functions', parseFunction, reading);
  if (tools.length > 0 && functions.length > 0) {
    throw refuseMember('functions', 'stands beside tools, which replaced it; put all of them into tools');
  }
  if (tools.length > 0) reading.named.tools = 'tools';
  if (functions.length > 0) reading.named.tools = 'functions';
  return tools.length > 0 ? tools : functions;
}

type ParseTool = (node: JsonNode, path: string, reading: RequestReading) => Tool;

function parseList(root: JsonNode, name: string, parse: ParseTool, reading: RequestReading): Tool[] {
  const list = given(root, name);
  if (list === undefined) return [];
  return readList(list, name, 'an array of tools').map((tool, index) => parse(tool, `${name}.${index}`, reading));
}

/** A tool with a function but no type is a function, because several clients send it so. */
function parseTool(node: JsonNode, path: string, reading: RequestReading): Tool {
  const tool = readObject(node, path, 'a tool definition (an object)');
  const type = readOptionalText(tool, 'type', `${path}.type`);
  if (type !== null && type !== 'function' && type !== 'custom') {
    return {
      kind: 'opaque',
      type,
      name: readOptionalText(tool, 'name', `${path}.name`),
      native: { origin: 'chat', json: jsonText(tool) },
    };
  }
  dropUnknown(tool, TOOL_MEMBERS, path, reading);
  if (type === 'custom') return parseCustom(given(tool, 'custom'), `${path}.custom`, reading);
  const mark = parseCacheMark(tool, path, reading);
  const parsed = parseFunction(given(tool, 'function'), `${path}.function`, reading);
  return { ...parsed, cache_mark: mark ?? parsed.cache_mark };
}

function parseFunction(
  node: JsonNode | undefined,
  path: string,
  reading: RequestReading,
): Extract<Tool, { kind: 'function' }> {
  const named = readObject(node, path, 'an object with name, description and parameters');
  dropUnknown(named, FUNCTION_MEMBERS, path, reading);
  const parameters = given(named, 'parameters');
  if (parameters !== undefined) readObject(parameters, `${path}.parameters`, 'a JSON Schema (an object)');
  return {
    kind: 'function',
    name: readName(given(named, 'name'), `${path}.name`, TOOL_NAME),
    description: readOptionalText(named, 'description', `${path}.description`),
    parameters: parameters === undefined ? null : jsonText(parameters),
    strict: readOptionalBoolean(named, 'strict', `${path}.strict`),
    cache_mark: parseCacheMark(named, path, reading),
  };
}

function parseCustom(node: JsonNode | undefined, path: string, reading: RequestReading): Tool {
  const custom = readObject(node, path, 'an object with a name');
  dropUnknown(custom, CUSTOM_MEMBERS, path, reading);
  return {
    kind: 'custom',
    name: readName(given(custom, 'name'), `${path}.name`, TOOL_NAME),
    description: readOptionalText(custom, 'description', `${path}.description`),
    grammar: parseGrammar(custom, `${path}.format`),
  };
}

/** `{definition, syntax}` verbatim. */
function parseGrammar(custom: JsonNode, path: string): string | null {
  const format = given(custom, 'format');
  if (format === undefined) return null;
  const type = readName(
    given(readObject(format, path, 'an object with a type'), 'type'),
    `${path}.type`,
    'text or grammar',
  );
  if (type === 'text') return null;
  if (type !== 'grammar') throw refuse(`${path}.type`, given(format, 'type') ?? null, 'text or grammar');
  return jsonText(readObject(given(format, 'grammar'), `${path}.grammar`, 'an object with definition and syntax'));
}
