/** Parses the tools and the tool choice of a Responses request. Source: specification of the Responses API, B.4 and B.5. */
import type { CallForm, Tool, ToolChoice } from '../../../generation/request.ts';
import { elements, type JsonNode, jsonText, stringValue } from '../../../wire/json-node.ts';
import {
  CHOICE_FORMS,
  parseAllowedTools,
  parseChoiceWord,
  parseFunction,
  parseGrammarFormat,
  parseParameters,
  TOOL_NAME,
} from '../../openai/parse-tools.ts';
import {
  dropUnknown,
  given,
  type RequestReading,
  readList,
  readName,
  readObject,
  readOptionalText,
} from '../../openai/read-member.ts';
import { refuse } from '../../request/request-facts.ts';
import { typeOf } from '../../request/request-needs.ts';
import { CLIENT_TOOLS, type ClientToolType, isClientTool } from '../shared/client-tools.ts';

/** Whether the provider runs tools of this type. */
export function isHosted(type: string | null): boolean {
  return type !== null && type !== 'function' && type !== 'custom' && type !== 'namespace' && !isClientTool(type);
}

/** Clients offer these with every request, so a model without them is still asked. */
const DROPPED: ReadonlyArray<readonly [start: string, why: string]> = [
  ['web_search', 'the model behind this name cannot search the web by itself'],
];

const FUNCTION_MEMBERS = new Set(['type', 'name', 'description', 'parameters', 'strict', 'defer_loading']);
const CUSTOM_MEMBERS = new Set(['type', 'name', 'description', 'format']);
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
  if (type === 'function') {
    dropUnknown(tool, FUNCTION_MEMBERS, 'tools[]', reading);
    return [parseFunction(tool, path)];
  }
  if (type === 'custom') return [parseCustom(tool, path, reading)];
  if (type === 'namespace') return parseNamespace(tool, path, forms, reading);
  if (type === 'tool_search' && readOptionalText(tool, 'execution', `${path}.execution`) !== 'client') {
    reading.notes.drop('tools.tool_search', 'the model behind this name gets all tools at once');
    return [];
  }
  if (isClientTool(type) && !runsElsewhere(tool)) return [parseClientTool(tool, type, path, forms)];
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

/** A shell may run in a container of the provider. */
function runsElsewhere(tool: JsonNode): boolean {
  const environment = given(tool, 'environment');
  return environment !== undefined && typeOf(environment) !== 'local';
}

/** The model gets a function, whose calls the client gets as those of its tool. */
function parseClientTool(tool: JsonNode, name: ClientToolType, path: string, forms: Map<string, CallForm>): Tool {
  forms.set(name, { kind: 'typed', type: name });
  const own = CLIENT_TOOLS[name];
  return {
    kind: 'function',
    name,
    description: readOptionalText(tool, 'description', `${path}.description`) ?? own.description,
    parameters: own.parameters ?? parseParameters(tool, path),
    strict: null,
    cache_mark: null,
  };
}

function parseCustom(tool: JsonNode, path: string, reading: RequestReading): Tool {
  dropUnknown(tool, CUSTOM_MEMBERS, 'tools[]', reading);
  const name = readName(given(tool, 'name'), `${path}.name`, TOOL_NAME);
  const description = readOptionalText(tool, 'description', `${path}.description`);
  const at = `${path}.format`;
  const grammar = parseGrammarFormat(tool, at);
  if (grammar === null) return { kind: 'custom', name, description, grammar };
  const definition = readName(given(grammar, 'definition'), `${at}.definition`, 'the grammar as a string');
  const syntax = readName(given(grammar, 'syntax'), `${at}.syntax`, 'lark or regex');
  const dropped = 'the model behind this name only reads the grammar and is not held to it';
  reading.notes.drop('tools[].format.grammar', dropped);
  const words = `The input must follow this ${syntax} grammar:\n${definition}`;
  return {
    kind: 'custom',
    name,
    description: description === null ? words : `${description}\n\n${words}`,
    grammar: null,
  };
}

/** Null: absent. Throws CallFailure for a form that only the format's own provider knows. */
export function parseToolChoice(root: JsonNode, reading: RequestReading): ToolChoice | null {
  const choice = given(root, 'tool_choice');
  if (choice === undefined) return null;
  reading.named.tool_choice = 'tool_choice';
  if (choice.kind === 'string') return parseChoiceWord(choice, 'tool_choice');
  const form = readObject(choice, 'tool_choice', CHOICE_FORMS);
  if (readOptionalText(form, 'type', 'tool_choice.type') === 'allowed_tools')
    return parseAllowedTools(form, 'tool_choice', parseNamed);
  return { kind: 'tool', name: parseNamed(form, 'tool_choice') };
}

/** `{type, name}` of a function or a custom tool, `{type}` of a tool that the client runs. */
function parseNamed(node: JsonNode, path: string): string {
  const tool = readObject(node, path, CHOICE_FORMS);
  const type = given(tool, 'type');
  const word = type === undefined ? undefined : stringValue(type);
  if (word !== undefined && isClientTool(word)) return word;
  if (word !== 'function' && word !== 'custom')
    throw refuse(`${path}.type`, type ?? null, 'function or custom, the tools that can be carried to this model');
  return readName(given(tool, 'name'), `${path}.name`, TOOL_NAME);
}
