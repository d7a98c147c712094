/** Parses the parts of tools and of a tool choice that have one form in OpenAI's two formats. */
import type { Tool, ToolChoice } from '../../generation/request.ts';
import { type JsonNode, jsonText, stringValue } from '../../wire/json-node.ts';
import { refuse } from '../request/request-facts.ts';
import { given, readList, readName, readObject, readOptionalBoolean, readOptionalText } from './read-member.ts';

export const TOOL_NAME = 'the name of the tool';
export const CHOICE_FORMS = 'none, auto, required, or an object that names a tool';

/** The schema of the arguments as written; null: absent. */
export function parseParameters(tool: JsonNode, path: string): string | null {
  const parameters = given(tool, 'parameters');
  if (parameters === undefined) return null;
  return jsonText(readObject(parameters, `${path}.parameters`, 'a JSON Schema (an object)'));
}

/** `tool` has the members of the function. */
export function parseFunction(tool: JsonNode, path: string): Extract<Tool, { kind: 'function' }> {
  return {
    kind: 'function',
    name: readName(given(tool, 'name'), `${path}.name`, TOOL_NAME),
    description: readOptionalText(tool, 'description', `${path}.description`),
    parameters: parseParameters(tool, path),
    strict: readOptionalBoolean(tool, 'strict', `${path}.strict`),
    cache_mark: null,
  };
}

/** The format of a free-text tool's input, if it is a grammar; null: free text. */
export function parseGrammarFormat(tool: JsonNode, path: string): JsonNode | null {
  const node = given(tool, 'format');
  if (node === undefined) return null;
  const format = readObject(node, path, 'an object with a type');
  const type = readName(given(format, 'type'), `${path}.type`, 'text or grammar');
  if (type === 'text') return null;
  if (type !== 'grammar') throw refuse(`${path}.type`, given(format, 'type') ?? null, 'text or grammar');
  return format;
}

/** The choice as one word. Throws CallFailure for another one. */
export function parseChoiceWord(choice: JsonNode, path: string): ToolChoice {
  const word = stringValue(choice);
  if (word === 'none' || word === 'auto' || word === 'required') return { kind: word };
  throw refuse(path, choice, CHOICE_FORMS);
}

/** A choice among some tools. `holder` has `mode` and `tools`; `parseNamed` returns the name of a tool. */
export function parseAllowedTools(
  holder: JsonNode,
  path: string,
  parseNamed: (tool: JsonNode, path: string) => string,
): ToolChoice {
  const modeNode = given(holder, 'mode');
  const mode = readName(modeNode, `${path}.mode`, 'auto or required');
  if (mode !== 'auto' && mode !== 'required') throw refuse(`${path}.mode`, modeNode ?? null, 'auto or required');
  const tools = given(holder, 'tools');
  if (tools === undefined) throw refuse(`${path}.tools`, null, 'an array of tools');
  const list = readList(tools, `${path}.tools`, 'an array of tools');
  return { kind: 'allowed', mode, names: list.map((tool, index) => parseNamed(tool, `${path}.tools.${index}`)) };
}
