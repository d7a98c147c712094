/** Owns the reading of `tools`, `tool_choice` and `parallel_tool_calls` of a chat completions request. */
import { BodyProblem, type Path, refuse } from '../body-problem.ts';
import { checkArray, checkBoolean, checkObject, checkRequiredWord, checkString } from '../check-member.ts';
import { isAbsent, type JsonObject } from '../json-value.ts';
import type { Prompt, Tool, ToolChoice } from '../prompt.ts';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const CHOICES = ['none', 'auto', 'required'] as const;
const CHOICE_FORMS = 'none, auto, required, or an object that names a tool of `tools`';

export function parseChatTools(body: JsonObject): Pick<Prompt, 'tools' | 'toolChoice' | 'parallelTools'> {
  const all = isAbsent(body.tools) ? [] : checkArray(body.tools, ['tools']).map(parseTool);
  const parallelTools =
    isAbsent(body.parallel_tool_calls) || checkBoolean(body.parallel_tool_calls, ['parallel_tool_calls']);
  if (isAbsent(body.tool_choice)) return { tools: all, toolChoice: { mode: 'auto' }, parallelTools };
  if (all.length === 0) throw new BodyProblem(['tool_choice'], 'found it without `tools`; send tools or leave it out');
  return { parallelTools, ...parseChoice(body.tool_choice, all) };
}

function parseTool(value: unknown, at: number): Tool {
  const path = ['tools', at];
  const tool = checkObject(value, path);
  if (checkRequiredWord(tool.type, [...path, 'type'], ['function', 'custom']) === 'custom') {
    const custom = checkObject(tool.custom, [...path, 'custom']);
    return { ...parseNaming(custom, [...path, 'custom']), input: 'free', schema: true, path };
  }
  const definition = checkObject(tool.function, [...path, 'function']);
  const schemaPath = [...path, 'function', 'parameters'];
  const parameters = isAbsent(definition.parameters)
    ? {}
    : checkObject(definition.parameters, schemaPath, 'a JSON Schema (an object)');
  const schema = { type: 'object', ...parameters };
  return { ...parseNaming(definition, [...path, 'function']), input: 'schema', schema, path: schemaPath };
}

function parseNaming(definition: JsonObject, path: Path): Pick<Tool, 'name' | 'description'> {
  const name = checkString(definition.name, [...path, 'name']);
  if (!NAME.test(name)) refuse([...path, 'name'], name, '1 to 64 letters, digits, underscores or hyphens');
  const described = definition.description;
  return { name, description: isAbsent(described) ? '' : checkString(described, [...path, 'description']) };
}

function parseChoice(value: unknown, tools: readonly Tool[]): Pick<Prompt, 'tools' | 'toolChoice'> {
  const path = ['tool_choice'];
  const word = CHOICES.find((choice) => choice === value);
  if (word !== undefined) return { tools, toolChoice: { mode: word } };
  const choice = checkObject(value, path, CHOICE_FORMS);
  if (choice.type === 'allowed_tools') return parseAllowed(choice.allowed_tools, tools);
  return { tools, toolChoice: { mode: 'named', name: parseReference(choice, path, tools) } };
}

function parseAllowed(value: unknown, tools: readonly Tool[]): { tools: readonly Tool[]; toolChoice: ToolChoice } {
  const path = ['tool_choice', 'allowed_tools'];
  const allowed = checkObject(value, path);
  const mode = checkRequiredWord(allowed.mode, [...path, 'mode'], ['auto', 'required']);
  const names = checkArray(allowed.tools, [...path, 'tools']).map((entry, at) =>
    parseReference(checkObject(entry, [...path, 'tools', at]), [...path, 'tools', at], tools),
  );
  const subset = tools.filter((tool) => names.includes(tool.name));
  return { tools: subset, toolChoice: { mode: mode === 'required' ? 'required' : 'auto' } };
}

/** The name in `{type: function | custom, <type>: {name}}`, which must be one of the tools. */
function parseReference(reference: JsonObject, path: Path, tools: readonly Tool[]): string {
  const type = checkRequiredWord(reference.type, [...path, 'type'], ['function', 'custom']);
  const named = checkObject(reference[type], [...path, type]);
  const known = tools.find((tool) => tool.name === named.name);
  return known?.name ?? refuse([...path, type, 'name'], named.name, 'the name of one of `tools`');
}
