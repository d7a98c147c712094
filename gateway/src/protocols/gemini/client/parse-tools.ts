/** Parses the tools and the tool choice of a Gemini request. https://ai.google.dev/api/caching#Tool, read 2026-11-23. */
import type { Tool, ToolChoice } from '../../../generation/request.ts';
import { children, type JsonNode, jsonText, stringValue } from '../../../wire/json-node.ts';
import { type RequestReading, readName, readObject } from '../../openai/read-member.ts';
import { refuse } from '../../request/request-facts.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { toJsonSchema } from './json-schema.ts';
import { dropUnknown, given, listOf, nameOf, readOptionalText } from './members.ts';

const FUNCTION_MEMBERS = new Set([
  ...['name', 'description', 'parameters', 'parametersJsonSchema', 'response', 'responseJsonSchema', 'behavior'],
]);

/** Throws CallFailure for a tool that Google runs itself. */
export function parseTools(root: JsonNode, reading: RequestReading): readonly Tool[] {
  const list = given(root, 'tools');
  const tools: Tool[] = [];
  for (const [index, node] of list === undefined ? [] : listOf(list).entries()) {
    if (node.kind === 'null') continue;
    for (const kind of children(readObject(node, `tools.${index}`, 'a tool (an object)'))) {
      if (kind.kind === 'null') continue;
      const path = `tools.${index}.${nameOf(kind)}`;
      if (nameOf(kind) !== 'functionDeclarations') {
        throw refuseMember(path, 'only Gemini itself has this tool; leave it out, or choose a model of Google');
      }
      for (const [place, one] of listOf(kind).entries()) tools.push(parseFunction(one, `${path}.${place}`, reading));
    }
  }
  if (tools.length > 0) reading.named.tools = 'tools';
  return tools;
}

function parseFunction(node: JsonNode, path: string, reading: RequestReading): Tool {
  const declared = readObject(node, path, 'a function declaration (an object)');
  dropUnknown(declared, FUNCTION_MEMBERS, 'tools[].functionDeclarations[]', reading);
  const own = given(declared, 'parameters');
  const schema = given(declared, 'parametersJsonSchema');
  if (schema !== undefined) readObject(schema, `${path}.parametersJsonSchema`, 'a JSON Schema (an object)');
  const converted = own === undefined ? null : toJsonSchema(own, `${path}.parameters`);
  return {
    kind: 'function',
    name: readName(given(declared, 'name'), `${path}.name`, 'the name of the function'),
    description: readOptionalText(declared, 'description', `${path}.description`),
    parameters: schema === undefined ? converted : jsonText(schema),
    strict: null,
    cache_mark: null,
  };
}

const MODES = 'one of AUTO, ANY, NONE, VALIDATED';

/** Null: absent. */
export function parseToolChoice(root: JsonNode, reading: RequestReading): ToolChoice | null {
  const holder = given(root, 'toolConfig');
  if (holder === undefined) return null;
  const config = readObject(holder, 'toolConfig');
  dropUnknown(config, new Set(['functionCallingConfig']), 'toolConfig', reading);
  const calling = given(config, 'functionCallingConfig');
  if (calling === undefined) return null;
  const path = 'toolConfig.functionCallingConfig';
  const choice = readObject(calling, path);
  dropUnknown(choice, new Set(['mode', 'allowedFunctionNames']), path, reading);
  const mode = (readOptionalText(choice, 'mode', `${path}.mode`) ?? 'AUTO').toUpperCase();
  if (mode === 'MODE_UNSPECIFIED') return null;
  const allowed = given(choice, 'allowedFunctionNames');
  const names = allowed === undefined ? [] : listOf(allowed).map((one) => stringValue(one) ?? jsonText(one));
  reading.named.tool_choice = path;
  switch (mode) {
    case 'NONE':
      return { kind: 'none' };
    case 'AUTO':
    case 'VALIDATED':
      return names.length === 0 ? { kind: 'auto' } : { kind: 'allowed', mode: 'auto', names };
    case 'ANY': {
      const [only] = names;
      if (only === undefined) return { kind: 'required' };
      return names.length === 1 ? { kind: 'tool', name: only } : { kind: 'allowed', mode: 'required', names };
    }
    default:
      throw refuse(`${path}.mode`, given(choice, 'mode') ?? null, MODES);
  }
}
