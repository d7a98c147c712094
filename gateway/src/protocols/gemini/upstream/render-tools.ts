/**
 * Renders the tools of a request and the tool choice, and chooses how to request the output format: natively, through a
 * tool, or by an instruction. https://ai.google.dev/gemini-api/docs/function-calling, read 2026-11-22.
 */
import type { JsonText } from '../../../generation/part.ts';
import { forcesTool, type GenerationRequest, type Tool } from '../../../generation/request.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import { objectSchema } from '../../exact-json.ts';
import {
  describeOutputTool,
  FREE_TEXT,
  JSON_INSTRUCTION,
  nameOutputTool,
  requireTools,
} from '../../request/emulated-tools.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { modelOf } from '../shared/model-names.ts';
import { renderSchema } from './fit-schema.ts';
import { type PartContext, renderToolName } from './render-part.ts';

export interface RenderedTools {
  readonly tools: WritableJson | undefined;
  readonly toolConfig: WritableJson | undefined;
  /** The client's names of tools that take free text. */
  readonly custom: ReadonlySet<string>;
}

type Declaration = { readonly name: string; readonly [member: string]: WritableJson | undefined };

/** Throws CallFailure `invalid_request` for tools that Gemini does not have, or not together. */
export function renderTools(request: GenerationRequest, form: OutputForm, context: PartContext): RenderedTools {
  const { traits } = context;
  const declarations: Declaration[] = [];
  for (const [index, tool] of request.tools.entries()) {
    if (tool.kind === 'opaque' || !isOffered(tool, request, form)) continue;
    declarations.push(renderFunction(tool, `tools.${index}`, context));
  }
  const server = renderServerTools(request, context);
  if (traits.takes.tools === false && declarations.length + server.length > 0) {
    const member = request.named.tools ?? request.named.web_search ?? 'tools';
    throw refuseMember(member, `${traits.model} takes no tools; leave them out, or choose another model`);
  }
  if (form.tool !== null) declarations.push(renderOutputTool(form.tool, request));
  if (request.tool_choice !== null) requireTools(request, request.tool_choice, declarations.length + server.length);
  requireTogether(request, declarations.length > 0, server.length > 0, context);
  const lists = [...(declarations.length === 0 ? [] : [{ functionDeclarations: declarations }]), ...server];
  const custom = request.tools.flatMap((tool) => (tool.kind === 'custom' ? [tool.name] : []));
  return {
    tools: lists.length === 0 ? undefined : lists,
    toolConfig: renderToolConfig(request, form, declarations, server.length > 0, context),
    custom: new Set(custom),
  };
}

/** Tools that must not be called stay declared, unless only the output tool may be. */
function isOffered(tool: Tool, { tool_choice }: GenerationRequest, form: OutputForm): boolean {
  if (tool_choice?.kind === 'none') return form.tool === null;
  return tool_choice?.kind !== 'allowed' || (tool.name !== null && tool_choice.names.includes(tool.name));
}

function renderFunction(tool: Exclude<Tool, { kind: 'opaque' }>, path: string, context: PartContext): Declaration {
  const name = renderToolName(tool.name, context.restored);
  const description = tool.description ?? undefined;
  if (tool.kind === 'custom') {
    if (tool.grammar === null) return { name, description, parametersJsonSchema: FREE_TEXT };
    throw refuseMember(path, 'Gemini cannot hold a text to a grammar; leave the grammar out, or choose another model');
  }
  const schema = objectSchema(tool.parameters, path);
  // Only a strict tool asks that its arguments keep every keyword.
  const notes = tool.strict === true ? context.notes : null;
  return { name, description, parametersJsonSchema: renderParameters(schema, `${path}.parameters`, notes) };
}

/** Undefined: no arguments, for which Gemini wants the schema to be left out. */
function renderParameters(schema: JsonText, path: string, notes: PartContext['notes'] | null): RawJson | undefined {
  const root = JSON.parse(schema) as { readonly [keyword: string]: unknown };
  const { properties, additionalProperties = false } = root;
  const isBare = properties === undefined || (properties !== null && Object.keys(properties).length === 0);
  const isOpen = additionalProperties !== false || OPENING.some((keyword) => root[keyword] !== undefined);
  return isBare && !isOpen ? undefined : new RawJson(renderSchema(schema, path, notes));
}

/** Keywords that give arguments to a schema without properties, besides `additionalProperties`. */
const OPENING = ['$ref', 'anyOf', 'oneOf', 'allOf', 'patternProperties'];

function renderOutputTool({ name, schema, description }: NonNullable<OutputForm['tool']>, request: GenerationRequest) {
  const member = request.named.output_format ?? 'output_format';
  const fitted = renderSchema(objectSchema(schema, member), `${member}.schema`, null);
  return { name, description: describeOutputTool(description), parametersJsonSchema: new RawJson(fitted) };
}

/** Google's own tools for those of other formats, by the beginning of their types. */
const SERVER_TOOLS: ReadonlyArray<readonly [type: RegExp, tool: string]> = [
  [/^(?:web_search|google_search)/, 'googleSearch'],
  [/^(?:web_fetch|url_context)/, 'urlContext'],
  [/^code_execution/, 'codeExecution'],
  [/^google_maps/, 'googleMaps'],
];

