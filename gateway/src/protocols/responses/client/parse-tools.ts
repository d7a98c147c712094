/** Parses the tools and the tool choice of a Responses request. Source: specification of the Responses API, B.4 and B.5. */
import type { CallForm, Tool, ToolChoice } from '../../../generation/request.ts';
import { elements, type JsonNode, jsonText, stringValue } from '../../../wire/json-node.ts';
import {
  dropUnknown,
  given,
  type RequestReading,
  readList,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalText,
} from '../../openai/read-member.ts';
import { refuse } from '../../request/request-facts.ts';
import { typeOf } from '../../request/request-needs.ts';

/** Their members are those of the format, not of a call; a tool of theirs runs at the client. */
const CLIENT_RUN: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'tool_search',
  'local_shell',
  'shell',
  'apply_patch',
]);

/** Whether the provider runs tools of this type. */
export function isHosted(type: string | null): boolean {
  return type !== null && !CLIENT_RUN.has(type);
}

/** Clients offer these with every request, so a model without them is still asked. */
const DROPPED: ReadonlyArray<readonly [start: string, why: string]> = [
  ['web_search', 'the model behind this name cannot search the web by itself'],
];

const FUNCTION_MEMBERS = new Set(['type', 'name', 'description', 'parameters', 'strict', 'defer_loading']);
const CUSTOM_MEMBERS = new Set(['type', 'name', 'description', 'format']);
const TOOL_NAME = 'the name of the tool';
/** The function that stands for a search for tools. */
export const TOOL_SEARCH = 'tool_search';

export interface ParsedTools {
  readonly tools: readonly Tool[];
  readonly callForms: ReadonlyMap<string, CallForm>;
}

/** The tools of the request, and those that items of its input add. Of two with one name the first counts. */
export function parseTools(root: JsonNode, reading: RequestReading): ParsedTools {
  const tools: Tool[] = [];
  const known = new Set<string | null>();
  const callForms = new Map<string, CallForm>();
  const input = given(root, 'input');
  const holders = [root, ...(input === undefined ? [] : elements(input).filter(addsTools))];
  for (const [place, holder] of holders.entries()) {
    const list = given(holder, 'tools');
    const at = place === 0 ? 'tools' : 'input[].tools';
    for (const [index, node] of list === undefined ? [] : readList(list, at, 'an array of tools').entries()) {
      for (const tool of parseTool(node, `${at}.${index}`, callForms, reading)) {
        if (tool.name === null || !known.has(tool.name)) tools.push(tool);
        known.add(tool.name);
      }
    }
  }
  if (tools.length > 0) reading.named.tools = 'tools';
  return { tools, callForms };
}

function addsTools(item: JsonNode): boolean {
  const type = typeOf(item);
  return type === 'tool_search_output' || type === 'additional_tools';
}

/** The name of a tool of a namespace for models that know no namespaces. */
export function joinNames(namespace: string | null, name: string): string {
  return namespace === null ? name : `${namespace}__${name}`;
}

/** No tool for one that is dropped, several for a namespace. */
function parseTool(node: JsonNode, path: string, forms: Map<string, CallForm>, reading: RequestReading): Tool[] {
  const tool = readObject(node, path, 'a tool definition (an object)');
  const type = readName(given(tool, 'type'), `${path}.type`, 'the type of the tool, such as function');
  if (type === 'function') return [parseFunction(tool, path, reading)];
  if (type === 'custom') return [parseCustom(tool, path, reading)];
  if (type === 'namespace') return parseNamespace(tool, path, forms, reading);
  if (type === 'tool_search') return parseToolSearch(tool, path, forms, reading);
  const dropped = DROPPED.find(([start]) => type.startsWith(start));
  if (dropped !== undefined) {
    reading.notes.drop(`tools.${dropped[0]}`, dropped[1]);
    return [];
  }
  const name = readOptionalText(tool, 'name', `${path}.name`);
  return [{ kind: 'opaque', type, name, native: { origin: 'responses', json: jsonText(tool) } }];
}

function parseNamespace(holder: JsonNode, path: string, forms: Map<string, CallForm>, reading: RequestReading): Tool[] {
  const namespace = readName(given(holder, 'name'), `${path}.name`, 'the name of the namespace');
  const list = given(holder, 'tools');
  if (list === undefined) return [];
  return readList(list, `${path}.tools`, 'an array of tools').flatMap((node, index) =>
    parseTool(node, `${path}.tools.${index}`, forms, reading).map((tool) => {
      if (tool.kind === 'opaque') return tool;
      const name = joinNames(namespace, tool.name);
      forms.set(name, { kind: 'namespaced', namespace, name: tool.name });
      return { ...tool, name };
    }),
  );
}

