/** Owns the reading of `tools` and `tool_choice` of a messages request. */
import { BodyProblem, type Path, refuse } from '../body-problem.ts';
import { checkArray, checkBoolean, checkObject, checkRequiredWord, checkString, checkText } from '../check-member.ts';
import { isAbsent, type JsonObject } from '../json-value.ts';
import type { Prompt, Tool, ToolChoice } from '../prompt.ts';
import { checkSchema } from '../schema/check-schema.ts';

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/**
 * Only tools with an `input_schema` are offered to the demo model: it runs no server tool, and it does not know the
 * arguments of the vendor's typed client tools.
 */
export function parseMessagesTools(body: JsonObject): Pick<Prompt, 'tools' | 'toolChoice' | 'parallelTools'> {
  const entries = isAbsent(body.tools)
    ? []
    : checkArray(body.tools, ['tools']).map((tool, at) => checkObject(tool, ['tools', at]));
  const tools = entries.flatMap((tool, at) => parseTool(tool, ['tools', at]));
  requireUniqueNames(tools);
  if (isAbsent(body.tool_choice)) return { tools, toolChoice: { mode: 'auto' }, parallelTools: true };
  if (entries.length === 0)
    throw new BodyProblem(['tool_choice'], 'found it without `tools`; send tools or leave it out');
  const choice = checkObject(body.tool_choice, ['tool_choice']);
  const parallelTools = !checkBoolean(choice.disable_parallel_tool_use, ['tool_choice', 'disable_parallel_tool_use']);
  return { tools, toolChoice: parseChoice(choice, tools), parallelTools };
}

function parseTool(tool: JsonObject, path: Path): readonly Tool[] {
  if (!isAbsent(tool.type) && tool.type !== 'custom') {
    checkText(tool.type, [...path, 'type'], 'the type of a tool');
    return [];
  }
  const name = checkString(tool.name, [...path, 'name']);
  if (!NAME.test(name)) refuse([...path, 'name'], name, '1 to 128 letters, digits, underscores or hyphens');
  const description = isAbsent(tool.description) ? '' : checkString(tool.description, [...path, 'description']);
  const schemaPath = [...path, 'input_schema'];
  const schema = checkSchema(tool.input_schema, schemaPath);
  if (typeof schema === 'boolean') return refuse(schemaPath, schema, 'a JSON Schema (an object)');
  if (schema.type !== 'object') refuse([...schemaPath, 'type'], schema.type, '"object"');
  return [{ name, description, input: 'schema', schema, path: schemaPath }];
}

function requireUniqueNames(tools: readonly Tool[]): void {
  const seen = new Set<string>();
  for (const { name, path } of tools) {
    if (seen.has(name)) refuse([...path.slice(0, 2), 'name'], name, 'a name that no other tool has');
    seen.add(name);
  }
}

function parseChoice(choice: JsonObject, tools: readonly Tool[]): ToolChoice {
  const type = checkRequiredWord(choice.type, ['tool_choice', 'type'], ['auto', 'any', 'tool', 'none']);
  if (type === 'any') {
    if (tools.length > 0) return { mode: 'required' };
    throw new BodyProblem(
      ['tool_choice', 'type'],
      'found "any" where no tool has an `input_schema`; the demo model calls only such tools',
    );
  }
  if (type !== 'tool') return { mode: type === 'none' ? 'none' : 'auto' };
  const named = tools.find((tool) => tool.name === choice.name);
  if (named !== undefined) return { mode: 'named', name: named.name };
  return refuse(['tool_choice', 'name'], choice.name, 'the name of one of `tools` that has an `input_schema`');
}
