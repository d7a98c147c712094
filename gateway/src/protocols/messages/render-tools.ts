/**
 * Owns writing the tools of a request. Which of them must be called is render-tool-choice.ts's. Source: wire reference
 * B.4 and C.1.
 */
import type { GenerationRequest, Tool, WebSearchWish } from '../../generation/request.ts';
import { RawJson, type WritableJson } from '../../wire/json-writer.ts';
import { refuseMember } from '../translation-notes.ts';
import { renderCacheMark, type WrittenBlock } from './cache-control.ts';
import type { OutputForm } from './choose-output-form.ts';
import { objectSchema } from './exact-object.ts';
import { renderSchema } from './fit-schema.ts';
import { type PartContext, renderToolName } from './render-part.ts';

export interface RenderedTools {
  readonly tools: readonly WrittenBlock[];
  /** Client's names of tools that take free text. */
  readonly custom: ReadonlySet<string>;
}

/** A free text as a function of one argument. */
const FREE_TEXT = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

/**
 * Throws CallFailure `invalid_request` for a tool that Anthropic does not have, and for any tool where the model takes
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
  if (form.tool !== null) tools.push(renderOutputTool(form.tool, request.named.output_format ?? 'output_format'));
  const custom = request.tools.flatMap((tool) => (tool.kind === 'custom' ? [tool.name] : []));
  return { tools, custom: new Set(custom) };
}

/** Tools that must not be called are left out where only the answer's tool may be. */
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
  const schema = objectSchema(tool.parameters, path);
  const strict = renderStrict(tool.strict, path, context);
  return {
    ...named,
    input_schema: new RawJson(strict === true ? renderSchema(schema, `${path}.parameters`, context.notes) : schema),
    strict,
    cache_control: renderCacheMark(tool.cache_mark),
  };
}

/** Where the model holds no schema, a tool is called without it. */
function renderStrict(strict: boolean | null, path: string, { traits, notes }: PartContext): boolean | undefined {
  if (strict !== true || traits.takes.structured_output !== false) return strict ?? undefined;
  notes.drop(`${path}.strict`, `${traits.model} holds arguments to no schema`);
  return undefined;
}

function renderOutputTool(
  { name, schema, description }: NonNullable<OutputForm['tool']>,
  member: string,
): WrittenBlock {
  const purpose = 'Gives the final answer. Call it once, when no other tool is needed.';
  return {
    name,
    description: description === null ? purpose : `${purpose} ${description}`,
    input_schema: new RawJson(objectSchema(schema, member)),
  };
}

/** Anthropic's own search; other hosts of the format have none. */
function renderWebSearch(
  wish: WebSearchWish,
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
  if (wish.context_size !== null && wish.context_size !== 'medium') {
    notes.drop(`${member}.search_context_size`, 'the search of Anthropic has no such size');
  }
  return { type: 'web_search_20250305', name: 'web_search', user_location: renderLocation(wish.location) };
}

/** The place with the word that says how exact it is, which comes first. */
function renderLocation(location: string | null): WritableJson | undefined {
  if (location === null) return undefined;
  const members = location.trim().slice(1, -1).trim();
  return new RawJson(`{"type":"approximate"${members === '' ? '' : `,${members}`}}`);
}