/** The client searches: the model gets a function, whose call the client gets as a search. */
function parseToolSearch(tool: JsonNode, path: string, forms: Map<string, CallForm>, reading: RequestReading): Tool[] {
  if (readOptionalText(tool, 'execution', `${path}.execution`) !== 'client') {
    reading.notes.drop('tools.tool_search', 'the model behind this name gets all tools at once');
    return [];
  }
  const parameters = given(tool, 'parameters');
  forms.set(TOOL_SEARCH, { kind: 'tool_search' });
  return [
    {
      kind: 'function',
      name: TOOL_SEARCH,
      description: readOptionalText(tool, 'description', `${path}.description`) ?? 'Finds more tools.',
      parameters:
        parameters === undefined
          ? null
          : jsonText(readObject(parameters, `${path}.parameters`, 'a JSON Schema (an object)')),
      strict: null,
      cache_mark: null,
    },
  ];
}

function parseFunction(tool: JsonNode, path: string, reading: RequestReading): Tool {
  dropUnknown(tool, FUNCTION_MEMBERS, 'tools[]', reading);
  const parameters = given(tool, 'parameters');
  if (parameters !== undefined) readObject(parameters, `${path}.parameters`, 'a JSON Schema (an object)');
  return {
    kind: 'function',
    name: readName(given(tool, 'name'), `${path}.name`, TOOL_NAME),
    description: readOptionalText(tool, 'description', `${path}.description`),
    parameters: parameters === undefined ? null : jsonText(parameters),
    strict: readOptionalBoolean(tool, 'strict', `${path}.strict`),
    cache_mark: null,
  };
}

function parseCustom(tool: JsonNode, path: string, reading: RequestReading): Tool {
  dropUnknown(tool, CUSTOM_MEMBERS, 'tools[]', reading);
  const name = readName(given(tool, 'name'), `${path}.name`, TOOL_NAME);
  const description = readOptionalText(tool, 'description', `${path}.description`);
  const grammar = parseGrammar(tool, `${path}.format`);
  if (grammar === null) return { kind: 'custom', name, description, grammar };
  reading.notes.drop(
    'tools[].format.grammar',
    'the model behind this name is only told the grammar, and not held to it',
  );
  const words = `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return {
    kind: 'custom',
    name,
    description: description === null ? words : `${description}\n\n${words}`,
    grammar: null,
  };
}

interface Grammar {
  readonly syntax: string;
  readonly definition: string;
}

/** Null: free text. */
function parseGrammar(tool: JsonNode, path: string): Grammar | null {
  const node = given(tool, 'format');
  if (node === undefined) return null;
  const format = readObject(node, path, 'an object with a type');
  const type = readName(given(format, 'type'), `${path}.type`, 'text or grammar');
  if (type === 'text') return null;
  if (type !== 'grammar') throw refuse(`${path}.type`, given(format, 'type') ?? null, 'text or grammar');
  const definition = readName(given(format, 'definition'), `${path}.definition`, 'the grammar as a string');
  const syntax = readName(given(format, 'syntax'), `${path}.syntax`, 'lark or regex');
  return { syntax, definition };
}

const WORDS = 'none, auto, required, or an object that names a tool';

/** Null: absent. Throws CallFailure for a form that only the format's own provider knows. */
export function parseToolChoice(root: JsonNode, reading: RequestReading): ToolChoice | null {
  const choice = given(root, 'tool_choice');
  if (choice === undefined) return null;
  reading.named.tool_choice = 'tool_choice';
  if (choice.kind === 'string') {
    const word = stringValue(choice);
    if (word === 'none' || word === 'auto' || word === 'required') return { kind: word };
    throw refuse('tool_choice', choice, WORDS);
  }
  const form = readObject(choice, 'tool_choice', WORDS);
  if (readOptionalText(form, 'type', 'tool_choice.type') !== 'allowed_tools')
    return { kind: 'tool', name: parseNamed(form, 'tool_choice') };
  const modeNode = given(form, 'mode');
  const mode = readName(modeNode, 'tool_choice.mode', 'auto or required');
  if (mode !== 'auto' && mode !== 'required') throw refuse('tool_choice.mode', modeNode ?? null, 'auto or required');
  const tools = given(form, 'tools');
  if (tools === undefined) throw refuse('tool_choice.tools', null, 'an array of tools');
  const list = readList(tools, 'tool_choice.tools', 'an array of tools');
  return { kind: 'allowed', mode, names: list.map((tool, index) => parseNamed(tool, `tool_choice.tools.${index}`)) };
}

/** `{type, name}` of a function or a custom tool. */
function parseNamed(node: JsonNode, path: string): string {
  const tool = readObject(node, path, WORDS);
  const type = given(tool, 'type');
  const word = type === undefined ? undefined : stringValue(type);
  if (word !== 'function' && word !== 'custom')
    throw refuse(`${path}.type`, type ?? null, 'function or custom, the tools that can be carried to this model');
  return readName(given(tool, 'name'), `${path}.name`, TOOL_NAME);
}
