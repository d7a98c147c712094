/**
 * Renders the tools of a request and the tool choice. Converse has no choice `none`, and refuses a history with calls
 * without tools. Source: provider reference C.3.
 */
import type { JsonText } from '../../../generation/part.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../../generation/request.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import { describeOutputTool, FREE_TEXT, requireTools } from '../../request/emulated-tools.ts';
import { fitSchema, renderSchema } from '../../request/fit-schema.ts';
import type { OutputForm } from '../../request/output-form.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { type Block, type PartContext, renderCachePoint, renderToolName } from './render-part.ts';

export interface RenderedTools {
  readonly tools: Block[];
  /** `toolChoice`; null: none is sent. */
  readonly choice: Block | null;
  /** The choice in the form of Anthropic, which alone can forbid parallel calls. */
  readonly fields: { readonly tool_choice?: WritableJson };
  /** Some tool must be called. */
  readonly isForced: boolean;
  /** The client's names of tools that take free text. */
  readonly custom: ReadonlySet<string>;
}

/**
 * Throws CallFailure `invalid_request` for a tool that only another provider has, and for any tool if the model takes
 * none.
 */
export function renderTools(request: GenerationRequest, form: OutputForm, context: PartContext): RenderedTools {
  const { traits } = context;
  if (request.web_search !== null) {
    throw refuseMember(request.named.web_search ?? 'web_search', 'Bedrock has no search; leave it out');
  }
  const called = calledNames(request);
  const offered = offeredTools(request, form, called.size > 0, context);
  if (traits.takes.tools === false && offered.length > 0) {
    throw refuseMember(request.named.tools ?? 'tools', `${traits.model} takes no tools; leave them out`);
  }
  const tools = offered.flatMap(([tool, path]) => renderTool(tool, path, context));
  if (form.tool !== null)
    tools.push(renderOutputTool(form.tool, request.named.output_format ?? 'output_format', context));
  const toolCount = tools.length;
  if (toolCount === 0) for (const name of called) tools.push(renderStub(name, context));
  const custom = request.tools.flatMap((tool) => (tool.kind === 'custom' ? [tool.name] : []));
  return { tools, custom: new Set(custom), ...renderChoice(request, form, toolCount, context) };
}

function calledNames({ turns }: GenerationRequest): ReadonlySet<string> {
  const calls = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool_call' ? [part.name] : [])));
  return new Set(calls);
}

/** Tools that must not be called are left out; if the history has calls, they have to stay. */
function offeredTools(
  { tools, tool_choice: choice, named }: GenerationRequest,
  form: OutputForm,
  hasCalls: boolean,
  { notes }: PartContext,
): ReadonlyArray<readonly [tool: Tool, path: string]> {
  const all = tools.map((tool, index) => [tool, `tools.${index}`] as const);
  if (choice?.kind === 'allowed') return all.filter(([{ name }]) => name !== null && choice.names.includes(name));
  if (choice?.kind !== 'none' || tools.length === 0) return all;
  if (form.tool !== null || !hasCalls) return [];
  notes.drop(
    named.tool_choice ?? 'tool_choice',
    'Bedrock cannot keep a model from calling tools that its history names',
  );
  return all;
}

function renderTool(tool: Tool, path: string, context: PartContext): Block[] {
  if (tool.kind === 'opaque') {
    throw refuseMember(path, `a tool of type ${tool.type} is unknown to Bedrock; give it as a function`);
  }
  const name = renderToolName(tool.name, context.restored);
  const description = tool.description?.trim() ? tool.description : undefined;
  if (tool.kind === 'custom') {
    if (tool.grammar === null) return [{ toolSpec: { name, description, inputSchema: { json: FREE_TEXT } } }];
    throw refuseMember(path, 'Bedrock cannot hold a text to a grammar; leave the grammar out');
  }
  const schema = context.argumentAliases.fit(tool.name, tool.parameters, path);
  const strict = renderStrict(tool.strict, schema, path, context);
  const json = strict === true ? renderSchema(schema, `${path}.parameters`, context.notes) : schema;
  const spec = { toolSpec: { name, description, inputSchema: { json: new RawJson(json) }, strict } };
  if (tool.cache_mark !== null && context.vendor.caches?.tools === false) {
    context.notes.drop('cache_control', 'the model takes no cache points after tools');
    return [spec];
  }
  const point = renderCachePoint(tool.cache_mark, context);
  return point === null ? [spec] : [spec, point];
}

