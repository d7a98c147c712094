/** Renders the tools of a request and the tool choice. Source: wire reference B.4 and C.1. */
import type { JsonText } from '../../../generation/part.ts';
import type { GenerationRequest, Tool, ToolChoice, WebSearchRequest } from '../../../generation/request.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import { describeOutputTool, FREE_TEXT, requireTools } from '../../request/emulated-tools.ts';
import { fitSchema, renderSchema } from '../../request/fit-schema.ts';
import type { OutputForm } from '../../request/output-form.ts';
import { aliasText } from '../../request/tool-names.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { renderCacheMark, type WrittenBlock } from './cache-control.ts';
import { NAME_CHARS_MAX, type PartContext, renderToolName } from './render-part.ts';

export interface RenderedTools {
  readonly tools: readonly WrittenBlock[];
  /** The client's names of tools that take free text. */
  readonly custom: ReadonlySet<string>;
}

/**
 * Throws CallFailure `invalid_request` for a tool that Anthropic does not support, and for any tool if the model takes
 * none.
 */
export function renderTools(request: GenerationRequest, form: OutputForm, context: PartContext): RenderedTools {
  const { traits } = context;
  const tools: WrittenBlock[] = [];
  for (const [index, tool] of request.tools.entries()) {
    if (isOffered(tool, request, form)) tools.push(renderTool(tool, `tools.${index}`, context));
  }
  if (request.web_search !== null) tools.push(renderWebSearch(request.web_search, request, context));
  if (traits.takes.tools === false && tools.length > 0) {
    const member = request.named.tools ?? request.named.web_search ?? 'tools';
    throw refuseMember(member, `${traits.model} takes no tools; leave them out, or choose another model`);
  }
  if (form.tool !== null)
    tools.push(renderOutputTool(form.tool, request.named.output_format ?? 'output_format', context));
  const custom = request.tools.flatMap((tool) => (tool.kind === 'custom' ? [tool.name] : []));
  return { tools, custom: new Set(custom) };
}

/** Tools that must not be called are omitted if only the output tool may be called. */
function isOffered(tool: Tool, { tool_choice }: GenerationRequest, form: OutputForm): boolean {
  if (tool_choice?.kind === 'none') return form.tool === null;
  return tool_choice?.kind !== 'allowed' || (tool.name !== null && tool_choice.names.includes(tool.name));
}

function renderTool(tool: Tool, path: string, context: PartContext): WrittenBlock {
  if (tool.kind === 'opaque') {
    if (tool.native.origin === 'messages') return new RawJson(tool.native.json);
    throw refuseMember(path, `a tool of type ${tool.type} is unknown to Anthropic; give it as a function`);
  }
  const named = { name: renderToolName(tool.name, context.restored), description: tool.description ?? undefined };
  if (tool.kind === 'custom') {
    if (tool.grammar === null) return { ...named, input_schema: FREE_TEXT };
    throw refuseMember(
      path,
      'Anthropic cannot hold a text to a grammar; leave the grammar out, or choose another model',
    );
  }
  const schema = context.argumentAliases.fit(tool.name, tool.parameters, path);
  const strict = renderStrict(tool.strict, schema, path, context);
  return {
    ...named,
    input_schema: new RawJson(strict === true ? renderSchema(schema, `${path}.parameters`, context.notes) : schema),
    strict,
    cache_control: renderCacheMark(tool.cache_mark),
  };
}

/** If the model does not enforce schemas, refuses this one, or would lose members, `strict` is dropped. */
function renderStrict(
  strict: boolean | null,
  schema: JsonText,
  path: string,
  { traits, notes }: PartContext,
): boolean | undefined {
  if (strict !== true) return strict ?? undefined;
  const isHeld = traits.takes.structured_output !== false;
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
): WrittenBlock {
  return {
    name,
    description: describeOutputTool(description),
    input_schema: new RawJson(argumentAliases.fit(name, schema, member)),
  };
}

/** Anthropic's own search; other providers of the format have none. */
function renderWebSearch(
  search: WebSearchRequest,
  { named }: GenerationRequest,
  { traits, notes }: PartContext,
): WrittenBlock {
  const member = named.web_search ?? 'web_search';
  if (!traits.messages.firstParty) {
    throw refuseMember(
      member,
      `${traits.provider} has no search; leave it out, or choose a model that Anthropic serves`,
    );
  }
  if (search.context_size !== null && search.context_size !== 'medium') {
    notes.drop(`${member}.search_context_size`, 'the search of Anthropic has no such size');
  }
  return { type: 'web_search_20250305', name: 'web_search', user_location: renderLocation(search.location) };
}

/** The location after the type member, which comes first and says how exact it is. */
function renderLocation(location: string | null): WritableJson | undefined {
  if (location === null) return undefined;
  const members = location.trim().slice(1, -1).trim();
  return new RawJson(`{"type":"approximate"${members === '' ? '' : `,${members}`}}`);
}

type WrittenChoice = {
  readonly type: 'auto' | 'any' | 'tool' | 'none';
  readonly name?: string;
  readonly disable_parallel_tool_use?: boolean;
};

/** Null if no choice needs to be sent. `toolCount` includes the output tool. Throws CallFailure `invalid_request`. */
export function renderToolChoice(
  request: GenerationRequest,
  form: OutputForm,
  toolCount: number,
  traits: UpstreamTraits,
): WrittenChoice | null {
  const requested = request.tool_choice;
  if (requested !== null) requireTools(request, requested, toolCount);
  if (toolCount === 0) return null;
  if (form.tool !== null) return chooseForAnswer(request, form.tool.name, toolCount, traits);
  const choice = requested === null ? null : writeChoice(requested);
  if (choice !== null && !traits.messages.forcedToolChoice && isForced(choice)) {
    const why = `${traits.model} cannot be made to call a tool; ask for "auto", or choose another model`;
    throw refuseMember(nameOf(request), why);
  }
  if (request.parallel_tool_calls !== false || choice?.type === 'none') return choice;
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

/** Whether some tool must be called. */
export function isForced(choice: WrittenChoice | null): boolean {
  return choice?.type === 'any' || choice?.type === 'tool';
}

/**
 * The response comes through our output tool: forces that tool alone, or any tool if the client's own may be called
 * first.
 */
function chooseForAnswer(
  request: GenerationRequest,
  name: string,
  toolCount: number,
  traits: UpstreamTraits,
): WrittenChoice {
  const alone = toolCount === 1;
  const single = alone || request.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {};
  if (!traits.messages.forcedToolChoice) return { type: 'auto', ...single };
  return alone ? { type: 'tool', name, ...single } : { type: 'any', ...single };
}

function writeChoice(choice: ToolChoice): WrittenChoice {
  switch (choice.kind) {
    case 'auto':
    case 'none':
      return { type: choice.kind };
    case 'required':
      return { type: 'any' };
    case 'tool':
      return { type: 'tool', name: aliasText(choice.name, NAME_CHARS_MAX) };
    case 'allowed':
      return { type: choice.mode === 'required' ? 'any' : 'auto' };
  }
}

function nameOf({ named }: GenerationRequest): string {
  return named.tool_choice ?? 'tool_choice';
}
