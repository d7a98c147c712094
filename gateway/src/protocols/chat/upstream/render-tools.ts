/** Renders tools and tool choice. */
import type { JsonText } from '../../../generation/part.ts';
import type { Tool, ToolChoice } from '../../../generation/request.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import { completeSchema, fitFunctionSchema } from '../../openai/function-schema.ts';
import { callerWord, type Draft, modelWord, upstreamName } from '../../openai/render-context.ts';
import { isStrictSchema } from '../../openai/strict-schema.ts';
import { FREE_TEXT } from '../../request/emulated-tools.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { fitPlainSchema } from './plain-schema.ts';
import { dropMark, type RenderContext } from './render-context.ts';

/** The members `tools`, `tool_choice` and `parallel_tool_calls`; none of them without tools. */
export function renderTools(context: RenderContext): Draft {
  const { request, traits } = context;
  const tool_choice = choiceOf(context);
  if (request.tools.length === 0) return refuseChoiceOfNothing(context);
  if (traits.takes.tools === false) {
    throw refuseMember(callerWord(context, 'tools'), `${modelWord(context)} cannot call tools; leave them out`);
  }
  const isFiltered = tool_choice?.kind === 'allowed' && !traits.chat.openaiMembers;
  const tools = isFiltered ? allowedTools(request.tools, tool_choice.names) : request.tools;
  if (tools.length === 0) return refuseChoiceOfNothing(context);
  const word = callerWord(context, 'tools');
  return {
    tools: tools.map((tool) => renderTool(tool, `${word}.${request.tools.indexOf(tool)}`, context)),
    tool_choice: tool_choice === null ? undefined : renderChoice(tool_choice, isFiltered, context),
    parallel_tool_calls: renderParallel(context),
  };
}

/** The choice of one tool is one among a single tool where the host takes no name. */
function choiceOf({ request, traits }: RenderContext): ToolChoice | null {
  const { tool_choice } = request;
  if (tool_choice?.kind !== 'tool' || traits.chat.namedToolChoice) return tool_choice;
  return { kind: 'allowed', mode: 'required', names: [tool_choice.name] };
}

function refuseChoiceOfNothing(context: RenderContext): Draft {
  const choice = context.request.tool_choice;
  const mode = choice?.kind === 'allowed' ? choice.mode : choice?.kind;
  if (mode === undefined || mode === 'auto' || mode === 'none') return {};
  throw refuseMember(
    callerWord(context, 'tool_choice'),
    'asks for a tool, but the request has none that it may call; send such a tool or leave it out',
  );
}

function allowedTools(tools: readonly Tool[], names: readonly string[]): Tool[] {
  return tools.filter(({ name }) => name !== null && names.includes(name));
}

/** `path`: the tool's path in the caller's request. */
function renderTool(tool: Tool, path: string, context: RenderContext): Draft {
  switch (tool.kind) {
    case 'function': {
      dropMark(tool.cache_mark, context);
      const described = { name: upstreamName(tool.name, context), description: tool.description ?? undefined };
      const schema = tool.parameters === null ? null : fitSchema(tool.parameters, `${path}.parameters`, context);
      const parameters = schema === null ? undefined : new RawJson(schema);
      return { type: 'function', function: { ...described, parameters, strict: renderStrict(tool, path, context) } };
    }
    case 'custom': {
      if (tool.grammar === null && !context.traits.chat.openaiMembers) return renderFreeText(tool, context);
      const described = { name: upstreamName(tool.name, context), description: tool.description ?? undefined };
      const format = tool.grammar === null ? undefined : { type: 'grammar', grammar: new RawJson(tool.grammar) };
      return { type: 'custom', custom: { ...described, format } };
    }
    case 'opaque': {
      const name = tool.name === null || tool.name === tool.type ? '' : ` ${JSON.stringify(tool.name)}`;
      throw refuseMember(
        callerWord(context, 'tools'),
        `found the tool${name} of type ${JSON.stringify(tool.type)}, which ${modelWord(context)} does not have; leave it out or send a function`,
      );
    }
  }
}

function fitSchema(schema: JsonText, path: string, context: RenderContext): JsonText {
  const { plainSchemas, openaiMembers } = context.traits.chat;
  if (plainSchemas) return fitPlainSchema(schema, path, context);
  return openaiMembers ? fitFunctionSchema(schema) : completeSchema(schema);
}

/** Compatible hosts only have functions. */
function renderFreeText({ name, description }: Extract<Tool, { kind: 'custom' }>, context: RenderContext): Draft {
  context.custom.add(name);
  const described = { name: upstreamName(name, context), description: description ?? undefined };
  return { type: 'function', function: { ...described, parameters: FREE_TEXT } };
}

/** `strict` that the provider cannot guarantee is reported as dropped, not sent: it would refuse the request. */
function renderStrict(
  tool: Extract<Tool, { kind: 'function' }>,
  path: string,
  context: RenderContext,
): boolean | undefined {
  if (tool.strict === null) return undefined;
  const canBe = context.traits.chat.strictSchemas;
  if (!tool.strict) return canBe ? false : undefined;
  if (canBe && tool.parameters !== null && isStrictSchema(tool.parameters)) return true;
  context.notes.drop(`${path}.strict`, `${modelWord(context)} cannot promise to keep this schema`);
  return undefined;
}

function renderChoice(choice: ToolChoice, isFiltered: boolean, context: RenderContext): WritableJson {
  switch (choice.kind) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.kind;
    case 'tool':
      return renderNamed(choice.name, context);
    case 'allowed':
      if (isFiltered) return choice.mode;
      return {
        type: 'allowed_tools',
        allowed_tools: { mode: choice.mode, tools: choice.names.map((name) => renderNamed(name, context)) },
      };
  }
}

function renderNamed(name: string, context: RenderContext): Draft {
  const isCustom = context.request.tools.some((tool) => tool.kind === 'custom' && tool.name === name);
  const type = isCustom && !context.custom.has(name) ? 'custom' : 'function';
  return { type, [type]: { name: upstreamName(name, context) } };
}

/** `true` is every provider's default. */
function renderParallel(context: RenderContext): boolean | undefined {
  const { parallel_tool_calls } = context.request;
  if (parallel_tool_calls === null) return undefined;
  if (context.traits.chat.parallelToolCalls) return parallel_tool_calls;
  if (!parallel_tool_calls) {
    context.notes.drop(
      callerWord(context, 'parallel_tool_calls'),
      `${modelWord(context)} may always call several tools at once`,
    );
  }
  return undefined;
}