/** If the model does not enforce schemas, refuses this one, or would lose members, `strict` is dropped. */
function renderStrict(
  strict: boolean | null,
  schema: JsonText,
  path: string,
  { traits, vendor, notes }: PartContext,
): true | undefined {
  if (strict !== true) return undefined;
  const isHeld = traits.takes.structured_output ?? vendor.schemas;
  const { losesMembers, isRefused } = fitSchema(schema);
  if (isHeld && !losesMembers && !isRefused) return true;
  notes.drop(
    `${path}.strict`,
    `${traits.model} holds arguments to ${isHeld ? 'closed objects without recursion only' : 'no schema'}`,
  );
  return undefined;
}

function renderOutputTool(
  { name, schema, description }: NonNullable<OutputForm['tool']>,
  member: string,
  { argumentAliases }: PartContext,
): Block {
  const json = new RawJson(argumentAliases.fit(name, schema, member));
  return { toolSpec: { name, description: describeOutputTool(description), inputSchema: { json } } };
}

/** Stands for a tool of earlier calls that the client no longer offers. */
function renderStub(name: string, { restored }: PartContext): Block {
  const description = 'No longer available. Do not call it.';
  return {
    toolSpec: { name: renderToolName(name, restored), description, inputSchema: { json: { type: 'object' } } },
  };
}

type Choice = Pick<RenderedTools, 'choice' | 'fields' | 'isForced'>;

const NO_CHOICE: Choice = { choice: null, fields: {}, isForced: false };

/** `toolCount` includes the output tool, and no stubs. */
function renderChoice(request: GenerationRequest, form: OutputForm, toolCount: number, context: PartContext): Choice {
  const { tool_choice: requested, named } = request;
  const { traits, vendor, notes } = context;
  if (requested !== null) requireTools(request, requested, toolCount);
  if (toolCount === 0) return NO_CHOICE;
  const [kind, name] = chooseKind(requested, form, toolCount, traits.messages.forcedToolChoice, context);
  const isForced = kind === 'any' || kind === 'tool';
  if (isForced && !traits.messages.forcedToolChoice) {
    throw refuseMember(
      named.tool_choice ?? 'tool_choice',
      `${traits.model} cannot be made to call a tool; ask for "auto", or choose another model`,
    );
  }
  const isSingle = request.parallel_tool_calls === false && requested?.kind !== 'none';
  if (isSingle && vendor.reasoning === 'thinking') {
    return {
      choice: null,
      fields: { tool_choice: { type: kind ?? 'auto', name, disable_parallel_tool_use: true } },
      isForced,
    };
  }
  if (isSingle)
    notes.drop(named.parallel_tool_calls ?? 'parallel_tool_calls', `${traits.model} may call several tools`);
  if (kind === null) return NO_CHOICE;
  return { choice: { [kind]: name === undefined ? {} : { name } }, fields: {}, isForced };
}

/** Null: the model decides, and that is not sent. */
function chooseKind(
  requested: ToolChoice | null,
  { tool }: OutputForm,
  toolCount: number,
  mayForce: boolean,
  { restored }: PartContext,
): readonly [kind: 'auto' | 'any' | 'tool' | null, name?: string] {
  if (tool !== null) {
    if (!mayForce) return ['auto'];
    return toolCount === 1 ? ['tool', tool.name] : ['any'];
  }
  switch (requested?.kind) {
    case 'required':
      return ['any'];
    case 'tool':
      return ['tool', renderToolName(requested.name, restored)];
    case 'allowed':
      return [requested.mode === 'required' ? 'any' : 'auto'];
    case 'auto':
      return ['auto'];
    default:
      return [null];
  }
}
