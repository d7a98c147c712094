/** Owns reading `tool_choice` and its deprecated form `function_call`. */
import type { ToolChoice } from '../../generation/request.ts';
import { type JsonNode, stringValue } from '../../wire/json-node.ts';
import { refuse } from '../check-member.ts';
import { given, type RequestReading, readList, readName, readObject, readOptionalText } from './read-member.ts';

const WORDS = 'none, auto, required, or an object that names a tool';

/** Null: not said. Throws CallFailure for a form that is not known. */
export function parseToolChoice(root: JsonNode, reading: RequestReading): ToolChoice | null {
  for (const name of ['tool_choice', 'function_call'] as const) {
    const choice = given(root, name);
    if (choice === undefined) continue;
    reading.named.tool_choice = name;
    if (choice.kind === 'string') return parseWord(choice, name);
    if (name === 'tool_choice') return parseForm(readObject(choice, name, WORDS));
    return { kind: 'tool', name: toolName(readObject(choice, name, WORDS), name) };
  }
  return null;
}

/** `any` is what Mistral's client calls `required`. */
function parseWord(choice: JsonNode, path: string): ToolChoice {
  const word = stringValue(choice);
  if (word === 'none' || word === 'auto' || word === 'required') return { kind: word };
  if (word === 'any') return { kind: 'required' };
  throw refuse(path, choice, WORDS);
}

function parseForm(choice: JsonNode): ToolChoice {
  const type = readOptionalText(choice, 'type', 'tool_choice.type');
  if (type === 'allowed_tools') return parseAllowed(choice);
  return { kind: 'tool', name: parseNamed(choice, 'tool_choice') };
}

function parseAllowed(choice: JsonNode): ToolChoice {
  const path = 'tool_choice.allowed_tools';
  const allowed = readObject(given(choice, 'allowed_tools'), path, 'an object with mode and tools');
  const modeNode = given(allowed, 'mode');
  const mode = readName(modeNode, `${path}.mode`, 'auto or required');
  if (mode !== 'auto' && mode !== 'required') throw refuse(`${path}.mode`, modeNode ?? null, 'auto or required');
  const tools = given(allowed, 'tools');
  if (tools === undefined) throw refuse(`${path}.tools`, null, 'an array of tools');
  const list = readList(tools, `${path}.tools`, 'an array of tools');
  return { kind: 'allowed', mode, names: list.map((tool, index) => parseNamed(tool, `${path}.tools.${index}`)) };
}

/** `{type: 'function', function: {name}}` or the same with `custom`. */
function parseNamed(tool: JsonNode, path: string): string {
  const type = readOptionalText(readObject(tool, path, WORDS), 'type', `${path}.type`) ?? 'function';
  if (type !== 'function' && type !== 'custom') {
    throw refuse(`${path}.type`, given(tool, 'type') ?? null, 'function, custom or allowed_tools');
  }
  return toolName(readObject(given(tool, type), `${path}.${type}`, 'an object with a name'), `${path}.${type}`);
}

function toolName(holder: JsonNode, path: string): string {
  return readName(given(holder, 'name'), `${path}.name`, 'the name of a tool');
}