/** The choice "none" does not keep a model from its server tools, so they are left out. */
function renderServerTools(request: GenerationRequest, { traits, notes }: PartContext): WritableJson[] {
  const found = new Set<string>();
  for (const [index, tool] of request.tools.entries()) {
    if (tool.kind !== 'opaque') continue;
    const ours = SERVER_TOOLS.find(([type]) => type.test(tool.type))?.[1];
    if (ours === undefined) {
      throw refuseMember(`tools.${index}`, `a tool of type ${tool.type} is unknown to Gemini; give it as a function`);
    }
    found.add(ours);
  }
  const search = request.web_search;
  if (search !== null) {
    const member = request.named.web_search ?? 'web_search';
    if (search.context_size !== null && search.context_size !== 'medium') {
      notes.drop(`${member}.search_context_size`, "Google's search has no such size");
    }
    if (search.location !== null) notes.drop(`${member}.user_location`, "Google's search takes no location");
    found.add('googleSearch');
  }
  if (found.size > 0 && modelOf(traits.model).isGemma) {
    throw refuseMember(request.named.web_search ?? 'tools', `${traits.model} has no tools of its provider`);
  }
  return request.tool_choice?.kind === 'none' ? [] : [...found].map((name) => ({ [name]: {} }));
}

function requireTogether(request: GenerationRequest, calls: boolean, serves: boolean, context: PartContext): void {
  if (!calls || !serves || context.model.combines) return;
  throw refuseMember(
    request.named.web_search ?? request.named.tools ?? 'tools',
    `${context.traits.model} cannot use the tools of its provider beside functions; send one of the two, or choose a model from Gemini 3 on`,
  );
}

/** Undefined: the model chooses, without constraint. */
function renderToolConfig(
  request: GenerationRequest,
  form: OutputForm,
  declarations: readonly Declaration[],
  serves: boolean,
  context: PartContext,
): WritableJson | undefined {
  if (declarations.length === 0) return undefined;
  if (request.parallel_tool_calls === false) {
    const member = request.named.parallel_tool_calls ?? 'parallel_tool_calls';
    context.notes.drop(member, 'Gemini cannot be kept from parallel calls');
  }
  const mode = modeOf(request, form, serves);
  const allowedFunctionNames = mode === 'ANY' ? namesOf(request, form, declarations, context) : undefined;
  const both = serves && context.traits.gemini.platform === 'ai_studio' ? true : undefined;
  if (mode === null && both === undefined) return undefined;
  return {
    functionCallingConfig: mode === null ? undefined : { mode, allowedFunctionNames },
    includeServerSideToolInvocations: both,
  };
}

type Mode = 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED';

/** Null: the default, AUTO. VALIDATED checks the arguments of calls, and is needed beside server tools. */
function modeOf({ tool_choice: choice, tools }: GenerationRequest, form: OutputForm, serves: boolean): Mode | null {
  if (form.tool !== null || forcesTool(choice)) return 'ANY';
  if (choice?.kind === 'none') return 'NONE';
  if (serves || tools.some((tool) => tool.kind === 'function' && tool.strict === true)) return 'VALIDATED';
  return choice === null ? null : 'AUTO';
}

/** The names that may be called, where not all may. */
function namesOf(
  { tool_choice: choice }: GenerationRequest,
  form: OutputForm,
  declarations: readonly Declaration[],
  { restored }: PartContext,
): readonly string[] | undefined {
  if (form.tool !== null) return declarations.length === 1 ? [form.tool.name] : undefined;
  if (choice?.kind === 'tool') return [renderToolName(choice.name, restored)];
  return choice?.kind === 'allowed' ? choice.names.map((name) => renderToolName(name, restored)) : undefined;
}

export interface OutputForm {
  /** For `generationConfig`; a schema only together with it. */
  readonly isJson: boolean;
  readonly schema: JsonText | null;
  /** A tool whose arguments are the answer. */
  readonly tool: { readonly name: string; readonly schema: JsonText; readonly description: string | null } | null;
  readonly instruction: string | null;
  readonly extractsJson: boolean;
}

const PLAIN: OutputForm = { isJson: false, schema: null, tool: null, instruction: null, extractsJson: false };

/**
 * Throws CallFailure `invalid_request` for a schema that the model can be held to in no way, and for plain JSON that can
 * only be asked for in words, with a strict API key.
 */
export function chooseOutputForm(request: GenerationRequest, traits: UpstreamTraits, strict: boolean): OutputForm {
  const { output_format: format, tool_choice: choice, tools } = request;
  if (format === null) return PLAIN;
  const member = request.named.output_format ?? 'output_format';
  const model = modelOf(traits.model);
  const hasTools = choice?.kind !== 'none' && (tools.length > 0 || request.web_search !== null);
  // A call that the client forces is the whole answer, so no text remains to be formatted.
  if (hasTools && forcesTool(choice)) return PLAIN;
  if (traits.takes.structured_output !== false && !model.isGemma && (!hasTools || model.combines)) {
    return { ...PLAIN, isJson: true, schema: format.kind === 'json' ? null : format.schema };
  }
  if (format.kind === 'json') {
    if (!strict) return { ...PLAIN, instruction: JSON_INSTRUCTION, extractsJson: true };
    throw refuseMember(
      member,
      `${traits.model} can only be asked in words for JSON here, and this API key is strict. Give a schema, or use a key that is not`,
    );
  }
  const serves = request.web_search !== null || tools.some(({ kind }) => kind === 'opaque');
  if (traits.takes.tools === false || model.isGemma || serves) {
    const why = serves ? 'cannot be held to a schema beside tools of its provider' : 'takes neither a schema nor tools';
    throw refuseMember(member, `${traits.model} ${why}; ask for the form in words, or choose another model`);
  }
  return { ...PLAIN, tool: { name: nameOutputTool(tools), schema: format.schema, description: format.description } };
}
